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
"""Parameters by path: the changed model is that of a robot which was described so."""
import pickle
from dataclasses import replace

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, model_parameters, with_parameters


def described(model, **changes):
    """Model of the robot whose first flexible link's beam has other factors."""
    robot = model.robot
    at = next(k for k, link in enumerate(robot.links) if link.flexible is not None)
    link = robot.links[at]
    base = link.flexible.properties

    def properties(x):
        values = base(x)
        return replace(values, **{name: factor * getattr(values, name)
                                  for name, factor in changes.items()})

    flexible = replace(link.flexible, properties=properties)
    links = (*robot.links[:at], replace(link, flexible=flexible), *robot.links[at + 1:])
    return Model(replace(robot, links=links))


def terms(model):
    random = np.random.default_rng(3)
    q, v = 0.3 * random.standard_normal((2, model.n))
    q[model.n_joints:] *= 0.01
    return [model.mass_matrix(q), model.coriolis_matrix(q, v), model.stiffness_matrix(),
            model.damping_matrix(), model.gravity_force(q)]


def same(one, other):
    for a, b in zip(terms(one), terms(other), strict=True):
        assert a == pytest.approx(b, rel=1e-11, abs=1e-11 * (1.0 + np.abs(b).max()))


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.mark.parametrize('what, names', [
    ('bending_stiffness_y', ['bending_stiffness_y']),
    ('bending_stiffness_z', ['bending_stiffness_z']),
    ('twist_stiffness', ['torsion_stiffness']),
    ('mass_per_length', ['mass_per_length', 'inertia_y', 'inertia_z'])])
def test_a_beam_has_the_factor_that_its_root_has(arm, what, names):
    path = f'link2.{what}'
    value = 0.6 * model_parameters(arm)[path].value
    changed = with_parameters(arm, {path: value})
    same(changed, described(arm, **dict.fromkeys(names, 0.6)))
    assert model_parameters(changed)[path].value == pytest.approx(value)
    assert not np.allclose(terms(changed)[0 if 'mass' in what else 2], terms(arm)[
        0 if 'mass' in what else 2])
    again = with_parameters(changed, {path: model_parameters(arm)[path].value})
    same(again, arm)


def test_payloads_gravity_and_rigid_links(arm):
    loaded = arm.with_payload('payload', 'tool', 2.0, [0.0, 0.1, 0.0], 0.1 * np.eye(3))
    changed = with_parameters(loaded, {'payload.mass': 3.0, 'payload.centre_y': 0.2,
                                       'gravity.x': 1.0})
    same(changed, arm.with_payload('payload', 'tool', 3.0, [0.0, 0.2, 0.0], 0.15 * np.eye(3))
         .with_gravity([1.0, *arm.gravity[1:]]))
    rigid = next(path for path in model_parameters(arm) if path.endswith('.mass'))
    heavier = with_parameters(arm, {rigid: 2.0 * model_parameters(arm)[rigid].value})
    name = rigid.split('.')[0]
    links = tuple(replace(link, inertia=replace(link.inertia, mass=2.0 * link.inertia.mass,
                                                tensor=2.0 * link.inertia.tensor))
                  if link.name == name else link for link in arm.robot.links)
    same(heavier, Model(replace(arm.robot, links=links)))


def test_joints_and_damping():
    model = Model(load_robot('lab_link'))
    before = model_parameters(model)
    damped = with_parameters(model, {'link1.damping': 0.05})
    assert model_parameters(damped)['link1.damping'].value == pytest.approx(0.05)
    assert np.abs(damped.damping_matrix()).max() > np.abs(model.damping_matrix()).max()
    joint = model.joint_names[0]
    rubbing = with_parameters(model, {f'{joint}.damping': 0.7, f'{joint}.friction': 0.2})
    assert rubbing.damping_matrix()[0, 0] == pytest.approx(
        model.damping_matrix()[0, 0] - before[f'{joint}.damping'].value + 0.7)
    assert rubbing.passive_force(np.zeros(model.n), np.eye(model.n)[0])[0] == pytest.approx(
        -0.7 - 0.2)


def test_elastic_joints():
    model = Model(load_robot('rest_to_rest_link'))
    path = next(path for path in model_parameters(model) if path.endswith('.stiffness'))
    stiffer = with_parameters(model, {path: 2.0 * model_parameters(model)[path].value})
    at = model.names.index(path.split('.')[0])
    assert stiffer.stiffness_matrix()[at, at] == pytest.approx(
        2.0 * model.stiffness_matrix()[at, at])


def test_the_changed_model_is_the_robot_for_other_processes_too(arm):
    changed = with_parameters(arm, {'link2.bending_stiffness_y': 1234.0})
    same(pickle.loads(pickle.dumps(changed)), changed)
    assert with_parameters(arm, {}) is arm


@pytest.mark.parametrize('values, message', [
    ({'link2.bending_stiffness': 1.0}, "did you mean 'link2.bending_stiffness_"),
    ({'link2.bending_stiffness_y': 0.0}, 'positive'),
    ({'link2.damping': -0.1}, 'zero or a positive'),
    ({'link2.damping': np.nan}, 'link2.damping'),
    ({'payload.mass': 1.0}, 'with_payload'),
    ({3: 1.0}, 'expected a path'),
    (['link2.damping'], 'values by path')])
def test_bad_paths_and_values_are_refused(arm, values, message):
    with pytest.raises(DynamicsError, match=message):
        with_parameters(arm, values)


def test_order_linear_is_changed_too():
    model = Model(load_robot('lab_link'), 'linear')
    path = 'link1.bending_stiffness_z'
    value = 2.0 * model_parameters(model)[path].value
    places = model.coordinates.links['link1'].bend_y
    changed = with_parameters(model, {path: value})
    np.testing.assert_allclose(changed.stiffness_matrix()[places, places],
                               2.0 * model.stiffness_matrix()[places, places], rtol=1e-12)
    np.testing.assert_array_equal(changed.mass_matrix(np.zeros(model.n)),
                                  model.mass_matrix(np.zeros(model.n)))
