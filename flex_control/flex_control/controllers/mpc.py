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
"""Model predictive control: lqg within limits on effort, speed, deflection and strain."""
from __future__ import annotations

import time as clock
from typing import ClassVar

import numpy as np

from flex_control.controllers.lqg import LQG
from flex_control.controllers.parameters import Parameter
from flex_control.design.limited_outputs import GAUGES, LINKS, limited_outputs
from flex_control.design.lqr_design import LqrGains
from flex_control.design.prediction import INTERVALS, Prediction, predict
from flex_control.design.rest_model import RestModel
from flex_control.design.soft_program import SoftProgram
from flex_control.errors import ControlError
from flex_control.estimators.filter_model import pushed_frame
from flex_control.incremental import Pieces, finish
from flex_control.reference.limited_steps import LimitedSteps, attainable
from flex_control.reference.preview import Ahead, ReferencePreview
from flex_control.reference.soft_steps import SoftSteps
from flex_control.trajectories.base import Reference

HORIZON = 2.5            # periods of the first mode
KNOTS = 2                # intervals of the prediction from one knot of the preview to the next
NEAR = 0.85              # of a limit, from which on an output takes part in the program
ROUNDS = 4               # of adding rows that the solution exceeds
AT_AN_INSTANT = 3        # outputs of a kind that take part at one instant, in each round
CATCH_TIME = 1.5         # of the inverse of the first frequency (rad/s), between two such changes
SOON = 8                 # instants whose limits give way apart from the later ones
KINDS = 'effort', 'velocity', 'deflection', 'strain'
TOUCHED = 1e-4           # of a limit, by which a solution may exceed rows that are not in it
LAG = 0.1                # rad or m, by which limits may hold the arm back behind its reference
SOFTENED = 0.01          # of a limit, from which on it counts as one that could not be kept
PIECES_TIME = 1e-3       # s of updates, in which one piece of a design is done
BLEND_TIME = 0.06        # s, in which new gains replace the old ones


Row = tuple[int, int, int]        # instant, output, and 1 or -1 for its upper or lower limit


class MPC(LQG):
    """tau = tau_r + u,  u+ = u - K x - K_i z - K_u u + c, with the smallest c (in the regulator's
    cost) for which efforts, speeds, deflections and strains are predicted to keep their limits.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        *LQG.PARAMETERS,
        Parameter('effort_limit', (), 'largest effort, drives included; empty: that of the robot',
                  'N m or N', 1e-6, 1e9, per_joint=True),
        Parameter('velocity_limit', (), 'largest speed; empty: that of the robot',
                  'rad/s or m/s', 1e-6, 1e6, per_joint=True),
        Parameter('deflection_limit', 0.0, 'largest displacement of the end of a beam across its '
                  'axis, in each of its planes; 0: none', 'mm', 0.0, 1e6),
        Parameter('strain_limit', 0.0, 'largest bending strain; 0: none', 'm/m', 0.0, 1.0),
        Parameter('strain_at', LINKS, f'where: at the {GAUGES}, or at the outer fibres anywhere '
                  f'along the {LINKS}'),
        Parameter('margin', 0.03, 'share of the limits of speed, deflection and strain that is '
                  'kept free for what the prediction does not know', '', 0.0, 0.9),
        Parameter('horizon', 0.0, 'how far the prediction goes; 0: 2.5 periods of the first mode',
                  's', 0.0, 100.0),
        Parameter('solve_period', 5e-3, 'least time from one solution to the next; updates '
                  'between them follow the plan', 's', 0.0, 1.0),
    )
    knows_constraints: ClassVar[bool] = False

    def parameters_changed(self) -> None:
        given, model = self.parameters, self.model
        if given['strain_at'] not in (GAUGES, LINKS):
            raise ControlError(f'strain_at: expected {GAUGES} or {LINKS}, found '
                               f"{given['strain_at']!r}")
        effort, speed = model.joint_limits.effort, model.joint_limits.velocity
        if given['effort_limit'].size:
            effort = np.minimum(effort, given['effort_limit'])
        if given['velocity_limit'].size:
            speed = np.minimum(np.where(speed > 0.0, speed, np.inf), given['velocity_limit'])
        free = 1.0 - given['margin']
        limited = limited_outputs(model, effort, free * speed,
                                  1e-3 * free * given['deflection_limit'],
                                  free * given['strain_limit'], given['strain_at'])
        super().parameters_changed()
        self._limits, self._limited, self._softer.limited = effort, limited, limited
        self._groups = np.array([KINDS.index(kind) for kind in limited.kinds], dtype=int)
        self._horizon = given['horizon'] or HORIZON * 2.0 * np.pi / self._first
        if not hasattr(self, '_program'):
            self._program = SoftProgram()
            self._prediction: Prediction | None = None
            self._next_prediction: Prediction | None = None
            self.solved, self.softened, self.failed = 0, 0, 0
            self.slowest, self.largest_excess = 0.0, 0.0
        self._preview = ReferencePreview(model, KNOTS * self._horizon / INTERVALS)
        self._forget_plan()
        self._trouble = ''

    def soft_steps(self) -> SoftSteps:
        self._softer = LimitedSteps(self.model)
        return self._softer

    def reset(self) -> None:
        super().reset()
        self._prediction = self._next_prediction = None
        self._preview.reset()
        self._forget_plan()
        self._trouble = ''

    def _forget_plan(self) -> None:
        self._plan: np.ndarray | None = None      # (v,), None: no limit is in reach
        self._age = 0                             # periods since it was made
        self._since = np.inf                      # s since the last look at the limits
        self._caught = np.inf                     # s since the reference was set to the arm
        self._motion: tuple[object, object] = (None, None)
        self._active: dict[Row, float] = {}

    # Linear models --------------------------------------------------------------------------

    def design(self, q: np.ndarray) -> Pieces[tuple[RestModel, LqrGains]]:
        rest, gains = yield from super().design(q)
        self._next_prediction = yield from self._predict(rest, gains)
        return rest, gains

    def _predict(self, rest: RestModel, gains: LqrGains) -> Pieces[Prediction]:
        made = yield from predict(rest, gains, self._limited, self._horizon, self._period,
                                  self.drive_stiffness, self.drive_damping)
        return made

    def adopt(self, rest: RestModel) -> None:
        super().adopt(rest)
        self._at_once = max(2, round(self._period / PIECES_TIME))
        self._blend_updates = max(2, round(BLEND_TIME / self._period))
        if self._next_prediction is None:        # the first design, made at once
            assert self._gains is not None
            self._next_prediction = finish(self._predict(rest, self._gains))
        if self._plan is not None:               # of the blocks of another model
            self._since = np.inf
        self._prediction, self._next_prediction = self._next_prediction, None

    def _place(self) -> np.ndarray:
        """Where the arm is: held back by a limit it may be far from the reference."""
        if not self.estimator.begun:
            return self._target.position
        return self.estimator.q[:self.model.n_joints]

    # Control law ----------------------------------------------------------------------------

    def update(self, time: float, period: float) -> np.ndarray:
        self._now = time
        return super().update(time, period)

    def _law(self, gains: LqrGains, q: np.ndarray, v: np.ndarray, period: float) -> np.ndarray:
        prediction = self._prediction
        if self._fresh or prediction is None or not len(self._limited):
            return super()._law(gains, q, v, period)
        off, faster = q - self._wanted.q, v - self._wanted.v
        self._since += period
        self._age += max(1, round(period / self._period))
        if self._since >= self.parameters['solve_period'] - 0.5 * self._period:
            self._since, self._age = 0.0, 0
            begin = clock.perf_counter()
            self._plan = self._solve(prediction, off, faster)
            self._catch(q, v)
            self.slowest = max(self.slowest, clock.perf_counter() - begin)
        if self._plan is None:
            return super()._law(gains, q, v, period)
        own = prediction.gains
        change = (prediction.change(self._plan, self._age) - own.effort @ self._u
                  - own.state @ np.concatenate((off, faster)) - own.integral @ self._z)
        joints, wanted = self.model.n_joints, self.reference
        drives = (self.drive_stiffness * (wanted.position - q[:joints])
                  + self.drive_damping * (wanted.velocity - v[:joints]))
        efforts: np.ndarray = np.clip(self._feedforward + self._u + change, -self._limits - drives,
                                      self._limits - drives)
        efforts = np.clip(efforts, -self._limits, self._limits)
        self._u = efforts - self._feedforward      # and z waits: anti-windup
        return efforts

    def _solve(self, prediction: Prediction, off: np.ndarray,
               faster: np.ndarray) -> np.ndarray | None:
        """The changes to come (v,) that keep the limits; None if none are needed."""
        ahead = self._ahead(prediction)
        x = prediction.state(off, faster, self._z, self._u)
        forces = self._forces(prediction, ahead)
        free = prediction.free(x, forces)
        limited = prediction.limited
        wanted = limited.at(ahead.q, ahead.v, ahead.effort)
        y = (wanted + free @ prediction.outputs.T
             + forces @ prediction.static.T)[:max(ahead.known, 1)]
        # What the wanted poses themselves ask for has to be allowed.
        rests = limited.at(ahead.q, np.zeros_like(ahead.v), ahead.effort)
        allowed = attainable(np.abs(rests - ahead.wanted @ prediction.inertia.T)[:len(y)])
        y = y / allowed
        if np.abs(y).max() <= 1.0:
            self._active = {}
            self._judge(y * allowed)
            return None
        rows = dict.fromkeys(row for row in self._active if row[0] < len(y))
        rows.update(dict.fromkeys(self._near(y, NEAR)))
        known, reached, plan = self._active, y, None
        for _ in range(ROUNDS):
            instants, outputs, sides = np.array(list(rows)).T
            guess = np.array([known.get(row, 0.0) for row in rows])
            found = self._program.solve(
                (sides / allowed[instants, outputs])[:, None]
                * prediction.rows(instants, outputs), sides * y[instants, outputs],
                self._groups[outputs] + (instants >= SOON) * len(KINDS), guess)
            if found is None:
                break
            plan = found.x
            known = {row: size for row, size in zip(rows, found.multipliers.tolist()) if size}
            reached = y + (prediction.forced[:len(y)] @ plan) @ prediction.outputs.T / allowed
            missed = [row for row in self._near(reached, 1.0 + TOUCHED) if row not in rows]
            if not missed:
                break
            rows.update(dict.fromkeys(missed))
        self.solved += 1
        self._active = known
        if plan is None:
            self.failed += 1
            self._trouble = ('mpc: the program of the limits was not solved in time: the limits '
                             'do not act now')
            return None
        self._judge(reached * allowed)
        return plan

    def _catch(self, q: np.ndarray, v: np.ndarray) -> None:
        """Let the reference go on from where the arm is, if limits hold it back too far: far from
        the reference, what is linear about it no longer holds."""
        joints = self.model.n_joints
        self._caught += self.parameters['solve_period']
        late = np.abs(q[:joints] - self._wanted.q[:joints]).max()
        if self._plan is not None and late > LAG and self._caught > CATCH_TIME / self._first:
            self._caught = 0.0
            self._softer.catch(q[:joints], v[:joints])

    def _near(self, y: np.ndarray, share: float) -> list[Row]:
        """Outputs (j, o) beyond this share of their limits; at each instant the largest of each
        kind."""
        found: list[Row] = []
        for kind in range(len(KINDS)):
            own = np.flatnonzero(self._groups == kind)
            if not own.size:
                continue
            sizes = np.abs(y[:, own])
            most = np.argsort(-sizes, axis=1)[:, :AT_AN_INSTANT]
            for instant, place in np.argwhere(np.take_along_axis(sizes, most, 1) > share).tolist():
                output = int(own[most[instant, place]])
                found.append((instant, output, 1 if y[instant, output] > 0.0 else -1))
        return found

    def _judge(self, reached: np.ndarray) -> None:
        """Say which limit cannot be kept, if there is one; reached (j, o): of the solution."""
        limited, kept = self._limited, 1.0 - self.parameters['margin']
        shares = np.abs(reached).max(axis=0) * np.array([1.0 if kind == 'effort' else kept
                                                         for kind in limited.kinds])
        worst = int(np.argmax(shares))
        if shares[worst] <= 1.0 + SOFTENED:
            self._trouble = ''
            return
        self.softened += 1
        self.largest_excess = max(self.largest_excess, float(shares[worst]) - 1.0)
        limit = limited.limits[worst] / (1.0 if limited.kinds[worst] == 'effort' else kept)
        self._trouble = (
            f'mpc: the limits cannot all be kept and were softened: {limited.kinds[worst]} of '
            f'{limited.names[worst]}: expected at most {limit:.4g}, predicted '
            f'{shares[worst] * limit:.4g}')

    def _ahead(self, prediction: Prediction) -> Ahead:
        """The reference at the instants of the prediction."""
        preview, wanted, now = self.preview, self.reference, self._now
        motion = (preview, self._steps.step)
        if preview is None or motion != self._motion:
            self._motion = motion
            self._preview.reset()

        def sample(time: float) -> Reference:
            coming = (preview(time) if preview is not None else Reference(
                wanted.position + (time - now) * wanted.velocity, wanted.velocity,
                np.zeros_like(wanted.position)))
            return self._steps.ahead(coming, time - now)
        return self._preview.ahead(sample, now, prediction.grid.delays)

    def _forces(self, prediction: Prediction, ahead: Ahead) -> np.ndarray:
        """Generalised forces (j, n) that the reference's efforts leave out: those of its elastic
        accelerations, and the push that the filter estimates."""
        rest = prediction.rest
        place = self.model.jacobian(rest.q, pushed_frame(self.model))[:3]
        found: np.ndarray = -ahead.a @ rest.M + place.T @ self.estimator.push
        return found

    def trouble(self) -> str:
        return self._trouble

    def figures(self) -> dict[str, object]:
        return {'solutions with a limit in reach': self.solved,
                'solutions with softened limits': self.softened,
                'solutions not found': self.failed,
                'largest excess of a limit, %': round(100.0 * self.largest_excess, 2),
                'slowest solution, ms': round(1e3 * self.slowest, 3)}
