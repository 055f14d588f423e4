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
"""Integrate a model without ROS: `simulate` and the result that it returns."""
from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.loads import Loads, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.simulation.plant import Drives, Plant
from flex_dynamics.simulation.simulation import AT_ONCE

Torque = Callable[[float, Array, Array], ArrayLike]
Event = Callable[[float, Array, Array], float]
METHODS = ('midpoint', 'adaptive')
MOST_OUTPUTS = 1e9
LEAST_TOLERANCE = 1e-13
SWEEP_TOLERANCE = 1e-9      # of the sweeps of 'midpoint'


@dataclass(frozen=True)
class Servo:
    """Joint springs and dampers towards a target that may move: k (target - q) + d (rate - v).

    stiffness, damping (n_joints,); target(t) gives positions (n_joints,), or positions and rates.
    """

    stiffness: ArrayLike
    damping: ArrayLike
    target: Callable[[float], ArrayLike | tuple[ArrayLike, ArrayLike]]

    def at(self, t: float) -> tuple[Array, Array]:
        """Target positions and rates at t (s), each (n_joints,)."""
        value = self.target(checks.number(t, 't', 'a time in s'))
        position, rate = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
        position = checks.real_array(position, f'target at {t:.6g} s', 'positions (n_joints,)')
        if rate is None:
            return position, np.zeros(position.shape)
        return position, checks.real_array(rate, f'target rate at {t:.6g} s', 'rates (n_joints,)')


@dataclass(frozen=True)
class SimulationResult:
    """Results as arrays: time (k,) s, q and v (k, n), tau (k, n_joints) applied from each time on.

    names: of the coordinates. event_time (s): when an event function crossed zero and ended the
    run, else None.
    """

    names: tuple[str, ...]
    time: Array
    q: Array
    v: Array
    tau: Array
    event_time: float | None = None

    def of(self, name: str) -> Array:
        """Positions (k,) of one coordinate, rad or m."""
        if not isinstance(name, str) or name not in self.names:
            raise DynamicsError(f'name: expected a coordinate such as {self.names[0]!r}, found '
                                f'{checks.shown(name)}'
                                f'{checks.did_you_mean(str(name), self.names)}')
        return self.q[:, self.names.index(name)]


def simulate(model: Model, duration: float, q: ArrayLike | None = None,
             v: ArrayLike | None = None, tau: Torque | ArrayLike | None = None,
             servo: Servo | None = None, step: float = 1e-3, output_step: float | None = None,
             wrenches: Loads | None = None, event: Event | None = None,
             method: str = 'midpoint', tolerance: float = 1e-9,
             progress: bool | None = None, balance: bool = True) -> SimulationResult:
    """Integrate the motion of a model, without ROS.

    Parameters
    ----------
    model : Model
        The robot, with its payloads.
    duration : float
        s, a multiple of output_step but for rounding (1e-9 of either): the last state is that at
        `duration`.
    q, v : array-like, shape (n,), optional
        Positions and speeds at the start; zeros if left out.
    tau : array-like, shape (n_joints,), or function (t, q, v) to one, optional
        Joint efforts, N m or N; those of a function are held over each output_step.
    servo : Servo, optional
        Joint springs and dampers towards a target; they act within the step.
    step : float
        s, of the integrator 'midpoint'.
    output_step : float, optional
        s between states of the result, a multiple of step; default step.
    wrenches : loads, optional
        Constant loads from outside, as Model.forward_dynamics takes them.
    event : function (t, q, v) to a number, optional
        Ends the run where it crosses zero upwards.
    method : str
        'midpoint', the real-time integrator with fixed step, or 'adaptive', scipy's DOP853 with
        `tolerance`, as a reference for soft models.
    tolerance : float
        Relative error of a step of 'adaptive'.
    progress : bool, optional
        A line on the terminal for long runs; by default only where there is a terminal.
    balance : bool
        Whether 'midpoint' keeps the balance of energy and momentum (see Simulation); Rollout
        differentiates either.

    Returns
    -------
    result : SimulationResult
        time (k,), q and v (k, n), tau (k, n_joints).

    Examples
    --------
    >>> result = simulate(model, 0.1, tau=np.zeros(model.n_joints))
    >>> result.q.shape == (101, model.n)
    True
    """
    checks.instance(model, 'model', Model, MODEL_ADVICE)
    checks.choice(method, 'method', METHODS)
    step = checks.positive(step, 'step', 'a positive time in s')
    output_step = step if output_step is None else checks.positive(
        output_step, 'output_step', 'a positive time in s')
    duration = checks.positive(duration, 'duration', 'a positive time in s')
    inner = whole_multiple(output_step, 'output_step', step, 'step')
    count = whole_multiple(duration, 'duration', output_step, 'output step')
    tolerance = checks.positive(tolerance, 'tolerance', 'a positive number')
    if tolerance < LEAST_TOLERANCE:
        raise DynamicsError(f'tolerance: expected at least {LEAST_TOLERANCE:g}, which rounding '
                            f'leaves, found {tolerance:g}')
    if servo is not None:
        check_servo(servo)
    run = _Run(model, q, v, tau, servo, wrenches, count, output_step)
    if event is not None:
        event = _checked_event(event)
    report = _Progress(count, None if progress is None else checks.flag(progress, 'progress'))
    balance = checks.flag(balance, 'balance')
    stepper = (_midpoint(run, step, inner, balance) if method == 'midpoint'
               else _adaptive(run, tolerance))
    before = 0.0 if event is None else event(0.0, run.q[0], run.v[0])
    for k in range(1, count + 1):
        stepper(k)
        report(k)
        if event is not None:
            now = event(run.time[k], run.q[k], run.v[k])
            if before < 0.0 <= now:
                at = run.time[k - 1] + output_step * before / (before - now)
                return run.result(k + 1, at)
            before = now
    return run.result(count + 1, None)


def check_servo(servo: Servo) -> None:
    """DynamicsError if it is none, or its target no function."""
    checks.instance(servo, 'servo', Servo, 'Servo(stiffness, damping, target) gives one')
    if not callable(servo.target):
        raise DynamicsError('servo: expected a function of time as target, found '
                            f'{checks.shown(servo.target)}; lambda t: target is one')


def whole_multiple(time: float, name: str, unit: float, of: str) -> int:
    """How many units a time is; DynamicsError, with the nearest multiple, if that is not whole."""
    ratio = time / unit
    if ratio > MOST_OUTPUTS:
        raise DynamicsError(f'{name}: expected at most {MOST_OUTPUTS:g} times the {of} of '
                            f'{unit:g} s, found {time:g} s; take a longer {of}, or run in parts')
    count = round(ratio)
    if count < 1 or abs(count * unit - time) > 1e-9 * time:
        nearest = ' or '.join(f'{near * unit:.9g}' for near in
                              sorted({max(1, int(ratio)), int(ratio) + 1}))
        raise DynamicsError(f'{name}: expected a multiple of the {of} of {unit:g} s, such as '
                            f'{nearest} s, found {time:.9g} s')
    return count


def _checked_event(event: Event) -> Event:
    if not callable(event):
        raise DynamicsError('event: expected a function (t, q, v) to a number, found '
                            f'{checks.shown(event)}')
    return lambda t, q, v: checks.number(event(t, q, v), 'event', 'a number')


class _Run:
    """Arrays in the making and the torques of each output step."""

    def __init__(self, model: Model, q: ArrayLike | None, v: ArrayLike | None,
                 tau: Torque | ArrayLike | None, servo: Servo | None, wrenches: Loads | None,
                 count: int, output_step: float) -> None:
        self.model, self.servo = model, servo
        # Once: loads may come from a generator, which can be read only once.
        self.wrenches = None if wrenches is None else point_wrenches(model, wrenches)
        start = checks.state(model, np.zeros(model.n) if q is None else q,
                             np.zeros(model.n) if v is None else v)
        constant = np.zeros(model.n_joints) if tau is None or callable(tau) else np.array(
            model.finite_vector(tau, 'tau', model.n_joints))
        self._torque = tau if callable(tau) else lambda t, q, v: constant
        try:
            self.time: Array = output_step * np.arange(count + 1)  # type: ignore[assignment]
            self.q, self.v = np.zeros((count + 1, model.n)), np.zeros((count + 1, model.n))
            self.tau = np.zeros((count + 1, model.n_joints))
        except MemoryError:
            raise DynamicsError(f'duration: expected a result that fits into memory, found '
                                f'{count} states of {model.n} coordinates; take a longer '
                                'output_step') from None
        self.q[0], self.v[0] = start

    def gains(self, servo: Servo) -> tuple[Array, Array]:
        """Stiffness and damping (n_joints,) of the servo."""
        joints = self.model.n_joints
        return (self.model.finite_vector(servo.stiffness, 'stiffness', joints),
                self.model.finite_vector(servo.damping, 'damping', joints))

    def target(self, servo: Servo, t: float) -> tuple[Array, Array]:
        """Target positions and rates (n_joints,) of the servo."""
        position, rate = servo.at(t)
        joints = self.model.n_joints
        return (self.model.finite_vector(position, f'target at {t:.6g} s', joints,
                                         LARGEST_POSITION),
                self.model.finite_vector(rate, f'target rate at {t:.6g} s', joints))

    def torque(self, k: int) -> Array:
        """Efforts that hold from output k on."""
        value = self._torque(self.time[k], self.q[k], self.v[k])
        effort: Array = self.tau[k]
        effort[:] = self.model.finite_vector(value, 'tau', self.model.n_joints)
        return effort

    def result(self, count: int, event_time: float | None) -> SimulationResult:
        self.torque(count - 1)
        return SimulationResult(self.model.names, self.time[:count], self.q[:count],
                                self.v[:count], self.tau[:count], event_time)


def _midpoint(run: _Run, step: float, inner: int, balance: bool) -> Callable[[int], None]:
    servo, joints = run.servo, run.model.n_joints
    gains = (np.zeros(joints), np.zeros(joints)) if servo is None else run.gains(servo)
    plant = Plant(run.model, step, inner, Drives(*gains), run.q[0].copy(), deflected=False,
                  stops=False, limits=False, tolerance=SWEEP_TOLERANCE)
    plant.simulation.balance = balance
    plant.simulation.set_state(run.q[0], run.v[0])
    plant.simulation.set_loads(run.wrenches)
    # No key can interrupt a period.
    periods = [min(AT_ONCE, inner - done) for done in range(0, inner, AT_ONCE)]

    def advance(k: int) -> None:
        if servo is not None:
            # The target in the middle of the step keeps the rule of second order.
            middle = run.time[k - 1] + 0.5 * (run.time[k] - run.time[k - 1])
            plant.commands.position[:], plant.commands.velocity[:] = run.target(servo, middle)
        plant.commands.effort[:] = run.torque(k - 1)
        for plant.steps in periods:
            plant.advance()
        run.q[k], run.v[k] = plant.q, plant.v
    return advance


def _adaptive(run: _Run, tolerance: float) -> Callable[[int], None]:
    model, n = run.model, run.model.n
    inputs = model.input_matrix()
    servo = run.servo
    gains = None if servo is None else run.gains(servo)
    refused: list[DynamicsError] = []

    def rate(t: float, state: Array, tau: Array, start: float) -> Array:
        q, v = state[:n], state[n:]
        if servo is not None and gains is not None:
            target, speed = run.target(servo, t)
            stiffness, damping = gains
            # What the motor sees of each joint is the transpose of how it acts.
            tau = tau + stiffness * (target - inputs.T @ q) + damping * (speed - inputs.T @ v)
        try:
            return np.concatenate((v, model.forward_dynamics(q, v, tau, run.wrenches)))
        except DynamicsError as error:
            if t == start:
                raise
            # A trial of too long a step: an error that is not a number makes scipy shorten it.
            if np.isfinite(state).all():
                refused[:] = [error]
            return np.full(2 * n, np.nan)

    def advance(k: int) -> None:
        start, end = run.time[k - 1:k + 1]
        refused.clear()
        solution = solve_ivp(rate, (start, end), np.concatenate((run.q[k - 1], run.v[k - 1])),
                             'DOP853', rtol=tolerance, atol=tolerance * 1e-2,
                             args=(run.torque(k - 1), start))
        if not solution.success:
            reason = (f'shorter steps do not help: {refused[0]}' if refused
                      else solution.message)
            raise DynamicsError(f'the adaptive integrator stopped at {solution.t[-1]:.6g} s: '
                                f'{reason}')
        run.q[k], run.v[k] = solution.y[:n, -1], solution.y[n:, -1]
    return advance


class _Progress:
    """One line, rewritten twice a second, from the third second on."""

    def __init__(self, count: int, wanted: bool | None) -> None:
        self._count = count
        self._on = sys.stderr.isatty() if wanted is None else wanted
        self._start = self._last = clock.monotonic()

    def __call__(self, k: int) -> None:
        now = clock.monotonic()
        if not self._on or now - self._start < 3.0:
            return
        if now - self._last > 0.5 or k == self._count:
            self._last = now
            end = '\n' if k == self._count else ''
            print(f'\rsimulating: {100.0 * k / self._count:5.1f} %, '
                  f'{(now - self._start) * (self._count / k - 1.0):.0f} s left ', end=end,
                  file=sys.stderr, flush=True)
