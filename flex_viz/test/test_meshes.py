"""Meshes: read from their files, cut across the beam, bent with it."""
import struct

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.mesh_file import MeshError, load_mesh
from flex_viz.geometry.skin import bent_mesh, cut
from flex_viz.geometry.visuals import mesh_path, read_visuals

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
