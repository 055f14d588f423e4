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
"""The runs of a study: a batch of them in, one row of outputs each out. Needs no cluster."""
from __future__ import annotations

import json
from functools import lru_cache

import numpy as np

from flex_control import ControlError, MinimumJerk, run_trials
from flex_dynamics import DynamicsError, Model, model_parameters, with_parameters
from flex_study.measures import MOVING, STATIC
from flex_study.study import POSE, Study, read_study

Rows = dict[str, list]      # outputs by name, and `reason`


@lru_cache(maxsize=4)
def _known(text: str) -> tuple[Study, Model, dict[str, np.ndarray]]:
    """A study by its text, its model and its table: once in a process."""
    study = read_study(json.loads(text))
    return study, study.model(), study.table()


def run_batch(text: str, runs: list[int]) -> Rows:
    """Outputs and reasons of some runs of a study, given as text (JSON).

    A pure function: a run has the same outputs, bit for bit, in any batch and on any worker with
    the same processor and libraries. A failed run has NaN and its reason.
    """
    study, model, table = _known(text)
    values = {path: column[runs] for path, column in table.items()}
    rows: Rows = {name: [float('nan')] * len(runs) for name in study.outputs}
    rows['reason'] = [''] * len(runs)
    paths = _absolute(study, model, values)
    if any(name in STATIC for name in study.outputs):
        _static(study, model, paths, values, rows)
    if study.simulates:
        names = values.get('controller', np.full(len(runs), study.controllers()[0]))
        for name in dict.fromkeys(names.tolist()):
            _moving(study, model, str(name), np.flatnonzero(names == name), paths, rows)
    return rows


def _absolute(study: Study, model: Model, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Values of model parameters in SI units."""
    known = model_parameters(model)
    return {one.path: (known[one.path].value if one.relative else 1.0) * values[one.path]
            for one in study.varied if one.path in known}


def _static(study: Study, model: Model, paths: dict[str, np.ndarray],
            values: dict[str, np.ndarray], rows: Rows) -> None:
    start = study.manoeuvre['from'] or [0.0] * model.n_joints
    for k in range(len(rows['reason'])):
        joints = np.array(start, dtype=float)
        for at, name in enumerate(model.joint_names):
            if POSE + name in values:
                joints[at] = values[POSE + name][k]
        try:
            changed = with_parameters(model, {path: float(column[k])
                                              for path, column in paths.items()})
            for name in study.outputs:
                if name in STATIC:
                    rows[name][k] = STATIC[name][0](changed, joints)
        except DynamicsError as error:
            rows['reason'][k] = str(error)


def _moving(study: Study, model: Model, controller: str, at: np.ndarray,
            paths: dict[str, np.ndarray], rows: Rows) -> None:
    move = study.manoeuvre
    motion = MinimumJerk(move['from'], move['to'], move['time'])
    try:
        trials = run_trials(controller, model, motion, move['duration'],
                            gains=study.given.get('gains'), runs=len(at),
                            parameters={path: column[at] for path, column in paths.items()},
                            period=move['period'], step=move['step'], every=move['every'],
                            tip=move['tip'], workers=1, progress=False)
    except (ControlError, DynamicsError) as error:
        for k in at:
            rows['reason'][k] = rows['reason'][k] or str(error)
        return
    for place, k in enumerate(at):
        if trials.reasons[place]:
            rows['reason'][k] = rows['reason'][k] or trials.reasons[place]
            continue
        trial = trials.trial(place)
        for name in study.outputs:
            if name in MOVING:
                rows[name][k] = MOVING[name][0](trial, move['time'])
