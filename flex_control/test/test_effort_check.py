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
"""Motions that ask for more than the motors have are told before they begin."""
from dataclasses import replace

import numpy as np

from flex_control import MinimumJerk
from flex_control.incremental import finish
from flex_control.loop.effort_check import beyond_efforts
from flex_description import load_robot
from flex_dynamics import Model


def test_a_heavy_arm_that_is_asked_for_too_much_is_told_the_joint_and_the_effort():
    arm = Model(load_robot('canadarm'))
    here = np.array([0.1, 0.2, 0.3])
    words = finish(beyond_efforts(arm, MinimumJerk(here, here + 0.3, 1.5)))
    assert 'N m of joint2, whose limit is 1000: ' in words and 'more time' in words
    assert finish(beyond_efforts(arm, MinimumJerk(here, here + 0.3, 20.0))) == ''


def test_gravity_counts():
    arm = Model(load_robot('cibicik_arm'))
    heavy = arm.with_payload('load', 'tool', 3000.0)
    stretched = np.array([0.0, np.pi / 2, 0.0, 0.0])
    motion = MinimumJerk(stretched, stretched, 1.0)
    assert finish(beyond_efforts(arm, motion)) == ''
    assert 'joint2, whose limit is 16000' in finish(beyond_efforts(heavy, motion))


def test_a_joint_without_a_motor_is_told_only_if_it_would_need_one():
    robot = load_robot('canadarm')      # in free fall: nothing to carry
    passive = Model(replace(robot, joints=tuple(
        replace(joint, limits=replace(joint.limits, effort=0.0)) for joint in robot.joints)))
    still = np.array([0.1, 0.2, 0.3])
    assert finish(beyond_efforts(passive, MinimumJerk(still, still, 1.0))) == ''
    assert 'whose limit is 0:' in finish(beyond_efforts(passive, MinimumJerk(
        still, still + 0.1, 1.0)))
