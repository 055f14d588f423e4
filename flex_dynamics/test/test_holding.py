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
"""Effort limits that are too low to hold a pose are found, and named with both numbers."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.holding import weak_joints, weak_joints_warning

# 2 kg at 0.5 m, and 1 kg on a vertical slide.
ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.01"
 izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="slide"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
 <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="{effort}" velocity="3"/>
 <dynamics friction="{friction}"/></joint>
<joint name="lift" type="prismatic"><parent link="base"/><child link="slide"/><axis xyz="0 0 1"/>
 <limit lower="-1" upper="1" effort="{force}" velocity="3"/></joint></robot>"""
TORQUE, WEIGHT = 2 * 9.81 * 0.5, 9.81


def arm(effort=20.0, force=20.0, friction=0.0):
    return Model(load_robot(ARM.format(effort=effort, force=force, friction=friction)))


def test_strong_joints_hold():
    assert weak_joints(arm(), [0.0, 0.0]) == []
    assert weak_joints_warning(arm(), [0.0, 0.0]) == ''


def test_a_weak_joint_is_named_with_what_it_needs_and_has():
    weak, = weak_joints(arm(effort=9.0), [0.0, 0.3])
    assert (weak.name, weak.limit, weak.unit) == ('shoulder', 9.0, 'N m')
    assert weak.needed == pytest.approx(TORQUE, rel=1e-12)
    slide, = weak_joints(arm(force=9.0), [0.0, 0.3])
    assert slide.needed == pytest.approx(WEIGHT, rel=1e-12) and slide.unit == 'N'
    text = weak_joints_warning(arm(effort=9.0, force=9.0), [0.0, 0.0], 'start pose')
    assert 'too low to hold the start pose' in text
    assert 'shoulder needs 9.81 N m, has 9; lift needs 9.81 N, has 9' in text


def test_the_pose_decides_and_friction_helps():
    assert weak_joints(arm(effort=9.0), [np.pi / 2, 0.0]) == []          # it hangs
    bound = np.arccos(9.0 / TORQUE)
    assert weak_joints(arm(effort=9.0), [bound + 1e-6, 0.0]) == []
    assert len(weak_joints(arm(effort=9.0), [bound - 1e-6, 0.0])) == 1
    assert weak_joints(arm(effort=9.0, friction=1.0), [0.0, 0.0]) == []


def test_a_free_base_falls_with_its_joints():
    floating = ARM.format(effort=0.1, force=0.1, friction=0).replace(
        '<link name="base"/>', '<link name="world"/><link name="base"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint '
        'name="free" type="floating"><parent link="world"/><child link="base"/></joint>')
    model = Model(load_robot(floating))
    assert weak_joints(model, np.zeros(model.n_joints)) == []
