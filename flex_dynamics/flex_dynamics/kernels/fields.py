"""Beam fields and their derivatives at the current amplitudes: the innermost loops.

A component of a field (layout.COMPONENTS) at `count` stations is p(eta); this file gives p,
its gradient B = dp/deta, the rates p' = B eta', B' and the convective part eta' B'.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.layout import OPTIONS


@njit(**OPTIONS)
def _pair(coef, at, count, first, n_first, second, n_second, eta, rate, column, B, Bd):
    """B and B' of the bilinear term sum c_ij eta_i eta_j over two different groups."""
    for i in range(n_first):
        for j in range(n_second):
            a = first + i
            b = second + j
            eta_a, eta_b, rate_a, rate_b = eta[a], eta[b], rate[a], rate[b]
            for k in range(count):
                c = coef[at + k]
                B[a, column + k] += c * eta_b
                B[b, column + k] += c * eta_a
                Bd[a, column + k] += c * rate_b
                Bd[b, column + k] += c * rate_a
            at += count
    return at


@njit(**OPTIONS)
def _square(coef, at, count, first, n_first, eta, rate, column, B, Bd):
    """B and B' of the quadratic term 1/2 sum s_ij eta_i eta_j within one group."""
    for i in range(n_first):
        a = first + i
        for j in range(n_first):
            eta_b, rate_b = eta[first + j], rate[first + j]
            for k in range(count):
                c = coef[at + k]
                B[a, column + k] += c * eta_b
                Bd[a, column + k] += c * rate_b
            at += count
    return at


@njit(**OPTIONS)
def component(code, n_y, n_z, n_x, count, coef, at, eta, rate, column, p, pd, conv, B, Bd):
    """Evaluate one component at `count` stations into columns column ... column + count.

    eta, rate: this beam's amplitudes and their rates. Returns the offset behind its coefficients.
    """
    n = n_y + n_z + n_x
    for a in range(n):
        for k in range(count):
            B[a, column + k] = 0.0
            Bd[a, column + k] = 0.0
    start_z = n_y
    start_x = n_y + n_z
    for k in range(count):
        p[column + k] = 0.0
        pd[column + k] = 0.0
        conv[column + k] = 0.0
    if code < 3:
        if code == 0:
            at_linear, first, n_linear = at, 0, n_y
            at = _pair(coef, at + n_y * count, count, start_z, n_z, start_x, n_x, eta, rate,
                       column, B, Bd)
        elif code == 1:
            at_linear, first, n_linear = at, start_z, n_z
            at = _pair(coef, at + n_z * count, count, 0, n_y, start_x, n_x, eta, rate,
                       column, B, Bd)
        else:
            at_linear, first, n_linear = at, start_x, n_x
            at = _pair(coef, at + n_x * count, count, 0, n_y, start_z, n_z, eta, rate,
                       column, B, Bd)
        # B holds the bilinear part only: p = 1/2 eta B there, and the linear part is added whole.
        for a in range(n):
            half_eta, rate_a = 0.5 * eta[a], rate[a]
            for k in range(count):
                p[column + k] += half_eta * B[a, column + k]
                conv[column + k] += rate_a * Bd[a, column + k]
        for i in range(n_linear):
            eta_a = eta[first + i]
            for k in range(count):
                c = coef[at_linear + i * count + k]
                B[first + i, column + k] += c
                p[column + k] += c * eta_a
    else:
        for k in range(count):
            p[column + k] = coef[at + k]
        at += count
        if code != 3:
            at = _square(coef, at, count, 0, n_y, eta, rate, column, B, Bd)
        if code != 4:
            at = _square(coef, at, count, start_z, n_z, eta, rate, column, B, Bd)
        if code != 5:
            at = _square(coef, at, count, start_x, n_x, eta, rate, column, B, Bd)
        for a in range(n):
            half_eta, rate_a = 0.5 * eta[a], rate[a]
            for k in range(count):
                p[column + k] += half_eta * B[a, column + k]
                conv[column + k] += rate_a * Bd[a, column + k]
    for a in range(n):
        rate_a = rate[a]
        for k in range(count):
            pd[column + k] += rate_a * B[a, column + k]
    return at
