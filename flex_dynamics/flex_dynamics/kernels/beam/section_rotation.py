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
"""Rotary inertia of a beam: its sections turn by R = exp(theta), exactly.

beam_columns gives theta, a polynomial in the amplitudes, at a few sections (build/quadrature.py).
A section's angular velocity in its own axes is W = R'w + Jr(theta) theta', with Jr the right
Jacobian of the exponential, and its energy 1/2 (Ix Wx2 + Iy Wy2 + Iz Wz2), Ix = Iy + Iz: three
rows a section. Newton and Euler's moment I W' + W x I W, the rows as virtual velocities, gives the
forces. Rows are scaled by d = sqrt(I), so that sums over columns are the space integrals, as for
the points of the axis.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.so3 import coefficients
from flex_dynamics.kernels.base.vector import load, shifted, spread, store, total
from flex_dynamics.kernels.beam.fields import FOUR, THREE, ZERO, U, section_columns

# Angles, squared, up to which the short and the long series below are right to rounding.
SHORT, LONG = 0.02, 2.5


@njit(**OPTIONS)
def _short(x, a0, a1, a2, a3, a4):
    return spread(a0) + x * (spread(a1) + x * (spread(a2) + x * (spread(a3) + x * a4)))


@njit(**OPTIONS)
def _long(x, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10):
    return spread(a0) + x * (spread(a1) + x * (spread(a2) + x * (spread(a3) + x * (
        spread(a4) + x * (spread(a5) + x * _short(x, a6, a7, a8, a9, a10))))))


@njit(**OPTIONS)
def _coefficients(t2, spare):
    """so3.coefficients of four angles: b, c, db, dc; sin t / t is 1 - c t2. spare: 4 numbers."""
    store(spare, ZERO, t2)
    largest = max(max(spare[0], spare[1]), max(spare[2], spare[3]))
    x = t2 * -1.0
    if largest < SHORT:
        b = _short(x, 1.0 / 2.0, 1.0 / 24.0, 1.0 / 720.0, 1.0 / 40320.0, 1.0 / 3628800.0)
        c = _short(x, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0)
        db = _short(x, -1.0 / 24.0, -2.0 / 720.0, -3.0 / 40320.0, -4.0 / 3628800.0,
                    -5.0 / 479001600.0)
        dc = _short(x, -1.0 / 120.0, -2.0 / 5040.0, -3.0 / 362880.0, -4.0 / 39916800.0,
                    -5.0 / 6227020800.0)
        return b, c, db, dc
    if largest < LONG:
        b = _long(x, 1.0 / 2.0, 1.0 / 24.0, 1.0 / 720.0, 1.0 / 40320.0, 1.0 / 3628800.0,
                  1.0 / 479001600.0, 1.0 / 87178291200.0, 1.0 / 20922789888000.0,
                  1.0 / 6402373705728000.0, 1.0 / 2432902008176640000.0,
                  1.0 / 1.1240007277776077e21)
        c = _long(x, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0,
                  1.0 / 6227020800.0, 1.0 / 1307674368000.0, 1.0 / 355687428096000.0,
                  1.0 / 121645100408832000.0, 1.0 / 51090942171709440000.0,
                  1.0 / 2.585201673888498e22)
        db = _long(x, -1.0 / 24.0, -2.0 / 720.0, -3.0 / 40320.0, -4.0 / 3628800.0,
                   -5.0 / 479001600.0, -6.0 / 87178291200.0, -7.0 / 20922789888000.0,
                   -8.0 / 6402373705728000.0, -9.0 / 2432902008176640000.0,
                   -10.0 / 1.1240007277776077e21, -11.0 / 6.204484017332394e23)
        dc = _long(x, -1.0 / 120.0, -2.0 / 5040.0, -3.0 / 362880.0, -4.0 / 39916800.0,
                   -5.0 / 6227020800.0, -6.0 / 1307674368000.0, -7.0 / 355687428096000.0,
                   -8.0 / 121645100408832000.0, -9.0 / 51090942171709440000.0,
                   -10.0 / 2.585201673888498e22, -11.0 / 1.5511210043330986e25)
        return b, c, db, dc
    _, b0, c0, d0, e0 = coefficients(spare[0])
    _, b1, c1, d1, e1 = coefficients(spare[1])
    _, b2, c2, d2, e2 = coefficients(spare[2])
    _, b3, c3, d3, e3 = coefficients(spare[3])
    return (_gathered(b0, b1, b2, b3, spare), _gathered(c0, c1, c2, c3, spare),
            _gathered(d0, d1, d2, d3, spare), _gathered(e0, e1, e2, e3, spare))


@njit(**OPTIONS)
def _gathered(a, b, c, d, spare):
    spare[0], spare[1], spare[2], spare[3] = a, b, c, d
    return load(spare, ZERO)


@njit(**OPTIONS)
def _keep_row(turn, at, n_sections, r0, r1, r2):
    """One row of a matrix of every section."""
    store(turn, at, r0)
    store(turn, at + n_sections, r1)
    store(turn, at + U(2) * n_sections, r2)


@njit(**OPTIONS)
def turn_sections(constants, n_axis, n_sections, modes, V, f, gradients, rates):
    """From rotation vectors to angular velocities, in place, in the sections' columns of f.

    Afterwards f.point holds W, f.point_rate Jr theta', f.force the scaled moments that speeds
    cause, f.weighted_turn the rotations. With `gradients` f.B holds the scaled rows
    d Jr dtheta/deta; with `rates` f.B_rate holds their rates, and f.turn the rotations.
    constants (SECTION_CONSTANTS, n_sections): dx, dy, dz, dy / dx, dz / dx and
    (dz2 - dy2) / dx. Integers unsigned.
    """
    sx, sy, sz = section_columns(n_axis, n_sections)
    width = THREE * (n_axis + n_sections)
    two, three = U(2) * n_sections, THREE * n_sections
    w0, w1, w2 = V[0], V[1], V[2]
    for k in range(ZERO, n_sections, FOUR):
        x, y, z = load(f.point, sx + k), load(f.point, sy + k), load(f.point, sz + k)
        xd = load(f.point_rate, sx + k)
        yd = load(f.point_rate, sy + k)
        zd = load(f.point_rate, sz + k)
        dx, dy = load(constants, k), load(constants, n_sections + k)
        dz, gyration = load(constants, two + k), load(constants, U(5) * n_sections + k)
        t2 = x * x + y * y + z * z
        dot = (x * xd + y * yd + z * zd) * 2.0
        # The turn is not yet written: its place is free.
        b, c, db, dc = _coefficients(t2, shifted(f.turn, k))
        one = spread(1.0)
        s = one - c * t2
        # R' = 1 - s [theta] + b [theta]2, row by row.
        r00, r01, r02 = one - b * (y * y + z * z), b * x * y + s * z, b * x * z - s * y
        r10, r11, r12 = b * x * y - s * z, one - b * (x * x + z * z), b * y * z + s * x
        r20, r21, r22 = b * x * z + s * y, b * y * z - s * x, one - b * (x * x + y * y)
        # Jr = (1 - c t2) + c theta theta' - b [theta].
        j00, j01, j02 = s + c * x * x, c * x * y + b * z, c * x * z - b * y
        j10, j11, j12 = c * x * y - b * z, s + c * y * y, c * y * z + b * x
        j20, j21, j22 = c * x * z + b * y, c * y * z - b * x, s + c * z * z
        o0 = j00 * xd + j01 * yd + j02 * zd
        o1 = j10 * xd + j11 * yd + j12 * zd
        o2 = j20 * xd + j21 * yd + j22 * zd
        # Rate of Jr times theta': c theta' x p + c' theta x p - b' p, p = theta x theta'.
        bd, cd = db * dot, dc * dot
        p0, p1, p2 = y * zd - z * yd, z * xd - x * zd, x * yd - y * xd
        g0, g1, g2 = c * xd + cd * x, c * yd + cd * y, c * zd + cd * z
        n0 = g1 * p2 - g2 * p1 - bd * p0
        n1 = g2 * p0 - g0 * p2 - bd * p1
        n2 = g0 * p1 - g1 * p0 - bd * p2
        # R'w, W, and W' without the accelerations: its part R'w x (Jr theta') and Jr's rate.
        u0 = r00 * w0 + r01 * w1 + r02 * w2
        u1 = r10 * w0 + r11 * w1 + r12 * w2
        u2 = r20 * w0 + r21 * w1 + r22 * w2
        W0, W1, W2 = u0 + o0, u1 + o1, u2 + o2
        c0 = load(f.convective, sx + k)
        c1 = load(f.convective, sy + k)
        c2 = load(f.convective, sz + k)
        a0 = u1 * o2 - u2 * o1 + j00 * c0 + j01 * c1 + j02 * c2 + n0
        a1 = u2 * o0 - u0 * o2 + j10 * c0 + j11 * c1 + j12 * c2 + n1
        a2 = u0 * o1 - u1 * o0 + j20 * c0 + j21 * c1 + j22 * c2 + n2
        store(f.force, sx + k, dx * a0 + gyration * W1 * W2)
        store(f.force, sy + k, dy * (a1 + W2 * W0))
        store(f.force, sz + k, dz * (a2 - W0 * W1))
        store(f.point, sx + k, W0)
        store(f.point, sy + k, W1)
        store(f.point, sz + k, W2)
        store(f.point_rate, sx + k, o0)
        store(f.point_rate, sy + k, o1)
        store(f.point_rate, sz + k, o2)
        _keep_row(f.weighted_turn, k, n_sections, dx * r00, dx * r01, dx * r02)
        _keep_row(f.weighted_turn, three + k, n_sections, dy * r10, dy * r11, dy * r12)
        _keep_row(f.weighted_turn, U(2) * three + k, n_sections, dz * r20, dz * r21, dz * r22)
        if not gradients:
            continue
        if rates:
            # Rows of B_rate before those of B, which they need: d (Jr T_rate + Jr_rate T).
            _keep_row(f.turn, k, n_sections, r00, r01, r02)
            _keep_row(f.turn, three + k, n_sections, r10, r11, r12)
            _keep_row(f.turn, U(2) * three + k, n_sections, r20, r21, r22)
            e = spread(0.0) - cd * t2 - c * dot
            xy = cd * x * y + c * (xd * y + x * yd)
            xz = cd * x * z + c * (xd * z + x * zd)
            yz = cd * y * z + c * (yd * z + y * zd)
            bx, by, bz = bd * x + b * xd, bd * y + b * yd, bd * z + b * zd
            h00, h01, h02 = e + cd * x * x + c * x * xd * 2.0, xy + bz, xz - by
            h10, h11, h12 = xy - bz, e + cd * y * y + c * y * yd * 2.0, yz + bx
            h20, h21, h22 = xz + by, yz - bx, e + cd * z * z + c * z * zd * 2.0
            for a in range(modes):
                at = a * width + k
                g0, g1, g2 = load(f.B, at + sx), load(f.B, at + sy), load(f.B, at + sz)
                q0 = load(f.B_rate, at + sx)
                q1 = load(f.B_rate, at + sy)
                q2 = load(f.B_rate, at + sz)
                store(f.B_rate, at + sx, dx * (j00 * q0 + j01 * q1 + j02 * q2
                                               + h00 * g0 + h01 * g1 + h02 * g2))
                store(f.B_rate, at + sy, dy * (j10 * q0 + j11 * q1 + j12 * q2
                                               + h10 * g0 + h11 * g1 + h12 * g2))
                store(f.B_rate, at + sz, dz * (j20 * q0 + j21 * q1 + j22 * q2
                                               + h20 * g0 + h21 * g1 + h22 * g2))
        j00, j01, j02 = dx * j00, dx * j01, dx * j02
        j10, j11, j12 = dy * j10, dy * j11, dy * j12
        j20, j21, j22 = dz * j20, dz * j21, dz * j22
        for a in range(modes):
            at = a * width + k
            g0, g1, g2 = load(f.B, at + sx), load(f.B, at + sy), load(f.B, at + sz)
            store(f.B, at + sx, j00 * g0 + j01 * g1 + j02 * g2)
            store(f.B, at + sy, j10 * g0 + j11 * g1 + j12 * g2)
            store(f.B, at + sz, j20 * g0 + j21 * g1 + j22 * g2)


@njit(**OPTIONS)
def section_moments(turn, X, x, y, z, n_sections):
    """Three vectors whose lanes sum to that of (d R')' x over the sections; X's columns x, y, z.

    turn: f.weighted_turn.
    """
    m0, m1, m2 = spread(0.0), spread(0.0), spread(0.0)
    one, two, three = n_sections, U(2) * n_sections, THREE * n_sections
    for k in range(ZERO, n_sections, FOUR):
        x0, x1, x2 = load(X, x + k), load(X, y + k), load(X, z + k)
        second, third = three + k, U(2) * three + k
        m0 = m0 + load(turn, k) * x0 + load(turn, second) * x1 + load(turn, third) * x2
        m1 = (m1 + load(turn, one + k) * x0 + load(turn, one + second) * x1
              + load(turn, one + third) * x2)
        m2 = (m2 + load(turn, two + k) * x0 + load(turn, two + second) * x1
              + load(turn, two + third) * x2)
    return m0, m1, m2


@njit(**OPTIONS)
def section_inertia(turn, n_sections):
    """Sums of (d R')'(d R') over the sections: xx, yy, zz, xy, xz, yz. turn: f.weighted_turn."""
    zero = spread(0.0)
    xx, yy, zz, xy, xz, yz = zero, zero, zero, zero, zero, zero
    for row in range(ZERO, U(9) * n_sections, THREE * n_sections):
        for k in range(row, row + n_sections, FOUR):
            r0, r1 = load(turn, k), load(turn, k + n_sections)
            r2 = load(turn, k + U(2) * n_sections)
            xx = xx + r0 * r0
            yy = yy + r1 * r1
            zz = zz + r2 * r2
            xy = xy + r0 * r1
            xz = xz + r0 * r2
            yz = yz + r1 * r2
    return total(xx), total(yy), total(zz), total(xy), total(xz), total(yz)
