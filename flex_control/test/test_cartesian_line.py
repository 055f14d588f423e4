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
"""Inverse kinematics with deflection, and straight lines of the true tip."""
import numpy as np
import pytest

from flex_control import CartesianLine, ControlError, InverseKinematics
from flex_description import load_robot
from flex_dynamics import Model

POSE = np.array([0.3, 0.6, 1.0, 0.5])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def tip(model, joints):
    return model.pose(model.statics(joints)[0], 'tool')


def test_the_sagging_tip_is_where_it_was_asked(arm):
    straight = np.zeros(arm.n)
    straight[:4] = POSE
    goal = arm.pose(straight, 'tool')[:3, 3]
    joints = InverseKinematics(arm, 'tool').solve(goal, POSE)
    assert np.linalg.norm(tip(arm, joints)[:3, 3] - goal) < 1e-7
    assert np.linalg.norm(tip(arm, POSE)[:3, 3] - goal) > 5e-3      # what sag would have left


def test_place_and_direction_are_found_again(arm):
    wanted = tip(arm, POSE)
    kinematics = InverseKinematics(arm, 'tool')
    joints = kinematics.solve(wanted[:3, 3], POSE + [0.2, -0.2, 0.2, -0.1], wanted[:3, :3])
    assert np.allclose(tip(arm, joints), wanted, atol=1e-6)


def test_what_is_out_of_reach_is_told_with_the_distance(arm):
    kinematics = InverseKinematics(arm, 'tool')
    with pytest.raises(ControlError, match=r'out of reach: the nearest .* is [0-9.]+ m off'):
        kinematics.solve([5.0, 0.0, 0.26], POSE)
    with pytest.raises(ControlError, match='turned by'):
        kinematics.solve(tip(arm, POSE)[:3, 3], POSE, np.diag([1.0, -1.0, -1.0]))
    with pytest.raises(ControlError, match='position: expected finite numbers'):
        kinematics.solve([np.nan, 0.0, 0.0], POSE)


def test_the_tip_goes_straight(arm):
    begin = tip(arm, POSE)[:3, 3]
    goal = begin + [-0.5, 0.4, 0.3]
    line = CartesianLine(arm, 'tool', POSE, goal, 2.0, start=1.0)
    direction = (goal - begin) / np.linalg.norm(goal - begin)
    for time in np.linspace(1.0, 3.0, 12):
        off = tip(arm, line.sample(time).position)[:3, 3] - begin
        assert np.linalg.norm(off - (off @ direction) * direction) < 2e-5
    assert np.allclose(tip(arm, line.sample(3.0).position)[:3, 3], goal, atol=1e-7)
    assert np.abs(line.sample(1.0).velocity).max() < 1e-12
    assert np.abs(line.sample(3.0).acceleration).max() < 1e-9


def test_a_line_out_of_reach_is_refused(arm):
    with pytest.raises(ControlError, match='out of reach'):
        CartesianLine(arm, 'tool', POSE, [6.0, 0.0, 1.0], 2.0)
