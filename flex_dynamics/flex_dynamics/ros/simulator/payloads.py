# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""Payloads at run time: `~/attach_payload` and `~/detach_payload`.

A payload many orders of magnitude heavier than the robot makes the equations of motion singular to
rounding, and one of 1e300 kg overflows them. So masses, and distances of the centre of mass, have
an upper bound, which no payload that a robot could carry comes near.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from flex_description import Robot
from flex_dynamics import DynamicsError
from flex_dynamics.ros.simulator.wrenches import place
from flex_msgs.srv import AttachPayload, DetachPayload
from flex_ros.message_guard import CALCULATION_ERRORS, shortened

HEAVIEST = 1e6        # mass of a payload, in masses of the robot
FARTHEST = 1e4        # m from the frame to the payload's centre of mass
MOST = 100            # payloads at a time
SLICES = 50           # of a piece of a beam whose mass is summed up


class PayloadServices:
    """Lets a plant take bodies up and put them down; positions and speeds go on as they are."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._heaviest = HEAVIEST * total_mass(simulator.model.robot)
        simulator.create_service(AttachPayload, '~/attach_payload', self._attach)
        simulator.create_service(DetachPayload, '~/detach_payload', self._detach)

    def detach_all(self) -> None:
        for name in self._simulator.plant.payloads:
            self._simulator.plant.detach(name)

    def _attach(self, request: Any, response: Any) -> Any:
        plant = self._simulator.plant
        try:
            if not request.name:
                raise DynamicsError('name: expected a name for the payload, found none')
            if len(plant.payloads) >= MOST:
                raise DynamicsError(f'{MOST} payloads are attached already: detach one first')
            body = request.inertia
            tensor = np.array([[body.ixx, body.ixy, body.ixz], [body.ixy, body.iyy, body.iyz],
                               [body.ixz, body.iyz, body.izz]])
            frame, x = place(plant.model, request.frame)
            centre = np.array([body.com.x, body.com.y, body.com.z])
            self._check(body.m, centre, tensor)
            plant.attach(request.name, frame, x, body.m, centre, tensor)
            self._simulator.get_logger().info(f'{body.m:g} kg attached to {request.frame} as '
                                              f'{shortened(request.name)}')
            response.success = True
        except CALCULATION_ERRORS as error:
            response.message = shortened(str(error))
        return response

    def _check(self, mass: float, centre: np.ndarray, tensor: np.ndarray) -> None:
        """DynamicsError if the payload is beyond all bounds."""
        if not 0.0 <= mass <= self._heaviest:
            raise DynamicsError(f'inertia.m: expected 0 to {self._heaviest:g} kg ({HEAVIEST:g} '
                                f"times the robot's mass), found {mass:g}")
        if not np.linalg.norm(centre) <= FARTHEST:
            raise DynamicsError(f'inertia.com: expected at most {FARTHEST:g} m from the frame, '
                                f'found {centre}')
        largest = self._heaviest * FARTHEST**2
        if not (np.abs(tensor) <= largest).all():
            raise DynamicsError(f'inertia: expected moments of at most {largest:g} kg m2, found '
                                f'{tensor.tolist()}')

    def _detach(self, request: Any, response: Any) -> Any:
        try:
            self._simulator.plant.detach(request.name)
            self._simulator.get_logger().info(f'{shortened(request.name)} detached')
            response.success = True
        except CALCULATION_ERRORS as error:
            response.message = shortened(str(error))
        return response


def total_mass(robot: Robot) -> float:
    """Of all links, beams and carried bodies, kg."""
    mass = 0.0
    for link in robot.links:
        mass += link.inertia.mass if link.inertia is not None else 0.0
        if (beam := link.flexible) is None:
            continue
        mass += sum(body.mass for body in beam.masses)
        for begin, end in zip(beam.breakpoints, beam.breakpoints[1:]):
            middles = begin + (end - begin) * (np.arange(SLICES) + 0.5) / SLICES
            mass += (end - begin) * float(np.mean(beam.properties(middles).mass_per_length))
    return mass
