"""The figure of the page "Which controller?": tip error over time of all controllers.

    source env.sh && python3 test/bench/tip_error_figure.py [controller ...]

The 4-joint arm moves its tip along a line of 1 m in 1 s, rests, and is pushed by 20 N for good.
Named controllers are run again, the others are taken from results/tip_error.json.
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from flex_control import (
    CartesianLine,
    ControlError,
    InverseKinematics,
    Noise,
    TipLine,
    TipTrajectory,
    available_controllers,
    controller_class,
    make_controller,
    run_trial,
)
from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Wrench

ROOT = Path(__file__).resolve().parents[2]
RUNS, PICTURE = ROOT / 'results' / 'tip_error.json', ROOT / 'flex_control/doc/which_controller.png'
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
POSE = np.radians([0.0, 60.0, 60.0, 60.0])
PERIOD, STEP = 2e-3, 1e-3            # s
BEGIN, DURATION = 0.25, 1.0          # s, of the line
PUSHED, END = 2.75, 5.0              # s
PUSH = np.array([0.0, 0.0, 20.0])    # N
FEEDFORWARD = ', tip trajectory'     # with the motion planned by stable inversion
EVERY = 5                            # samples


def run(name: str) -> list[float]:
    """Distance (mm) of the tip from where it should be, at every sample."""
    model = Model(load_robot('cibicik_arm'))
    first = InverseKinematics(model, 'tool').pose(POSE)[:3, 3]
    line = TipLine(first, first + [0.0, 1.0, 0.0], DURATION, start=BEGIN)
    kind = name.removesuffix(FEEDFORWARD)
    motion = (TipTrajectory(model, 'tool', line, POSE) if kind != name else
              CartesianLine(model, 'tool', POSE, line.sample(END).position, DURATION, start=BEGIN))
    push = [Wrench('tool', PUSH, np.zeros(3))]
    result = run_trial(make_controller(kind, model), motion, END, period=PERIOD, step=STEP,
                       noise=NOISE, loads=lambda t: push if t >= PUSHED else None)
    return [1e3 * float(np.linalg.norm(tip - line.sample(time).position))
            for time, tip in zip(result.time[::EVERY], result.tip[::EVERY], strict=True)]


def draw(runs: dict[str, list[float]]) -> None:
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5.5), layout='constrained')
    time = EVERY * PERIOD * np.arange(max(map(len, runs.values())))
    for at, name in enumerate(sorted(runs)):
        axes.semilogy(time[:len(runs[name])], np.maximum(runs[name], 1e-4), label=name,
                      color=f'C{at % 10}', linestyle='-' if at < 10 else '--', linewidth=1.2)
    for when, what in ((BEGIN, 'line of 1 m'), (BEGIN + DURATION, 'rests'), (PUSHED, '20 N')):
        axes.axvline(when, color='grey', linewidth=0.8)
        axes.text(when + 0.02, 400.0, what, color='grey')
    axes.set_xlabel('time, s')
    axes.set_ylabel('distance of the tip from where it should be, mm')
    axes.set_xlim(0.0, END)
    axes.set_ylim(1e-3, 600.0)
    axes.grid(True, which='both', alpha=0.25)
    figure.legend(fontsize='small', loc='outside lower center', ncols=4)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


def main() -> None:
    runs = json.loads(RUNS.read_text()) if RUNS.is_file() else {}
    names = [name for name in available_controllers()
             if controller_class(name).__module__.startswith('flex_control.')]
    names += [name + FEEDFORWARD for name in ('computed_torque', 'lqg')]
    for name in sys.argv[1:] or names:
        try:
            runs[name] = run(name)
        except (ControlError, DynamicsError) as error:
            print(f'{name}: not in the figure: {error}', flush=True)
            continue
        error = np.array(runs[name])
        at = EVERY * PERIOD * np.arange(len(error))
        moving = (at >= BEGIN) & (at <= BEGIN + DURATION)
        after = (at > BEGIN + DURATION) & (at < PUSHED)
        late = error[after]
        outside = np.flatnonzero(late > 2.0)
        settled = 0.0 if not outside.size else EVERY * PERIOD * (outside[-1] + 1)
        print(f'| {name} | {error[moving].max():.3g} | {settled:.2f} | '
              f'{error[at >= PUSHED].max():.3g} | {error[-10:].mean():.3g} |', flush=True)
        RUNS.parent.mkdir(exist_ok=True)
        RUNS.write_text(json.dumps({key: [round(one, 4) for one in runs[key]] for key in runs}))
    draw(runs)
    print(f'picture: {PICTURE}')


if __name__ == '__main__':
    main()
