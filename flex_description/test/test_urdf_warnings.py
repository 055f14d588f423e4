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
"""What URDF has and we do not read, or what is nearly URDF, is warned of; what is others', not."""
import logging
import subprocess
import sys

import pytest
from bad_robots import GOOD, GRAVITY

from flex_description import load_robot
from flex_description.commands.describe import main
from flex_description.suggestion import misspelt

CASES = {
    'quat_xyzw': ('<origin xyz="0 0 0.3" rpy="0 0 0"/>', '<origin quat_xyzw="0 0 1 0"/>',
        '<joint name="joint1"> <origin>: quat_xyzw is read, but other programs ignore it unless '
        '<robot> has version="1.1"'),
    'quat_of_inertial': ('<origin xyz="0.1 0 0"/>', '<origin quat_xyzw="0 0 1 0"/>',
        '<link name="tool"> <origin>: quat_xyzw is read, but'),
    'expressed_in': ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1" expressed_in="base"/>',
        '<axis>: expressed_in is not read: the axis is taken in the frame of the joint'),
    'xyx': ('<origin xyz="0 0 0.3"', '<origin xyx="0 0 0.3"',
        '<origin>: attribute "xyx" is not read; did you mean "xyz"?'),
    'dampign': ('damping="0.1"', 'dampign="0.1"',
        '<dynamics>: attribute "dampign" is not read; did you mean "damping"?'),
    'armature': ('damping="0.1"', 'armature="0.1"',
        '<dynamics>: attribute "armature" is not read; known: damping, friction'),
    'uper': ('upper="2"', 'uper="3" upper="2"', '"uper" is not read; did you mean "upper"?'),
    'inertal': ('<inertial>', '<inertal>',
        '<link name="tool"> <inertal>: element <inertal> is not read; did you mean <inertial>?'),
    'axes': ('<axis xyz="0 0 1"/>', '<axes xyz="0 0 1"/>',
        '<joint name="joint1"> <axes>: element <axes> is not read; did you mean <axis>?'),
    'Dynamics': ('<dynamics', '<Dynamics', '<Dynamics> is not read; did you mean <dynamics>?'),
    'mass_in_link': ('<link name="eye"/>', '<link name="eye"><mass value="3"/></link>',
        '<link name="eye"> <mass>: is not read in <link name="eye">: it belongs in <inertial>'),
    'version': ('<robot name="arm">', '<robot name="arm" version="99">',
        '<robot>: version: expected one of 1.0, 1.1, 1.2, found "99"'),
    'links': ('<link name="eye"/>', '<link name="eye"/><links name="a"/>',
        '<links name="a">: element <links> is not read; did you mean <link>?'),
    'geometri': ('<geometry>', '<geometri>', 'did you mean <geometry>?'),
}
CLOSING = {'inertal': ('</inertial>', '</inertal>'), 'geometri': ('</geometry>', '</geometri>')}


@pytest.mark.parametrize('case', CASES)
def test_warning_names_the_place_and_the_known_name(case, tmp_path, caplog, capsys):
    old, new, words = CASES[case]
    text = GOOD.replace(old, new, 1).replace(*CLOSING.get(case, ('', '')))
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    with caplog.at_level(logging.WARNING, 'flex_description'):
        robot = load_robot(path)
    found = [warning for warning in robot.warnings if words in warning]
    line = text[:text.index(new)].count('\n') + 1
    assert len(found) == 1 and found[0].startswith(f'{path}:{line}: '), robot.warnings
    # in the log of a Python program, and in the answer of the command
    assert [record.getMessage() for record in caplog.records] == list(robot.warnings)
    assert main([str(path)]) == 0
    assert f'warning: {found[0]}\n' in capsys.readouterr().out


def test_the_log_is_seen_without_any_set_up(tmp_path):
    """Python prints warnings of loggers that nobody has set up."""
    path = tmp_path / 'arm.urdf'
    path.write_text(GOOD.replace('damping="0.1"', 'dampign="0.1"'))
    done = subprocess.run([sys.executable, '-c', 'import flex_description, sys; '
                           'flex_description.load_robot(sys.argv[1])', str(path)],
                          capture_output=True, text=True, check=True)
    assert 'did you mean "damping"?' in done.stderr and done.stdout == ''


@pytest.mark.parametrize('extra', [
    '<gazebo reference="link1"><mu1>0.2</mu1></gazebo>', '<ros2_control name="x" type="system"/>',
    '<transmission name="t"><type>x</type><joint name="j"/></transmission>', '<plugin name="p"/>',
    '<sensor name="s" type="camera"><parent link="tool"/></sensor>', '<loop_joint name="l"/>',
    '<material name="m"><colour rgba="1 1 1 1"/></material>', '<drake:joint name="d"/>',
    '<mujoco><compiler/></mujoco>', '<group name="g"/>', '<camera/>', '<model/>', '<frame/>',
    '<disable_collisions link1="a" link2="b"/>', '<xacro:unused/>', '<static>1</static>'])
def test_elements_of_others_are_left_alone(extra):
    text = GOOD.replace(GRAVITY, GRAVITY + extra).replace(
        '<robot ', '<robot xmlns:drake="d" ')
    assert load_robot(text).warnings == ()


def test_attributes_of_namespaces_and_of_drawing_are_left_alone():
    text = GOOD.replace('<link name="tool">', '<link name="tool" type="hand" ns:mass="3">')
    text = text.replace('<visual>', '<visual cast_shadows="0">')
    text = text.replace('<robot ', '<robot xmlns:ns="n" ')
    assert load_robot(text).warnings == ()


def test_an_attribute_that_nobody_knows_is_told_once():
    """Some files have four of them in each of seven joints."""
    text = GOOD.replace('damping="0.1"', 'K="7" D="1" damping="0.1"').replace(
        '<origin xyz="1.5 0 0"/>', '<origin xyz="1.5 0 0"/><dynamics K="8"/>').replace(
        '<child link="eye"/></joint>', '<child link="eye"/><dynamics K="9"/></joint>')
    first, second = load_robot(text).warnings
    assert first.endswith('<joint name="joint1"> <dynamics>: attribute "K" is not read; known: '
                          'damping, friction (and in 2 more)')
    assert second.endswith('<joint name="joint1"> <dynamics>: attribute "D" is not read; known: '
                           'damping, friction')


def test_ten_thousand_warnings_are_cut():
    text = GOOD.replace('<link name="eye"/>', '<link name="eye"><mass/></link>').replace(
        GRAVITY, GRAVITY + '<links/>' * 10_000)
    warnings = load_robot(text).warnings
    assert len(warnings) < 110 and any('left out' in warning for warning in warnings)
    many = ' '.join(f'a{k}="1"' for k in range(100_000))
    warnings = load_robot(GOOD.replace('<axis ', f'<axis {many} ')).warnings
    assert len(warnings) < 110 and any('left out' in warning for warning in warnings)


@pytest.mark.parametrize(('word', 'known', 'name'), [
    ('inertal', ['inertial', 'visual'], 'inertial'), ('axes', ['axis', 'mass'], 'axis'),
    ('dampign', ['damping', 'friction'], 'damping'), ('xyx', ['xyz', 'rpy'], 'xyz'),
    ('sensor', ['link', 'joint'], None), ('loop_joint', ['link', 'joint'], None),
    ('frame', ['name'], None), ('a' * 10**5, ['axis'], None), ('', ['axis'], None)])
def test_misspelt(word, known, name):
    assert misspelt(word, known) == name


LIMITED = """<robot name="arm"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01"
 izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{type}"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
{limit}</joint></robot>"""
INF = float('inf')


@pytest.mark.parametrize(('type', 'limit', 'taken', 'words'), [
    ('revolute', 'lower="-1" upper="1" effort="0" velocity="0"', (-1, 1, INF, INF),
     'effort and velocity are 0, as exporters write that know no limits: taken as unlimited'),
    ('continuous', 'effort="0" velocity="0"', (-INF, INF, INF, INF), 'taken as unlimited'),
    ('prismatic', 'lower="0" upper="1" effort="5" velocity="0"', (0, 1, 5, INF),
     'velocity is 0, as exporters write that know no limits'),
    ('revolute', 'lower="-1" upper="1" effort="0" velocity="2"', (-1, 1, 0, 2),
     'effort is 0: no drive moves or holds the joint'),
    ('revolute', 'effort="5" velocity="2"', (0, 0, 5, 2),
     'lower and upper are equal (0 where they are left out): the joint cannot move'),
    ('continuous', 'effort="5" velocity="2"', (-INF, INF, 5, 2), None),
    ('fixed', 'effort="0" velocity="0"', (-INF, INF, INF, INF), None)])
def test_limits_that_no_joint_has(type, limit, taken, words):
    """The zeros of SolidWorks' exporter would let a robot fall, or keep it from moving at all."""
    robot = load_robot(LIMITED.format(type=type, limit=f'<limit {limit}/>'))
    limits, = (joint.limits for joint in robot.joints)
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == taken
    assert len(robot.warnings) == (words is not None)
    if words:
        assert ':5: <joint name="j"> <limit>: ' in robot.warnings[0]
        assert words in robot.warnings[0]


@pytest.mark.parametrize('velocity', [0, 2])
def test_a_joint_without_motor_has_no_effort_rightly(velocity):
    text = LIMITED.format(type='revolute',
                          limit=f'<limit lower="-1" upper="1" effort="0" velocity="{velocity}"/>')
    passive = text.replace('</robot>', '<passive_joint name="j"/></robot>')
    assert load_robot(passive).warnings == ()
    assert load_robot(text, {'passive_joints': ['j']}).warnings == ()
    assert len(load_robot(text).warnings) == 1


def test_friction_that_the_drive_cannot_overcome():
    text = LIMITED.format(type='revolute', limit='<limit lower="-1" upper="1" effort="2" '
                          'velocity="1"/><dynamics friction="{}"/>')
    warning, = load_robot(text.format(2.0)).warnings
    assert ('<joint name="j"> <limit>: effort is not above the friction of the joint: its drive '
            'cannot move it') in warning
    assert load_robot(text.format(1.9)).warnings == ()


def test_limits_of_many_joints_are_one_warning():
    parts = LIMITED.format(type='revolute',
                           limit='<limit lower="-1" upper="1" effort="0" velocity="0"/>')
    more = parts.partition('<link name="a">')[2].partition('</robot>')[0]
    for at in range(3):
        new = (f'<link name="a{at}">' + more).replace('"j"', f'"j{at}"').replace(
            'child link="a"', f'child link="a{at}"')
        parts = parts.replace('</robot>', new + '</robot>')
    warning, = load_robot(parts).warnings
    assert '<joint name="j">' in warning and warning.endswith('(and in 3 more)')
