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
"""Commands by joint name, checked and limited: a bad command never reaches the plant."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_description.math import within
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.kernels.base.handle import MATRIX, NUMBERS
from flex_dynamics.kernels.first_call import AtFirstCall
from flex_dynamics.kernels.stepping import driven_period as rows
from flex_dynamics.kernels.stepping.driven_period import take_command
from flex_dynamics.model.model import Model

LARGEST = 1e9      # of any number in a command, in SI units
TAKE_COMMAND = AtFirstCall(take_command, NUMBERS, NUMBERS, NUMBERS, MATRIX)


class CommandError(ValueError):
    """A command that was refused; the text is for /diagnostics."""


FIELDS = ('effort', 'position', 'velocity')


def driven_places(model: Model) -> list[int]:
    """Which joint coordinates have a motor: not those of a planar or floating base, nor passive
    joints."""
    joints = {joint.name for joint in model.robot.joints if not joint.passive}
    return [at for at, name in enumerate(model.joint_names) if name in joints]


class CommandLimits:
    """Efforts, and targets of the drives, by joint name, checked and limited.

    A command names any joints in any order. Joints that it does not name keep their last command;
    of the joints that it names it replaces the command as a whole. Efforts, positions and
    velocities beyond the URDF's limits are cut to them, and `limited` counts how often.

    A joint with a position or velocity and without an effort is `followed` by its drive,
    (n_joints,) bool: `wanted` (2, n_joints) has its position and velocity, and the rows of
    `targets` are the drive's own (PositionDrives). `by_velocity`: those of them that have no
    position.

    partial: NaN means "not commanded", as ros2_control sends it for interfaces that nobody has
    claimed; a joint without any number keeps its last command. An effort of exactly zero beside a
    position or velocity counts as not commanded, too: an effort controller that was deactivated
    leaves zeros behind, and the arm must not fall when another one takes over. Otherwise NaN is
    refused, and zero is an effort.
    """

    def __init__(self, model: Model, motors: Array | None = None, partial: bool = False) -> None:
        self.names = names = list(model.joint_names)
        limits = model.joint_limits
        self._index = {names[at]: at for at in driven_places(model)}
        self.joints = list(self._index)
        self._leaders = model.followers.leader_of
        self._driven = len(names) if len(self._index) == len(names) else -1
        self._interfaces = {joint.name: joint.command_interfaces for joint in model.robot.joints}
        self._motors = np.zeros((rows.MOTOR_ROWS, len(names))) if motors is None else motors
        TAKE_COMMAND.prepare()
        self._least, self._most = self._motors[rows.LEAST:rows.MOST], self._motors[
            rows.MOST:rows.FASTEST]
        self._motors[rows.FASTEST] = limits.velocity
        self._most[:] = limits.effort, limits.upper, limits.velocity
        self._least[:] = -self._most
        self._least[1] = limits.lower
        self.partial = partial
        self.limited = 0
        self._known: list[str] = []
        self._places = np.zeros(0, dtype=int)
        self.targets = self._motors[rows.EFFORT:rows.VELOCITY + 1]
        self.effort, self.position, self.velocity = self.targets      # views of its rows
        self.wanted = np.zeros((2, len(names)))
        self.followed, self.by_velocity = np.zeros((2, len(names)), dtype=bool)
        self.reset()

    def reset(self) -> None:
        """Zero efforts and no targets."""
        self.targets[:] = 0.0
        self.position[:] = np.nan     # the drive has no target
        self.followed[:] = self.by_velocity[:] = False

    def hold(self, position: Array, effort: Array) -> None:
        """Let the drives of all motors hold a position under an effort, each (n_joints,)."""
        at = list(self._index.values())
        self.wanted[0, at], self.wanted[1, at], self.effort[at] = position[at], 0.0, effort[at]
        self.followed[at], self.by_velocity[at] = True, False

    def accept(self, names: Sequence[str], effort: ArrayLike, position: ArrayLike = (),
               velocity: ArrayLike = ()) -> None:
        """Take a command, or raise CommandError and leave everything as it was.

        Arrays have one number a name, or none. With `partial`, shorter ones have numbers for the
        names whose <ros2_control> tag lists that command interface.
        """
        given = [np.asarray(values, dtype=float) for values in (effort, position, velocity)]
        if (names == self.names
                and len(given[0]) == len(given[1]) == len(given[2]) == self._driven
                and all(within(values, LARGEST) for values in given)
                and (not self.partial or given[0].all())):
            self._take_all(*given)
            return
        values = self._check(names, given)
        there = ~np.isnan(values)
        if self.partial:
            there[0] &= (values[0] != 0.0) | ~there[1:].any(axis=0)
        commanded = there.any(axis=0)
        places, values, there = self._places[commanded], values[:, commanded], there[:, commanded]
        cut = np.minimum(np.maximum(values, self._least[:, places]), self._most[:, places])
        self.limited += bool((cut[there] != values[there]).any())
        by_effort = there[0]
        at, aimed = places[by_effort], places[~by_effort]
        speed = np.where(there[2], cut[2], 0.0)
        self.effort[at], self.position[at] = cut[0, by_effort], cut[1, by_effort]
        self.velocity[at] = speed[by_effort]
        self.wanted[:, aimed] = cut[1, ~by_effort], speed[~by_effort]
        self.followed[places] = ~by_effort
        self.by_velocity[places] = ~by_effort & ~there[1]

    def accept_all(self, effort: Array, position: Array, velocity: Array) -> None:
        """`accept` of a command for all `joints` in order, in microseconds if no base floats."""
        if not len(effort) == len(position) == len(velocity) == self._driven or not (
                self._take_all(effort, position, velocity)):
            self.accept(self.joints, effort, position, velocity)

    def _take_all(self, effort: Array, position: Array, velocity: Array) -> bool:
        """Take a whole command, if all of its numbers are finite."""
        try:
            cut = take_command(effort, position, velocity, self._motors)
        except TypeError:        # not an array of float64 in one piece
            cut = take_command(*np.array((effort, position, velocity), dtype=float), self._motors)
        if cut < 0:
            return False
        self.limited += cut
        self.followed[:] = self.by_velocity[:] = False
        return True

    def _check(self, names: Sequence[str], given: list[Array]) -> Array:
        """The numbers of a command (len(FIELDS), names), NaN where it has none; CommandError if it
        is not a good one."""
        if list(names) != self._known:
            self._learn(names)
        values = np.full((len(FIELDS), len(self._known)), np.nan)
        for kind, numbers in enumerate(given):
            if len(numbers):
                at = self._meant(FIELDS[kind], len(numbers))
                self._check_numbers(FIELDS[kind], numbers, at)
                values[kind, at] = numbers
        if not self.partial and np.isnan(values).all():
            raise CommandError('expected effort, position or velocity, one number a name, found '
                               'none')
        return values

    def _meant(self, kind: str, count: int) -> list[int]:
        """Which of the names the numbers of an array are for."""
        names = self._known
        if count == len(names):
            return list(range(count))
        with_it = [at for at, name in enumerate(names) if kind in self._interfaces[name]]
        if self.partial and count == len(with_it):
            return with_it
        expected = f'{kind}: expected {len(names)} numbers, one a name, found {count}'
        if not self.partial:
            raise CommandError(expected)
        if not any(self._interfaces[name] for name in names):
            raise CommandError(f'{expected}; shorter arrays are assigned by the <ros2_control> '
                               'tag of the robot description, which has none for these joints')
        listed = ', '.join(names[at] for at in with_it) or 'none'
        raise CommandError(f'{expected}; the <ros2_control> tag of the robot description lists '
                           f'the command interface {kind} for {len(with_it)} of them: {listed}')

    def _check_numbers(self, kind: str, numbers: Array, at: list[int]) -> None:
        bad = ~(np.abs(numbers) <= LARGEST)
        if self.partial:
            bad &= ~np.isnan(numbers)
        if bad.any():
            first = int(np.argmax(bad))
            value, name = numbers[first], self._known[at[first]]
            raise CommandError(f'{kind}: expected '
                               + (f'at most {LARGEST:g}' if np.isfinite(value) else
                                  'finite numbers') + f', found {value:g} for {name}')

    def _learn(self, names: Sequence[str]) -> None:
        if not names:
            raise CommandError('name: expected joint names, found none')
        unknown = [name for name in names if name not in self._index]
        if unknown and unknown[0] in self._leaders:
            raise CommandError(f'name: {unknown[0]!r} follows {self._leaders[unknown[0]]!r} '
                               '(<mimic>) and has no drive: command that one')
        if unknown:
            raise CommandError(f'name: {unknown[0]!r} is no joint of this robot; joints: '
                               f'{", ".join(self._index)}')
        if len(set(names)) != len(names):
            raise CommandError('name: a joint is named twice')
        self._known = list(names)
        self._places = np.array([self._index[name] for name in names])
