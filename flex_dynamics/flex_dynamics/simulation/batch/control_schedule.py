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
"""A control law as a table over time, for runs that are closed in compiled code."""
from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.stepping.controlled_run import Schedule, make_schedule
from flex_dynamics.simulation.batch.observer import ObserverSchedule


@dataclass(frozen=True, eq=False)
class ControlSchedule:
    """u+ = clip(ff + u - K_u u - K (x - x_r) - K_i z) - ff,  z' = E (q - q_r),  tau = ff + u+.

    ff, x_r and the gains are those of each sample; they do not depend on the state, so that one
    schedule serves runs of any number of robots with these coordinates. Without `effort_gains`
    the law has no memory: u+ = clip(ff - K (x - x_r)) - ff. Drives close loops of their own about
    position and velocity, within the integrator's step.

    period: s between samples. effort, position, velocity (samples, n_joints): ff and what the
    drives aim at. q, v (samples, n): x_r. gains (sets, n_joints, 2 n), effort_gains (sets or 0,
    n_joints, n_joints), integral_gains (sets, n_joints, z), errors (sets, z, n): K, K_u, K_i and
    E; which (samples,): the set of each sample,
    -1: feedforward alone. limit (n_joints,): of clip. drive_stiffness,
    drive_damping (n_joints,). observer: the filter whose estimate the law takes for the state,
    which it begins where `which` has its first set; None: the law knows the state.
    """

    period: float
    effort: Array
    position: Array
    velocity: Array
    q: Array
    v: Array
    gains: Array
    effort_gains: Array
    integral_gains: Array
    errors: Array
    which: np.ndarray
    limit: Array
    drive_stiffness: Array
    drive_damping: Array
    observer: ObserverSchedule | None = None
    arrays: Schedule = field(init=False, repr=False)

    def __post_init__(self) -> None:
        checks.positive(self.period, 'period', 'a positive time in s')
        effort = np.asarray(self.effort)
        if effort.ndim != 2 or not effort.size:
            raise DynamicsError('effort: expected shape (samples, n_joints), found '
                                f'{effort.shape}')
        samples, joints = effort.shape
        n, sets = np.shape(self.q)[-1], len(self.gains)
        integrals, remembered = np.shape(self.integral_gains)[-1], len(self.effort_gains)
        if remembered not in (0, sets):
            raise DynamicsError(f'effort_gains: expected 0 or {sets} sets, found {remembered}')
        shapes: dict[str, tuple[int, ...]] = {
            'effort': (samples, joints), 'position': (samples, joints),
            'velocity': (samples, joints), 'q': (samples, n), 'v': (samples, n),
            'gains': (sets, joints, 2 * n), 'effort_gains': (remembered, joints, joints),
            'integral_gains': (sets, joints, integrals), 'errors': (sets, integrals, n),
            'drive_stiffness': (joints,), 'drive_damping': (joints,)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, checks.finite(getattr(self, name), name, shape))
        limit = checks.shaped(self.limit, 'limit', (joints,))
        if not (limit >= 0.0).all():
            raise DynamicsError(f'limit: expected zero or positive efforts, found {limit}')
        which = np.ascontiguousarray(self.which, dtype=np.int64)
        if which.shape != (samples,) or which.min() < -1 or which.max() >= sets:
            raise DynamicsError(f'which: expected {samples} numbers from -1 to {sets - 1}, '
                                f'found {checks.shown(self.which)}')
        if self.observer is not None:
            checks.instance(self.observer, 'observer', ObserverSchedule,
                            'flex_control.control_schedule makes one')
            if not np.array_equal(self.observer.which >= 0, which >= 0):
                raise DynamicsError('observer: expected a model of the filter in each sample that '
                                    'has gains, and in no other')
        object.__setattr__(self, 'limit', limit)
        object.__setattr__(self, 'which', which)
        object.__setattr__(self, 'arrays', Schedule(
            self.effort, self.position, self.velocity,
            np.ascontiguousarray(np.hstack((self.q, self.v))), self.gains, self.effort_gains,
            self.integral_gains, self.errors, limit, which))

    def __reduce__(self) -> tuple[Any, ...]:
        return ControlSchedule, tuple(getattr(self, one.name) for one in fields(self) if one.init)

    @property
    def samples(self) -> int:
        return len(self.effort)

    @property
    def integrals(self) -> int:
        """Number of integrals z of the law."""
        return int(self.integral_gains.shape[2])

    def handle(self) -> np.ndarray:
        """As kernels take it; valid as long as the schedule lives."""
        return make_schedule(self.arrays)


def open_loop(effort: Array, position: Array, velocity: Array) -> Schedule:
    """Efforts and targets of the drives (samples, n_joints) by sample, without feedback."""
    joints = effort.shape[1]
    none = np.zeros((0, joints, 0))
    return Schedule(effort, position, velocity, np.zeros((0, 0)), none,
                    np.zeros((0, joints, joints)), none, np.zeros((0, 0, 0)), np.zeros(joints),
                    np.zeros(0, dtype=np.int64))
