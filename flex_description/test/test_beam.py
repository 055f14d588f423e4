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
"""Beams of segments: properties, mass of tapers, inertia, materials."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_description.beam import Beam, Segment
from flex_description.materials import MATERIALS, Material
from flex_description.rigid_inertia import beam_inertia
from flex_description.sections import Section

STEEL = MATERIALS['steel']


def disc(radius):
    return Section('circle', {'radius': radius})


def test_a_cone_weighs_as_much_as_a_frustum_of_that_size():
    r, s, length = 0.05, 0.02, 1.2
    body = beam_inertia(Beam((Segment(length, disc(r), disc(s), STEEL),)))
    assert body.mass == pytest.approx(STEEL.density * np.pi * length * (r**2 + r * s + s**2) / 3)
    centre = length / 4 * (r**2 + 2 * r * s + 3 * s**2) / (r**2 + r * s + s**2)
    assert body.centre == pytest.approx([centre, 0, 0])
    along = 3 / 10 * body.mass * (r**5 - s**5) / (r**3 - s**3)
    assert body.tensor[0, 0] == pytest.approx(along)


def test_a_uniform_beam_has_the_inertia_of_a_box():
    w, h, length = 0.04, 0.06, 0.8
    box = Section('rectangle', {'width': w, 'height': h})
    body = beam_inertia(Beam((Segment(length, box, box, STEEL),)))
    mass = STEEL.density * w * h * length
    assert np.diag(body.tensor) == pytest.approx(
        mass / 12 * np.array([w**2 + h**2, length**2 + h**2, length**2 + w**2]))


def test_properties_jump_where_segments_meet():
    soft = Material(E=1e9, G=1e9, density=1000.0)
    beam = Beam((Segment(0.5, disc(0.02), disc(0.02), STEEL),
                 Segment(1.0, disc(0.01), disc(0.03), soft)))
    assert beam.breakpoints == (0.0, 0.5, 1.5) and beam.length == 1.5
    at = beam.properties(np.array([0.0, 0.4, 0.5, 1.0, 1.5]))
    assert at.mass_per_length == pytest.approx(
        np.pi * np.array([7850 * 4e-4, 7850 * 4e-4, 1000 * 1e-4, 1000 * 4e-4, 1000 * 9e-4]))
    assert at.half_y == pytest.approx([0.02, 0.02, 0.01, 0.02, 0.03])
    assert at.bending_stiffness_y[3] == pytest.approx(1e9 * np.pi / 4 * 0.02**4)
    assert at.inertia_y[0] == pytest.approx(7850 * np.pi / 4 * 0.02**4)
    assert at.torsion_stiffness[0] == pytest.approx(STEEL.G * np.pi / 2 * 0.02**4)
    assert not beam.uniform and Beam(beam.segments[:1]).uniform


def test_beam_of_segments_from_xml():
    text = """<robot name="r"><link name="a"/><flexible link="a"><beam>
      <material name="aluminium"/>
      <segment length="0.4"><section A="1e-3" Iy="1e-7" Iz="2e-7" J="3e-7"/>
        <material name="steel" density="8000"/></segment>
      <segment length="0.6"><section shape="circle" radius="0.02"/>
        <section shape="circle" radius="0.01"/></segment></beam></flexible></robot>"""
    beam = load_robot(text).links[0].flexible
    assert beam.length == pytest.approx(1.0) and 0.4 in beam.breakpoints
    at = beam.properties(np.array([0.1, 0.7]))
    assert at.mass_per_length == pytest.approx([8.0, 2700 * np.pi * 0.015**2])
    assert at.bending_stiffness_z[0] == pytest.approx(210e9 * 2e-7)
    assert at.axial_stiffness[1] == pytest.approx(69e9 * np.pi * 0.015**2)


@pytest.mark.parametrize('name', MATERIALS)
def test_materials_are_possible(name):
    material = MATERIALS[name]
    # carbon is far from isotropic; of the metals, Poisson's ratio lies between 0.2 and 0.4
    ratio = material.E / (2 * material.G) - 1
    assert name == 'carbon' or 0.2 < ratio < 0.4
    assert 1000 < material.density < 8000
