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
"""Derived equations and the numeric model: the papers' examples, every term to 1e-9."""
from __future__ import annotations

import numpy as np
import pytest
from random_robots import random_robot
from small_robots import beam_robot
from symbolic_robots import derived, one_link, rigid_flexible, rigid_two_links, states

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.symbolic import Payload, derive
from flex_dynamics.symbolic.expressions.tape import Tape
from flex_dynamics.symbolic.methods.dual_screw import projection
from flex_dynamics.symbolic.methods.problem import Problem

EXAMPLES = {
    'rigid two links': (rigid_two_links, 'lagrange', None),
    'rigid two links, dual': (rigid_two_links, 'dual_screw', None),
    'rigid two links, vector-parameters': (rigid_two_links, 'elastic_joint', None),
    **{f'one link, {basis}, {k} modes, {order}': (lambda b=basis, k=k: one_link(b, k), 'lagrange',
                                                  order)
       for basis in ('pinned-pinned', 'clamped-free') for k in (1, 2, 3, 4, 5)
       for order in ('first', 'second')},
    **{f'one link, {k} modes, dual': (lambda k=k: one_link('clamped-free', k), 'dual_screw', None)
       for k in (1, 5)},
    'rigid-flexible, pinned': (lambda: rigid_flexible('pinned-pinned'), 'lagrange', None),
    'rigid-flexible, clamped': (lambda: rigid_flexible('clamped-free'), 'lagrange', None),
    'rigid-flexible, second': (lambda: rigid_flexible('clamped-free'), 'lagrange', 'second'),
    'rigid-flexible, dual': (lambda: rigid_flexible('clamped-free'), 'dual_screw', None),
    'rigid-flexible-rigid': (lambda: load_robot('lin_lewis_rfr'), 'lagrange', None),
    'rigid-flexible-rigid, second': (lambda: load_robot('lin_lewis_rfr'), 'lagrange', 'second'),
    'rigid-flexible-rigid, dual': (lambda: load_robot('lin_lewis_rfr'), 'dual_screw', None),
    'elastic joint': (lambda: load_robot('mladenova_arm'), 'elastic_joint', None),
    'elastic joint, lagrange': (lambda: load_robot('mladenova_arm'), 'lagrange', None),
    'elastic joint, dual': (lambda: load_robot('mladenova_arm'), 'dual_screw', None),
}


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference by largest element; of a term that vanishes, the difference."""
    size = np.abs(expected).max(initial=0.0)
    return float(np.abs(found - expected).max(initial=0.0) / (size if size > 1e-12 else 1.0))


def numeric(model: Model, q, v):
    """M, C, g; order linear also where its M has given out."""
    if model.order == 'linear':
        return model.backend.terms(q, v, model.create_data())
    terms = model.terms(q, v)
    return terms.M, terms.C, terms.g


def agree(equations, model: Model) -> None:
    function = equations.function()
    for q, v in states(equations, 3):
        M, C, g = function(q, v)
        mass, coriolis, gravity = numeric(model, q, v)
        assert off(M, mass) < 1e-9
        assert off(C @ v, coriolis @ v) < 1e-9
        assert off(g, gravity) < 1e-9
    assert off(equations.K_numbers, model.stiffness_matrix()) < 1e-9
    assert off(equations.D_numbers, model.damping_matrix()) < 1e-9
    assert off(equations.B_numbers, model.input_matrix()) < 1e-9


@pytest.mark.parametrize('name', EXAMPLES)
def test_terms_are_the_model_s(name):
    robot, method, order = EXAMPLES[name]
    equations = derive(robot(), method, order=order)
    agree(equations, Model(robot(), equations.model.order))


def test_the_four_joint_arm_with_all_sixteen_coordinates():
    equations = derived('cibicik_arm_paper', 'dual_screw')
    assert equations.n == 16
    agree(equations, Model(load_robot('cibicik_arm_paper'), 'linear'))


@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-free', 'clamped-mass',
                                   'pinned-pinned', 'pinned-free', 'polynomial', 'fe'])
@pytest.mark.parametrize('method', ['lagrange', 'dual_screw'])
def test_any_basis(basis, method):
    """A beam that bends in both planes, twists, and carries a body off its axis at the tip."""
    robot = beam_robot(f'basis="{basis}" bending_y="1" bending_z="1" twist="1"', rotary=1e-4,
                       joint='continuous', gravity='0 0 -9.81')
    tensor = np.diag([0.02, 0.03, 0.04])
    equations = derive(robot, method, payload=Payload('tip', 0.8, np.array([0.1, 0.2, -0.1]),
                                                      tensor))
    agree(equations, equations.model)


@pytest.mark.parametrize('seed, base, method', [(1, 'floating', 'lagrange'),
                                                (2, 'planar', 'dual_screw'),
                                                (1, 'floating', 'dual_screw'),
                                                (4, 'fixed', 'lagrange')])
def test_trees_with_moving_bases_elastic_joints_and_beams(seed, base, method):
    robot = random_robot(seed, links=3, base=base)
    equations = derive(robot, method, modes=1)
    agree(equations, equations.model)


@pytest.mark.parametrize('seed', [0, 3, 5])
def test_trees_with_elastic_joints_in_vector_parameters(seed):
    robot = random_robot(seed, links=5, flexible=False)
    equations = derive(robot, 'elastic_joint')
    agree(equations, equations.model)


def test_ur5_by_all_methods():
    results = [derived('ur5', method).function() for method in ('lagrange', 'dual_screw',
                                                                'elastic_joint')]
    for q, v in states(derived('ur5', 'lagrange'), 2):
        (M, C, g), *others = (f(q, v) for f in results)
        for mass, coriolis, gravity in others:
            assert off(mass, M) < 1e-12
            assert off(coriolis @ v, C @ v) < 1e-12
            assert off(gravity, g) < 1e-12


@pytest.mark.parametrize('method', ['lagrange', 'dual_screw'])
def test_payload_at_the_tip(method):
    robot = load_robot('lin_lewis_rfr')
    tensor = np.diag([0.02, 0.03, 0.04])
    payload = Payload('payload', 0.7, np.array([0.1, 0.05, 0.0]), tensor)
    equations = derive(robot, method, payload=payload)
    order = equations.model.order
    loaded = Model(robot, order).with_payload('tool', 'payload', 0.7, [0.1, 0.05, 0.0], tensor)
    agree(equations, loaded)
    again = derive(loaded, method)                         # a model brings its payload
    agree(again, loaded)
    q = np.array([0.3, -0.2, 0.5, 0.01])
    empty = derive(robot, method).function()(q, q)[0]
    assert equations.function()(q, q)[0][2, 2] > empty[2, 2] + 0.1


@pytest.mark.parametrize('name, method', [('lin_lewis_rfr', 'lagrange'), ('ur5', 'elastic_joint'),
                                          ('de_luca_siciliano', 'lagrange'),
                                          ('cibicik_arm_paper', 'dual_screw')])
def test_rate_of_m_less_twice_c_is_skew(name, method):
    """Theorem 1 (iii), on the derived functions."""
    function = derived(name, method).function()
    h = 1e-3
    for q, v in states(derived(name, method), 2):
        near = {k: function(q + k * h * v, v)[0] for k in (-2, -1, 1, 2)}
        rate = (8.0 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12.0 * h)
        skew = rate - 2.0 * function(q, v)[1]
        assert np.abs(skew + skew.T).max() < 1e-8 * max(1.0, np.abs(rate).max())
        M = function(q, v)[0]
        assert np.abs(M - M.T).max() < 1e-12 * np.abs(M).max()


def test_rates_of_dual_lines_in_closed_form_are_the_chain_rule_s():
    """(76), (79) against differentiation by every coordinate, which is what they save."""
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    tape = Tape()
    problem = Problem(model, tape)
    motions: list = []
    for body in problem.bodies:
        motions.append(projection(problem, body, motions))
    closed, chain = [], []
    for motion in motions:
        for k, line in motion.lines.items():
            closed += [*motion.rates[k].real, *motion.rates[k].dual]
            chain += [problem.rate(x) for x in (*line.real, *line.dual)]
    rng = np.random.default_rng(2)
    values = {name: rng.uniform(-1.0, 1.0) for name in tape.symbols}
    plain = {'+': np.add, '-': np.subtract, '*': np.multiply, 'sin': np.sin, 'cos': np.cos}
    found, expected = (np.array(tape.read(lines, values.__getitem__, float, plain))
                       for lines in (closed, chain))
    assert len(found) > 500 and np.abs(expected).max() > 0.1
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
