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
"""A beam's own forces, differentiated by its twist, its amplitudes and their speeds.

A point of the axis has the acceleration alpha = a + w x v + w' x p + w x (w x p) + 2 w x pd
+ B etadd + convective; a section turns with W = R'w + Jr theta' and feels the moment
tau = I W' + W x I W.
A coordinate whose Jacobian column at a section is o (angular), with rates o' and o'', changes

    W by W x o + o',  W' by W' x o + W x o' + o''    with its position,
    W by o,           W' by W x o + 2 o'             with its speed,

which holds for every frame that a coordinate moves. Forces on amplitudes are o . tau, and o itself
changes: o_m,j . tau = (Jr'tau) . theta_,mj + d(Jr theta_,m)/dtheta theta_,j . tau.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    BEAM,
    ELASTIC,
    MODES_X,
    MODES_Y,
    MODES_Z,
    N_AXIS,
    N_SECTIONS,
    OPTIONS,
    ROW,
)
from flex_dynamics.kernels.base.vector import address_of, load, shifted, spread, store, total
from flex_dynamics.kernels.base.workspace import Fields
from flex_dynamics.kernels.beam.beam_body import beam_fields, beam_inertia, dot, moment
from flex_dynamics.kernels.beam.fields import (
    FOUR,
    ONE,
    THREE,
    TWO,
    ZERO,
    U,
    axis_columns,
    beam_columns,
    section_columns,
)
from flex_dynamics.kernels.beam.section_rotation import section_moments
from flex_dynamics.kernels.derivatives.products import add_products
from flex_dynamics.kernels.derivatives.rotation_derivatives import (
    cross,
    second_coefficients_of_four,
)


@njit(**OPTIONS)
def beam_derivatives(row, coef, q, v, a, V, acc, fields, s, A, b, F, H, most, B, g, hq, hv, Kq,
                     Kv):
    """Inertia of a beam as beam_inertia gives it (A, b, F, H), and the derivatives of its forces.

    V, acc: twist and acceleration of its frame. B (6, ROW): force per twist; g, hq, hv (modes,
    ROW) and Kq, Kv (modes, most) as in Space: addresses, all overwritten.
    """
    n_y, n_z, n_x = U(row[MODES_Y]), U(row[MODES_Z]), U(row[MODES_X])
    n_axis, n_sections = U(row[N_AXIS]), U(row[N_SECTIONS])
    modes, columns = n_y + n_z + n_x, THREE * (n_axis + n_sections)
    # With accelerations in place of speeds, B_rate is what accelerations do to the gradients.
    at_accelerations = Fields(fields.point, s.second, s.spare, fields.force, fields.B, s.B_second,
                              fields.turn, fields.weighted_turn)
    beam_columns(address_of(coef), U(row[BEAM]), n_y, n_z, n_x, n_axis, n_sections,
                 shifted(address_of(q), row[ELASTIC]), shifted(address_of(a), row[ELASTIC]),
                 at_accelerations, True)
    roots_at = beam_fields(row, coef, q, v, fields, True)
    roots = shifted(address_of(coef), roots_at)
    _axis(n_axis, n_sections, modes, roots, V, acc, fields, s)
    _sections(shifted(roots, n_axis), n_axis, n_sections, modes, V, acc, fields, s)
    sx, sy, sz = section_columns(n_axis, n_sections)
    for m in range(modes):
        own = shifted(fields.B, m * columns)
        for d in range(modes):
            bent = shifted(s.bent, d * columns)
            Kq[m * U(most) + d] = total(
                dot(shifted(own, sx), shifted(bent, sx), n_sections)
                + dot(shifted(own, sy), shifted(bent, sy), n_sections)
                + dot(shifted(own, sz), shifted(bent, sz), n_sections))
    add_products(shifted(address_of(coef), row[BEAM]), n_y, n_z, n_x, n_axis, n_sections,
                 s.acceleration, Kq, U(most))
    beam_inertia(row, coef, roots_at, fields, V, A, b, F, H, most, False)
    _twist_part(modes, n_axis, n_sections, roots, V, A, F, fields, s, B, g)
    _amplitude_part(modes, n_axis, n_sections, roots, fields, s, hq, hv, Kq, Kv, most)


@njit(**OPTIONS)
def _axis(n_axis, n_sections, modes, roots, V, acc, f, s):
    """Accelerations of the axis points, and their changes by w, amplitudes and speeds."""
    x, y, z = axis_columns(n_axis, n_sections)
    width = THREE * (n_axis + n_sections)
    w0, w1, w2, v0, v1, v2 = V[0], V[1], V[2], V[3], V[4], V[5]
    a0, a1, a2 = acc[0], acc[1], acc[2]
    l0, l1, l2 = cross(w0, w1, w2, v0, v1, v2)
    l0, l1, l2 = l0 + acc[3], l1 + acc[4], l2 + acc[5]
    # T = [w'] + [w][w]: what a point's place does to its acceleration.
    t00, t11, t22 = -(w1 * w1 + w2 * w2), -(w0 * w0 + w2 * w2), -(w0 * w0 + w1 * w1)
    t01, t10 = w0 * w1 - a2, w0 * w1 + a2
    t02, t20 = w0 * w2 + a1, w0 * w2 - a1
    t12, t21 = w1 * w2 - a0, w1 * w2 + a0
    for k in range(ZERO, n_axis, FOUR):
        px, py, pz = load(f.point, x + k), load(f.point, y + k), load(f.point, z + k)
        dx = load(f.point_rate, x + k)
        dy = load(f.point_rate, y + k)
        dz = load(f.point_rate, z + k)
        root = load(roots, k)
        store(s.acceleration, x + k, root * l0 + px * t00 + py * t01 + pz * t02
              + dz * (2.0 * w1) - dy * (2.0 * w2) + load(s.second, x + k)
              + load(f.convective, x + k))
        store(s.acceleration, y + k, root * l1 + px * t10 + py * t11 + pz * t12
              + dx * (2.0 * w2) - dz * (2.0 * w0) + load(s.second, y + k)
              + load(f.convective, y + k))
        store(s.acceleration, z + k, root * l2 + px * t20 + py * t21 + pz * t22
              + dy * (2.0 * w0) - dx * (2.0 * w1) + load(s.second, z + k)
              + load(f.convective, z + k))
        # By w: e x u + w x (e x p), u = v + w x p + 2 pd.
        ux = root * v0 + pz * w1 - py * w2 + dx * 2.0
        uy = root * v1 + px * w2 - pz * w0 + dy * 2.0
        uz = root * v2 + py * w0 - px * w1 + dz * 2.0
        # w x (e x p) = e (w.p) - p (w.e)
        wp = px * w0 + py * w1 + pz * w2
        first, second, third = s.by_twist, shifted(s.by_twist, width), shifted(s.by_twist,
                                                                               TWO * width)
        store(first, x + k, wp - px * w0)
        store(first, y + k, spread(0.0) - uz - py * w0)
        store(first, z + k, uy - pz * w0)
        store(second, x + k, uz - px * w1)
        store(second, y + k, wp - py * w1)
        store(second, z + k, spread(0.0) - ux - pz * w1)
        store(third, x + k, spread(0.0) - uy - px * w2)
        store(third, y + k, ux - py * w2)
        store(third, z + k, wp - pz * w2)
        for m in range(modes):
            at = m * width + k
            bx, by, bz = load(f.B, at + x), load(f.B, at + y), load(f.B, at + z)
            rx = load(f.B_rate, at + x) * 2.0
            ry = load(f.B_rate, at + y) * 2.0
            rz = load(f.B_rate, at + z) * 2.0
            store(s.by_position, at + x, bx * t00 + by * t01 + bz * t02 + rz * w1 - ry * w2
                  + load(s.B_second, at + x))
            store(s.by_position, at + y, bx * t10 + by * t11 + bz * t12 + rx * w2 - rz * w0
                  + load(s.B_second, at + y))
            store(s.by_position, at + z, bx * t20 + by * t21 + bz * t22 + ry * w0 - rx * w1
                  + load(s.B_second, at + z))
            store(s.by_speed, at + x, rx + bz * (2.0 * w1) - by * (2.0 * w2))
            store(s.by_speed, at + y, ry + bx * (2.0 * w2) - bz * (2.0 * w0))
            store(s.by_speed, at + z, rz + by * (2.0 * w0) - bx * (2.0 * w1))


@njit(**OPTIONS)
def _keep(place, x, y, z, a, b, c):
    store(place, x, a)
    store(place, y, b)
    store(place, z, c)


@njit(**OPTIONS)
def _by_twist(place, x, y, z, q0, q1, q2, o0, o1, o2, W0, W1, W2, dx, dy, dz, gyration):
    """Scaled moment per angular velocity of the beam about one axis, q of which in the section."""
    k0, k1, k2 = cross(q0, q1, q2, o0, o1, o2)
    _keep(place, x, y, z, dx * k0 + gyration * (q1 * W2 + W1 * q2),
          dy * (k1 + q2 * W0 + W2 * q0), dz * (k2 - q0 * W1 - W0 * q1))


@njit(**OPTIONS)
def _sections(constants, n_axis, n_sections, modes, V, acc, f, s):
    """Moments of the sections, and their changes, in the sections' columns; `constants` as
    turn_sections has them."""
    sx, sy, sz = section_columns(n_axis, n_sections)
    width = THREE * (n_axis + n_sections)
    two, three = TWO * n_sections, THREE * n_sections
    w0, w1, w2, e0, e1, e2 = V[0], V[1], V[2], acc[0], acc[1], acc[2]
    one = spread(1.0)
    for k in range(ZERO, n_sections, FOUR):
        x, y, z = load(f.point, sx + k), load(f.point, sy + k), load(f.point, sz + k)
        xd = load(f.point_rate, sx + k)
        yd = load(f.point_rate, sy + k)
        zd = load(f.point_rate, sz + k)
        xa = load(s.second, sx + k) + load(f.convective, sx + k)
        ya = load(s.second, sy + k) + load(f.convective, sy + k)
        za = load(s.second, sz + k) + load(f.convective, sz + k)
        dx, dy = load(constants, k), load(constants, n_sections + k)
        dz, gyration = load(constants, two + k), load(constants, U(5) * n_sections + k)
        t2 = x * x + y * y + z * z
        rate = (x * xd + y * yd + z * zd) * 2.0
        rate_rate = (xd * xd + yd * yd + zd * zd + x * xa + y * ya + z * za) * 2.0
        b, c, db, dc, ddb, ddc = second_coefficients_of_four(t2, shifted(s.spare, ZERO))
        bd, cd = db * rate, dc * rate
        ba, ca = ddb * rate * rate + db * rate_rate, ddc * rate * rate + dc * rate_rate
        sn = one - c * t2
        # R' = 1 - s [theta] + b [theta]2, row by row.
        r00, r01, r02 = one - b * (y * y + z * z), b * x * y + sn * z, b * x * z - sn * y
        r10, r11, r12 = b * x * y - sn * z, one - b * (x * x + z * z), b * y * z + sn * x
        r20, r21, r22 = b * x * z + sn * y, b * y * z - sn * x, one - b * (x * x + y * y)
        _keep(s.turn, k, k + n_sections, k + two, r00, r01, r02)
        _keep(s.turn, three + k, three + k + n_sections, three + k + two, r10, r11, r12)
        _keep(s.turn, TWO * three + k, TWO * three + k + n_sections, TWO * three + k + two,
              r20, r21, r22)
        # Jr and its rates (rotation_derivatives.set_jacobian_rates).
        j00, j01, j02 = sn + c * x * x, c * x * y + b * z, c * x * z - b * y
        j10, j11, j12 = c * x * y - b * z, sn + c * y * y, c * y * z + b * x
        j20, j21, j22 = c * x * z + b * y, c * y * z - b * x, sn + c * z * z
        e = spread(0.0) - cd * t2 - c * rate
        xy = cd * x * y + c * (xd * y + x * yd)
        xz = cd * x * z + c * (xd * z + x * zd)
        yz = cd * y * z + c * (yd * z + y * zd)
        bx, by, bz = bd * x + b * xd, bd * y + b * yd, bd * z + b * zd
        h00, h01, h02 = e + cd * x * x + c * x * xd * 2.0, xy + bz, xz - by
        h10, h11, h12 = xy - bz, e + cd * y * y + c * y * yd * 2.0, yz + bx
        h20, h21, h22 = xz + by, yz - bx, e + cd * z * z + c * z * zd * 2.0
        cd2 = cd * 2.0
        e = spread(0.0) - ca * t2 - cd2 * rate - c * rate_rate
        xy = (ca * x * y + cd2 * (xd * y + x * yd)
              + c * (xa * y + xd * yd * 2.0 + x * ya))
        xz = (ca * x * z + cd2 * (xd * z + x * zd)
              + c * (xa * z + xd * zd * 2.0 + x * za))
        yz = (ca * y * z + cd2 * (yd * z + y * zd)
              + c * (ya * z + yd * zd * 2.0 + y * za))
        bx = ba * x + bd * xd * 2.0 + b * xa
        by = ba * y + bd * yd * 2.0 + b * ya
        bz = ba * z + bd * zd * 2.0 + b * za
        g00 = e + ca * x * x + cd2 * x * xd * 2.0 + c * (x * xa + xd * xd) * 2.0
        g11 = e + ca * y * y + cd2 * y * yd * 2.0 + c * (y * ya + yd * yd) * 2.0
        g22 = e + ca * z * z + cd2 * z * zd * 2.0 + c * (z * za + zd * zd) * 2.0
        g01, g02, g10, g12, g20, g21 = xy + bz, xz - by, xy - bz, yz + bx, xz + by, yz - bx
        # Angular velocity W and W'.
        o0 = j00 * xd + j01 * yd + j02 * zd
        o1 = j10 * xd + j11 * yd + j12 * zd
        o2 = j20 * xd + j21 * yd + j22 * zd
        u0 = r00 * w0 + r01 * w1 + r02 * w2
        u1 = r10 * w0 + r11 * w1 + r12 * w2
        u2 = r20 * w0 + r21 * w1 + r22 * w2
        W0, W1, W2 = u0 + o0, u1 + o1, u2 + o2
        k0, k1, k2 = cross(u0, u1, u2, o0, o1, o2)
        D0 = (k0 + r00 * e0 + r01 * e1 + r02 * e2 + j00 * xa + j01 * ya + j02 * za
              + h00 * xd + h01 * yd + h02 * zd)
        D1 = (k1 + r10 * e0 + r11 * e1 + r12 * e2 + j10 * xa + j11 * ya + j12 * za
              + h10 * xd + h11 * yd + h12 * zd)
        D2 = (k2 + r20 * e0 + r21 * e1 + r22 * e2 + j20 * xa + j21 * ya + j22 * za
              + h20 * xd + h21 * yd + h22 * zd)
        m0 = dx * (dx * D0 + gyration * W1 * W2)
        m1 = dy * dy * (D1 + W2 * W0)
        m2 = dz * dz * (D2 - W0 * W1)
        _keep(s.acceleration, sx + k, sy + k, sz + k, j00 * m0 + j10 * m1 + j20 * m2,
              j01 * m0 + j11 * m1 + j21 * m2, j02 * m0 + j12 * m1 + j22 * m2)
        _by_twist(s.by_twist, sx + k, sy + k, sz + k, r00, r10, r20, o0, o1, o2, W0, W1, W2, dx,
                  dy, dz, gyration)
        _by_twist(shifted(s.by_twist, width), sx + k, sy + k, sz + k, r01, r11, r21, o0, o1, o2,
                  W0, W1, W2, dx, dy, dz, gyration)
        _by_twist(shifted(s.by_twist, TWO * width), sx + k, sy + k, sz + k, r02, r12, r22, o0, o1,
                  o2, W0, W1, W2, dx, dy, dz, gyration)
        y0, y1, y2 = cross(m0, m1, m2, x, y, z)
        z0, z1, z2 = cross(y0, y1, y2, x, y, z)
        for m in range(modes):
            at = m * width + k
            q0, q1, q2 = load(f.B, at + sx), load(f.B, at + sy), load(f.B, at + sz)
            d0 = load(f.B_rate, at + sx)
            d1 = load(f.B_rate, at + sy)
            d2 = load(f.B_rate, at + sz)
            s0 = load(s.B_second, at + sx)
            s1 = load(s.B_second, at + sy)
            s2 = load(s.B_second, at + sz)
            n0 = j00 * q0 + j01 * q1 + j02 * q2
            n1 = j10 * q0 + j11 * q1 + j12 * q2
            n2 = j20 * q0 + j21 * q1 + j22 * q2
            p0 = j00 * d0 + j01 * d1 + j02 * d2 + h00 * q0 + h01 * q1 + h02 * q2
            p1 = j10 * d0 + j11 * d1 + j12 * d2 + h10 * q0 + h11 * q1 + h12 * q2
            p2 = j20 * d0 + j21 * d1 + j22 * d2 + h20 * q0 + h21 * q1 + h22 * q2
            i0 = (j00 * s0 + j01 * s1 + j02 * s2 + (h00 * d0 + h01 * d1 + h02 * d2) * 2.0
                  + g00 * q0 + g01 * q1 + g02 * q2)
            i1 = (j10 * s0 + j11 * s1 + j12 * s2 + (h10 * d0 + h11 * d1 + h12 * d2) * 2.0
                  + g10 * q0 + g11 * q1 + g12 * q2)
            i2 = (j20 * s0 + j21 * s1 + j22 * s2 + (h20 * d0 + h21 * d1 + h22 * d2) * 2.0
                  + g20 * q0 + g21 * q1 + g22 * q2)
            k0, k1, k2 = cross(W0, W1, W2, n0, n1, n2)
            a0, a1, a2 = cross(D0, D1, D2, n0, n1, n2)
            c0, c1, c2 = cross(W0, W1, W2, p0, p1, p2)
            t0, t1, t2_ = k0 + p0, k1 + p1, k2 + p2
            a0, a1, a2 = a0 + c0 + i0, a1 + c1 + i1, a2 + c2 + i2
            _keep(s.by_position, at + sx, at + sy, at + sz,
                  dx * a0 + gyration * (t1 * W2 + W1 * t2_), dy * (a1 + t2_ * W0 + W2 * t0),
                  dz * (a2 - t0 * W1 - W0 * t1))
            a0, a1, a2 = k0 + p0 * 2.0, k1 + p1 * 2.0, k2 + p2 * 2.0
            _keep(s.by_speed, at + sx, at + sy, at + sz,
                  dx * a0 + gyration * (n1 * W2 + W1 * n2), dy * (a1 + n2 * W0 + W2 * n0),
                  dz * (a2 - n0 * W1 - W0 * n1))
            k0, k1, k2 = cross(n0, n1, n2, m0, m1, m2)
            _keep(s.carried, at + sx, at + sy, at + sz, k0, k1, k2)
            # d(Jr u)/dtheta in the direction of this gradient, times the moment, as a vector.
            along = (x * q0 + y * q1 + z * q2) * 2.0
            c0, c1, c2 = cross(m0, m1, m2, q0, q1, q2)
            a0, a1, a2 = cross(c0, c1, c2, x, y, z)
            k0, k1, k2 = cross(y0, y1, y2, q0, q1, q2)
            d0, d1 = db * along, dc * along
            _keep(s.bent, at + sx, at + sy, at + sz,
                  c * (a0 + k0) + d1 * z0 - d0 * y0 - b * c0,
                  c * (a1 + k1) + d1 * z1 - d0 * y1 - b * c1,
                  c * (a2 + k2) + d1 * z2 - d0 * y2 - b * c2)


@njit(**OPTIONS)
def _on_twist(row, n_axis, n_sections, roots, f, out):
    """Force on the twist (ROW) of a row of accelerations and scaled moments."""
    x, y, z = axis_columns(n_axis, n_sections)
    sx, sy, sz = section_columns(n_axis, n_sections)
    m0, m1, m2 = moment(f.point, row, x, y, z, n_axis)
    n0, n1, n2 = section_moments(f.weighted_turn, row, sx, sy, sz, n_sections)
    out[0], out[1], out[2] = total(m0 + n0), total(m1 + n1), total(m2 + n2)
    out[3] = total(dot(roots, shifted(row, x), n_axis))
    out[4] = total(dot(roots, shifted(row, y), n_axis))
    out[5] = total(dot(roots, shifted(row, z), n_axis))


@njit(**OPTIONS)
def _twist_part(modes, n_axis, n_sections, roots, V, A, F, f, s, B, g):
    """B and g: what the twist does to the force on it, and to that on the amplitudes."""
    columns = THREE * (n_axis + n_sections)
    w0, w1, w2 = V[0], V[1], V[2]
    mass, c0, c1, c2 = A[3 * ROW + 3], A[2 * ROW + 4], A[5], A[ROW + 3]
    column = shifted(s.spare, ZERO)
    for axis in range(3):
        changed = shifted(s.by_twist, U(axis) * columns)
        _on_twist(changed, n_axis, n_sections, roots, f, column)
        for j in range(6):
            B[ROW * j + axis] = column[j]
        e0, e1, e2 = 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2)
        k0, k1, k2 = cross(w0, w1, w2, e0, e1, e2)
        m0, m1, m2 = cross(c0, c1, c2, k0, k1, k2)
        B[3 + axis], B[ROW + 3 + axis], B[2 * ROW + 3 + axis] = m0, m1, m2
        B[3 * ROW + 3 + axis] = mass * k0
        B[4 * ROW + 3 + axis] = mass * k1
        B[5 * ROW + 3 + axis] = mass * k2
        for m in range(modes):
            g[U(ROW) * m + U(axis)] = total(dot(shifted(f.B, m * columns), changed, columns))
    for j in range(6):
        B[ROW * j + 6], B[ROW * j + 7] = 0.0, 0.0
    for m in range(modes):
        at = U(ROW) * m
        g[at + U(3)], g[at + U(4)], g[at + U(5)] = cross(F[at + U(3)], F[at + U(4)],
                                                         F[at + U(5)], w0, w1, w2)
        g[at + U(6)], g[at + U(7)] = 0.0, 0.0


@njit(**OPTIONS)
def _amplitude_part(modes, n_axis, n_sections, roots, f, s, hq, hv, Kq, Kv, most):
    """What amplitudes and their speeds do to the forces on twist and amplitudes; adds to Kq."""
    columns = THREE * (n_axis + n_sections)
    x, y, z = axis_columns(n_axis, n_sections)
    sx, sy, sz = section_columns(n_axis, n_sections)
    for m in range(modes):
        at, own = U(ROW) * m, m * columns
        by_position, by_speed = shifted(s.by_position, own), shifted(s.by_speed, own)
        _on_twist(by_position, n_axis, n_sections, roots, f, shifted(hq, at))
        _on_twist(by_speed, n_axis, n_sections, roots, f, shifted(hv, at))
        # The points move, and moments turn with their sections.
        m0, m1, m2 = moment(shifted(f.B, own), s.acceleration, x, y, z, n_axis)
        hq[at] += total(m0)
        hq[at + ONE] += total(m1)
        hq[at + TWO] += total(m2)
        m0, m1, m2 = section_moments(s.turn, shifted(s.carried, own), sx, sy, sz, n_sections)
        hq[at] += total(m0)
        hq[at + ONE] += total(m1)
        hq[at + TWO] += total(m2)
        hq[at + U(6)], hq[at + U(7)], hv[at + U(6)], hv[at + U(7)] = 0.0, 0.0, 0.0, 0.0
        for d in range(modes):
            gradient, place = shifted(f.B, d * columns), d * U(most) + m
            Kq[place] += total(dot(gradient, by_position, columns))
            Kv[place] = total(dot(gradient, by_speed, columns))
