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
"""<identified> in URDFs and overlays: the same robot as one with these parameters."""
import numpy as np
import pytest

from flex_description import RobotError, load_robot, published_description
from flex_dynamics import Model, model_parameters, with_parameters

VALUES = {'link1.bending_stiffness_z': 7.0, 'link1.bending_stiffness_y': 2000.0,
          'link1.twist_stiffness': 9.0, 'link1.damping': 0.03, 'link1.mass_per_length': 0.7,
          'joint1.damping': 0.1, 'joint1.friction': 0.2, 'payload.mass': 0.3}


def overlay(values):
    found = {}
    for path, value in values.items():
        name, _, what = path.rpartition('.')
        found.setdefault(name, {})[what] = value
    return {'identified': found}


def test_an_overlay_is_the_robot_with_these_parameters():
    robot = load_robot('lab_link', overlay(VALUES))
    model, expected = Model(robot), with_parameters(Model(load_robot('lab_link')), VALUES)
    known = model_parameters(model)
    for path, value in VALUES.items():
        assert known[path].value == pytest.approx(value, rel=1e-12)
    q = np.linspace(-0.1, 0.1, model.n)
    np.testing.assert_allclose(model.mass_matrix(q), expected.mass_matrix(q), rtol=1e-9,
                               atol=1e-12)
    np.testing.assert_allclose(model.stiffness_matrix(), expected.stiffness_matrix(), rtol=1e-9)
    np.testing.assert_allclose(model.damping_matrix(), expected.damping_matrix(), rtol=1e-9,
                               atol=1e-12)


def test_the_published_description_has_them():
    robot = load_robot(published_description(load_robot('lab_link', overlay(VALUES))))
    known = model_parameters(Model(robot))
    for path, value in VALUES.items():
        assert known[path].value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(('given', 'message'), [
    ({'lnk1': {'damping': 1}}, 'did you mean "link1"'),
    ({'link1': {'stiffness': 1}}, 'stiffness'),
    ({'link1': {'bending_stiffness_z': 0}}, 'expected a positive number'),
    ({'joint1': {'friction': -1}}, 'friction'),
    ({'joint1': {'stiffness': 3}}, 'expected an elastic joint'),
    ({'joint1': {'motor_inertia': 3}}, 'expected a joint with a <motor>'),
    ({'payload_mount': {'friction': 3}}, 'friction'),
    ({'payload': {'mass': 'nan'}}, 'mass'),
])
def test_bad_values_are_refused(given, message):
    with pytest.raises(RobotError, match=message):
        load_robot('lab_link', {'identified': given})
