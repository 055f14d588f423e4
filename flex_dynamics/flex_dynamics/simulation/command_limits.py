"""Commands by joint name, checked and limited: a bad command never reaches the plant."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_description.math import within
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.kernels.base.handle import MATRIX, NUMBERS, prepare
from flex_dynamics.kernels.stepping import driven_period as rows
from flex_dynamics.kernels.stepping.driven_period import take_command
from flex_dynamics.model.model import Model

LARGEST = 1e9      # of any number in a command, in SI units


class CommandError(ValueError):
    """A command that was refused; the text is for /diagnostics."""


FIELDS = ('effort', 'position', 'velocity')


def driven_places(model: Model) -> list[int]:
    """Which joint coordinates have a motor: not those of a planar or floating base."""
    joints = {joint.name for joint in model.robot.joints}
    return [at for at, name in enumerate(model.joint_names) if name in joints]


class CommandLimits:
    """Efforts, and targets of the drives, by joint name, checked and limited.

    A command names any joints in any order. Joints that it does not name keep their last command.
    Efforts, positions and velocities beyond the URDF's limits are cut to them, and `limited`
    counts how often.
    """

    def __init__(self, model: Model, motors: Array | None = None) -> None:
        self.names = names = list(model.joint_names)
        limits = model.joint_limits
        self._index = {names[at]: at for at in driven_places(model)}
        self.joints = list(self._index)
        self._driven = len(names) if len(self._index) == len(names) else -1
        self._motors = np.zeros((rows.MOTOR_ROWS, len(names))) if motors is None else motors
        prepare(take_command, NUMBERS, NUMBERS, NUMBERS, MATRIX)
        self._least, self._most = self._motors[rows.LEAST:rows.MOST], self._motors[
            rows.MOST:rows.FASTEST]
        self._motors[rows.FASTEST] = limits.velocity
        self._most[:] = limits.effort, limits.upper, limits.velocity
        self._least[:] = -self._most
        self._least[1] = limits.lower
        self.limited = 0
        self._known: list[str] = []
        self._places = np.zeros(0, dtype=int)
        self.targets = self._motors[rows.EFFORT:rows.VELOCITY + 1]
        self.effort, self.position, self.velocity = self.targets      # views of its rows
        self.reset()

    def reset(self) -> None:
        """Zero efforts and no targets."""
        self.targets[:] = 0.0
        self.position[:] = np.nan     # the drive has no target

    def accept(self, names: Sequence[str], effort: ArrayLike, position: ArrayLike = (),
               velocity: ArrayLike = ()) -> None:
        """Take a command, or raise CommandError and leave everything as it was."""
        given = [np.asarray(values, dtype=float) for values in (effort, position, velocity)]
        if not all(within(values, LARGEST) for values in given):
            self._check(names, *given)       # says it of NaN and infinity
            kind, values = next((kind, values) for kind, values in zip(FIELDS, given)
                                if not within(values, LARGEST))
            raise CommandError(f'{kind}: expected at most {LARGEST:g}, found '
                               f'{values[np.argmax(np.abs(values))]:g}')
        if (self._driven >= 0 and names == self.names
                and len(given[0]) == len(given[1]) == len(given[2])):
            self.accept_all(*given)
            return
        kinds, values = self._check(names, *given)
        at = np.ix_(np.array(kinds), self._places)
        cut = np.minimum(np.maximum(values, self._least[at]), self._most[at])
        self.targets[at] = cut
        self.limited += bool((cut != values).any())

    def accept_all(self, effort: Array, position: Array, velocity: Array) -> None:
        """`accept` of a command for all `joints` in order, in microseconds if no base floats."""
        if self._driven < 0:
            self.accept(self.joints, effort, position, velocity)
            return
        cut = -1
        if len(effort) == len(position) == len(velocity) == self._driven:
            try:
                cut = take_command(effort, position, velocity, self._motors)
            except TypeError:        # not an array of float64 in one piece
                cut = take_command(*np.array((effort, position, velocity), dtype=float),
                                   self._motors)
        if cut < 0:
            self._check(self.names, effort, position, velocity)
        self.limited += cut

    def _check(self, names: Sequence[str], *given: Array) -> tuple[list[int], Array]:
        """Which of FIELDS a command has, and its numbers (kinds, names); CommandError if it is
        not a good one."""
        if list(names) != self._known:
            self._learn(names)
        if not len(given[0]):
            raise CommandError('effort: expected one number a name, found none')
        kinds = [kind for kind, values in enumerate(given) if len(values)]
        for kind in kinds:
            if len(given[kind]) != len(self._known):
                raise CommandError(f'{FIELDS[kind]}: expected {len(self._known)} numbers, one a '
                                   f'name, found {len(given[kind])}')
        values = np.array([given[kind] for kind in kinds], dtype=float)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = bad[0]
            raise CommandError(f'{FIELDS[kinds[row]]}: expected finite numbers, found '
                               f'{values[row, column]} for {self._known[column]}')
        return kinds, values

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
        self._places = np.array([self._index[name] for name in names])
