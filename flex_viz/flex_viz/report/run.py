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
"""A recorded run: its arrays, and its summary as a table."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flex_dynamics import Model
from flex_viz.shown_text import distinct, plain

LONGEST_NAME = 60      # characters of a joint's name in the table


class RunError(RuntimeError):
    """A run that did not complete or cannot be read; the text gives the reason."""


@dataclass(frozen=True)
class Run:
    """k states of a run.

    time: (k,) s. q, v: (k, n), coordinates and velocities, in the order of `model.names`.
    efforts, commands, set_points: (k, n_joints), or None if unknown.
    """

    model: Model
    tool: str                                # the frame whose deflection is reported
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    efforts: np.ndarray | None = None        # as in joint_states, drives included
    commands: np.ndarray | None = None       # efforts that the controller commanded
    set_points: np.ndarray | None = None
    wall_time: float = 0.0                   # s of wall time that the run took; 0: unknown

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(self.model.joint_names)

    @cached_property
    def deflection(self) -> np.ndarray:
        """(k,) m: distance of the tool from its position with straight links, at the same joint
        positions."""
        out = np.empty(len(self.time))
        for at, q in enumerate(self.q):
            straight = q.copy()
            straight[self.model.n_joints:] = 0.0
            out[at] = np.linalg.norm(self.model.pose(q, self.tool)[:3, 3]
                                     - self.model.pose(straight, self.tool)[:3, 3])
        return out

    def at(self, moments: npt.ArrayLike) -> np.ndarray:
        """Indices (m,) of the first states at or after those times (s); at most the last state."""
        return np.minimum(np.searchsorted(self.time, np.asarray(moments) - 1e-9),
                          len(self.time) - 1)


# Coordinates of joints that are lengths: what follows the joint's name in theirs.
LENGTHS = {'prismatic': ('',), 'planar': ('/x', '/y'), 'floating': ('/x', '/y', '/z')}
HEAD = ('joint', 'start', 'set-point', 'reached', 'off by', 'largest command', 'largest effort')


def scale(run: Run) -> tuple[np.ndarray, list[str], list[str]]:
    """Factors (n_joints,) from SI to the printed units of joint positions, those units, and the
    units of the efforts."""
    lengths = {joint.name + axis for joint in run.model.robot.joints
               for axis in LENGTHS.get(joint.type, ())}
    sliding = [name in lengths for name in run.joints]
    return (np.where(sliding, 1e3, 180.0 / np.pi),
            ['mm' if slides else 'deg' for slides in sliding],
            ['N' if slides else 'N m' for slides in sliding])


def rows(run: Run) -> list[tuple[str, ...]]:
    """A row of the table for each joint, with the columns of HEAD: values with their units, '-'
    for unknown ones."""
    out = []
    names = distinct(run.joints, LONGEST_NAME)
    for at, (name, factor, length, force) in enumerate(zip(names, *scale(run))):
        start, end = factor * run.q[0, at], factor * run.q[-1, at]
        goal = factor * run.set_points[-1, at] if run.set_points is not None else np.nan
        command, effort = (np.nanmax(np.abs(values[:, at])) if values is not None else np.nan
                           for values in (run.commands, run.efforts))
        out.append((name, *(_value(value, 3, length) for value in (start, goal, end, end - goal)),
                    *(_value(value, 1, force) for value in (command, effort))))
    return out


def _value(value: float, decimals: int, unit: str) -> str:
    """A value with its unit; '-' if it is not known."""
    # adding zero makes -0.0 positive
    return f'{round(value, decimals) + 0.0:.{decimals}f} {unit}' if np.isfinite(value) else '-'


def millimetres(length: float) -> str:
    """A length (m) in mm, to 0.1 mm or three digits, and to 0.1 um at the finest."""
    value = 1e3 * length
    decimals = next(k for k, least in enumerate((10.0, 1.0, 0.1, 0.0), 1) if value >= least)
    return f'{value:.{decimals}f} mm' if value >= 5e-5 else '0 mm'


def notes(run: Run) -> list[str]:
    """Summary of the run: deflection, energy, speed."""
    deflection, model = run.deflection, run.model
    last_second = deflection[run.time >= run.time[-1] - 1.0]
    first, last = (model.energy(q, v) for q, v in ((run.q[0], run.v[0]), (run.q[-1], run.v[-1])))
    total, kinetic, strain, gravity = (_value(gain, 1, 'J') for gain in (
        sum(last) - sum(first), *(b - a for a, b in zip(first, last))))
    flexible = len(model.coordinates.links) > 0
    lines = [
        'no flexible links: no deflection' if not flexible else
        f'deflection of {plain(run.tool)}: largest {millimetres(deflection.max())} at '
        f'{run.time[deflection.argmax()]:.3f} s; at the end {millimetres(deflection[-1])}, still '
        f'moving by {millimetres(np.ptp(last_second))} in the last second',
        f'energy gained: {total} (kinetic {kinetic}, strain {strain}, gravity {gravity})',
    ]
    span = run.time[-1] - run.time[0]
    if run.wall_time > 0.0:
        lines.append(f'{span:g} s in {run.wall_time:.1f} s of wall time: '
                     f'{span / run.wall_time:.2f} times real time, {len(run.time)} states')
    else:
        lines.append(f'{span:g} s, {len(run.time)} states')
    return lines


def table(run: Run) -> str:
    """The summary of a run as text: a row for each joint, then notes."""
    cells = [HEAD, *rows(run)]
    widths = [max(map(len, column)) for column in zip(*cells)]

    def line(row: Sequence[str]) -> str:
        name, *values = row
        return '  '.join([name.ljust(widths[0]), *(value.rjust(width)
                                                   for value, width in zip(values, widths[1:]))])

    return '\n'.join([*map(line, cells), '', *notes(run)])
