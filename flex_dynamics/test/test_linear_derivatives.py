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
"""Derivatives of order 'linear', against complex steps of its equations in symbols.

The equations are those of the dual screws (symbolic/methods/dual_screw.py), a derivation of its
own, evaluated in plain NumPy with complex numbers.
"""
from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from jet_witness import complex_steps
from random_robots import random_robot
from symbolic_robots import derived, rigid_flexible
from test_linearize import off

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.symbolic import derive
from flex_dynamics.symbolic.export.code import python_code

EXACT = 1e-10


def series(order: int, x):
    """Stumpff's function for a complex number, by its series."""
    return sum((-x)**k / factorial(2 * k + order) for k in range(24))


def witness(equations):
    """I(q, v, a) = M a + C v + g + K q + D v for complex states."""
    text = python_code(equations).replace('dtype=float', 'dtype=complex')
    text = text.replace(', *q.shape[1:]))', ', *q.shape[1:]), dtype=complex)')
    space: dict = {}
    exec(compile(text, '<witness>', 'exec'), space)
    space['stumpff'] = series

    def force(q, v, a):
        M, C, g = space['terms'](q, v)
        return M @ a + C @ v + g + equations.K_numbers @ q + equations.D_numbers @ v

    return force


CASES = {
    'arm, 16 coordinates': lambda: derived('cibicik_arm_paper', 'dual_screw'),
    'rigid, flexible': lambda: derive(rigid_flexible('clamped-free'), 'dual_screw'),
    'elastic joints': lambda: derive(load_robot('mladenova_arm'), 'dual_screw'),
    'planar base': lambda: derive(random_robot(2, links=2, base='planar'), 'dual_screw', modes=1),
    'floating base': lambda: derive(random_robot(1, links=2, base='floating'), 'dual_screw',
                                    modes=1),
}


@pytest.mark.parametrize('case', CASES)
def test_inverse_dynamics(case):
    equations = CASES[case]()
    model = equations.model
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-1.0, 1.0, (3, model.n))
    first = model.coordinates.elastic.start
    q[first:] *= 0.003
    v[first:] *= 0.03
    force = witness(equations)
    expected = force(q, v, a).real
    found = model.backend.inertial_force(q, v, a, model.create_data())
    found = found + model.stiffness_matrix() @ q + model.damping_matrix() @ v
    assert np.abs(found - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())
    steps = complex_steps(force, q, v, a)
    for slope, exact in zip(model.inverse_dynamics_derivatives(q, v, a), steps, strict=True):
        assert off(slope, exact) < EXACT


def test_forward_dynamics_undoes_inverse_dynamics():
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1.0, 1.0, (2, model.n))
    q[model.n_joints:] *= 0.002
    v[model.n_joints:] *= 0.02
    tau = rng.normal(size=model.n_joints)
    a = model.forward_dynamics(q, v, tau)
    by_q, by_v, by_tau = model.forward_dynamics_derivatives(q, v, tau)
    forces = model.inverse_dynamics_derivatives(q, v, a)
    mass = forces[2]
    assert off(mass @ by_q, -forces[0]) < 1e-9
    assert off(mass @ by_v, -forces[1]) < 1e-9
    np.testing.assert_allclose(mass @ by_tau, model.input_matrix(), atol=1e-11)
