"""The door for commands: what is not a good effort command never reaches the plant."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from flex_description import Limits, Robot
from flex_dynamics.kernels import driven_period as rows
from flex_dynamics.kernels.driven_period import take_command
from flex_dynamics.kernels.handle import MATRIX, NUMBERS, prepare


class CommandError(ValueError):
    """A command that was refused; the text is for /diagnostics."""


class Command(NamedTuple):
    """A good command: kinds of targets (rows of EffortGate.targets) and joints, and numbers."""

    kinds: list[int]
    joints: np.ndarray
    values: np.ndarray        # (kinds, joints)


KINDS = ('effort', 'position', 'velocity')


class EffortGate:
    """Efforts, and targets of the drives, by joint name, checked and limited.

    A command names any joints in any order. Joints that it does not name keep their last command.
    Efforts, positions and velocities beyond the URDF's limits are cut to them, and `limited`
    counts how often.
    """

    def __init__(self, robot: Robot, names: Sequence[str],
                 motors: np.ndarray | None = None) -> None:
        self.names = list(names)
        limits = {joint.name: joint.limits for joint in robot.joints}
        each = [limits.get(name, Limits()) for name in names]
        # coordinates of a floating base are no joints that a motor could drive
        self._index = {name: at for at, name in enumerate(names) if name in limits}
        self._motors = np.zeros((rows.MOTOR_ROWS, len(each))) if motors is None else motors
        prepare(take_command, NUMBERS, NUMBERS, NUMBERS, MATRIX)
        self._least, self._most = self._motors[rows.LEAST:rows.MOST], self._motors[
            rows.MOST:rows.FASTEST]
        fastest = [one.velocity for one in each]
        self._motors[rows.FASTEST] = fastest
        self._most[:] = [one.effort for one in each], [one.upper for one in each], fastest
        self._least[:] = -self._most
        self._least[1] = [one.lower for one in each]
        self.limited = 0
        self._known: list[str] = []
        self._all = np.arange(len(self.names))
        self._places = np.zeros(0, dtype=int)
        self.targets = self._motors[rows.EFFORT:rows.VELOCITY + 1]
        self.effort, self.position, self.velocity = self.targets      # views of its rows
        self.reset()

    def reset(self) -> None:
        """Zero efforts and no targets."""
        self.targets[:] = 0.0
        self.position[:] = np.nan     # the drive has no target

    def accept(self, names: Sequence[str], effort, position=(), velocity=()) -> None:
        """Take a command, or raise CommandError and leave everything as it was."""
        self.take(self.check(names, effort, position, velocity))

    def check(self, names: Sequence[str], effort, position=(), velocity=()) -> Command:
        """The command as numbers; CommandError if it is not a good one."""
        if list(names) != self._known:
            self._learn(names)
        given = (effort, position, velocity)
        if not len(effort):
            raise CommandError('effort: expected one number a name, found none')
        kinds = [kind for kind, values in enumerate(given) if len(values)]
        for kind in kinds:
            if len(given[kind]) != len(self._known):
                raise CommandError(f'{KINDS[kind]}: expected {len(self._known)} numbers, one a '
                                   f'name, found {len(given[kind])}')
        values = np.array([given[kind] for kind in kinds], dtype=float)
        if np.count_nonzero(np.isfinite(values)) < values.size:
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise CommandError(f'{KINDS[kinds[row]]}: expected finite numbers, found '
                               f'{values[row, column]} for {self._known[column]}')
        return Command(kinds, self._places, values)

    def take(self, command: Command) -> None:
        """Let a command act from now on, cut to the limits."""
        # slices, where a command names every joint in order: twice as fast
        at: Any = (slice(None) if command.joints is self._all and len(command.kinds) == 3
                   else np.ix_(np.array(command.kinds), command.joints))
        within = np.minimum(np.maximum(command.values, self._least[at]), self._most[at])
        self.targets[at] = within
        self.limited += bool(np.count_nonzero(within != command.values))

    def accept_all(self, effort: np.ndarray, position: np.ndarray,
                   velocity: np.ndarray) -> None:
        """`accept` of a command for every joint in order, arrays (n_joints,), in microseconds."""
        given = effort, position, velocity
        cut = -1
        if len(effort) == len(position) == len(velocity) == len(self.names):
            try:
                cut = take_command(*given, self._motors)
            except TypeError:        # not an array of float64 in one piece
                cut = take_command(*np.array(given, dtype=float), self._motors)
        if cut < 0:
            self.check(self.names, *given)
        self.limited += cut

    def _learn(self, names: Sequence[str]) -> None:
        if not names:
            raise CommandError('name: expected joint names, found none')
        unknown = [name for name in names if name not in self._index]
        if unknown:
            raise CommandError(f'name: {unknown[0]!r} is no joint of this robot; joints: '
                               f'{", ".join(self._index)}')
        if len(set(names)) != len(names):
            raise CommandError('name: a joint is named twice')
        self._known = list(names)
        self._places = (self._all if self._known == self.names
                        else np.array([self._index[name] for name in names]))
