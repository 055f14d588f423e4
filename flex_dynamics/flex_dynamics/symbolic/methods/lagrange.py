"""Lagrange's equations of any tree of rigid and flexible links (Lin and Lewis, Theorem 1).

The kinetic energy is 1/2 v' M v with M = sum of J' H J over the links (11), (21), J the Jacobian
of a link's twist and amplitudes; the section that carries a link turns by its slope, not by the
chord's angle, and every joint's rate is in the angular velocity of what it carries. D is half the
derivative of the generalised force by the speeds (26), so that dM/dt - 2 D is skew-symmetric; that
of (22), (24) is not. Order 'first' is the paper's; 'second' adds foreshortening.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flex_dynamics.kernels.base import layout
from flex_dynamics.symbolic.expressions.tape import Scalar
from flex_dynamics.symbolic.expressions.vectors import (
    clean,
    exponential,
    rigid_inertia,
    scalars,
    to_child,
)
from flex_dynamics.symbolic.methods.problem import Body, Problem
from flex_dynamics.symbolic.methods.shape_integrals import mass_block, shape_integrals

Columns = dict[int, np.ndarray]           # coordinate to column of a Jacobian
Progress = Callable[[str, float], None]


def lagrange(problem: Problem, progress: Progress) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M (n, n), D (n, n), here called C as everywhere else, and g (n,), of tape scalars."""
    n = problem.n
    M, g = scalars((n, n)), scalars(n)
    jacobians: list[Columns] = []
    falls: list[np.ndarray] = []
    for body in problem.bodies:
        progress('links', body.index / len(problem.bodies))
        J, fall = _motion(problem, body, jacobians, falls)
        jacobians.append(J)
        falls.append(fall)
        if body.has_inertia:
            _add(M, g, rigid_inertia(body.mass, body.moment, body.inertia), J, fall)
        if body.is_beam and body.fields is not None:
            eta = [problem.q[k] for k in body.amplitudes]
            block = mass_block(shape_integrals(body.fields), eta)
            _add(M, g, block, _with_own(J, body.amplitudes), _longer(fall, len(eta)))
        if body.motor is not None:
            carrier = jacobians[body.parent] if body.parent >= 0 else {}
            _add_rotor(M, body, carrier)
    return M, christoffel(problem, M, progress), g


def christoffel(problem: Problem, M: np.ndarray, progress: Progress) -> np.ndarray:
    """D (n, n) of (26): sum over c of (dM_ab/dq_c + dM_ac/dq_b - dM_bc/dq_a) v_c / 2."""
    n, tape, v = problem.n, problem.tape, problem.v
    slope = scalars((n, n, n))
    for c in range(n):
        progress('speeds', c / n)
        for a in range(n):
            for b in range(a, n):
                if isinstance(M[a, b], Scalar):
                    slope[a, b, c] = slope[b, a, c] = tape.derivative(M[a, b], problem.q[c])
    C = scalars((n, n))
    for a in range(n):
        for b in range(n):
            total = 0.0
            for c in range(n):
                total = total + (slope[a, b, c] + slope[a, c, b] - slope[b, c, a]) * v[c]
            C[a, b] = 0.5 * total
    return C


def _motion(problem: Problem, body: Body, jacobians: list[Columns], falls: list[np.ndarray],
            ) -> tuple[Columns, np.ndarray]:
    """Jacobian of a node's twist, by columns, and minus gravity as a twist, in the node's axes."""
    if body.kind == layout.ON_BEAM:
        R, p, own = _section(problem, body)
        coordinates = body.amplitudes
    else:
        R, p, own = problem.joint_motion(body)
        coordinates = body.coordinates
    if body.parent >= 0:
        inherited, above = jacobians[body.parent], falls[body.parent]
    else:
        inherited = {}
        above = np.concatenate((np.zeros(3), -problem.gravity)).astype(object)
    J = {k: to_child(R, p, column) for k, column in inherited.items()}
    J.update(zip(coordinates, own))
    fall = scalars(6)
    fall[3:] = R.T @ above[3:]
    return J, fall


def _section(problem: Problem, body: Body):
    """Pose of a beam's section in the beam, and its screws per amplitude: [Jr dtheta; R' dr]."""
    assert body.fields is not None
    section = body.fields.at(np.array([body.section_x]))
    eta = [problem.q[k] for k in body.amplitudes]
    modes = range(len(eta))
    r, theta = section.r0[0].astype(object), scalars(3)
    dr, dtheta = scalars((3, len(eta))), scalars((3, len(eta)))
    for first, second, value, slope in ((clean(section.r1[0]), clean(section.r2[0]), r, dr),
                                        (clean(section.t1[0]), clean(section.t2[0]), theta,
                                         dtheta)):
        for axis in range(3):
            for i in modes:
                curved = sum((second[axis, i, j] * eta[j] for j in modes), 0.0)
                value[axis] = value[axis] + (first[axis, i] + curved) * eta[i]
                slope[axis, i] = first[axis, i] + 2.0 * curved
    R, jacobian = exponential(problem.tape, theta)
    turns, moves = jacobian @ dtheta, R.T @ dr
    return R, r, [np.concatenate((turns[:, i], moves[:, i])) for i in modes]


def _with_own(J: Columns, amplitudes: tuple[int, ...]) -> Columns:
    """Columns of a beam's twist and its amplitudes' speeds."""
    out = {k: _longer(column, len(amplitudes)) for k, column in J.items()}
    for i, k in enumerate(amplitudes):
        column = scalars(6 + len(amplitudes))
        column[6 + i] = 1.0
        out[k] = column
    return out


def _longer(column: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate((column, scalars(count)))


def _add(M: np.ndarray, g: np.ndarray, inertia: np.ndarray, J: Columns, fall: np.ndarray) -> None:
    """M += J' H J and g += J' H (minus gravity)."""
    weight = inertia @ fall
    for b, column in J.items():
        momentum = inertia @ column
        g[b] = g[b] + column @ weight
        for a, other in J.items():
            if a <= b:
                M[a, b] = M[a, b] + other @ momentum
                M[b, a] = M[a, b]


def _add_rotor(M: np.ndarray, body: Body, carrier: Columns) -> None:
    """A rotor spins with its carrier: 1/2 I (axis . omega + motor speed)^2."""
    motor = body.motor
    assert motor is not None
    spin: dict = {k: body.rotor_axis @ column[:3] for k, column in carrier.items()}
    spin[motor] = 1.0
    for b in spin:
        for a in spin:
            if a <= b:
                M[a, b] = M[a, b] + body.rotor * (spin[a] * spin[b])
                M[b, a] = M[a, b]


