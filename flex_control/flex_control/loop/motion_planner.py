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
"""Plans the motions that a control loop is asked for, beside the loop and without ROS."""
from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from flex_control.controllers import PD
from flex_control.incremental import Job
from flex_control.loop.control_loop import ControlLoop
from flex_control.loop.effort_check import beyond_efforts
from flex_control.loop.planning import (
    AT_ONCE,
    Done,
    Planning,
    PlanningThread,
    delay,
    ready,
)
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.shaping import Shaped, Shaper
from flex_control.trajectories import Prepared, Stop, Trajectory
from flex_control.trajectories.trajectory_points import TrajectoryPoints

PIECE = 1_000_000      # ns of a period for one piece of the planning
GAP = 1_000_000_000    # ns without a state; longer ones are no period
PIECES = 120           # of the planning of a shaped motion; what is left is done at once
FIRST_STATE = 10.0     # s of wall time for which a motion waits for the first state


class Waiting(NamedTuple):
    """A motion that was asked for before the first state, and until when it waits for one (s)."""

    points: TrajectoryPoints
    done: Done
    until: float


class MotionPlanner:
    """Turns points into trajectories of a loop that go on from its present motion.

    A motion begins from the reference of the moment at which it takes over. A shaped motion is
    planned in pieces after the commands of the next states, and then begins: no state waits for
    it, and for the same states it is the same. A long motion is read by a thread meanwhile.
    A motion that is asked for before the first state waits for it, at most FIRST_STATE.
    lockstep: the loop waits for that thread. `blocked` is why no motion may begin now, or empty.
    """

    def __init__(self, loop: ControlLoop, reader: TrajectoryReader, lockstep: bool) -> None:
        self._loop, self._reader, self._lockstep = loop, reader, lockstep
        self._thread = PlanningThread(reader)
        self._planning: Planning | None = None
        self._waiting: Waiting | None = None
        self._seen, self._period = 0, 0              # ns, of the last state, and since that before
        self._check: Job[str] | None = None
        self._shaper, self._shaper_modes = 'none', 2
        self.blocked = ''

    def set_shaper(self, name: str) -> None:
        """Shape new motions by the named shaper; 'none': leave them as they are."""
        self._shaper = name

    def set_shaper_modes(self, count: int) -> None:
        """How many modes new motions leave without vibration."""
        self._shaper_modes = count

    @property
    def waits(self) -> bool:
        """Whether a motion waits for the first state."""
        return self._waiting is not None

    @property
    def busy(self) -> bool:
        """Whether a motion is being planned, or waits for the first state."""
        return self._waiting is not None or self._planning is not None

    def resting(self) -> np.ndarray:
        """The joints (n_joints,) at which the loop rests; GoalError if no motion may begin, or one
        has not ended."""
        following, _ = self._present()
        loop = self._loop
        assert loop.time is not None
        wanted = following.sample(loop.time)
        if (self.busy or isinstance(loop.trajectory, Prepared) or wanted.velocity.any()
                or loop.time < following.end):
            raise GoalError('a motion is running: wait for its end, or cancel it first')
        return wanted.position

    def close(self) -> None:
        """End the thread."""
        self._thread.close()

    def observe(self, stamp_ns: int) -> None:
        """Take notice of a state, from whose stamps the period of the loop is known."""
        period = stamp_ns - self._seen
        # After a gap the last period says nothing about the next ones.
        self._period, self._seen = period if 0 < period < GAP else 0, stamp_ns

    def stop(self, duration: float) -> None:
        """Bring the loop to rest from its present motion within `duration` (s)."""
        self.forget('the motion was stopped')
        loop, limits = self._loop, self._reader.limits
        if loop.time is not None:
            loop.set_trajectory(Stop(loop.controller.reference, duration, loop.time,
                                     limits.lower, limits.upper))

    def begin(self, points: TrajectoryPoints, done: Done) -> None:
        """Plan a motion, and call `done` with it, or with why it is refused: at once, or for
        long ones after some more states, and before the first state not until it comes."""
        self.forget('another motion took its place')
        if not self.blocked and not self.has_state():
            # Its sender knows that this action is there, but not whether the robot is.
            self._waiting = Waiting(points, done, time.monotonic() + FIRST_STATE)
            return
        try:
            if len(points) <= AT_ONCE:
                done(self._read(points))
            else:
                self._plan(points, done)
        except GoalError as error:
            done(error)

    def forget(self, why: str) -> None:
        """Leave off planning."""
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            waiting.done(GoalError(why))
        if self._planning is not None:
            planning, self._planning = self._planning, None
            planning.done(GoalError(why))

    def go_on(self) -> None:
        """Take the motion over when it is planned, or plan again if it is too late for it."""
        if self._waiting is not None:
            self._go_on_waiting(self._waiting)
        planning, now = self._planning, self._loop.time
        if planning is None:
            return
        try:
            following, before = self._present()
            assert now is not None
            shaping = self._shaping_time() if self._shaper != 'none' else 0.0
            due = now + 1e-9 * self._period >= planning.start - shaping
            if not planning.job.done() and not (due and self._lockstep):
                return                         # free running, no state waits for it
            self._planning, outcome = None, planning.result()
            if isinstance(outcome, GoalError):
                planning.done(outcome)
                return
            if following is planning.before and now < planning.start - shaping:
                wanted = self._checked(outcome)
                planning.done(Prepared(
                    following, ready(wanted) if self._shaper == 'none' else Shaped.in_pieces(
                        wanted, self._make_shaper(), before), planning.start))
                return
            # Too late, or the previous motion has changed: plan again, with twice the time.
            self._plan(planning.points, planning.done, 2.0 * (now - planning.begun))
        except GoalError as error:
            self._planning = None
            planning.done(error)

    def work(self) -> str:
        """Plan one step further, after each state; a warning if a motion exceeds effort limits."""
        loop, coming, warning = self._loop, self._loop.trajectory, ''
        if self._check is None and not isinstance(coming, Prepared):
            return warning
        for _ in range(self._at_once()):
            if isinstance(coming, Prepared):
                coming.work()
            if self._check is not None and self._check.work():
                warning, self._check = self._check.result or '', None
        if isinstance(coming, Prepared) and loop.time is not None and loop.time >= coming.start:
            loop.set_trajectory(coming.at(loop.time))
        return warning

    def _go_on_waiting(self, waiting: Waiting) -> None:
        if self.blocked or self.has_state():
            self._waiting = None
            self.begin(waiting.points, waiting.done)
        elif time.monotonic() > waiting.until:
            self.forget(f'no state has come for {FIRST_STATE:g} s: expected flex_state or '
                        'joint_states')

    def has_state(self) -> bool:
        """Whether the loop has answered a state."""
        return self._loop.time is not None and self._loop.trajectory is not None

    def _present(self) -> tuple[Trajectory, Shaped | None]:
        """What the loop follows, and the same if it is shaped and has not come to its end;
        GoalError if no motion may begin."""
        loop = self._loop
        if self.blocked:
            raise GoalError(f'no motion now: {self.blocked}')
        following = loop.trajectory
        if loop.time is None or following is None:
            raise GoalError('no state has come yet: expected flex_state or joint_states first')
        if isinstance(following, Prepared):
            following = following.at(loop.time)
        shaped = following if isinstance(following, Shaped) else None
        if shaped is not None and loop.time >= shaped.end:
            shaped = None
        return following, shaped

    def _read(self, points: TrajectoryPoints) -> Trajectory:
        """The trajectory that is asked for, shaped; GoalError if it is refused."""
        following, before = self._present()
        loop = self._loop
        assert loop.time is not None
        if self._shaper == 'none':        # it has to begin where the motion is, shaped or not
            return self._checked(self._reader.read(points, loop.time, loop.controller.reference))
        start = loop.time + self._shaping_time()
        present = (following.sample if before is None else before.unshaped)(start)
        wanted = self._checked(self._reader.read(points, start, present))
        return Prepared(following, Shaped.in_pieces(wanted, self._make_shaper(), before), start)

    def _plan(self, points: TrajectoryPoints, done: Done, least: float = 0.0) -> None:
        """The same beside the loop, within `least` s or more; GoalError if no motion may begin."""
        following, before = self._present()
        assert self._loop.time is not None
        begun = self._loop.time
        start = begun + max(least, delay(points))
        present = following.sample(start)
        if self._shaper != 'none':
            start += self._shaping_time()
            present = (following.sample if before is None else before.unshaped)(start)
        self._planning = Planning(points, following, begun, start, self._thread.plan(
            points, start, present), done)

    def _shaping_time(self) -> float:
        """s for the planning of a shaped motion, in pieces after the next states."""
        return 1e-9 * self._period * math.ceil(PIECES / self._at_once())

    def _at_once(self) -> int:
        """Pieces of the planning after each state."""
        return max(1, round(self._period / PIECE))

    def _checked(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, whose efforts will be looked at: a warning if there are not as many."""
        self._check = Job(beyond_efforts(self._loop.model, trajectory))
        return trajectory

    def _make_shaper(self) -> Shaper:
        controller = self._loop.controller
        # A loop as soft as PD leaves other modes than joints that follow their reference.
        gains = (controller.kp, controller.kd) if isinstance(controller, PD) else ()
        return Shaper(self._loop.model, self._shaper, self._shaper_modes, *gains)
