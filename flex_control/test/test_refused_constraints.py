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
"""What has no equations for loops, wheels and supports refuses robots that have them; what has
refuses those whose motors do not determine the others' motion."""
import pytest

from flex_control import ControlError, make_controller
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_description import load_robot
from flex_dynamics import Model

LINK = """<link name="{0}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.01"
  iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{0}_joint"
  type="continuous"><parent link="{1}"/><child link="{0}"/><origin xyz="{2} 0 0"/>
  <axis xyz="0 1 0"/></joint>"""


@pytest.fixture(scope='module')
def model():
    return Model(load_robot(
        '<robot name="bars"><link name="ground"/>' + LINK.format('one', 'ground', 0)
        + LINK.format('two', 'one', 1) + '<loop name="rod" type="distance" length="1.5"><first '
        'frame="ground"/><second frame="two" xyz="0.5 0 0"/></loop></robot>'))


@pytest.mark.parametrize('name', ['composite', 'feedback_linearization', 'elastic_joint',
                                  'strain_feedback'])
def test_controllers(model, name):
    with pytest.raises(ControlError, match="found loop 'rod' of robot bars"):
        make_controller(name, model)


def test_inverse_kinematics(model):
    with pytest.raises(ControlError, match='expected a tree of links'):
        InverseKinematics(model, 'two')


WHEELS = ('<robot name="cart"><link name="world"/><link name="cart"><inertial><mass value="5"/>'
          '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
          '<joint name="base" type="planar"><parent link="world"/><child link="cart"/>'
          '<axis xyz="0 0 1"/></joint><wheel name="edge" type="knife_edge" frame="cart"/></robot>')


@pytest.mark.parametrize('name', ['pd', 'pid', 'computed_torque', 'lqr', 'lqg'])
def test_constraints_of_speeds_alone(name):
    with pytest.raises(ControlError, match='found edge/side, one of speeds alone'):
        make_controller(name, Model(load_robot(WHEELS)))


@pytest.mark.parametrize('name', ['pd', 'pid', 'computed_torque', 'lqr', 'lqg'])
def test_too_few_motors(model, name):
    text = ''.join(f'<passive_joint name="{one}_joint"/>' for one in ('one', 'two'))
    robot = ('<robot name="bars"><link name="ground"/>' + LINK.format('one', 'ground', 0)
             + LINK.format('two', 'one', 1) + text + '<loop name="rod" type="distance" length='
             '"1.5"><first frame="ground"/><second frame="two" xyz="0.5 0 0"/></loop></robot>')
    with pytest.raises(ControlError, match='found one_joint, which is free to move'):
        make_controller(name, Model(load_robot(robot)))
