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
"""What a robot is asked to do in an episode: where its tip should be, and who pushes it."""
from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from flex_study.errors import StudyError

Array = np.ndarray


@dataclass(frozen=True)
class Episode:
    """One drawn task: the place (3,) m of the tip at `start` and at `end`, the time (s) in which
    it goes from one to the other (0: it is at `end` from the beginning), and pushes: (begin s,
    end s, force (3,) N) on the tip."""

    start: Array
    end: Array
    time: float = 0.0
    pushes: tuple[tuple[float, float, Array], ...] = ()

    def goal(self, time: float) -> tuple[Array, Array]:
        """Place (3,) m and speed (3,) m/s that the tip should have at a time (s): a line with a
        minimum-jerk profile."""
        if self.time <= 0.0 or time >= self.time:
            return self.end, np.zeros(3)
        s = time / self.time
        way = self.end - self.start
        return (self.start + way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
                way * (30.0 * s**2 * (1.0 - s)**2 / self.time))

    def push(self, time: float) -> Array:
        """Force (3,) N on the tip at a time (s)."""
        return sum((force for begin, end, force in self.pushes if begin <= time < end),
                   np.zeros(3))


@dataclass(frozen=True)
class Task:
    """How episodes are drawn. seconds: their length."""

    seconds: float = 2.0

    def episode(self, fleet: Places, random: np.random.Generator) -> Episode:
        """Draw one."""
        raise TypeError(f'{type(self).__name__} has no episodes')

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, (int, float)) and 0.0 < value < 1e6):
                raise StudyError(f'{name}: expected a positive number, found {value!r}')


class Places(ABC):
    """What a task asks of a robot: where its tip is at the start, and where joints bring it."""

    start: Array       # (n_joints,)

    @abstractmethod
    def tip_at(self, joints: Array) -> Array:
        """Place (3,) m of the tip at joint positions (n_joints,), at rest, links not bent."""

    @abstractmethod
    def joints_near(self, random: np.random.Generator, way: float) -> Array:
        """Joint positions (n_joints,) within `way` (rad or m) of the start and in the limits."""


@dataclass(frozen=True)
class Reach(Task):
    """Bring the tip to a place that joints reach within `way` (rad or m) of the start."""

    way: float = 0.4

    def episode(self, fleet: Places, random: np.random.Generator) -> Episode:
        place = fleet.tip_at(fleet.joints_near(random, self.way))
        return Episode(place, place)


@dataclass(frozen=True)
class Hold(Task):
    """Keep the tip where it is, while it is pushed `count` times by up to `force` (N)."""

    force: float = 5.0
    count: int = 2
    push_seconds: float = 0.2

    def episode(self, fleet: Places, random: np.random.Generator) -> Episode:
        place = fleet.tip_at(fleet.start)
        pushes = []
        for begin in random.uniform(0.0, 0.8 * self.seconds, int(self.count)):
            direction = random.standard_normal(3)
            size = random.uniform(0.2, 1.0) * self.force / np.linalg.norm(direction)
            pushes.append((float(begin), float(begin + self.push_seconds), size * direction))
        return Episode(place, place, pushes=tuple(pushes))


@dataclass(frozen=True)
class Track(Task):
    """Follow a line to a place that joints reach within `way` (rad or m), in `time` s."""

    way: float = 0.4
    time: float = 1.0

    def episode(self, fleet: Places, random: np.random.Generator) -> Episode:
        return Episode(fleet.tip_at(fleet.start),
                       fleet.tip_at(fleet.joints_near(random, self.way)), self.time)


def task_of(given: Task | str) -> Task:
    """A task, or the usual one of a name."""
    usual = {'reach': Reach, 'hold': Hold, 'track': Track}
    if isinstance(given, Task):
        return given
    if given not in usual:
        raise StudyError(f'task: expected one of {", ".join(usual)}, or a Task, found {given!r}')
    return usual[given]()
