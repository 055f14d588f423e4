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
"""Closed forms against textbooks and papers, and what every basis must obey."""
import numpy as np
import pytest
from scipy.linalg import eigh
from shape_beams import UniformBeam, gram, stations

from flex_description.shapes import BASES, ShapeError, TipLoad, build_shapes
from flex_description.shapes.clamped import (
    clamped_clamped_root,
    clamped_free,
    clamped_free_root,
    clamped_mass,
)
from flex_description.shapes.pinned import pinned_free_root
from flex_description.shapes.torsion import torsion_clamped_inertia

BEAM = UniformBeam()
TIP = TipLoad(mass=5.0, inertia_x=0.3, inertia_y=0.8, inertia_z=0.9, offset=0.2)
BUILT = [basis for basis in BASES if basis not in ('file', 'expression')]
ORTHOGONAL = [basis for basis in BUILT if basis != 'craig-bampton']
END = np.array([BEAM.length])
ROOT = np.zeros(1)


def test_textbook_roots():
    assert [clamped_free_root(k) for k in (1, 2, 3, 4)] == pytest.approx(
        [1.875104, 4.694091, 7.854757, 10.995541], abs=1e-6)
    assert [clamped_clamped_root(k) for k in (1, 2)] == pytest.approx([4.730041, 7.853205],
                                                                      abs=1e-6)
    assert [pinned_free_root(k) for k in (1, 2)] == pytest.approx([3.926602, 7.068583], abs=1e-6)
    roots = torsion_clamped_inertia(1.0, 4).wavenumbers
    assert roots == pytest.approx(np.pi / 2.0 * np.array([1, 3, 5, 7]))


@pytest.mark.parametrize('basis', ORTHOGONAL)
def test_twenty_shapes_are_orthogonal_and_normalised(basis):
    for kind, shapes in zip('yzt', build_shapes(basis, (20, 20, 20), BEAM, TIP), strict=True):
        assert shapes.count == 20
        loads = (0.0, 0.0, 0.0)
        if basis in ('clamped-mass', 'fe'):
            loads = {'y': (5.0 / 3.0, 1.0 / 3.0, 0.9 / 3.0),
                     'z': (5.0 / 3.0, 1.0 / 3.0, 0.8 / 3.0), 't': (0.3 / 0.03, 0.0, 0.0)}[kind]
        assert gram(shapes, *loads) == pytest.approx(np.eye(20), abs=1e-10)


@pytest.mark.parametrize('basis', BUILT)
@pytest.mark.parametrize('count', [1, 2, 3, 20])
def test_derivatives_are_those_of_the_values(basis, count):
    step = 1e-5
    for shapes in build_shapes(basis, (count, count, count), BEAM, TIP):
        x = stations(shapes, 30)[0]
        assert np.all(np.isfinite(shapes(np.linspace(0.0, BEAM.length, 2001), 2)))
        for derivative in (0, 1):
            slope = (shapes(x + step, derivative) - shapes(x - step, derivative)) / (2.0 * step)
            exact = shapes(x, derivative + 1)
            assert np.max(np.abs(slope - exact)) < 1e-6 * np.max(np.abs(exact)) + 1e-9


@pytest.mark.parametrize('basis', BUILT)
def test_root_conditions(basis):
    bend_y, bend_z, twist = build_shapes(basis, (20, 20, 20), BEAM, TIP)
    for shapes in (bend_y, bend_z, twist):
        assert shapes(ROOT) == pytest.approx(np.zeros((20, 1)), abs=1e-11)
    for shapes in (bend_y, bend_z):
        if basis.startswith('pinned'):
            assert np.all(shapes(ROOT, 1) > 0.1)
            scale = np.max(np.abs(shapes(np.linspace(0.0, 2.0, 500), 2)), axis=1)
            assert np.abs(shapes(ROOT, 2)[:, 0]) == pytest.approx(np.zeros(20),
                                                                  abs=1e-6 * scale.max())
        else:
            assert shapes(ROOT, 1) == pytest.approx(np.zeros((20, 1)), abs=1e-9)


def test_end_conditions_hold_at_mode_twenty():
    free = build_shapes('clamped-free', (20, 0, 20), BEAM)
    assert np.abs(free[0](END)[:, 0]) == pytest.approx(np.full(20, 2.0), rel=1e-12)
    scale = np.abs(free[0](ROOT, 2)[:, 0])
    assert np.abs(free[0](END, 2)[:, 0]) / scale == pytest.approx(np.zeros(20), abs=1e-12)
    assert np.abs(free[2](END)[:, 0]) == pytest.approx(np.full(20, np.sqrt(2.0)))
    held = build_shapes('craig-bampton', (20, 0, 20), BEAM)[0]
    assert held(END)[2:, 0] == pytest.approx(np.zeros(18), abs=1e-12)
    assert held(END, 1)[2:, 0] == pytest.approx(np.zeros(18), abs=1e-10)


def test_tip_body_conditions():
    """Shear and moment at the end are the tip's inertia forces, coupling included."""
    mass, coupling, inertia = 2.0, 0.3, 0.2
    shapes = clamped_mass(1.0, 8, mass, coupling, inertia)
    b = shapes.wavenumbers
    end, step = np.array([1.0]), 1e-5
    value, slope, curve = (shapes(end, d)[:, 0] for d in (0, 1, 2))
    jerk = (curve - shapes(end - step, 2)[:, 0]) / step
    assert curve == pytest.approx(b**4 * (inertia * slope + coupling * value), rel=1e-9)
    assert jerk == pytest.approx(-b**4 * (mass * value + coupling * slope), rel=1e-3)


def test_no_root_is_missed_for_any_tip_body():
    """Ritz with many polynomials finds the same frequencies as the characteristic equation."""
    basis = build_shapes('polynomial', (18, 0, 0), UniformBeam(1.0, 1.0))[0]
    x, weights = stations(basis)
    stiffness = (basis(x, 2) * weights) @ basis(x, 2).T
    for mass, offset, spread in [(0.01, 0.0, 0.0), (1.0, 0.5, 0.0), (1.0, -0.5, 1 / 12),
                                 (12.0, -0.5, 1 / 12), (100.0, 0.0, 0.0), (1e4, 0.0, 0.3),
                                 (0.0, 0.0, 0.0), (3.0, -1.0, 0.01), (1e3, 0.02, 1e-5)]:
        inertia = mass * (offset**2 + spread)
        # Of M against K the lowest modes are the largest, and exact to rounding; K^-1 M and M^-1 K
        # are not symmetric, and lose digits with some versions of LAPACK.
        largest = eigh(gram(basis, mass, mass * offset, inertia), stiffness, eigvals_only=True)
        expected = largest[:-7:-1]**-0.25
        found = clamped_mass(1.0, 6, mass, mass * offset, inertia).wavenumbers
        assert found == pytest.approx(expected, rel=1e-6), (mass, offset, spread)


def test_heavy_tip_is_a_massless_cantilever():
    root = clamped_mass(1.0, 1, 1e6, 0.0, 0.0).wavenumbers[0]
    assert root**4 == pytest.approx(3.0 / 1e6, rel=1e-5)


def test_no_tip_is_clamped_free():
    loaded, free = clamped_mass(1.5, 20, 0.0, 0.0, 0.0), clamped_free(1.5, 20)
    assert loaded.wavenumbers == pytest.approx(free.wavenumbers, rel=1e-12)
    x = np.linspace(0.0, 1.5, 50)
    assert loaded(x) == pytest.approx(free(x), abs=1e-9)


def test_de_luca_siciliano():
    """Frequencies and mode values at the tips (De Luca and Siciliano 1991)."""
    link = UniformBeam(0.5, 0.2, (0.0, 0.0), (1.0, 1.0, 1.0))
    inertia = 0.1 + 0.1 * 0.5**2 / 3.0 + 0.0005 + 0.1 * 0.5**2
    first = TipLoad(1.2, inertia_z=inertia)
    second = TipLoad(0.1, inertia_z=0.0005)
    for tip, hertz, values, slopes in [
            (first, (0.4797, 1.7966), (0.186, 0.215), (0.657, -0.560)),
            (second, (2.1783, 15.9145), (0.883, -0.069), (2.641, -10.853))]:
        shapes = build_shapes('clamped-mass', (2, 0, 0), link, tip)[0]
        found = shapes.wavenumbers**2 * np.sqrt(1.0 / 0.2) / (2.0 * np.pi)
        assert found == pytest.approx(hertz, abs=5e-4)
        # theirs are scaled to int rho phi^2 + tip = link mass: ours to rho L, the same
        end = np.array([0.5])
        assert shapes(end)[:, 0] == pytest.approx(values, abs=6e-4)
        assert shapes(end, 1)[:, 0] == pytest.approx(slopes, abs=6e-3)


def test_cibicik_egeland_roots():
    """Raw clamped-mass modes of the 4-joint arm: tip masses rho A L3 + m4 and m4."""
    density = 7850.0 * 707e-6
    for length, mass, roots in [(2.0, density * 1.8 + 3.56, (1.19777, 4.01434)),
                                (1.8, 3.56, (1.49859, 4.16304))]:
        shapes = clamped_mass(length, 2, mass / (density * length), 0.0, 0.0)
        assert shapes.wavenumbers * length == pytest.approx(roots, abs=1e-5)
        assert shapes.coefficients[:, 0] == pytest.approx([-1.0, -1.0])


def test_lin_lewis_constants():
    """phi(L) and the integrals of the appendix; their sine factor 1.1213 is truncated."""
    tip = TipLoad(mass=4.0962)
    shapes = build_shapes('clamped-mass', (1, 0, 0), UniformBeam(1.0, 1.0), tip,
                          options={'normalization': 'raw'})[0]
    assert shapes.wavenumbers[0] == pytest.approx(0.912224, abs=2e-6)
    assert shapes.coefficients[0, 1] == pytest.approx(1.1213919, abs=3e-6)
    b = 0.912224
    z = f'{b}*x/L'
    formula = f'cosh({z})-cos({z})-1.1213*(sinh({z})-sin({z}))'
    printed = build_shapes('expression', (1, 0, 0), UniformBeam(1.0, 1.0),
                           options={'expression_y': formula})[0]
    x, weights = stations(printed, 40)
    value, end = printed(x)[0], printed(np.ones(1))[0, 0]
    assert end == pytest.approx(0.5497897482078318, rel=1e-14)
    assert end**2 == pytest.approx(0.3022687672344311, rel=1e-14)
    assert value**2 @ weights == pytest.approx(0.07147226535009999, rel=1e-13)
    assert value @ weights / end == pytest.approx(0.7517462583877994 / 2.0, rel=1e-13)
    assert (x * value) @ weights / end == pytest.approx(0.2754985845918819, rel=1e-13)
    assert value @ weights == pytest.approx(0.206651, abs=1e-6)


def test_craig_bampton_static_shapes():
    bend = build_shapes('craig-bampton', (3, 1, 2), BEAM)
    assert bend[0](END)[:, 0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert bend[0](END, 1)[:, 0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-12)
    assert bend[1](END)[0, 0] == pytest.approx(1.0)
    assert bend[1](END, 2)[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert bend[1](END, 1)[0, 0] == pytest.approx(1.5 / BEAM.length)
    assert bend[2](np.array([0.5]))[0, 0] == pytest.approx(0.25)


def test_raw_modes_are_the_textbooks():
    x = np.linspace(0.0, BEAM.length, 30)
    bend, _, twist = build_shapes('clamped-free', (1, 0, 2), BEAM,
                                  options={'normalization': 'raw'})
    z = 1.8751040687119611 * x / BEAM.length
    sigma = 0.7340955137589132
    assert bend(x)[0] == pytest.approx(
        np.cosh(z) - np.cos(z) - sigma * (np.sinh(z) - np.sin(z)), abs=1e-12)
    assert twist(x)[1] == pytest.approx(np.sin(1.5 * np.pi * x / BEAM.length))


@pytest.mark.parametrize(('arguments', 'words'), [
    ({'basis': 'free-free'}, ['basis', 'craig-bampton', 'free-free']),
    ({'counts': (21, 0, 0)}, ['bending_y', '20', '21']),
    ({'counts': (0, 0, -1)}, ['twist', '-1']),
    ({'options': {'normalization': 'unit'}}, ['normalization', 'unit']),
    ({'basis': 'fe', 'options': {'normalization': 'raw'}}, ['raw', 'fe']),
    ({'basis': 'file'}, ['file', 'CSV']),
    ({'basis': 'expression'}, ['expression_y', '2', '0']),
    ({'basis': 'clamped-mass', 'counts': (0, 0, 1), 'tip': TipLoad(inertia_x=1.0),
      'beam': UniformBeam(inertia=(0.0, 0.0))}, ['twist', 'no inertia']),
])
def test_refusals(arguments, words):
    arguments = {'basis': 'clamped-free', 'counts': (2, 2, 1), 'beam': BEAM, **arguments}
    with pytest.raises(ShapeError) as error:
        build_shapes(**arguments)
    assert '\n' not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_tip_load_must_be_possible():
    with pytest.raises(ShapeError, match='mass'):
        TipLoad(mass=-1.0)
    with pytest.raises(ShapeError, match='at least'):
        TipLoad(mass=1.0, offset=0.5, inertia_y=0.1, inertia_z=0.3)
    with pytest.raises(ShapeError, match='inertia_x'):
        TipLoad(inertia_x=float('nan'))
