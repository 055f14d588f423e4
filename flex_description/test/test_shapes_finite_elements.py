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
"""Finite elements against closed forms, and where closed forms end."""
import numpy as np
import pytest
from shape_beams import TaperedBeam, UniformBeam, gram, stations

from flex_description.robot import LumpedMass
from flex_description.shapes import ShapeError, TipLoad, build_shapes
from flex_description.shapes.build import BeamPlane, shapes_by_elements

BEAM = UniformBeam()
TIP = TipLoad(mass=5.0, inertia_x=0.3, inertia_y=0.8, inertia_z=0.9, offset=0.2)
X = np.linspace(0.0, BEAM.length, 301)


@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-free', 'clamped-mass',
                                   'pinned-pinned', 'pinned-free'])
@pytest.mark.parametrize('count', [1, 3, 20])
def test_elements_agree_with_closed_forms(basis, count):
    closed = build_shapes(basis, (count, count, count), BEAM, TIP)
    for kind, shapes in zip(('y', 'z', 'twist'), closed, strict=True):
        found = shapes_by_elements(basis, count, BeamPlane(BEAM, TIP, (), kind))
        for derivative, tolerance in [(0, 1e-6), (1, 1e-6), (2, 1e-5)]:
            expected = shapes(X, derivative)
            error = np.max(np.abs(found(X, derivative) - expected), axis=1)
            assert np.all(error <= tolerance * np.max(np.abs(expected)) + 1e-12)


def test_tapered_cantilever_frequencies():
    """Square section tapered to half its side: 4.62515, 19.5476 (Naguleswaran 1994, double
    taper 0.5: Omega = omega L^2 sqrt(rho A0 / E I0))."""
    shapes = build_shapes('clamped-free', (2, 0, 0), TaperedBeam())[0]
    x, weights = stations(shapes)
    side = 1.0 - 0.5 * x
    stiffness = (shapes(x, 2) * weights * side**4) @ shapes(x, 2).T
    mass = (shapes(x) * weights * side**2) @ shapes(x).T
    assert mass == pytest.approx(7.0 / 12.0 * np.eye(2), abs=1e-12)
    assert np.sqrt(np.diag(stiffness / mass)) == pytest.approx([4.62515, 19.54761], rel=1e-5)


def test_tapered_static_shapes_are_the_true_ones():
    """Unit tip force: w'' = F (L - x) / E I(x), integrated numerically."""
    beam = TaperedBeam()
    shape = build_shapes('craig-bampton', (1, 0, 1), beam)
    x = np.linspace(0.0, 1.0, 20001)
    bend = np.cumsum((1.0 - x) / (1.0 - 0.5 * x)**4) * (x[1] - x[0])
    deflection = np.cumsum(bend) * (x[1] - x[0])
    assert shape[0](x)[0] == pytest.approx(deflection / deflection[-1], abs=2e-4)
    twist = np.cumsum(1.0 / (1.0 - 0.5 * x)**4)
    assert shape[2](x)[0] == pytest.approx(twist / twist[-1], abs=2e-4)


def test_lumped_mass_at_the_end_is_a_tip_load():
    body = LumpedMass(2.0, 5.0, np.array([0.2, 0.0, 0.0]), np.diag([0.3, 0.6, 0.7]))
    lumped = build_shapes('clamped-free', (4, 4, 4), BEAM, masses=[body])
    loaded = build_shapes('clamped-mass', (4, 4, 4), BEAM, TIP)
    for found, expected in zip(lumped, loaded, strict=True):
        assert found(X) == pytest.approx(expected(X), abs=1e-6)


def test_lumped_mass_inside_keeps_orthogonality():
    body = LumpedMass(0.7, 4.0, np.zeros(3), np.diag([0.1, 0.1, 0.1]))
    shapes = build_shapes('fe', (20, 0, 0), BEAM, TIP, [body])[0]
    at = np.array([0.7])
    inner = (4.0 * np.outer(shapes(at), shapes(at))
             + 0.1 * np.outer(shapes(at, 1), shapes(at, 1))) / (3.0 * BEAM.length)
    whole = gram(shapes, 5.0 / 3.0, 1.0 / 3.0, 0.9 / 3.0) + inner
    assert whole == pytest.approx(np.eye(20), abs=1e-10)
    assert any(abs(edge - 0.7) < 1e-12 for edge in shapes.breakpoints)


@pytest.mark.parametrize('basis', ['craig-bampton', 'fe'])
@pytest.mark.parametrize('gap', [1e-10, 1e-8, 1e-6, 1e-5])
def test_masses_beside_an_edge_or_each_other(basis, gap):
    """As rounded frames of a description put them: no element is too short to be solved."""
    def shapes(*places):
        bodies = [LumpedMass(x, 4.0, np.zeros(3), np.diag([0.1, 0.1, 0.1])) for x in places]
        return build_shapes(basis, (6, 6, 6), BEAM, TIP, bodies)
    end, between = BEAM.length, 0.7
    beside = shapes(gap, between - gap, between, end - gap)
    exact = shapes(0.0, between, between, end)
    for found, expected in zip(beside, exact, strict=True):
        assert found(X) == pytest.approx(expected(X), abs=1e-3 * np.max(np.abs(expected(X))))


def test_bent_planes_follow_their_own_stiffness():
    """E Iz resists bend_y, E Iy bend_z: a step in E Iz alone changes bend_y alone."""
    class Stepped(UniformBeam):
        breakpoints = (0.0, 1.0, 2.0)

        def properties(self, x):
            p = super().properties(x)
            p.bending_stiffness_z[np.asarray(x) > 1.0] *= 0.1
            return p

    stepped, plain = (build_shapes('clamped-free', (2, 2, 0), beam) for beam in (Stepped(), BEAM))
    assert stepped[1](X) == pytest.approx(plain[1](X), abs=1e-7)
    assert np.max(np.abs(stepped[0](X) - plain[0](X))) > 0.05


def test_raw_needs_a_uniform_beam():
    with pytest.raises(ShapeError, match='uniform'):
        build_shapes('clamped-free', (1, 1, 0), TaperedBeam(), options={'normalization': 'raw'})


def test_a_beam_without_inertia_has_no_modes():
    with pytest.raises(ShapeError, match='no inertia'):
        build_shapes('fe', (0, 0, 1), UniformBeam(inertia=(0.0, 0.0)), TIP)
