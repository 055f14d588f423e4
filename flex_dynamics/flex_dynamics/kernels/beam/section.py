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
"""Motion of a section of a beam against the beam's root: pose, Jacobian and their rates.

The fields of a section are its rotation vector theta and position r, polynomials of second degree
in the amplitudes (build/beam_fields.py). Its twist in its own axes is [Jr theta'; R' r'], so a
Jacobian row is X times a row of field gradients, with X = diag(Jr, R').
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS, ROW
from flex_dynamics.kernels.base.so3 import coefficients, set_exponential
from flex_dynamics.kernels.base.vector import address_of, load, shifted, spread, store

# Rows of Scratch.section
FIELD, RATE, CONVECTIVE, OWN, BIAS = 0, ROW, 2 * ROW, 3 * ROW, 4 * ROW


@njit(**OPTIONS)
def section_fields(modes, coef, eta, rate, section, B, B_rate):
    """Fields, their rates and convective parts into section (5, ROW), gradients into B and B_rate
    (modes, ROW); addresses."""
    zero = spread(0.0)
    p0, p1, d0, d1, c0, c1 = load(coef, 0), load(coef, 4), zero, zero, zero, zero
    product = (1 + modes) * ROW
    for a in range(modes):
        at = ROW * a
        x, xd = eta[a], rate[a]
        b0, b1, bd0, bd1 = zero, zero, zero, zero
        for d in range(modes):
            k0, k1 = load(coef, product), load(coef, product + 4)
            product += ROW
            b0, b1 = b0 + k0 * eta[d], b1 + k1 * eta[d]
            bd0, bd1 = bd0 + k0 * rate[d], bd1 + k1 * rate[d]
        l0, l1 = load(coef, at + ROW), load(coef, at + ROW + 4)
        p0, p1 = p0 + (l0 + b0 * 0.5) * x, p1 + (l1 + b1 * 0.5) * x
        b0, b1 = b0 + l0, b1 + l1
        d0, d1 = d0 + b0 * xd, d1 + b1 * xd
        c0, c1 = c0 + bd0 * xd, c1 + bd1 * xd
        store(B, at, b0)
        store(B, at + 4, b1)
        store(B_rate, at, bd0)
        store(B_rate, at + 4, bd1)
    store(section, FIELD, p0)
    store(section, FIELD + 4, p1)
    store(section, RATE, d0)
    store(section, RATE + 4, d1)
    store(section, CONVECTIVE, c0)
    store(section, CONVECTIVE + 4, c1)


@njit(**OPTIONS)
def _set_columns(X, j00, j01, j02, j10, j11, j12, j20, j21, j22):
    """Angular columns of X, which stand in its first three rows."""
    X[0], X[1], X[2] = j00, j10, j20
    X[8], X[9], X[10] = j01, j11, j21
    X[16], X[17], X[18] = j02, j12, j22
    X[3], X[11], X[19] = 0.0, 0.0, 0.0


@njit(**OPTIONS)
def _set_linear_column(X, k, x, y, z):
    at = ROW * (3 + k)
    store(X, at, spread(0.0))
    store(X, at + 4, spread(0.0))
    X[at + 3], X[at + 4], X[at + 5] = x, y, z


@njit(**OPTIONS)
def _times(X, x, at):
    """X x of six numbers from x[at] on; X's angular columns have no linear part."""
    lo = load(X, 0) * x[at] + load(X, 8) * x[at + 1] + load(X, 16) * x[at + 2]
    hi = load(X, 28) * x[at + 3]
    lo = lo + load(X, 24) * x[at + 3] + load(X, 32) * x[at + 4] + load(X, 40) * x[at + 5]
    hi = hi + load(X, 36) * x[at + 4] + load(X, 44) * x[at + 5]
    return lo, hi


@njit(**OPTIONS)
def section_motion(modes, coef, at, eta, rate, scratch, R, p, phi, phi_rate, rates):
    """Pose R, p of a section, its Jacobian rows phi (modes, ROW) and, if `rates`, their rates.

    coef[at:]: coefficients of build/pack_fields.pack_section; eta, rate: addresses of the
    amplitudes and their speeds. scratch.section gets the section's own twist (OWN) and the part
    Phi_rate etad of its acceleration (BIAS).
    """
    section_fields(modes, shifted(address_of(coef), at), eta, rate, scratch.section,
                   scratch.section_B, scratch.section_B_rate)
    P, X, Xd = scratch.section, scratch.X, scratch.T
    x, y, z = P[FIELD], P[FIELD + 1], P[FIELD + 2]
    xd, yd, zd = P[RATE], P[RATE + 1], P[RATE + 2]
    t2, dot = x * x + y * y + z * z, 2.0 * (x * xd + y * yd + z * zd)
    s, b, c, db, dc = coefficients(t2)
    set_exponential(s, b, x, y, z, R)
    p[0], p[1], p[2] = P[FIELD + 3], P[FIELD + 4], P[FIELD + 5]
    # Jr = (1 - c t2) + c theta theta' - b [theta].
    e = 1.0 - c * t2
    _set_columns(X, e + c * x * x, c * x * y + b * z, c * x * z - b * y,
                 c * x * y - b * z, e + c * y * y, c * y * z + b * x,
                 c * x * z + b * y, c * y * z - b * x, e + c * z * z)
    bd, cd = db * dot, dc * dot
    e = -cd * t2 - c * dot
    xy, xz, yz = (cd * x * y + c * (xd * y + x * yd), cd * x * z + c * (xd * z + x * zd),
                  cd * y * z + c * (yd * z + y * zd))
    bx, by, bz = bd * x + b * xd, bd * y + b * yd, bd * z + b * zd
    _set_columns(Xd, e + cd * x * x + 2.0 * c * x * xd, xy + bz, xz - by,
                 xy - bz, e + cd * y * y + 2.0 * c * y * yd, yz + bx,
                 xz + by, yz - bx, e + cd * z * z + 2.0 * c * z * zd)
    o0 = X[0] * xd + X[8] * yd + X[16] * zd
    o1 = X[1] * xd + X[9] * yd + X[17] * zd
    o2 = X[2] * xd + X[10] * yd + X[18] * zd
    for k in range(3):
        r0, r1, r2 = R[k, 0], R[k, 1], R[k, 2]
        _set_linear_column(X, k, r0, r1, r2)
        # R' turns with the section: its rate is -[o] R'.
        _set_linear_column(Xd, k, o2 * r1 - o1 * r2, o0 * r2 - o2 * r0, o1 * r0 - o0 * r1)
    lo, hi = _times(X, P, RATE)
    store(P, OWN, lo)
    store(P, OWN + 4, hi)
    lo, hi = _times(X, P, CONVECTIVE)
    lo_rate, hi_rate = _times(Xd, P, RATE)
    store(P, BIAS, lo + lo_rate)
    store(P, BIAS + 4, hi + hi_rate)
    for a in range(modes):
        at = ROW * a
        lo, hi = _times(X, scratch.section_B, at)
        store(phi, at, lo)
        store(phi, at + 4, hi)
        if rates:
            lo, hi = _times(X, scratch.section_B_rate, at)
            lo_rate, hi_rate = _times(Xd, scratch.section_B, at)
            store(phi_rate, at, lo + lo_rate)
            store(phi_rate, at + 4, hi + hi_rate)
