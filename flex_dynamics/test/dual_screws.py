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
"""Cibicik and Egeland's equations as printed, in dual matrices: a witness for order `linear`.

For serial arms of revolute joints. Nothing is shared with the model but the robot's records:
poses are dual homogeneous matrices of the whole chain (44), lines and screws are carried to every
slice of every beam, and M, C and g are sums of 12 x 12 products (112), (109). Two corrections:
theta_y = -w' in (71), and the second moments of area of (107) turn with their section.

Dual vectors are [real; dual] (6,), dual rotations (6, 6), dual twists [omega; v] (12,).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from flex_description.math import skew
from flex_dynamics.papers.dual_groups import dual_rotation, lower_wedge, wedge
from flex_dynamics.papers.dual_screws import Mover, hat, projection_matrix, real

SLICES = 24


@dataclass
class Slice:
    """A rigid link at its centre, or a slice of a beam: where it is and what it weighs."""

    rotation: np.ndarray
    point: np.ndarray
    movers: list[Mover]
    mass: float
    tensor: np.ndarray        # (6, 6), see hat
    base: int                 # movers that carry the link's own frame; the rest turn the section

    def projection(self, n: int, projecting: bool) -> np.ndarray:
        """P (12, n): Jacobian form (92) or projecting form (93)."""
        return projection_matrix(self.movers, n, self.rotation, self.point, projecting)

    def inertia(self) -> np.ndarray:
        D = np.zeros((12, 12))
        D[:6, :6], D[6:, 6:] = self.tensor, self.mass * hat(np.eye(3))
        return D


def chain(model, q: np.ndarray) -> list[Slice]:
    """All slices of a serial arm at q."""
    robot = model.robot
    rotation, point = np.eye(6), np.zeros(6)
    movers: list[Mover] = []
    slices: list[Slice] = []
    flexible = {link.name: link.flexible for link in robot.links}
    inertias = {link.name: link.inertia for link in robot.links}
    for joint in robot.joints:
        if joint.type == 'fixed':
            continue                                  # a tool's frame at the end, without mass
        number = model.names.index(joint.name)
        origin = joint.origin
        beam = flexible[joint.parent]
        if beam is not None:
            tip = np.eye(4)
            tip[0, 3] = beam.length
            origin = np.linalg.inv(beam.origin @ tip) @ origin
        rotation, point = moved(rotation, point, origin)
        turn = np.eye(4)
        turn[:3, :3] = Rotation.from_rotvec(q[number] * joint.axis).as_matrix()
        rotation, point = moved(rotation, point, turn)
        movers = [*movers, Mover(number, rotation, point, joint.axis, np.zeros(3), False)]
        beam, inertia = flexible[joint.child], inertias[joint.child]
        if beam is None:
            centre = point + rotation @ real(inertia.centre)
            slices.append(Slice(rotation, centre, movers, inertia.mass, hat(inertia.tensor),
                                len(movers)))
            continue
        rotation, point = moved(rotation, point, beam.origin)
        nodes, weights = np.polynomial.legendre.leggauss(SLICES)
        for x, weight in zip(0.5 * beam.length * (nodes + 1), 0.5 * beam.length * weights,
                             strict=True):
            own, there, _ = section(model, beam, x, q, rotation, point)
            slices.append(Slice(rotation, there, [*movers, *own],
                                weight * beam.properties(np.array([x])).mass_per_length[0],
                                weight * second_moments(model, beam, x, q), len(movers)))
        own, point, turned = section(model, beam, beam.length, q, rotation, point)
        movers, rotation = [*movers, *own], turned
    return slices


def moved(rotation, point, pose) -> tuple[np.ndarray, np.ndarray]:
    return (rotation @ dual_rotation(pose[:3, :3]),
            point + rotation @ real(pose[:3, 3]))


def shapes(model, beam, x: float) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Coordinate, rotation and displacement per amplitude at x: (71), corrected."""
    out = []
    at = np.array([x])
    for kind, shape in (('bend_y', beam.bend_y), ('bend_z', beam.bend_z), ('twist', beam.twist)):
        value, slope = shape(at)[:, 0], shape(at, 1)[:, 0]
        for k in range(shape.count):
            coordinate = model.names.index(f'{beam.link}/{kind}/{k + 1}')
            turn, displacement = np.zeros(3), np.zeros(3)
            if kind == 'bend_y':
                turn[2], displacement[1] = slope[k], value[k]
            elif kind == 'bend_z':
                turn[1], displacement[2] = -slope[k], value[k]
            else:
                turn[0] = value[k]
            out.append((coordinate, turn, displacement))
    return out


def section(model, beam, x, q, rotation, point):
    """Movers of the section at x, its dual position and its dual rotation (24), (45)."""
    parts = shapes(model, beam, x)
    displacement = sum(q[c] * d for c, _, d in parts)
    theta = sum(q[c] * t for c, t, _ in parts)
    there = point + rotation @ np.concatenate(([x, 0.0, 0.0], displacement))
    own = [Mover(c, rotation, there, t, d, True) for c, t, d in parts]
    return own, there, rotation @ dual_rotation(np.eye(3), theta)


def second_moments(model, beam, x, q) -> np.ndarray:
    p = beam.properties(np.array([x]))
    J = np.diag([p.inertia_y[0] + p.inertia_z[0], p.inertia_y[0], p.inertia_z[0]])
    theta = skew(sum(q[c] * t for c, t, _ in shapes(model, beam, x)))
    return hat(J, theta @ J - J @ theta)


def mass_matrix(model, q) -> np.ndarray:
    M = np.zeros((model.n, model.n))
    for body in chain(model, q):
        P = body.projection(model.n, True)
        M += P.T @ body.inertia() @ P
    return M


def gravity_force(model, q) -> np.ndarray:
    g = np.zeros(model.n)
    for body in chain(model, q):
        weight = np.linalg.inv(body.rotation) @ real(body.mass * np.asarray(model.robot.gravity))
        g -= body.projection(model.n, True)[6:].T @ hat(np.eye(3)) @ weight
    return g


def coriolis_force(model, q, v) -> np.ndarray:
    """C u of (112), the rate of the Jacobian form by differences along the motion."""
    force, step = np.zeros(model.n), 1e-3
    near = {k: chain(model, q + k * step * v) for k in (-2, -1, 1, 2)}
    for i, body in enumerate(chain(model, q)):
        P = {k: near[k][i].projection(model.n, False) for k in near}
        rate = (8.0 * (P[1] - P[-1]) - (P[2] - P[-2])) / (12.0 * step)
        projecting, D = body.projection(model.n, True), body.inertia()
        twist = body.projection(model.n, False) @ v
        frame = body.projection(model.n, False)[:6]
        own = frame[:, [m.coordinate for m in body.movers[body.base:]]]
        omega = twist[:6] - own @ v[[m.coordinate for m in body.movers[body.base:]]]
        # (105): axes turn with the link's frame, the inertia with the section.
        acceleration = rate @ v + np.concatenate((wedge(omega) @ twist[:6],
                                                  wedge(omega) @ twist[6:]))
        wrench = D @ acceleration
        wrench[:6] += lower_wedge(twist[:6]) @ D[:6, :6] @ twist[:6]
        force += projecting.T @ wrench
    return force
