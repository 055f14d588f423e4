"""Payloads at run time: `~/attach_payload` and `~/detach_payload`."""
from __future__ import annotations

from typing import Any

import numpy as np

from flex_dynamics import DynamicsError
from flex_dynamics.nodes.wrench_input import place
from flex_msgs.srv import AttachPayload, DetachPayload


class PayloadServices:
    """Lets a plant take bodies up and put them down; positions and speeds go on as they are."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
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
            body = request.inertia
            tensor = np.array([[body.ixx, body.ixy, body.ixz], [body.ixy, body.iyy, body.iyz],
                               [body.ixz, body.iyz, body.izz]])
            frame, x = place(plant.model, request.frame)
            plant.attach(request.name, frame, x, body.m,
                         np.array([body.com.x, body.com.y, body.com.z]), tensor)
            self._simulator.get_logger().info(f'{body.m:g} kg attached to {request.frame} as '
                                              f'{request.name}')
            response.success = True
        except DynamicsError as error:
            response.message = str(error)
        return response

    def _detach(self, request: Any, response: Any) -> Any:
        try:
            self._simulator.plant.detach(request.name)
            self._simulator.get_logger().info(f'{request.name} detached')
            response.success = True
        except DynamicsError as error:
            response.message = str(error)
        return response
