"""All controllers on the manoeuvre of Cibicik and Egeland, pushed, and with a load at the tip."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from manoeuvre import KD, KP, SETPOINTS
from report import Report, Row

from flex_control import (
    ControlError,
    MinimumJerk,
    Noise,
    Reference,
    SetPoints,
    Shaped,
    Shaper,
    StaticLoad,
    Trajectory,
    TrialResult,
    available_controllers,
    make_controller,
    run_trial,
)
from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Wrench

SECTION = 'Controllers, 4-joint arm'
DEPARTURES = tuple(start for start, _ in SETPOINTS[1:])     # s
POSES = tuple(pose for _, pose in SETPOINTS)                # rad
MOVE = 1.0                # s, of both moves: from departure to arrival
END = 6.0
BAND = 1e-3               # m, settled
PUSH = 20.0               # N, sideways at the tip
PUSHED = (0.5, 0.6)       # s, of the short push
LOAD = 2.0                # kg at the tip
STRAIN = 8e-4             # m/m: limit of mpc, anywhere along the links
PAPER: dict[str, Any] = {'kp': KP, 'kd': KD}
PLAIN: dict[str, Any] = {**PAPER, 'static_compensation': False}
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2)                 # as LQG's filter expects it


@dataclass(frozen=True)
class Entry:
    """A row: a controller with its parameters, a shaper ('' for none), and how it is sampled."""

    name: str
    controller: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shaper: str = ''
    period: float = 1e-3
    step: float = 5e-4        # s, of the plant's integrator
    steps: bool = False       # set-points in steps, as the paper has them

    def build(self, model: Model):
        return make_controller(self.controller, model, dict(self.parameters))


MOVING = (
    Entry('pd, paper: steps of the set-points', 'pd', PLAIN, steps=True),
    Entry('pd, plain', 'pd', PLAIN),
    Entry('pd', 'pd', PAPER),
    Entry('pid', 'pid', PAPER),
    Entry('pd, zvd', 'pd', PAPER, 'zvd'),
    Entry('computed_torque', 'computed_torque'),
    Entry('composite', 'composite'),
    Entry('strain_feedback', 'strain_feedback'),
    *(Entry(f'computed_torque, {shaper}', 'computed_torque', shaper=shaper)
      for shaper in ('zv', 'zvd', 'zvdd', 'ei')),
    Entry('feedback_linearization', 'feedback_linearization', step=2.5e-4),
    Entry('feedback_linearization, zvd', 'feedback_linearization', shaper='zvd', step=2.5e-4),
    Entry('feedback_linearization, zvd, 500 Hz', 'feedback_linearization', shaper='zvd',
          period=2e-3, step=2.5e-4),
    Entry('lqr', 'lqr'),
    Entry('lqr, steps of the set-points', 'lqr', steps=True),
    Entry('lqg', 'lqg'),
    Entry('lqg, 500 Hz', 'lqg', period=2e-3),
    Entry('lqg, steps of the set-points', 'lqg', steps=True),
    Entry('mpc, 200 Hz', 'mpc', {'strain_limit': STRAIN}, period=5e-3),
    Entry('mpc, steps of the set-points, 200 Hz', 'mpc', {'strain_limit': STRAIN}, period=5e-3,
          steps=True),
)
HOLDING = (Entry('pd', 'pd', PAPER), Entry('pid', 'pid', PAPER),
           Entry('computed_torque', 'computed_torque'), Entry('composite', 'composite'),
           Entry('strain_feedback', 'strain_feedback'), Entry('lqr', 'lqr'), Entry('lqg', 'lqg'),
           Entry('mpc, 200 Hz', 'mpc', {'strain_limit': STRAIN}, period=5e-3))
TIP = {'tip_compensation': True, 'tip_frame': 'tool'}
LOADED = (Entry('pd, plain', 'pd', PLAIN), Entry('pd, efforts compensated', 'pd', PAPER),
          Entry('pd, tip compensated', 'pd', {**PAPER, **TIP}),
          Entry('pid, tip compensated', 'pid', {**PAPER, **TIP}),
          Entry('composite', 'composite'),
          Entry('strain_feedback, tip compensated', 'strain_feedback', TIP))


class Moves(Trajectory):
    """The two moves of the manoeuvre, one after the other."""

    def __init__(self, first: Trajectory, second: Trajectory) -> None:
        self.parts = first, second
        self.start, self.end = first.start, second.end

    def sample(self, time: float) -> Reference:
        return self.parts[0 if time < DEPARTURES[1] else 1].sample(time)


def manoeuvre(model: Model, entry: Entry, gains: tuple[Any, ...]) -> Trajectory:
    """Both moves, arriving a MOVE after their departures, the shaper's delay included."""
    if entry.steps:
        return SetPoints([start for start, _ in SETPOINTS], POSES)
    moves = []
    for at, departure in enumerate(DEPARTURES):
        ends = POSES[at], POSES[at + 1]
        move: Trajectory = MinimumJerk(*ends, MOVE, departure)
        if entry.shaper:
            shaper = Shaper(model, entry.shaper, 1, *gains)
            duration, arrival = MOVE, departure + MOVE
            for _ in range(4):       # the delay depends a little on where the arm is when
                move = Shaped(MinimumJerk(*ends, duration, departure), shaper)
                duration += arrival - move.end
        moves.append(move)
    return Moves(*moves)


def trial(model: Model, entry: Entry, trajectory: Trajectory | None = None,
          duration: float = END, **more: Any) -> TrialResult:
    controller = entry.build(model)
    if trajectory is None:
        held = (controller.kp, controller.kd) if entry.controller in ('pd', 'pid') else ()
        trajectory = manoeuvre(model, entry, held)
    return run_trial(controller, trajectory, duration, period=entry.period,
                     step=entry.step, noise=NOISE, **more)


def measure(report: Report, results: Path) -> None:
    model = Model(load_robot('cibicik_arm'))
    lines = ['# Controllers', '']
    runs = _moving(model, report, lines)
    _pushed(model, report, lines)
    _loaded(model, report, lines)
    _others(model, lines)
    text = '\n'.join(lines)
    results.mkdir(parents=True, exist_ok=True)
    (results / 'controllers.md').write_text(text + '\n')
    _plot(runs, results / 'bench_controllers.png')
    report.note(text)
    report.note(f'Table of controllers: {results / "controllers.md"}')


def _tried(what: str, entry: Entry, run: Callable[[], TrialResult],
           lines: list[str]) -> TrialResult | None:
    """The result, with a line of progress; None, and the reason in the table, where it failed."""
    begin = time.process_time()
    try:
        result = run()
    except (ControlError, DynamicsError) as error:
        lines.append(f'| {entry.name} | failed: {error} |')
        print(f'  {what}, {entry.name}: failed: {error}', flush=True)
        return None
    print(f'  {what}, {entry.name}: {time.process_time() - begin:.1f} s', flush=True)
    return result


def _moving(model: Model, report: Report, lines: list[str]) -> dict[str, TrialResult]:
    arrival = DEPARTURES[1] + MOVE
    lines += [f'## The manoeuvre: departures at {DEPARTURES[0]:g} and {DEPARTURES[1]:g} s, '
              f'{MOVE:g} s each', '',
              'Plant: order second, steps of 0.5 ms (0.25 ms with feedback_linearization, whose '
              'drives a light wrist rings on otherwise); sampled at 1 kHz unless said, efforts '
              'held; drives damp where the controller asks for it. Steps: lqr and lqg take them '
              'softly, in 0.8 s; the joint error is then what the step itself is.',
              'Vibration: of the tip, against where the links at rest would carry it on the same '
              'joints (peak), and about its mean place in the last second (residual).', '',
              '| controller | joint error, mrad: largest | rms | vibration, mm: peak | residual | '
              f'settled within {BAND * 1e3:g} mm, s after {arrival:g} s | largest efforts, N m |',
              '|---|---|---|---|---|---|---|']
    runs: dict[str, TrialResult] = {}
    for entry in MOVING:
        result = _tried('manoeuvre', entry, lambda entry=entry: trial(model, entry), lines)
        if result is None:
            continue
        runs[entry.name] = result
        error = 1e3 * np.abs(result.joint_error())
        settled = result.settling_time(arrival, BAND)
        lines.append(
            f'| {entry.name} | {error.max():.2f} | {np.sqrt(np.mean(error**2)):.2f} | '
            f'{1e3 * _peak(model, result):.1f} | {1e3 * result.vibration(END - 1.0, END):.3f} | '
            f'{f"{settled:.2f}" if np.isfinite(settled) else "not"} | '
            f'{", ".join(f"{e:.0f}" for e in np.abs(result.effort).max(axis=0))} |')
    lines.append('')
    plain, shaped = runs.get('pd, plain'), runs.get('computed_torque, zvd')
    if plain is not None and shaped is not None:
        share = shaped.vibration(END - 1.0, END) / plain.vibration(END - 1.0, END)
        report.add(SECTION, Row("shaped computed torque's residual vibration by plain PD's, same "
                                'arrival', f'{100 * share:.2f} %', 'at most 5 %', share <= 0.05))
    return runs


def _peak(model: Model, result: TrialResult) -> float:
    """Largest distance (m) of the tip from where links at rest would carry it."""
    static, joints = StaticLoad(model), model.n_joints
    return max(float(np.linalg.norm(
        tip - model.pose(static.equilibrium(q[:joints])[0], 'tool')[:3, 3]))
        for q, tip in zip(result.q[::10], result.tip[::10]))


def _pushed(model: Model, report: Report, lines: list[str]) -> None:
    """Held at the last pose, pushed sideways, shortly and for good."""
    sideways = np.array([-np.sin(POSES[-1][0]), np.cos(POSES[-1][0]), 0.0])
    push = [Wrench('tool', PUSH * sideways, np.zeros(3))]
    rest = model.pose(model.statics(POSES[-1])[0], 'tool')[:3, 3]
    stay = SetPoints([0.0], [POSES[-1]])
    begin, end = PUSHED
    lines += [f'## Held at the last pose, pushed by {PUSH:g} N sideways at the tip', '',
              f'| controller | from {begin:g} to {end:g} s: largest error of the tip, mm | rms in '
              'the second after the push | from 0.5 s on: error 3 s later |',
              '|---|---|---|---|']
    left: dict[str, float] = {}
    for entry in HOLDING:
        short = _tried('short push', entry, lambda entry=entry: trial(
            model, entry, stay, end + 1.0,
            loads=lambda t: push if begin <= t < end else None), lines)
        long = _tried('lasting push', entry, lambda entry=entry: trial(
            model, entry, stay, 3.6, loads=lambda t: push if t >= begin else None), lines)
        if short is None or long is None:
            continue
        error = np.linalg.norm(short.tip - rest, axis=1)
        after = error[short.between(end, end + 1.0)]
        left[entry.name] = float(np.sqrt(np.mean(after**2)))
        last = np.linalg.norm(long.tip[long.between(3.4, 3.6)] - rest, axis=1).mean()
        lines.append(f'| {entry.name} | {1e3 * error.max():.2f} | {1e3 * left[entry.name]:.3f} | '
                     f'{1e3 * last:.2f} |')
    lines.append('')
    if 'lqg' in left:
        ratio = left['pd'] / left['lqg']
        report.add(SECTION, Row(f'rms tip error in the second after a push of {PUSH:g} N for '
                                f"{end - begin:g} s: PD's by LQG's",
                                f'{ratio:.1f}', 'at least 5', ratio >= 5.0))


def _loaded(model: Model, report: Report, lines: list[str]) -> None:
    """Where the tip comes to rest with a load that the controller knows, and does not."""
    loaded = model.with_payload('load', 'tool', LOAD)
    straight = np.zeros(model.n)
    straight[:model.n_joints] = POSES[-1]
    asked = model.pose(straight, 'tool')[:3, 3]
    move = MinimumJerk(POSES[1], POSES[2], MOVE, 0.5)
    lines += [f'## {LOAD:g} kg at the tip: how far it rests from where the straight arm would '
              'have it, mm', '', '| controller | load known | load not known |', '|---|---|---|']
    for entry in LOADED:
        missed = []
        for known in (loaded, model):
            result = _tried('load', entry, lambda known=known, entry=entry: trial(
                known, entry, move, 7.0, plant=loaded, start=POSES[1]), lines)
            last = np.full(3, np.nan) if result is None else result.tip[-500:].mean(axis=0)
            missed.append(1e3 * float(np.linalg.norm(last - asked)))
        lines.append(f'| {entry.name} | {missed[0]:.2f} | {missed[1]:.2f} |')
        if entry.name == 'pd, tip compensated':
            report.add(SECTION, Row(f'tip from the asked place with a known load of {LOAD:g} kg',
                                    f'{missed[0]:.3f} mm', 'at most 0.5 mm', missed[0] <= 0.5))
            report.add(SECTION, Row('the same with a load that it does not know',
                                    f'{missed[1]:.1f} mm'))
    lines.append('')


def _others(model: Model, lines: list[str]) -> None:
    """Controllers that are not for this robot, with their reason, and where they are at home."""
    lines += ['## Not in the table above', '']
    tried = {entry.controller for entry in MOVING}
    for name in available_controllers():
        if name in tried:
            continue
        try:
            make_controller(name, model)
        except ControlError as error:
            lines.append(f'- {name} is not for this arm: {error}.')
    arm = Model(load_robot('mladenova_arm'))
    tip = arm.robot.links[-1].name
    move = MinimumJerk([0.0], [np.pi / 2], 1.0, 0.2)
    for name in ('pd', 'elastic_joint'):
        result = run_trial(make_controller(name, arm), move, 3.0, tip=tip)
        error = 1e3 * np.abs(result.joint_error())
        lines.append(f'- {name} on mladenova_arm, one elastic joint, a quarter turn in 1 s: joint '
                     f'error at most {error.max():.2f} mrad, {error[-500:].max():.4f} mrad in the '
                     'last half second.')
    lines.append('')


def _plot(runs: dict[str, TrialResult], path: Path) -> None:
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt

    shown = [name for name in ('pd, plain', 'computed_torque', 'computed_torque, zvd',
                               'feedback_linearization', 'lqr') if name in runs]
    figure, (whole, last) = plt.subplots(2, 1, figsize=(8, 6), layout='constrained')
    for name in shown:
        run = runs[name]
        end = run.tip[run.between(END - 1.0, END)].mean(axis=0)
        distance = 1e3 * np.linalg.norm(run.tip - end, axis=1)
        whole.plot(run.time, distance, label=name)
        last.semilogy(run.time, np.maximum(distance, 1e-3), label=name)
    whole.set_ylabel('tip from its last place, mm')
    last.set_xlim(DEPARTURES[1] + MOVE, END)
    last.set_ylim(1e-2, 1e3)
    last.set_ylabel('after the arrival, mm')
    last.set_xlabel('time, s')
    whole.legend()
    for axes in (whole, last):
        axes.grid(True, alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)
