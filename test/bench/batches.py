"""Many runs at once: how two cores compare with one, beside MuJoCo's rollout of the lumped arm."""
from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from manoeuvre import KD, KP, SETPOINTS, START
from report import Report, Row

from flex_control import MinimumJerk, control_schedule, make_controller
from flex_description import load_robot
from flex_dynamics import Model, ServoTargets, simulate_many

SECTION = 'Many runs at once'
RUNS, SECONDS = 16, 1.5
# Settings of the part `manoeuvre`, which has the tip errors of both; they are not measured here.
STEP = 0.0025                  # s
SPEED_UP = 1.85
ROUNDS = 5
MUJOCO_SEGMENTS, MUJOCO_STEP = 8, 6.25e-5


def measure(report: Report) -> None:
    model = Model(load_robot('cibicik_arm'))
    masses = np.linspace(0.5, 3.0, RUNS)
    loaded = model.with_payload('payload', 'tool', 1.0)
    target = SETPOINTS[1][1]
    move = MinimumJerk(START, target, 1.0)
    law = make_controller('lqr', loaded)
    schedule = control_schedule(law, move, SECONDS, period=STEP)
    start = np.concatenate((START, np.zeros(model.n - len(START))))
    cases: dict[str, Callable[[int], object]] = {
        'open loop, stepped set-points': lambda threads: simulate_many(
            model, SECONDS, q=np.tile(start, (RUNS, 1)), step=STEP, output_step=4 * STEP,
            servo=ServoTargets(KP, KD, target), threads=threads, progress=False),
        'the same, one model a run': lambda threads: simulate_many(
            loaded, SECONDS, q=start, step=STEP, output_step=4 * STEP,
            servo=ServoTargets(KP, KD, target), parameters={'payload.mass': masses},
            threads=threads, progress=False),
        'lqr in the loop': lambda threads: simulate_many(
            loaded, SECONDS, rest=np.tile(START, (RUNS, 1)), control=schedule, step=STEP,
            output_step=4 * STEP, threads=threads, progress=False)}
    for name, case in cases.items():
        _compare(report, name, case)
    if not find_spec('mujoco'):
        report.note('MuJoCo is not installed: left out of many runs at once.')
        return
    _compare(report, f'MuJoCo rollout, {MUJOCO_SEGMENTS} segments a link, '
             f'{MUJOCO_STEP * 1e3:g} ms', _mujoco(target), judged=False, rounds=1)


def _compare(report: Report, name: str, case: Callable[[int], object], judged: bool = True,
             rounds: int = ROUNDS) -> None:
    """One thread and two in turns, the shortest of each: a busy machine only lengthens them."""
    best = {1: np.inf, 2: np.inf}
    case(2)
    for _ in range(rounds):
        for threads in best:
            begin = time.perf_counter()
            case(threads)
            best[threads] = min(best[threads], time.perf_counter() - begin)
    total, ratio = RUNS * SECONDS, best[1] / best[2]
    report.add(SECTION, Row(f'{name}: simulated seconds a second, one and two threads',
                            f'{total / best[1]:.1f}, {total / best[2]:.1f}'))
    if not judged:
        report.add(SECTION, Row(f'{name}: two threads over one', f'{ratio:.2f}'))
    elif (os.cpu_count() or 1) < 2:
        report.note('One processor: no speed-up to be measured.')
    else:
        report.add(SECTION, Row(f'{name}: two threads over one', f'{ratio:.2f}',
                                f'at least {SPEED_UP:g}', ratio >= SPEED_UP))


def _mujoco(target: np.ndarray) -> Callable[[int], object]:
    import mujoco
    from mujoco import rollout
    from mujoco_arm import segmented_arm

    arm = segmented_arm(load_robot('cibicik_arm'), MUJOCO_SEGMENTS, MUJOCO_STEP)
    data = mujoco.MjData(arm)
    for i, angle in enumerate(START):
        data.qpos[arm.joint(f'joint{i + 1}').qposadr[0]] = angle
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(arm, kind))
    mujoco.mj_getState(arm, data, state, kind)
    states = np.tile(state, (RUNS, 1))
    # One model of MuJoCo a run is not more work; controls are held, as a servo's set-points are.
    steps = round(SECONDS / MUJOCO_STEP)
    control = np.broadcast_to(target, (RUNS, steps, len(target))).copy()

    def run(threads: int) -> object:
        scratch = [mujoco.MjData(arm) for _ in range(threads)]
        # 100 steps a call: all states of one call are recorded
        now = states
        for first in range(0, steps, 100):
            part, _ = rollout.rollout(arm, scratch, now, control[:, first:first + 100])
            now = np.ascontiguousarray(part[:, -1])
        return now

    return run
