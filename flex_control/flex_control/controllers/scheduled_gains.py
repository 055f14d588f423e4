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
"""Gains that are designed anew as the pose of the arm changes, in pieces beside the updates."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers.base import Controller
from flex_control.design.lqr_design import LqrGains
from flex_control.design.rest_model import RestModel
from flex_control.incremental import Job, Pieces
from flex_control.trajectories.base import Reference

BLEND_UPDATES = 30       # over which new gains replace the old ones
AT_ONCE = 2              # pieces of a design in an update
TAKES = 40               # updates that a design takes, until one was counted
SAME_PERIOD = 0.2        # periods that differ by less are one
MANY = 20                # updates of another period after which the gains are designed for it


class ScheduledGains(Controller):
    """A control law whose gains belong to a pose and a period of the updates.

    The first gains are designed at once (`first_design`), later ones at a pose a little ahead of
    the motion (`design`), in pieces after each update; then they take over little by little.

    A subclass has the parameters `period` (s, 0: as the updates come) and `pose_step` (rad or m,
    0: the first gains stay), calls `_schedule` once, sets `_wanted` (the deflected reference) and
    `_target` (the joint motion) in each update, and takes the gains of the update from `_present`.
    """

    _wanted: Any
    _target: Reference

    def design(self, q: np.ndarray) -> Pieces[tuple[RestModel, LqrGains]]:
        """The linear model and the gains at the equilibrium q (n,); in pieces."""
        raise TypeError(f'{type(self).__name__} has no design')

    def first_design(self, q: np.ndarray) -> tuple[RestModel, LqrGains]:
        """The same at once; ControlError, with the reason, if the robot cannot be controlled."""
        raise TypeError(f'{type(self).__name__} has no first_design')

    def adopt(self, rest: RestModel) -> None:
        """Called with the linear model of each new design."""

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().set_drives(stiffness, damping)
        self._stale = True

    def _schedule(self) -> None:
        """Begin without gains."""
        self._period, self._others, self._took = 0.0, 0, TAKES
        self._at_once, self._blend_updates = AT_ONCE, BLEND_UPDATES
        self._gains: LqrGains | None = None
        self._blend_from: LqrGains | None = None
        self._job: Job[tuple[RestModel, LqrGains]] | None = None

    def _begin(self) -> None:
        """The first design, all at once: there are no earlier gains to use meanwhile."""
        q = self._wanted.q.copy()
        rest, self._gains = self.first_design(q)
        self.adopt(rest)
        self._next, self._job, self._took = self._gains, None, TAKES
        self._designed_at = q[:self.model.n_joints].copy()
        self._blended, self._stale = self._blend_updates, False

    def ahead(self) -> None:
        """One piece of the design under way, or one step of the change to the last one."""
        if self._gains is None:
            return
        if self._job is not None:
            self._took += 1
            if any(self._job.work() for _ in range(self._at_once)):
                assert self._job.result is not None
                rest, self._next = self._job.result
                self.adopt(rest)
                self._job, self._blended = None, 0
                self._blend_from = self._gains
        elif self._blended < self._blend_updates:
            self._blended += 1
            assert self._blend_from is not None
            self._gains = (self._next if self._blended == self._blend_updates else _mixed(
                self._blend_from, self._next, self._blended / self._blend_updates))
        elif self._stale or self._has_moved():
            # where the arm will be when these gains have half taken over
            ahead = (self._took + self._blend_updates / 2) * self._period
            self._took = 0
            q = self._wanted.q.copy()
            q[:self.model.n_joints] += (ahead * self._target.velocity
                                        + (self._place() - self._target.position))
            self._designed_at = q[:self.model.n_joints].copy()
            self._job, self._stale = Job(self.design(q)), False

    def _present(self) -> LqrGains:
        """The gains of this update."""
        if self._gains is None:
            self._begin()
        assert self._gains is not None
        return self._gains

    def _place(self) -> np.ndarray:
        """Joints (n_joints,) about which the next linear model is to be."""
        return self._target.position

    def _has_moved(self) -> bool:
        step = self.parameters['pose_step']
        moved = np.abs(self._place() - self._designed_at).max(initial=0.0)
        return bool(0.0 < step < moved)

    def _watch(self, period: float) -> bool:
        """Learn the period (s) of the updates, if it is not given; False until it is known."""
        if self.parameters['period'] or period <= 0.0:
            return self._period > 0.0
        if abs(period - self._period) <= SAME_PERIOD * self._period:
            self._others = 0
        else:
            self._others += 1
            if self._period == 0.0 or self._others == MANY:
                self._period, self._others, self._stale = period, 0, True
        return True


def _mixed(one: LqrGains, other: LqrGains, share: float) -> LqrGains:
    return LqrGains(*(a + share * (b - a) for a, b in (
        (one.state, other.state), (one.integral, other.integral), (one.effort, other.effort),
        (one.error, other.error))))
