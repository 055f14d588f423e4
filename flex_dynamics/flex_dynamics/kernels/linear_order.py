"""M, C and g to first order in the elastic coordinates and speeds: Cibicik and Egeland (112).

Every quantity is a pair, index 0 its value without elasticity and 1 its first-order part, the real
and dual part of the paper; a product keeps 00, 01 and 10 and drops 11 at once. Jacobians are
stored column by column, J[node, part, column, 6], only for the coordinates that move the node
(`columns`, those of the parent first). Elastic columns are kept in the projecting form (93), whose
value is not small; with it dM/dt - 2 C is skew-symmetric to the last bit of the truncated M.
"""
from __future__ import annotations

from collections import namedtuple

from numba import njit

from flex_dynamics.kernels.kinematics import (
    add_twist_cross,
    base_screws,
    joint_pose,
    twist_to_child,
)
from flex_dynamics.kernels.layout import (
    DOF,
    ELASTIC,
    INERTIA,
    KIND,
    MASS,
    MODES,
    MOMENT,
    MOTOR,
    N_AXIS,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PLANAR,
    ROTOR,
    ROTOR_AXIS,
    SCREW,
    Q,
)

Scratch = namedtuple('Scratch', (
    'R', 'p',           # (3, 3), (3,) pose in the parent
    'S', 'S_rate',      # (6, 6) screws of a joint, one row a coordinate
    'V',                # (nodes, 2, 6) twists
    'G',                # (nodes, 2, 6) accelerations that stand for gravity
    'J', 'J_rate',      # (nodes, 2, columns, 6) Jacobians
    'T', 'T_rate',      # (2, columns + 1, size) a body's speeds per coordinate; last row: gravity
    'D', 'B',           # (2, size, size) a body's inertia, and the matrix of its speed forces
    'y', 'z',           # (2, size)
    'turn', 'turn_rate',  # (6,) rotation and displacement of a section
))


@njit(**OPTIONS)
def linear_terms(table, body, columns, counts, shapes, blocks, at, gravity, q, v, with_c, s, M, C,
                 g):
    """M, C (n, n) and g (n,) of the whole tree; C is left alone if not with_c.

    columns (nodes, most), counts (nodes,): the coordinates that move each node. shapes: of
    sections, [x, r1, t1] each; blocks: of beams, [D0, D1, C0, C1, C2] each; at (nodes,): where.
    """
    M[:, :] = 0.0
    g[:] = 0.0
    if with_c:
        C[:, :] = 0.0
    for i in range(table.shape[0]):
        if table[i, KIND] == ON_BEAM:
            _carry_by_section(i, table, counts, shapes, at[i], q, v, s)
        else:
            _carry_by_joint(i, table, body, counts, gravity, q, v, s)
        trace = body[i, INERTIA] + body[i, INERTIA + 4] + body[i, INERTIA + 8]
        if body[i, MASS] + trace > 0.0:
            _rigid_body(body[i], s.V[i], s.D, s.B)
            _add_body(i, 0, 0, columns, counts, with_c, s, M, C, g)
        modes, start = table[i, MODES], table[i, ELASTIC]
        if table[i, N_AXIS] > 0:
            _beam(modes, blocks, at[i], s.V[i], q[start:start + modes], v[start:start + modes],
                  with_c, s.D, s.B)
            _add_body(i, modes, start, columns, counts, with_c, s, M, C, g)
        motor, parent = table[i, MOTOR], table[i, PARENT]
        if motor >= 0 and parent >= 0:
            _rotor(body[i], s.V[parent], v[motor], s.D, s.B)
            _add_body(parent, 1, motor, columns, counts, with_c, s, M, C, g)
        elif motor >= 0:
            M[motor, motor] += body[i, ROTOR]


@njit(**OPTIONS)
def _carry_by_joint(i, table, body, counts, gravity, q, v, s):
    """Twist, gravity and Jacobian of a node behind a joint, which is rigid: V = X V_parent + S qd.
    """
    kind, parent, first, dof = table[i, KIND], table[i, PARENT], table[i, Q], table[i, DOF]
    R, p, V, G, J, Jd = s.R, s.p, s.V[i], s.G[i], s.J[i], s.J_rate[i]
    own = s.turn
    joint_pose(kind, body[i], q, first, R, p)
    if kind >= PLANAR:
        base_screws(kind, body[i], q, v, first, R, s)
    elif dof == 1:
        s.S[0] = body[i, SCREW:SCREW + 6]
        s.S_rate[0] = 0.0
    own[:] = 0.0
    for m in range(dof):
        for k in range(6):
            own[k] += s.S[m, k] * v[first + m]
    inherited = 0
    if parent < 0:
        V[:, :] = 0.0
        s.y[0, :3] = 0.0
        for k in range(3):
            s.y[0, 3 + k] = -gravity[k]
        twist_to_child(R, p, s.y[0], G[0])
        G[1] = 0.0
    else:
        inherited = counts[parent]
        for part in range(2):
            twist_to_child(R, p, s.V[parent, part], V[part])
            twist_to_child(R, p, s.G[parent, part], G[part])
            for a in range(inherited):
                twist_to_child(R, p, s.J[parent, part, a], J[part, a])
                twist_to_child(R, p, s.J_rate[parent, part, a], Jd[part, a])
                add_twist_cross(own, J[part, a], -1.0, Jd[part, a])
    for k in range(6):
        V[0, k] += own[k]
    for m in range(dof):
        J[0, inherited + m] = s.S[m]
        Jd[0, inherited + m] = s.S_rate[m]
        J[1, inherited + m] = 0.0
        Jd[1, inherited + m] = 0.0


@njit(**OPTIONS)
def _add_turned(turn, u, with_arm, out):
    """out += first-order part of a section's transformation of u, a twist at the undeformed place.

    Axes turn by I + theta x (24), the point moves by d (61): [-theta x w; -theta x v + w x d].
    """
    t0, t1, t2 = turn[0], turn[1], turn[2]
    w0, w1, w2, v0, v1, v2 = u[0], u[1], u[2], u[3], u[4], u[5]
    out[0] -= t1 * w2 - t2 * w1
    out[1] -= t2 * w0 - t0 * w2
    out[2] -= t0 * w1 - t1 * w0
    out[3] -= t1 * v2 - t2 * v1
    out[4] -= t2 * v0 - t0 * v2
    out[5] -= t0 * v1 - t1 * v0
    if with_arm:
        d0, d1, d2 = turn[3], turn[4], turn[5]
        out[3] += w1 * d2 - w2 * d1
        out[4] += w2 * d0 - w0 * d2
        out[5] += w0 * d1 - w1 * d0


@njit(**OPTIONS)
def _carry_by_section(i, table, counts, shapes, at, q, v, s):
    """A section's motion, with omega = theta' in the beam's axes (27): V = X V_parent + Phi etad.

    shapes at `at`: x, then per amplitude [theta; r] (6).
    """
    parent = table[i, PARENT]
    modes, start, inherited = table[parent, MODES], table[parent, ELASTIC], counts[parent]
    V, G, J, Jd, turn, turn_rate = s.V[i], s.G[i], s.J[i], s.J_rate[i], s.turn, s.turn_rate
    turn[:] = 0.0
    turn_rate[:] = 0.0
    for m in range(modes):
        for k in range(6):
            phi = shapes[at + 1 + 6 * m + k]
            turn[k] += phi * q[start + m]
            turn_rate[k] += phi * v[start + m]
            J[0, inherited + m, k] = phi
            Jd[0, inherited + m, k] = 0.0
            J[1, inherited + m, k] = 0.0
            Jd[1, inherited + m, k] = 0.0
    R, p = s.R, s.p
    R[:, :] = 0.0
    R[0, 0], R[1, 1], R[2, 2] = 1.0, 1.0, 1.0
    p[0], p[1], p[2] = shapes[at], 0.0, 0.0
    for part in range(2):
        twist_to_child(R, p, s.V[parent, part], V[part])
        twist_to_child(R, p, s.G[parent, part], G[part])
        for a in range(inherited):
            twist_to_child(R, p, s.J[parent, part, a], J[part, a])
            twist_to_child(R, p, s.J_rate[parent, part, a], Jd[part, a])
    for k in range(6):
        V[1, k] += turn_rate[k]
    _add_turned(turn, V[0], True, V[1])
    _add_turned(turn, G[0], True, G[1])
    for a in range(inherited):
        _add_turned(turn, J[0, a], True, J[1, a])
        _add_turned(turn, Jd[0, a], True, Jd[1, a])
        _add_turned(turn_rate, J[0, a], True, Jd[1, a])
    for a in range(inherited, inherited + modes):
        _add_turned(turn, J[0, a], False, J[1, a])
        _add_turned(turn_rate, J[0, a], False, Jd[1, a])


@njit(**OPTIONS)
def _rigid_body(row, V, D, B):
    """Inertia of a rigid body at its node's origin, and B with B V = V x* D V, skew-symmetric."""
    m, c0, c1, c2 = row[MASS], row[MOMENT], row[MOMENT + 1], row[MOMENT + 2]
    D[:, :6, :6] = 0.0
    for k in range(3):
        D[0, 3 + k, 3 + k] = m
        for j in range(3):
            D[0, k, j] = row[INERTIA + 3 * k + j]
    _set_cross(D[0], 0, 3, c0, c1, c2)
    _set_cross(D[0], 3, 0, -c0, -c1, -c2)
    B[:, :6, :6] = 0.0
    for part in range(2):
        w0, w1, w2, v0, v1, v2 = V[part]
        h0 = D[0, 0, 0] * w0 + D[0, 0, 1] * w1 + D[0, 0, 2] * w2 + c1 * v2 - c2 * v1
        h1 = D[0, 1, 0] * w0 + D[0, 1, 1] * w1 + D[0, 1, 2] * w2 + c2 * v0 - c0 * v2
        h2 = D[0, 2, 0] * w0 + D[0, 2, 1] * w1 + D[0, 2, 2] * w2 + c0 * v1 - c1 * v0
        l0 = m * v0 + w1 * c2 - w2 * c1
        l1 = m * v1 + w2 * c0 - w0 * c2
        l2 = m * v2 + w0 * c1 - w1 * c0
        _set_cross(B[part], 0, 0, -h0, -h1, -h2)
        _set_cross(B[part], 0, 3, -l0, -l1, -l2)
        _set_cross(B[part], 3, 0, -l0, -l1, -l2)


@njit(**OPTIONS)
def _set_cross(A, row, column, x, y, z):
    """The matrix of a cross product into the block of A that starts at (row, column)."""
    A[row, column + 1], A[row, column + 2] = -z, y
    A[row + 1, column], A[row + 1, column + 2] = z, -x
    A[row + 2, column], A[row + 2, column + 1] = -y, x


@njit(**OPTIONS)
def _beam(modes, blocks, at, V, eta, rate, with_c, D, B):
    """A beam's blocks at its amplitudes and speeds, from the integrals of build/linear_beam."""
    size = 6 + modes
    square = size * size
    D[1, :size, :size] = 0.0
    _add_block(size, blocks, at, 1.0, True, D[0])
    at += square
    for m in range(modes):
        _add_block(size, blocks, at, eta[m], False, D[1])
        at += square
    if not with_c:
        return
    B[:, :size, :size] = 0.0
    for a in range(6):
        _add_block(size, blocks, at, V[0, a], False, B[0])
        _add_block(size, blocks, at, V[1, a], False, B[1])
        at += square
    for m in range(modes):
        for a in range(6):
            _add_block(size, blocks, at, eta[m] * V[0, a], False, B[1])
            at += square
    for m in range(modes):
        _add_block(size, blocks, at, rate[m], False, B[1])
        at += square


@njit(**OPTIONS)
def _add_block(size, blocks, at, factor, anew, out):
    for k in range(size):
        for j in range(size):
            value = factor * blocks[at + k * size + j]
            out[k, j] = value if anew else out[k, j] + value


@njit(**OPTIONS)
def _rotor(row, V, speed, D, B):
    """A rotor in the parent's axes as a body of twist and own speed: T = 1/2 Im (a.w + m')2."""
    a0, a1, a2 = row[ROTOR_AXIS], row[ROTOR_AXIS + 1], row[ROTOR_AXIS + 2]
    D[:, :7, :7] = 0.0
    B[:, :7, :7] = 0.0
    for k in range(3):
        D[0, k, 6] = row[ROTOR] * row[ROTOR_AXIS + k]
        D[0, 6, k] = D[0, k, 6]
        for j in range(3):
            D[0, k, j] = D[0, k, 6] * row[ROTOR_AXIS + j]
    D[0, 6, 6] = row[ROTOR]
    for part in range(2):
        spin = a0 * V[part, 0] + a1 * V[part, 1] + a2 * V[part, 2]
        h = -row[ROTOR] * (spin + (speed if part == 0 else 0.0))
        _set_cross(B[part], 0, 0, h * a0, h * a1, h * a2)


@njit(**OPTIONS)
def _add_body(i, own, start, columns, counts, with_c, s, M, C, g):
    """Project a body on all coordinates (112): M += T'D T, C += T'(D T_rate + B T), g += T'D G.

    The body moves with the twist of node i and `own` speeds of its own, those from `start` on.
    """
    inherited, size = counts[i], 6 + own
    count = inherited + own
    T, Td, D, B, y, z = s.T, s.T_rate, s.D, s.B, s.y, s.z
    T[:, :count + 1, :size] = 0.0
    Td[:, :count, :size] = 0.0
    for part in range(2):
        for k in range(6):
            for a in range(inherited):
                T[part, a, k] = s.J[i, part, a, k]
                Td[part, a, k] = s.J_rate[i, part, a, k]
            T[part, count, k] = s.G[i, part, k]
    for m in range(own):
        T[0, inherited + m, 6 + m] = 1.0
    for b in range(count + 1):
        _times(size, D, T[0, b], T[1, b], True, y)
        if with_c and b < count:
            _times(size, D, Td[0, b], Td[1, b], True, z)
            _times(size, B, T[0, b], T[1, b], False, z)
        column = start + b - inherited if b >= inherited else columns[i, b]
        for a in range(count):
            row = start + a - inherited if a >= inherited else columns[i, a]
            mass, speed = 0.0, 0.0
            for k in range(size):
                mass += T[0, a, k] * (y[0, k] + y[1, k]) + T[1, a, k] * y[0, k]
                speed += T[0, a, k] * (z[0, k] + z[1, k]) + T[1, a, k] * z[0, k]
            if b == count:
                g[row] += mass
            else:
                M[row, column] += mass
                if with_c:
                    C[row, column] += speed


@njit(**OPTIONS)
def _times(size, A, x0, x1, anew, out):
    """out (+)= A x of a truncated matrix and vector."""
    for k in range(size):
        s0, s1 = 0.0, 0.0
        for j in range(size):
            s0 += A[0, k, j] * x0[j]
            s1 += A[0, k, j] * x1[j] + A[1, k, j] * x0[j]
        out[0, k] = s0 if anew else out[0, k] + s0
        out[1, k] = s1 if anew else out[1, k] + s1
