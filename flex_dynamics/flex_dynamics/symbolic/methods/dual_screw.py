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
"""Linearised dynamics by dual screws (Cibicik and Egeland, Algorithm 1), on a tape.

Every quantity is dual: its value without elasticity, and its part of first order in the elastic
coordinates and speeds. A product drops what is of second order at once, so the nonlinear model is
never written down. Lines and screws are carried from node to node (66), with their derivatives
(76), (79); M, C and g are sums of projected bodies (109), (112). Three things are as in the
Model's order 'linear': theta_y = -w' in (71); the sections' inertia turns with them in M as in C;
and both sides of C have projecting Jacobians (93), for which dM/dt - 2 C is skew-symmetric.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.build.linear_beam import beam_blocks, section_shapes
from flex_dynamics.kernels.base import layout
from flex_dynamics.papers.dual_numbers import Dual
from flex_dynamics.symbolic.expressions.vectors import (
    clean,
    cross,
    rigid_inertia,
    scalars,
    times,
    to_child,
    twist_cross,
)
from flex_dynamics.symbolic.methods.bodies import Body
from flex_dynamics.symbolic.methods.lagrange import Progress
from flex_dynamics.symbolic.methods.problem import Problem


@dataclass
class Motion:
    """A node's dual twist, minus gravity as a twist, lines per coordinate and their rates."""

    V: Dual
    fall: Dual
    lines: dict[int, Dual]
    rates: dict[int, Dual]


@dataclass
class BeamBlocks:
    """Integrals over a beam's sections, numbers, with size = 6 + m (build/linear_beam.py)."""

    D0: np.ndarray            # (size, size)
    D1: np.ndarray            # (m, size, size) per amplitude
    C0: np.ndarray            # (6, size, size) per component of the twist
    C1: np.ndarray            # (m, 6, size, size)
    C2: np.ndarray            # (m, size, size) per amplitude's speed


def dual_screw(problem: Problem, progress: Progress) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M (n, n), C (n, n) and g (n,) of tape scalars, linear in the elastic coordinates."""
    n = problem.n
    M, C, g = scalars((n, n)), scalars((n, n)), scalars(n)
    motions: list[Motion] = []
    for body in problem.bodies:
        progress('links', body.index / len(problem.bodies))
        motion = projection(problem, body, motions)
        motions.append(motion)
        if body.has_inertia:
            D = Dual(rigid_inertia(body.mass, body.moment, body.inertia))
            B = Dual(_speed_forces(D.real @ motion.V.real), _speed_forces(D.real @ motion.V.dual))
            _add(M, C, g, D, B, motion, ())
        if body.is_beam:
            D, B = _beam(problem, body, motion.V)
            _add(M, C, g, D, B, motion, body.amplitudes)
        if body.motor is not None:
            _add_rotor(problem, body, motions, M, C, g)
    return M, C, g


def projection(problem: Problem, body: Body, motions: list[Motion]) -> Motion:
    """Dual lines and screws of all coordinates that move a node, at its origin in its axes (93),
    with their time derivatives."""
    if body.kind == layout.ON_BEAM:
        return _on_section(problem, body, motions[body.parent])
    R, p, screws = problem.joint_motion(body)
    speeds = [problem.v[k] for k in body.coordinates]
    own = scalars(6)
    for screw, speed in zip(screws, speeds):
        own = own + speed * screw
    if body.parent < 0:
        above = np.concatenate((np.zeros(3), -problem.gravity)).astype(object)
        motion = Motion(Dual(scalars(6)), Dual(to_child(R, p, above)), {}, {})
    else:
        parent = motions[body.parent]
        motion = Motion(_carried(R, p, parent.V), _carried(R, p, parent.fall), {}, {})
        for k, line in parent.lines.items():
            carried = _carried(R, p, line)
            motion.lines[k] = carried
            rate = _carried(R, p, parent.rates[k])
            motion.rates[k] = Dual(rate.real - twist_cross(own, carried.real),
                                   rate.dual - twist_cross(own, carried.dual))
    motion.V = motion.V + Dual(own)
    for k, screw in zip(body.coordinates, screws):
        motion.lines[k] = Dual(np.array(screw, dtype=object))
        motion.rates[k] = Dual(problem.rate(np.array(screw, dtype=object)))
    return motion


def _on_section(problem: Problem, body: Body, parent: Motion) -> Motion:
    """A section's motion: axes turn by I + theta x (24), the point moves by d (61)."""
    assert body.fields is not None
    x = body.section_x
    shapes = clean(section_shapes(body.fields, np.array([x]))[0])        # (6, m): theta, d
    turn, turn_rate = scalars(6), scalars(6)
    for column, k in zip(shapes.T, body.amplitudes):
        turn = turn + column * problem.q[k]
        turn_rate = turn_rate + column * problem.v[k]
    R, p = np.eye(3), np.array([x, 0.0, 0.0])

    def bent(u: Dual) -> Dual:
        straight = _carried(R, p, u)
        return straight + Dual(scalars(6), _turned(turn, straight.real))

    motion = Motion(bent(parent.V), bent(parent.fall), {}, {})
    motion.V = motion.V + Dual(scalars(6), turn_rate)
    for k, line in parent.lines.items():
        motion.lines[k] = bent(line)
        motion.rates[k] = bent(parent.rates[k]) + Dual(
            scalars(6), _turned(turn_rate, motion.lines[k].real))
    for column, k in zip(shapes.T, body.amplitudes):
        # the elastic screw itself is given at the section, so that only its axes turn
        screw = column.astype(object)
        motion.lines[k] = Dual(screw, _turned(turn, screw, False))
        motion.rates[k] = Dual(scalars(6), _turned(turn_rate, screw, False))
    return motion


def _carried(R, p, u: Dual) -> Dual:
    return Dual(to_child(R, p, u.real), to_child(R, p, u.dual))


def _turned(turn, u, with_arm: bool = True) -> np.ndarray:
    """[-theta x w; -theta x v + w x d]: first-order part of a section's transformation."""
    out = scalars(6)
    out[:3] = -times(turn[:3], u[:3])
    out[3:] = -times(turn[:3], u[3:])
    if with_arm:
        out[3:] = out[3:] + times(u[:3], turn[3:])
    return out


def _speed_forces(momentum) -> np.ndarray:
    """B (6, 6) with B V = V x* [h; l], skew-symmetric: W of (103) for projecting lines."""
    out = scalars((6, 6))
    out[:3, :3] = -cross(momentum[:3])
    out[:3, 3:] = out[3:, :3] = -cross(momentum[3:])
    return out


def blocks(body: Body) -> BeamBlocks:
    assert body.fields is not None
    m = body.fields.n_modes
    size = 6 + m
    flat = beam_blocks(body.fields)
    shapes = [(1,), (m,), (6,), (m, 6), (m,)]
    parts, start = [], 0
    for shape in shapes:
        count = int(np.prod(shape)) * size * size
        part = flat[start:start + count].reshape(*shape, size, size)
        parts.append(np.array([clean(matrix) for matrix in part.reshape(-1, size, size)])
                     .reshape(part.shape))
        start += count
    return BeamBlocks(parts[0][0], *parts[1:])


def _beam(problem: Problem, body: Body, V: Dual) -> tuple[Dual, Dual]:
    """Inertia D and matrix B of speed forces of a beam, for its twist and amplitudes: (107)."""
    b = blocks(body)
    eta = [problem.q[k] for k in body.amplitudes]
    rate = [problem.v[k] for k in body.amplitudes]
    D = Dual(b.D0.astype(object), _combined(b.D1, eta))
    bent = [x * y for x in eta for y in V.real]
    first = (_combined(b.C0, V.dual) + _combined(b.C1.reshape(-1, *b.D0.shape), bent)
             + _combined(b.C2, rate))
    return D, Dual(_combined(b.C0, V.real), first)


def _combined(matrices: np.ndarray, factors) -> np.ndarray:
    """Sum of numbers' matrices times scalar factors."""
    out = scalars(matrices.shape[1:])
    for matrix, factor in zip(matrices, factors):
        for at in zip(*np.nonzero(matrix)):
            out[at] = out[at] + float(matrix[at]) * factor
    return out


def _add(M, C, g, D: Dual, B: Dual, motion: Motion, own: tuple[int, ...]) -> None:
    """M += T'D T, C += T'(D T_rate + B T), g += T'D G, each to first order: (109), (112)."""
    count = len(own)
    lines = {k: _longer(line, count) for k, line in motion.lines.items()}
    rates = {k: _longer(rate, count) for k, rate in motion.rates.items()}
    for i, k in enumerate(own):
        unit = scalars(6 + count)
        unit[6 + i] = 1.0
        lines[k], rates[k] = Dual(unit), Dual(scalars(6 + count))
    weight = D @ _longer(motion.fall, count)
    for b, line in lines.items():
        momentum = D @ line
        force = D @ rates[b] + B @ line
        g[b] = g[b] + _all(line @ weight)
        for a, other in lines.items():
            C[a, b] = C[a, b] + _all(other @ force)
            if a <= b:
                M[a, b] = M[a, b] + _all(other @ momentum)
                M[b, a] = M[a, b]


def _longer(vector: Dual, count: int) -> Dual:
    return Dual(np.concatenate((vector.real, scalars(count))),
                np.concatenate((vector.dual, scalars(count))))


def _all(value: Dual):
    """Value and first-order part together."""
    return value.real.item() + value.dual.item()


def _add_rotor(problem: Problem, body: Body, motions: list[Motion], M, C, g) -> None:
    """A rotor in its carrier's axes: T = 1/2 I (axis . omega + motor speed)^2."""
    motor = body.motor
    assert motor is not None
    if body.parent < 0:
        M[motor, motor] = M[motor, motor] + body.rotor
        return
    axis, carrier = body.rotor_axis, motions[body.parent]
    along = np.concatenate((axis, np.zeros(3), [1.0]))
    D = Dual((body.rotor * np.outer(along, along)).astype(object))
    parts = []
    for V, speed in ((carrier.V.real, problem.v[motor]), (carrier.V.dual, 0.0)):
        spin = body.rotor * (axis @ V[:3] + speed)
        part = scalars((7, 7))
        part[:3, :3] = -cross(spin * axis.astype(object))
        parts.append(part)
    _add(M, C, g, D, Dual(*parts), carrier, (motor,))
