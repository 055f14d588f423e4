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
"""mass="keep": beam and root body have the mass, centre and inertia of <inertial>."""
import re

import numpy as np
import pytest

from flex_description import RobotError, load_robot
from flex_description.commands.describe import main as describe
from flex_description.fit.mass import SLACK, pseudo_inertia
from flex_description.link_modes import link_modes
from flex_description.math import pose, rotation_from_rpy
from flex_description.rigid_inertia import link_inertia, lumped_inertia, transformed
from flex_description.robot import Inertia

ARM = """<robot name="arm"><link name="base"/>
<link name="upper">{inertial}</link><link name="hand">
<inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/></joint>
<joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/>
<origin xyz="0 0 0.612"/></joint>{flexible}</robot>"""
INERTIAL = """<inertial><origin xyz="{c[0]!r} {c[1]!r} {c[2]!r}"/><mass value="{m!r}"/>
<inertia ixx="{I[0][0]!r}" iyy="{I[1][1]!r}" izz="{I[2][2]!r}"
 ixy="{I[0][1]!r}" ixz="{I[0][2]!r}" iyz="{I[1][2]!r}"/></inertial>"""
TUBE = {'shape': 'hollow_circle', 'outer_radius': 0.054, 'inner_radius': 0.052}
ALUMINIUM = {'to': 'wrist', 'section': TUBE, 'material': 'aluminium'}
# the upper arm of a UR10, as published
UR10 = Inertia(12.93, np.array([0.0, 0.0, 0.306]), np.diag([0.421753803798, 0.421753803798,
                                                            0.036365625]))


def inertial(body):
    return INERTIAL.format(m=float(body.mass), c=body.centre.tolist(), I=body.tensor.tolist())


def arm(body, flexible=''):
    return ARM.format(inertial='' if body is None else inertial(body), flexible=flexible)


def kept(body, beam, **parts):
    """The flexible link of an overlay, and its robot."""
    robot = load_robot(arm(body), {'flexible': {'upper': {'beam': beam, **parts}}})
    return robot.links[1].flexible, robot


def total(link):
    return link_inertia(link.origin, link, link.masses)


def cloud(rng, points=8):
    """A body of point masses about the arm: any body there is."""
    r = rng.normal(0.0, 0.15, (points, 3)) + [0.02, -0.03, 0.3]
    m = rng.uniform(0.2, 3.0, points)
    centre = m @ r / m.sum()
    d = r - centre
    tensor = (m * (d * d).sum(axis=1)).sum() * np.eye(3) - (d * m[:, None]).T @ d
    return Inertia(float(m.sum()), centre, tensor)


def assert_same(built, wanted):
    size = np.sqrt(np.trace(wanted.tensor) / wanted.mass)
    assert built.mass == pytest.approx(wanted.mass, rel=1e-13)
    assert built.centre == pytest.approx(wanted.centre, abs=1e-13 * max(size, 1.0))
    assert built.tensor == pytest.approx(wanted.tensor, abs=1e-12 * np.trace(wanted.tensor))


@pytest.mark.parametrize('seed', range(30))
def test_mass_centre_and_inertia_are_those_of_inertial(seed):
    rng = np.random.default_rng(seed)
    body = cloud(rng)
    taper = [{'shape': 'rectangle', 'width': w, 'height': h}
             for w, h in rng.uniform(0.01, 0.08, (2, 2))]
    beam = {'length': 0.6, 'origin': {'xyz': rng.normal(0, 0.03, 3), 'rpy': [
        rng.uniform(-3, 3), -np.pi / 2 + rng.normal(0, 0.2), 0.0]}, 'material': 'steel',
        'segments': [{'length': 0.25, 'section': TUBE}, {'length': 0.35, 'sections': taper}]}
    masses = [{'x': 0.3, 'mass': 1e-3 * body.mass, 'xyz': [0, 0.01, 0.02]}] if seed % 2 else []
    link, robot = kept(body, beam, **({'masses': masses} if masses else {}))
    assert_same(total(link), body)
    assert link.fit.mass == 'keep' and robot.links[1].inertia is None
    root, = (mass for mass in link.masses if mass.name == 'root')
    assert root.x == 0.0 and root.mass > 0.0
    # a body that exists, and the beam cannot be heavier
    left = pseudo_inertia(lumped_inertia(root))
    assert np.linalg.eigvalsh(left)[0] > -1e-12 * np.trace(left)
    beam_only = pseudo_inertia(transformed(total(link), np.linalg.inv(link.origin))) - left
    if masses:
        beam_only -= pseudo_inertia(lumped_inertia(link.masses[0]))
    heavier = left - 2 * SLACK * beam_only
    assert np.linalg.eigvalsh(heavier)[0] < 0.0


def test_ur10_upper_arm_keeps_its_kilograms():
    link, robot = kept(UR10, ALUMINIUM)
    assert_same(total(link), UR10)
    root, = link.masses
    # its tensor is that of a rod along the beam
    assert 0.9 < 1.0 - root.mass / UR10.mass < 1.0
    assert robot.warnings == ()
    beam, robot = kept(UR10, ALUMINIUM, mass='beam')
    assert total(beam).mass < 1.2 and 'mass 12.93 and' in robot.warnings[0]


def test_modes_have_the_scaled_mass():
    keep, _ = kept(UR10, ALUMINIUM)
    plain, _ = kept(UR10, ALUMINIUM, mass='beam')
    ratio = [mode.frequency / other.frequency
             for mode, other in zip(link_modes(keep), link_modes(plain), strict=True)]
    assert ratio == pytest.approx(len(ratio) * [keep.fit.mass_factor**-0.5])


def test_a_link_lighter_than_its_section():
    body = Inertia(0.2, np.array([0.0, 0.0, 0.3]), np.diag([0.006, 0.006, 0.0008]))
    link, _ = kept(body, {**ALUMINIUM, 'material': 'steel'})
    assert_same(total(link), body)
    assert link.fit.mass_factor < 0.1


def test_a_centre_off_the_axis_leaves_less_for_the_beam_and_says_so():
    body = Inertia(UR10.mass, np.array([0.0, 0.175, 0.306]), UR10.tensor)
    link, robot = kept(body, ALUMINIUM)
    assert_same(total(link), body)
    assert 'centre of mass, (0 0.175 0.306) m' in robot.warnings[0]
    # the beam where the warning says
    moved = {**ALUMINIUM, 'length': 0.612, 'origin': {'xyz': [0, 0.175, 0],
                                                      'rpy': [0, -np.pi / 2, 0]}}
    del moved['to']
    link, robot = kept(body, moved)
    assert robot.warnings == () and link.masses[0].mass < 0.1 * body.mass


def test_a_density_that_is_a_number_is_not_scaled():
    link, _ = kept(UR10, {**ALUMINIUM, 'material': {'name': 'aluminium', 'density': 2000}})
    assert_same(total(link), UR10)
    at = link.properties(np.zeros(1))
    assert at.mass_per_length[0] == pytest.approx(2000 * np.pi * (0.054**2 - 0.052**2))


@pytest.mark.parametrize('segments', [None, (7850.0, 80000.0)])
def test_too_large_a_density_is_an_error_whose_advice_works(segments):
    if segments is None:
        def beam(scale):
            return {**ALUMINIUM, 'material': {'name': 'steel', 'density': scale}}
        text = error_of(UR10, beam(80000))
        largest = float(re.search(r'largest possible density is (\S+) kg/m3', text)[1])
    else:
        def beam(scale):
            return {'to': 'wrist', 'segments': [
                {'length': 0.306, 'section': TUBE, 'material': {
                    'name': 'steel', 'density': scale * density}} for density in segments]}
        text = error_of(UR10, beam(1.0))
        largest = float(re.search(r'largest possible density is (\S+) times', text)[1])
    assert 'mass 12.93 kg, centre (0 0 0.306) m, inertia' in text and text.count('kg m2') == 2
    link, _ = kept(UR10, beam(largest))
    assert_same(total(link), UR10)
    assert 'largest possible' in error_of(UR10, beam(1.01 * largest))


def error_of(body, beam, **parts):
    with pytest.raises(RobotError) as caught:
        kept(body, beam, **parts)
    return str(caught.value)


def test_inertial_of_exactly_the_beam_needs_no_other_body():
    own = kept(None, ALUMINIUM)[0]
    for material in ('aluminium', {'name': 'aluminium', 'density': 2700}):
        link, robot = kept(total(own), {**ALUMINIUM, 'material': material})
        assert_same(total(link), total(own))
        assert link.fit.mass_factor == pytest.approx(1.0, abs=2 * SLACK)
        assert robot.warnings == ()


def test_lumped_masses_are_part_of_what_is_kept():
    housing = {'x': 0.5, 'mass': 3.0, 'ixx': 0.001, 'iyy': 0.001, 'izz': 0.001}
    link, _ = kept(UR10, ALUMINIUM, masses=[housing])
    assert_same(total(link), UR10)
    assert [mass.mass for mass in link.masses][0] == 3.0
    text = error_of(UR10, ALUMINIUM, masses=[{**housing, 'mass': 13.0}])
    assert 'make the masses smaller' in text


@pytest.mark.parametrize('tensor', [np.zeros((3, 3)), np.diag([0.4, 0.4, 0.0])])
def test_a_point_or_a_rod_has_no_beam_in_it(tensor):
    body = Inertia(12.0, np.array([0.0, 0.0, 0.3]), tensor)
    text = error_of(body, ALUMINIUM)
    assert 'largest possible density is 0' in text and 'use mass "beam"' in text
    assert kept(body, ALUMINIUM, mass='beam')[0].fit.mass == 'beam'


def test_moments_that_no_body_has_are_kept_with_a_warning():
    body = Inertia(5.0, np.array([0.0, 0.0, 0.3]), np.diag([0.2, 0.3, 0.05]))   # 0.3 > 0.25
    link, robot = kept(body, ALUMINIUM)
    assert_same(total(link), body)
    assert any('principal moments that no body has' in warning for warning in robot.warnings)


def test_defaults():
    xml = """<flexible link="upper" {}><beam to="wrist"><section shape="hollow_circle"
        outer_radius="0.054" inner_radius="0.052"/><material name="aluminium"/></beam>
        </flexible>"""
    robot = load_robot(arm(UR10, xml.format('')))
    assert robot.links[1].flexible.fit.mass == 'beam' and 'disagree' in robot.warnings[0]
    robot = load_robot(arm(UR10, xml.format('mass="keep"')))
    assert_same(total(robot.links[1].flexible), UR10)
    # an overlay that changes a link which the URDF has made flexible
    robot = load_robot(arm(UR10, xml.format('')), {'flexible': {'upper': {'damping': 0.01}}})
    assert robot.links[1].flexible.fit.mass == 'beam'
    robot = load_robot(arm(UR10, xml.format('')), {'flexible': {'upper': {'mass': 'keep'}}})
    assert robot.links[1].flexible.fit.mass == 'keep'
    # nothing to keep
    assert kept(None, ALUMINIUM)[0].fit.mass == 'beam'
    assert 'expected an <inertial>' in error_of(None, ALUMINIUM, mass='keep')
    assert 'one of beam, keep' in error_of(UR10, ALUMINIUM, mass=5)


def test_a_density_is_given_for_all_segments_or_for_none():
    def beam(*materials):
        return {'to': 'wrist', 'segments': [
            {'length': 0.306, 'section': TUBE, 'material': material} for material in materials]}
    bare, dense = {'E': 69e9, 'G': 26e9}, {'E': 69e9, 'G': 26e9, 'density': 900}
    assert 'density: expected a positive number' in error_of(UR10, beam(dense, bare))
    assert kept(UR10, beam(dense, dense))[0].fit.mass_factor == 1.0
    assert kept(UR10, beam(bare, bare))[0].fit.mass_factor > 1.0
    named, _ = kept(UR10, beam(dense, 'steel'))
    at = named.properties(np.array([0.1, 0.5])).mass_per_length
    assert at[1] / at[0] == pytest.approx(7850 / 900) and named.fit.mass_factor == 1.0


def test_density_may_be_left_out_where_mass_is_kept():
    material = {'E': 69e9, 'G': 26e9}
    link, _ = kept(UR10, {**ALUMINIUM, 'material': material})
    assert_same(total(link), UR10)
    assert 'density' in error_of(UR10, {**ALUMINIUM, 'material': material}, mass='beam')


def test_the_beam_may_lie_anywhere_in_the_link():
    body = cloud(np.random.default_rng(5))
    place = pose(rotation_from_rpy(np.array([0.3, -1.2, 0.5])), np.array([0.1, 0.2, -0.1]))
    link, _ = kept(body, {'length': 0.5, 'section': TUBE, 'material': 'steel', 'origin': {
        'xyz': [0.1, 0.2, -0.1], 'rpy': [0.3, -1.2, 0.5]}})
    assert link.origin == pytest.approx(place)
    assert_same(total(link), body)


def test_describe_says_where_the_mass_is(tmp_path, capsys):
    (tmp_path / 'arm.urdf').write_text(arm(UR10))
    overlay = tmp_path / 'arm.yaml'
    overlay.write_text('flexible: {upper: {beam: {to: wrist, material: aluminium, section: '
                       '{shape: circle, radius: 0.05}}, stiffness: {tip: 2e5}}}')
    assert describe([str(tmp_path / 'arm.urdf'), str(overlay)]) == 0
    shown = capsys.readouterr().out
    assert 'mass kept from <inertial>: 12.93 kg, of it 12' in shown
    assert 'stiffness asked for: tip 200000 N/m' in shown
    assert '2e+05 N/m along y, 2e+05 N/m along z' in shown
