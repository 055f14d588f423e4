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
"""Many simulations in one call: `simulate_many`, parallel over threads without the interpreter
lock, the same to the last bit for any number of threads."""
from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.stepping.controlled_run import FRESH, Schedule, make_schedule
from flex_dynamics.model.backends.constrained import CONSTRAINED_DYNAMICS, CONSTRAINT_TERMS
from flex_dynamics.model.backends.recursive import FORWARD_DYNAMICS
from flex_dynamics.model.loads import Loads, Wrench
from flex_dynamics.model.model import Model
from flex_dynamics.model.parameters import with_parameters
from flex_dynamics.model.poses import Poses
from flex_dynamics.simulation.batch import batch_inputs as inputs
from flex_dynamics.simulation.batch.batch_inputs import RunCount, RunLoads, ServoTargets, at_run
from flex_dynamics.simulation.batch.batch_result import BatchResult
from flex_dynamics.simulation.batch.control_schedule import ControlSchedule, open_loop
from flex_dynamics.simulation.batch.observer import Instruments, ObserverRun, ReadingNoise
from flex_dynamics.simulation.command_limits import TAKE_COMMAND
from flex_dynamics.simulation.plant import (
    CONTROLLED_RUN,
    DRIVEN_PERIOD,
    ESTIMATED_RUN,
    TOLERANCE,
    Drives,
    Plant,
)
from flex_dynamics.simulation.simulate import SWEEP_TOLERANCE, whole_multiple
from flex_dynamics.simulation.simulation import ADVANCE, AT_ONCE

Progress = Callable[[int, int], None]


def simulate_many(model: Model | Sequence[Model], duration: float, *,
                  q: ArrayLike | None = None, v: ArrayLike | None = None,
                  rest: ArrayLike | None = None, tau: ArrayLike | None = None,
                  servo: ServoTargets | None = None,
                  control: ControlSchedule | Sequence[ControlSchedule] | None = None,
                  parameters: Mapping[str, ArrayLike] | None = None,
                  wrenches: Loads | RunLoads | None = None,
                  noise: ReadingNoise | None = None, runs: int | None = None, step: float = 1e-3,
                  output_step: float | None = None, frames: Sequence[str] = (),
                  threads: int | None = None,
                  progress: bool | Progress | None = None) -> BatchResult:
    """Simulate many runs: what varies between them has one row a run, the rest is common to all.

    Each run is what `simulate` gives for it, bit for bit, in any number of threads. A run that
    diverges is a result with its reason; bad input is refused before the first run.

    Parameters
    ----------
    model : Model, or one a run
        The robot; several must have the same coordinates.
    duration : float
        s, a multiple of output_step.
    q, v : array-like, shape (n,) or (runs, n), optional
        Positions and speeds at the start; zeros if left out.
    rest : array-like, shape (n_joints,) or (runs, n_joints), optional
        In place of q: joint positions at which each run starts in static equilibrium, without
        the wrenches.
    tau : array-like, shape (n_joints,), (runs, n_joints) or (runs or 1, outputs, n_joints)
        Joint efforts, N m or N; of a history one row an output step, held over it.
    servo : ServoTargets, optional
        Joint springs and dampers towards set-points; they act within the step.
    control : ControlSchedule, or one a run, optional
        A control law that is sampled in compiled code; commands and motors then keep to the
        limits of the robot. `flex_control.control_schedule` makes one of a controller.
    parameters : mapping of paths to numbers, or to one number a run, optional
        Such as {'payload.mass': masses, 'link2.bending_stiffness_y': stiffnesses}; see
        model_parameters. The model is changed, the control law is not told.
    wrenches : loads, or function of the number of the run to loads, optional
        Constant loads from outside, as Model.forward_dynamics takes them.
    noise : ReadingNoise, optional
        Of the sensors, under a control law with a filter.
    runs : int, optional
        Number of runs, if nothing else says so.
    step : float
        s, of the integrator.
    output_step : float, optional
        s between states of the result; default `step`, under a control law its period.
    frames : sequence of str
        Links and frames whose positions are to be in the result.
    threads : int, optional
        Default: one for each processor that the process may use.
    progress : bool or function (runs done, runs), optional
        A line on the terminal; by default where there is a terminal.

    Returns
    -------
    result : BatchResult
        time (k,), q and v (runs, k, n), tau (runs, k, n_joints), reasons.

    Examples
    --------
    >>> result = simulate_many(model, 0.1, tau=[[0.0], [0.1], [0.2]])
    >>> result.q.shape == (3, 101, model.n)
    True
    """
    batch = _checked(model, duration, q, v, rest, tau, servo, control, parameters, wrenches, noise,
                     runs, step, output_step, frames)
    most = len(os.sched_getaffinity(0))
    threads = most if threads is None else checks.whole(threads, 'threads', 'a number', 1, 10_000)
    report = progress if callable(progress) else _Line(
        None if progress is None else checks.flag(progress, 'progress'))
    # Here, not in the threads, which would wait for one another.
    constrained = any(one.robot.constraints for one in batch.models)
    filters = any(one.observer is not None for one in batch.schedules)
    for kernel in (FORWARD_DYNAMICS, ADVANCE, TAKE_COMMAND, DRIVEN_PERIOD,
                   ESTIMATED_RUN if filters else CONTROLLED_RUN,
                   *((CONSTRAINED_DYNAMICS, CONSTRAINT_TERMS) if constrained else ())):
        kernel.prepare()
    _in_threads(batch, min(threads, batch.runs), report)
    return batch.result


@dataclass
class _Batch:
    """All inputs, checked, and the result in the making."""

    models: list[Model]
    runs: int
    step: float
    inner: int                        # steps of a period
    periods: int                      # of a run
    every: int                        # periods of an output step
    q: Array | None
    v: Array | None
    rest: Array | None
    tau: Array | None
    servo: tuple[Array, Array, Array | None, Array | None]
    schedules: list[ControlSchedule]
    parameters: dict[str, Array]
    loads: Callable[[int], list[Wrench] | None]
    noise: ReadingNoise | None
    result: BatchResult

    def model_of(self, run: int) -> Model:
        base = self.models[run if len(self.models) > 1 else 0]
        if not self.parameters:
            return base
        return with_parameters(base, {path: float(at_run(values, run))
                                      for path, values in self.parameters.items()})

    def key(self, run: int) -> tuple[float, ...]:
        """Equal for runs of the same model."""
        return (run if len(self.models) > 1 else 0,
                *(float(at_run(values, run)) for values in self.parameters.values()))

    def schedule(self, run: int) -> Schedule:
        """What is commanded in each period, without a control law."""
        joints, shape = self.models[0].n_joints, (self.periods, self.models[0].n_joints)

        def filled(values: Array | None) -> Array:
            if values is None:
                return np.zeros(shape)
            return np.ascontiguousarray(np.broadcast_to(at_run(values, run), shape))

        position, velocity = self.servo[2:]
        return open_loop(filled(self.tau), np.full((self.periods, joints), np.nan)
                         if position is None else filled(position), filled(velocity))


def _checked(model: Model | Sequence[Model], duration: float, q: ArrayLike | None,
             v: ArrayLike | None, rest: ArrayLike | None, tau: ArrayLike | None,
             servo: ServoTargets | None,
             control: ControlSchedule | Sequence[ControlSchedule] | None,
             parameters: Mapping[str, ArrayLike] | None, wrenches: Loads | RunLoads | None,
             noise: ReadingNoise | None, runs: int | None, step: float,
             output_step: float | None, frames: Sequence[str]) -> _Batch:
    count = RunCount(runs)
    models = inputs.models_of(model, count)
    one, joints = models[0], models[0].n_joints
    schedules = inputs.schedules_of(control, one, count)
    step = checks.positive(step, 'step', 'a positive time in s')
    duration = checks.positive(duration, 'duration', 'a positive time in s')
    period = schedules[0].period if schedules else step if output_step is None else output_step
    period = checks.positive(period, 'output_step', 'a positive time in s')
    inner = whole_multiple(period, 'period of the control law' if schedules else 'output_step',
                           step, 'step')
    output_step = period if output_step is None else checks.positive(
        output_step, 'output_step', 'a positive time in s')
    every = whole_multiple(output_step, 'output_step', period, 'period of the control law')
    outputs = whole_multiple(duration, 'duration', output_step, 'output step')
    periods = outputs * every
    if schedules and (servo is not None or tau is not None):
        raise DynamicsError('control: expected neither tau nor servo beside a control law, found '
                            f'{"tau" if tau is not None else "servo"}: give feedforward to the '
                            'control law')
    for number, each in enumerate(schedules):
        if each.samples < periods:
            raise DynamicsError(f'control {number}: expected {periods} samples for a duration of '
                                f'{duration:g} s, found {each.samples}')
    if rest is not None and q is not None:
        raise DynamicsError('rest: expected either q or rest, found both')
    start = inputs.rows_of(q, 'q', one.n, count, inputs.POSITIONS, one.names)
    speeds = inputs.rows_of(v, 'v', one.n, count, labels=one.names)
    at_rest = inputs.rows_of(rest, 'rest', joints, count, inputs.POSITIONS, one.joint_names)
    efforts = inputs.history_of(tau, 'tau', joints, outputs, count, labels=one.joint_names)
    gains = _servo(servo, one, outputs, count)
    values = inputs.parameters_of(parameters, models, count)
    total = count.total
    frames = inputs.frames_of(frames, one)
    loads = inputs.loads_of(wrenches, models, total)
    inputs.check_readings(schedules, models, noise)
    numbers = (outputs + 1) * (2 * one.n + joints + 3 * len(frames))
    inputs.refuse_memory(total, numbers)
    rows = (total, outputs + 1)
    result = BatchResult(
        one.names, output_step * np.arange(outputs + 1),  # type: ignore[arg-type]
        np.full((*rows, one.n), np.nan), np.full((*rows, one.n), np.nan),
        np.full((*rows, joints), np.nan), (), np.zeros(total, dtype=int),
        {frame: np.full((*rows, 3), np.nan) for frame in frames}, np.zeros(total, dtype=int))
    return _Batch(models, total, step, inner, periods, every, start, speeds, at_rest, efforts,
                  gains, schedules, values, loads, noise, result)


def _servo(servo: ServoTargets | None, model: Model, outputs: int,
           count: RunCount) -> tuple[Array, Array, Array | None, Array | None]:
    joints = model.n_joints
    if servo is None:
        return np.zeros(joints), np.zeros(joints), None, None
    checks.instance(servo, 'servo', ServoTargets,
                    'ServoTargets(stiffness, damping, position) gives one')
    return (model.finite_vector(servo.stiffness, 'stiffness', joints),
            model.finite_vector(servo.damping, 'damping', joints),
            inputs.history_of(servo.position, 'position', joints, outputs, count,
                              inputs.POSITIONS, model.joint_names),
            inputs.history_of(servo.velocity, 'velocity', joints, outputs, count,
                              labels=model.joint_names))


class _Worker:
    """One thread's robot; it is kept as long as the runs have the same model."""

    def __init__(self, batch: _Batch, stop: threading.Event) -> None:
        self._batch, self._stop = batch, stop
        self._key: tuple[float, ...] | None = None
        self._known: Model | None = None        # whose filter's instruments there are

    def run(self, run: int) -> str:
        """Do one run; why it failed, '' if it did not."""
        try:
            return self._run(run)
        except DynamicsError as error:
            self._key = None
            return str(error)

    def _run(self, run: int) -> str:
        batch, result = self._batch, self._batch.result
        if self._key != batch.key(run):
            self._key = None
            self._take(batch.model_of(run), run)
            self._key = batch.key(run)
        plant, model = self._plant, self._model
        if batch.rest is not None:
            q = model.statics(at_run(batch.rest, run))[0]
        else:
            q = np.zeros(model.n) if batch.q is None else at_run(batch.q, run)
        plant.commands.reset()
        plant.simulation.time, plant.saturated = 0.0, 0
        loads = batch.loads(run)
        if loads is not None or plant.simulation.loads is not None:      # it costs 100 us
            plant.simulation.set_loads(loads)
        plant.simulation.set_state(q, np.zeros(model.n) if batch.v is None
                                   else at_run(batch.v, run))
        control = at_run(batch.schedules, run) if batch.schedules else None
        schedule = batch.schedule(run) if control is None else control.arrays
        reason = self._periods(run, schedule, control,
                               None if control is None else self._observer(run, control))
        if self._poses is not None:
            rows = int(result.counts[run])
            paths = self._poses.paths(result.q[run, :rows])
            for place, frame in enumerate(result.positions):
                result.positions[frame][run, :rows] = paths[:, place]
        result.limited[run] = plant.saturated
        if reason:
            self._key = None           # nothing of a failed run shall reach the next
        return reason

    def _take(self, model: Model, run: int) -> None:
        batch, joints = self._batch, model.n_joints
        if batch.schedules:
            control = at_run(batch.schedules, run)
            gains, tolerance = (control.drive_stiffness, control.drive_damping), TOLERANCE
        else:
            gains, tolerance = batch.servo[:2], SWEEP_TOLERANCE
        self._model = model
        self._plant = Plant(model, batch.step, batch.inner, Drives(*gains), np.zeros(joints),
                            deflected=False, stops=False, limits=bool(batch.schedules),
                            tolerance=tolerance)
        frames = list(batch.result.positions)
        self._poses = Poses(model, [(frame, None) for frame in frames]) if frames else None
        if batch.schedules and control.observer is not None:
            self._instruments = Instruments(model)

    def _observer(self, run: int, control: ControlSchedule) -> ObserverRun | None:
        """The filter of a run, before it has begun."""
        if control.observer is None:
            return None
        if self._known is not control.observer.model:
            self._known = control.observer.model
            self._robot = Instruments(self._known)
        noise, readings = self._batch.noise, self._robot.count
        return ObserverRun(control.observer, self._robot, self._instruments,
                           np.zeros((control.samples, readings)) if noise is None
                           else noise.of(run, control.samples))

    def _periods(self, run: int, schedule: Schedule, control: ControlSchedule | None,
                 observer: ObserverRun | None) -> str:
        batch, plant, result = self._batch, self._plant, self._batch.result
        joints = self._model.n_joints
        if control is not None:
            plant.drives = Drives(control.drive_stiffness, control.drive_damping)
        integrals = schedule.integral.shape[2]
        memory = np.zeros(1 + joints + integrals + joints * (joints + 1))
        memory[FRESH] = 1.0
        handle = make_schedule(schedule)
        q, v, tau = result.q[run], result.v[run], result.tau[run]
        at_once = max(1, AT_ONCE // batch.inner)       # no key can interrupt a kernel
        done, reason = 0, ''
        while done < batch.periods and not reason and not self._stop.is_set():
            last = min(done + at_once, batch.periods)
            if observer is None:
                done, reason = plant.run_schedule(handle, memory, done, last, batch.every,
                                                  bool(batch.schedules), q, v, tau)
                continue
            done, reason = plant.run_estimated(handle, observer, memory, done, last, batch.every,
                                               q, v, tau)
            if done < last and not reason:
                assert control is not None
                observer.begin(control.v[done])
        rows = done // batch.every + 1
        if done == batch.periods and not reason:
            q[-1], v[-1] = plant.q, plant.v
            tau[-1] = tau[-2] if batch.schedules else schedule.effort[-1]
        result.counts[run] = rows
        return reason


def _in_threads(batch: _Batch, threads: int, report: Progress) -> None:
    """All runs; the reasons go into the result."""
    reasons = [''] * batch.runs
    stop, lock = threading.Event(), threading.Lock()
    numbers = iter(range(batch.runs))
    finished = 0

    def work() -> None:
        nonlocal finished
        worker = _Worker(batch, stop)
        while not stop.is_set():
            with lock:
                run = next(numbers, None)
            if run is None:
                return
            reasons[run] = worker.run(run)
            finished += 1              # only to be shown

    with ThreadPoolExecutor(threads) as pool:
        tasks = [pool.submit(work) for _ in range(threads)]
        try:
            while wait(tasks, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
                report(finished, batch.runs)
                if any(task.done() and task.exception() for task in tasks):
                    break
        finally:
            stop.set()
        for task in tasks:
            task.result()
    report(batch.runs, batch.runs)
    object.__setattr__(batch.result, 'reasons', tuple(reasons))


class _Line:
    """One line on the terminal, from the second second on."""

    def __init__(self, wanted: bool | None) -> None:
        self._on = sys.stderr.isatty() if wanted is None else wanted
        self._start, self._shown = clock.monotonic(), False

    def __call__(self, done: int, runs: int) -> None:
        passed = clock.monotonic() - self._start
        if not self._on or (passed < 2.0 and not self._shown):
            return
        self._shown = True
        left = f'{passed * (runs / done - 1.0):.0f} s left' if done else ''
        print(f'\rsimulating: {done} of {runs} runs, {left}   ', end='\n' if done == runs else '',
              file=sys.stderr, flush=True)
