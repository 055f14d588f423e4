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
"""Bent links as solids: closed, where the model has its sections, of the right strain."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_description.math import exponential
from flex_dynamics import Model
from flex_viz.geometry.coordinates import amplitudes, scaled, tip_frame
from flex_viz.geometry.frames import transform_points
from flex_viz.geometry.gauges import Gauges
from flex_viz.geometry.skin import CORNERS, SLIM, STATIONS, swept


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def bent(arm):
    q = arm.statics([0.3, 0.8, 1.0, 0.5])[0]
    rng = np.random.default_rng(1)
    q[arm.n_joints:] += 0.02 * rng.standard_normal(arm.n - arm.n_joints)      # twist too
    return q


@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree', 'lin_lewis_one_link'])
@pytest.mark.parametrize('order', ['first', 'second'])
def test_sections_are_where_the_model_has_them(name, order):
    model = Model(load_robot(name), order)
    q = 0.03 * np.random.default_rng(0).standard_normal(model.n)
    for link in [one for one in model.robot.links if one.flexible is not None]:
        stations = np.array([0.0, 0.3, 1.0]) * link.flexible.length
        position, rotation = model.sections(link.name, stations).poses(q)
        outer = model.pose(q, link.name) @ link.flexible.origin
        for at, x in enumerate(stations):
            pose = model.pose(q, link.name, x)
            assert np.allclose(transform_points(position[at], outer), pose[:3, 3], atol=1e-12)
            assert np.allclose(outer[:3, :3] @ rotation[at], pose[:3, :3], atol=1e-12)


def test_exponential_of_no_turn_a_small_one_and_half_a_turn():
    turns = np.array([(0.0, 0.0, 0.0), (1e-9, 0.0, 0.0), (0.0, 0.0, np.pi)])
    found = exponential(turns)
    assert np.array_equal(found[0], np.eye(3)) and found[1, 2, 1] == 1e-9
    assert np.allclose(found[2], np.diag((-1.0, -1.0, 1.0)), atol=1e-15)
    assert np.allclose(found @ found.transpose(0, 2, 1), np.eye(3), atol=1e-15)


def test_the_surface_is_closed_and_holds_the_link(arm):
    skin = swept(arm, 'link2')
    edges = [tuple(sorted(pair)) for a, b, c in skin.faces for pair in ((a, b), (b, c), (c, a))]
    assert all(edges.count(edge) == 2 for edge in set(edges))
    points = skin.vertices(np.zeros(arm.n), np.eye(4))
    assert np.ptp(points[:, 0]) == pytest.approx(2.0)
    corners = points[skin.faces]
    volume = np.einsum('fi,fi->f', corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    half = np.abs(points[:, 1:]).max()
    assert 0.0 < volume < 2.0 * (2.0 * half)**2 and volume > 0.5 * 2.0 * (2.0 * half)**2


def test_the_skin_follows_the_bent_and_twisted_axis(arm, bent):
    skin = swept(arm, 'link3')
    pose = arm.pose(bent, 'link3')
    rings = skin.vertices(bent, pose).reshape(STATIONS, CORNERS, 3)
    for at, x in ((0, 0.0), (STATIONS // 2, 0.9), (STATIONS - 1, 1.8)):
        section = arm.pose(bent, 'link3', x)
        assert np.allclose(rings[at].mean(axis=0), section[:3, 3], atol=1e-9)
        local = (rings[at] - section[:3, 3]) @ section[:3, :3]
        straight = skin.vertices(np.zeros(arm.n), np.eye(4)).reshape(STATIONS, CORNERS, 3)[at]
        assert np.allclose(local[:, 1:], straight[:, 1:], atol=1e-9)


def volume(corners):
    """m3 within triangles (3 f, 3) whose outer sides look outwards."""
    a, b, c = corners.reshape(-1, 3, 3).transpose(1, 0, 2)
    return np.einsum('fi,fi->', a, np.cross(b, c)) / 6


@pytest.mark.parametrize('name, link', [('cibicik_arm', 'link2'), ('lab_link', 'link1'),
                                        ('flexible_tree', 'left_arm')])
def test_the_straight_link_is_the_same_body_slimmer_with_fewer_triangles(name, link):
    model = Model(load_robot(name))
    skin = swept(model, link)
    whole = skin.vertices(np.zeros(model.n), np.eye(4))[skin.faces.ravel()]
    few = skin.straight()
    assert volume(few) == pytest.approx(SLIM**2 * volume(whole), rel=1e-9) and volume(few) > 0.0
    assert len(few) < 0.2 * len(whole)
    assert np.allclose(np.sort(np.ptp(few, axis=0) / np.ptp(whole, axis=0)), [SLIM, SLIM, 1.0])


@pytest.mark.parametrize('name', ['canadarm', 'de_luca_siciliano', 'lab_link', 'cibicik_arm'])
def test_a_section_thin_as_a_hair_is_drawn_to_be_seen_with_its_own_strain(name):
    model = Model(load_robot(name))
    link = next(one for one in model.robot.links if one.flexible is not None)
    skin, length = swept(model, link.name), link.flexible.length
    points = skin.vertices(np.zeros(model.n), np.eye(4))
    drawn = np.abs(transform_points(points, np.linalg.inv(link.flexible.origin))[:, 1:]).max()
    half = link.flexible.properties(np.zeros(1))
    widths = float(half.half_z[0]), float(half.half_y[0])
    true = max(widths)
    hair = name in ('canadarm', 'de_luca_siciliano')
    assert drawn == pytest.approx(0.01 * length if hair else true, rel=0.05)
    q = np.zeros(model.n)
    q[amplitudes(model, link.name)] = 0.01
    curvature = model.sections(
        link.name, np.linspace(0.0, length, STATIONS)).curvature(q)
    most = float((np.abs(curvature[:, 1:]) @ widths).max())      # at a corner, were it square
    assert 0.5 * most < np.abs(skin.strain(q)).max() <= most * (1.0 + 1e-9)


def test_strain_is_that_of_the_curvature(arm, bent):
    skin = swept(arm, 'link2')
    points = skin.vertices(np.zeros(arm.n), np.eye(4))
    for at in (5, 100, 200):
        x, y, z = points[at]
        _, about_y, about_z = arm.curvature(bent, 'link2', x)
        assert skin.strain(bent)[at] == pytest.approx(z * about_y - y * about_z, abs=1e-9)


def test_deflection_of_the_tip_and_none_at_the_root(arm, bent):
    skin = swept(arm, 'link2')
    deflection = skin.deflection(bent).reshape(STATIONS, CORNERS)
    tip = np.linalg.inv(arm.pose(bent, 'link2')) @ arm.pose(bent, 'link2', 2.0)
    assert deflection[0].max() < 1e-12
    assert abs(deflection[-1].mean() - np.linalg.norm(tip[:3, 3] - (2.0, 0.0, 0.0))) < 0.01
    assert skin.deflection(np.zeros(arm.n)).max() < 1e-12


def test_gauges_read_and_sit_where_they_are(arm, bent):
    gauges = Gauges(arm)
    assert gauges.names[:2] == ['link2_root_y', 'link2_root_z']
    _, about_y, about_z = arm.curvature(bent, 'link2', 0.1)
    assert np.allclose(gauges.strain(bent)[:2], [-0.025 * about_z, 0.025 * about_y], atol=1e-15)
    poses = {name: arm.pose(bent, name) for name in ('link2', 'link3')}
    section = arm.pose(bent, 'link2', 0.1)
    assert np.allclose(gauges.positions(bent, poses)[0],
                       section[:3, 3] + 0.025 * section[:3, 1], atol=1e-12)


def test_exaggeration_leaves_joints_and_motors():
    model = Model(load_robot('mladenova_arm'))
    q = np.arange(1.0, model.n + 1.0)
    elastic = amplitudes(model)
    twice = scaled(model, q, 2.0)
    assert np.array_equal(twice[elastic], 2.0 * q[elastic])
    others = np.setdiff1d(np.arange(model.n), elastic)
    assert np.array_equal(twice[others], q[others])
    assert not any(name.endswith('/motor') for name in np.array(model.names)[elastic])


def test_the_tip_is_the_end_of_the_longest_chain(arm):
    assert tip_frame(arm) == 'tool'
    assert tip_frame(Model(load_robot('spin_up_beam'))).endswith('/tip')
