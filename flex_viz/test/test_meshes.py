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
"""Meshes: read from their files, cut across the beam, bent with it."""
import struct

import numpy as np
import pytest

from flex_description import load_robot
from flex_description.visuals.mesh_file import MeshError, load_mesh
from flex_description.visuals.mesh_path import mesh_path, mesh_uri
from flex_description.visuals.shapes import read_visuals, visual_corners
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.skin import bent_mesh, cut
from flex_viz.rviz.robot_markers import RobotMarkers

# A tetrahedron, outer faces outwards.
CORNERS = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
SOLID = CORNERS[FACES]


def volume(triangles):
    a, b, c = np.moveaxis(triangles, 1, 0)
    return float(np.einsum('fi,fi->', a, np.cross(b, c)) / 6.0)


def binary_stl(triangles):
    rows = [struct.pack('<12fH', *np.zeros(3), *triangle.ravel(), 0) for triangle in triangles]
    return b'solid but binary'.ljust(80) + struct.pack('<I', len(rows)) + b''.join(rows)


def text_stl(triangles):
    lines = ['solid']
    for triangle in triangles:
        lines += ['facet normal 0 0 0', 'outer loop']
        lines += [f'vertex {x} {y} {z}' for x, y, z in triangle]
        lines += ['endloop', 'endfacet']
    return '\n'.join([*lines, 'endsolid']).encode()


def obj():
    lines = [f'v {x} {y} {z}' for x, y, z in CORNERS]
    lines += [f'f {a + 1}/1/1 {b + 1}//2 {c - 4}' for a, b, c in FACES]
    return '\n'.join(lines).encode()


def collada(faces='triangles'):
    """In cm, moved by a node. It says that y is up, which RViz does not heed."""
    inside = CORNERS * 100.0
    index = ' '.join(f'{at} 0' for at in FACES.ravel())
    counts = '<vcount>3 3 3 3</vcount>' if faces == 'polylist' else ''
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="12">
      {' '.join(map(str, (inside - (50, 0, 0)).ravel()))}</float_array></source>
    <source id="n"><float_array id="b" count="3">0 0 1</float_array></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <{faces} count="4"><input semantic="VERTEX" source="#v" offset="0"/>
      <input semantic="NORMAL" source="#n" offset="1"/>{counts}<p>{index}</p></{faces}>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node id="n0">
    <translate>50 0 0</translate><rotate>0 0 1 0</rotate><scale>1 1 1</scale>
    <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
</COLLADA>""".encode()


@pytest.mark.parametrize('name, data', [
    ('a.stl', binary_stl(SOLID)), ('b.STL', text_stl(SOLID)), ('c.obj', obj()),
    ('d.dae', collada()), ('e.dae', collada('polylist'))])
def test_every_format_gives_the_same_solid(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    found = load_mesh(tmp_path / name)
    assert np.allclose(found, SOLID, atol=1e-6)
    assert volume(found) == pytest.approx(1.0 / 6.0, rel=1e-6)


@pytest.mark.parametrize('name, data, said', [
    ('a.stl', b'', 'neither'), ('b.stl', b'solid\nvertex 1 2 3', 'multiple of three'),
    ('c.obj', b'v 0 0 0\nf 1 2 3', 'not there'), ('d.dae', b'<COLLADA/>', 'without geometry'),
    ('e.dae', b'<not xml', 'expected a DAE'), ('f.stl', text_stl(np.full((1, 3, 3), np.nan)),
                                               'finite'),
    ('g.dae', b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>', 'entities'),
    ('h.blend', b'', '.stl, .obj or .dae'), ('i.stl', b'solid\nvertex a b c', 'expected a STL')])
def test_bad_files_are_refused_in_a_sentence(tmp_path, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshError, match=said):
        load_mesh(tmp_path / name)
    with pytest.raises(MeshError, match='No such file'):
        load_mesh(tmp_path / 'none.stl')


@pytest.mark.parametrize('x', [0.25, 0.0, 1.0, 2.0])
def test_a_cut_keeps_the_surface_and_leaves_nothing_across(x):
    parts = cut(SOLID, x)
    assert volume(parts) == pytest.approx(volume(SOLID))
    below, above = parts[..., 0].min(axis=1) < x - 1e-9, parts[..., 0].max(axis=1) > x + 1e-9
    assert not (below & above).any()


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def test_a_long_mesh_bends_with_its_sections(arm):
    bar = SOLID * (2.0, 0.1, 0.1)
    skin = bent_mesh(arm, 'link2', bar, np.eye(4))
    assert len(skin.faces) > 40
    q = arm.statics([0.0, 1.2, 0.4, 0.2])[0]
    pose = arm.pose(q, 'link2')
    points = skin.vertices(q, pose)
    straight = skin.vertices(np.zeros(arm.n), np.eye(4))
    for at in np.random.default_rng(2).integers(0, len(points), 20):
        section = arm.pose(q, 'link2', float(np.clip(straight[at, 0], 0.0, 2.0)))
        expected = section[:3, 3] + section[:3, 1:3] @ straight[at, 1:]
        assert np.allclose(points[at], expected, atol=2e-5)      # between two stations: linear
    assert volume(points[skin.faces]) == pytest.approx(volume(bar), rel=0.02)


def test_a_mirrored_mesh_still_looks_outwards(arm):
    skin = bent_mesh(arm, 'link2', SOLID, np.diag((1.0, -0.1, 0.1, 1.0)))
    assert volume(skin.vertices(np.zeros(arm.n), np.eye(4))[skin.faces]) > 0.0


URDF = """<robot name="meshed">
  <material name="red"><color rgba="1 0 0 0.5"/></material>
  <link name="base"/>
  <link name="boom">
    <visual><origin xyz="0.5 0 0"/><geometry><mesh filename="{mesh}" scale="2 0.1 0.1"/></geometry>
    <material name="red"/></visual>
  </link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="boom"/>
    <axis xyz="0 0 1"/></joint>
  <flexible link="boom"><beam length="3"><section shape="circle" radius="0.02"/>
    <material name="steel"/></beam></flexible>
</robot>"""


@pytest.mark.parametrize('kind', ['path', 'file', 'package'])
def test_a_flexible_link_with_a_mesh_is_drawn_as_its_mesh(tmp_path, monkeypatch, kind):
    place = tmp_path / 'share' / 'looks' / 'boom.stl'
    place.parent.mkdir(parents=True)
    place.write_bytes(binary_stl(SOLID))
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    name = {'path': 'share/looks/boom.stl', 'file': place.as_uri(),
            'package': 'package://looks/boom.stl'}[kind]
    (tmp_path / 'meshed.urdf').write_text(URDF.format(mesh=name))
    model = Model(load_robot(tmp_path / 'meshed.urdf'))
    assert mesh_path(name, model.robot) == place
    robot = BentRobot(model)
    assert robot.problems == []
    points = robot.at(np.zeros(model.n)).vertices['boom']
    assert points[:, 0].min() == pytest.approx(0.5) and points[:, 0].max() == pytest.approx(2.5)
    visual, = read_visuals(model.robot)['boom']
    assert visual.colour == (1.0, 0.0, 0.0, 0.5)


def test_a_missing_mesh_is_told_and_the_section_drawn(tmp_path):
    (tmp_path / 'meshed.urdf').write_text(URDF.format(mesh='gone.stl'))
    model = Model(load_robot(tmp_path / 'meshed.urdf'))
    robot = BentRobot(model)
    assert 'gone.stl' in robot.problems[0] and 'drawn as its section' in robot.problems[0]
    points = robot.at(np.zeros(model.n)).vertices['boom']
    assert points[:, 0].max() == pytest.approx(3.0) and points[:, 1].max() < 0.021


def test_a_package_is_found_around_the_urdf(tmp_path, monkeypatch):
    """As in a checkout that is not installed: by the name of a folder, or by its package.xml."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    source = tmp_path / 'looks' / 'urdf' / 'boom.urdf'
    source.parent.mkdir(parents=True)
    (tmp_path / 'looks' / 'boom.stl').write_bytes(binary_stl(SOLID))
    (tmp_path / 'looks' / 'package.xml').write_text('<package><name> other </name></package>')
    for package in ('looks', 'other'):
        source.write_text(URDF.format(mesh=f'package://{package}/boom.stl'))
        robot = load_robot(source)
        assert mesh_path(f'package://{package}/boom.stl', robot) == tmp_path / 'looks/boom.stl'
        # RViz looks in installed packages only.
        assert mesh_uri(f'package://{package}/boom.stl', robot) == (
            tmp_path / 'looks/boom.stl').as_uri()


def test_a_package_is_found_in_ros_package_path(tmp_path, monkeypatch):
    monkeypatch.setenv('ROS_PACKAGE_PATH', f'/nowhere:{tmp_path}')
    place = tmp_path / 'looks' / 'boom.stl'
    place.parent.mkdir()
    place.write_bytes(binary_stl(SOLID))
    for uri in ('package://looks/boom.stl', 'package:///looks/boom.stl'):
        assert mesh_path(uri, load_robot('lab_link')) == place


def test_an_unresolved_package_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/opt/a:/opt/b:/opt/c:/opt/d')
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    robot = load_robot('lab_link')
    with pytest.raises(MeshError) as caught:
        mesh_path('package://looks/boom.stl', robot)
    assert str(caught.value) == (
        'package://looks/boom.stl: expected the package, found none in AMENT_PREFIX_PATH (/opt/a, '
        '/opt/b, /opt/c and 1 more), in ROS_PACKAGE_PATH (empty) or around the URDF; source the '
        'setup file of its workspace, or set ROS_PACKAGE_PATH to the folder that holds the '
        'package')
    assert mesh_uri('package://looks/boom.stl', robot) == 'package://looks/boom.stl'
    (tmp_path / 'share' / 'looks').mkdir(parents=True)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(MeshError, match=f'expected this file in {tmp_path}/share/looks, found '):
        mesh_path('package://looks/boom.stl', robot)


SHAPES = """<robot name="shapes"><link name="base"><visual>
  <origin xyz="1 0 0" quat_xyzw="0 0.70710678 0 0.70710678"/>
  <geometry><capsule radius="0.1" length="0.6"/></geometry></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
  iyz="0"/></inertial></link><joint name="turn" type="continuous"><parent link="base"/>
  <child link="arm"/></joint></robot>"""


def test_a_capsule_has_round_ends_and_is_turned_by_its_quaternion():
    robot = load_robot(SHAPES)
    visual, = read_visuals(robot)['base']
    corners = visual_corners(visual, robot)
    inside = np.linalg.norm(corners - np.clip(corners, (0, 0, -0.3), (0, 0, 0.3)), axis=1)
    assert inside.max() == pytest.approx(0.1)      # every corner is on the capsule
    # a cylinder and a sphere, less what 24 edges cut off
    full = np.pi * 0.1**2 * 0.6 + 4.0 / 3.0 * np.pi * 0.1**3
    assert 0.96 * full < volume(corners.reshape(-1, 3, 3)) < full
    placed = corners @ visual.pose[:3, :3].T + visual.pose[:3, 3]
    assert placed[:, 0].min() == pytest.approx(0.6) and placed[:, 0].max() == pytest.approx(1.4)
    rigid = [marker for marker in RobotMarkers(Model(robot)).at(0.0, np.zeros(1))
             if marker.ns == 'rigid']
    assert len(rigid[0].points) == len(corners) and rigid[0].position == [1.0, 0.0, 0.0]
