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
"""Where gauges and IMUs tell the wanted parameters best: greedy choice by the information."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from flex_description import Imu, Robot, StrainGauge
from flex_dynamics import Model
from flex_identification.design.excitation import (
    information,
    loss,
    planned_run,
    usual_noise,
)
from flex_identification.design.fourier_motion import FourierMotion
from flex_identification.errors import IdentificationError
from flex_identification.prediction.fisher import FisherInformation
from flex_identification.prediction.parameters import ParameterSet

PLACES = 9             # candidates along a beam
EDGE = 0.02            # of the length, from its ends
FIBRE = 0.05           # m from the axis of the beam, where the robot has no gauge to tell


@dataclass(frozen=True)
class Placement:
    """A sensor in the order of the choice, and what all up to it tell together."""

    name: str
    channels: tuple[str, ...]
    told: FisherInformation


def with_candidates(robot: Robot, places: int = PLACES) -> tuple[Robot, dict[str, list[str]]]:
    """robot with gauges along all beams, for both bending directions, and an IMU on each link in
    place of its own sensors; channels by candidate."""
    candidates: dict[str, list[str]] = {}
    links = []
    for link in robot.links:
        beam = link.flexible
        if beam is None:
            links.append(link)
            continue
        fibre = max((max(abs(one.y), abs(one.z)) for one in beam.gauges), default=FIBRE)
        gauges = []
        for share in np.linspace(EDGE, 1.0 - EDGE, places):
            x = float(share * beam.length)
            for axis, y, z in (('y', fibre, 0.0), ('z', 0.0, fibre)):
                name = f'{axis}_at_{x:.3f}_m'
                gauges.append(StrainGauge(name, x, y, z))
                candidates[f'gauge on {link.name} at x = {x:.3f} m, fibre in {axis}'] = [
                    f'strain/{link.name}/{name}']
        links.append(replace(link, flexible=replace(beam, gauges=tuple(gauges))))
    imus = []
    moving = [joint.child for joint in robot.joints]
    for name in moving:
        imu = f'imu_of_{name}'
        imus.append(Imu(imu, name))
        candidates[f'IMU on {name}'] = [f'{kind}/{imu}/{axis}' for kind in (
            'gyro', 'acceleration') for axis in 'xyz']
    return replace(robot, links=tuple(links), imus=tuple(imus)), candidates


def place_sensors(model: Model, paths: list[str], motion: FourierMotion, count: int = 4, *,
                  places: int = PLACES, criterion: str = 'D',
                  progress: Callable[[int, int, str], None] = lambda *_: None
                  ) -> tuple[FisherInformation, list[Placement]]:
    """What encoders alone tell, and the `count` best sensors beside them, the best first."""
    if count < 1:
        raise IdentificationError(f'count: expected a whole number from 1 on, found {count}')
    robot, candidates = with_candidates(model.robot, places)
    richer = Model(robot, model.order)
    parameters = ParameterSet.of(richer, paths)
    encoders = [f'{kind}/{name}' for kind in ('position', 'velocity') for name in
                richer.joint_names]
    channels = [*encoders, *(one for group in candidates.values() for one in group)]
    noise = usual_noise(richer, channels)
    run = planned_run(richer, parameters, motion, channels)
    where = {name: k for k, name in enumerate(channels)}
    chosen = list(range(len(encoders)))
    alone = information(parameters, run, noise, chosen)
    found: list[Placement] = []
    left = dict(candidates)
    for number in range(min(count, len(candidates))):
        best: tuple[float, str, FisherInformation] | None = None
        for name, group in left.items():
            told = information(parameters, run, noise, [*chosen, *(where[one] for one in group)])
            value = loss(told, criterion)
            if best is None or value < best[0]:
                best = value, name, told
        assert best is not None
        group = left.pop(best[1])
        chosen += [where[one] for one in group]
        found.append(Placement(best[1], tuple(group), best[2]))
        progress(number + 1, count, best[1])
    return alone, found
