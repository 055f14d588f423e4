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
"""The bundled robots are what their sources say."""
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xacro

from flex_description import RobotError, bundled_robots, load_robot
from flex_description.math import exponential, pose

NAMES = ('canadarm', 'canadarm_paper', 'cibicik_arm', 'cibicik_arm_paper', 'cylinder_crane',
         'de_luca_siciliano', 'flexible_four_bar', 'flexible_tree', 'free_flyer',
         'lab_link', 'lin_lewis_one_link', 'lin_lewis_rfr', 'mladenova_arm', 'mobile_arm', 'panda',
         'piedboeuf_arm', 'planar_biped', 'rest_to_rest_link', 'serial_flexible_link',
         'slider_crank', 'spin_up_beam', 'ur5')
PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
UNDRIVEN = ('fixed', 'planar', 'floating')
INTERFACES = ('position', 'velocity', 'effort')
LEG = """<robot name="leg" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="ros2_control.xml"/>
  <link name="a"/><link name="b"/><link name="c"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip" type="continuous"><parent link="a"/><child link="b"/></joint>
  <joint name="knee" type="continuous"><parent link="b"/><child link="c"/></joint>
  <xacro:topic_ros2_control name="leg" joint_states_topic="elsewhere" {}/></robot>"""
LBF, INCH = 4.4482216152605, 0.0254


def link(robot, name):
    return next(item for item in robot.links if item.name == name)


def joint(robot, name):
    return next(item for item in robot.joints if item.name == name)


def beam(robot, name):
    """The flexible link and its properties at the root."""
    flexible = link(robot, name).flexible
    return flexible, flexible.properties(np.zeros(1))


def coordinates(robot):
    moving = sum(item.type != 'fixed' for item in robot.joints)
    motors = sum(item.flexible is not None for item in robot.joints)
    return moving + motors + sum(item.flexible.n_modes for item in robot.links if item.flexible)


def test_all_are_there():
    assert set(bundled_robots()) == set(NAMES)


@pytest.mark.parametrize('name', NAMES)
def test_loads_without_warning_under_its_name(name):
    robot = load_robot(name)
    assert robot.warnings == ()
    assert robot.name == name


@pytest.mark.parametrize('name', NAMES)
def test_names_its_source_and_can_be_seen(name):
    path = bundled_robots()[name]
    assert 'ource' in path.read_text(encoding='utf-8')
    root = ElementTree.fromstring(load_robot(name).urdf)
    assert len(root.findall('link/visual/geometry')) >= 2
    for item in load_robot(name).joints:
        if item.type not in UNDRIVEN:
            assert 0.0 < item.limits.effort < np.inf and 0.0 < item.limits.velocity < np.inf


def test_files_name_no_other_file_than_those_shipped():
    folder = bundled_robots()['ur5'].parent
    for path in folder.iterdir():
        if path.suffix in ('.xacro', '.xml', '.urdf'):
            for element in ElementTree.parse(path).iter():
                if element.tag.endswith('}include'):
                    assert (folder / element.attrib['filename']).is_file()
            assert 'package://' not in Path(path).read_text(encoding='utf-8')


@pytest.mark.parametrize('name', NAMES)
def test_ros2_control_drives_every_joint(name):
    """Each robot has one tag for topic hardware, with all interfaces of all motors."""
    robot = load_robot(name)
    tag, = ElementTree.fromstring(robot.urdf).findall('ros2_control')
    assert tag.findtext('hardware/plugin') == PLUGIN
    assert {param.get('name'): param.text for param in tag.findall('hardware/param')} == {
        'joint_commands_topic': 'robot_joint_commands',
        'joint_states_topic': 'robot_joint_states', 'trigger_joint_command_threshold': '1e-05'}
    moving = [item for item in robot.joints if item.type not in UNDRIVEN and not item.passive]
    assert [one.get('name') for one in tag.findall('joint')] == [item.name for item in moving]
    assert all(item.command_interfaces == INTERFACES for item in moving)
    for one in tag.findall('joint'):
        assert tuple(state.get('name') for state in one.findall('state_interface')) == INTERFACES


@pytest.mark.parametrize('process', [
    lambda path: load_robot(path).urdf, lambda path: xacro.process_file(path).toxml()],
    ids=['flex', 'xacro'])
@pytest.mark.parametrize('given, expected', [
    ('joints="knee"', {'knee': INTERFACES}),
    ('joints=" knee  hip " command="velocity"', {'knee': ('velocity',), 'hip': ('velocity',)}),
    ('joints="hip" command="effort position"', {'hip': ('position', 'effort')}),
    ('joints="hip" command="positon"', 'expected some of position, velocity and effort'),
    ('joints="hip" command=""', 'expected some of position, velocity and effort'),
    ('joints=""', 'joints: expected names of joints, found none')])
def test_users_write_the_tag_by_a_macro(tmp_path, process, given, expected):
    path = tmp_path / 'leg.urdf.xacro'
    path.write_text(LEG.format(given))
    shutil.copy(bundled_robots()['ur5'].with_name('ros2_control.xml'), tmp_path)
    if isinstance(expected, str):
        with pytest.raises((RobotError, xacro.XacroException), match=expected):
            process(str(path))
        return
    tag, = ElementTree.fromstring(process(str(path))).findall('ros2_control')
    assert {joint.get('name'): tuple(one.get('name') for one in joint.findall('command_interface'))
            for joint in tag.findall('joint')} == expected
    assert tag.find('hardware/param[@name="joint_states_topic"]').text == 'elsewhere'


def test_panda_as_the_maker_says():
    robot = load_robot('panda')
    assert sum(item.inertia.mass for item in robot.links if item.inertia) == pytest.approx(
        4.970684 + 0.646926 + 3.228604 + 3.587895 + 1.225946 + 1.666555 + 0.735522)
    # The product of the published Denavit-Hartenberg transforms (a, d, alpha before each joint).
    q = np.array([0.3, -0.5, 0.4, -1.9, 0.2, 1.4, 0.6])
    table = [(0, 0.333, 0), (0, 0, -0.5), (0, 0.316, 0.5), (0.0825, 0, 0.5),
             (-0.0825, 0.384, -0.5), (0, 0, 0.5), (0.088, 0, 0.5)]
    expected = np.eye(4)
    for angle, (a, d, quarter) in zip(q, table):
        turn, twist = pose(exponential([0, 0, angle]), [0, 0, d]), pose(
            exponential([np.pi * quarter, 0, 0]), [a, 0, 0])
        expected = expected @ twist @ turn
    found = np.eye(4)
    for number, angle in enumerate(q, 1):
        found = found @ joint(robot, f'panda_joint{number}').origin @ pose(
            exponential([0, 0, angle]), np.zeros(3))
    assert found == pytest.approx(expected, abs=1e-12)
    assert joint(robot, 'panda_joint8').origin[2, 3] == 0.107


def test_cibicik_table():
    robot = load_robot('cibicik_arm')
    assert coordinates(robot) == 20
    assert joint(robot, 'joint2').origin[:3, 3] == pytest.approx([0.0, 0.0, 0.26])
    # x of link 2 points up at zero, z along y of link 1: Rx(-pi/2) Rz(-pi/2)
    assert joint(robot, 'joint2').origin[:3, :3] == pytest.approx(
        np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), abs=1e-15)
    first, last = link(robot, 'link1').inertia, link(robot, 'link4').inertia
    assert (first.mass, last.mass) == (15.5, 3.56)
    assert first.centre == pytest.approx([0.0, 0.0, 0.131])
    assert last.centre == pytest.approx([0.124, 0.0, 0.0])
    assert first.tensor[2, 2] == pytest.approx(18586e-6)
    assert np.diag(last.tensor) == pytest.approx([1533e-6, 17386e-6, 17035e-6])
    for name, length in [('link2', 2.0), ('link3', 1.8)]:
        flexible, root = beam(robot, name)
        assert flexible.length == length
        assert root.mass_per_length[0] == pytest.approx(7850.0 * 707e-6)
        assert root.bending_stiffness_y[0] == pytest.approx(210e9 * 181132e-12)
        assert root.bending_stiffness_z[0] == pytest.approx(210e9 * 181132e-12)
        assert root.torsion_stiffness[0] == pytest.approx(80.8e9 * 362265e-12)
    assert joint(robot, 'tool_joint').origin[0, 3] == 0.24


def test_cibicik_paper_modes():
    """16 coordinates; bL of the clamped-mass modes and the coefficient of cos as computed."""
    robot = load_robot('cibicik_arm_paper')
    assert coordinates(robot) == 16
    for name, roots in [('link2', (1.19777, 4.01434)), ('link3', (1.49859, 4.16304))]:
        flexible = link(robot, name).flexible
        for shapes in (flexible.bend_y, flexible.bend_z):
            assert shapes.wavenumbers * flexible.length == pytest.approx(roots, abs=1e-5)
            assert shapes.coefficients[:, 0] == pytest.approx([-1.0, -1.0])
        x = np.linspace(0.0, flexible.length, 9)
        expected = [np.sin((2 * k - 1) * np.pi * x / (2 * flexible.length)) for k in (1, 2)]
        assert flexible.twist(x) == pytest.approx(np.array(expected))


def test_paper_variants_differ_in_their_modes_only():
    for name in ('cibicik_arm', 'canadarm'):
        texts = []
        for variant in (name, f'{name}_paper'):
            root = ElementTree.fromstring(load_robot(variant).urdf)
            for flexible in root.iter('flexible'):
                flexible.remove(flexible.find('modes'))
            root.attrib['name'] = name
            texts.append(ElementTree.canonicalize(ElementTree.tostring(root), strip_text=True))
        assert texts[0] == texts[1]


def test_canadarm_table():
    robot = load_robot('canadarm_paper')
    assert coordinates(robot) == 9
    assert not np.any(robot.gravity)
    for name, length, mass in [('link1', 6.0, 140.0), ('link2', 7.0, 85.0), ('link3', 2.0, 95.0)]:
        flexible, root = beam(robot, name)
        assert flexible.length == length
        assert root.mass_per_length[0] * length == pytest.approx(mass)
        assert root.bending_stiffness_z[0] == pytest.approx(1e5)
        assert root.inertia_z[0] < 1e-6 * mass * length
    assert joint(robot, 'joint3').origin[0, 3] == 7.0


def test_piedboeuf_table():
    robot = load_robot('piedboeuf_arm')
    flexible, root = beam(robot, 'arm')
    assert flexible.length == 0.7845 and flexible.origin[0, 3] == 0.0365
    assert root.bending_stiffness_z[0] == pytest.approx(13.4)
    assert root.mass_per_length[0] == pytest.approx(0.650)
    tool = link(robot, 'tool').inertia
    assert tool.mass == 0.1608 and tool.centre == pytest.approx([0.0115, -0.158, 0.0])
    assert joint(robot, 'endpoint_mount').origin[:3, 3] == pytest.approx([0.0115, -0.3159, 0.0])
    assert [gauge.x for gauge in flexible.gauges] == [0.0191, 0.3985, 0.5889]
    assert joint(robot, 'tool_mount').section_x == pytest.approx(0.7845)
    # the plane of motion is vertical: y of the joint is up
    assert joint(robot, 'joint1').origin[:3, 1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    x = np.linspace(0.0, 0.7845, 40)
    monomials = np.array([(x / 0.7845)**(k + 2) for k in range(5)])
    _, left, *_ = np.linalg.lstsq(flexible.bend_y(x).T, monomials.T, rcond=None)
    assert np.all(left < 1e-20)


def test_lin_lewis_one_link():
    flexible, root = beam(load_robot('lin_lewis_one_link'), 'link1')
    assert flexible.length == pytest.approx(47.0 * INCH)
    assert root.bending_stiffness_z[0] == pytest.approx(4120.0 * LBF * INCH**2)
    assert root.mass_per_length[0] == pytest.approx(2.54e-4 * 0.14 * LBF / INCH**2)
    assert flexible.masses[0].mass == pytest.approx(0.1 * LBF / INCH)
    assert flexible.pinned and flexible.bend_y.count == 15
    x = np.linspace(0.0, flexible.length, 50)
    assert flexible.bend_y(x)[14] == pytest.approx(np.sin(15.0 * np.pi * x / flexible.length))
    other = load_robot('lin_lewis_one_link', arguments={'basis': 'clamped-free', 'modes': '2'})
    assert beam(other, 'link1')[0].bend_y.wavenumbers * flexible.length == pytest.approx(
        [1.875104, 4.694091], abs=1e-6)


def test_lin_lewis_eigenvalues():
    """The 15 eigenvalues of section 4.2: (M^-1)_FF U_FF with the joint free."""
    flexible, root = beam(load_robot('lin_lewis_one_link'), 'link1')
    nodes, weights = np.polynomial.legendre.leggauss(100)
    x, weights = flexible.length * 0.5 * (nodes + 1.0), flexible.length * 0.5 * weights
    field = np.vstack([x, flexible.bend_y(x)])
    mass = root.mass_per_length[0] * (field * weights) @ field.T
    mass[0, 0] += flexible.masses[0].mass * flexible.length**2
    curvature = flexible.bend_y(x, 2)
    stiffness = root.bending_stiffness_z[0] * (curvature * weights) @ curvature.T
    found = np.sort(np.linalg.eigvals(np.linalg.inv(mass)[1:, 1:] @ stiffness).real)
    assert found == pytest.approx([
        2320.6445, 3.7037e4, 1.8741e5, 5.9221e5, 1.4457e6, 2.9977e6, 5.5535e6, 9.4738e6, 1.5175e7,
        2.3129e7, 3.3863e7, 4.7960e7, 6.6058e7, 8.8851e7, 1.1709e8], rel=5e-5)


def test_lin_lewis_rfr():
    robot = load_robot('lin_lewis_rfr')
    flexible, root = beam(robot, 'link2')
    carried = link(robot, 'link3').inertia.mass + link(robot, 'payload').inertia.mass
    assert carried == pytest.approx(4.0962 * root.mass_per_length[0] * flexible.length)
    tip = flexible.bend_y(np.array([flexible.length]))[0, 0]
    assert tip == pytest.approx(0.5497897482078318, rel=1e-14)


def test_mladenova_arm():
    robot = load_robot('mladenova_arm')
    spring = joint(robot, 'joint1').flexible
    assert (spring.stiffness, spring.motor_inertia, spring.gear_ratio) == (50.0, 0.02, 1.0)
    body = link(robot, 'link1').inertia
    assert body.tensor[1, 1] + body.mass * 0.5**2 == pytest.approx(1.0 / 3.0)


def test_de_luca_siciliano_modes():
    robot = load_robot('de_luca_siciliano')
    assert coordinates(robot) == 6
    for name, hertz, values in [('link1', (0.4797, 1.7966), (0.186, 0.215)),
                                ('link2', (2.1783, 15.9145), (0.883, -0.069))]:
        flexible, root = beam(robot, name)
        assert root.mass_per_length[0] == pytest.approx(0.2)
        assert root.bending_stiffness_z[0] == pytest.approx(1.0)
        found = flexible.bend_y.wavenumbers**2 * np.sqrt(1.0 / 0.2) / (2.0 * np.pi)
        assert found == pytest.approx(hertz, abs=5e-4)
        assert flexible.bend_y(np.array([0.5]))[:, 0] == pytest.approx(values, abs=6e-4)


def test_spin_up_beam():
    flexible, root = beam(load_robot('spin_up_beam'), 'beam')
    assert flexible.length == 10.0 and flexible.bend_y.count == 4
    assert root.mass_per_length[0] == pytest.approx(1.2)
    assert root.inertia_z[0] == pytest.approx(6e-4)
    assert root.bending_stiffness_z[0] == pytest.approx(1.4e4)
    assert root.axial_stiffness[0] == pytest.approx(2.8e7)
    first = flexible.bend_y.wavenumbers[0]**2 * np.sqrt(1.4e4 / 1.2)
    assert first == pytest.approx(3.798, abs=5e-4)


def test_lab_link_frequency():
    flexible, root = beam(load_robot('lab_link'), 'link1')
    first = flexible.bend_y.wavenumbers[0]**2 * np.sqrt(
        root.bending_stiffness_z[0] / root.mass_per_length[0])
    assert first / (2.0 * np.pi) == pytest.approx(1.303, abs=0.001)


def test_serial_flexible_link_is_a_hub_and_a_link_on_a_spring():
    robot = load_robot('serial_flexible_link')
    flexible, root = beam(robot, 'link1')
    length = flexible.length
    assert 3.0 * root.bending_stiffness_z[0] / length == pytest.approx(39.96, rel=1e-9)
    hub, second = flexible.masses
    assert second.mass * length**2 == pytest.approx(0.1704)
    assert hub.tensor[2, 2] == pytest.approx(0.0635)


def test_rest_to_rest_payload():
    bare, loaded = (beam(load_robot('rest_to_rest_link', arguments={'payload': value}), 'link1')[0]
                    for value in ('0', '2'))
    assert bare.bend_y.wavenumbers[0] * 0.7 == pytest.approx(1.875104, abs=1e-6)
    assert loaded.masses[0].mass == 2.0
    assert loaded.bend_y.wavenumbers[0] < bare.bend_y.wavenumbers[0]


def test_tree_carries_bodies_along_its_beams():
    robot = load_robot('flexible_tree')
    assert [item.parent for item in robot.joints].count('torso') == 2
    assert joint(robot, 'camera_mount').section_x == pytest.approx(0.7)
    right, root = beam(robot, 'right_arm')
    tip = right.properties(np.array([1.1]))
    assert 0.5 in right.breakpoints
    assert tip.bending_stiffness_z[0] < 0.4 * root.bending_stiffness_z[0]


def test_ur5_is_the_published_one():
    robot = load_robot('ur5')
    pose = np.eye(4)
    for item in robot.joints:
        pose = pose @ item.origin
    assert pose[:3, 3] == pytest.approx([0.425 + 0.39225, 0.10915 + 0.0823, 0.089159 - 0.09465])
    masses = [item.inertia.mass for item in robot.links if item.inertia]
    assert masses == pytest.approx([3.7, 8.393, 2.275, 1.219, 1.219, 0.1879], rel=1e-4)


def test_ur5_overlay():
    """The overlay keeps mass, centre and inertia (no warning) and carries the elbow rigidly."""
    robot = load_robot('ur5', 'ur5_flexible')
    assert robot.warnings == ()
    assert coordinates(robot) == 16
    assert joint(robot, 'elbow_joint').section_x == pytest.approx(0.425)
    forearm = link(robot, 'forearm_link').flexible
    assert forearm.length == pytest.approx(0.39225)
    assert forearm.origin[:3, 0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-12)
    assert [imu.frame for imu in robot.imus] == ['tool0']
