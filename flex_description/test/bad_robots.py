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
"""A good robot to be spoilt, and what a bad one must be told."""
import pytest

from flex_description import RobotError, load_robot
from flex_description.commands.describe import main

GOOD = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="link1">
    <visual><geometry><cylinder radius="0.05" length="1"/></geometry></visual>
  </link>
  <link name="tool">
    <inertial>
      <origin xyz="0.1 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="joint1" type="revolute">
    <parent link="base"/>
    <child link="link1"/>
    <origin xyz="0 0 0.3" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="100" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="joint2" type="continuous">
    <parent link="link1"/>
    <child link="tool"/>
    <origin xyz="1.5 0 0"/>
  </joint>
  <flexible link="link1">
    <beam length="1.5">
      <origin xyz="0 0 0"/>
      <section shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"/>
      <material name="steel"/>
    </beam>
    <mass x="0.7" mass="2.0" xyz="0 0 0.01" ixx="0.1" iyy="0.1" izz="0.1"/>
    <modes basis="craig-bampton" bending_y="2" bending_z="2" twist="1"/>
    <damping ratio="0.01"/>
    <gauge name="root" x="0.1" z="0.05"/>
  </flexible>
  <flexible_joint joint="joint1" stiffness="1e4" motor_inertia="1e-3" gear_ratio="100"/>
  <link name="eye"/>
  <joint name="joint3" type="fixed"><parent link="tool"/><child link="eye"/></joint>
  <imu name="tip" frame="tool"/>
  <gravity xyz="0 0 -9.81"/>
</robot>
"""
GRAVITY = '<gravity xyz="0 0 -9.81"/>'
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/></joint>"""
# What is replaced, by what, a text on the line to be named, words that the message has.
Case = tuple[str, str, str, str]


def check(case: Case, folder, capsys) -> None:
    """One line that names file and line, from load_robot and from the command."""
    old, new, place, words = case
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    path = folder / 'arm.urdf'
    path.write_text(text)
    with pytest.raises(RobotError) as caught:
        load_robot(path)
    message = str(caught.value)
    line = text[:text.index(place)].count('\n') + 1
    assert message.startswith(f'{path}:{line}: ') and '\n' not in message, message
    assert (caught.value.source, caught.value.line) == (str(path), line)
    assert not [word for word in words.split() if word not in message], message

    assert main([str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == '' and err == f'error: {message}\n'
