"""Beam fields and their derivatives at the current amplitudes: the innermost loops.

A field component is p(eta) with the products that its code (layout.py) allows. This file gives p,
its gradient B = dp/deta, the rate pd = B etad, B_rate and the convective part etad' B_rate.
Columns are stations; a block of columns shares one code. Indices of inner loops are unsigned:
signed ones may count from the end, and then no vector instructions are made of them.
"""
from __future__ import annotations

import numpy as np
from numba import njit

from flex_dynamics.kernels.layout import OPTIONS

U = np.uint64
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)


@njit(**OPTIONS)
def _rows(coef, at, count, i_stride, j_stride, column, width, first, n_first, second, n_second, x,
          B):
    """Rows B_i += sum_j c_ij x_j of one block; all integers unsigned.

    B: flat, rows of `width`. c_ij is at + i i_stride + j j_stride.
    """
    for i in range(n_first):
        out = (first + i) * width + column
        row = at + i * i_stride
        j = ZERO
        while j + ONE < n_second:
            x0, x1 = x[second + j], x[second + j + ONE]
            c0 = row + j * j_stride
            c1 = c0 + j_stride
            for k in range(count):
                B[out + k] += coef[c0 + k] * x0 + coef[c1 + k] * x1
            j += TWO
        if j < n_second:
            x0, c0 = x[second + j], row + j * j_stride
            for k in range(count):
                B[out + k] += coef[c0 + k] * x0


@njit(**OPTIONS)
def _convective(coef, at, count, column, first, n_first, second, n_second, scale, rate, conv):
    """conv += scale sum_ij c_ij rate_i rate_j of one block; all integers unsigned."""
    for i in range(n_first):
        y = scale * rate[first + i]
        j = ZERO
        while j + ONE < n_second:
            x0, x1 = y * rate[second + j], y * rate[second + j + ONE]
            c1 = at + count
            for k in range(count):
                conv[column + k] += coef[at + k] * x0 + coef[c1 + k] * x1
            at = c1 + count
            j += TWO
        if j < n_second:
            x0 = y * rate[second + j]
            for k in range(count):
                conv[column + k] += coef[at + k] * x0
            at += count


@njit(**OPTIONS)
def block(code, n_y, n_z, n_x, coef, at, eta, rate, column, count, width, P, conv, B, Bd, rates):
    """Constant part into P, products into B, Bd and conv, for `count` columns of one code.

    All integers unsigned; P, conv (width,) and the flat B, Bd (m width,) hold zeros before. The
    linear part is left to add_linear. Returns the offset behind the block's coefficients.
    """
    start_z, start_x = n_y, n_y + n_z
    if code < THREE:
        first, n_first, second, n_second, n_linear = start_z, n_z, start_x, n_x, n_y
        if code == ONE:
            first, n_first, n_linear = ZERO, n_y, n_z
        elif code == TWO:
            first, n_first, second, n_second, n_linear = ZERO, n_y, start_z, n_z, n_x
        at += n_linear * count
        line = n_second * count
        _rows(coef, at, count, line, count, column, width, first, n_first, second, n_second, eta,
              B)
        _rows(coef, at, count, count, line, column, width, second, n_second, first, n_first, eta,
              B)
        _convective(coef, at, count, column, first, n_first, second, n_second, 2.0, rate, conv)
        if rates:
            _rows(coef, at, count, line, count, column, width, first, n_first, second, n_second,
                  rate, Bd)
            _rows(coef, at, count, count, line, column, width, second, n_second, first, n_first,
                  rate, Bd)
        return at + n_first * line
    for k in range(count):
        P[column + k] = coef[at + k]
    at += count
    first = ZERO
    for g in range(THREE):
        n = n_y
        if g == ONE:
            n = n_z
        elif g == TWO:
            n = n_x
        if g != code - THREE:
            _rows(coef, at, count, n * count, count, column, width, first, n, first, n, eta, B)
            _convective(coef, at, count, column, first, n, first, n, 1.0, rate, conv)
            if rates:
                _rows(coef, at, count, n * count, count, column, width, first, n, first, n, rate,
                      Bd)
            at += n * n * count
        first += n
    return at


@njit(**OPTIONS)
def _accumulate(source, width, rows, x, scale, out):
    """out[k] += scale sum over rows of x[row] source[row, k]."""
    j = ZERO
    while j + ONE < rows:
        x0, x1 = scale * x[j], scale * x[j + ONE]
        c0 = j * width
        c1 = c0 + width
        for k in range(width):
            out[k] += source[c0 + k] * x0 + source[c1 + k] * x1
        j += TWO
    if j < rows:
        x0, c0 = scale * x[j], j * width
        for k in range(width):
            out[k] += source[c0 + k] * x0


@njit(**OPTIONS)
def add_linear(code, n_y, n_z, n_x, coef, at, eta, column, count, width, P, B):
    """The linear part of a block of code 0, 1 or 2 into P and B."""
    first, n = ZERO, n_y
    if code == ONE:
        first, n = n_y, n_z
    elif code == TWO:
        first, n = n_y + n_z, n_x
    for i in range(n):
        x, out = eta[first + i], (first + i) * width + column
        c = at + i * count
        for k in range(count):
            P[column + k] += coef[c + k] * x
            B[out + k] += coef[c + k]


@njit(**OPTIONS)
def beam_columns(coef, at, n_y, n_z, n_x, n_axis, n_director, eta, rate, P, Pd, conv, B, Bd,
                 rates):
    """All Gauss sections of a beam: P, Pd, conv (columns,), B, Bd flat (m columns,).

    Integers unsigned; Bd is filled only if `rates`. Returns the offset behind the particles'
    coefficients.
    """
    m = n_y + n_z + n_x
    width = THREE * (n_axis + TWO * n_director)
    for k in range(width):
        P[k] = 0.0
        Pd[k] = 0.0
        conv[k] = 0.0
    for k in range(m * width):
        B[k] = 0.0
    if rates:
        for k in range(m * width):
            Bd[k] = 0.0
    start, column = at, ZERO
    for code in range(U(6)):
        count = _columns_of_code(code, n_axis, n_director)
        at = block(code, n_y, n_z, n_x, coef, at, eta, rate, column, count, width, P, conv, B,
                   Bd, rates)
        column += count
    # So far B holds products only, for which p = 1/2 eta B.
    _accumulate(B, width, m, eta, 0.5, P)
    column = ZERO
    for code in range(THREE):
        count = _columns_of_code(code, n_axis, n_director)
        add_linear(code, n_y, n_z, n_x, coef, start, eta, column, count, width, P, B)
        column += count
        n, pairs = n_y, n_z * n_x
        if code == ONE:
            n, pairs = n_z, n_y * n_x
        elif code == TWO:
            n, pairs = n_x, n_y * n_z
        start += (n + pairs) * count
    _accumulate(B, width, m, rate, 1.0, Pd)
    return at


@njit(**OPTIONS)
def _columns_of_code(code, n_axis, n_director):
    if code < TWO:
        return n_axis + n_director
    if code == TWO:
        return TWO * n_director
    if code == U(5):
        return n_axis
    return n_director


@njit(**OPTIONS)
def single(code, n_y, n_z, n_x, coef, at, eta, rate, column, P, Pd, conv, B, Bd):
    """One component at one station: p, pd, convective part, column of B and of B_rate."""
    n = n_y + n_z + n_x
    for a in range(n):
        B[a, column] = 0.0
        Bd[a, column] = 0.0
    p, pd, cv = 0.0, 0.0, 0.0
    if code < 3:
        first, n_first, second, n_second, linear, n_linear = n_y, n_z, n_y + n_z, n_x, 0, n_y
        if code == 1:
            first, n_first, linear, n_linear = 0, n_y, n_y, n_z
        elif code == 2:
            first, n_first, second, n_second, linear, n_linear = 0, n_y, n_y, n_z, n_y + n_z, n_x
        for i in range(n_linear):
            c = coef[at + i]
            B[linear + i, column] = c
            p += c * eta[linear + i]
            pd += c * rate[linear + i]
        at += n_linear
        for i in range(n_first):
            a = first + i
            s, sd = 0.0, 0.0
            for j in range(n_second):
                b = second + j
                c = coef[at + j]
                s += c * eta[b]
                sd += c * rate[b]
                B[b, column] += c * eta[a]
                Bd[b, column] += c * rate[a]
            at += n_second
            B[a, column] = s
            Bd[a, column] = sd
            p += s * eta[a]
            pd += s * rate[a] + sd * eta[a]
            cv += 2.0 * sd * rate[a]
    else:
        p = coef[at]
        at += 1
        first = 0
        for g in range(3):
            count = n_y
            if g == 1:
                count = n_z
            elif g == 2:
                count = n_x
            if g != code - 3:
                for i in range(count):
                    a = first + i
                    s, sd = 0.0, 0.0
                    for j in range(count):
                        s += coef[at + j] * eta[first + j]
                        sd += coef[at + j] * rate[first + j]
                    at += count
                    B[a, column] = s
                    Bd[a, column] = sd
                    p += 0.5 * s * eta[a]
                    pd += s * rate[a]
                    cv += sd * rate[a]
            first += count
    P[column], Pd[column], conv[column] = p, pd, cv
    return at
