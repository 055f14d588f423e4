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
"""A model cannot be changed, and with_gravity gives one that was built with that gravity."""
from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from random_robots import random_robot, random_state
from symbolic_robots import derived

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Sensors, Simulation, simulate
from flex_dynamics.symbolic import SymbolicModel

MOON = np.array([0.3, -0.2, -1.62])


@pytest.fixture(scope='module')
def arm() -> Model:
    return Model(load_robot('cibicik_arm_paper'))


def changed(call) -> str:
    """What is said of an attempt to change something."""
    with pytest.raises(DynamicsError) as refusal:
        call()
    return str(refusal.value)


def test_gravity_cannot_be_set(arm):
    def write(at, value):
        arm.gravity[at] = value

    def add():
        gravity = arm.gravity
        gravity += 1.0

    for attempt in (lambda: setattr(arm, 'gravity', MOON), lambda: write(2, 0.0), add,
                    lambda: write(slice(None), MOON),
                    lambda: np.negative(arm.gravity, out=arm.gravity)):
        assert 'model.with_gravity(gravity) gives a new model' in changed(attempt)
    with pytest.raises(ValueError, match='read-only'):      # numpy's own
        arm.gravity.fill(0.0)
    np.testing.assert_array_equal(arm.gravity, arm.robot.gravity)
    assert type(2.0 * arm.gravity) is np.ndarray
    own = np.array(arm.gravity)
    own[2] = 0.0
    assert arm.gravity[2] == -9.81


@pytest.mark.parametrize('name', ['n', 'names', 'robot', 'order', 'n_joints', '_handle', 'novel'])
def test_no_attribute_can_be_set_or_deleted(arm, name):
    for attempt in (lambda: setattr(arm, name, 1), lambda: delattr(arm, name)):
        assert f'Model.{name}: a model cannot be changed' in changed(attempt)
    with pytest.raises(AttributeError):
        setattr(arm, name, 1)


def test_neither_can_a_symbolic_one():
    model = SymbolicModel(derived('lin_lewis_rfr', 'lagrange', 'second'), 'numpy')
    assert 'SymbolicModel.kind' in changed(lambda: setattr(model, 'kind', 'c'))


DUPLICATES = [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]


@pytest.mark.parametrize('duplicate', [lambda model: model, *DUPLICATES],
                         ids=['itself', 'copy', 'deepcopy', 'pickle'])
def test_shared_arrays_are_read_only(arm, duplicate):
    model = duplicate(arm)
    q, v = random_state(np.random.default_rng(0), model, 0.01)
    terms = model.terms(q, v)
    for matrix in (model.stiffness_matrix(), model.damping_matrix(), model.input_matrix(),
                   terms.K, terms.D, terms.B, Sensors(model).strain_matrix()):
        with pytest.raises(ValueError, match='read-only'):
            matrix[0, 0] = 1.0
    assert 'with_gravity' in changed(lambda: setattr(model, 'gravity', MOON))
    changed(lambda: model.gravity.__setitem__(2, 0.0))


@pytest.mark.parametrize('duplicate', DUPLICATES, ids=['copy', 'deepcopy', 'pickle'])
def test_copies_of_a_model_with_another_gravity(arm, duplicate):
    model = arm.with_gravity(MOON)
    other = duplicate(model)
    q = random_state(np.random.default_rng(1), model, 0.01)[0]
    np.testing.assert_array_equal(other.gravity, MOON)
    np.testing.assert_array_equal(other.gravity_force(q), model.gravity_force(q))
    np.testing.assert_array_equal(other.forward_dynamics(q, 0.0 * q, np.zeros(4)),
                                  model.forward_dynamics(q, 0.0 * q, np.zeros(4)))


def robots():
    for name in ('cibicik_arm_paper', 'canadarm', 'flexible_tree', 'ur5'):
        yield load_robot(name)
    for seed, base in ((3, 'floating'), (4, 'planar')):
        yield random_robot(seed, base=base)


def answers(model: Model) -> dict:
    """Everything that gravity is in, and what must not know of it."""
    rng = np.random.default_rng(2)
    q, v = random_state(rng, model, 0.002)
    a, tau = rng.normal(size=model.n), rng.normal(size=model.n_joints)
    found = {'M': model.mass_matrix(q), 'C': model.coriolis_matrix(q, v),
             'g': model.gravity_force(q), 'terms': model.terms(q, v).g,
             'bias': model.bias_force(q, v), 'energy': np.array(model.energy(q, v)),
             'forward': model.forward_dynamics(q, v, tau),
             'inverse': model.inverse_dynamics(q, v, a), 'D': model.damping_matrix(),
             'A': model.linearize(q, v, tau)[0]}
    statics = model.statics(q[:model.n_joints])
    found.update(statics_q=statics[0], statics_tau=statics[1])
    for k, reading in enumerate(Sensors(model).imu(q, v, a)):
        found[f'imu {k}'] = reading.acceleration
    return found


@pytest.mark.parametrize('order', ['linear', 'first', 'second'])
@pytest.mark.parametrize('robot', list(robots()), ids=lambda robot: robot.name)
@pytest.mark.parametrize('gravity', [MOON, np.zeros(3)], ids=['moon', 'none'])
def test_it_equals_a_model_built_with_that_gravity(robot, order, gravity):
    model = Model(robot, order)
    other = model.with_gravity(list(gravity))
    built = Model(replace(robot, gravity=gravity), order)
    expected = answers(built)
    for name, found in answers(other).items():
        np.testing.assert_allclose(found, expected[name], rtol=1e-12,
                                   atol=1e-12 * np.abs(expected[name]).max(initial=1.0),
                                   err_msg=name)
    assert other.robot.gravity.tolist() == gravity.tolist()
    if not gravity.any():
        assert not other.gravity_force(np.zeros(model.n)).any()
        assert other.energy(np.ones(model.n) * 1e-3, np.zeros(model.n))[2] == 0.0


def test_the_first_model_keeps_its_own(arm):
    before = arm.gravity_force(np.zeros(arm.n))
    arm.with_gravity(MOON)
    np.testing.assert_array_equal(arm.gravity_force(np.zeros(arm.n)), before)


def test_payloads_stay_and_modes_are_shared(arm):
    loaded = arm.with_payload('box', 'link2', 3.0, x=1.0)
    one = loaded.with_gravity(MOON)
    other = arm.with_gravity(MOON).with_payload('box', 'link2', 3.0, x=1.0)
    for name, expected in answers(other).items():
        np.testing.assert_allclose(answers(one)[name], expected, rtol=1e-12, atol=1e-12,
                                   err_msg=name)
    assert one.assembly.beams is arm.assembly.beams      # integrals of the modes
    assert one.without_payload('box').gravity.tolist() == MOON.tolist()


def test_simulation_goes_on_under_another_gravity(arm):
    falling = Simulation(arm, 1e-3)
    falling.advance(20)
    q, v = falling.q.copy(), falling.v.copy()
    falling.set_model(arm.with_gravity(MOON))
    falling.advance(20)
    fresh = Simulation(Model(replace(arm.robot, gravity=MOON)), 1e-3, q, v)
    fresh.advance(20)
    np.testing.assert_allclose(falling.q, fresh.q, atol=1e-8)
    held = Simulation(arm.with_gravity([0.0, 0.0, 0.0]), 1e-3)
    held.advance(100)
    assert not held.q.any() and not held.v.any()


@pytest.mark.parametrize('method', ['midpoint', 'adaptive'])
def test_a_ball_falls_as_gravity_says(method):
    model = Model(load_robot("""<robot name="ball"><link name="base"/><link name="ball"><inertial>
      <mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="free" type="floating"><parent link="base"/><child link="ball"/></joint></robot>
      """)).with_gravity(MOON)
    run = simulate(model, 0.5, method=method, step=0.01)
    np.testing.assert_allclose(run.q[-1, :3], 0.5 * MOON * 0.25, rtol=1e-9)


def test_symbolic_models_are_derived_anew():
    numeric = Model(load_robot('lin_lewis_rfr')).with_gravity(MOON)
    symbolic = SymbolicModel(derived('lin_lewis_rfr', 'lagrange', 'second'),
                             'numpy').with_gravity(MOON)
    q = np.array([0.3, -0.4, 0.8, 0.01])
    np.testing.assert_allclose(symbolic.gravity_force(q), numeric.gravity_force(q), rtol=1e-9,
                               atol=1e-9)
    assert symbolic.gravity.tolist() == MOON.tolist()


@pytest.mark.parametrize('bad', [9.81, [0.0, 0.0], 'down', None, [0.0, 0.0, np.nan],
                                 [0.0, 0.0, 1j], [[0.0, 0.0, 1.0]], [0.0, 0.0, 1e20]])
def test_bad_gravity_is_refused(arm, bad):
    with pytest.raises(DynamicsError, match='gravity: expected'):
        arm.with_gravity(bad)
