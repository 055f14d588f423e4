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
"""What limits are set on: rows of coordinates, speeds and efforts, with their largest values."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_control.errors import ControlError
from flex_dynamics import Model, Sensors

STATIONS = 21        # sections along a beam, its ends included
ROUND = ('circle', 'hollow_circle')
SIDES = 8            # pairs of planes that bound the strain of a round section, from inside
GAUGES, LINKS = 'gauges', 'links'


@dataclass(frozen=True)
class LimitedOutputs:
    """Outputs y = position q + velocity v + effort tau with |y| <= 1, (k, n), (k, n), (k, joints).

    Each row is divided by its limit. kinds (k,): 'strain', 'deflection', 'velocity' or 'effort';
    names (k,): where; limits (k,): in SI units.
    """

    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    limits: np.ndarray

    def __len__(self) -> int:
        return len(self.kinds)

    def at(self, q: np.ndarray, v: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """y (..., k) of coordinates and speeds (..., n) and efforts (..., n_joints)."""
        found: np.ndarray = q @ self.position.T + v @ self.velocity.T + effort @ self.effort.T
        return found


def limited_outputs(model: Model, effort: np.ndarray, velocity: np.ndarray, deflection: float,
                    strain: float, where: str) -> LimitedOutputs:
    """Rows of all limits that are finite: efforts and speeds (n_joints,), the deflection of the
    beams' ends (m) and the strain (m/m) at the gauges or anywhere along the links; 0: no limit.

    ControlError if the robot has nothing on which such a limit can be set.
    """
    n, joints = model.n, model.n_joints
    rows: list[tuple[str, str, float, int, np.ndarray]] = []      # kind, name, limit, place, row
    one = np.eye(joints)
    for at, name in enumerate(model.joint_names):
        if np.isfinite(effort[at]) and effort[at] > 0.0:
            rows.append(('effort', name, effort[at], 2, one[at]))
        if np.isfinite(velocity[at]) and velocity[at] > 0.0:
            rows.append(('velocity', name, velocity[at], 1, np.eye(n)[at]))
    if deflection:
        rows += [('deflection', name, deflection, 0, row)
                 for name, row in _deflections(model, 'deflection_limit')]
    if strain:
        found = _gauges(model) if where == GAUGES else _fibres(model)
        rows += [('strain', name, strain, 0, row) for name, row in found]
    tables = [np.zeros((len(rows), width)) for width in (n, n, joints)]
    for at, (_, _, limit, place, row) in enumerate(rows):
        tables[place][at] = row / limit
    by_position, by_velocity, by_effort = tables
    return LimitedOutputs(by_position, by_velocity, by_effort,
                          tuple(row[0] for row in rows), tuple(row[1] for row in rows),
                          np.array([row[2] for row in rows]))


def _gauges(model: Model) -> list[tuple[str, np.ndarray]]:
    sensors = Sensors(model)
    if not sensors.gauge_names:
        raise ControlError('strain_at: expected strain gauges on the robot, found none; give '
                           f"'{LINKS}', or add <gauge> elements")
    return list(zip(sensors.gauge_names, np.asarray(sensors.strain_matrix())))


def _fibres(model: Model) -> list[tuple[str, np.ndarray]]:
    """Strain of the outer fibres at stations along all beams, as FibreStrain has it."""
    rows: list[tuple[str, np.ndarray]] = []
    for link in model.robot.links:
        if link.flexible is None:
            continue
        stations = np.linspace(0.0, link.flexible.length, STATIONS)
        properties = link.flexible.properties(stations)
        if properties.half_y is None or properties.half_z is None:
            continue
        own = model.coordinates.links[link.name].all
        curvature = np.asarray(model.beam(link.name).rotation_first(stations, 1))
        is_round = link.flexible.section_shape in ROUND
        for x, half_y, half_z, bent in zip(stations, np.asarray(properties.half_y),
                                           np.asarray(properties.half_z), curvature):
            y, z = half_z * bent[1], half_y * bent[2]
            if is_round:
                turns = np.pi * np.arange(SIDES) / SIDES
                sides = [(np.cos(turn) * y + np.sin(turn) * z) / np.cos(0.5 * np.pi / SIDES)
                         for turn in turns]
            else:
                sides = [y + z, y - z]
            for side in sides:
                row = np.zeros(model.n)
                row[own] = side
                rows.append((f'{link.name} at {x:.3g} m', row))
    if not rows:
        raise ControlError('strain_limit: expected flexible links whose sections have a known '
                           "size, found none; give the sections' shape, or strain_at: "
                           f"'{GAUGES}'")
    return rows


def _deflections(model: Model, limit: str) -> list[tuple[str, np.ndarray]]:
    """Displacement of the end of each beam across its axis, in both of its planes."""
    rows: list[tuple[str, np.ndarray]] = []
    for link in model.robot.links:
        if link.flexible is None:
            continue
        own = model.coordinates.links[link.name].all
        moved = np.asarray(model.beam(link.name).at(np.array([link.flexible.length])).r1)[0]
        for axis, of in ((1, 'y'), (2, 'z')):
            row = np.zeros(model.n)
            row[own] = moved[axis]
            if row.any():
                rows.append((f'{link.name} along {of}', row))
    if not rows:
        raise ControlError(f'{limit}: expected flexible links, found none')
    return rows
