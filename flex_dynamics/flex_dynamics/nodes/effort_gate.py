"""The door for commands: what is not a good effort command never reaches the plant."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_description import Robot


class CommandError(ValueError):
    """A command that was refused; the text is for /diagnostics."""


class EffortGate:
    """Efforts, and targets of the drives, by joint name, checked and limited.

    A command names any joints in any order. Joints that it does not name keep their last command.
    Efforts beyond the URDF's limits are cut to them, and `limited` counts how often.
    """

    def __init__(self, robot: Robot, names: Sequence[str]) -> None:
        self.names = list(names)
        limits = {joint.name: joint.limits.effort for joint in robot.joints}
        self.limits = np.array([limits.get(name, np.inf) for name in names])
        self.limited = 0
        # coordinates of a floating base are no joints that a motor could drive
        self._index = {name: at for at, name in enumerate(names) if name in limits}
        self._known: list[str] = []
        self._places = np.zeros(0, dtype=int)
        self.reset()

    def reset(self) -> None:
        """Zero efforts and no targets."""
        self.effort = np.zeros(len(self.names))
        self.position = np.full(len(self.names), np.nan)     # NaN: the drive has no target
        self.velocity = np.zeros(len(self.names))

    def accept(self, names: Sequence[str], effort, position=(), velocity=()) -> None:
        """Take a command, or raise CommandError and leave everything as it was."""
        if list(names) != self._known:
            self._learn(names)
        values = [self._numbers(value, what) for value, what in (
            (effort, 'effort'), (position, 'position'), (velocity, 'velocity'))]
        if values[0] is None:
            raise CommandError('effort: expected one number a name, found none')
        within = np.clip(values[0], -self.limits[self._places], self.limits[self._places])
        self.limited += int((within != values[0]).any())
        self.effort[self._places] = within
        if values[1] is not None:
            self.position[self._places] = values[1]
        if values[2] is not None:
            self.velocity[self._places] = values[2]

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

    def _numbers(self, values, what: str) -> np.ndarray | None:
        if not len(values):
            return None
        if len(values) != len(self._known):
            raise CommandError(f'{what}: expected {len(self._known)} numbers, one a name, found '
                               f'{len(values)}')
        vector = np.array(values, dtype=float)
        if not np.isfinite(vector).all():
            bad = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise CommandError(f'{what}: expected finite numbers, found {vector[bad]} for '
                               f'{self._known[bad]}')
        return vector
