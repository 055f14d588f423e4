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
"""What every robot's equations of motion must satisfy, whatever the numbers."""
from __future__ import annotations

import numpy as np
import pytest
from random_robots import random_robot, random_state
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.transform import Rotation

from flex_description import load_robot
from flex_dynamics import Model, Wrench

BUNDLED = ('canadarm', 'canadarm_paper', 'cibicik_arm', 'cibicik_arm_paper', 'de_luca_siciliano',
           'flexible_tree', 'lab_link', 'lin_lewis_one_link', 'lin_lewis_rfr', 'mladenova_arm',
           'piedboeuf_arm', 'rest_to_rest_link', 'spin_up_beam', 'ur5')
TREES = [(seed, base) for base in ('fixed', 'floating', 'planar') for seed in (1, 4, 7)]
# Differences of eighth order: truncation (h omega)^8 / 630 of a motion of rate omega, here below
# 1e-13 of the value; rounding about 1e-16 / h.
STENCIL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 2e-3


def slope(function) -> np.ndarray:
    """d function(s) / ds at s = 0."""
    return sum(c * (function((k + 1) * STEP) - function(-(k + 1) * STEP))
               for k, c in enumerate(STENCIL)) / STEP


def relative(error, size) -> float:
    return np.abs(error).max() / max(np.abs(size).max(), 1e-6)


class Case:
    """A model at a random state, with random efforts and accelerations."""

    def __init__(self, robot, order='second', seed=0, elastic=0.05) -> None:
        self.model = Model(robot, order)
        rng = np.random.default_rng(seed)
        self.q, self.v = random_state(rng, self.model, elastic)
        self.tau = rng.normal(size=self.model.n_joints)
        self.a = rng.normal(size=self.model.n)
        self.links = [link.name for link in robot.links[1:]]
        self.beams = [link.flexible for link in robot.links if link.flexible is not None]


def cases():
    for name in BUNDLED:
        yield pytest.param(lambda name=name: Case(load_robot(name)), id=name)
    yield pytest.param(lambda: Case(load_robot('ur5', 'ur5_flexible.yaml')), id='ur5_flexible')
    for seed, base in TREES:
        for order in ('second', 'first'):
            yield pytest.param(lambda seed=seed, base=base, order=order: Case(
                random_robot(seed, base=base), order, seed), id=f'{base}-{seed}-{order}')


@pytest.fixture(scope='module', params=cases())
def case(request) -> Case:
    return request.param()


def test_mass_matrix_is_symmetric_and_positive_definite(case):
    mass = case.model.mass_matrix(case.q)
    assert relative(mass - mass.T, mass) < 1e-14
    # Scaled to a unit diagonal: coordinates of all kinds count alike.
    size = np.sqrt(np.diag(mass))
    assert np.linalg.eigvalsh(mass / np.outer(size, size))[0] > 1e-9


def test_recursion_agrees_with_cholesky(case):
    m = case.model
    force = (m.input_matrix(case.q) @ case.tau - m.bias_force(case.q, case.v)
             - m.stiffness_matrix() @ case.q - m.damping_matrix() @ case.v)
    expected = cho_solve(cho_factor(m.mass_matrix(case.q)), force)
    found = m.forward_dynamics(case.q, case.v, case.tau)
    friction = any(joint.friction for joint in m.robot.joints)
    assert not friction, 'these robots have no Coulomb friction, which D does not hold'
    assert relative(found - expected, expected) < 1e-9


def test_inverse_dynamics_undoes_forward_dynamics(case):
    m = case.model
    load = Wrench(case.links[-1], np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.1]))
    a = m.forward_dynamics(case.q, case.v, case.tau, [load])
    found = m.inverse_dynamics(case.q, case.v, a)
    wrench = np.concatenate((load.force, load.moment))
    expected = m.input_matrix(case.q) @ case.tau + m.jacobian(case.q, load.frame).T @ wrench
    parts = np.abs(m.mass_matrix(case.q)) @ np.abs(a)     # what cancels in the sum
    assert relative(found - expected, np.maximum(parts, np.abs(expected))) < 1e-9


def test_inverse_dynamics_is_the_sum_of_the_terms(case):
    m = case.model
    found = m.inverse_dynamics(case.q, case.v, case.a)
    expected = (m.mass_matrix(case.q) @ case.a + m.coriolis_matrix(case.q, case.v) @ case.v
                + m.damping_matrix() @ case.v + m.stiffness_matrix() @ case.q
                + m.gravity_force(case.q))
    assert relative(found - expected, expected) < 1e-11


def test_rate_of_mass_matrix_less_twice_c_is_skew(case):
    m = case.model
    coriolis = m.coriolis_matrix(case.q, case.v)
    rate = slope(lambda s: m.mass_matrix(case.q + s * case.v))
    skew = rate - 2.0 * coriolis
    assert relative(skew + skew.T, coriolis) < 1e-10


def test_coriolis_and_gravity_make_the_bias(case):
    m = case.model
    force = m.coriolis_matrix(case.q, case.v) @ case.v + m.gravity_force(case.q)
    assert relative(m.bias_force(case.q, case.v) - force, force) < 1e-11


def test_terms_in_one_call_are_those_of_single_calls(case):
    m = case.model
    terms = m.terms(case.q, case.v)
    mass, coriolis = m.mass_and_coriolis(case.q, case.v)
    assert relative(terms.M - mass, mass) < 1e-14
    assert relative(terms.M - m.mass_matrix(case.q), mass) < 1e-14
    assert relative(terms.C - coriolis, coriolis) < 1e-14
    assert relative(terms.g - m.gravity_force(case.q), mass) < 1e-11
    assert (m.stiffness_matrix() == terms.K).all() and (m.damping_matrix() == terms.D).all()
    assert (m.input_matrix(case.q) == terms.B).all()


def test_gravity_force_is_the_gradient_of_gravity_energy(case):
    m = case.model
    rng, zero = np.random.default_rng(6), np.zeros(m.n)
    force = m.gravity_force(case.q)
    for _ in range(3):
        along = random_state(rng, m, elastic=0.02)[0]
        found = slope(lambda s, d=along: m.energy(case.q + s * d, zero)[2])
        assert found == pytest.approx(force @ along, rel=1e-9,
                                      abs=1e-11 * (1.0 + np.abs(force) @ np.abs(along)))


def points(case):
    """Every link, and three points of every beam."""
    for link in case.links:
        yield link, None
    for beam in case.beams:
        for share in (0.0, 0.37, 1.0):
            yield beam.link, share * beam.length


def test_jacobians_are_the_slopes_of_poses(case):
    """Both rows: linear speeds, and the angular velocity dR/dt R' in world axes."""
    m = case.model
    for frame, x in points(case):
        jacobian = m.jacobian(case.q, frame, x)
        pose = m.pose(case.q, frame, x)
        rate = slope(lambda s, f=frame, x=x: m.pose(case.q + s * case.v, f, x))
        spin = rate[:3, :3] @ pose[:3, :3].T
        expected = np.array([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
        assert relative(jacobian @ case.v - expected, np.append(expected, 1.0)) < 1e-10
        assert np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() < 1e-13


def test_jacobian_rates_are_the_slopes_of_jacobians(case):
    m = case.model
    for frame, x in points(case):
        expected = slope(lambda s, f=frame, x=x: m.jacobian(case.q + s * case.v, f, x))
        found = m.jacobian_rate(case.q, case.v, frame, x)
        assert relative(found - expected, np.append(expected, 1.0)) < 1e-10


def test_kinetic_energy_is_half_v_m_v_and_strain_half_q_k_q(case):
    m = case.model
    kinetic, strain, _ = m.energy(case.q, case.v)
    assert kinetic == pytest.approx(0.5 * case.v @ m.mass_matrix(case.q) @ case.v, rel=1e-12)
    assert strain == pytest.approx(0.5 * case.q @ m.stiffness_matrix() @ case.q, rel=1e-12)


def test_stiffness_and_damping_take_no_energy_from_nothing(case):
    for matrix in (case.model.stiffness_matrix(), case.model.damping_matrix()):
        assert relative(matrix - matrix.T, matrix) < 1e-12
        size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        assert np.linalg.eigvalsh(matrix / np.outer(size, size))[0] > -1e-9


def test_linear_model_is_the_slope_of_forward_dynamics(case):
    m = case.model
    A, B = m.linearize(case.q, case.v, case.tau)
    rng = np.random.default_rng(1)
    dq, dv, dtau = rng.normal(size=m.n), rng.normal(size=m.n), rng.normal(size=m.n_joints)
    dq, dv = 1e-2 * dq, 1e-2 * dv
    expected = slope(lambda s: m.forward_dynamics(case.q + s * dq, case.v + s * dv,
                                                  case.tau + s * dtau))
    found = (A @ np.concatenate((dq, dv)) + B @ dtau)[m.n:]
    assert relative(found - expected, expected) < 1e-6


@pytest.mark.parametrize('base', ['floating', 'planar'])
def test_momentum_is_the_mass_matrix_s_base_rows(base):
    """p = m dc/dt for the centre of mass, from M's rows of the base's translations."""
    case = Case(random_robot(4, base=base), seed=2)
    m = case.model
    rate = slope(lambda s: m.first_moment(case.q + s * case.v)[1])
    momentum = (m.mass_matrix(case.q) @ case.v)[:3 if base == 'floating' else 2]
    joint = m.robot.joints[0]
    world = joint.origin[:3, :3]
    axes = world.T if base == 'floating' else m.jacobian(np.zeros(m.n), joint.child)[:3, :2].T
    assert relative(momentum - axes @ rate, rate) < 1e-10


def test_rotation_vector_of_a_floating_base_is_a_rotation_vector():
    case = Case(random_robot(1, base='floating'), seed=5)
    joint = case.model.robot.joints[0]
    pose = case.model.pose(case.q, joint.child)
    turned = joint.origin[:3, :3] @ Rotation.from_rotvec(case.q[3:6]).as_matrix()
    assert np.abs(pose[:3, :3] - turned).max() < 1e-14
