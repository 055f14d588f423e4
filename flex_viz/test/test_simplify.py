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
"""Simplified meshes, vertices along sharp edges, colours of files, and automatic exaggeration."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_description.visuals.shapes import GREY, coloured_corners, read_visuals, solid
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.colours import rgb
from flex_viz.geometry.exaggeration import LARGEST, VISIBLE, AutomaticExaggeration
from flex_viz.geometry.simplify import indexed, simplified

MATERIAL = """<effect id="{0}e"><profile_COMMON><technique><phong><diffuse><color>{1}</color>
    </diffuse></phong></technique></profile_COMMON></effect>"""
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<library_effects>{effects}</library_effects><library_materials>
<material id="a"><instance_effect url="#ae"/></material>
<material id="b"><instance_effect url="#be"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="f">0 0 0 1 0 0 0 1 0 0 0 1</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles material="first" count="2"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 1 2 0 2 3</p></triangles>
<triangles material="second" count="1"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 3 1</p></triangles>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>1 2 3</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene><node>
<instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="first" target="#a"/><instance_material symbol="second" target="#b"/>
</technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes></COLLADA>"""
URDF = """<robot name="painted"><link name="base"><visual><geometry><mesh filename="a.dae"/>
    </geometry>{material}</visual></link></robot>"""


def sphere(times):
    """Triangles of a sphere of diameter one, each split into 4 as often as that."""
    triangles = solid('sphere').reshape(-1, 3, 3)
    for _ in range(times):
        a, b, c = np.moveaxis(triangles, 1, 0)
        ab, bc, ca = (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0
        triangles = np.concatenate([np.stack(three, axis=1) for three in (
            (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return triangles / np.linalg.norm(triangles, axis=2, keepdims=True) / 2.0


@pytest.mark.parametrize('most', [2000, 300, 60])
def test_a_simplified_sphere_keeps_its_shape(most):
    full = sphere(2)
    few = simplified(full, most)
    assert 0.3 * most < len(few) <= most < len(full)
    radius = np.linalg.norm(few, axis=2)
    assert np.abs(radius - 0.5).max() < 1.5 / np.sqrt(most)
    volume = np.linalg.det(few).sum() / 6.0
    assert volume == pytest.approx(np.pi / 6.0, rel=5.0 / most**0.75)
    assert simplified(few, most) is few


def test_flat_faces_stay_flat_and_edges_sharp():
    """A box of many triangles: the quadrics put vertices on its faces, edges and corners."""
    grid = np.linspace(-0.5, 0.5, 21)
    cells = [np.array([(x, y, 0.5), (x + 0.05, y, 0.5), (x + 0.05, y + 0.05, 0.5), (x, y, 0.5),
                       (x + 0.05, y + 0.05, 0.5), (x, y + 0.05, 0.5)])
             for x in grid[:-1] for y in grid[:-1]]
    face = np.concatenate(cells).reshape(-1, 3, 3)
    turns = [np.roll(face, k, axis=2) for k in range(3)]
    box = np.concatenate([*turns, *(-one[:, ::-1] for one in turns)])
    few = simplified(box, 400)
    assert len(few) <= 400
    assert np.abs(np.abs(few).max(axis=2) - 0.5).max() < 1e-6      # on a face
    assert np.abs(few.reshape(-1, 3)).min(axis=1).max() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize('triangles', [np.zeros((5, 3, 3)), np.full((9, 3, 3), 1e5),
                                       np.ones((4, 3, 3)) * [1.0, 0.0, 0.0]])
def test_meshes_without_extent_are_no_trouble(triangles):
    assert len(simplified(triangles, 2)) <= 2
    served, faces = indexed(triangles)
    assert faces.shape == (len(triangles), 3) and len(served) > faces.max()


def test_vertices_are_shared_where_the_surface_is_smooth():
    box = solid('box').reshape(-1, 3, 3)
    served, faces = indexed(box)
    assert len(served) == 26                    # three at each corner, and two in the caps
    assert np.allclose(box.reshape(-1, 3)[served][faces], box)
    ball = sphere(1)
    served, faces = indexed(ball)
    assert len(served) == len(np.unique(np.rint(1e6 * ball.reshape(-1, 3)), axis=0))
    assert np.allclose(ball.reshape(-1, 3)[served][faces], ball)
    assert len(indexed(np.zeros((0, 3, 3)))[0]) == 0


def test_meshes_have_the_colours_of_their_file_unless_the_urdf_gives_one(tmp_path):
    effects = MATERIAL.format('a', '1 0.5 0 1') + MATERIAL.format('b', '0 0 2')
    (tmp_path / 'a.dae').write_text(DAE.format(effects=effects))
    found = {}
    for name, material in (('own', ''),
                           ('urdf', '<material name="m"><color rgba="0 1 0 1"/></material>')):
        path = tmp_path / f'{name}.urdf'
        path.write_text(URDF.format(material=material))
        robot = load_robot(path)
        pieces = coloured_corners(read_visuals(robot)['base'][0], robot)
        found[name] = {colour: len(corners) // 3 for corners, colour in pieces}
    assert found['own'] == {(1.0, 0.5, 0.0, 1.0): 2, (0.0, 0.0, 1.0, 1.0): 1, GREY: 1}
    assert found['urdf'] == {(0.0, 1.0, 0.0, 1.0): 4}


def cielab(rgb):
    """Colours (k, 3) of sRGB in the space in which equal distances look equal."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)**2.4)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192],
                             [0.1805, 0.0722, 0.9505]]) / (0.9505, 1.0, 1.089)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16.0 / 116.0).T
    return np.column_stack((116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)))


def test_the_colours_of_strain_are_even_and_grey_in_the_middle():
    colours = rgb(np.linspace(-1.0, 1.0, 41), 1.0, 'strain')
    steps = np.linalg.norm(np.diff(cielab(colours), axis=0), axis=1)
    assert steps.max() < 1.5 * steps.min()
    assert np.ptp(colours[20]) < 0.01
    assert (colours[:15, 2] > colours[:15, 0] + 0.1).all()
    assert (colours[26:, 0] > colours[26:, 2] + 0.1).all()


def test_the_factor_shows_bending_and_goes_in_round_steps():
    auto = AutomaticExaggeration(2.0)
    for deflection in np.geomspace(1e-4, 1.0, 50):
        factor = auto.target(deflection)
        mantissa = factor / 10.0**np.floor(np.log10(factor) + 1e-9)
        assert min(abs(mantissa - step) for step in (1.0, 2.0, 5.0)) < 1e-9
        assert 1.0 <= factor <= LARGEST
        if 1.0 < factor < LARGEST:
            assert 0.39 * VISIBLE < factor * deflection / 2.0 <= VISIBLE * (1.0 + 1e-6)
    assert auto.target(0.0) == auto.target(np.nan) == 1.0


def test_the_factor_remembers_peaks_and_changes_gently():
    auto, steps = AutomaticExaggeration(1.0), []
    assert auto.factor(0.0, 0.0, 0.01) == 10.0
    for at in range(1, 900):      # 30 s, with a push in the first second
        steps.append(auto.factor(at / 30.0, at / 30.0, 0.1 if at < 30 else 0.01))
    assert steps[200] == 1.0 and steps[-1] == 10.0
    assert np.abs(np.diff(np.log(steps))).max() < 0.25
    auto.reset()
    assert auto.factor(31.0, 0.0, 0.01) == 10.0


def test_the_largest_deflection_is_that_of_the_tip_or_a_beam():
    model = Model(load_robot('cibicik_arm'))
    robot = BentRobot(model)
    straight = np.zeros(model.n)
    assert robot.largest_deflection(straight) < 1e-12
    straight[:model.n_joints] = 0.5
    bent = model.statics(straight[:model.n_joints])[0]
    moved = [np.linalg.norm((model.pose(bent, frame) - model.pose(straight, frame))[:3, 3])
             for frame in ('link3', 'link4')]
    assert robot.largest_deflection(bent) >= max(moved) - 1e-9
