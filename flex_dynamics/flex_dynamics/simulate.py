"""Integrate a model without ROS: `simulate` and the trajectory that it returns."""
from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from flex_dynamics.errors import DynamicsError
from flex_dynamics.loads import Loads
from flex_dynamics.model import Model
from flex_dynamics.simulation import Simulation

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Event = Callable[[float, np.ndarray, np.ndarray], float]
METHODS = ('midpoint', 'adaptive')


@dataclass(frozen=True)
class Servo:
    """Joint springs and dampers towards a target that may move: k (target - q) + d (rate - v).

    stiffness, damping (n_joints,); target(t) gives positions (n_joints,), or positions and rates.
    """

    stiffness: np.ndarray
    damping: np.ndarray
    target: Callable[[float], np.ndarray | tuple[np.ndarray, np.ndarray]]

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        value = self.target(t)
        if isinstance(value, tuple):
            return np.asarray(value[0], dtype=float), np.asarray(value[1], dtype=float)
        return np.asarray(value, dtype=float), np.zeros(len(np.asarray(value)))


@dataclass(frozen=True)
class Trajectory:
    """Results as arrays: time (k,), q and v (k, n), tau (k, n_joints) applied from each time on.

    event_time: when an event function crossed zero and ended the run, else None.
    """

    names: tuple[str, ...]
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    event_time: float | None = None

    def of(self, name: str) -> np.ndarray:
        """Positions (k,) of one coordinate."""
        return self.q[:, self.names.index(name)]


def simulate(model: Model, duration: float, q=None, v=None, tau: Torque | np.ndarray | None = None,
             servo: Servo | None = None, step: float = 1e-3, output_step: float | None = None,
             wrenches: Loads | None = None, event: Event | None = None,
             method: str = 'midpoint', tolerance: float = 1e-9,
             progress: bool | None = None) -> Trajectory:
    """Integrate for `duration` seconds from q, v (zeros if left out).

    tau: constant joint efforts (n_joints,), or a function (t, q, v) to them, held over each
    output_step (s; default step). servo: acts within the step. event(t, q, v) ends the run where
    it crosses zero upwards. method 'midpoint' is the real-time integrator with fixed `step`;
    'adaptive' is scipy's DOP853 with `tolerance`, as a reference for soft models. progress: a line
    on the terminal for long runs; by default only where there is a terminal.
    """
    if method not in METHODS:
        raise DynamicsError(f'method: expected one of {", ".join(METHODS)}, found {method!r}')
    if not 0.0 < step < np.inf:
        raise DynamicsError(f'step: expected a positive time in s, found {step}')
    output_step = step if output_step is None else output_step
    if not 0.0 < output_step < np.inf:
        raise DynamicsError(f'output_step: expected a positive time in s, found {output_step}')
    inner = round(output_step / step)
    if inner < 1 or abs(inner * step - output_step) > 1e-9 * output_step:
        raise DynamicsError(f'output_step: expected a multiple of the step {step:g} s, found '
                            f'{output_step:g} s')
    if not 0.0 < duration < np.inf:
        raise DynamicsError(f'duration: expected a positive time in s, found {duration}')
    count = max(1, round(duration / output_step))
    run = _Run(model, q, v, tau, servo, wrenches, count, output_step)
    report = _Progress(count, progress)
    stepper = (_midpoint(run, step, inner) if method == 'midpoint'
               else _adaptive(run, tolerance))
    before = 0.0 if event is None else event(0.0, run.q[0], run.v[0])
    for k in range(1, count + 1):
        stepper(k)
        report(k)
        if event is not None:
            now = event(run.time[k], run.q[k], run.v[k])
            if before < 0.0 <= now:
                at = run.time[k - 1] + output_step * before / (before - now)
                return run.trajectory(k + 1, at)
            before = now
    return run.trajectory(count + 1, None)


class _Run:
    """Arrays in the making and the torques of each output step."""

    def __init__(self, model, q, v, tau, servo, wrenches, count, output_step) -> None:
        self.model, self.servo, self.wrenches = model, servo, wrenches
        self.time = output_step * np.arange(count + 1)
        self.q, self.v = np.zeros((count + 1, model.n)), np.zeros((count + 1, model.n))
        self.tau = np.zeros((count + 1, model.n_joints))
        self.q[0] = 0.0 if q is None else model.finite_vector(q, 'q', model.n)
        self.v[0] = 0.0 if v is None else model.finite_vector(v, 'v', model.n)
        constant = np.zeros(model.n_joints) if tau is None else tau
        self._torque = tau if callable(tau) else lambda t, q, v: constant

    def torque(self, k: int) -> np.ndarray:
        """Efforts that hold from output k on."""
        value = self._torque(self.time[k], self.q[k], self.v[k])
        self.tau[k] = self.model.finite_vector(value, 'tau', self.model.n_joints)
        return self.tau[k]

    def trajectory(self, count: int, event_time: float | None) -> Trajectory:
        self.torque(count - 1)
        return Trajectory(self.model.names, self.time[:count], self.q[:count], self.v[:count],
                          self.tau[:count], event_time)


def _midpoint(run: _Run, step: float, inner: int) -> Callable[[int], None]:
    simulation = Simulation(run.model, step, run.q[0], run.v[0])
    simulation.set_loads(run.wrenches)

    def advance(k: int) -> None:
        if run.servo is not None:
            # The target in the middle of the step keeps the rule of second order.
            middle = run.time[k - 1] + 0.5 * (run.time[k] - run.time[k - 1])
            simulation.set_servo(run.servo.stiffness, run.servo.damping, *run.servo.at(middle))
        simulation.advance(inner, run.torque(k - 1))
        run.q[k], run.v[k] = simulation.q, simulation.v
    return advance


def _adaptive(run: _Run, tolerance: float) -> Callable[[int], None]:
    model, n = run.model, run.model.n
    inputs = model.input_matrix()
    refused: list[DynamicsError] = []

    def rate(t, state, tau, start):
        q, v = state[:n], state[n:]
        if run.servo is not None:
            target, speed = run.servo.at(t)
            # What the motor sees of each joint is the transpose of how it acts.
            tau = tau + (run.servo.stiffness * (target - inputs.T @ q)
                         + run.servo.damping * (speed - inputs.T @ v))
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
