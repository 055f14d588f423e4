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
"""Derivatives by physical parameters, against differences of the whole model of twelfth order.

Steps are a hundredth of the parameter, for which these differences are good to 1e-10.
"""
from __future__ import annotations

import numpy as np
import pytest
from constrained_robots import four_bar, state
from random_robots import random_state
from test_linearize import TWELFTH

from flex_description import load_robot
from flex_dynamics import (
    DynamicsError,
    Model,
    ParameterDerivatives,
    Wrench,
    model_parameters,
    with_parameters,
)

URDF = """<robot name="arm">
  <link name="base"/><link name="boom"/>
  <link name="hand"><inertial><origin xyz="0.1 0.02 0"/><mass value="0.8"/>
    <inertia ixx="0.002" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="boom"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="100" velocity="3"/>
    <dynamics friction="0.3" damping="0.2"/></joint>
  <joint name="wrist" type="revolute"><parent link="boom"/><child link="hand"/>
    <origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="100" velocity="3"/></joint>
  <flexible_joint joint="wrist" stiffness="300" damping="0.4" motor_inertia="1e-4"
    gear_ratio="50"/>
  <flexible link="boom"><beam length="1"><section shape="rectangle" width="0.02" height="0.01"/>
    <material name="aluminium"/></beam><modes bending_y="2" bending_z="3" twist="1"/>
    <damping ratio="0.01"/></flexible>
  <gravity xyz="0 1 -9.81"/>
</robot>"""


def arm() -> Model:
    return Model(load_robot(URDF)).with_payload('load', 'hand', 0.6, (0.05, 0.02, -0.03),
                                                np.diag([2e-3, 3e-3, 2.5e-3]))


def differences(model: Model, path: str, value: float, function) -> np.ndarray:
    step = 0.01 * abs(value) if value else 0.01
    return sum(weight / step * (function(with_parameters(model, {path: value + k * step}))
                                - function(with_parameters(model, {path: value - k * step})))
               for k, weight in enumerate(TWELFTH, 1))


def test_every_parameter_of_an_arm():
    model = arm()
    known = model_parameters(model)
    paths = [path for path, one in known.items() if one.value or path.startswith('gravity')]
    assert {'boom.bending_stiffness_y', 'boom.twist_stiffness', 'boom.damping', 'wrist.stiffness',
            'boom.mass_per_length', 'shoulder.friction', 'load.centre_y'} <= set(paths)
    rng = np.random.default_rng(0)
    q, v = random_state(rng, model)
    v[:2] = 0.005, -0.8
    a, tau = rng.normal(size=model.n), rng.normal(size=model.n_joints)
    load = [Wrench('hand', (1.0, 2.0, 3.0))]
    by = ParameterDerivatives(model, paths)
    assert by.paths == tuple(paths)
    inverse, forward = by.inverse_dynamics(q, v, a), by.forward_dynamics(q, v, tau, load)
    assert inverse.shape == forward.shape == (model.n, len(paths))
    scale = np.sqrt(np.diag(model.mass_matrix(q)))
    for k, path in enumerate(paths):
        value = known[path].value
        exact = differences(model, path, value, lambda m: m.inverse_dynamics(q, v, a))
        size = max(np.abs(exact).max(), 1e-3 / max(abs(value), 1.0))
        assert np.abs(inverse[:, k] - exact).max() < 1e-8 * size, path
        exact = scale * differences(model, path, value,
                                    lambda m: m.forward_dynamics(q, v, tau, load))
        size = max(np.abs(exact).max(), 1e-3 / max(abs(value), 1.0))
        assert np.abs(scale * forward[:, k] - exact).max() < 1e-7 * size, path


def test_a_parameter_that_is_zero_has_its_derivative_upwards():
    model = arm()
    q, v = np.zeros(model.n), np.zeros(model.n)
    v[1] = 1.0
    found = ParameterDerivatives(model, ['wrist.friction']).inverse_dynamics(q, v, v)
    np.testing.assert_allclose(found[:, 0], np.eye(model.n)[1], atol=1e-12)


def test_constrained_robots():
    model = Model(four_bar())
    paths = [path for path in model_parameters(model) if path.endswith(('mass', 'gravity.y'))][:2]
    q, v = state(model, 1)
    tau = np.zeros(model.n_joints)
    found = ParameterDerivatives(model, paths).forward_dynamics(q, v, tau)
    for k, path in enumerate(paths):
        exact = differences(model, path, model_parameters(model)[path].value,
                            lambda m: m.forward_dynamics(q, v, tau))
        assert np.abs(found[:, k] - exact).max() < 1e-7 * max(np.abs(exact).max(), 1.0), path


def test_bad_paths_are_named():
    model = arm()
    with pytest.raises(DynamicsError, match='boom.bending_stiffness_y'):
        ParameterDerivatives(model, ['boom.bending_stifness_y'])
    with pytest.raises(DynamicsError, match='expected a list of paths'):
        ParameterDerivatives(model, 'gravity.z')
    with pytest.raises(DynamicsError, match='expected a list of paths'):
        ParameterDerivatives(model, 3)


def test_along_a_motion_it_is_the_same():
    model = arm()
    paths = ['shoulder.friction', 'boom.damping', 'boom.mass_per_length',
             'boom.bending_stiffness_y']
    by = ParameterDerivatives(model, paths)
    motions = np.random.default_rng(5).normal(size=(3, 4, model.n))
    found = by.inverse_dynamics_along(*motions)
    for k in range(4):
        np.testing.assert_allclose(found[k], by.inverse_dynamics(*motions[:, k]), rtol=1e-12,
                                   atol=1e-12)
    with pytest.raises(DynamicsError, match='v: expected shape'):
        by.inverse_dynamics_along(motions[0], motions[1, :2], motions[2])
