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
"""Derivatives through time: of a step of the implicit midpoint rule, and of many.

A step solves I(qm, vm, a) = B tau + J'w with qm = q + h/2 v + h^2/4 a and vm = v + h/2 a, I the
inverse dynamics with springs and dampers; then q+ = q + h v + h^2/2 a and v+ = v + h a. So

    (dI/da + h/2 dI/dv + h^2/4 dI/dq) da = -dI/dq (dq + h/2 dv) - dI/dv dv + B dtau - dI/dp dp

is the derivative of the step itself, not of the motion that it approximates.

The balance of energy (implicit_midpoint.py) scales the speeds v0 = v + h a that the rule gives by
1 + s, with the kinetic energy K and the gravity energy P of a state and the work W of a step:

    e = K(q+, v0) + P(q+) - K(q, v) - P(q) - W + ahead,    s = -e / (2 K(q+, v0)),
    ahead+ = e + ((1 + s)^2 - 1) K(q+, v0)

so that a state has one number more, `ahead`, J. dK/dq = C'v follows from dM/dt = C + C', and the
work of all forces is h vm.(M a + C vm + g).
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isqrt
from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base.layout import FLOATING, KIND, PARENT, PLANAR
from flex_dynamics.kernels.stepping.implicit_midpoint import LARGEST_SCALING
from flex_dynamics.model.derivatives.frames import load_slope
from flex_dynamics.model.derivatives.parameter_derivatives import ParameterDerivatives
from flex_dynamics.model.derivatives.state_derivatives import friction_slope
from flex_dynamics.model.loads import Loads, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.simulation.simulate import Servo, check_servo
from flex_dynamics.simulation.simulation import Simulation

TOLERANCE = 1e-13        # of the sweeps: a step is then the same from every guess
CUT = 1e-9               # relative: by how much a step that was cut misses the rule
MOST_SCALING = LARGEST_SCALING * (1.0 + 1e-9)      # of speeds in a step, but for rounding


class StepDerivatives(NamedTuple):
    """Derivatives of the state (q, v, ahead) after a step, s = 2n + 1 numbers: by the state before
    (s, s), by the joint efforts (s, n_joints), by parameters (s, k). ahead is the energy, J, that
    the balance has still to take off; without balance it is zero."""

    by_state: Array
    by_tau: Array
    by_parameters: Array


class Gradient(NamedTuple):
    """Derivatives of one number: by the start (q, v) (2n,), by the efforts (steps, n_joints), by
    the parameters (k,)."""

    by_start: Array
    by_tau: Array
    by_parameters: Array


class _State(NamedTuple):
    """Positions, speeds (n,) and energy ahead of balance, J; a: in the middle of the step to it.
    """

    q: Array
    v: Array
    ahead: float
    a: Array


class _Servo:
    """A servo of a simulation: its part of stiffness and damping (n, n), and its target."""

    def __init__(self, model: Model, servo: Servo | None) -> None:
        self._servo, joints, n = servo, model.n_joints, model.n
        self.stiffness, self.damping = np.zeros((n, n)), np.zeros((n, n))
        if servo is None:
            return
        check_servo(servo)
        self._gains = (model.finite_vector(servo.stiffness, 'stiffness', joints),
                       model.finite_vector(servo.damping, 'damping', joints))
        # What the motor sees of each joint is the transpose of how it acts.
        inputs = model.input_matrix()
        self.stiffness, self.damping = ((inputs * gain) @ inputs.T for gain in self._gains)

    def set_target(self, run: Simulation, k: int) -> None:
        """The target of step k, that in its middle."""
        if self._servo is not None:
            target, rate = self._servo.at((k + 0.5) * run.step)
            run.set_servo(*self._gains, target, rate)


class Rollout:
    """A simulation with given efforts, and its derivatives; exact for the steps it takes.

    The run is that of simulate() with these efforts, one step each, and its sweeps done to
    rounding: what a tolerance of 1e-9 leaves of them has no derivative.

    Memory holds about 2 sqrt(steps) states; between them the run is repeated.

    Parameters
    ----------
    model : Model
        Of order 'first' or 'second', without constraints.
    q, v : array-like, shape (n,)
        Start.
    tau : array-like, shape (steps, n_joints)
        Joint efforts, constant in each step.
    step : float
        s.
    parameters : names of parameters
        As model_parameters lists them.
    loads : loads, optional
        Constant, in world axes.
    servo : Servo, optional
        Joint springs and dampers towards a target, as simulate() takes them.
    balance : bool
        As simulate() has it. On a floating or planar base, where it keeps momentum too, only
        False is differentiated.

    Examples
    --------
    >>> run = Rollout(model, q, v, np.zeros((10, model.n_joints)), parameters=['gravity.z'])
    >>> by_start, by_parameters = run.final_derivatives()
    >>> by_start.shape == (2 * model.n, 2 * model.n) and by_parameters.shape == (2 * model.n, 1)
    True
    """

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 step: float = 1e-3, parameters: Iterable[str] = (),
                 loads: Loads | None = None, servo: Servo | None = None,
                 balance: bool = True) -> None:
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        if model.robot.constraints:
            raise DynamicsError('model: expected a robot without constraints, found '
                                f'{len(model.robot.constraints)}; their steps are not '
                                'differentiated')
        self._balance = checks.flag(balance, 'balance')
        table = model.assembly.packed.table
        moving = (table[:, PARENT] < 0) & np.isin(table[:, KIND], (PLANAR, FLOATING))
        if self._balance and moving.any():
            raise DynamicsError('balance: expected False for a robot on a floating or planar base '
                                '(simulate() takes it, too), found True; the balance of its '
                                'momentum is not differentiated')
        self._model, self._data = model, model.create_data()
        self._tau = checks.real_array(tau, 'tau', f'numbers (steps, {model.n_joints})')
        if self._tau.ndim != 2 or self._tau.shape[1] != model.n_joints or not len(self._tau):
            raise DynamicsError(f'tau: expected (steps, {model.n_joints}) numbers, at least one '
                                f'step, found shape {self._tau.shape}')
        self._tau = checks.finite(self._tau, 'tau', self._tau.shape).copy()
        q, v = checks.state(model, q, v)
        self._simulation = Simulation(model, step, q, v, tolerance=TOLERANCE,
                                      balance=self._balance)
        self._loads = None if loads is None else point_wrenches(model, loads)
        self._simulation.set_loads(self._loads)
        self._servo = _Servo(model, servo)
        self._parameters = ParameterDerivatives(model, parameters)
        self._every = max(1, isqrt(len(self._tau)))
        self._kept: list[_State] = []
        for k in range(len(self._tau)):
            if k % self._every == 0:
                self._kept.append(self._state())
            self._advance(k)
        self._final = self._state()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Paths of the parameters (k)."""
        return self._parameters.paths

    @property
    def final(self) -> Array:
        """State (q, v) (2n,) at the end."""
        return np.concatenate(self._final[:2])

    def states(self) -> Array:
        """All states (q, v) (steps + 1, 2n), the start first."""
        found = [np.concatenate(self._kept[0][:2])]
        found += [np.concatenate(after[:2]) for _, _, after in self._steps()]
        return np.array(found)

    def step_derivatives(self) -> Iterator[StepDerivatives]:
        """Those of every step, in order."""
        for _, before, after in self._steps():
            yield self._of_step(before, after)

    def final_derivatives(self) -> tuple[Array, Array]:
        """Derivatives of the final state by the start (2n, 2n) and by the parameters (2n, k)."""
        size = 2 * self._model.n
        by_start, by_parameters = np.eye(size + 1), np.zeros((size + 1, len(self.parameters)))
        for step in self.step_derivatives():
            by_start = step.by_state @ by_start
            by_parameters = step.by_state @ by_parameters + step.by_parameters
        return by_start[:size, :size], by_parameters[:size]

    def gradient(self, by_states: ArrayLike) -> Gradient:
        """Derivatives of a cost by start, efforts and parameters, backwards in time.

        by_states: derivatives of the cost by the final state (2n,), or by all states
        (steps + 1, 2n).
        """
        n, steps = self._model.n, len(self._tau)
        given = checks.real_array(by_states, 'by_states', f'({2 * n},) or ({steps + 1}, {2 * n})')
        if given.shape == (2 * n,):
            given = np.vstack((np.zeros((steps, 2 * n)), given))
        if given.shape != (steps + 1, 2 * n):
            raise DynamicsError(f'by_states: expected shape ({2 * n},) or ({steps + 1}, {2 * n}), '
                                f'found {given.shape}')
        given = np.hstack((checks.finite(given, 'by_states', given.shape),
                           np.zeros((steps + 1, 1))))
        by_tau = np.zeros((steps, self._model.n_joints))
        by_parameters = np.zeros(len(self.parameters))
        adjoint = given[steps].copy()
        for part in range(len(self._kept) - 1, -1, -1):
            for k, before, after in reversed(list(self._segment(part))):
                step = self._of_step(before, after)
                by_tau[k] = step.by_tau.T @ adjoint
                by_parameters += step.by_parameters.T @ adjoint
                adjoint = step.by_state.T @ adjoint + given[k]
        return Gradient(adjoint[:2 * n], by_tau, by_parameters)

    # ----------------------------------------------------------------------------------------

    def _state(self) -> _State:
        run = self._simulation
        return _State(run.q.copy(), run.v.copy(), run.energy_ahead, run.acceleration)

    def _advance(self, k: int) -> None:
        """Step k; an error where it is not one step of the rule."""
        run = self._simulation
        q, v = run.q.copy(), run.v.copy()
        self._servo.set_target(run, k)
        run.advance(1, self._tau[k])
        a, h = run.acceleration, run.step
        own = v + h * a
        missed = np.abs(run.q - q - 0.5 * h * (v + own))
        # The balance scales all speeds alike.
        scale = 1.0 + _scaling(own, run.v)
        missed = np.maximum(missed, h * np.abs(run.v - scale * own))
        if (missed > CUT * (1.0 + np.abs(run.q))).any() or abs(scale - 1.0) > MOST_SCALING:
            worst = self._model.names[int(np.argmax(missed))]
            raise DynamicsError(f'step {k}: expected one step of {run.step:g} s, found that it '
                                f'was cut or that a speed was set ({worst}: stiff friction, a '
                                'light joint that rings, a floating base that has turned round); '
                                'take a smaller step')

    def _segment(self, part: int) -> Iterator[tuple[int, _State, _State]]:
        """Steps from one kept state to the next: number, state before and after."""
        run, first = self._simulation, part * self._every
        run.restart(self._kept[part].q, self._kept[part].v, self._kept[part].a,
                    self._kept[part].ahead)
        for k in range(first, min(first + self._every, len(self._tau))):
            before = self._state()
            self._advance(k)
            yield k, before, self._state()

    def _steps(self) -> Iterator[tuple[int, _State, _State]]:
        for part in range(len(self._kept)):
            yield from self._segment(part)

    def _of_step(self, before: _State, after: _State) -> StepDerivatives:
        model, h, n, a = self._model, self._simulation.step, self._model.n, after.a
        q, v = before.q + 0.5 * h * before.v + 0.25 * h * h * a, before.v + 0.5 * h * a
        by_q, by_v, by_a = model.inverse_dynamics_derivatives(q, v, a, self._data)
        applied = -model.stiffness_matrix() - self._servo.stiffness
        if self._loads is not None:
            applied = applied + load_slope(model, q, self._loads, self._data)
        damping = model.damping_matrix() + friction_slope(model, v) + self._servo.damping
        by_q = by_q - model.stiffness_matrix() - applied
        by_v = by_v + self._servo.damping
        inputs, by_p = model.input_matrix(), self._parameters.inverse_dynamics(q, v, a)
        right = np.hstack((-by_q, -by_v - 0.5 * h * by_q, inputs, -by_p))
        # Joints and amplitudes differ in size by orders.
        scale = 1.0 / np.sqrt(np.diag(by_a))
        factor = lu_factor(scale[:, None] * (by_a + 0.5 * h * by_v + 0.25 * h * h * by_q) * scale)
        change = scale[:, None] * lu_solve(factor, scale[:, None] * right)      # of a
        joints, size = model.n_joints, 2 * n + 1
        by_state = np.zeros((n, size))                       # nothing depends on `ahead` yet
        by_state[:, :2 * n] = change[:, :2 * n]
        change = np.hstack((by_state, change[:, 2 * n:]))
        unit = np.eye(size, change.shape[1])
        full = np.vstack((unit[:n] + h * unit[n:2 * n] + 0.5 * h * h * change,
                          unit[n:2 * n] + h * change, np.zeros((1, change.shape[1]))))
        if self._balance:
            force = by_a @ a + model.bias_force(q, v, self._data)
            middle = unit[n:2 * n] + 0.5 * h * change
            change_of_force = (applied @ (unit[:n] + 0.5 * h * unit[n:2 * n]
                                          + 0.25 * h * h * change) - damping @ middle)
            change_of_force[:, size:size + joints] += inputs
            change_of_force[:, size + joints:] -= by_p - self._parameters.inertial_force(q, v, a)
            work = h * (force @ middle + v @ change_of_force)
            self._add_balance(before, after, work, unit, full)
        return StepDerivatives(*np.split(full, (size, size + joints), axis=1))

    def _add_balance(self, before: _State, after: _State, work: Array, unit: Array,
                     full: Array) -> None:
        """Scale the speeds in `full`, derivatives (2n + 1, columns) of the state that the rule
        gives, and put those of `ahead` into its last row. work (columns,): derivatives of W."""
        n, own = self._model.n, before.v + self._simulation.step * after.a
        scaling = _scaling(own, after.v)
        _, old_kinetic, old_gravity = self._energy(before.q, before.v, unit)
        kinetic, by_kinetic, by_gravity = self._energy(after.q, own, full)
        error = by_kinetic + by_gravity - old_kinetic - old_gravity - work + unit[2 * n]
        by_scaling = np.zeros(len(work))
        if scaling != 0.0 and abs(scaling) < LARGEST_SCALING:
            # s = -e / (2 K)
            by_scaling = -(0.5 * error + scaling * by_kinetic) / kinetic
        full[2 * n] = (error + ((1.0 + scaling)**2 - 1.0) * by_kinetic
                       + 2.0 * kinetic * (1.0 + scaling) * by_scaling)
        full[n:2 * n] = (1.0 + scaling) * full[n:2 * n] + np.outer(own, by_scaling)

    def _energy(self, q: Array, v: Array, by: Array) -> tuple[float, Array, Array]:
        """Kinetic energy, and the derivatives of it and of the gravity energy, for derivatives
        `by` (2n or more, columns) of q and v."""
        n, k = self._model.n, len(self.parameters)
        mass, coriolis = self._model.mass_and_coriolis(q, v, self._data)
        by_kinetic = (v @ coriolis) @ by[:n] + (v @ mass) @ by[n:2 * n]
        by_gravity = self._model.gravity_force(q, self._data) @ by[:n]
        if k:
            own = self._parameters.energy(q, v)
            by_kinetic[-k:] += own[0]
            by_gravity[-k:] += own[1]
        return 0.5 * float(v @ mass @ v), by_kinetic, by_gravity


def _scaling(own: Array, found: Array) -> float:
    """s of found = (1 + s) own."""
    square = float(own @ own)
    return float((found - own) @ own) / square if square > 0.0 else 0.0
