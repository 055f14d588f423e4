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
"""Lagrange's equations of any tree of rigid and flexible links (Lin and Lewis, Theorem 1).

The kinetic energy is 1/2 v' M v with M = sum of J' H J over the links (11), (21), J the Jacobian
of a link's twist and amplitudes; the section that carries a link turns by its slope, not by the
chord's angle, and every joint's rate is in the angular velocity of what it carries. D is half the
derivative of the generalised force by the speeds (26), so that dM/dt - 2 D is skew-symmetric; that
of (22), (24) is not. Order 'first' is the paper's; 'second' adds foreshortening.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields, SectionFields
from flex_dynamics.kernels.base import layout
from flex_dynamics.symbolic.expressions.tape import Scalar
from flex_dynamics.symbolic.expressions.vectors import (
    clean,
    exponential,
    rigid_inertia,
    scalars,
    to_child,
)
from flex_dynamics.symbolic.methods.bodies import Body
from flex_dynamics.symbolic.methods.problem import Problem
from flex_dynamics.symbolic.methods.shape_integrals import mass_block, shape_integrals

Columns = dict[int, np.ndarray]           # coordinate to column of a Jacobian
Progress = Callable[[str, float], None]


def lagrange(problem: Problem, progress: Progress) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M (n, n), D (n, n), here called C as everywhere else, and g (n,), of tape scalars."""
    M, g = mass_and_gravity(problem, progress)
    return M, christoffel(problem, M, progress), g


def mass_and_gravity(problem: Problem, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """M (n, n) and g (n,) of tape scalars."""
    n = problem.n
    M, g = scalars((n, n)), scalars(n)
    jacobians: list[Columns] = []
    falls: list[np.ndarray] = []
    for body in problem.bodies:
        progress('links', body.index / len(problem.bodies))
        J, fall = _motion(problem, body, jacobians, falls)
        jacobians.append(J)
        falls.append(fall)
        named = problem.parameters
        if body.has_inertia:
            inertia = ((body.mass, body.moment, body.inertia) if named is None
                       else named.inertia(body))
            _add(M, g, rigid_inertia(*inertia), J, fall)
        if body.is_beam and body.fields is not None:
            eta = [problem.q[k] for k in body.amplitudes]
            units = None if named is None else named.beam(body)
            block = mass_block(shape_integrals(body.fields, named is not None), eta, units)
            _add(M, g, block, _with_own(J, body.amplitudes), _longer(fall, len(eta)))
        if body.motor is not None:
            carrier = jacobians[body.parent] if body.parent >= 0 else {}
            rotor = (body.rotor if named is None else
                     named.symbol('Jm', body.name, body.rotor))
            _add_rotor(M, body, rotor, carrier)
    return M, g


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
    R, p, own = node_motion(problem, body)
    if body.parent >= 0:
        inherited, above = jacobians[body.parent], falls[body.parent]
    else:
        inherited = {}
        above = np.concatenate((np.zeros(3), -problem.gravity)).astype(object)
    J = {k: to_child(R, p, column) for k, column in inherited.items()}
    J.update(own)
    fall = scalars(6)
    fall[3:] = R.T @ above[3:]
    return J, fall


def node_motion(problem: Problem, body: Body) -> tuple[np.ndarray, np.ndarray, Columns]:
    """R (3, 3) and p (3,) of a node in its parent, and its screws (6,) by coordinate."""
    if body.kind == layout.ON_BEAM:
        R, p, own = _section(problem, body)
        return R, p, dict(zip(body.amplitudes, own))
    R, p, own = problem.joint_motion(body)
    return R, p, dict(zip(body.coordinates, own))


def _section(problem: Problem, body: Body):
    """Pose of a beam's section in the beam, and its screws per amplitude: [Jr dtheta; R' dr]."""
    assert body.fields is not None
    section = _without_rounding(body.fields, body.section_x)
    eta = [problem.q[k] for k in body.amplitudes]
    modes = range(len(eta))
    units = None if problem.parameters is None else problem.parameters.beam(body)

    def scaled(number: float, dimension: int, *monomial: int):
        """A coefficient of a length (dimension 1) or an angle (0), with the symbol L."""
        if units is None:
            return float(number)
        return units.scaled(float(number), dimension - units.bending(monomial))

    r, theta = scalars(3), scalars(3)
    r[:] = [scaled(x, 1) for x in section.r0[0]]
    dr, dtheta = scalars((3, len(eta))), scalars((3, len(eta)))
    for dimension, first, second, value, slope in (
            (1, section.r1[0], section.r2[0], r, dr),
            (0, section.t1[0], section.t2[0], theta, dtheta)):
        for axis in range(3):
            for i in modes:
                linear = scaled(first[axis, i], dimension, i)
                curved = sum((scaled(second[axis, i, j], dimension, i, j) * eta[j]
                              for j in modes), 0.0)
                slope[axis, i] = linear + 2.0 * curved
                value[axis] = value[axis] + linear * eta[i]
                for j in range(i, len(eta)):      # second is symmetric: each product once
                    factor = (1.0 if i == j else 2.0) * second[axis, i, j]
                    value[axis] = value[axis] + scaled(factor, dimension, i, j) * (eta[i] * eta[j])
    R, jacobian = exponential(problem.tape, theta)
    turns, moves = jacobian @ dtheta, R.T @ dr
    return R, r, [np.concatenate((turns[:, i], moves[:, i])) for i in modes]


def _without_rounding(fields: BeamFields, x: float) -> SectionFields:
    """Fields at x with zeros for what is rounding against the same shapes anywhere on the beam: a
    section at the clamped end neither moves nor turns."""
    along = fields.at(np.linspace(0.0, fields.flexible.length, 17))
    here = fields.at(np.array([x]))
    parts = {}
    for name in ('r1', 'r2', 't1', 't2'):
        values = clean(getattr(here, name))
        sizes = np.abs(getattr(along, name)).max(axis=(0, 1))
        parts[name] = np.where(np.abs(values) <= 1e-14 * sizes, 0.0, values)
    return replace(here, **parts)


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


def _add_rotor(M: np.ndarray, body: Body, rotor: Scalar | float, carrier: Columns) -> None:
    """A rotor spins with its carrier: 1/2 I (axis . omega + motor speed)^2."""
    motor = body.motor
    assert motor is not None
    spin: dict = {k: body.rotor_axis @ column[:3] for k, column in carrier.items()}
    spin[motor] = 1.0
    for b in spin:
        for a in spin:
            if a <= b:
                M[a, b] = M[a, b] + rotor * (spin[a] * spin[b])
                M[b, a] = M[a, b]
