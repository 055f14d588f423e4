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
"""Linear quadratic regulator of the deflected arm, redesigned as the pose changes."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.parameters import Parameter
from flex_control.controllers.scheduled_gains import ScheduledGains
from flex_control.design.gains import (
    LQR_DRIVE_SHARE,
    LQR_ENERGY,
    LQR_REACH,
    LQR_SHARE_OF_SOFT_FORCE,
    LQR_TIP_ERROR,
    SLOWEST_STIFF,
    USUAL_PERIOD,
    first_frequency,
    poses,
    shared_inertia,
)
from flex_control.design.lqr_design import (
    LqrGains,
    Weights,
    check_limits,
    check_size,
    feasible_tip_error,
    longest_reach,
    lqr_gains,
    refuse_unreachable,
    soft_force,
)
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.incremental import Pieces, finish
from flex_control.reference.deflected_reference import deflected_reference
from flex_control.reference.soft_steps import SoftSteps

LEAST_DRIVE_RATE = 0.5   # 1/s, of the drives' damping over the inertia
SHARE_OF_SAMPLING = 0.4  # of the sampling rate: faster modes cannot be told from slower ones


class LQR(ScheduledGains):
    """tau = tau_r + u,  u+ = u - K (x - x_r) - K_i z - K_u u.

    x_r, tau_r: the reference motion, with steps made smooth (`SoftSteps`) and with its
    quasi-static deflection (`DeflectedReference`); z: the time integral of the errors of tips and
    joints. With constraints K is that of the motions that they allow, and only commanded joints
    have efforts.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('tip_error', 0.0, 'error of a tip that costs as much as `effort`; 0: 5 mm, or '
                  'for a reach beyond 4.5 m in proportion to it, and more for arms that bend '
                  'slower than their motors move them', 'mm', 0.0, 1e5),
        Parameter('joint_error', 0.1, 'error of a joint that costs as much as `effort`',
                  'rad or m', 1e-6, 1e3),
        Parameter('energy', 0.0, 'kinetic energy of vibration that costs as much as `effort`; 0: '
                  '1 J, or for a reach beyond 4.5 m in proportion to its square', 'J', 0.0, 1e9),
        Parameter('effort', (), 'effort beyond what the wanted motion takes that costs as much as '
                  'the errors above; empty: what a force that moves the tip by 0.7 % of the reach '
                  'asks of the joint in its longest reach', 'N m or N', 1e-6, 1e9, per_joint=True),
        Parameter('effort_time', 0.03, 'time in which the effort may change by `effort` for the '
                  'same cost: the gains fall off above its inverse', 's', 1e-4, 10.0),
        Parameter('integral_time', 0.5, 'time in which a constant error costs once more; 0: '
                  'no integral action', 's', 0.0, 1e4),
        Parameter('highest_mode', 0.0, 'modes above are left alone; 0: 0.4 times the sampling '
                  'rate', 'Hz', 0.0, 1e6),
        Parameter('period', 0.0, 'time between updates for which the gains are designed; 0: as '
                  'the updates come', 's', 0.0, 1.0),
        Parameter('drive_share', LQR_DRIVE_SHARE, 'damping that the drives are asked for, over '
                  'the inertia that each joint shares with the largest, as a share of the first '
                  'frequency with locked joints, at least 0.5 /s; 0: none', '', 0.0, 100.0),
        Parameter('step_time', 0.0, 'time in which a step of the reference is taken; 0: what '
                  'the first mode and the limits of the robot ask for', 's', 0.0, 1e4),
        Parameter('pose_step', 0.05, 'change of a wanted joint position after which the gains are '
                  'designed anew; 0: never', 'rad or m', 0.0, 1e3),
    )
    needs_elastic_state: ClassVar[bool] = True
    knows_constraints: ClassVar[bool] = True

    def parameters_changed(self) -> None:
        given = self.parameters
        check_size(self.model, type(self).__name__.lower())
        reach = longest_reach(self.model)
        self._effort = (given['effort'] if given['effort'].size
                        else LQR_SHARE_OF_SOFT_FORCE * soft_force(self.model) * reach)
        longer = max(1.0, float(reach.max()) / LQR_REACH)
        self._tip_error = (1e-3 * given['tip_error'] or getattr(self, '_usual_tip_error', 0.0)
                           or longer * LQR_TIP_ERROR)
        self._energy = given['energy'] or longer**2 * LQR_ENERGY
        if not hasattr(self, '_wanted'):
            self._limits = self.model.joint_limits.effort
            self._inertia = shared_inertia(self.model)
            self._first = min(first_frequency(self.model), SLOWEST_STIFF)
            self._schedule()
            self._wanted = deflected_reference(self.model)
            self._steps = self.soft_steps()
            self._target = self.reference          # with its steps softened
            self._z, self._u = np.zeros((2, self.model.n_joints))
            self._fresh = True
            self._check_limits()
        self._steps.duration = given['step_time']
        self._period = given['period'] or self._period
        self._stale = True

    def soft_steps(self) -> SoftSteps:
        """What makes the steps of the reference smooth."""
        return SoftSteps(self.model)

    def _check_limits(self) -> None:
        kept, self._period = self._period, self.parameters['period'] or USUAL_PERIOD
        q = self.model.statics(poses(self.model)[1])[0]
        damping = self.drive_gains()[1]
        if not self.parameters['tip_error']:
            self._tip_error = self._usual_tip_error = feasible_tip_error(
                self.model, q, self.weights(), damping, self._period)
        check_limits(self.model, q, self.weights(), damping, self._period,
                     type(self).__name__.lower())
        self._period = kept

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Damping that acts between the updates: on modes too fast for them, whose phase neither
        regulator nor filter can know, and on modes that change faster than the gains."""
        share = self.parameters['drive_share']
        rate = max(LEAST_DRIVE_RATE, share * self._first) if share > 0.0 else 0.0
        return np.zeros(self.model.n_joints), rate * self._inertia

    def reset(self) -> None:
        self._z[:], self._u[:], self._fresh = 0.0, 0.0, True
        self._wanted.reset()
        self._steps.reset()
        self._gains = None

    # Gains ----------------------------------------------------------------------------------

    def weights(self) -> Weights:
        """The parameters in SI units."""
        given = self.parameters
        highest = 2.0 * np.pi * (given['highest_mode'] or SHARE_OF_SAMPLING / self._period)
        return Weights(self._tip_error, given['joint_error'], self._energy,
                       self._effort, given['effort_time'], given['integral_time'], highest)

    def design(self, q: np.ndarray) -> Pieces[tuple[RestModel, LqrGains]]:
        """The linear model and the gains at the equilibrium q (n,); in pieces."""
        rest = yield from rest_model(self.model, q, self.drive_stiffness, self.drive_damping)
        gains = yield from lqr_gains(self.model, rest, self.weights(), self._period)
        return rest, gains

    def first_design(self, q: np.ndarray) -> tuple[RestModel, LqrGains]:
        rest = finish(rest_model(self.model, q, self.drive_stiffness, self.drive_damping))
        refuse_unreachable(self.model, rest, self.weights().highest_mode, self._period)
        return rest, finish(lqr_gains(self.model, rest, self.weights(), self._period))

    # Control law ----------------------------------------------------------------------------

    def update(self, time: float, period: float) -> np.ndarray:
        self._move(period)
        if not self._watch(period):
            return self._held()
        return self._law(self._present(), self.q, self.v, period)

    def _move(self, period: float) -> None:
        """Go on to the motion that is wanted now."""
        self._target = self._steps.follow(self.reference, self.q[:self.model.n_joints], period)
        self._wanted.move_to(self._target, period)
        planned = self.planned_effort(period)
        if planned is not None and self._target is self.reference:
            self._feedforward = planned
            return
        # Drives act about the reference of the command, the control law about the softened one.
        self._feedforward = self._wanted.effort - (
            self.drive_stiffness * (self.reference.position - self._target.position)
            + self.drive_damping * (self.reference.velocity - self._target.velocity))

    def _held(self) -> np.ndarray:
        """Efforts (n_joints,) of the wanted motion alone."""
        efforts: np.ndarray = np.clip(self._feedforward, -self._limits, self._limits)
        return efforts

    def _law(self, gains: LqrGains, q: np.ndarray, v: np.ndarray, period: float) -> np.ndarray:
        """Efforts (n_joints,) at the state q, v (n,)."""
        wanted = self._wanted
        off = q - wanted.q
        feedback = gains.integral @ self._z + gains.state @ np.concatenate((off, v - wanted.v))
        if self._fresh:      # as if it had been active before: no transient at the takeover
            self._fresh = False
            self._u = -np.linalg.solve(gains.effort, feedback)
        efforts = self._feedforward + self._u - gains.effort @ self._u - feedback
        clipped: np.ndarray = np.clip(efforts, -self._limits, self._limits)
        self._u = clipped - self._feedforward
        if self.parameters['integral_time'] > 0.0 and np.array_equal(clipped, efforts):
            # anti-windup
            self._z += period * (gains.error @ off)
        return clipped

    def affine_law(self) -> AffineLaw | None:
        wanted, gains, joints = self._wanted, self._gains, self.model.n_joints
        ahead, q, v = self._feedforward.copy(), wanted.q.copy(), wanted.v.copy()
        if gains is None:
            return AffineLaw(ahead, q, v, None, None, np.zeros((joints, joints)),
                             np.zeros((joints, self.model.n)), self._limits)
        integrates = 1.0 if self.parameters['integral_time'] > 0.0 else 0.0
        return AffineLaw(ahead, q, v, gains.state, gains.effort, gains.integral,
                         integrates * gains.error, self._limits)
