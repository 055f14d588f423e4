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
"""load_robot on good robots: tree, joints, beams, frames, sensors, sources."""
import dataclasses
import doctest
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from urdf_parser_py.urdf import URDF

from flex_description import (
    Mimic,
    RobotError,
    bundled_robots,
    default_pose,
    load,
    load_robot,
    read_pose,
)

LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 2"/>
<limit lower="-1" upper="2" effort="3" velocity="4"/>
<dynamics damping="0.5" friction="0.6"/></joint>"""
BEAM = """<flexible link="{}"><beam length="1.5"><section shape="circle" radius="0.02"/>
<material name="steel"/></beam>{}</flexible>"""


def joint(name, parent, child, type='revolute', xyz='0 0 0', rpy='0 0 0'):
    return JOINT.format(name=name, parent=parent, child=child, type=type, xyz=xyz, rpy=rpy)


def robot(*parts, links='abcd'):
    return load_robot('<robot name="r">' + ''.join(LINK.format(name) for name in links)
                      + ''.join(parts) + '</robot>')


CHAIN = (joint('ab', 'a', 'b'), joint('bc', 'b', 'c', xyz='1.5 0.1 0'),
         joint('cd', 'c', 'd', 'fixed', xyz='1 0 0'))


def test_tree_order_is_that_of_branches_in_the_file():
    tree = robot(joint('de', 'd', 'e'), joint('ab', 'a', 'b'), joint('ad', 'a', 'd'),
                 joint('bc', 'b', 'c'), links='ecdba')
    assert [j.name for j in tree.joints] == ['ab', 'bc', 'ad', 'de']
    assert [link.name for link in tree.links] == ['a', 'b', 'c', 'd', 'e']
    assert [j.child for j in tree.joints] == [link.name for link in tree.links[1:]]


def test_joint_values():
    record = robot(joint('ab', 'a', 'b', xyz='1 2 3', rpy='0.1 0.2 0.3'), links='ab').joints[0]
    assert record.axis.tolist() == [0, 0, 1]
    assert dataclasses.astuple(record.limits) == (-1, 2, 3, 4, np.inf, np.inf, np.inf)
    assert (record.damping, record.friction, record.section_x) == (0.5, 0.6, None)
    # The nose of an aircraft after yaw 0.3 and pitch 0.2 points here, whatever its roll.
    nose = [np.cos(0.3) * np.cos(0.2), np.sin(0.3) * np.cos(0.2), -np.sin(0.2)]
    assert np.allclose(record.origin[:3, 0], nose)
    assert np.allclose(record.origin[:3, :3] @ record.origin[:3, :3].T, np.eye(3))
    assert record.origin[:3, 3].tolist() == [1, 2, 3]


@pytest.mark.parametrize('kind', ['continuous', 'fixed', 'floating', 'planar'])
def test_positions_of_these_joints_are_not_limited(kind):
    limits = robot(joint('ab', 'a', 'b', kind), links='ab').joints[0].limits
    assert (limits.lower, limits.upper, limits.effort) == (-np.inf, np.inf, 3)


def test_a_revolute_joint_without_limit_is_unlimited_and_warned_of():
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'
    arm = robot(joint('ab', 'a', 'b').replace(limit, ''), links='ab')
    assert arm.joints[0].limits.upper == np.inf
    assert '<joint name="ab"> has no <limit>' in arm.warnings[0]


def follower(name, parent, child, mimic, type='revolute'):
    return joint(name, parent, child, type).replace('<axis', f'<mimic {mimic}/><axis')


def test_mimic_is_read():
    """A joint that follows a follower follows what that one follows: -2 (3 x + 0.1) + 0.5."""
    found = robot(joint('ab', 'a', 'b'), follower('bc', 'b', 'c', 'joint="ab" multiplier="3" '
                                                  'offset="0.1"'),
                  follower('cd', 'c', 'd', 'joint="bc" multiplier="-2" offset="0.5"'))
    assert found.joints[0].mimic is None
    assert found.joints[1].mimic == Mimic('ab', 3.0, 0.1)
    assert found.joints[2].mimic == Mimic('ab', -6.0, pytest.approx(0.3))
    assert found.warnings == ()
    # Followers have no coordinate; they may be named where their leader has them.
    assert default_pose(found) == {'ab': 0.0} == read_pose(found, 'bc=0.1')
    assert read_pose(found, 'ab=0.2 cd=-0.9 bc=0.7') == {'ab': 0.2} == read_pose(found, '0.2')
    with pytest.raises(RobotError, match='pose: expected -0.9 for cd, which follows "ab" '
                                         r'\(<mimic>\), found 1; give ab its position'):
        read_pose(found, 'ab=0.2 cd=1')


def limited(name, lower, upper, mimic='', velocity=9):
    text = follower(name, 'a' if name == 'ab' else 'b', name[1], mimic) if mimic else joint(
        name, 'a', 'b')
    return re.sub('<limit.*?/>', '', text).replace(
        '</joint>', f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="{velocity}"/>'
        '</joint>')


@pytest.mark.parametrize('mimic, lower, upper, expected', [
    ('multiplier="2" offset="0.5"', -0.5, 1.5, (-0.5, 0.5)),
    ('multiplier="-2" offset="0.5"', -0.5, 1.5, (-0.5, 0.5)),
    ('multiplier="0.1"', -1, 1, (-1.0, 2.0)),          # the leader's own are narrower
    ('multiplier="0" offset="0.5"', 0, 1, (-1.0, 2.0)),
    ('multiplier="-1"', 0, 2, (-1.0, 0.0)),
])
def test_limits_of_followers_limit_their_leaders(mimic, lower, upper, expected):
    found = robot(limited('ab', -1, 2), limited('bc', lower, upper, f'joint="ab" {mimic}'),
                  links='abc')
    limits = found.joints[0].limits
    assert (limits.lower, limits.upper) == pytest.approx(expected) and found.warnings == ()
    size = abs(found.joints[1].mimic.multiplier)
    assert limits.velocity == (9 if size <= 1 else 9 / size) and limits.effort == 1


def test_limits_of_followers_that_leave_no_room():
    with pytest.raises(RobotError, match=(
            '<joint name="bc">: <limit>: expected a range that leaves "ab" some of its own, -1 to '
            '2, found 5 to 6 for "bc", which follows "ab" with multiplier 2 and offset 0.5: that '
            'is 2.25 to 2.75 of "ab"')):
        robot(limited('ab', -1, 2), limited('bc', 5, 6, 'joint="ab" multiplier="2" offset="0.5"'),
              links='abc')
    with pytest.raises(RobotError, match='expected the offset of <mimic> within it, found 5 to 6'):
        robot(limited('ab', -1, 2), limited('bc', 5, 6, 'joint="ab" multiplier="0"'), links='abc')
    # A wrong sign in a published file: it loads, and says why the gripper does not move.
    found = robot(limited('ab', 0, 2), limited('bc', 0, 2, 'joint="ab" multiplier="-1"', 0),
                  links='abc')
    assert (found.joints[0].limits.lower, found.joints[0].limits.upper) == (0.0, 0.0)
    assert found.joints[0].limits.velocity == 9
    for words in ('leave "ab", which it follows, one position only, 0; check the sign',
                  'velocity is 0, as exporters write that know no limits: taken as unlimited'):
        assert any(words in warning for warning in found.warnings), found.warnings


def test_a_follower_is_not_elastic():
    with pytest.raises(RobotError, match='expected a joint that follows none, found "bc", which '
                                         r'follows "ab" \(<mimic>\) rigidly; make that one'):
        robot(joint('ab', 'a', 'b'), follower('bc', 'b', 'c', 'joint="ab"'), '<flexible_joint '
              'joint="bc" stiffness="9" motor_inertia="1"/>', links='abc')


def test_mimic_of_a_fixed_joint_says_nothing():
    found = robot(joint('ab', 'a', 'b'), follower('bc', 'b', 'c', 'joint="ab"', 'fixed'),
                  links='abc')
    assert found.warnings == () and found.joints[1].mimic is None
    # A leader that is fixed is doubtful.
    found = robot(joint('ab', 'a', 'b', 'fixed'), follower('bc', 'b', 'c', 'joint="ab"'),
                  links='abc')
    assert 'found "ab", which is fixed; joint "bc" follows none' in found.warnings[0]
    found = robot(joint('ab', 'a', 'b'), follower('bc', 'b', 'c', 'joint="other"'), links='abc')
    assert ('<mimic joint="other">: joint: expected the name of a joint, found "other"; known: '
            'ab, bc; joint "bc" follows none') in found.warnings[0]
    assert found.joints[1].mimic is None


@pytest.mark.parametrize('mimic, message', [
    ('joint="bc"', 'joint: expected another joint, found "bc" itself'),
    ('multiplier="1"', 'joint: expected a value, found no such attribute'),
    ('joint="ab" multiplier="x"', 'multiplier: expected a number, finite, found "x"'),
    ('joint="cd"', 'found a circle: "bc" follows "cd" follows "bc"'),
])
def test_a_bad_mimic_is_told(mimic, message):
    with pytest.raises(RobotError, match=f'<mimic.*: .*{re.escape(message)}'):
        robot(joint('ab', 'a', 'b'), follower('bc', 'b', 'c', mimic),
              follower('cd', 'c', 'd', 'joint="bc"'))


def test_inertia_is_turned_into_the_links_frame():
    text = LINK.format('a').replace('xyz="0.1 0 0"', 'rpy="0 0 1.5707963267948966"')
    inertia = load_robot(f'<robot name="r">{text}</robot>').links[0].inertia
    assert np.allclose(np.diag(inertia.tensor), [0.03, 0.02, 0.04])


def test_an_inertia_that_no_body_has_is_warned_of():
    text = LINK.format('a').replace('izz="0.04"', 'izz="0.06"')
    warning, = load_robot(f'<robot name="r">{text}</robot>').warnings
    assert '<link name="a"> <inertia>: inertia: expected' in warning and '0.06' in warning


def test_frames_and_points_as_people_write_them():
    nothing = re.sub('="0.0[234]"', '="0"', LINK)
    frame = nothing.format('frame').replace('value="2"', 'value="0"')
    point = nothing.format('point')
    arm = robot(frame, point, joint('1', 'a', 'frame', 'fixed'),
                joint('2', 'a', 'point', 'fixed'), links='a')
    assert arm.links[1].inertia is None and arm.warnings == ()
    assert arm.links[2].inertia.mass == 2 and not arm.links[2].inertia.tensor.any()
    # A joint that turns a point about itself feels nothing; beside its axis it does.
    assert robot(point, joint('2', 'a', 'point'), links='a').warnings == ()
    middle = point.replace('xyz="0.1 0 0"', 'xyz="0 0 0.1"')
    with pytest.raises(RobotError, match='expected a positive-definite tensor'):
        robot(middle, joint('2', 'a', 'point'), links='a')
    # What hangs on it has the inertia.
    assert robot(middle, joint('1', 'a', 'point'), joint('2', 'point', 'b'),
                 links='ab').warnings == ()


def test_flexible_link():
    arm = robot(*CHAIN, BEAM.format('b', '<mass x="0.5" mass="1" xyz="0 0 0.1" name="box"/>'
                                    '<damping ratio="0.01" ratio_twist="0.02 0.03"/>'
                                    '<gauge name="g" x="0.1" y="0.02"/>'))
    link = arm.links[1]
    beam = link.flexible
    assert link.inertia is None and beam.length == 1.5
    assert (beam.basis, beam.pinned, beam.section_shape) == ('craig-bampton', False, 'circle')
    assert (beam.bend_y.count, beam.bend_z.count, beam.twist.count) == (2, 2, 1)
    assert (beam.masses[0].name, beam.masses[0].centre.tolist()) == ('box', [0, 0, 0.1])
    assert beam.damping.ratio_bend_y == (0.01,) and beam.damping.ratio_twist == (0.02, 0.03)
    assert (beam.gauges[0].name, beam.gauges[0].y) == ('g', 0.02)
    assert beam.breakpoints[0] == 0.0 and beam.breakpoints[-1] == 1.5
    assert beam.properties(np.array([0.3])).axial_stiffness == pytest.approx(210e9 * np.pi * 4e-4)


def test_rayleigh_damping():
    beam = robot(*CHAIN, BEAM.format('b', '<damping alpha="0.1" beta="1e-4"/>')).links[1].flexible
    assert dataclasses.astuple(beam.damping) == ((), (), (), 0.1, 1e-4)


def test_default_basis_is_static_shapes_for_a_carrier_and_modes_for_a_last_link():
    arm = robot(*CHAIN, BEAM.format('b', ''), BEAM.format('d', ''))
    assert [link.flexible.basis for link in arm.links if link.flexible] == [
        'craig-bampton', 'clamped-free']


def test_pinned_basis_is_marked():
    arm = robot(*CHAIN, BEAM.format('b', '<modes basis="pinned-pinned"/>'))
    assert arm.links[1].flexible.pinned


@pytest.mark.parametrize('xyz, x', [('0.4 0.3 0.1', 0.4), ('-1 0 0', 0.0), ('9 0 0', 1.5)])
def test_children_hang_on_the_nearest_section(xyz, x):
    arm = robot(joint('ab', 'a', 'b'), joint('bc', 'b', 'c', xyz=xyz), BEAM.format('b', ''),
                links='abc')
    assert arm.joints[0].section_x is None and arm.joints[1].section_x == pytest.approx(x)


def test_nearest_section_of_a_beam_that_is_turned():
    beam = BEAM.format('b', '').replace(
        '<section', '<origin xyz="0 0.2 0" rpy="0 0 1.5707963267948966"/><section')
    arm = robot(joint('ab', 'a', 'b'), joint('bc', 'b', 'c', xyz='0.3 0.7 0'), beam, links='abc')
    assert arm.joints[1].section_x == pytest.approx(0.5)
    assert np.allclose(arm.frames[0].pose[:3, 3], [0, 1.7, 0])


def test_beam_to_a_joint():
    beam = BEAM.format('b', '').replace('length="1.5"', 'to="bc"')
    arm = robot(joint('ab', 'a', 'b'), joint('bc', 'b', 'c', xyz='0 0.3 0.4'), beam, links='abc')
    flexible = arm.links[1].flexible
    assert flexible.length == pytest.approx(0.5) and arm.joints[1].section_x == pytest.approx(0.5)
    assert np.allclose(flexible.origin[:3, 0], [0, 0.6, 0.8])
    assert np.allclose(flexible.origin[:3, 1], [-1, 0, 0])  # level
    assert np.linalg.det(flexible.origin[:3, :3]) == pytest.approx(1)
    turned = robot(joint('ab', 'a', 'b'), joint('bc', 'b', 'c', xyz='0 0 0.4'),
                   beam.replace('to=', 'roll="1.5707963267948966" to='), links='abc')
    origin = turned.links[1].flexible.origin
    assert np.allclose(origin[:3, 0], [0, 0, 1]) and np.allclose(origin[:3, 2], [0, -1, 0])


def test_frames_and_sensors():
    arm = robot(*CHAIN, BEAM.format('b', ''), '<imu name="one" frame="b/tip"/>',
                '<imu name="two" frame="d"/><gravity xyz="0 0 -1.6"/>')
    frame, = arm.frames
    assert (frame.name, frame.link, frame.section_x) == ('b/tip', 'b', 1.5)
    assert [(imu.name, imu.frame) for imu in arm.imus] == [('one', 'b/tip'), ('two', 'd')]
    assert arm.gravity.tolist() == [0, 0, -1.6]


def test_elastic_joint():
    arm = robot(*CHAIN, '<flexible_joint joint="ab" stiffness="1e4" motor_inertia="1e-3"/>')
    assert dataclasses.astuple(arm.joints[0].flexible) == (1e4, 1e-3, 0.0, 1.0)


def test_disagreeing_inertial_is_warned_of_with_both_figures():
    arm = robot(*CHAIN, BEAM.format('b', ''))
    mass = np.pi * 4e-4 * 1.5 * 7850
    warning, = arm.warnings
    assert f'mass 2 and {mass:.6g} kg' in warning and 'the beam is used' in warning
    assert 'centre (0.1 0 0) and (0.75 0 0) m' in warning
    assert 'inertia (xx yy zz xy xz yz) (0.02 0.03 0.04 0 0 0) and' in warning


def test_agreeing_inertial_is_not_warned_of():
    mass, radius, length = np.pi * 4e-4 * 1.5 * 7850, 0.02, 1.5
    across = mass * (radius**2 / 4 + length**2 / 12)
    text = (f'<link name="b"><inertial><origin xyz="0.75 0 0"/><mass value="{mass * 1.005}"/>'
            f'<inertia ixx="{mass * radius**2 / 2}" iyy="{across}" izz="{across * 1.005}" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')
    beam = BEAM.format('b', '')
    assert load_robot(f'<robot name="r">{text}{beam}</robot>').warnings == ()
    assert load_robot(f'<robot name="r">{text.replace("0.75", "0.77")}{beam}</robot>').warnings


def test_a_robot_is_frozen():
    arm = robot(*CHAIN, BEAM.format('b', ''))
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.name = 'other'
    for array in (arm.gravity, arm.joints[0].origin, arm.links[0].inertia.tensor,
                  arm.links[1].flexible.origin, arm.frames[0].pose):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1.0


def test_blanks_around_names_do_not_count():
    text = joint(' ab ', 'a ', ' b').replace('type="revolute"', 'type=" revolute "')
    arm = robot(text, links=[' a', 'b '])
    assert [arm.links[0].name, arm.links[1].name, arm.joints[0].name] == ['a', 'b', 'ab']


def test_other_tools_elements_are_left_alone(capfd):
    extra = ('<gazebo reference="a"><mu1>0.2</mu1></gazebo><ros2_control name="x" type="system"/>'
             '<transmission name="t"/><material name="blue"/><sensor/>')
    inside = joint('ab', 'a', 'b').replace(
        '<axis', '<hardware/><safety_controller k_velocity="1"/><axis')
    assert robot(extra, inside, links='ab').warnings == ()
    assert capfd.readouterr() == ('', '')


def test_sources_agree(tmp_path):
    text = '<?xml version="1.0"?>\n<robot name="r">' + LINK.format('a') + '</robot>'
    path = tmp_path / 'r.urdf'
    path.write_text('\ufeff' + text, encoding='utf-8')
    robots = [load_robot(source) for source in (text, f'\n {text}', path, str(path))]
    assert {arm.urdf.strip() for arm in robots} == {text}
    assert [arm.source for arm in robots] == ['<string>', '<string>', str(path), str(path)]


def test_bundled_robots_load_by_name_with_paths_that_exist():
    robots = bundled_robots()
    assert 'cibicik_arm' in robots
    assert load_robot('cibicik_arm').source == str(robots['cibicik_arm'])


@pytest.mark.parametrize('name', sorted(bundled_robots()))
def test_tree_as_urdf_parser_py_reads_it(name):
    """Another reader of URDF as a witness of ours."""
    arm = load_robot(name)
    root = ElementTree.fromstring(arm.urdf)
    for child in list(root):
        if child.tag not in ('link', 'joint', 'material'):
            root.remove(child)
    witness = URDF.from_xml_string(ElementTree.tostring(root))
    assert {link.name for link in arm.links} == {link.name for link in witness.links}
    for link in witness.links:
        ours = next(own for own in arm.links if own.name == link.name).inertia
        if link.inertial is not None and ours is not None:
            assert ours.mass == link.inertial.mass
            assert ours.centre == pytest.approx(link.inertial.origin.xyz)
    for joint in witness.joints:
        ours = next(own for own in arm.joints if own.name == joint.name)
        assert (ours.type, ours.parent, ours.child) == (joint.type, joint.parent, joint.child)
        assert ours.origin[:3, 3] == pytest.approx(joint.origin.xyz if joint.origin else [0, 0, 0])
        if joint.axis is not None and joint.type != 'fixed':
            assert ours.axis == pytest.approx(joint.axis)
        if joint.limit is not None:
            assert (ours.limits.effort, ours.limits.velocity) == (joint.limit.effort,
                                                                  joint.limit.velocity)
        if joint.dynamics is not None:
            assert ours.damping == (joint.dynamics.damping or 0.0)
            assert ours.friction == (joint.dynamics.friction or 0.0)


def test_the_example_of_load_robot_runs():
    results = doctest.testmod(load)
    assert results.attempted >= 5 and results.failed == 0
