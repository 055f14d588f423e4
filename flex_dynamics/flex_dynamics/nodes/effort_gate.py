"""The door for commands: what is not a good effort command never reaches the plant."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flex_description import Limits, Robot


class CommandError(ValueError):
    """A command that was refused; the text is for /diagnostics."""


class Command(NamedTuple):
    """A good command: indices of its joints, and numbers for each; None where it has none."""

    places: np.ndarray
    effort: np.ndarray | None
    position: np.ndarray | None
    velocity: np.ndarray | None


class EffortGate:
    """Efforts, and targets of the drives, by joint name, checked and limited.

    A command names any joints in any order. Joints that it does not name keep their last command.
    Efforts, positions and velocities beyond the URDF's limits are cut to them, and `limited`
    counts how often.
    """

    def __init__(self, robot: Robot, names: Sequence[str]) -> None:
        self.names = list(names)
        limits = {joint.name: joint.limits for joint in robot.joints}
        each = [limits.get(name, Limits()) for name in names]
        self.limits = np.array([one.effort for one in each])
        self._lower = np.array([one.lower for one in each])
        self._upper = np.array([one.upper for one in each])
        self._fastest = np.array([one.velocity for one in each])
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
        self.take(self.check(names, effort, position, velocity))

    def check(self, names: Sequence[str], effort, position=(), velocity=()) -> Command:
        """The command as numbers in the order of its names; CommandError if it is none."""
        if list(names) != self._known:
            self._learn(names)
        values = [self._numbers(value, what) for value, what in (
            (effort, 'effort'), (position, 'position'), (velocity, 'velocity'))]
        if values[0] is None:
            raise CommandError('effort: expected one number a name, found none')
        return Command(self._places, *values)

    def take(self, command: Command) -> None:
        """Let a command act from now on, cut to the limits."""
        at = command.places
        bounds = ((self.effort, -self.limits[at], self.limits[at]),
                  (self.position, self._lower[at], self._upper[at]),
                  (self.velocity, -self._fastest[at], self._fastest[at]))
        cut = False
        for given, (kept, low, high) in zip(command[1:], bounds, strict=True):
            if given is not None:
                kept[at] = within = np.minimum(np.maximum(given, low), high)
                cut = cut or bool((within != given).any())
        self.limited += cut

    def effort_range(self, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest effort (n_joints,) that the drives can give at these joint speeds.

        Beyond a joint's velocity limit its drive can only brake.
        """
        if (np.abs(velocity) <= self._fastest).all():
            return -self.limits, self.limits
        return (np.where(velocity < -self._fastest, 0.0, -self.limits),
                np.where(velocity > self._fastest, 0.0, self.limits))

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
