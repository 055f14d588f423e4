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
"""Poses: the default one, numbers, pairs and names, and group states of an SRDF."""
import logging

import pytest

from flex_description import RobotError, default_pose, load_robot, read_group_states, read_pose

JOINT = ('<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{0}_link"/>'
         '<axis xyz="0 0 1"/>{3}</joint><link name="{0}_link"/>')
LIMIT = '<limit lower="{}" upper="{}" effort="9" velocity="9"/>'


def arm(base=''):
    """Zero is within the limits of the shoulder, below those of the elbow, above the slide's."""
    return load_robot('<robot name="arm"><link name="base"/>' + base + ''.join([
        JOINT.format('shoulder', 'revolute', 'base', LIMIT.format(-1.0, 2.0)),
        JOINT.format('elbow', 'revolute', 'shoulder_link', LIMIT.format(0.5, 2.5)),
        JOINT.format('slide', 'prismatic', 'elbow_link', LIMIT.format(-0.3, -0.1)),
        JOINT.format('tool', 'fixed', 'slide_link', ''),
        JOINT.format('spin', 'continuous', 'slide_link', '')]) + '</robot>')


def test_the_default_is_zero_or_the_middle_of_the_range():
    assert default_pose(arm()) == {'shoulder': 0.0, 'elbow': 1.5, 'slide': pytest.approx(-0.2),
                                   'spin': 0.0}


def test_a_floating_base_has_six_coordinates_of_its_own():
    robot = load_robot('<robot name="free"><link name="world"/>'
                       + JOINT.format('base', 'floating', 'world', '') + '</robot>')
    assert list(default_pose(robot)) == [f'base/{axis}' for axis in ('x', 'y', 'z', 'rx', 'ry',
                                                                      'rz')]
    assert read_pose(robot, 'base/z=2')['base/z'] == 2.0


@pytest.mark.parametrize('text', ['1 2 -0.1 7', '1, 2, -0.1, 7', '[1.0, 2.0, -0.1, 7.0]',
                                  ' shoulder=1 elbow=2 slide=-0.1 spin=7',
                                  'spin=7,slide=-0.1,elbow=2,shoulder=1', 'stretched'])
def test_numbers_pairs_and_names(text):
    named = {'stretched': {'spin': 7.0, 'shoulder': 1.0, 'slide': -0.1, 'elbow': 2.0}}
    pose = read_pose(arm(), text, named)
    assert list(pose.items()) == [('shoulder', 1.0), ('elbow', 2.0), ('slide', -0.1),
                                  ('spin', 7.0)]


def test_joints_that_are_left_out_take_their_default():
    assert read_pose(arm(), 'spin=1')['elbow'] == 1.5
    assert read_pose(arm(), 'up', {'up': {'shoulder': 1.0}})['slide'] == pytest.approx(-0.2)
    assert read_pose(arm(), '  ') == default_pose(arm())


@pytest.mark.parametrize('text, message', [
    ('1 2', r'start: expected 4 numbers, one a joint of "arm" \(shoulder, elbow, slide, spin\), '
            'found 2'),
    ('0 0 -0.2 0', r'start: expected 0.5 to 2.5 for elbow \(its limits\), found 0'),
    ('elbow=3', 'start: expected 0.5 to 2.5 for elbow'),
    ('spin=nan', 'start: expected -inf to inf for spin .* found nan'),
    ('elbw=1', 'expected the name of a joint that moves, found "elbw"; did you mean "elbow"?'),
    ('tool=1', 'expected the name of a joint that moves, found "tool", which is fixed'),
    ('elbow=1 elbow=2', 'expected each joint once, found "elbow" twice'),
    ('elbow = 1', 'expected joint=value pairs, without spaces around ='),
    ('elbow=x', 'expected joint=value pairs'),
    ('hom', 'the name of a pose, found "hom"; names of poses: did you mean "home"?'),
])
def test_what_cannot_be_read_is_told(text, message):
    with pytest.raises(RobotError, match=message):
        read_pose(arm(), text, {'home': {}}, 'start')


def test_without_names_the_message_says_where_names_come_from():
    with pytest.raises(RobotError, match=r'names of poses: none \(a file in srdf has some\)'):
        read_pose(arm(), 'home')


SRDF = """<robot name="arm">
  <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
  <group name="arm"/><group name="hand"/>
  <group_state name="home" group="arm">
    <joint name="world_joint" value="0 0 0 0 0 0 1"/>
    <joint name="shoulder" value="0.5"/><joint name="elbow" value="1"/></group_state>
  <group_state name="home" group="hand"><joint name="slide" value="-0.15"/></group_state>
  <group_state name="away" group="arm"><joint name="shoulder" value="1"/></group_state>
  <group_state name="away" group="hand"><joint name="shoulder" value="2"/></group_state>
  <group_state name="upright"><joint name="spin" value="3"/></group_state>
  {}
</robot>"""


def test_group_states_are_found_by_name_and_by_group(tmp_path, caplog):
    path = tmp_path / 'arm.srdf'
    path.write_text(SRDF.format(''))
    states = read_group_states(arm(), path)
    assert states['home'] == {'shoulder': 0.5, 'elbow': 1.0, 'slide': -0.15}
    assert states['hand/home'] == {'slide': -0.15}
    # Two groups place the shoulder differently: one has to say which is meant.
    assert states['arm/away'] == {'shoulder': 1.0} and 'away' not in states
    assert states['upright'] == {'spin': 3.0} and '/upright' not in states
    assert caplog.records == []
    assert read_pose(arm(), 'home', states)['spin'] == 0.0


def test_a_joint_that_the_robot_does_not_have_is_reported_once(caplog):
    state = '<group_state name="{}" group="arm"><joint name="wheel" value="1"/></group_state>'
    with caplog.at_level(logging.WARNING):
        states = read_group_states(arm(), SRDF.format(state.format('a') + state.format('b')))
    assert states['a'] == {}
    assert [record.message.partition(': ')[2] for record in caplog.records] == [
        'the robot has no joint "wheel"; group states are read without it']


@pytest.mark.parametrize('text, message', [
    ('<robot name="a"><link name="b"/></robot>', 'expected an SRDF, found an element of a URDF'),
    ('<sdf/>', 'expected <robot>, as an SRDF has it, found <sdf>'),
    (SRDF.format('<group_state name="home" group="arm"/>'), 'expected one state of this name'),
    (SRDF.format('<group_state name="x" group="arm"><joint name="elbow" value="a"/>'
                 '</group_state>'), 'value: expected 1 numbers'),
    ('/no/such.srdf', 'no such file'),
])
def test_a_bad_srdf_is_told(text, message):
    with pytest.raises(RobotError, match=message):
        read_group_states(arm(), text)
