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
"""Beam fields and their derivatives at the current amplitudes: the innermost loops.

A field component is p(eta) with the products that its code (layout.py) allows. This file gives p,
its gradient B = dp/deta, the rate pd = B etad, B_rate and the convective part etad' B_rate, four
columns (a vector) at a time. Indices are unsigned: signed ones may count from the end, which costs
a comparison each.
"""
from __future__ import annotations

import numpy as np
from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.vector import load, spread, store

U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)


@njit(**OPTIONS)
def _mixed(coef, at, linear, n_linear, first, n_first, second, n_second, eta, rate, column, end,
           width, f, rates):
    """Columns of code 0, 1 or 2: linear in one group, bilinear in the other two."""
    zero = spread(0.0)
    while column < end:
        p, pd, convective = zero, zero, zero
        for i in range(linear, linear + n_linear):
            c = load(coef, at)
            at += FOUR
            p = p + c * eta[i]
            pd = pd + c * rate[i]
            store(f.B, i * width + column, c)
            if rates:
                store(f.B_rate, i * width + column, zero)
        for j in range(second, second + n_second):
            store(f.B, j * width + column, zero)
            if rates:
                store(f.B_rate, j * width + column, zero)
        for i in range(first, first + n_first):
            x, xd = eta[i], rate[i]
            b, bd = zero, zero
            for j in range(second, second + n_second):
                c, place = load(coef, at), j * width + column
                at += FOUR
                b = b + c * eta[j]
                bd = bd + c * rate[j]
                store(f.B, place, load(f.B, place) + c * x)
                if rates:
                    store(f.B_rate, place, load(f.B_rate, place) + c * xd)
            store(f.B, i * width + column, b)
            if rates:
                store(f.B_rate, i * width + column, bd)
            p = p + b * x
            pd = pd + b * xd + bd * x
            convective = convective + bd * (2.0 * xd)
        store(f.point, column, p)
        store(f.point_rate, column, pd)
        store(f.convective, column, convective)
        column += FOUR
    return at


@njit(**OPTIONS)
def _squares(coef, at, n_y, n_z, n_x, eta, rate, column, end, width, f, rates):
    """Columns of code 3: a constant, squares in both groups of bending."""
    zero = spread(0.0)
    while column < end:
        p, pd, convective = load(coef, at), zero, zero
        at += FOUR
        first = ZERO
        for group in range(TWO):
            n = n_y if group == ZERO else n_z
            for i in range(first, first + n):
                b, bd = zero, zero
                for j in range(first, first + n):
                    c = load(coef, at)
                    at += FOUR
                    b = b + c * eta[j]
                    bd = bd + c * rate[j]
                p = p + b * (0.5 * eta[i])
                pd = pd + b * rate[i]
                convective = convective + bd * rate[i]
                store(f.B, i * width + column, b)
                if rates:
                    store(f.B_rate, i * width + column, bd)
            first += n
        for i in range(first, first + n_x):
            store(f.B, i * width + column, zero)
            if rates:
                store(f.B_rate, i * width + column, zero)
        store(f.point, column, p)
        store(f.point_rate, column, pd)
        store(f.convective, column, convective)
        column += FOUR
    return at


@njit(**OPTIONS)
def beam_columns(coef, at, n_y, n_z, n_x, n_axis, n_sections, eta, rate, f, rates):
    """Axis points and rotation vectors of a beam into f (Fields); B_rate only if `rates`.

    coef, eta, rate: addresses; integers unsigned. Returns the offset behind the coefficients.
    """
    width = THREE * (n_axis + n_sections)
    z, x = n_y, n_y + n_z
    end = n_axis + n_sections
    at = _mixed(coef, at, ZERO, n_y, z, n_z, x, n_x, eta, rate, ZERO, end, width, f, rates)
    column, end = end, TWO * end
    at = _mixed(coef, at, z, n_z, ZERO, n_y, x, n_x, eta, rate, column, end, width, f, rates)
    column, end = end, end + n_sections
    at = _mixed(coef, at, x, n_x, ZERO, n_y, z, n_z, eta, rate, column, end, width, f, rates)
    return _squares(coef, at, n_y, n_z, n_x, eta, rate, end, width, width, f, rates)


@njit(**OPTIONS)
def axis_columns(n_axis, n_sections):
    """Where the x, y, z columns of axis points begin; unsigned."""
    one = n_axis + n_sections
    return TWO * one + n_sections, ZERO, one


@njit(**OPTIONS)
def section_columns(n_axis, n_sections):
    """Where the x, y, z columns of rotation vectors begin; unsigned."""
    one = n_axis + n_sections
    return TWO * one, one + n_axis, n_axis
