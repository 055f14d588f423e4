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
"""The state of a robot that runs somewhere else, from the readings that it sends."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flex_control.design.lqr_design import longest_reach, soft_force
from flex_control.design.rest_model import rest_model
from flex_control.errors import ControlError
from flex_control.estimators.filter_model import (
    FilterModel,
    FilterNoise,
    effort_noise,
    push_noise,
)
from flex_control.estimators.flexible_state import MOST_MISSED, FlexibleStateFilter
from flex_control.estimators.measurements import Measurements
from flex_control.incremental import Job, Pieces, finish
from flex_control.trajectories.base import Reference
from flex_dynamics import Model

NANO = 10**9
SHARE_TRUSTED = 0.1       # of the rate: up to there the filter trusts the modes
JUMP = 0.05               # rad or m that a joint may be off its estimate: beyond, it begins anew
GAP = 0.04                # s between readings that a held effort bridges: beyond, it begins anew
POSE_STEP = 0.05          # rad or m of a joint after which the linear model is refreshed
AT_ONCE = 2               # pieces of a new linear model in an update
REPORTED_EFFORT = 50.0    # effort noise, over that of lqg, which knows what it has commanded
UNKNOWN_EFFORT = 1e3      # the same where no efforts are known: 0.3 of the soft force at the tip
SWINGING = 1.0            # of the work of the soft force: energy of the lowest mode at the start
NO_PUSH = 1e-3            # of the usual push, where nothing tells it from an effort


@dataclass(frozen=True)
class Estimate:
    """q, v (n,) and push (3,), N in world axes, at `stamp_ns`.

    nis: normalised innovation squared of the `measured` readings that were used.
    """

    stamp_ns: int
    q: np.ndarray
    v: np.ndarray
    push: np.ndarray
    nis: float
    measured: int


class StateObserver:
    """A `FlexibleStateFilter` with all that it needs beside a robot in someone else's hands.

    It begins at the static deflection of the first joint positions, of a robot that may be in the
    middle of a motion, keeps to a grid of the given period, refreshes its linear model as the
    robot moves, works with and without efforts, and begins anew where readings contradict the
    model, time was set back, or a gap is longer than a held effort bridges.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot, with its gauges and IMUs.
    noise : FilterNoise, optional
        Standard deviations of sensors and disturbances. Its `effort` is that of efforts that are
        reported; default: fifty times that of lqg, which knows what it has commanded.
    period : float
        Time (s) between two estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from flex_control import Measurements, StateObserver
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> observer = StateObserver(Model(load_robot('lab_link')), period=2e-3)
    >>> encoders = Measurements(joint_position=np.array([0.3]))
    >>> for k in range(3):
    ...     estimate = observer.update(2_000_000 * k, encoders)
    >>> estimate.stamp_ns, round(float(estimate.q[0]), 3)
    (4000000, 0.3)
    """

    def __init__(self, model: Model, noise: FilterNoise | None = None,
                 period: float = 2e-3) -> None:
        noise = noise or FilterNoise()
        trusted = min(noise.trusted, 2.0 * np.pi * SHARE_TRUSTED / period)
        self.model, self.period_ns = model, round(NANO * period)
        self._most_steps = min(max(2, round(GAP / period)), MOST_MISSED)
        self._filter = FlexibleStateFilter(model, replace(noise, trusted=trusted), period)
        usual = np.asarray(self._filter.noise.effort, dtype=float)
        known = usual if noise.effort is not None else REPORTED_EFFORT * usual
        self._with_effort = replace(self._filter.noise, effort=known)
        # Accelerations follow from efforts: where those are not known, an accelerometer would
        # measure them, not the state. Encoders alone do not tell a push from an effort either.
        bent = len(self._filter.sensors.gauge_names) * noise.strain > 0.0
        unknown = UNKNOWN_EFFORT * effort_noise(model, FilterNoise())
        push = push_noise(model, noise) * (1.0 if bent else NO_PUSH)
        self._without = replace(self._with_effort, effort=np.maximum(known, unknown), push=push,
                                acceleration=0.0)
        self._noise = self._without
        # It begins beside a robot that may be anywhere in a motion.
        self._swinging = SWINGING * soft_force(model) * 0.01 * float(longest_reach(model).max())
        self._job: Job[FilterModel] | None = None
        self._effort = np.zeros(model.n_joints)
        self._still = Reference.at_rest(self._effort)      # there are no drives in the filter
        self._modelled_at = np.zeros(model.n_joints)
        self.restarts = 0
        self.stamp_ns = 0

    @property
    def begun(self) -> bool:
        return self._filter.begun

    @property
    def knows_effort(self) -> bool:
        """Whether the last update had efforts."""
        return self._noise is self._with_effort

    @property
    def covariance(self) -> np.ndarray:
        """Of (q, v, push), (2 n + 3, 2 n + 3), SI units."""
        return self._filter.covariance

    def reset(self) -> None:
        """Begin anew with the next readings."""
        self._filter.reset()
        self._job = None

    def due(self, stamp_ns: int) -> bool:
        """Whether readings of this time would be an update: a period has passed, or time was set
        back."""
        return not self.begun or stamp_ns < self.stamp_ns or self._steps(stamp_ns) > 0

    def update(self, stamp_ns: int, readings: Measurements,
               effort: np.ndarray | None = None) -> Estimate | None:
        """The estimate after readings of the time `stamp_ns` (ns).

        effort (n_joints,): what acted on the joints since the last update; None or NaN: not known.
        None is returned if no period has passed, or if it cannot begin yet: it begins when the
        positions of all joints are known. ControlError if readings contradict the model; the next
        update begins anew. Between readings call it with `Measurements()`: the covariance grows.
        """
        blind = readings.joint_position is None
        most = MOST_MISSED if blind else self._most_steps
        if self.begun and (stamp_ns < self.stamp_ns or self._steps(stamp_ns) > most):
            self.reset()
            self.restarts += 1
        if not blind:
            self._take_effort(effort)
        if not self.begun:
            return self._begin(stamp_ns, readings)
        steps = self._steps(stamp_ns)
        if steps == 0:
            return None
        at_ns = self.stamp_ns + steps * self.period_ns
        readings, period = self._moved(readings, 1e-9 * (at_ns - stamp_ns)), self._filter.period
        try:
            with np.errstate(all='ignore'):       # what is not finite is refused
                self._filter.predict(self._acting(blind), self._still, steps * period)
                self.stamp_ns = at_ns
                if self._jumped(readings):
                    self.reset()
                    self.restarts += 1
                    return self._begin(stamp_ns, readings)
                self._filter.correct(readings, self._acting(blind), self._still)
        except (ControlError, ArithmeticError, ValueError) as error:
            self.reset()
            self.restarts += 1
            raise ControlError(str(error)) from None
        self._follow_pose()
        return self._estimate()

    def _steps(self, stamp_ns: int) -> int:
        return (stamp_ns - self.stamp_ns + self.period_ns // 2) // self.period_ns

    def _take_effort(self, effort: np.ndarray | None) -> None:
        known = effort is not None and bool(np.isfinite(effort).all())
        if known:
            assert effort is not None
            self._effort = np.asarray(effort, dtype=float)
        noise = self._with_effort if known else self._without
        if noise is self._noise:
            return
        self._noise, self._job = noise, None
        if self.begun:
            self._filter.use(finish(self._model_at(self._filter.q[:self.model.n_joints])))

    def _acting(self, blind: bool) -> np.ndarray:
        """Efforts (n_joints,) that act: as told, or those that balance the robot where it is.

        blind: without encoders. Efforts that are held would then let the robot fall, or accelerate
        it, which its controller does not.
        """
        if self.knows_effort and not blind:
            return self._effort
        return self._filter.balancing_effort(pushed=blind)

    def _jumped(self, readings: Measurements) -> bool:
        """Whether a joint is so far from its estimate that a linear correction would not do."""
        if readings.joint_position is None:
            return False
        off = np.abs(readings.joint_position - self._filter.q[:self.model.n_joints])
        return bool(np.nanmax(off, initial=0.0) > JUMP)

    def _moved(self, readings: Measurements, later: float) -> Measurements:
        """Readings with joint positions `later` (s), on the grid of the filter."""
        position, velocity = readings.joint_position, readings.joint_velocity
        if position is None or later == 0.0:
            return readings
        speed = self._filter.v[:self.model.n_joints]
        if velocity is not None:
            speed = np.where(np.isfinite(velocity), velocity, speed)
        return replace(readings, joint_position=position + later * speed)

    def _begin(self, stamp_ns: int, readings: Measurements) -> Estimate | None:
        position = readings.joint_position
        if position is None or not np.isfinite(position).all():
            return None
        self._filter.noise = self._noise
        try:
            with np.errstate(all='ignore'):       # what is not finite is refused
                self._filter.begin(self.model.statics(position)[0], moving=self._swinging)
                self._filter.correct(readings, self._acting(blind=False), self._still)
        except (ControlError, ArithmeticError, ValueError) as error:
            self.reset()
            raise ControlError(str(error)) from None
        self._modelled_at = np.array(position, dtype=float)
        self.stamp_ns = stamp_ns
        return self._estimate()

    def _follow_pose(self) -> None:
        """A piece of the linear model at the present pose, if the last one is too far away."""
        joints = self._filter.q[:self.model.n_joints]
        if self._job is None:
            if np.abs(joints - self._modelled_at).max(initial=0.0) <= POSE_STEP:
                return
            self._job, self._modelled_at = Job(self._model_at(joints.copy())), joints.copy()
        if any(self._job.work() for _ in range(AT_ONCE)):
            assert self._job.result is not None
            self._filter.use(self._job.result)
            self._job = None

    def _model_at(self, joints: np.ndarray) -> Pieces[FilterModel]:
        own = self._filter
        q = self.model.statics(joints)[0]
        yield
        rest = yield from rest_model(self.model, q, own.drive_stiffness, own.drive_damping)
        own.noise = self._noise
        made = yield from own.model_at(rest)
        return made

    def _estimate(self) -> Estimate:
        own = self._filter
        return Estimate(self.stamp_ns, own.q, own.v, own.push, *own.nis)
