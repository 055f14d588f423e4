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
"""Sampling, Riccati equations, rank tests and linear models against other derivations of them."""
import numpy as np
import pytest
from scipy.integrate import quad_vec
from scipy.linalg import expm, solve_continuous_lyapunov, solve_discrete_are

from flex_control import ControlError
from flex_control.design import (
    exponential_and_gramian,
    rest_model,
    riccati,
    unobservable,
    unreachable,
)
from flex_control.incremental import Job, finish
from flex_description import load_robot
from flex_dynamics import Model


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def spd(rng, size):
    half = rng.normal(size=(size, size))
    return half @ half.T + 0.1 * np.eye(size)


def test_sampling_agrees_with_quadrature():
    rng = np.random.default_rng(1)
    A, Q = 3.0 * rng.normal(size=(5, 5)), spd(rng, 5)
    exponential, gramian = finish(exponential_and_gramian(A, Q, 0.7))
    assert np.allclose(exponential, expm(0.7 * A), rtol=1e-8, atol=1e-7)
    wanted, _ = quad_vec(lambda t: expm(A * t) @ Q @ expm(A * t).T, 0.0, 0.7, epsrel=1e-11)
    assert np.allclose(gramian, wanted, rtol=1e-7, atol=1e-7 * np.abs(wanted).max())


def test_sampling_of_a_stiff_system_reaches_its_stationary_noise():
    """Rates of 1e5 1/s over 1 ms, as heavy drives on light joints have: nothing overflows."""
    rng = np.random.default_rng(2)
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    A = turn @ np.diag([-1e5, -3e4, -2e4, -1.5e4]) @ turn.T
    Q = spd(rng, 4)
    exponential, gramian = finish(exponential_and_gramian(A, Q, 1e-3))
    assert np.abs(exponential).max() < 1e-6
    assert np.allclose(gramian, solve_continuous_lyapunov(A, -Q), rtol=1e-6, atol=1e-12)


def test_riccati_agrees_with_another_solver():
    rng = np.random.default_rng(3)
    F, G = 0.6 * rng.normal(size=(7, 7)), rng.normal(size=(7, 2))
    both = spd(rng, 9)
    Q, R, N = both[:7, :7], both[7:, 7:], both[:7, 7:]
    X = solve_discrete_are(F, G, Q, R, s=N)
    wanted = np.linalg.solve(R + G.T @ X @ G, G.T @ X @ F + N.T)
    assert np.allclose(finish(riccati(F, G, Q, R, N)).gain, wanted, rtol=1e-8, atol=1e-10)


def test_riccati_without_a_solution_says_so():
    F, G = np.diag([1.5, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(ControlError, match='out of reach of the efforts or costs nothing'):
        finish(riccati(F, G, np.eye(2), np.eye(1), np.zeros((2, 1))))


def test_a_job_gives_the_same_result_piece_by_piece():
    A, Q = np.array([[0.0, 1.0], [-4.0, -0.1]]), np.eye(2)
    job, calls = Job(exponential_and_gramian(A, Q, 0.5)), 1
    while not job.work():
        calls += 1
    assert calls > 3
    for mine, other in zip(job.result, finish(exponential_and_gramian(A, Q, 0.5)), strict=True):
        assert np.array_equal(mine, other)


def test_rank_tests_find_the_direction_that_is_lost():
    F = np.diag([1.0, 1.0, 0.5])
    assert unreachable(F, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])) is None
    lost = unreachable(F, np.array([[1.0], [0.0], [1.0]]))
    assert np.argmax(lost) == 1
    assert unobservable(F, np.array([[1.0, 0.0, 0.0]])).argmax() == 1
    # one input moves the sum of two equal integrators, never their difference
    assert unreachable(F, np.array([[1.0], [1.0], [0.0]])) is not None


@pytest.mark.parametrize('name', ['cibicik_arm', 'mladenova_arm', 'lab_link'])
def test_rest_model_is_the_linear_model_of_the_robot(name):
    model = Model(load_robot(name))
    n, joints = model.n, model.n_joints
    q, tau = model.statics(np.full(joints, 0.4))
    A, B = model.linearize(q, np.zeros(n), tau)
    rest = finish(rest_model(model, q, np.zeros(joints), np.zeros(joints)))
    assert np.allclose(np.linalg.solve(rest.M, -rest.K), A[n:, :n],
                       atol=1e-7 * np.abs(A[n:, :n]).max())
    assert np.allclose(np.linalg.solve(rest.M, -rest.D), A[n:, n:],
                       atol=1e-7 * max(1.0, np.abs(A[n:, n:]).max()))
    assert np.allclose(np.linalg.solve(rest.M, rest.B), B[n:])
    modal, inputs = rest.state_space(n)
    to_modes = np.kron(np.eye(2), rest.projection)
    to_modes[:n] *= rest.scale[:, None]
    assert np.allclose(modal @ to_modes, to_modes @ A, atol=1e-7 * np.abs(to_modes @ A).max())
    assert np.allclose(inputs, to_modes @ B)


def test_drives_are_springs_and_dampers_on_the_joints(arm):
    q, _ = arm.statics([0.0, 0.5, 1.0, 0.5])
    stiffness, damping = np.array([1.0, 2, 3, 4]), np.array([5.0, 6, 7, 8])
    free = finish(rest_model(arm, q, np.zeros(4), np.zeros(4)))
    driven = finish(rest_model(arm, q, stiffness, damping))
    assert np.allclose((driven.K - free.K)[:4, :4], np.diag(stiffness), atol=1e-8)
    assert np.allclose(driven.D - free.D, np.diag(np.r_[damping, np.zeros(16)]))
