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
"""Inverse dynamics and Jacobians in plain numpy for complex states, in no step like the kernels.

World positions are carried as jets (value, first and second time derivative) along the tree, at
Gauss stations of the beams. Inertia is a list of world vectors u with weights m, T = 1/2 m |u'|^2:
points, and axes of sections and bodies; the force on a coordinate is the sum of m u_i . (u'' - g),
u_i the speed that the coordinate alone causes. Nothing takes a conjugate or a size, so that the
imaginary part at a step of 1e-30 is the derivative to rounding.
"""
from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from flex_description.math import gauss_stations, parallel_axes
from flex_dynamics import Model
from flex_dynamics.kernels.base import layout

H = 1e-30
SINE = [(-1.0)**k / factorial(2 * k + 1) for k in range(24)]         # sin(t) / t in powers of t^2
COSINE = [(-1.0)**k / factorial(2 * k + 2) for k in range(24)]       # (1 - cos t) / t^2
CROSS = np.zeros((3, 3, 3))
CROSS[[0, 1, 2], [1, 2, 0], [2, 0, 1]], CROSS[[0, 1, 2], [2, 0, 1], [1, 2, 0]] = 1.0, -1.0


@dataclass
class Jet:
    """Value and first two time derivatives, arrays of one shape."""

    x: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.v + other.v, self.a + other.a)

    def of(self, linear) -> Jet:
        return Jet(linear(self.x), linear(self.v), linear(self.a))


def product(bilinear, one: Jet, two: Jet) -> Jet:
    return Jet(bilinear(one.x, two.x), bilinear(one.v, two.x) + bilinear(one.x, two.v),
               bilinear(one.a, two.x) + 2.0 * bilinear(one.v, two.v) + bilinear(one.x, two.a))


def matmul(one: Jet, two: Jet) -> Jet:
    return product(lambda a, b: a @ b, one, two)


def series(coefficients, t2: Jet) -> Jet:
    f, d, e = (np.polynomial.polynomial.polyval(
        t2.x, np.polynomial.polynomial.polyder(coefficients, k)) for k in range(3))
    return Jet(f, d * t2.v, e * t2.v**2 + d * t2.a)


def exponential(theta: Jet) -> Jet:
    """Rotations (..., 3, 3) of rotation vectors (..., 3)."""
    t2 = product(lambda a, b: (a * b).sum(-1), theta, theta)
    cross = theta.of(lambda x: -np.einsum('ijk,...k->...ij', CROSS, x))

    def scaled(s, m):
        return s[..., None, None] * m

    out = (product(scaled, series(SINE, t2), cross)
           + product(scaled, series(COSINE, t2), matmul(cross, cross)))
    return Jet(out.x + np.eye(3), out.v, out.a)


def vector(R: Jet, p: Jet) -> Jet:
    return product(lambda a, b: (a @ b[..., None])[..., 0], R, p)


def spin(matrix: np.ndarray) -> np.ndarray:
    """w of the skew part [w] of a matrix."""
    return -0.5 * np.einsum('ijk,...jk->...i', CROSS, matrix)


class Witness:
    """Of a model of order first or second, with anything but constraints."""

    def __init__(self, model: Model) -> None:
        self.model, self.table = model, model.assembly.packed.table
        self.body = model.assembly.packed.body

    def _jets(self, q, v, a) -> Jet:
        """All coordinates (n + 1, n): at v and a, then each one's unit speed alone."""
        n = self.model.n
        return Jet(np.tile(q, (n + 1, 1)).astype(complex), np.vstack((v, np.eye(n))),
                   np.vstack((a, np.zeros((n, n)))))

    def _fields(self, node: int, x: np.ndarray, q: Jet) -> tuple[Jet, Jet]:
        """Rotation vectors and positions (b, k, 3) of sections of a beam."""
        at = self.model.assembly.packed.fields[node].at(x)
        start, modes = self.table[node, [layout.ELASTIC, layout.MODES]]
        eta = q.of(lambda y: y[:, start:start + modes])
        squares = product(lambda s, t: s[:, :, None] * t[:, None], eta, eta)

        def field(constant, first, second) -> Jet:
            out = (eta.of(lambda y: np.einsum('kci,bi->bkc', first, y))
                   + squares.of(lambda y: np.einsum('kcij,bij->bkc', second, y)))
            return Jet(out.x + constant, out.v, out.a)

        return field(0.0, at.t1, at.t2), field(at.r0, at.r1, at.r2)

    def poses(self, q: Jet) -> list[tuple[Jet, Jet]]:
        """World rotation (b, 3, 3) and position (b, 3) of every node; the last is the world."""
        b = len(q.x)
        still = np.zeros((b, 3), dtype=complex)
        world = (Jet(np.tile(np.eye(3, dtype=complex), (b, 1, 1)), np.zeros((b, 3, 3)),
                     np.zeros((b, 3, 3))), Jet(still, still, still))
        found: list[tuple[Jet, Jet]] = []
        for i, node in enumerate(self.model.assembly.tree.nodes):
            row, body = self.table[i], self.body[i]
            R, p = found[node.parent] if node.parent >= 0 else world
            if node.kind == layout.ON_BEAM:
                theta, r = self._fields(node.parent, np.array([node.section_x]), q)
                turn, move = exponential(theta.of(lambda y: y[:, 0])), r.of(lambda y: y[:, 0])
                found.append((matmul(R, turn), p + vector(R, move)))
                continue
            R0 = body[layout.ROTATION:layout.ROTATION + 9].reshape(3, 3)
            p0, at = body[layout.POSITION:layout.POSITION + 3], row[layout.Q]
            own = q.of(lambda y, at=at, row=row: y[:, at:at + max(row[layout.DOF], 1)])
            turn, move = world[0], world[1]
            if node.kind in (layout.REVOLUTE, layout.PRISMATIC):
                along = own.of(lambda y, body=body, node=node: body[layout.RATIO] * y * node.axis)
                if node.kind == layout.PRISMATIC:
                    move = along
                else:
                    turn = exponential(along)
                    back = turn.of(lambda y, node=node: -y @ node.point)
                    move = Jet(back.x + node.point, back.v, back.a)
            elif node.kind == layout.FLOATING:
                turn, move = exponential(own.of(lambda y: y[:, 3:])), own.of(lambda y: y[:, :3])
            elif node.kind == layout.PLANAR:
                plane = body[layout.PLANE:layout.PLANE + 6].reshape(2, 3)
                turn = exponential(own.of(lambda y, node=node: y[:, 2:] * node.axis))
                move = own.of(lambda y, plane=plane: y[:, :2] @ plane)
            here = R.of(lambda y, R0=R0: y @ R0)
            found.append((matmul(here, turn),
                          p + R.of(lambda y, p0=p0: y @ p0) + vector(here, move)))
        return [*found, world]

    def _vectors(self, q: Jet, poses) -> list[tuple[np.ndarray, bool, Jet]]:
        """Weights (k,), whether they are masses, and world vectors (b, k, 3)."""
        parts: list[tuple[np.ndarray, bool, Jet]] = []
        for i, node in enumerate(self.model.assembly.tree.nodes):
            R, p = poses[i]
            if node.mass or node.inertia.any():
                centre = node.moment / node.mass if node.mass else np.zeros(3)
                tensor = node.inertia - parallel_axes(node.mass, centre)
                parts.append((np.array([node.mass]), True, (p + R.of(
                    lambda y, c=centre: y @ c)).of(lambda y: y[:, None])))
                moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
                parts.append((moments, False, R.of(lambda y, e=axes: np.swapaxes(y @ e, 1, 2))))
            if node.beam is not None:
                fields = self.model.assembly.packed.fields[i]
                x, weights = gauss_stations(fields.breakpoints, fields.resolution)
                theta, r = self._fields(i, x, q)
                rho = node.beam.properties(x)
                point = product(lambda a, s: s @ np.swapaxes(a, 1, 2), R, r)
                parts.append((weights * rho.mass_per_length, True,
                              point + p.of(lambda y: y[:, None])))
                turn = product(lambda a, s: a[:, None] @ s, R, exponential(theta))
                for axis, inertia in ((1, rho.inertia_z), (2, rho.inertia_y)):
                    parts.append((weights * inertia, False,
                                  turn.of(lambda y, axis=axis: y[..., axis])))
        return parts

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """M a + C v + D v + K q + g and friction (n,) at complex q, v and a (n,)."""
        model = self.model
        force = (self.inertial_force(q, v, a) + model.stiffness_matrix() @ q
                 + model.damping_matrix() @ v)
        for row, body in zip(self.table, self.body, strict=True):
            if row[layout.DOF] == 1:
                column = np.eye(model.n)[row[layout.Q]]
                if row[layout.PINNED] >= 0:
                    column = model.input_matrix()[:, row[layout.Q]]
                rate = abs(body[layout.RATIO]) / layout.FRICTION_SPEED
                force = force + body[layout.COULOMB] * np.tanh(rate * (column @ v)) * column
        return force

    def inertial_force(self, q, v, a) -> np.ndarray:
        """M a + C v + g (n,)."""
        model, jets = self.model, self._jets(q, v, a)
        poses, force = self.poses(jets), np.zeros(model.n, dtype=complex)
        for weights, heavy, u in self._vectors(jets, poses):
            push = weights[:, None] * (u.a[0] - (model.gravity if heavy else 0.0))
            force = force + np.einsum('bkc,kc->b', u.v[1:], push)
        for row, body in zip(self.table, self.body, strict=True):
            at, motor = row[layout.Q], row[layout.MOTOR]
            if motor >= 0:
                force = force + self._rotor(poses[row[layout.PARENT]][0], body, motor, v, a)
            if row[layout.DOF] == 1:
                force[at] += body[layout.ARMATURE] * a[at]
        return force

    def mass_matrix(self, q) -> np.ndarray:
        """M (n, n)."""
        still = np.zeros(self.model.n)
        weight = self.inertial_force(q, still, still)
        return np.stack([self.inertial_force(q, still, unit) - weight
                         for unit in np.eye(self.model.n)], axis=1)

    def _rotor(self, R: Jet, body, motor: int, v, a) -> np.ndarray:
        """Of a rotor about an axis of its parent, T = 1/2 Im (a.w + m')^2."""
        inertia = body[layout.ROTOR]
        axis = R.x[0] @ body[layout.ROTOR_AXIS:layout.ROTOR_AXIS + 3]
        back = np.swapaxes(R.x, 1, 2)
        turns = spin(R.v @ back)
        change = spin(R.a[0] @ back[0] + R.v[0] @ R.v[0].T)
        speed, rate = axis @ turns[0] + v[motor], axis @ change + a[motor]
        moment = inertia * (rate * axis + speed * np.cross(turns[0], axis))
        force = turns[1:] @ moment
        force[motor] += inertia * rate
        return force

    def jacobian(self, q, frame: str, x: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Pose (4, 4) and Jacobian (6, n) of a frame at complex q."""
        n = self.model.n
        jets = self._jets(q, np.zeros(n), np.zeros(n))
        poses = self.poses(jets)
        node, station, offset = self.model.assembly.locate(frame, x)
        R, p = poses[node]
        if station is not None:
            theta, r = self._fields(node, np.array([station]), jets)
            p = p + vector(R, r.of(lambda y: y[:, 0]))
            R = matmul(R, exponential(theta.of(lambda y: y[:, 0])))
        p = p + R.of(lambda y: y @ offset[:3, 3])
        R = R.of(lambda y: y @ offset[:3, :3])
        pose = np.eye(4, dtype=complex)
        pose[:3, :3], pose[:3, 3] = R.x[0], p.x[0]
        turns = spin(R.v[1:] @ np.swapaxes(R.x[1:], 1, 2))
        return pose, np.vstack((p.v[1:].T, turns.T))


def complex_steps(function, *points) -> list[np.ndarray]:
    """Derivatives of function(*points) by each of the points (k,): arrays (..., k)."""
    found = []
    for which, point in enumerate(points):
        columns = []
        for j in range(len(point)):
            moved = [p.astype(complex) for p in points]
            moved[which][j] += H * 1j
            columns.append(np.imag(function(*moved)) / H)
        found.append(np.stack(columns, axis=-1))
    return found
