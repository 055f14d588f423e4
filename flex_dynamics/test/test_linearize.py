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
"""A and B of `linearize` against references that share nothing of how it takes derivatives.

Errors are relative to the largest entry of their row, in da/dq, da/dv and B each by itself; where
that is zero but for rounding, to a millionth of the block's largest entry (or of 1).
"""
from __future__ import annotations

from dataclasses import replace
from math import factorial

import numpy as np
import pytest
from random_robots import random_robot, random_state
from small_robots import beam_robot, body_robot
from symbolic_robots import derived

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.symbolic import SymbolicModel

# Weights of f(x + k h) - f(x - k h) by h, k = 1 ... 6: central differences of twelfth order.
TWELFTH = [(-1)**(k + 1) * factorial(6)**2 / (k * factorial(6 - k) * factorial(6 + k))
           for k in range(1, 7)]
NAMES = ('cibicik_arm', 'cibicik_arm_paper', 'canadarm', 'lab_link', 'flexible_tree',
         'mladenova_arm', 'piedboeuf_arm', 'rest_to_rest_link', 'ur5')


def off(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest error of an entry, by the largest entry of its row; see above."""
    scale = np.abs(expected).max(axis=1, keepdims=True)
    least = 1e-6 * max(scale.max(), 1.0)
    return float((np.abs(found - expected) / np.maximum(scale, least)).max())


def stencil(function, point, steps, weights) -> np.ndarray:
    columns = []
    for j, step in enumerate(steps):
        offset = np.zeros(len(point))
        offset[j] = step
        columns.append(sum(weight / step * (function(point + k * offset)
                                            - function(point - k * offset))
                           for k, weight in enumerate(weights, 1)))
    return np.array(columns).T


def check(model: Model, seed: int, most: float = 1e-8, elastic: float = 0.05) -> None:
    """Against differences of the accelerations themselves, of twelfth order in q; in v they are
    quadratic, so that two points far apart are exact."""
    rng, n = np.random.default_rng(seed), model.n
    q, v = random_state(rng, model, elastic)
    tau = 10.0 * rng.normal(size=model.n_joints)
    steps = np.where(np.arange(n) < model.n_joints, 4e-3, 2e-4)     # amplitudes turn steeply
    A, B = model.linearize(q, v, tau)
    assert (A[:n, :n] == 0.0).all() and (A[:n, n:] == np.eye(n)).all() and (B[:n] == 0.0).all()
    by_position = stencil(lambda x: model.forward_dynamics(x, v, tau), q, steps, TWELFTH)
    by_speed = stencil(lambda x: model.forward_dynamics(q, x, tau), v, np.full(n, 2.0), [0.5])
    by_effort = stencil(lambda x: model.forward_dynamics(q, v, x), tau,
                        np.full(model.n_joints, 1e4), [0.5])
    assert off(A[n:, :n], by_position) < most
    assert off(A[n:, n:], by_speed) < most
    assert off(B[n:], by_effort) < most


@pytest.mark.parametrize('name', NAMES)
def test_bundled_robots(name):
    check(Model(load_robot(name)), 0)


@pytest.mark.parametrize('order', ['linear', 'first'])
def test_other_orders(order):
    """Deflections of millimetres: order linear has no more."""
    check(Model(load_robot('cibicik_arm_paper'), order), 2, elastic=1e-3)


@pytest.mark.parametrize('seed', range(8))
def test_random_trees(seed):
    check(Model(random_robot(seed, base=('fixed', 'floating', 'planar')[seed % 3])), seed)


def complex_terms(equations):
    """The exported function of a derivation for complex states."""
    code = (equations.text('python').replace('dtype=float', 'dtype=complex')
            .replace('q.shape[1:]))', 'q.shape[1:]), dtype=complex)'))
    space: dict = {}
    exec(compile(code, '<complex>', 'exec'), space)

    def stumpff(order, s):
        return sum((-s)**k / factorial(order + 2 * k) for k in range(12))

    space['stumpff'] = stumpff
    return space['terms']


@pytest.mark.parametrize('name, method, order', [
    ('lin_lewis_rfr', 'lagrange', 'second'), ('lin_lewis_rfr', 'dual_screw', 'linear'),
    ('piedboeuf_arm', 'lagrange', 'first'), ('mladenova_arm', 'elastic_joint', None)])
def test_complex_steps_of_symbolic_equations(name, method, order):
    """Derivatives without differences: the imaginary part at a step of 1e-30."""
    equations = derived(name, method, order)
    terms, model, n = complex_terms(equations), SymbolicModel(equations, 'numpy'), equations.n
    rng = np.random.default_rng(4)
    q, v = random_state(rng, model, elastic=0.01)
    tau = rng.normal(size=model.n_joints)
    K, D, B = model.stiffness_matrix(), model.damping_matrix(), model.input_matrix()

    def accelerations(q, v):
        mass, coriolis, weight = terms(q, v)
        return np.linalg.solve(mass, B @ tau - coriolis @ v - D @ v - K @ q - weight)

    expected = np.empty((n, 2 * n))
    for j in range(2 * n):
        state = np.concatenate((q, v)).astype(complex)
        state[j] += 1e-30j
        expected[:, j] = accelerations(state[:n], state[n:]).imag / 1e-30
    A, inputs = model.linearize(q, v, tau)
    assert off(A[n:, :n], expected[:, :n]) < 1e-9
    assert off(A[n:, n:], expected[:, n:]) < 1e-9
    assert off(inputs[n:], np.linalg.solve(terms(q, v)[0].real, B)) < 1e-9


@pytest.mark.parametrize('speed', [0.0, 0.004, 3.0])
def test_slope_of_coulomb_friction(speed):
    """0.4 tanh(v / 0.01) on 0.1 kg m2, beside 0.3 N m s/rad: at rest 403 1/s."""
    model = Model(body_robot(dynamics='<dynamics friction="0.4" damping="0.3"/>'))
    A, _ = model.linearize([0.0], [speed], [0.0])
    slope = -(0.3 + 40.0 / np.cosh(speed / 0.01)**2) / 0.1
    np.testing.assert_allclose(A, [[0.0, 1.0], [0.0, slope]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('robot', [
    body_robot(outside='<flexible_joint joint="joint1" stiffness="80" motor_inertia="5e-4" '
               'gear_ratio="20"/>'),
    load_robot('lin_lewis_one_link', arguments={'basis': 'pinned-free', 'modes': '2'}),
    beam_robot('basis="pinned-free" bending_y="2" bending_z="0" twist="0"', joint='continuous')],
    ids=['elastic joint', 'pinned link', 'pinned beam'])
def test_friction_acts_where_the_forces_have_it(robot):
    """By differences of the accelerations with steps far below the width of the friction."""
    rough = replace(robot, joints=tuple(replace(joint, friction=0.4) for joint in robot.joints))
    model = Model(rough)
    n, zero = model.n, np.zeros(model.n_joints)
    q, v = np.full(n, 0.01), np.full(n, 3e-3)
    A, _ = model.linearize(q, v, zero)
    expected = stencil(lambda x: model.forward_dynamics(q, x, zero), v, np.full(n, 2e-4), TWELFTH)
    assert off(A[n:, n:], expected) < 1e-8
    smooth, _ = Model(robot).linearize(q, v, zero)
    assert off(smooth[n:, n:], A[n:, n:]) > 1e-2


def test_many_turns_and_high_speeds():
    """A joint that has turned 1000 times, speeds of 50 rad/s."""
    model = Model(load_robot('cibicik_arm'))
    rng, n = np.random.default_rng(1), model.n
    q, v = random_state(rng, model)
    tau = rng.normal(size=4)
    A, B = model.linearize(q, 50.0 * v, tau)
    turned = q.copy()
    turned[:4] += 2000.0 * np.pi
    again, inputs = model.linearize(turned, 50.0 * v, tau)
    assert off(again[n:, :n], A[n:, :n]) < 1e-8
    assert off(again[n:, n:], A[n:, n:]) < 1e-8
    assert off(inputs[n:], B[n:]) < 1e-8


def test_order_linear_may_be_next_to_where_its_mass_matrix_ends():
    """The derivative needs states beyond, where M is not positive definite any more."""
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    n, still, zero = model.n, np.zeros(model.n), np.zeros(4)
    at = model.names.index('link2/bend_z/1')

    def state(amplitude):
        q = np.zeros(n)
        q[1:4], q[at] = 1.07, amplitude
        return q

    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        try:
            model.forward_dynamics(state(middle), still, zero)
            low = middle
        except DynamicsError:
            high = middle
    A, _ = model.linearize(state(low), still, zero)
    assert np.isfinite(A).all()
    with pytest.raises(DynamicsError, match='not positive definite'):
        model.linearize(state(high), still, zero)
