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
"""Loops, wheels and supports: what is read from XML and overlay, and one line for a bad one."""
import numpy as np
import pytest
from bad_robots import GOOD, GRAVITY, Case, check

from flex_description import RobotError, load_robot, published_description
from flex_description.commands.describe import main
from flex_description.lumping import lump

ENDS = '<first frame="tool" xyz="0.2 0 0"/><second frame="base" xyz="1.7 0 0.3"/>'
LOOP = f'<loop name="pin" type="revolute" axis="0 0 1">{ENDS}</loop>'


def loop(attributes: str, ends: str = ENDS) -> str:
    return f'<loop {attributes}>{ends}</loop>'


def spoilt(new: str, words: str, place: str = '') -> Case:
    """The good robot with one more element, on the line of its gravity."""
    return GRAVITY, new, place or new[:20], words


CASES: dict[str, Case] = {
    # loops
    'no_name': spoilt(loop('type="ball"'), '<loop> name expected a value found no such attribute'),
    'empty_name': spoilt(loop('name=" " type="ball"'), '<loop name expected not empty'),
    'no_type': spoilt(loop('name="pin"'), '<loop name="pin"> type expected a value'),
    'unknown_type': spoilt(loop('name="pin" type="revolut"'),
        '<loop name="pin"> type expected one of found "revolut"; did you mean "revolute"'),
    'joint_type': spoilt(loop('name="pin" type="continuous"'), 'type expected found "continuous"'),
    'no_first': spoilt(loop('name="pin" type="ball"', '<second frame="base"/>'),
        '<loop name="pin"> expected a <first> found none'),
    'no_second': spoilt(loop('name="pin" type="ball"', '<first frame="tool"/>'),
        '<loop name="pin"> expected a <second> found none'),
    'three_ends': spoilt(loop('name="pin" type="ball"', ENDS + '<first frame="base"/>'),
        '<first> expected at most one found 2'),
    'no_frame': spoilt(loop('name="pin" type="ball"', '<first/><second frame="base"/>'),
        '<first> frame expected a value found no such attribute'),
    'unknown_frame': spoilt(loop('name="pin" type="ball"', ENDS.replace('tool', 'tol')),
        '<first> frame expected the name of a link or frame found "tol" did you mean "tool"'),
    'unknown_end': spoilt(loop('name="pin" type="ball"', ENDS + '<third frame="base"/>'),
        '<third> expected only known elements found <third>'),
    'unknown_attribute': spoilt(loop('name="pin" type="ball" stifness="3"'),
        '<loop name="pin"> expected only known attributes found "stifness"'),
    'unknown_end_attribute': spoilt(loop('name="pin" type="ball"', ENDS.replace('xyz', 'xzy')),
        '<first> expected only known attributes found "xzy"; did you mean "xyz"'),
    'two_numbers': spoilt(loop('name="pin" type="ball"', ENDS.replace('0.2 0 0', '0.2 0')),
        'xyz expected 3 numbers found 2'),
    'not_a_number': spoilt(loop('name="pin" type="ball"', ENDS.replace('0.2', 'nan')),
        'xyz expected finite'),
    'rpy_and_quaternion': spoilt(loop('name="pin" type="ball"',
        ENDS.replace('xyz="0.2 0 0"', 'rpy="0 0 1" quat_xyzw="0 0 0 1"')),
        'expected rpy or quat_xyzw found both'),
    'x_of_rigid': spoilt(loop('name="pin" type="ball"', ENDS.replace('"tool"', '"tool" x="1"')),
        '<first> x expected none not a flexible link found "1" "tool"'),
    'x_beyond_beam': spoilt(loop('name="pin" type="ball"', ENDS.replace('"tool"',
        '"link1" x="1.6"')), '<first> x expected from 0 to 1.5 (m along the beam) found "1.6"'),
    'x_of_tip': spoilt(loop('name="pin" type="ball"', ENDS.replace('"tool"', '"link1/tip" x="1"')),
        '<first> x expected none'),
    'same_link': spoilt(loop('name="pin" type="ball"',
        '<first frame="tool"/><second frame="tool" xyz="1 0 0"/>'),
        '<loop name="pin"> expected two frames that move against each other found "tool"'),
    'fixed_to_each_other': spoilt(loop('name="pin" type="ball"',
        '<first frame="tool"/><second frame="eye"/>'),
        'expected that move against each other found "tool" "eye"'),
    'no_axis': spoilt(loop('name="pin" type="revolute"'),
        '<loop name="pin"> axis expected a direction found no such attribute'),
    'zero_axis': spoilt(loop('name="pin" type="revolute" axis="0 0 0"'),
        'axis expected a direction, not all zero found "0 0 0"'),
    'axis_of_ball': spoilt(loop('name="pin" type="ball" axis="0 0 1"'),
        'axis expected none for type ball found "0 0 1"'),
    'one_axis_of_universal': spoilt(loop('name="pin" type="universal" axis="0 0 1"'),
        'axis2 expected a direction found no such attribute'),
    'two_axes_of_revolute': spoilt(loop('name="pin" type="revolute" axis="0 0 1" axis2="1 0 0"'),
        'axis2 expected none for type revolute universal found "1 0 0"'),
    'no_length': spoilt(loop('name="rod" type="distance"'),
        '<loop name="rod"> length expected a positive number (m) found no such attribute'),
    'zero_length': spoilt(loop('name="rod" type="distance" length="0"'),
        'length expected a positive number found "0"'),
    'point_length': spoilt(loop('name="rod" type="distance" length="1e-30"'),
        'length expected at least 1e-06 m; type ball joins points found "1e-30"'),
    'far_offset': spoilt(loop('name="pin" type="ball"', ENDS.replace('0.2', '1e200')),
        '<loop name="pin"> <first> xyz expected 3 numbers, at most 1e+30 found "1e200 0 0"'),
    'world_twice': spoilt(loop('name="pin" type="ball"', ENDS.replace('tool', 'base')),
        'expected two frames that move against each other found "base" "base"'),
    'nan_length': spoilt(loop('name="rod" type="distance" length="nan"'),
        'length expected a positive number (m), finite found "nan"'),
    'nan_axis': spoilt(loop('name="pin" type="revolute" axis="0 nan 0"'),
        'axis expected 3 numbers, finite found "0 nan 0"'),
    'length_of_weld': spoilt(loop('name="rod" type="weld" length="1"'),
        'length expected none for type weld found "1"'),
    'twice': spoilt(LOOP + LOOP, '<loop name="pin"> expected one found another on line'),
    'same_points': spoilt(LOOP + loop('name="pin2" type="ball"'),
        '<loop name="pin2"> expected one loop between two points found "pin"'),
    'two_lengths': spoilt(loop('name="a" type="distance" length="1"')
        + loop('name="b" type="distance" length="2"'),
        '<loop name="b"> expected length 1 m found 2 m contradict'),
    'ball_and_distance': spoilt(loop('name="a" type="ball"')
        + loop('name="b" type="distance" length="2"'), '<loop name="b"> expected contradict "a"'),
    'name_of_another': spoilt(LOOP + '<support name="pin" frame="tool"/>',
        '<support name="pin"> name expected a name of its own found "pin" <loop> line'),
    'misspelt': spoilt('<lopo name="pin"/>', 'expected a known element found <lopo>; "loop"'),
    # wheels
    'wheel_in_the_air': spoilt('<wheel name="w" frame="tol" radius="0.1"/>',
        '<wheel name="w"> frame expected found "tol" did you mean "tool"'),
    'wheel_of_the_world': spoilt('<wheel name="w" frame="base" radius="0.1"/>',
        '<wheel name="w"> frame expected a link that moves found "base" root'),
    'wheel_type': spoilt('<wheel name="w" frame="tool" type="roling" radius="0.1"/>',
        'type expected found "roling"; did you mean "rolling"'),
    'no_radius': spoilt('<wheel name="w" frame="tool"/>',
        '<wheel name="w"> radius expected a positive number (m) found no such attribute'),
    'negative_radius': spoilt('<wheel name="w" frame="tool" radius="-1"/>',
        'radius expected a positive number found "-1"'),
    'radius_of_knife': spoilt('<wheel name="w" frame="tool" type="knife_edge" radius="1"/>',
        'radius expected none for type knife_edge found "1"'),
    'axis_of_point': spoilt('<wheel name="w" frame="tool" type="castor" axis="1 0 0"/>',
        'axis expected none for a castor without radius found "1 0 0"'),
    'zero_normal': spoilt('<wheel name="w" frame="tool" radius="1" normal="0 0 0"/>',
        'normal expected a direction found "0 0 0"'),
    'infinite_ground': spoilt('<wheel name="w" frame="tool" radius="1" ground="inf"/>',
        'ground expected a number (m), finite found "inf"'),
    'wheel_attribute': spoilt('<wheel name="w" frame="tool" radios="1"/>',
        '<wheel name="w"> expected only known attributes found "radios"; did you mean "radius"'),
    'negative_castor': spoilt('<wheel name="w" frame="tool" type="castor" radius="-0.1"/>',
        'radius expected a number not below 0 (m) found "-0.1"'),
    # joints without motor
    'passive_twice': spoilt('<passive_joint name="joint2"/><passive_joint name="joint2"/>',
        '<passive_joint name="joint2"> expected one found another on line'),
    'passive_unnamed': spoilt('<passive_joint/>', '<passive_joint> name expected a value'),
    'passive_unknown': spoilt('<passive_joint name="joint9"/>',
        '<passive_joint name="joint9"> name expected the name of a joint found "joint9"'),
    'passive_fixed': spoilt('<passive_joint name="joint3"/>',
        'name expected a joint that is revolute found "joint3", which is fixed'),
    'passive_motor': spoilt('<passive_joint name="joint1"/>',
        'name expected without <motor> found "joint1", which has a motor'),
    # supports
    'support_of_the_world': spoilt('<support name="foot" frame="base"/>',
        '<support name="foot"> frame expected a link that moves found "base"'),
    'support_twice': spoilt('<support name="foot" frame="tool"/><support name="foot" '
        'frame="link1"/>', '<support name="foot"> expected one <support> found another on line'),
    'support_nan': spoilt('<support name="foot" frame="tool" at="0 0 nan"/>',
        'at expected 3 numbers, finite found "0 0 nan"'),
    'support_type': spoilt('<support name="foot" frame="tool" type="round"/>',
        'type expected one of flat, point found "round"'),
    'support_active': spoilt('<support name="foot" frame="tool" active="yes"/>',
        'active expected one of false, true found "yes"'),
    'support_at': spoilt('<support name="foot" frame="tool" at="0 0"/>',
        'at expected 3 numbers found 2'),
    'flat_at': spoilt('<support name="foot" frame="tool" type="flat" at="0 0 0"/>',
        'at expected none for type flat found "0 0 0"'),
}


@pytest.mark.parametrize('case', CASES.values(), ids=CASES)
def test_bad_constraints(case, tmp_path, capsys):
    check(case, tmp_path, capsys)


def test_loop_from_xml():
    robot = load_robot(GOOD.replace(GRAVITY, LOOP + loop(
        'name="rod" type="distance" length="0.5"',
        '<first frame="link1" x="0.75" xyz="0 0 0.1"/><second frame="base" rpy="0 0 1"/>')))
    pin, rod = robot.loops
    assert (pin.name, pin.type, pin.first.frame, pin.second.frame) == (
        'pin', 'revolute', 'tool', 'base')
    assert np.array_equal(pin.axis, [0, 0, 1]) and pin.length is None and pin.first.x is None
    assert np.array_equal(pin.second.pose[:3, 3], [1.7, 0, 0.3])
    assert rod.first.x == 0.75 and rod.length == 0.5 and rod.axis is None
    assert np.array_equal(rod.first.pose[:3, 3], [0, 0, 0.1])
    assert rod.second.pose[1, 0] == pytest.approx(np.sin(1.0))
    assert not pin.first.pose.flags.writeable
    assert robot.constraints == robot.loops


def test_section_nearest_to_the_point_carries_it():
    ends = '<first frame="link1" xyz="{}"/><second frame="base"/>'
    robot = load_robot(GOOD.replace(GRAVITY, loop('name="a" type="ball"', ends.format('0.5 0 0.1'))
                                    + loop('name="b" type="ball"', ends.format('2 0 0'))))
    a, b = (loop.first for loop in robot.loops)
    assert a.x == 0.5 and np.allclose(a.pose[:3, 3], [0, 0, 0.1])
    assert b.x == 1.5 and np.allclose(b.pose[:3, 3], [0.5, 0, 0])


def test_wheels_and_supports_from_xml():
    robot = load_robot(GOOD.replace(GRAVITY, """
        <wheel name="left" frame="tool" axis="0 2 0" radius="0.1" ground="0.2"/>
        <wheel name="skate" type="knife_edge" frame="tool"/>
        <wheel name="ball" type="castor" frame="tool" normal="0 1 0"/>
        <support name="heel" frame="link1/tip" at="1 2 3"/>
        <support name="foot" frame="tool" type="flat" active="false"/>"""))
    left, skate, ball = robot.wheels
    assert np.array_equal(left.axis, [0, 1, 0]) and (left.radius, left.height) == (0.1, 0.2)
    assert np.array_equal(left.normal, [0, 0, 1]) and left.type == 'rolling'
    assert np.array_equal(skate.axis, [1, 0, 0]) and skate.radius == ball.radius == 0.0
    assert np.array_equal(ball.normal, [0, 1, 0])
    heel, foot = robot.supports
    assert heel.active and np.array_equal(heel.at[:3, 3], [1, 2, 3]) and heel.type == 'point'
    assert not foot.active and foot.at is None
    assert [one.name for one in robot.constraints] == ['left', 'skate', 'ball', 'heel', 'foot']


def test_overlay_says_the_same():
    overlay = {'loops': {'pin': {'type': 'revolute', 'axis': [0, 0, 1],
                                 'first': {'frame': 'tool', 'xyz': [0.2, 0, 0]},
                                 'second': {'frame': 'base', 'xyz': [1.7, 0, 0.3]}}},
               'wheels': [{'name': 'left', 'frame': 'tool', 'radius': 0.1}],
               'supports': {'foot': {'frame': 'tool', 'active': False}}}
    robot = load_robot(GOOD, overlay)
    same = load_robot(GOOD.replace(GRAVITY, LOOP + """<wheel name="left" frame="tool"
        radius="0.1"/><support name="foot" frame="tool" active="false"/>"""))
    assert repr(robot.constraints) == repr(same.constraints)


def test_overlay_changes_a_loop():
    robot = load_robot(GOOD.replace(GRAVITY, LOOP),
                       {'loops': {'pin': {'axis': [0, 1, 0], 'second': {'frame': 'link1'}}}})
    assert np.array_equal(robot.loops[0].axis, [0, 1, 0])
    assert (robot.loops[0].first.frame, robot.loops[0].second.frame) == ('tool', 'link1')


def test_bad_overlay_names_its_line(tmp_path):
    path = tmp_path / 'loops.yaml'
    path.write_text('loops:\n  pin:\n    type: ball\n    first: {frame: tool}\n'
                    '    second: {frame: bas}\n')
    with pytest.raises(RobotError, match=r'loops.yaml:5: .*"bas"; did you mean "base"'):
        load_robot(GOOD, path)
    path.write_text('loop:\n  pin: {type: ball}\n')
    with pytest.raises(RobotError, match=r'loops.yaml:1: .*did you mean "loops"'):
        load_robot(GOOD, path)


def test_describe_lists_constraints(tmp_path, capsys):
    path = tmp_path / 'arm.urdf'
    path.write_text(GOOD.replace(GRAVITY, LOOP + '<wheel name="left" frame="tool" radius="0.1"/>'
                                 '<support name="foot" frame="tool" active="false"/>'))
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert 'loop pin: revolute, tool to base' in out
    assert 'wheel left: rolling, tool, radius 0.1 m' in out
    assert 'support foot: point, tool, not active at the start' in out


def test_lump_refuses_constraints():
    with pytest.raises(RobotError, match='expected a tree of links, found constraint "pin"'):
        lump(load_robot(GOOD.replace(GRAVITY, LOOP)))


def test_passive_joints():
    xml = load_robot(GOOD.replace(GRAVITY, '<passive_joint name="joint2"/>'))
    assert [joint.passive for joint in xml.joints] == [False, True, False]
    for names in (['joint2'], {'joint2': {}}, [{'name': 'joint2'}]):
        assert load_robot(GOOD, {'passive_joints': names}).joints[1].passive


def test_published_description_has_the_constraints():
    overlay = {'loops': {'pin': {'type': 'revolute', 'axis': [0, 0, 1],
                                 'first': {'frame': 'tool', 'xyz': [0.2, 0, 0]},
                                 'second': {'frame': 'link1', 'x': 0.3}}},
               'wheels': {'left': {'frame': 'tool', 'radius': 0.1}},
               'supports': {'foot': {'frame': 'tool', 'active': False}},
               'passive_joints': ['joint2']}
    robot = load_robot(GOOD, overlay)
    again = load_robot(published_description(robot))
    assert repr(again.constraints) == repr(robot.constraints) and len(again.constraints) == 3
    assert again.joints[1].passive
