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
from test_linearize import TWELFTH

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Rollout, Wrench, with_parameters

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


def test_refusals(model, start):
    q, v, tau = start
    with pytest.raises(DynamicsError, match='tau: expected'):
        Rollout(model, q, v, tau[0], STEP)
    with pytest.raises(DynamicsError, match='by_states: expected'):
        Rollout(model, q, v, tau[:2], STEP).gradient(np.zeros(3))
    constrained = Model(four_bar())
    with pytest.raises(DynamicsError, match='without constraints'):
        Rollout(constrained, np.zeros(constrained.n), np.zeros(constrained.n),
                np.zeros((2, constrained.n_joints)))
