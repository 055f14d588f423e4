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
"""Long trajectories, read and checked by a thread while the loop follows the previous motion."""
from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from flex_control.incremental import Pieces
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.trajectories import Reference, Trajectory
from flex_control.trajectories.trajectory_points import TrajectoryPoints

AT_ONCE = 100           # points that are read between two states
DELAY = 0.1             # s after which a longer motion begins ...
DELAY_PER_POINT = 2e-5  # s ... and for each of its points
Done = Callable[['Trajectory | GoalError'], None]


@dataclass
class Planning:
    """A motion that is being planned since `begun` (s): points, to go on at `start` (s) from the
    motion `before`, for which `job` reads them. done: what to call with the motion, or with why it
    is refused."""

    points: TrajectoryPoints
    before: Trajectory
    begun: float
    start: float
    job: Future[Trajectory]
    done: Done

    def result(self) -> Trajectory | GoalError:
        """The outcome, which is waited for."""
        try:
            return self.job.result()
        except GoalError as error:
            return error


class PlanningThread:
    """The thread that reads and checks trajectories."""

    def __init__(self, reader: TrajectoryReader) -> None:
        self._reader = reader
        self._threads = ThreadPoolExecutor(1, 'planner')

    def plan(self, points: TrajectoryPoints, start: float,
             present: Reference) -> Future[Trajectory]:
        """Read the points for a motion that begins at `start` (s) from `present`."""
        return self._threads.submit(self._reader.read, points, start, present)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def delay(points: TrajectoryPoints) -> float:
    """Time (s, of the states' clock) in which a motion of so many points is planned."""
    return DELAY + DELAY_PER_POINT * len(points)


def ready(motion: Trajectory) -> Pieces[Trajectory]:
    """A motion for Prepared that is planned already."""
    return motion
    yield       # makes it a generator
