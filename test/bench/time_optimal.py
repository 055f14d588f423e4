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
"""Time-optimal motions: duration over the rigid optimum's, and what vibration they leave."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, Row

import flex_description
from flex_control import (
    CartesianLine,
    InverseKinematics,
    TimeOptimal,
    TrialResult,
    make_controller,
    run_trial,
)
from flex_control.reference.fibre_strain import FibreStrain
from flex_description import load_robot
from flex_dynamics import Model

SECTION = 'Time-optimal motions'
LONGEST, VIBRATION = 1.15, 0.02      # over the rigid optimum
CONTROLLER = 'computed_torque'
PERIOD, STEP = 2e-3, 1e-3            # s


def cibicik_line() -> tuple[Model, Any, dict[str, Any]]:
    model = Model(load_robot('cibicik_arm'))
    first = np.radians([0.0, 60.0, 60.0, 60.0])
    tip = InverseKinematics(model, 'tool').pose(first)[:3, 3]
    line = CartesianLine(model, 'tool', first, tip + [0.0, 1.0, 0.0], 1.0)
    return model, line, {'strain_limit': 6e-4, 'frame': 'tool'}


def ur5_waypoints() -> tuple[Model, Any, dict[str, Any]]:
    overlay = Path(flex_description.__file__).parent / 'robots' / 'ur5_flexible.yaml'
    first = np.array([0.0, -1.2, 1.2, -1.5, -1.5, 0.0])
    return Model(load_robot('ur5', overlay)), [
        first, first + [0.4, 0.3, -0.3, 0.2, 0.0, 0.0],
        first + [1.0, 0.5, -0.6, 0.4, 0.3, 0.2]], {'frame': 'tool0'}


def canadarm_move() -> tuple[Model, Any, dict[str, Any]]:
    return Model(load_robot('canadarm')), [[0.0, 0.2, 0.3], [1.2, 1.0, 1.2]], {}


CASES: dict[str, Callable[[], tuple[Model, Any, dict[str, Any]]]] = {
    'cibicik_arm, line of 1 m, strain 6e-4': cibicik_line,
    'ur5, flexible, three waypoints': ur5_waypoints,
    'canadarm, 1.2 rad': canadarm_move,
}
HEADER = ('| motion | rigid optimum, s | ours, s | ratio | vibration left by the rigid optimum, '
          'mm | by ours, mm | share | largest strain, rigid | ours |')


def trial(model: Model, motion: Any, frame: str, after: float) -> TrialResult:
    return run_trial(make_controller(CONTROLLER, model), motion, motion.end + after,
                     period=PERIOD, step=STEP, tip=frame)


def measured(name: str) -> tuple[str, float, float]:
    """A row of the table, the ratio of times and that of vibrations."""
    model, path, given = CASES[name]()
    motion = TimeOptimal(model, path, start=0.1, **given)
    locked = model.frequencies(model.statics(path[-1] if isinstance(path, list) else path.sample(
        path.end).position)[0], joints='locked')[0]
    after = 0.2 + 1.5 * 2.0 * np.pi / float(locked[0])
    runs = [trial(model, one, motion.frame, after) for one in (motion.rigid, motion)]
    left = [run.vibration(one.end + 0.02, one.end + after) for run, one in
            zip(runs, (motion.rigid, motion))]
    fibres = FibreStrain(model)
    strains = [max(fibres.largest(q)[0] for q in run.q[::2]) for run in runs]
    share = left[1] / left[0]
    return (f'| {name} | {motion.rigid.duration:.3f} | {motion.duration:.3f} | '
            f'{motion.ratio:.3f} | {1e3 * left[0]:.3g} | {1e3 * left[1]:.3g} | '
            f'{100.0 * share:.2f} % | {strains[0]:.3g} | {strains[1]:.3g} |', motion.ratio, share)


def measure(report: Report, folder: Path) -> None:
    """One row a motion, written to folder/time_optimal.md."""
    lines = [HEADER, '|---' * 9 + '|']
    for name in CASES:
        row, ratio, share = measured(name)
        lines.append(row)
        print(row, flush=True)
        report.add(SECTION, Row(f'{name}: duration over the rigid optimum', f'{ratio:.3f}',
                                f'at most {LONGEST:g}', ratio <= LONGEST))
        report.add(SECTION, Row(f"{name}: vibration left, of the rigid optimum's",
                                f'{100.0 * share:.2f} %', f'at most {100.0 * VIBRATION:g} %',
                                share <= VIBRATION))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'time_optimal.md').write_text('\n'.join(lines) + '\n')
