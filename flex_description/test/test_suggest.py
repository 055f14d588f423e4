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
"""Command `suggest`: the overlay that it writes loads, and says what follows."""
import re

import numpy as np
import pytest

from flex_description import load_robot
from flex_description.commands.suggest import main
from flex_description.link_modes import link_modes, loads_of
from flex_description.rigid_inertia import link_inertia

ARM = """<robot name="arm"><link name="base"/>
<link name="{link}"><inertial><origin xyz="0.5 0 0"/><mass value="6"/>
<inertia ixx="{ixx}" iyy="0.8" izz="0.8" ixy="0" ixz="0" iyz="0"/></inertial>{geometry}</link>
<link name="hand"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="{link}"/></joint>
<joint name="wrist" type="continuous"><parent link="{link}"/><child link="hand"/>
<origin xyz="1 0 0"/></joint></robot>"""
VISUAL = '<{tag}><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{shape}</geometry></{tag}>'
TUBE = '<cylinder radius="0.04" length="1"/>'
BOX = '<box size="1 0.06 0.12"/>'


def urdf(shape='', xyz='0.5 0 0', rpy='0 0 0', tag='visual', link='upper', ixx=0.02):
    geometry = VISUAL.format(tag=tag, xyz=xyz, rpy=rpy, shape=shape) if shape else ''
    return ARM.format(link=link, geometry=geometry, ixx=ixx)


@pytest.fixture
def suggested(tmp_path, capsys):
    """Writes a URDF, runs the command; gives its text and the robot that follows."""
    def run(text, *options):
        (tmp_path / 'arm.urdf').write_text(text)
        overlay = tmp_path / 'arm.yaml'
        assert main([str(tmp_path / 'arm.urdf'), '-o', str(overlay), '--force', *options]) == 0
        assert capsys.readouterr().out == ''
        return overlay.read_text(), load_robot(tmp_path / 'arm.urdf', overlay)
    return run


def numbers(text, key):
    return [float(found) for found in re.findall(rf'{key}: (\S+?)[,}}\s]', text)]


@pytest.mark.parametrize('tag', ['visual', 'collision'])
def test_round_section_of_a_cylinder(suggested, tag):
    text, robot = suggested(urdf(TUBE, rpy='0 1.5707963 0', tag=tag))
    assert 'to: wrist   # 1 m' in text and 'shape: hollow_circle' in text
    assert numbers(text, 'outer_radius') == pytest.approx([0.04], rel=0.01)
    assert robot.links[1].flexible.fit.mass == 'keep'


def test_rectangular_section_of_a_box(suggested):
    text, _ = suggested(urdf(BOX))
    assert 'shape: hollow_rectangle' in text
    assert (numbers(text, 'width'), numbers(text, 'height')) == ([0.06], [0.12])


def test_section_of_a_mesh(suggested, tmp_path):
    """Triangles of the same box, without its ends."""
    corners = [(y, z) for y, z in ((-30, -60), (30, -60), (30, 60), (-30, 60))]
    facets = []
    for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]):
        for one in (((0, a, b), (1000, a, b), (1000, c, d)), ((0, a, b), (1000, c, d), (0, c, d))):
            facets.append('facet normal 0 0 0\nouter loop\n' + ''.join(
                'vertex {} {} {}\n'.format(*corner) for corner in one) + 'endloop\nendfacet\n')
    (tmp_path / 'box.stl').write_text('solid box\n' + ''.join(facets) + 'endsolid box\n')
    mesh = '<mesh filename="box.stl" scale="0.001 0.001 0.001"/>'
    text, _ = suggested(urdf(mesh, xyz='0 0 0'))
    assert (numbers(text, 'width'), numbers(text, 'height')) == ([0.06], [0.12])


def test_missing_mesh_is_said_and_the_inertia_gives_the_section(suggested):
    text, _ = suggested(urdf('<mesh filename="nowhere.stl"/>'))
    assert 'not measured' in text and 'no geometry' in text
    # a thin tube: r^2 = ixx / m
    assert numbers(text, 'outer_radius') == pytest.approx([np.sqrt(0.02 / 6)], rel=0.01)


def test_geometry_beside_the_line_from_joint_to_joint(suggested):
    text, robot = suggested(urdf(TUBE, xyz='0.5 0.3 0', rpy='0 1.5707963 0'))
    assert 'not the line from joint to joint' in text
    link = robot.links[1].flexible
    assert link.origin[:3, 3] == pytest.approx([0.0, 0.3, 0.0], abs=1e-3)
    assert link.origin[:3, 0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-3)
    assert link.length == pytest.approx(1.0, abs=1e-3)
    tilted, robot = suggested(urdf('<cylinder radius="0.04" length="2"/>', rpy='0 1.3707963 0'))
    x = robot.links[1].flexible.origin[:3, 0]
    assert x == pytest.approx([np.cos(0.2), 0.0, np.sin(0.2)], abs=1e-3)


def test_frequencies_are_those_of_the_robot(suggested):
    text, robot = suggested(urdf(TUBE, rpy='0 1.5707963 0'))
    link = robot.links[1].flexible
    carried = loads_of(robot)['upper']
    for line, loads in (('with the 2 kg that it carries', carried), ('alone', ())):
        shown = [float(value) for value in re.findall(
            r'([0-9.e+]+) Hz \(', re.search(rf'# {line}: (.*)', text)[1])]
        assert len(shown) >= 2
        assert shown == pytest.approx([mode.frequency for mode in link_modes(link, loads)][
            :len(shown)], rel=1e-3)


@pytest.mark.parametrize('which', [0, 1, 2])
def test_every_stiffness_that_it_offers_loads(suggested, tmp_path, which):
    text, robot = suggested(urdf(BOX))
    lines = [line for line in text.splitlines() if line.startswith('    # stiffness:')]
    assert len(lines) == 3
    changed = tmp_path / 'changed.yaml'
    changed.write_text(text.replace(lines[which], lines[which].replace('# ', '', 1)))
    other = load_robot(tmp_path / 'arm.urdf', changed)
    first, now = (link_modes(one.links[1].flexible, loads_of(one)['upper'])[0].frequency
                  for one in (robot, other))
    assert (now == pytest.approx(first, rel=5e-3)) == (which < 2)


def test_mass_of_a_rod_is_not_kept(suggested):
    text, robot = suggested(urdf(TUBE, rpy='0 1.5707963 0', ixx=0))
    assert 'mass: beam   # <inertial> (6 kg) is that of a point or a rod' in text
    assert robot.links[1].flexible.fit.mass == 'beam'


@pytest.mark.parametrize('name', ['yes', 'a: b', 'upper # arm', '1', 'é "x"', '- x'])
def test_odd_names(suggested, name):
    _, robot = suggested(urdf(BOX, link=name.replace('"', '&quot;')))
    assert robot.links[1].name == name and robot.links[1].flexible is not None


def test_ur5_keeps_what_its_maker_says(tmp_path):
    path = tmp_path / 'ur5.yaml'
    assert main(['ur5', '-o', str(path)]) == 0
    rigid, robot = load_robot('ur5'), load_robot('ur5', path)
    bent = [link.name for link in robot.links if link.flexible is not None]
    assert bent == ['upper_arm_link', 'forearm_link']
    for before, after in zip(rigid.links, robot.links, strict=True):
        if after.flexible is not None:
            built = link_inertia(after.flexible.origin, after.flexible, after.flexible.masses)
            assert built.mass == pytest.approx(before.inertia.mass)
            assert built.centre == pytest.approx(before.inertia.centre, abs=1e-12)
            assert built.tensor == pytest.approx(before.inertia.tensor, abs=1e-12)
    assert max(len(line) for line in path.read_text().splitlines()) < 110


def test_flexible_links_are_left_alone(suggested):
    text, robot = suggested(load_robot('cibicik_arm').urdf)
    assert 'flexible already' in text


def test_no_long_link_is_said(tmp_path, capsys):
    path = tmp_path / 'stub.urdf'
    path.write_text(urdf(TUBE).replace('"1 0 0"', '"0 0 0"'))
    assert main([str(path)]) == 0
    shown = capsys.readouterr()
    assert 'no long link found' in shown.err and shown.out.startswith('#')
    overlay = tmp_path / 'none.yaml'
    overlay.write_text(shown.out)
    assert all(link.flexible is None for link in load_robot(path, overlay).links)
    wide = tmp_path / 'wide.urdf'
    wide.write_text(urdf('<box size="1 0.9 0.9"/>'))
    assert main([str(wide)]) == 0
    assert 'upper: 1 m long, but 0.9 m wide: no beam' in capsys.readouterr().out


def test_no_file_is_overwritten(tmp_path, capsys):
    path = tmp_path / 'mine.yaml'
    path.write_text('# mine')
    assert main(['ur5', '-o', str(path)]) == 1
    error = capsys.readouterr().err
    assert 'found one; --force overwrites it' in error and error.count('\n') == 1
    assert path.read_text() == '# mine'
    assert main(['ur5', '-o', str(path), '--force']) == 0
    assert 'flexible:' in path.read_text()
    assert main(['ur5', '-o', str(tmp_path / 'no' / 'where.yaml')]) == 1


@pytest.mark.parametrize('source', ['nowhere.urdf', '<robot', '<robot name="r"/>',
                                    '<sdf><model/></sdf>', ''])
def test_broken_input_is_one_line(source, capsys):
    assert main([source]) == 1
    shown = capsys.readouterr()
    assert shown.out == '' and shown.err.count('\n') == 1 and shown.err.startswith('error: ')


def test_xacro_arguments(tmp_path, capsys):
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(urdf(BOX).replace('<robot name="arm">', '<robot name="arm" xmlns:xacro='
                    '"http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="6"/>')
                    .replace('value="6"', 'value="$(arg mass)"'))
    assert main([str(path), '--xacro', 'mass:=7.5']) == 0
    assert 'mass: keep   # 7.5 kg' in capsys.readouterr().out
    assert main([str(path), '--xacro', 'mass']) == 1


def test_names_of_other_scripts_stay_readable(suggested):
    text, robot = suggested(urdf(TUBE, rpy='0 1.5708 0').replace('"wrist"', '"Händ 手"'))
    assert 'to: "Händ 手"' in text
    assert robot.links[1].flexible is not None
