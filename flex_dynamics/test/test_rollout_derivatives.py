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
"""Derivatives through time against differences of whole runs, and adjoint against tangent."""
from __future__ import annotations

import numpy as np
import pytest
from constrained_robots import four_bar
from random_robots import random_robot
from test_linearize import TWELFTH

from flex_description import load_robot
from flex_dynamics import (
    DynamicsError,
    Model,
    Rollout,
    Servo,
    Wrench,
    model_parameters,
    simulate,
    with_parameters,
)

STEPS, STEP = 30, 2e-3
LOAD = [Wrench('link1', (0.3, -0.2, 0.1), x=0.5)]
PATHS = ('link1.bending_stiffness_z', 'link1.mass_per_length')


@pytest.fixture(scope='module')
def model() -> Model:
    return Model(load_robot('lab_link'))


@pytest.fixture(scope='module')
def start(model):
    rng = np.random.default_rng(0)
    q, v = 1e-3 * rng.normal(size=model.n), 1e-2 * rng.normal(size=model.n)
    q[0], v[0] = 0.4, 1.0
    return q, v, rng.normal(size=(STEPS, model.n_joints))


@pytest.fixture(scope='module')
def run(model, start) -> Rollout:
    return Rollout(model, *start, STEP, PATHS, LOAD)


def differences(function, size: float) -> np.ndarray:
    return sum(weight / size * (function(k * size) - function(-k * size))
               for k, weight in enumerate(TWELFTH, 1))


def test_final_state_by_start_and_parameters(model, start, run):
    q, v, tau = start
    n = model.n
    by_start, by_parameters = run.final_derivatives()
    for j, size in ((0, 1e-3), (1, 1e-5), (n, 1e-2)):
        unit = np.eye(2 * n)[j]
        exact = differences(lambda s, unit=unit: Rollout(
            model, q + s * unit[:n], v + s * unit[n:], tau, STEP, (), LOAD).final, size)
        assert np.abs(by_start[:, j] - exact).max() < 1e-7 * np.abs(exact).max()
    value = model.robot.links[1].flexible.properties(np.zeros(1)).bending_stiffness_z[0]
    exact = differences(lambda s: Rollout(
        with_parameters(model, {PATHS[0]: value + s}), q, v, tau, STEP, (), LOAD).final,
        1e-3 * value)
    assert np.abs(by_parameters[:, 0] - exact).max() < 1e-7 * np.abs(exact).max()


def test_the_adjoint_is_the_transpose(model, run):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=2 * model.n)
    by_start, by_parameters = run.final_derivatives()
    found = run.gradient(weights)
    np.testing.assert_allclose(found.by_start, by_start.T @ weights, rtol=1e-9,
                               atol=1e-9 * np.abs(found.by_start).max())
    np.testing.assert_allclose(found.by_parameters, by_parameters.T @ weights, rtol=1e-9)


def test_a_cost_along_the_way(model, start, run):
    """Gradient of the sum of squares of all states by one effort in the middle."""
    q, v, tau = start
    gradient = run.gradient(2.0 * run.states())
    assert gradient.by_tau.shape == tau.shape
    change = np.zeros_like(tau)
    change[STEPS // 2] = 1.0
    exact = differences(lambda s: np.square(Rollout(model, q, v, tau + s * change, STEP, (),
                                                    LOAD).states()).sum(), 1e-2)
    assert gradient.by_tau[STEPS // 2, 0] == pytest.approx(exact, rel=1e-7)


SERVO = Servo([30.0], [2.0], lambda t: ([0.5 + 0.3 * t], [0.3]))


def test_the_run_is_that_of_simulate(model, start):
    """Balanced, with servo and loads; sweeps of simulate() end at 1e-9."""
    q, v, tau = start
    result = simulate(model, STEPS * STEP, q, v, lambda t, q, v: tau[min(round(t / STEP),
                                                                        STEPS - 1)],
                      SERVO, STEP, wrenches=LOAD)
    states = Rollout(model, q, v, tau, STEP, (), LOAD, SERVO).states()
    np.testing.assert_allclose(states, np.hstack((result.q, result.v)), atol=1e-7)
    plain = simulate(model, STEPS * STEP, q, v, balance=False, step=STEP)
    states = Rollout(model, q, v, 0.0 * tau, STEP, balance=False).states()
    np.testing.assert_allclose(states, np.hstack((plain.q, plain.v)), atol=1e-7)


def test_an_arm_whose_speeds_the_balance_scales():
    """Along random directions; the start has much energy in modes that are faster than a step."""
    arm, rng = Model(load_robot('cibicik_arm_paper')), np.random.default_rng(4)
    n, steps, step = arm.n, 5, 4e-3
    q, v = np.zeros(n), 0.05 * rng.normal(size=n)
    q[:arm.n_joints], v[:arm.n_joints] = (0.3, -0.5, 0.8, 0.2), (1.0, -2.0, 1.5, 2.0)
    tau = 50.0 * rng.normal(size=(steps, arm.n_joints))

    def run(q=q, v=v, tau=tau, balance=True):
        return Rollout(arm, q, v, tau, step, ('gravity.z',), balance=balance)

    one = run()
    result = simulate(arm, steps * step, q, v,
                      lambda t, q, v: tau[min(round(t / step), steps - 1)], step=step)
    plain = run(balance=False).states()
    scaled = np.abs(plain - one.states())[:, n:].max()
    assert scaled > 1e-4
    assert np.abs(one.states() - np.hstack((result.q, result.v))).max() < 1e-3 * scaled
    by_start, by_parameters = one.final_derivatives()
    for _ in range(2):
        along = np.concatenate((1e-2 * rng.normal(size=n), 1e-1 * rng.normal(size=n)))
        along[arm.n_joints:n] *= 1e-2
        exact = differences(lambda s, d=along: run(q + s * d[:n], v + s * d[n:]).final, 0.1)
        found = by_start @ along
        assert np.abs(found - exact)[:n].max() < 1e-7 * np.abs(exact[:n]).max()
        assert np.abs(found - exact)[n:].max() < 1e-7 * np.abs(exact[n:]).max()
    change = rng.normal(size=tau.shape)
    weights = rng.normal(size=2 * n)
    exact = differences(lambda s: weights @ run(tau=tau + s * change).final, 1.0)
    gradient = one.gradient(weights)
    assert (gradient.by_tau * change).sum() == pytest.approx(exact, rel=1e-7)
    np.testing.assert_allclose(gradient.by_parameters, by_parameters.T @ weights, rtol=1e-8)


@pytest.mark.parametrize('balance', [True, False])
def test_with_servo_and_payload(model, start, balance):
    """Also where the balance carries energy from step to step."""
    q, v, tau = start
    heavy = model.with_payload('load', 'link1', 0.4, (0.02, 0.1, -0.03),
                               np.diag([0.01, 0.02, 0.015]), x=0.7)
    v = 3.0 * v
    paths = ('load.mass', 'load.centre_y', 'gravity.z', 'load.inertia_zz')

    def run(model, q=q, v=v, tau=tau):
        return Rollout(model, q, v, tau, 2.0 * STEP, paths, LOAD, SERVO, balance)

    one, n, change = run(heavy), model.n, np.zeros_like(tau)
    by_start, by_parameters = one.final_derivatives()
    for j, size in ((0, 1e-3), (2, 1e-5), (n, 1e-2)):
        unit = np.eye(2 * n)[j]
        exact = differences(lambda s, unit=unit: run(heavy, q + s * unit[:n],
                                                     v + s * unit[n:]).final, size)
        assert np.abs(by_start[:, j] - exact).max() < 1e-7 * np.abs(exact).max()
    known = model_parameters(heavy)
    for k, size in enumerate((1e-3, 1e-3, 1e-2, 1e-4)):
        exact = differences(lambda s, k=k: run(with_parameters(
            heavy, {paths[k]: known[paths[k]].value + s})).final, size)
        assert np.abs(by_parameters[:, k] - exact).max() < 1e-7 * np.abs(exact).max()
    weights = np.random.default_rng(3).normal(size=2 * n)
    found = one.gradient(weights)
    np.testing.assert_allclose(found.by_start, by_start.T @ weights, rtol=1e-9,
                               atol=1e-9 * np.abs(found.by_start).max())
    change[3] = 1.0
    exact = differences(lambda s: weights @ run(heavy, tau=tau + s * change).final, 1e-2)
    assert found.by_tau[3, 0] == pytest.approx(exact, rel=1e-7)


def test_refusals(model, start):
    q, v, tau = start
    with pytest.raises(DynamicsError, match='tau: expected'):
        Rollout(model, q, v, tau[0], STEP)
    with pytest.raises(DynamicsError, match='by_states: expected'):
        Rollout(model, q, v, tau[:2], STEP).gradient(np.zeros(3))
    with pytest.raises(DynamicsError, match='balance: expected False'):
        floating = Model(random_robot(4, base='floating'))
        Rollout(floating, np.zeros(floating.n), np.zeros(floating.n),
                np.zeros((2, floating.n_joints)))
    constrained = Model(four_bar())
    with pytest.raises(DynamicsError, match='without constraints'):
        Rollout(constrained, np.zeros(constrained.n), np.zeros(constrained.n),
                np.zeros((2, constrained.n_joints)))
