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

is the derivative of the step itself, not of the motion that it approximates. The run has no
balance of energy (Simulation(balance=False)), whose scaling of speeds is not differentiated.
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
from flex_dynamics.model.derivatives.parameter_derivatives import ParameterDerivatives
from flex_dynamics.model.derivatives.state_derivatives import load_slope
from flex_dynamics.model.loads import Loads, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.simulation.simulation import Simulation

TOLERANCE = 1e-13        # of the sweeps: a step is then the same from every guess
CUT = 1e-9               # relative: by how much a step that was cut misses the rule


class StepDerivatives(NamedTuple):
    """Derivatives of the state (q, v) after a step, 2n numbers: by the state before (2n, 2n), by
    the joint efforts (2n, n_joints), by parameters (2n, k)."""

    by_state: Array
    by_tau: Array
    by_parameters: Array


class Gradient(NamedTuple):
    """Derivatives of one number: by the start (q, v) (2n,), by the efforts (steps, n_joints), by
    the parameters (k,)."""

    by_start: Array
    by_tau: Array
    by_parameters: Array


class Rollout:
    """A simulation with given efforts, and its derivatives; exact for the steps it takes.

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

    Examples
    --------
    >>> run = Rollout(model, q, v, np.zeros((10, model.n_joints)), parameters=['gravity.z'])
    >>> by_start, by_parameters = run.final_derivatives()
    >>> by_start.shape == (2 * model.n, 2 * model.n) and by_parameters.shape == (2 * model.n, 1)
    True
    """

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                 step: float = 1e-3, parameters: Iterable[str] = (),
                 loads: Loads | None = None) -> None:
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        if model.robot.constraints:
            raise DynamicsError('model: expected a robot without constraints, found '
                                f'{len(model.robot.constraints)}; their steps are not '
                                'differentiated')
        self._model, self._data = model, model.create_data()
        self._tau = checks.real_array(tau, 'tau', f'numbers (steps, {model.n_joints})')
        if self._tau.ndim != 2 or self._tau.shape[1] != model.n_joints or not len(self._tau):
            raise DynamicsError(f'tau: expected (steps, {model.n_joints}) numbers, at least one '
                                f'step, found shape {self._tau.shape}')
        self._tau = checks.finite(self._tau, 'tau', self._tau.shape).copy()
        q, v = checks.state(model, q, v)
        self._simulation = Simulation(model, step, q, v, tolerance=TOLERANCE, balance=False)
        self._loads = None if loads is None else point_wrenches(model, loads)
        self._simulation.set_loads(self._loads)
        self._parameters = ParameterDerivatives(model, parameters)
        self._every = max(1, isqrt(len(self._tau)))
        self._kept: list[tuple[Array, Array]] = []
        for k in range(len(self._tau)):
            if k % self._every == 0:
                self._kept.append((self._simulation.q.copy(), self._simulation.v.copy()))
            self._advance(k)
        self._final = np.concatenate((self._simulation.q, self._simulation.v))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Paths of the parameters (k)."""
        return self._parameters.paths

    @property
    def final(self) -> Array:
        """State (q, v) (2n,) at the end."""
        return self._final.copy()

    def states(self) -> Array:
        """All states (q, v) (steps + 1, 2n), the start first."""
        found = [np.concatenate(self._kept[0])]
        found += [np.concatenate(after) for _, _, after in self._steps()]
        return np.array(found)

    def step_derivatives(self) -> Iterator[StepDerivatives]:
        """Those of every step, in order."""
        for _, before, after in self._steps():
            yield self._of_step(before, after)

    def final_derivatives(self) -> tuple[Array, Array]:
        """Derivatives of the final state by the start (2n, 2n) and by the parameters (2n, k)."""
        by_start = np.eye(2 * self._model.n)
        by_parameters = np.zeros((2 * self._model.n, len(self.parameters)))
        for step in self.step_derivatives():
            by_start = step.by_state @ by_start
            by_parameters = step.by_state @ by_parameters + step.by_parameters
        return by_start, by_parameters

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
        checks.finite(given, 'by_states', given.shape)
        by_tau = np.zeros((steps, self._model.n_joints))
        by_parameters = np.zeros(len(self.parameters))
        adjoint = given[steps].copy()
        for part in range(len(self._kept) - 1, -1, -1):
            for k, before, after in reversed(list(self._segment(part))):
                step = self._of_step(before, after)
                by_tau[k] = step.by_tau.T @ adjoint
                by_parameters += step.by_parameters.T @ adjoint
                adjoint = step.by_state.T @ adjoint + given[k]
        return Gradient(adjoint, by_tau, by_parameters)

    # ----------------------------------------------------------------------------------------

    def _advance(self, k: int) -> None:
        """Step k; an error where it is not one step of the rule."""
        run = self._simulation
        q, v = run.q.copy(), run.v.copy()
        run.advance(1, self._tau[k])
        missed = np.abs(run.q - q - 0.5 * run.step * (v + run.v))
        if (missed > CUT * (1.0 + np.abs(run.q))).any():
            worst = self._model.names[int(np.argmax(missed))]
            raise DynamicsError(f'step {k}: expected one step of {run.step:g} s, found that it '
                                f'was cut or that a speed was set ({worst}: stiff friction, a '
                                'floating base that has turned round); take a smaller step')

    def _segment(self, part: int) -> Iterator[tuple[int, tuple[Array, Array],
                                                    tuple[Array, Array]]]:
        """Steps from one kept state to the next: number, state before and after."""
        run, first = self._simulation, part * self._every
        run.set_state(*self._kept[part])
        for k in range(first, min(first + self._every, len(self._tau))):
            before = run.q.copy(), run.v.copy()
            self._advance(k)
            yield k, before, (run.q.copy(), run.v.copy())

    def _steps(self) -> Iterator[tuple[int, tuple[Array, Array], tuple[Array, Array]]]:
        for part in range(len(self._kept)):
            yield from self._segment(part)

    def _of_step(self, before: tuple[Array, Array],
                 after: tuple[Array, Array]) -> StepDerivatives:
        model, h, n = self._model, self._simulation.step, self._model.n
        q, v, a = (0.5 * (before[0] + after[0]), 0.5 * (before[1] + after[1]),
                   (after[1] - before[1]) / h)
        by_q, by_v, by_a = model.inverse_dynamics_derivatives(q, v, a, self._data)
        if self._loads is not None:
            by_q = by_q - load_slope(model, q, self._loads, self._data)
        right = np.hstack((-by_q, -by_v - 0.5 * h * by_q, model.input_matrix(),
                           -self._parameters.inverse_dynamics(q, v, a)))
        # Joints and amplitudes differ in size by orders.
        scale = 1.0 / np.sqrt(np.diag(by_a))
        factor = lu_factor(scale[:, None] * (by_a + 0.5 * h * by_v + 0.25 * h * h * by_q) * scale)
        solved = scale[:, None] * lu_solve(factor, scale[:, None] * right)
        full = np.vstack((0.5 * h * h * solved, h * solved))
        full[:, :2 * n] += np.eye(2 * n)
        full[:n, n:2 * n] += h * np.eye(n)
        return StepDerivatives(*np.split(full, (2 * n, 2 * n + model.n_joints), axis=1))
