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
"""Momentum of a robot on a floating or planar base, kept to rounding beside its energy.

The midpoint rule in coordinates keeps momentum to the order of its own error only. So the momentum
that a step should end with is kept in a ledger: linear momentum, angular momentum about the centre
of mass, and the centre of mass itself, which change by the impulses of gravity, wrenches and
efforts on the base alone. After each step the base takes the twist that makes up the difference,
through the inertia of the robot with its shape locked, and is moved to the centre of mass. The
correction is of third order in the step, like the error of the step itself.

What is left of the speeds, with the momentum taken off, is the motion of the shape; its kinetic
energy and that of the momentum add up (v'M v of both vanishes), so that the energy can be balanced
by a scaling of the former, which changes no momentum.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    AXIS,
    DOF,
    ELASTIC,
    FLOATING,
    KIND,
    MODES,
    MOTOR,
    OPTIONS,
    PARENT,
    PLANAR,
    PLANE,
    ROTATION,
    ROTOR,
    ROTOR_AXIS,
    ROW,
    Q,
)
from flex_dynamics.kernels.base.spatial import inertia_to_parent, set_frame_change
from flex_dynamics.kernels.base.vector import shifted
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK
from flex_dynamics.kernels.tree.elimination import base_pivot
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import own_inertia, solve_base

# Places in RunArrays.ledger
AHEAD = 0          # energy, J, by which the motion is ahead of its balance
KINETIC = 1
GRAVITY = 2
MASS_MOVED = 3     # kg
LINEAR = 4         # 3: momentum in world axes
ANGULAR = 7        # 3: about the centre of mass
CENTRE = 10        # 3: of mass
LEDGER = 13


@njit(**OPTIONS)
def moving_base(table):
    """Node of the floating or planar base, -1 if there is none."""
    for i in range(table.shape[0]):
        if table[i, PARENT] < 0 and (table[i, KIND] == FLOATING or table[i, KIND] == PLANAR):
            return i
    return -1


@njit(**OPTIONS)
def locked_inertia(table, body, coef, gravity, q, v, w):
    """Kinetic and gravity energy, J, at q, v (n,); in w.A of each root its inertia with the shape
    locked, and its momentum [angular; linear] about the root's origin in column 6."""
    kinematics(table, body, coef, q, v, w, False)
    own_inertia(table, body, coef, q, v, w)
    first, twice, height = table[0, ELASTIC], 0.0, 0.0
    for i in range(table.shape[0]):
        A, V = shifted(w.A, INERTIA_BLOCK * i), w.V[i]
        start = table[i, ELASTIC]
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += A[ROW * j + k] * V[k]
            for m in range(table[i, MODES]):
                s += w.F[ROW * (start - first + m) + j] * v[start + m]
            A[ROW * j + 6], A[ROW * j + 7] = s, 0.0
            twice += V[j] * s
        for m in range(table[i, MODES]):
            F, s = shifted(w.F, ROW * (start - first + m)), 0.0
            for k in range(6):
                s += F[k] * V[k]
            for d in range(table[i, MODES]):
                s += w.H[(start - first + min(m, d)) * w.most + max(m, d)] * v[start + d]
            twice += s * v[start + m]
    for i in range(table.shape[0] - 1, -1, -1):
        parent, A = table[i, PARENT], shifted(w.A, INERTIA_BLOCK * i)
        if table[i, MOTOR] >= 0:
            # The rotor turns in the parent: T = 1/2 Im (a.w + m')2 (Mladenova section 8).
            spin = v[table[i, MOTOR]]
            if parent >= 0:
                for k in range(3):
                    spin += body[i, ROTOR_AXIS + k] * w.V[parent, k]
                _add_rotor(body[i], spin, shifted(w.A, INERTIA_BLOCK * parent))
            twice += body[i, ROTOR] * spin * spin
        if table[i, DOF] == 1:
            twice += body[i, ARMATURE] * v[table[i, Q]] * v[table[i, Q]]
        if parent < 0:
            R, p = w.R[i], w.p[i]
            m, c0, c1, c2 = A[3 * ROW + 3], A[2 * ROW + 4], A[5], A[ROW + 3]
            for j in range(3):
                height += gravity[j] * (m * p[j] + R[j, 0] * c0 + R[j, 1] * c1 + R[j, 2] * c2)
        else:
            set_frame_change(w.R[i], w.p[i], w.scratch.X)
            inertia_to_parent(w.R[i], w.p[i], A, w.scratch.X, w.scratch.T,
                              shifted(w.A, INERTIA_BLOCK * parent))
    return 0.5 * twice, -height


@njit(**OPTIONS)
def _add_rotor(row, spin, A):
    for k in range(3):
        A[ROW * k + 6] += row[ROTOR] * spin * row[ROTOR_AXIS + k]
        for j in range(3):
            A[ROW * k + j] += row[ROTOR] * row[ROTOR_AXIS + k] * row[ROTOR_AXIS + j]


@njit(**OPTIONS)
def set_ledger(base, w, ledger):
    """Momentum and centre of mass of the present state, after locked_inertia."""
    A, R, p = shifted(w.A, INERTIA_BLOCK * base), w.R[base], w.p[base]
    m = A[3 * ROW + 3]
    c0, c1, c2 = A[2 * ROW + 4] / m, A[5] / m, A[ROW + 3] / m
    l0, l1, l2 = A[3 * ROW + 6], A[4 * ROW + 6], A[5 * ROW + 6]
    # About the centre of mass: h - c x l.
    h0 = A[6] - (c1 * l2 - c2 * l1)
    h1 = A[ROW + 6] - (c2 * l0 - c0 * l2)
    h2 = A[2 * ROW + 6] - (c0 * l1 - c1 * l0)
    ledger[MASS_MOVED] = m
    for j in range(3):
        ledger[LINEAR + j] = R[j, 0] * l0 + R[j, 1] * l1 + R[j, 2] * l2
        ledger[ANGULAR + j] = R[j, 0] * h0 + R[j, 1] * h1 + R[j, 2] * h2
        ledger[CENTRE + j] = p[j] + R[j, 0] * c0 + R[j, 1] * c1 + R[j, 2] * c2


@njit(**OPTIONS)
def impulse(base, table, gravity, tau, carriers, points, wrenches, R_world, p_world, w, h, ledger,
            out):
    """out (6,) = impulse [linear; angular about the centre of mass] of one step of h, world axes.

    R_world, p_world, w: as at the middle of the step.
    """
    m = ledger[MASS_MOVED]
    for j in range(3):
        out[j], out[3 + j] = h * m * gravity[j], 0.0
    for k in range(carriers.shape[0]):
        if _root(table, carriers[k]) == base:
            for j in range(3):
                out[j] += h * wrenches[k, j]
    force = w.six[7]
    pushed = _base_effort(base, table, tau, w, force)
    R = w.R[base]
    if pushed:
        for j in range(3):
            out[j] += h * (R[j, 0] * force[3] + R[j, 1] * force[4] + R[j, 2] * force[5])
    centre = w.six[6]
    for j in range(3):
        centre[j] = ledger[CENTRE + j] + 0.5 * h * (ledger[LINEAR + j] + 0.5 * out[j]) / m
    for k in range(carriers.shape[0]):
        i = carriers[k]
        if _root(table, i) != base:
            continue
        for j in range(3):
            centre[3 + j] = (p_world[i, j] + R_world[i, j, 0] * points[k, 0]
                             + R_world[i, j, 1] * points[k, 1] + R_world[i, j, 2] * points[k, 2]
                             - centre[j])
        _add_moment(centre[3], centre[4], centre[5], wrenches[k, 0], wrenches[k, 1],
                    wrenches[k, 2], h, out)
        for j in range(3):
            out[3 + j] += h * wrenches[k, 3 + j]
    if pushed:
        for j in range(3):
            out[3 + j] += h * (R[j, 0] * force[0] + R[j, 1] * force[1] + R[j, 2] * force[2])
            centre[3 + j] = w.p[base, j] - centre[j]
        f0 = R[0, 0] * force[3] + R[0, 1] * force[4] + R[0, 2] * force[5]
        f1 = R[1, 0] * force[3] + R[1, 1] * force[4] + R[1, 2] * force[5]
        f2 = R[2, 0] * force[3] + R[2, 1] * force[4] + R[2, 2] * force[5]
        _add_moment(centre[3], centre[4], centre[5], f0, f1, f2, h, out)


@njit(**OPTIONS)
def _add_moment(r0, r1, r2, f0, f1, f2, h, out):
    """out[3:6] += h r x f."""
    out[3] += h * (r1 * f2 - r2 * f1)
    out[4] += h * (r2 * f0 - r0 * f2)
    out[5] += h * (r0 * f1 - r1 * f0)


@njit(**OPTIONS)
def _root(table, i):
    while table[i, PARENT] >= 0:
        i = table[i, PARENT]
    return i


@njit(**OPTIONS)
def _base_effort(base, table, tau, w, force):
    """force (6,) [moment; force] at the base's origin in its axes with S' force = tau of the base;
    returns whether there is any."""
    at, dof, S = table[base, Q], table[base, DOF], w.S
    pushed = False
    for k in range(6):
        force[k] = 0.0
    for m in range(dof):
        pushed = pushed or tau[at + m] != 0.0
    if not pushed:
        return False
    # The screws of the translations are orthonormal; those of the turns are three, or one of unit
    # length.
    moves = dof // 2 if dof == 6 else 2
    for m in range(moves):
        for k in range(3):
            force[3 + k] += tau[at + m] * S[m, 3 + k]
    if dof == 3:
        for k in range(3):
            force[k] = tau[at + 2] * S[2, k]
        return True
    c0 = S[4, 1] * S[5, 2] - S[4, 2] * S[5, 1]
    c1 = S[4, 2] * S[5, 0] - S[4, 0] * S[5, 2]
    c2 = S[4, 0] * S[5, 1] - S[4, 1] * S[5, 0]
    d0 = S[5, 1] * S[3, 2] - S[5, 2] * S[3, 1]
    d1 = S[5, 2] * S[3, 0] - S[5, 0] * S[3, 2]
    d2 = S[5, 0] * S[3, 1] - S[5, 1] * S[3, 0]
    e0 = S[3, 1] * S[4, 2] - S[3, 2] * S[4, 1]
    e1 = S[3, 2] * S[4, 0] - S[3, 0] * S[4, 2]
    e2 = S[3, 0] * S[4, 1] - S[3, 1] * S[4, 0]
    scale = 1.0 / (S[3, 0] * c0 + S[3, 1] * c1 + S[3, 2] * c2)
    t0, t1, t2 = tau[at + 3] * scale, tau[at + 4] * scale, tau[at + 5] * scale
    force[0] = t0 * c0 + t1 * d0 + t2 * e0
    force[1] = t0 * c1 + t1 * d1 + t2 * e1
    force[2] = t0 * c2 + t1 * d2 + t2 * e2
    return True


@njit(**OPTIONS)
def keep_momentum(base, table, body, gravity, pushed, h, q, v, w, zero, locked, ledger):
    """Bring the base to the momentum and centre of mass that it should have after a step of h.

    pushed (6,): what `impulse` gave; w: as locked_inertia left it. locked (n,): in the base's
    places the speeds that the momentum alone gives it. Returns what the kinetic energy has grown
    by, the energy of the momentum, and the gravity energy by which the move changed it, J.
    """
    kind, at, dof = table[base, KIND], table[base, Q], table[base, DOF]
    A, R, p = shifted(w.A, INERTIA_BLOCK * base), w.R[base], w.p[base]
    m = ledger[MASS_MOVED]
    for j in range(3):
        ledger[CENTRE + j] += h * (ledger[LINEAR + j] + 0.5 * pushed[j]) / m
        ledger[LINEAR + j] += pushed[j]
        ledger[ANGULAR + j] += pushed[3 + j]
    c0, c1, c2 = A[2 * ROW + 4] / m, A[5] / m, A[ROW + 3] / m
    shift, target = w.six[6], w.six[7]
    for j in range(3):
        shift[j] = ledger[CENTRE + j] - (p[j] + R[j, 0] * c0 + R[j, 1] * c1 + R[j, 2] * c2)
    if kind == PLANAR:
        _keep_to_plane(body[base], shift, ledger)
    lifted = _move_base(kind, at, body[base], shift, q, gravity, m)
    for j in range(3):
        target[3 + j] = (R[0, j] * ledger[LINEAR] + R[1, j] * ledger[LINEAR + 1]
                         + R[2, j] * ledger[LINEAR + 2])
        target[j] = (R[0, j] * ledger[ANGULAR] + R[1, j] * ledger[ANGULAR + 1]
                     + R[2, j] * ledger[ANGULAR + 2])
    target[0] += c1 * target[5] - c2 * target[4]
    target[1] += c2 * target[3] - c0 * target[5]
    target[2] += c0 * target[4] - c1 * target[3]
    # Speeds of the momentum alone: A S' locked = target.
    still, none = w.six[0], w.six[1]
    gained, carried = 0.0, 0.0
    for k in range(6):
        still[k], none[k] = 0.0, 0.0
        # In column 6 base_pivot expects a force that the base has to take up.
        A[ROW * k + 6], target[k] = A[ROW * k + 6] - target[k], A[ROW * k + 6]
    base_pivot(kind, at, zero, zero, w, A, none)
    solve_base(dof, at, w, still, none, locked)
    right = w.six[5]
    for k in range(dof):
        had = 0.0
        for j in range(6):
            had += w.S[k, j] * target[j]
        gained += locked[at + k] * (had + 0.5 * right[k])
        v[at + k] += locked[at + k]
        right[k] += had
    for k in range(6):
        still[k] = 0.0
    solve_base(dof, at, w, still, none, locked)
    for k in range(dof):
        carried += 0.5 * locked[at + k] * right[k]
    return gained, carried, lifted


@njit(**OPTIONS)
def _keep_to_plane(row, shift, ledger):
    """A planar base moves in its plane and turns about its normal: nothing else is owed."""
    for quantity in (LINEAR, ANGULAR):
        along = 0.0
        for j in range(3):
            along += _normal(row, j) * ledger[quantity + j]
        for j in range(3):
            part = along * _normal(row, j)
            ledger[quantity + j] = part if quantity == ANGULAR else ledger[quantity + j] - part
    along = 0.0
    for j in range(3):
        along += _normal(row, j) * shift[j]
    for j in range(3):
        ledger[CENTRE + j] -= along * _normal(row, j)
        shift[j] -= along * _normal(row, j)


@njit(**OPTIONS)
def _normal(row, j):
    return (row[ROTATION + 3 * j] * row[AXIS] + row[ROTATION + 3 * j + 1] * row[AXIS + 1]
            + row[ROTATION + 3 * j + 2] * row[AXIS + 2])


@njit(**OPTIONS)
def _move_base(kind, at, row, shift, q, gravity, m):
    """Move the base by shift (3,), world axes; returns the gravity energy that it takes, J."""
    for k in range(3):
        along = 0.0
        for j in range(3):
            along += row[ROTATION + 3 * j + k] * shift[j]
        if kind == FLOATING:
            q[at + k] += along
        else:
            q[at] += along * row[PLANE + k]
            q[at + 1] += along * row[PLANE + 3 + k]
    return -m * (gravity[0] * shift[0] + gravity[1] * shift[1] + gravity[2] * shift[2])
