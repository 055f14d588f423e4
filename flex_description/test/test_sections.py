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
"""Section formulas against numeric integration, and torsion against the membrane equation."""
import numpy as np
import pytest
from scipy.sparse import diags, identity, kron
from scipy.sparse.linalg import spsolve

from flex_description.sections import Section, taper

SECTIONS = {
    'circle': ({'radius': 0.03}, lambda y, z: np.hypot(y, z) <= 0.03),
    'hollow_circle': ({'outer_radius': 0.05, 'inner_radius': 0.03},
                      lambda y, z: (np.hypot(y, z) <= 0.05) & (np.hypot(y, z) >= 0.03)),
    'rectangle': ({'width': 0.08, 'height': 0.04},
                  lambda y, z: (abs(y) <= 0.04) & (abs(z) <= 0.02)),
    'hollow_rectangle': ({'width': 0.08, 'height': 0.06, 'thickness': 0.01},
                         lambda y, z: (abs(y) <= 0.04) & (abs(z) <= 0.03)
                         & ~((abs(y) < 0.03) & (abs(z) < 0.02))),
    'i': ({'width': 0.06, 'height': 0.1, 'web_thickness': 0.01, 'flange_thickness': 0.02},
          lambda y, z: (abs(y) <= 0.03) & (abs(z) <= 0.05)
          & ((abs(z) >= 0.03) | (abs(y) <= 0.005))),
}


@pytest.mark.parametrize('shape', SECTIONS)
def test_area_and_second_moments(shape):
    dimensions, inside = SECTIONS[shape]
    values = Section(shape, dimensions).values()
    cells = 1200
    grid = (np.arange(cells) + 0.5) / cells * 0.12 - 0.06
    y, z = np.meshgrid(grid, grid)
    cell = (0.12 / cells)**2
    within = inside(y, z)
    assert values.A[0] == pytest.approx(cell * within.sum(), rel=2e-3)
    assert values.Iy[0] == pytest.approx(cell * (z**2 * within).sum(), rel=2e-3)
    assert values.Iz[0] == pytest.approx(cell * (y**2 * within).sum(), rel=2e-3)
    assert values.half_y[0] == pytest.approx(abs(y[within]).max(), abs=1e-4)
    assert values.half_z[0] == pytest.approx(abs(z[within]).max(), abs=1e-4)


@pytest.mark.parametrize('width, height', [(0.02, 0.02), (0.06, 0.02), (0.01, 0.1)])
def test_torsion_of_a_rectangle_is_that_of_prandtls_membrane(width, height):
    """Laplacian of phi = -2, phi = 0 on the edge, J = 2 integral of phi."""
    n = 200
    hy, hz = width / (n + 1), height / (n + 1)
    second = diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n))
    laplacian = kron(second / hy**2, identity(n)) + kron(identity(n), second / hz**2)
    phi = spsolve(laplacian.tocsc(), -2.0 * np.ones(n * n))
    torsion = Section('rectangle', {'width': width, 'height': height}).values().J[0]
    assert torsion == pytest.approx(2 * phi.sum() * hy * hz, rel=1e-3)


def test_torsion_of_a_square_is_the_textbooks():
    torsion = Section('rectangle', {'width': 0.1, 'height': 0.1}).values().J[0]
    assert torsion == pytest.approx(0.140577 * 0.1**4, rel=1e-5)


def test_torsion_of_a_circle_is_its_polar_moment():
    values = Section('hollow_circle', {'outer_radius': 0.05, 'inner_radius': 0.04}).values()
    assert values.J[0] == pytest.approx(values.Iy[0] + values.Iz[0])


def test_thin_square_tube_twists_as_bredt_says():
    side, wall = 0.1, 0.001
    sides = {'width': side, 'height': side, 'thickness': wall}
    torsion = Section('hollow_rectangle', sides).values().J[0]
    assert torsion == pytest.approx((side - wall)**3 * wall)


def test_an_i_without_waist_is_a_rectangle_in_bending():
    i = Section('i', {'width': 0.05, 'height': 0.1, 'web_thickness': 0.05,
                      'flange_thickness': 0.01}).values()
    r = Section('rectangle', {'width': 0.05, 'height': 0.1}).values()
    assert (i.A[0], i.Iy[0], i.Iz[0]) == pytest.approx((r.A[0], r.Iy[0], r.Iz[0]))


def test_taper_runs_linearly_in_the_dimensions():
    start, end = (Section('rectangle', {'width': w, 'height': 0.02}) for w in (0.02, 0.06))
    half = Section('rectangle', {'width': 0.04, 'height': 0.02}).values()
    values = taper(start, end, np.array([0.0, 0.5, 1.0]))
    assert values.Iz == pytest.approx([start.values().Iz[0], half.Iz[0], end.values().Iz[0]])
