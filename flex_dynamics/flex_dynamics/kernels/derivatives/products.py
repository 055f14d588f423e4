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
"""Second derivatives of a beam's fields by two amplitudes, summed over columns with weights.

The mirror of beam/fields.py: the products of its codes are constants, so that the sum over columns
of weight times second derivative is a matrix, the geometric stiffness of what the weights are.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.vector import load, shifted, spread, total
from flex_dynamics.kernels.beam.fields import FOUR, ONE, TWO, ZERO


@njit(**OPTIONS)
def _weighted(coef, stride, weights, groups):
    """Sum over groups of columns of a coefficient times weights."""
    s = spread(0.0)
    for k in range(groups):
        s = s + load(coef, stride * k) * load(weights, FOUR * k)
    return total(s)


@njit(**OPTIONS)
def _add_mixed(coef, n_linear, first, n_first, second, n_second, weights, groups, K, most):
    """Columns of code 0, 1 or 2; returns the address behind their coefficients."""
    stride = FOUR * (n_linear + n_first * n_second)
    at = FOUR * n_linear
    for i in range(first, first + n_first):
        for j in range(second, second + n_second):
            value = _weighted(shifted(coef, at), stride, weights, groups)
            K[i * most + j] += value
            K[j * most + i] += value
            at += FOUR
    return shifted(coef, stride * groups)


@njit(**OPTIONS)
def _add_squares(coef, n_y, n_z, weights, groups, K, most):
    """Columns of code 3."""
    stride = FOUR * (ONE + n_y * n_y + n_z * n_z)
    at, start = FOUR, ZERO
    for group in range(TWO):
        n = n_y if group == ZERO else n_z
        for i in range(start, start + n):
            for j in range(start, start + n):
                K[i * most + j] += _weighted(shifted(coef, at), stride, weights, groups)
                at += FOUR
        start += n


@njit(**OPTIONS)
def add_products(coef, n_y, n_z, n_x, n_axis, n_sections, weights, K, most):
    """K (modes, most) += sum over the columns of beam_columns of weights times second derivatives;
    addresses, integers unsigned."""
    z, x = n_y, n_y + n_z
    both, axis, sections = (n_axis + n_sections) // FOUR, n_axis // FOUR, n_sections // FOUR
    coef = _add_mixed(coef, n_y, z, n_z, x, n_x, weights, both, K, most)
    coef = _add_mixed(coef, n_z, ZERO, n_y, x, n_x, shifted(weights, FOUR * both), both, K, most)
    coef = _add_mixed(coef, n_x, ZERO, n_y, z, n_z, shifted(weights, TWO * FOUR * both), sections,
                      K, most)
    _add_squares(coef, n_y, n_z, shifted(weights, FOUR * (TWO * both + sections)), axis, K, most)
