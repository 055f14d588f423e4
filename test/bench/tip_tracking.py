"""Tip error along a line and a circle, with tip tracking and without it, per controller."""
from __future__ import annotations

from pathlib import Path

import numpy as np
from report import Report, Row

from flex_control import (
    CartesianLine,
    InverseKinematics,
    Noise,
    TipCircle,
    TipLine,
    TipTrajectory,
    make_controller,
    run_trial,
)
from flex_description import load_robot
from flex_dynamics import Model, model_parameters, with_parameters

SECTION = 'Tip tracking'
CONTROLLERS = ('pd', 'computed_torque', 'lqr', 'lqg')
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
KNOWN, WRONG = 1.0, 5.0          # mm: targets with the true model, and with EI wrong by 5 %
POSE = np.radians([0.0, 60.0, 60.0, 60.0])


def scaled(model: Model, share: float) -> Model:
    """The robot with all stiffnesses of its beams times share."""
    return with_parameters(model, {
        path: share * one.value for path, one in model_parameters(model).items()
        if path.endswith(('.bending_stiffness_y', '.bending_stiffness_z', '.twist_stiffness'))})


def largest_error(result, path) -> float:
    """mm."""
    return 1e3 * max(float(np.linalg.norm(tip - path.sample(time).position))
                     for time, tip in zip(result.time, result.tip)
                     if path.start <= time <= path.end)


def measure(report: Report, folder: Path) -> None:
    """One row a controller, written to folder/tip_tracking.md."""
    model = Model(load_robot('cibicik_arm'))
    first = InverseKinematics(model, 'tool').pose(POSE)[:3, 3]
    line = TipLine(first, first + [0.0, 1.0, 0.0], 1.0, start=0.5)
    circle = TipCircle(first, first + [0.0, 0.3, 0.0], [1.0, 0.0, 0.0], 2.0, start=0.5)
    resting = CartesianLine(model, 'tool', POSE, line.sample(2.0).position, 1.0, start=0.5)
    motions = {'line': (line, TipTrajectory(model, 'tool', line, POSE)),
               'circle': (circle, TipTrajectory(model, 'tool', circle, POSE))}
    plants = {'': model, ', EI 5 % less': scaled(model, 0.95),
              ', EI 5 % more': scaled(model, 1.05)}
    columns = ['line, poses at rest', *(name + plant for plant in plants for name in motions)]
    lines = ['| controller | ' + ' | '.join(columns) + ' |', '|---' * (len(columns) + 1) + '|']
    for name in CONTROLLERS:
        row = [largest_error(trial(model, name, resting, 2.0, model), line)]
        for plant, robot in plants.items():
            for what, (path, motion) in motions.items():
                error = largest_error(trial(model, name, motion, path.end + 0.5, robot), path)
                row.append(error)
                most = KNOWN if robot is model else WRONG
                report.add(SECTION, Row(f'{name}, {what}{plant}: largest tip error',
                                        f'{error:.3g} mm', f'at most {most:g} mm', error <= most))
        lines.append(f'| {name} | ' + ' | '.join(f'{error:.3g}' for error in row) + ' |')
        print(lines[-1], flush=True)
    (folder / 'tip_tracking.md').write_text('\n'.join(lines) + '\n')


def trial(model: Model, name: str, motion, duration: float, plant: Model):
    return run_trial(make_controller(name, model), motion, duration, plant=plant, period=2e-3,
                     step=1e-3, noise=NOISE)
