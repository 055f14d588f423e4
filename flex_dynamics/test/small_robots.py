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
"""Robots of one beam or one body, whose motion textbooks know."""
from __future__ import annotations

from flex_description import Robot, load_robot

# The textbook beam of these tests: L 2 m, E Iz 30, E Iy 70, G J 40 N m2, 1.5 kg/m.
LENGTH, EIZ, EIY, GJ, RHO_A = 2.0, 30.0, 70.0, 40.0, 1.5


def beam_robot(modes='basis="craig-bampton" bending_y="3" bending_z="3" twist="2"',
               joint='fixed', gravity='0 0 0', rotary=1e-9, inside='', outside='') -> Robot:
    """A beam along x on a joint about z at the world's origin, with a massless frame at its tip.

    rotary: rho I by rho A of a plane with E I = 1 N m2, m2. inside: more elements of <flexible>;
    outside: of <robot>.
    """
    area = 1e-3
    second = rotary * area
    youngs = 1.0 / second
    return load_robot(f"""<robot name="one_beam">
      <link name="base"/><link name="beam"/><link name="tip"/>
      <joint name="joint1" type="{joint}"><parent link="base"/><child link="beam"/>
        <axis xyz="0 0 1"/><limit effort="1e6" velocity="1e3"/></joint>
      <joint name="end" type="fixed"><parent link="beam"/><child link="tip"/>
        <origin xyz="{LENGTH} 0 0"/></joint>
      <flexible link="beam">
        <beam length="{LENGTH}">
          <section A="{area}" Iy="{EIY / youngs}" Iz="{EIZ / youngs}" J="{second}"/>
          <material E="{youngs}" G="{GJ / second}" density="{RHO_A / area}"/>
        </beam>
        <modes {modes}/>{inside}
      </flexible>
      <gravity xyz="{gravity}"/>{outside}</robot>""")


def body_robot(joint='continuous', dynamics='', gravity='0 0 0', outside='', axis='0 0 1',
               centre='0 0 0') -> Robot:
    """A body of 2 kg and 0.1 kg m2 about every axis on one joint at the world's origin."""
    return load_robot(f"""<robot name="one_body">
      <link name="base"/>
      <link name="body"><inertial><origin xyz="{centre}"/><mass value="2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
      <joint name="joint1" type="{joint}"><parent link="base"/><child link="body"/>
        <axis xyz="{axis}"/><limit lower="-9" upper="9" effort="1e6" velocity="1e3"/>{dynamics}
      </joint>
      <gravity xyz="{gravity}"/>{outside}</robot>""")
