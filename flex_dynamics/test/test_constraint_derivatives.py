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
"""Derivatives of constrained dynamics, against complex steps of constraint_witness.py."""
from __future__ import annotations

import numpy as np
import pytest
from constrained_robots import LOOPS, arm, four_bar, state
from constraint_witness import ConstraintWitness
from jet_witness import complex_steps
from test_constrained_analysis import crane
from test_constrained_model import SPRINGS, WHEELS, disc

from flex_dynamics import Model, Wrench
from flex_dynamics.model.constraints.linearization import constrained_slopes

EXACT = 1e-10
CASES = {
    **{kind: lambda kind=kind: arm(kind) for kind in LOOPS},
    'elastic joints': lambda: arm('ball', extra=SPRINGS),
    'four-bar, coupler': lambda: four_bar(flexible='coupler'),
    'along a beam': crane,
    **{f'wheel {k}': lambda one=one: disc(one) for k, one in enumerate(WHEELS)},
    'two wheels': lambda: disc(*WHEELS[:2]),
}


def off(found: np.ndarray, exact: np.ndarray) -> float:
    """Largest error of an entry by the largest of its row; rows that are zero have rounding."""
    rows = np.abs(exact).max(axis=1, keepdims=True)
    return float((np.abs(found - exact) / np.maximum(rows, 1e-4 * max(rows.max(), 1.0))).max())


def lean_state(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Far from where the constraints hold, where every term counts."""
    rng = np.random.default_rng(7)
    scale = np.where(np.arange(model.n) < model.n_joints, 0.5, 0.02)
    return scale * rng.normal(size=model.n), scale * rng.normal(size=model.n)


@pytest.mark.parametrize('case', CASES)
def test_rows(case):
    """A, A a + A_rate v and A'l, at any a and l."""
    model = Model(CASES[case]())
    witness, (q, v), rng = ConstraintWitness(model), lean_state(model), np.random.default_rng(8)
    a, multipliers = rng.normal(size=model.n), rng.normal(size=len(model.constraint_names))
    A, second = witness.rows_of(q, v, a)
    size = np.abs(A).max()
    assert np.abs(model.constraint_jacobian(q) - A).max() < 1e-13 * size
    found = model.constraint_jacobian(q) @ a + model.constraint_jacobian_rate(q, v) @ v
    assert np.abs(found - second).max() < 1e-12 * max(1.0, np.abs(second).max())
    force, by_q, by_v = constrained_slopes(model, q, v, a, multipliers, model.create_data())
    exact, = complex_steps(lambda y: witness.rows_of(y, v, a)[0].T @ multipliers, q)
    assert off(force, exact) < EXACT
    exact_q, exact_v = complex_steps(lambda y, z: witness.rows_of(y, z, a)[1], q, v)
    assert off(by_q, exact_q) < EXACT
    assert off(by_v, exact_v) < EXACT


@pytest.mark.parametrize('case', ['weld', 'elastic joints', 'two wheels'])
def test_forward_dynamics(case):
    """The equations that accelerations and multipliers obey, differentiated by the witness: along
    motions T that the constraints allow the multipliers' own change does no work."""
    model = Model(CASES[case]())
    witness = ConstraintWitness(model)
    q, v = state(model, 2) if case != 'two wheels' else lean_state(model)
    rng = np.random.default_rng(9)
    tau = rng.normal(size=model.n_joints)
    frame = model.robot.links[-1].name
    push = Wrench(frame, (3.0, -2.0, 1.0), (0.5, 0.2, -0.3))
    data = model.create_data()
    solved = model.constrained_dynamics(q, v, tau, [push], data)
    a, multipliers, inputs = solved.acceleration, solved.multipliers, model.input_matrix()

    def left(y, z, effort):
        load = witness.jacobian(y, frame)[1].T @ np.concatenate((push.force, push.moment))
        return (witness.inverse_dynamics(y, z, a) - load - inputs @ effort
                - witness.rows_of(y, z, a)[0].T @ multipliers)

    forces = complex_steps(left, q, v, tau)
    rows = [*complex_steps(lambda y, z: witness.rows_of(y, z, a)[1], q, v),
            np.zeros((len(multipliers), model.n_joints))]
    A, mass = model.constraint_jacobian(q), model.mass_matrix(q)
    scale = 1.0 / np.sqrt(np.diag(mass))
    free = scale[:, None] * np.linalg.svd(A * scale)[2][np.linalg.matrix_rank(A * scale):].T
    for found, force, row in zip(model.forward_dynamics_derivatives(q, v, tau, [push]), forces,
                                 rows, strict=True):
        size = max(np.abs(free.T @ force).max(), np.abs(free.T @ mass).max() * 1e-3)
        assert np.abs(free.T @ (mass @ found + force)).max() < EXACT * size
        size = max(np.abs(row).max(), np.abs(A).max() * np.abs(found).max())
        assert np.abs(A @ found + row).max() < EXACT * size
