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
"""Identities over random trees of rigid and flexible links, drawn by hypothesis.

200 trees in each run; HYPOTHESIS_PROFILE=nightly draws 10,000. A tree is one seed with its size,
base and order, so a failing one is printed as numbers that build it again.
"""
from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_state
from scipy.linalg import cho_factor, cho_solve
from tree_limits import limits_hold, share

from flex_dynamics import Model, Simulation, Wrench

# Building a model takes longer than hypothesis expects of an example; numba compiles in the first.
COMMON = {'deadline': None, 'suppress_health_check': [HealthCheck.too_slow], 'database': None,
          'print_blob': True}
settings.register_profile('default', max_examples=200, derandomize=True, **COMMON)
settings.register_profile('nightly', max_examples=10_000, **COMMON)
PROFILE = settings.get_profile(os.environ.get('HYPOTHESIS_PROFILE', 'default'))

TREES = st.tuples(st.integers(0, 10**6), st.integers(1, 4),
                  st.sampled_from(['fixed', 'fixed', 'floating', 'planar']),
                  st.sampled_from(['second', 'second', 'first']))
STENCIL, STEP = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280]), 2e-3


def slope(function) -> np.ndarray:
    """d function(s) / ds at 0, by differences of eighth order."""
    return sum(c * (function((k + 1) * STEP) - function(-(k + 1) * STEP))
               for k, c in enumerate(STENCIL)) / STEP


class Case:
    """A model at a random state with efforts, accelerations and a load on its last link."""

    def __init__(self, seed: int, links: int, base: str, order: str) -> None:
        robot = random_robot(seed, links, base)
        # Some are all of fixed joints and rigid links: nothing can move, as Model says.
        assume(any(joint.type != 'fixed' for joint in robot.joints)
               or any(link.flexible for link in robot.links))
        self.model = Model(robot, order)
        rng = np.random.default_rng(seed)
        self.q, self.v = random_state(rng, self.model)
        self.tau, self.a = rng.normal(size=self.model.n_joints), rng.normal(size=self.model.n)
        self.load = Wrench(f'link{links}', rng.normal(size=3), rng.normal(size=3))


@settings(PROFILE)
@given(TREES)
@example((463, 1, 'fixed', 'second'))         # C of the joint alone is zero
def test_identities(tree):
    case = Case(*tree)
    m, q, v = case.model, case.q, case.v
    terms = m.terms(q, v)
    symmetric_and_positive(terms)
    dynamics_and_its_inverse(case, terms)
    energy_and_power(case, terms)
    frames_move_as_their_jacobians(case)
    momentum_and_gravity(case, terms)
    limits_hold(m, q, v)


def symmetric_and_positive(terms) -> None:
    for matrix in (terms.M, terms.K, terms.D):
        assert share(matrix - matrix.T, matrix) < 1e-12
        # Scaled to a unit diagonal: coordinates of all kinds count alike.
        size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        least = np.linalg.eigvalsh(matrix / np.outer(size, size))[0]
        assert least > (1e-10 if matrix is terms.M else -1e-9)


def dynamics_and_its_inverse(case: Case, terms) -> None:
    """FD(ID(a)) = a; ID is the sum of its terms; the recursion is Cholesky's solution."""
    m, q, v = case.model, case.q, case.v
    inverse = m.inverse_dynamics(q, v, case.a)
    parts = terms.C @ v + terms.D @ v + terms.K @ q + terms.g
    assert share(inverse - terms.M @ case.a - parts, inverse) < 1e-10
    a = m.forward_dynamics(q, v, case.tau, [case.load])
    force = terms.B @ case.tau + m.jacobian(q, case.load.frame).T @ np.concatenate(
        (case.load.force, case.load.moment))
    expected = cho_solve(cho_factor(terms.M), force - parts)
    assert share(a - expected, expected) < 1e-8
    size = np.abs(terms.M) @ np.abs(a) + np.abs(force)     # what cancels in the sum
    assert share(m.inverse_dynamics(q, v, a) - force, size) < 1e-9


def energy_and_power(case: Case, terms) -> None:
    """Skewness of dM/dt - 2C; gravity is a gradient; energy grows by the power put in."""
    m, q, v = case.model, case.q, case.v
    skew = slope(lambda s: m.mass_matrix(q + s * v)) - 2.0 * terms.C
    assert share(skew + skew.T, np.append(terms.C, 1e-3 * np.abs(terms.M).max())) < 1e-9
    kinetic, strain, _ = m.energy(q, v)
    assert abs(kinetic - 0.5 * v @ terms.M @ v) <= 1e-11 * abs(kinetic)
    assert abs(strain - 0.5 * q @ terms.K @ q) <= 1e-11 * abs(strain)
    rate = slope(lambda s: m.energy(q + s * v, 0.0 * v)[2])
    assert abs(rate - terms.g @ v) <= 1e-9 * (1.0 + np.abs(terms.g) @ np.abs(v))
    # d(T + V)/dt = v'(M a + C v + K q + g) = v'(B tau - D v)
    a = m.forward_dynamics(q, v, case.tau)
    power = v @ (terms.M @ a + terms.C @ v + terms.K @ q + terms.g)
    expected = v @ (terms.B @ case.tau - terms.D @ v)
    assert abs(power - expected) <= 1e-8 * (np.abs(v) @ np.abs(terms.M) @ np.abs(a))


def frames_move_as_their_jacobians(case: Case) -> None:
    m, q, v = case.model, case.q, case.v
    frame = case.load.frame
    pose, jacobian = m.pose(q, frame), m.jacobian(q, frame)
    assert np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() < 1e-12
    rate = slope(lambda s: m.pose(q + s * v, frame))
    spin = rate[:3, :3] @ pose[:3, :3].T
    expected = np.array([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
    assert share(jacobian @ v - expected, np.append(expected, 1.0)) < 1e-9
    found = m.jacobian_rate(q, v, frame)
    expected = slope(lambda s: m.jacobian(q + s * v, frame))
    assert share(found - expected, np.append(expected, 1.0)) < 1e-9


def momentum_and_gravity(case: Case, terms) -> None:
    """m dc/dt is the momentum that M's rows of a free base hold; its weight is m g; and speeds
    enter the bias squared."""
    m, q, v = case.model, case.q, case.v
    fast, once = (m.bias_force(q, scale * v) - terms.g for scale in (2.0, 1.0))
    assert share(fast - 4.0 * once, np.append(fast, terms.g)) < 1e-10
    base = m.robot.joints[0]
    if base.type not in ('floating', 'planar'):
        return
    rows = 3 if base.type == 'floating' else 2
    axes = m.jacobian(np.zeros(m.n), base.child)[:3, :rows].T
    rate = slope(lambda s: m.first_moment(q + s * v)[1])
    assert share((terms.M @ v)[:rows] - axes @ rate, np.append(rate, 1e-3)) < 1e-9
    weight = m.first_moment(q)[0] * m.gravity
    assert share(terms.g[:rows] + axes @ weight, weight) < 1e-11


@settings(PROFILE, max_examples=max(10, PROFILE.max_examples // 10))
@given(st.tuples(st.integers(0, 10**6), st.integers(1, 3), st.just('fixed'),
                 st.sampled_from(['second', 'first'])))
@example((372355, 1, 'fixed', 'second'))         # no dampers: swings by 5e-7 with steps of 1 ms
def test_energy_never_grows_by_itself(tree):
    """Free motion with dampers: energy falls in every step, whatever the tree.

    Of a tree without dampers the midpoint rule keeps an energy that is not quite the model's: the
    difference swings with its fast modes, and is of second order in the step: it falls to 1/64
    with steps of an eighth, in the limit. Half of that is asked for, until nothing is left of it.
    """
    case, step = Case(*tree), 1e-3
    found = energy_rise(case, step)
    while found > 1e-7:
        step /= 8.0
        coarser, found = found, energy_rise(case, step)
        assert found < coarser / 32.0


def energy_rise(case: Case, step: float) -> float:
    """Most that the energy rises within 4 ms, in 20 ms, as a share of it."""
    m = case.model
    simulation = Simulation(m, step, q=0.3 * case.q, v=0.3 * case.v)
    energies = [m.energy(simulation.q, simulation.v)]
    for _ in range(5):
        simulation.advance(round(4e-3 / step))
        energies.append(m.energy(simulation.q, simulation.v))
    return float(np.diff(np.sum(energies, axis=1)).max() / np.abs(energies[0]).sum())
