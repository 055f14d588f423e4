"""Many runs at once: how two cores compare with one, beside MuJoCo's rollout of the lumped arm.

    python test/bench/batches.py CASE      half of the runs on one thread, once for each line read

The second form is the control experiment: two such processes share nothing but the machine. What
two threads lose against them is ours, the rest is the machine's (its memory, its other users).

On a machine with other users the wall clock says little. So every thread's time in the queue of
the scheduler (/proc/thread-self/schedstat) is taken off: what is left is its processor time and
the time for which it waited for another thread, that is, what it would take on a core of its own.
A thread that waits for one which stands in the queue counts that wait, so that the speed-up from
these times is too small, not too large.
"""
from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from accuracy import FINE_SHAPES, FINE_STEP, with_shapes
from manoeuvre import KD, KP, SETPOINTS, START
from report import Report, Row

from flex_control import MinimumJerk, control_schedule, make_controller
from flex_description import load_robot
from flex_dynamics import ControlSchedule, Model, ServoTargets, simulate_many
from flex_dynamics.simulation.batch import simulate_many as batch_module

SECTION = 'Many runs at once'
RUNS, SECONDS = 16, 1.5
STEP = 0.0025                  # s
SAMPLE = 0.01                  # s, between states of the result
SPEED_UP = 1.85
ROUNDS = 5
TARGET = SETPOINTS[1][1]
# Segments a link, step (s); from fast to slow.
MUJOCO_LADDER = ((4, 1.25e-4), (6, 1.25e-4), (8, 1.25e-4), (4, 6.25e-5), (6, 6.25e-5),
                 (8, 6.25e-5))
OURS_LADDER = (0.005, STEP, 0.002, 0.001)      # s, from fast to slow


@cache
def _models() -> tuple[Model, Model, np.ndarray]:
    model = Model(load_robot('cibicik_arm'))
    start = np.concatenate((START, np.zeros(model.n - len(START))))
    return model, model.with_payload('payload', 'tool', 1.0), start


@cache
def _schedule(controller: str) -> ControlSchedule:
    return control_schedule(make_controller(controller, _models()[1]),
                            MinimumJerk(START, TARGET, 1.0), SECONDS, period=STEP)


def _open_loop(threads: int, runs: int = RUNS, step: float = STEP) -> object:
    model, _, start = _models()
    return simulate_many(model, SECONDS, q=np.tile(start, (runs, 1)), step=step,
                         output_step=SAMPLE, servo=ServoTargets(KP, KD, TARGET), threads=threads,
                         frames=('tool',), progress=False)


def _one_model_a_run(threads: int, runs: int = RUNS) -> object:
    _, loaded, start = _models()
    masses = np.linspace(0.5, 3.0, RUNS)[:runs]
    return simulate_many(loaded, SECONDS, q=start, step=STEP, output_step=SAMPLE,
                         servo=ServoTargets(KP, KD, TARGET), parameters={'payload.mass': masses},
                         threads=threads, progress=False)


def _controlled(controller: str) -> Callable[..., object]:
    def run(threads: int, runs: int = RUNS) -> object:
        return simulate_many(_models()[1], SECONDS, rest=np.tile(START, (runs, 1)),
                             control=_schedule(controller), step=STEP, output_step=SAMPLE,
                             threads=threads, progress=False)
    return run


CASES: dict[str, Callable[..., object]] = {
    'open loop': _open_loop, 'open loop, one model a run': _one_model_a_run,
    'pd': _controlled('pd'), 'lqr': _controlled('lqr'), 'lqg': _controlled('lqg')}


def measure(report: Report) -> None:
    for name in CASES:
        _compare(report, name)
    if not find_spec('mujoco'):
        report.note('MuJoCo is not installed: left out of many runs at once.')
        return
    _beside_mujoco(report)


class _Watched(ThreadPoolExecutor):
    """A pool that knows what each of its threads would take on a core of its own, s."""

    own: list[float] = []

    def submit(self, task: Callable[[], None]) -> Future:  # type: ignore[override]
        def watched() -> None:
            begin, queued = time.perf_counter(), _queued()
            task()
            self.own.append(time.perf_counter() - begin - (_queued() - queued))
        return super().submit(watched)


def _queued() -> float:
    """Time (s) that this thread has stood in the queue of the scheduler."""
    return 1e-9 * float(Path('/proc/thread-self/schedstat').read_text().split()[1])


@contextmanager
def _own_time():
    """A list whose only number is, at the end, the time without the queue: of the calling thread,
    less its wait for the others, and of the slowest of these."""
    found: list[float] = []
    _Watched.own.clear()
    plain, batch_module.ThreadPoolExecutor = batch_module.ThreadPoolExecutor, _Watched
    begin = time.thread_time()
    try:
        yield found
    finally:
        batch_module.ThreadPoolExecutor = plain
    found.append(time.thread_time() - begin + max(_Watched.own))


def _compare(report: Report, name: str) -> None:
    """One thread, two, and two processes in turns; the shortest of each, as a busy machine only
    lengthens them."""
    case, wall, used = CASES[name], {1: np.inf, 2: np.inf}, {1: np.inf, 2: np.inf}
    apart, own = np.inf, {1: np.inf, 2: np.inf}
    processes = [subprocess.Popen([sys.executable, __file__, name], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  cwd=Path(__file__).parent) for _ in range(2)]
    case(2)
    _answers(processes)
    for _ in range(ROUNDS):
        for threads in wall:
            begin, used_before = time.perf_counter(), time.process_time()
            with _own_time() as found:
                case(threads)
            own[threads] = min(own[threads], found[0])
            wall[threads] = min(wall[threads], time.perf_counter() - begin)
            used[threads] = min(used[threads], time.process_time() - used_before)
        begin = time.perf_counter()
        for process in processes:
            process.stdin.write('\n')
            process.stdin.flush()
        _answers(processes)
        apart = min(apart, time.perf_counter() - begin)
    for process in processes:
        process.communicate()
    total = RUNS * SECONDS
    report.add(SECTION, Row(f'{name}: simulated seconds a second, one and two threads',
                            f'{total / wall[1]:.1f}, {total / wall[2]:.1f}'))
    report.add(SECTION, Row(f'{name}: processor time of two threads over one',
                            f'{used[2] / used[1]:.3f}'))
    report.add(SECTION, Row(f'{name}: two processes with half of the runs each over one thread',
                            f'{wall[1] / apart:.2f}'))
    ratio = own[1] / own[2]
    report.add(SECTION, Row(f'{name}: two threads over one, by the wall clock',
                            f'{wall[1] / wall[2]:.2f}'))
    if (os.cpu_count() or 1) < 2:
        report.note('One processor: no speed-up to be measured.')
    else:
        report.add(SECTION, Row(f'{name}: two threads over one, without the queue', f'{ratio:.2f}',
                                f'at least {SPEED_UP:g}', ratio >= SPEED_UP))


def _answers(processes: list[subprocess.Popen]) -> None:
    for process in processes:
        if not process.stdout.readline():
            raise RuntimeError('a process of the control experiment has ended')


def _half(name: str) -> None:
    """Half of the runs of a case on one thread, once and then for each line that is read."""
    CASES[name](1, runs=RUNS // 2)
    print(flush=True)
    for _ in sys.stdin:
        CASES[name](1, runs=RUNS // 2)
        print(flush=True)


# MuJoCo -------------------------------------------------------------------------------------


def _beside_mujoco(report: Report) -> None:
    """Both at their fastest settings within one limit of the tip error, against shapes and steps
    of ours that are converged (the part `manoeuvre` compares these with Exudyn)."""
    robot = load_robot('cibicik_arm')
    fine = Model(with_shapes(robot, FINE_SHAPES))
    start = np.concatenate((START, np.zeros(fine.n - len(START))))
    reference = simulate_many(fine, SECONDS, q=start[None], step=FINE_STEP, output_step=SAMPLE,
                              servo=ServoTargets(KP, KD, TARGET), frames=('tool',),
                              progress=False).positions['tool'][0]
    ours = {step: _error(_open_loop(1, 1, step).positions['tool'][0], reference)
            for step in OURS_LADDER}
    theirs = {setting: _error(mujoco_tips(*setting), reference) for setting in MUJOCO_LADDER}
    for step, error in ours.items():
        report.add(SECTION, Row(f'tip error, flex, {step * 1e3:g} ms', f'{error * 1e3:.2f} mm'))
    for (segments, step), error in theirs.items():
        report.add(SECTION, Row(f'tip error, MuJoCo, {segments} segments a link, '
                                f'{step * 1e3:g} ms', f'{error * 1e3:.2f} mm'))
    limit = max(np.nanmin(list(theirs.values())), min(ours.values()))
    step = next(one for one, error in ours.items() if error <= limit)
    segments, their_step = min((one for one, error in theirs.items() if error <= limit),
                               key=lambda one: one[0] / one[1])
    rollout = mujoco_rollout(segments, their_step)
    cases = {f'flex, {step * 1e3:g} ms': lambda threads: _open_loop(threads, RUNS, step),
             f'MuJoCo rollout, {segments} segments a link, {their_step * 1e3:g} ms': rollout}
    threads = min(2, os.cpu_count() or 1)
    shortest = dict.fromkeys(cases, np.inf)
    for _ in range(3):
        for name, run in cases.items():
            begin = time.perf_counter()
            run(threads)
            shortest[name] = min(shortest[name], time.perf_counter() - begin)
    for name, taken in shortest.items():
        report.add(SECTION, Row(f'within {limit * 1e3:.2f} mm, {threads} threads: simulated '
                                f'seconds a second, {name}', f'{RUNS * SECONDS / taken:.1f}'))
    first, second = shortest.values()
    report.add(SECTION, Row('times as fast as MuJoCo at the same accuracy',
                            f'{second / first:.1f}'))


def _error(tips: np.ndarray, reference: np.ndarray) -> float:
    """Largest distance (m); infinite where the motion diverged."""
    distance = np.linalg.norm(tips - reference, axis=1)
    return float(distance.max()) if np.isfinite(distance).all() else np.inf


def _arm(segments: int, step: float) -> tuple[object, object]:
    import mujoco
    from mujoco_arm import segmented_arm

    arm = segmented_arm(load_robot('cibicik_arm'), segments, step)
    data = mujoco.MjData(arm)
    for i, angle in enumerate(START):
        data.qpos[arm.joint(f'joint{i + 1}').qposadr[0]] = angle
    return arm, data


def mujoco_tips(segments: int, step: float) -> np.ndarray:
    """Tip positions (k, 3), m, every SAMPLE s."""
    import mujoco
    # a step that is too long is a result; MuJoCo would write a file about it
    mujoco.set_mju_user_warning(lambda text: None)
    arm, data = _arm(segments, step)
    data.ctrl[:] = TARGET
    tips = []
    for k in range(round(SECONDS / SAMPLE) + 1):
        if k:
            mujoco.mj_step(arm, data, round(SAMPLE / step))
        mujoco.mj_kinematics(arm, data)
        tips.append(data.body('tool').xpos.copy())
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            return np.full((round(SECONDS / SAMPLE) + 1, 3), np.nan)
    return np.array(tips)


def mujoco_rollout(segments: int, step: float) -> Callable[[int], object]:
    """RUNS runs by MuJoCo's rollout, in so many threads."""
    import mujoco
    from mujoco import rollout

    arm, data = _arm(segments, step)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(arm, kind))
    mujoco.mj_getState(arm, data, state, kind)
    states = np.tile(state, (RUNS, 1))
    # One model of MuJoCo a run is not more work; controls are held, as a servo's set-points are.
    steps = round(SECONDS / step)
    control = np.broadcast_to(TARGET, (RUNS, steps, len(TARGET))).copy()

    def run(threads: int) -> object:
        scratch = [mujoco.MjData(arm) for _ in range(threads)]
        # 100 steps a call: all states of one call are recorded
        now = states
        for first in range(0, steps, 100):
            part, _ = rollout.rollout(arm, scratch, now, control[:, first:first + 100])
            now = np.ascontiguousarray(part[:, -1])
        return now

    return run


if __name__ == '__main__':
    _half(sys.argv[1])
