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
"""Eigenvectors by vector-parameters: diagonal to rounding, degenerate matrices included."""
from __future__ import annotations

import numpy as np
import pytest
from algebra_strategies import quick, vectors
from hypothesis import given
from hypothesis import strategies as st

from flex_dynamics import DynamicsError
from flex_dynamics.papers import eigenvectors as ev
from flex_dynamics.papers.vector_parameters import rotation


def symmetric(six) -> np.ndarray:
    a, b, c, d, e, f = six
    return np.array([[a, d, e], [d, b, f], [e, f, c]])


MATRIX = st.one_of(vectors(6).map(symmetric),
                   st.tuples(*6 * [st.integers(-2, 2).map(float)]).map(symmetric))


@quick
@given(MATRIX)
def test_rotation_makes_the_matrix_diagonal(A):
    values, c = ev.principal_axes(A)
    R, scale = rotation(c), max(np.abs(A).max(), 1e-300)
    assert np.abs(R.T @ A @ R - np.diag(values)).max() <= 1e-13 * scale
    assert np.abs(values - np.linalg.eigvalsh(A)).max() <= 1e-13 * scale
    assert np.isfinite(c).all() and np.linalg.norm(c) < np.tan(np.pi / 3.0) + 1e-6


@quick
@given(vectors(3, 1.0), st.floats(0.1, 2.0), st.sampled_from([0.0, 1e-12, 1e-7, 1e-3]))
def test_close_eigenvalues(c, size, gap):
    """A body of revolution, or nearly: (191) is one."""
    A = rotation(c) @ np.diag([size, size * (1.0 + gap), 3.0 * size]) @ rotation(c).T
    values, found = ev.principal_axes(0.5 * (A + A.T))
    R = rotation(found)
    assert np.abs(R.T @ A @ R - np.diag(values)).max() <= 1e-13 * size * 3.0


def test_inertia_of_a_point_as_worked_in_the_paper():
    """(191) to (196): eigenvalues r2, r2 and 0 times the mass."""
    mass, r = 2.0, np.array([0.3, -0.4, 1.2])
    values, _ = ev.principal_axes(mass * (r @ r * np.eye(3) - np.outer(r, r)))
    assert values == pytest.approx([0.0, mass * r @ r, mass * r @ r], abs=1e-13)


@quick
@given(vectors(6).map(symmetric))
def test_roots_of_the_cubic_are_ratios_of_components(A):
    vectors_ = np.linalg.eigh(A)[1]
    cubic = ev.first_level_cubic(A)
    for v in vectors_.T:
        # homogeneous in (v2, v3), so that an infinite root is a root too
        value = sum(k * v[2]**(3 - i) * v[1]**i for i, k in enumerate(cubic))
        assert abs(value) <= 1e-12 * max(1.0, np.abs(A).max()**3)


@quick
@given(st.floats(-20.0, 20.0))
def test_roots_of_the_second_level(a):
    for u in ev.second_level_roots(a):
        assert abs(np.polyval([1.0, -2.0 * a, -6.0, 2.0 * a, 1.0], u)) < 1e-9 * (1.0 + u**4)


def test_inertias_that_no_body_has():
    assert ev.inertia_fault(np.diag([1.0, 1.0, 2.0])) == ''
    assert ev.inertia_fault(np.zeros((3, 3))) == ''
    turned = rotation([0.3, 0.2, -0.4])
    assert 'sum of the other two' in ev.inertia_fault(turned @ np.diag([1.0, 1.0, 3.0]) @ turned.T)
    assert 'not below 0' in ev.inertia_fault(turned @ np.diag([-1.0, 2.0, 2.0]) @ turned.T)
    assert 'symmetric' in ev.inertia_fault(np.arange(9.0).reshape(3, 3))
    with pytest.raises(DynamicsError, match='finite'):
        ev.principal_axes(np.full((3, 3), np.inf))
