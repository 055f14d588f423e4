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
"""Mesh files from anywhere: triangles or a MeshError, within stated time and memory."""
import os
import re
import struct
import time

import numpy as np
import pytest
from test_meshes import FACES, SOLID, URDF, binary_stl, collada, obj, text_stl

from flex_description import load_robot
from flex_description.visuals import mesh_collada, mesh_limits
from flex_description.visuals.mesh_file import MeshError, load_mesh
from flex_description.visuals.mesh_path import mesh_path
from flex_description.visuals.shapes import Visual, read_visuals, visual_corners
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.rviz.robot_markers import RobotMarkers

SEED, MUTANTS = 20240611, 1500      # a format


def dae(scene, nodes='', geometry=None):
    """The tetrahedron's file with another scene."""
    text = collada().decode()
    text = re.sub('<visual_scene.*</visual_scene>',
                  lambda _: f'<visual_scene id="s">{scene}</visual_scene>', text, flags=re.S)
    text = text.replace('<library_visual_scenes>',
                        f'<library_nodes>{nodes}</library_nodes><library_visual_scenes>')
    return (geometry(text) if geometry else text).encode()


def bomb(depth=40, leaf='<instance_geometry url="#g"/>'):
    """Every node is two of the next: 2^depth at the end."""
    nodes = ''.join(f'<node id="b{at}">' + f'<instance_node url="#b{at + 1}"/>' * 2 + '</node>'
                    for at in range(depth))
    return dae('<instance_node url="#b0"/>', f'{nodes}<node id="b{depth}">{leaf}</node>')


def refused(tmp_path, data, said, name='a.dae'):
    (tmp_path / name).write_bytes(data)
    began = time.process_time()
    with pytest.raises(MeshError, match=said) as found:
        load_mesh(tmp_path / name)
    assert time.process_time() - began < 20.0      # a bomb would take days
    assert len(str(found.value)) < 700 and str(found.value).isprintable()


@pytest.mark.parametrize('leaf', ['<instance_geometry url="#g"/>', '',
                                  f'<matrix>{"1 " * 16}</matrix>'])
def test_nodes_that_name_each_other_are_counted(tmp_path, leaf):
    refused(tmp_path, bomb(leaf=leaf), 'more than 100000 nodes and instances')


def test_instances_are_counted_by_their_triangles_too(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_limits, 'LARGEST_MESH', 1000)
    refused(tmp_path, bomb(12), 'more than 1000 triangles')


def test_a_node_within_itself_is_refused(tmp_path):
    refused(tmp_path, dae('<instance_node url="#b0"/>',
                          '<node id="b0"><instance_node url="#b0"/></node>'), 'more than 100 deep')
    refused(tmp_path, dae('<node>' * 150 + '</node>' * 150), 'more than 100 deep')
    refused(tmp_path, b'<a>' * 10**6 + b'</a>' * 10**6, 'more than 200 deep')
    refused(tmp_path, b'<a>' + b'<b/>' * 600_000 + b'</a>', 'more than 500000 elements')


def test_many_instances_that_are_few_enough_are_drawn(tmp_path):
    (tmp_path / 'a.dae').write_bytes(bomb(10))
    assert len(load_mesh(tmp_path / 'a.dae')) == 4 * 2**10


LAUGHS = ('<!DOCTYPE a [<!ENTITY b0 "haha">'
          + ''.join(f'<!ENTITY b{at} "{f"&b{at - 1};" * 10}">' for at in range(1, 12))
          + ']><COLLADA>&b11;</COLLADA>')


@pytest.mark.parametrize('encoding', ['utf-8', 'utf-16', 'utf-16-le', 'utf-16-be', 'utf-8-sig'])
@pytest.mark.parametrize('text', [
    LAUGHS, '<!DOCTYPE a SYSTEM "file:///etc/passwd"><COLLADA/>',
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA>&b;</COLLADA>'])
def test_entities_are_refused_in_every_encoding(tmp_path, text, encoding):
    data = text.encode(encoding)
    refused(tmp_path, data, 'DOCTYPE' if not encoding.endswith(('le', 'be')) else 'DAE mesh')


def test_utf_16_without_entities_is_read(tmp_path):
    text = collada().decode().replace('<?xml version="1.0"?>',
                                      '<?xml version="1.0" encoding="utf-16"?>')
    (tmp_path / 'a.dae').write_bytes(text.encode('utf-16'))
    assert np.allclose(load_mesh(tmp_path / 'a.dae'), SOLID, atol=1e-6)


@pytest.mark.parametrize('old, new, said', [
    ('<translate>50 0 0', '<translate>50', '<translate> with 1 numbers instead of 3'),
    ('<rotate>0 0 1 0', '<rotate>0 0 0 0', 'axis without length'),
    ('<rotate>0 0 1 0', '<rotate>nan 0 1 0', 'axis without length'),
    ('<scale>1 1 1', '<scale>1e300 1 1', 'finite coordinates'),
    ('url="#g"', 'url="#h"', "a geometry 'h' that is not there"),
    ('source="#v"', 'source="#w"', "a source '' that is not there"),
    ('semantic="VERTEX"', 'semantic="X"', 'without vertices'),
    ('offset="1"', 'offset="99999999999999"', 'offsets'), ('offset="0"', 'offset="-1"', 'offsets'),
    ('<p>0', '<p>-1', 'not there'), ('<p>0', '<p>4', 'not there'),
    ('<p>0', '<p>' + '9' * 30, 'DAE mesh'), ('<p>0', '<p>0 0', 'DAE mesh'),
    ('meter="0.01"', 'meter="nan"', 'finite coordinates'),
    ('meter="0.01"', f'meter="{"1" * 10**5}"', 'finite coordinates'),
    ('meter="0.01"', f'meter="{"x" * 10**5}"', 'could not convert')])
def test_wrong_numbers_are_refused_in_a_sentence(tmp_path, old, new, said):
    assert old in collada().decode()
    refused(tmp_path, collada().decode().replace(old, new).encode(), said)


def test_polygons_of_any_size_are_cut_into_fans(tmp_path):
    """Counts that do not fit are refused; a ring of five corners is three triangles."""
    text = collada('polylist').decode()
    for counts in ('3 3 3', '3 3 3 4', '-3 3 3 9', '12 0 0 -0 1', f'3 3 3 {2**62}'):
        refused(tmp_path, text.replace('<vcount>3 3 3 3', f'<vcount>{counts}').encode(),
                '<vcount> that does not fit|DAE mesh')
    (tmp_path / 'a.dae').write_bytes(text.replace('<vcount>3 3 3 3', '<vcount>5 7 0').encode())
    corners = FACES.ravel()
    fans = [(0, at, at + 1) for at in (1, 2, 3)] + [(5, at, at + 1) for at in range(6, 11)]
    expected = SOLID.reshape(-1, 3)[np.array(fans)]
    assert np.allclose(load_mesh(tmp_path / 'a.dae'), expected) and len(corners) == 12


@pytest.mark.parametrize('data, said', [
    (b'v 1\nf 1 1 1', 'a vertex with 1 coordinates in line 1'), (b'v\n', '0 coordinates'),
    (b'v 0 0 0\nf 1 1 99999999999999999999999999', 'not there in line 2'),
    (b'v 0 0 0\nf -1 -1 -2', 'not there'), (b'v 0 0 0\nf 1 1', 'no face'), (b'', 'no face'),
    (b'v 0 0 0\nf 1 1 x', 'OBJ mesh'), (b'v 0 0 1e999\nf 1 1 1', 'finite coordinates'),
    (b'v 0 0 0\nf ' + b'9' * 5000 + b' 1 1', 'OBJ mesh'), (b'\xff\xfe\x00', 'no face')])
def test_bad_obj_files_are_refused_in_a_sentence(tmp_path, data, said):
    refused(tmp_path, data, said, 'a.obj')


def test_huge_files_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr('flex_description.visuals.mesh_file.LARGEST_FILE', 10**6)
    with (tmp_path / 'a.stl').open('wb') as file:
        file.truncate(10**12)      # a file of zeros that takes no place
    refused(tmp_path, b'', 'neither', 'b.stl')
    with pytest.raises(MeshError, match='a file larger than 1 MB'):
        load_mesh(tmp_path / 'a.stl')
    monkeypatch.setattr(mesh_limits, 'LARGEST_MESH', 100)
    refused(tmp_path, binary_stl(np.zeros((101, 3, 3))), 'more than 100 triangles', 'c.stl')
    refused(tmp_path, text_stl(np.zeros((101, 3, 3))), 'more than 100 triangles', 'c.stl')
    refused(tmp_path, b'v 0 0 0\n' + b'f 1 1 1\n' * 101, 'more than 100 triangles', 'c.obj')
    refused(tmp_path, b'v 0 0 0\nf' + b' 1' * 103, 'more than 100 triangles', 'c.obj')
    refused(tmp_path, struct.pack('<80xI', 2**32 - 1) + bytes(500), 'neither', 'c.stl')


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / 'pipe.stl')
    (tmp_path / 'zero.stl').symlink_to('/dev/zero')
    (tmp_path / 'folder.stl').mkdir()
    (tmp_path / 'loop.stl').symlink_to('loop.stl')
    for name in ('pipe', 'zero', 'folder'):
        with pytest.raises(MeshError, match='not a regular file'):
            load_mesh(tmp_path / f'{name}.stl')
    for path in (tmp_path / 'loop.stl', tmp_path / ('x' * 500 + '.stl'), tmp_path / 'a\0.stl'):
        with pytest.raises(MeshError):
            load_mesh(path)


def mutants(data, count, rng):
    """Bytes changed, cut out, doubled; numbers and names replaced by nasty ones."""
    words = [b'nan', b'inf', b'-1', b'1e999', b'0', b'99999999999', b'\xff', b'<', b'"', b'', b' ',
             b'vertex', b'f', b'v', b'</p>', b'#g', b'#v', b'<node>', b'&x;', b'4294967295']
    parts = re.split(rb'(\W)', data)
    for at in range(count):
        if at % 2:
            changed = bytearray(data)
            for _ in range(rng.integers(1, 8)):
                place = int(rng.integers(len(changed) + 1))
                kind = rng.integers(4)
                if kind == 0 and place < len(changed):
                    changed[place] = rng.integers(256)
                elif kind == 1:
                    del changed[place:place + int(rng.integers(1, 40))]
                elif kind == 2:
                    changed[place:place] = changed[place - 20:place]
                else:
                    changed[place:place] = words[rng.integers(len(words))]
            yield bytes(changed)
        else:
            changed_parts = list(parts)
            for _ in range(rng.integers(1, 5)):
                changed_parts[rng.integers(len(parts))] = words[rng.integers(len(words))]
            yield b''.join(changed_parts)


@pytest.mark.parametrize('name, data', [
    ('a.stl', binary_stl(SOLID)), ('b.stl', text_stl(SOLID)), ('c.obj', obj()),
    ('d.dae', collada()), ('e.dae', collada('polylist')), ('f.dae', collada('polygons')),
    ('g.dae', bomb(3))], ids=lambda value: value if isinstance(value, str) else '')
def test_mutants_give_triangles_or_a_sentence(tmp_path, name, data):
    """Seeded: the same files in every run."""
    read = 0
    for mutant in mutants(data, MUTANTS, np.random.default_rng(SEED)):
        (tmp_path / name).write_bytes(mutant)
        try:
            found = load_mesh(tmp_path / name)
        except MeshError as error:
            assert len(str(error)) < 700
            continue
        read += 1
        assert found.ndim == 3 and found.shape[1:] == (3, 3) and np.isfinite(found).all()
    assert 0 < read < MUTANTS      # it tries both


@pytest.mark.parametrize('uri', [
    'package://[x/y.stl', 'package://[::1/y.stl', 'package://', 'package://x', 'file://[/y.stl',
    'file://', 'package://a/%00.stl', f'package://a/{"x" * 5000}.stl', 'file:///%00.stl',
    'http://evil.example/a.stl', 'x' * 5000, 'package://a/../../../../etc/passwd', '\ufffd.stl',
    'package:///y.stl', '://', '[', 'package://a]b/c.obj'])
def test_addresses_of_meshes_that_are_none(tmp_path, monkeypatch, uri):
    """They ended the markers node; now the link is drawn as its section and a line says why."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    (tmp_path / 'meshed.urdf').write_text(URDF.format(mesh=uri))
    model = Model(load_robot(tmp_path / 'meshed.urdf'))
    markers = RobotMarkers(model)
    problem, = markers.robot.problems
    assert 'drawn as its section' in problem and len(problem) < 700
    assert markers.at(0.0, np.zeros(model.n))


def test_a_package_with_brackets_in_its_name_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    place = tmp_path / 'share' / '[x' / 'y z.stl'
    place.parent.mkdir(parents=True)
    place.write_bytes(binary_stl(SOLID))
    robot = load_robot('lab_link')
    assert mesh_path('package://[x/y%20z.stl', robot) == place
    assert mesh_path(f'file://{place.parent}/y%20z.stl', robot) == place
    assert mesh_path(f'file://localhost{place}', robot) == place


def test_a_mesh_larger_than_the_world_is_not_drawn(tmp_path):
    (tmp_path / 'a.stl').write_bytes(binary_stl(1e10 * SOLID))
    for scale in ('1 1 1', '1e30 1e30 1e30'):
        (tmp_path / 'meshed.urdf').write_text(URDF.format(mesh='a.stl').replace('2 0.1 0.1',
                                                                                 scale))
        model = Model(load_robot(tmp_path / 'meshed.urdf'))
        assert 'expected points within 1e+06 m' in BentRobot(model).problems[0]
    box = Visual('box', np.eye(4), np.full(3, 1e300), (1.0, 1.0, 1.0, 1.0))
    with pytest.raises(MeshError, match='within'):
        visual_corners(box, model.robot)


def test_a_mesh_that_grows_as_it_is_cut_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr('flex_viz.geometry.skin.LARGEST_MESH', 50)
    (tmp_path / 'a.stl').write_bytes(binary_stl(np.concatenate([SOLID] * 10)))
    (tmp_path / 'meshed.urdf').write_text(URDF.format(mesh='a.stl'))
    model = Model(load_robot(tmp_path / 'meshed.urdf'))
    robot = BentRobot(model)
    assert 'cut so that it can bend' in robot.problems[0]
    assert len(robot.skins['boom'].faces) and read_visuals(model.robot)


def test_the_limits_are_those_of_the_documentation():
    assert (mesh_limits.LARGEST_MESH, mesh_limits.LARGEST_FILE, mesh_limits.LARGEST_ROBOT) == (
        2_000_000, 200_000_000, 4_000_000)
    assert (mesh_collada.INSTANCES, mesh_collada.DEPTH) == (100_000, 100)
