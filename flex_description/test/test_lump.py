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
"""Flexible robots as rigid segments: inertia, springs, damping, frequencies, and the files."""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from flex_description import RobotError, bundled_robots, load_robot
from flex_description.commands.lump import main
from flex_description.link_modes import loads_of
from flex_description.lumping import lump, lumping_accuracy, mjcf_text, sdf_text, urdf_text
from flex_description.lumping.beam_chain import chain_matrices
from flex_description.lumping.lumped_robot import one_freedom_each, with_mass
from flex_description.lumping.mjcf import mjcf_notes, time_step
from flex_description.lumping.sdf import sdf_notes
from flex_description.lumping.urdf import urdf_notes
from flex_description.math import pose, rotation_from_rpy
from flex_description.rigid_inertia import combined, link_inertia, transformed

BODY = """<inertial><origin xyz="0.1 0.02 0.03"/><mass value="{mass}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial>"""
# All at once: a base that moves, piecewise beams, a lumped mass, children in the middle of a beam
# and off its axis, an elastic joint, links without mass, a sliding joint, a follower, a mesh.
CRANE = """<robot name="crane"><material name="red"><color rgba="1 0 0 1"/></material>
<link name="world"/><link name="base">""" + BODY.format(mass=30) + """</link>
<link name="boom"><visual><geometry><mesh filename="package://crane/boom.dae"/></geometry></visual>
<collision><geometry><box size="2 0.1 0.1"/></geometry></collision></link>
<link name="jib"/><link name="turn"/>
<link name="trolley">""" + BODY.format(mass=3) + """<visual><origin xyz="0 0 0.1" rpy="0 0 0.3"/>
<geometry><mesh filename="package://crane/trolley.stl" scale="2 2 2"/></geometry></visual>
<visual><geometry><sphere radius="0.1"/></geometry><material name="red"/></visual></link>
<link name="hook">""" + BODY.format(mass=5) + """</link>
<link name="finger">""" + BODY.format(mass=0.2) + """</link><link name="camera"/>
<joint name="floor" type="{base}"><parent link="world"/><child link="base"/>
<origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
<joint name="slew" type="revolute"><parent link="base"/><child link="boom"/>
<origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="500" velocity="1"/><dynamics damping="2" friction="3"/></joint>
<joint name="luff" type="continuous"><parent link="boom"/><child link="turn"/>
<origin xyz="2 0.1 0.1"/><axis xyz="0 1 0"/></joint>
<joint name="wrist" type="revolute"><parent link="turn"/><child link="jib"/>
<axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="5" velocity="1"/></joint>
<joint name="rail" type="prismatic"><parent link="boom"/><child link="trolley"/>
<origin xyz="1.1 0 -0.2"/><axis xyz="1 0 0"/>
<limit lower="-0.5" upper="0.5" effort="50" velocity="1"/></joint>
<joint name="end" type="fixed"><parent link="jib"/><child link="hook"/>
<origin xyz="1.5 0 0"/></joint>
<joint name="finger" type="revolute"><parent link="hook"/><child link="finger"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="5" velocity="1"/>
<mimic joint="slew" multiplier="0.5" offset="0.1"/></joint>
<joint name="mount" type="fixed"><parent link="boom"/><child link="camera"/>
<origin xyz="0.6 0 0.1"/></joint>
<flexible link="boom"><beam><origin xyz="0.1 0 0" rpy="0.2 0 0"/><material name="steel"/>
<segment length="0.7"><section shape="hollow_circle" outer_radius="0.05" inner_radius="0.04"/>
</segment><segment length="1.2">
<section shape="hollow_circle" outer_radius="0.04" inner_radius="0.03"/>
<section shape="hollow_circle" outer_radius="0.03" inner_radius="0.02"/></segment></beam>
<mass name="winch" x="0.7" mass="2" xyz="0 0 0.08" ixx="0.01" iyy="0.01" izz="0.01"/>
<damping ratio="0.01"/><gauge name="root" x="0.1"/></flexible>
<flexible link="jib"><beam to="end"><section shape="rectangle" width="0.03" height="0.05"/>
<material name="aluminium"/></beam><damping alpha="0.3" beta="0.002"/></flexible>
<flexible_joint joint="slew" stiffness="1e4" damping="10" motor_inertia="1e-3" gear_ratio="100"/>
<imu name="tip" frame="jib/tip"/><gravity xyz="0 0 -3.7"/></robot>"""
BEAM = """<robot name="beam"><link name="base"/><link name="arm"/><link name="hand">{hand}</link>
<joint name="a" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="h" type="fixed"><parent link="arm"/><child link="hand"/><origin xyz="2 0 0"/></joint>
<flexible link="arm"><beam length="2"><section shape="rectangle" width="0.01" height="0.005"/>
<material name="steel"/></beam>{parts}</flexible></robot>"""
E, RHO, W, H, L = 210e9, 7850.0, 0.01, 0.005, 2.0
BASES = ('fixed', 'floating', 'planar')


def crane(base='fixed'):
    return load_robot(CRANE.replace('{base}', base))


def straight(bodies):
    """All bodies of a tree as one, in the root's frame, at the zero pose."""
    place, parts = {None: np.eye(4)}, []
    for body in bodies:
        place[body.name] = place[body.parent] @ body.pose
        if body.inertia is not None:
            parts.append(transformed(body.inertia, place[body.name]))
    return combined(parts), place


def same(one, other):
    assert one.mass == pytest.approx(other.mass, rel=1e-12)
    assert one.centre == pytest.approx(other.centre, abs=1e-12)
    assert one.tensor == pytest.approx(other.tensor, rel=1e-11, abs=1e-11)


def rigid(robot):
    """The whole robot at its zero pose as one body, and the links' poses."""
    place, parts = {robot.links[0].name: np.eye(4)}, []
    for joint in robot.joints:
        place[joint.child] = place[joint.parent] @ joint.origin
    for link in robot.links:
        body = link.inertia if link.flexible is None else link_inertia(
            link.flexible.origin, link.flexible, link.flexible.masses)
        if body is not None:
            parts.append(transformed(body, place[link.name]))
    return combined(parts), place


@pytest.mark.parametrize('base', BASES)
@pytest.mark.parametrize('segments', [1, 2, 7])
def test_inertia_and_place_of_everything_are_kept(base, segments):
    robot = crane(base)
    lumped = lump(robot, segments)
    body, links = rigid(robot)
    for bodies in (lumped.bodies, one_freedom_each(lumped.bodies),
                   with_mass(one_freedom_each(lumped.bodies))):
        found, places = straight(bodies)
        same(found, body)
        for name, place in links.items():
            assert places[name] == pytest.approx(place, abs=1e-12)
    assert {frame.name for frame in lumped.frames} == {'boom/tip', 'jib/tip'}
    for frame, origin in zip(lumped.frames, robot.frames):
        assert places[frame.link] @ frame.pose == pytest.approx(
            links[origin.link] @ origin.pose, abs=1e-12)
    assert all(body.inertia is not None and body.inertia.mass > 0.0
               for body in with_mass(one_freedom_each(lumped.bodies)) if body.freedoms)


def test_springs_have_all_of_the_compliance():
    robot = crane()
    lumped = lump(robot, 5)
    boom, chain = robot.links[2].flexible, lumped.chains['boom']
    x = (np.arange(19000) + 0.5) / 19000 * boom.length      # no interval has a step in it
    at = boom.properties(x)
    for kind, stiffness in (('bend_y', at.bending_stiffness_z), ('bend_z', at.bending_stiffness_y),
                            ('twist', at.torsion_stiffness)):
        found = [spring.stiffness for each in chain.springs for spring in each
                 if spring.kind == kind]
        assert len(found) == 5
        assert np.sum(1.0 / np.array(found)) == pytest.approx(
            boom.length * np.mean(1.0 / stiffness), rel=1e-6)
    # The rotation and displacement of the end by an end moment are those of the beam.
    stiffness, motion = (chain_matrices(chain)[k] for k in (1, 3))
    about_z = np.array([spring.kind == 'bend_y' for each in chain.springs for spring in each])
    assert motion[1] @ (about_z / stiffness) == pytest.approx(
        boom.length * np.mean((boom.length - x) / at.bending_stiffness_z), rel=1e-6)


def test_textbook_cantilever():
    """First frequencies and sag of a slender beam; the errors fall with the square of h."""
    robot = load_robot(BEAM.format(hand='', parts=''))
    roots = np.array([1.87510407, 4.69409113])
    first = {}
    for segments in (8, 16, 32):
        accuracy = lumping_accuracy(lump(robot, segments))[0]
        kinds = [mode.kind for mode in accuracy.modes]
        for kind, size in (('bend_y', W), ('bend_z', H)):
            textbook = (roots / L)**2 * np.sqrt(E * size**2 / (12 * RHO)) / (2 * np.pi)
            mine = [accuracy.frequencies[k] for k, each in enumerate(kinds) if each == kind]
            first[segments, kind] = mine[0] / textbook[0] - 1.0
            assert mine[1] == pytest.approx(textbook[1], rel=1.3 / segments**2 + 1e-4)
        sags = [RHO * W * H * 9.81 * L**4 / (8 * E * moment)
                for moment in (H * W**3 / 12, W * H**3 / 12)]
        assert accuracy.beam_tip == pytest.approx(sags, rel=1e-6)
        assert accuracy.tip == pytest.approx(sags, rel=1.0 / segments**2)
        assert np.abs(accuracy.tip_errors).max() > 0.1 / segments**2
    for kind in ('bend_y', 'bend_z'):
        assert first[8, kind] == pytest.approx(0.0036, abs=0.0005)
        assert first[8, kind] / first[16, kind] == pytest.approx(4.0, rel=0.1)


def test_all_frequencies_converge_to_those_of_the_beam():
    errors = {segments: [np.abs(link.frequency_errors[:4]).max() for link in lumping_accuracy(
        lump(crane(), segments))] for segments in (10, 20)}
    for coarse, fine in zip(errors[10], errors[20]):
        assert 1e-4 < fine < 0.45 * coarse
        assert coarse < 0.02


def test_damping_of_the_first_modes_is_that_of_the_link():
    robot = crane()
    lumped = lump(robot, 8)
    loads = loads_of(robot)
    for name, ratio in (('boom', lambda omega: 0.01),
                        ('jib', lambda omega: 0.3 / (2 * omega) + 0.002 * omega / 2)):
        chain = lumped.chains[name]
        mass, stiffness, _, _ = chain_matrices(chain, loads[name])
        springs = [spring for each in chain.springs for spring in each]
        for kind in ('bend_y', 'bend_z', 'twist'):
            own = np.array([spring.kind == kind for spring in springs])
            squares, vectors = eigh(np.diag(stiffness[own]), mass[np.ix_(own, own)])
            damping = np.array([spring.damping for spring in springs])[own]
            omega, shape = np.sqrt(squares[0]), vectors[:, 0]
            # To the error of the frequencies.
            assert shape @ (damping * shape) / (2 * omega) == pytest.approx(ratio(omega), rel=0.01)


def test_only_kinds_with_modes_have_springs():
    lumped = lump(load_robot(BEAM.format(
        hand='', parts='<modes bending_y="2" bending_z="0" twist="0"/>')), 3)
    assert [freedom.name for freedom in lumped.springs] == [
        f'arm_segment{k}_bend_y' for k in (1, 2, 3)]
    assert 'no modes of bend_z and twist' in lumped.notes[0]


def springs_of(urdf):
    return {element.get('reference'): float(element.findtext('springStiffness'))
            for element in ElementTree.fromstring(urdf).findall('gazebo')}


@pytest.mark.parametrize('base', BASES)
def test_urdf_is_a_rigid_robot_with_springs(base):
    robot = crane(base)
    lumped = lump(robot, 4)
    again = load_robot(urdf_text(lumped))
    assert not any(link.flexible for link in again.links)
    same(rigid(again)[0], rigid(robot)[0])
    assert again.imus == robot.imus and again.gravity == pytest.approx(robot.gravity)
    joints = {joint.name: joint for joint in again.joints}
    for joint in robot.joints:
        kept = joints[joint.name]
        assert (kept.type, kept.limits, kept.friction, kept.damping, kept.mimic) == (
            joint.type, joint.limits, joint.friction, joint.damping, joint.mimic)
        assert kept.axis == pytest.approx(joint.axis)
    springs = springs_of(urdf_text(lumped))
    assert springs == {freedom.name: freedom.stiffness for freedom in lumped.springs}
    assert springs['slew_spring'] == 1e4 and joints['slew_spring'].damping == 10.0
    assert len(springs) == 1 + 2 * 4 * 3
    for name in springs:
        assert joints[name].type == 'revolute'
    for name, place in rigid(robot)[1].items():
        assert rigid(again)[1][name] == pytest.approx(place, abs=1e-12)
    text = urdf_text(lumped)
    assert 'trolley.stl' in text and 'boom.dae' not in text      # the boom is drawn in pieces
    assert any('10 kg m2' in note for note in urdf_notes(lumped))


@pytest.mark.parametrize('base', BASES)
def test_sdf_is_consistent(base):
    lumped = lump(crane(base), 4)
    model = ElementTree.fromstring(sdf_text(lumped)).find('model')
    named = [element.get('name') for element in model]
    assert len(set(named)) == len(named) and 'world' not in named
    links = {link.get('name'): link for link in model.findall('link')}
    frames = {frame.get('name') for frame in model.findall('frame')}
    for link in links.values():
        assert float(link.findtext('inertial/mass')) > 0.0
        assert link.find('pose').get('relative_to') in (None, *links, *frames)
    children = []
    for joint in model.findall('joint'):
        assert joint.findtext('parent') in {'world', *links, *frames}
        assert joint.findtext('child') in links
        children.append(joint.findtext('child'))
    assert len(set(children)) == len(children)
    # All are held but the base of a floating robot.
    assert set(links) - set(children) == ({'base'} if base == 'floating' else set())
    stiff = {joint.get('name'): float(joint.findtext('axis/dynamics/spring_stiffness'))
             for joint in model.findall('joint') if joint.find('axis') is not None}
    assert {name: value for name, value in stiff.items() if value} == {
        freedom.name: freedom.stiffness for freedom in lumped.springs}
    assert {'camera', 'boom/tip', 'jib/tip'} <= frames      # nothing of it weighs 1 kg
    mass = sum(float(link.findtext('inertial/mass')) for link in links.values())
    root = 0.0 if base == 'floating' else 1.0               # of the link that stands in the world
    assert mass == pytest.approx(rigid(lumped.robot)[0].mass + root, rel=1e-12)
    assert model.find('.//mimic').get('joint') == 'slew'
    assert model.findtext('.//uri') == 'model://crane/trolley.stl'
    notes = ' '.join(sdf_notes(lumped))
    for words in ('10 kg m2', 'joint finger is named finger_joint', '0.0 0.0 -3.7'):
        assert words in notes


@pytest.mark.parametrize('base', BASES)
def test_mjcf_is_consistent(base):
    lumped = lump(crane(base), 4)
    root = ElementTree.fromstring(mjcf_text(lumped))
    world = root.find('worldbody')
    joints = {joint.get('name'): joint for joint in root.iter('joint') if joint.get('name')}
    assert {name: float(joint.get('stiffness')) for name, joint in joints.items()
            if joint.get('stiffness')} == {
        freedom.name: freedom.stiffness for freedom in lumped.springs}
    assert float(joints['slew'].get('armature')) == pytest.approx(10.0)
    assert root.find('option').get('gravity') == '0.0 0.0 -3.7'
    assert [joint.get('name') for joint in world.findall('body/freejoint')] == (
        ['floor'] if base == 'floating' else [])
    for body in root.iter('body'):
        if body.find('joint') is not None:
            assert float(body.find('inertial').get('mass')) > 0.0
    masses = [float(item.get('mass')) for item in root.iter('inertial')]
    assert 'world' not in [body.get('name') for body in root.iter('body')]
    assert sum(masses) == pytest.approx(rigid(lumped.robot)[0].mass, rel=1e-12)
    motors = [motor.get('joint') for motor in root.find('actuator')]
    assert motors == [*(['floor_x', 'floor_y', 'floor_angle'] if base == 'planar' else []),
                      'slew', 'luff', 'wrist', 'rail']
    follower = root.find('equality/joint')
    assert (follower.get('joint1'), follower.get('polycoef')) == ('finger', '0.1 0.5 0.0 0.0 0.0')
    assert 'meshes are left out' in ' '.join(mjcf_notes(lumped))


def test_names_that_are_taken_are_not_used_again():
    taken = BEAM.format(hand='', parts='').replace('hand', 'arm_segment1')
    lumped = lump(load_robot(taken), 2)
    names = [body.name for body in lumped.bodies]
    assert names == ['base', 'arm', 'arm_segment1_', 'arm_segment2', 'arm_segment1']


def test_step_resolves_the_highest_frequency():
    assert time_step(0.0) == 0.002
    for highest in (10.0, 79.6, 1000.0, 4454.0):
        assert 0.4 < time_step(highest) / min(0.002, 1 / (2 * np.pi * highest)) <= 1.0 + 1e-6


@pytest.mark.parametrize('segments', [0, -3, 101, 2.5, True, '8'])
def test_bad_number_of_segments(segments):
    with pytest.raises(RobotError, match='segments: expected a whole number from 1 to 100'):
        lump(crane(), segments)


def test_rotated_beams_bend_in_their_own_axes():
    """The chain of a beam that lies anywhere in its link is the same chain."""
    turned = '<origin xyz="0.3 0.2 0.1" rpy="0.4 0.5 0.6"/>'
    plain = BEAM.format(hand='', parts='').replace(
        '<section', '<origin xyz="0 0 0"/><section')
    moved = plain.replace('<origin xyz="0 0 0"/>', turned)
    frame = pose(rotation_from_rpy([0.4, 0.5, 0.6]), [0.3, 0.2, 0.1])
    bodies = [lump(load_robot(text), 3).bodies for text in (plain, moved)]
    for one, other in zip(*(straight(each)[1].items() for each in bodies)):
        if 'segment' in (one[0] or ''):
            assert other[1] == pytest.approx(frame @ one[1], abs=1e-12)
    for one, other in zip(*bodies):
        assert [each.axis.tolist() for each in one.freedoms] == [
            each.axis.tolist() for each in other.freedoms]


def test_sizes_that_cannot_be_computed_with_are_one_error():
    hand = """<inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
    text = BEAM.format(hand=hand, parts='')
    for there, tiny in (('length="2"', 'length="1e-10"'), ('"2 0 0"', '"1e-10 0 0"'),
                        ('width="0.01" height="0.005"', 'width="1e-10" height="1e-10"'),
                        ('name="steel"', 'E="1e25" G="1e25" density="1e-20"')):
        text = text.replace(there, tiny)
    lumped = lump(load_robot(text), 3)
    with pytest.raises(RobotError, match='^<string>: link "arm": expected a beam and a load'):
        lumping_accuracy(lumped)


def test_command_writes_and_reports(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for form, name in (('urdf', 'cibicik_arm_lumped.urdf'), ('sdf', 'cibicik_arm_lumped.sdf'),
                       ('mjcf', 'cibicik_arm_lumped.xml')):
        assert main(['cibicik_arm', '--segments', '8', '--format', form]) == 0
        out, err = capsys.readouterr()
        assert err == ''
        ElementTree.parse(tmp_path / name)
        for words in ('22 bodies, 4 joints, 48 springs', '2.51271       2.51129    +0.06 %',
                      'along z     20.2932 mm     20.352 mm    -0.29 %',
                      f'written to {name}'):
            assert words in out
    assert main(['cibicik_arm', '--output', '-']) == 0
    out, err = capsys.readouterr()
    assert load_robot(out).name == 'cibicik_arm' and 'segments and the beam' in err
    assert main(['cibicik_arm', '--segments', '1', '--output', '-']) == 0
    assert 'take more segments' in capsys.readouterr().err


def test_command_refuses_in_one_line(tmp_path, capsys):
    for arguments, words in (
            (['ur5'], 'a rigid robot has nothing to lump'),
            (['cibicik_arm', '--segments', '0'], 'whole number from 1 to 100, found 0'),
            (['cibicik_arm', '--output', str(tmp_path / 'no' / 'x.urdf')], 'expected to write')):
        assert main(arguments) == 1
        out, err = capsys.readouterr()
        assert words in err and err.count('\n') == 1 and out == ''


def test_every_bundled_flexible_robot_is_lumped():
    for name in bundled_robots():
        robot = load_robot(name)
        # The others are rigid without an overlay, or refused for their constraints.
        if any(link.flexible for link in robot.links) and not robot.constraints:
            lumped = lump(robot, 3)
            same(straight(lumped.bodies)[0], rigid(robot)[0])
            assert load_robot(urdf_text(lumped)).name == robot.name


def test_command_runs_as_a_module(tmp_path):
    run = subprocess.run([sys.executable, '-m', 'flex_description.commands.lump', 'lab_link',
                          '--output', str(tmp_path / 'x.urdf')], capture_output=True, text=True,
                         env={**os.environ}, timeout=120)
    assert run.returncode == 0 and run.stderr == ''
    assert Path(tmp_path / 'x.urdf').stat().st_size > 1000
