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
"""<motor>: the rotor of an ordinary joint, in a URDF and in an overlay."""
import json

import pytest

from flex_description import Motor, RobotError, load_robot
from flex_description.commands.describe import main

LINK = ('<link name="{}"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>')
JOINT = ('<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}'
         '<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>')
ROBOT = '\n'.join((
    '<robot name="arm">', *map(LINK.format, 'abcde'),
    JOINT.format('elbow', 'revolute', 'a', 'b', ''), JOINT.format('lift', 'prismatic', 'b', 'c',
                                                                  ''),
    JOINT.format('clip', 'fixed', 'c', 'd', ''),
    JOINT.format('finger', 'revolute', 'c', 'e', '<mimic joint="elbow"/>'), '{}</robot>'))
MOTORS = ('<motor joint="elbow" inertia="1e-4" ratio="50"/>'
          '<motor joint="lift" inertia="2e-5" ratio="300"/>')


def test_the_inertia_is_reflected_by_the_square_of_the_ratio():
    elbow, lift, clip, _ = load_robot(ROBOT.format(MOTORS)).joints
    assert elbow.motor == Motor(1e-4, 50.0) and lift.motor == Motor(2e-5, 300.0)
    assert elbow.motor.reflected_inertia == pytest.approx(0.25)
    assert lift.motor.reflected_inertia == pytest.approx(1.8)
    assert clip.motor is None
    assert load_robot(ROBOT.format('<motor joint="elbow" inertia="0"/>')).joints[0].motor == Motor(
        0.0, 1.0)


def test_an_overlay_says_the_same():
    overlay = {'motors': {'elbow': {'inertia': 1e-4, 'ratio': 50}}}
    assert load_robot(ROBOT.format(''), overlay).joints[0].motor == Motor(1e-4, 50.0)
    changed = load_robot(ROBOT.format(MOTORS), {'motors': [{'joint': 'elbow', 'ratio': 80}]})
    assert [joint.motor for joint in changed.joints[:2]] == [Motor(1e-4, 80.0), Motor(2e-5, 300.0)]


@pytest.mark.parametrize('motor, words', [
    ('joint="elbw" inertia="1"', 'joint: expected the name of a joint, found "elbw"; did you mean '
                                 '"elbow"?'),
    ('joint="clip" inertia="1"', 'expected a revolute, continuous or prismatic joint, found '
                                 '"clip", which is fixed'),
    ('joint="elbow" inertia="-1"', 'inertia: expected a number not below 0 (kg m2), found "-1"'),
    ('joint="elbow" inertia="nan"', 'inertia: expected a number not below 0 (kg m2), finite'),
    ('joint="elbow"', 'inertia: expected a number not below 0 (kg m2), found no such attribute'),
    ('joint="elbow" inertia="1" ratio="0"', 'ratio: expected a positive number (rad/rad)'),
    ('joint="lift" inertia="1"', 'ratio: expected a positive number (rad of the motor per m), '
                                 'found no such attribute'),
    ('joint="elbow" inertia="1" gear="2"', 'found "gear"'),
])
def test_a_bad_motor_is_told(motor, words):
    with pytest.raises(RobotError) as told:
        load_robot(ROBOT.format(f'<motor {motor}/>'))
    assert words in str(told.value) and '<motor' in str(told.value)


def test_an_elastic_joint_has_its_motor_already():
    spring = '<flexible_joint joint="elbow" stiffness="100" motor_inertia="1e-3"/>'
    with pytest.raises(RobotError, match='<motor joint="elbow">.*without <flexible_joint>, found '
                                         '"elbow", whose <flexible_joint> has the inertia'):
        load_robot(ROBOT.format(spring + '<motor joint="elbow" inertia="1e-4"/>'))
    with pytest.raises(RobotError, match='expected one <motor> of this joint, found another'):
        load_robot(ROBOT.format(2 * '<motor joint="elbow" inertia="1"/>'))


def test_describe_lists_motors(tmp_path, capsys):
    path = tmp_path / 'arm.urdf'
    path.write_text(ROBOT.format(MOTORS))
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert ('\nelbow: motor 0.0001 kg m2 behind a gear of 50 rad/rad: 0.25 kg m2 at the joint\n'
            '\nlift: motor 2e-05 kg m2 behind a gear of 300 rad/m: 1.8 kg at the joint\n') in out
    assert main([str(path), '--json']) == 0
    joints = json.loads(capsys.readouterr().out)['joints']
    assert joints[1]['motor'] == {
        'inertia': 2e-5, 'ratio': 300.0, 'reflected_inertia': pytest.approx(1.8),
        'units': {'inertia': 'kg m2', 'ratio': 'rad/m', 'reflected_inertia': 'kg'}}
    assert joints[2]['motor'] is None
