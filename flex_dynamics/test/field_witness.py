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
"""Equations of motion of a robot by Lagrange, from its displacement field, in plain numpy.

It shares nothing with flex_dynamics, only the robot's records and mode shapes. Derivatives are
exact to rounding: first ones are complex steps, second ones Cauchy's integral over a circle of
complex coordinates.

Lagrange's equations of T = sum 1/2 m |du/dt|^2 are M = sum m J'J and C v = sum m J' d2u/dt2. A
rotor (Mladenova, section 8) adds 1/2 Im s^2, s = a.w + m', w the turning speed of what carries it
and m the motor's coordinate, in rad on the motor's side also where the joint is prismatic: to C v
it adds Im ((a.w_j + m_j) a.dw/dt + s a.(w_j x w)), w_j the share of coordinate j in w.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from exact_kinematics import Kinematics, vee
from scipy.linalg import block_diag

TINY = 1e-30
CIRCLE = 28                    # points of a circle
RADIUS = 3.0                   # its radius: sum of the turns of all coordinates, rad
STENCIL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 5e-3                    # of a radian of motion
FRICTION_SPEED = 0.01          # doc/model.md: Coulomb friction is friction tanh(speed / 0.01)


@dataclass(frozen=True)
class Terms:
    """At one state: M (n, n), C v and g (n,); T and V in J; momentum about the world's origin."""

    M: np.ndarray
    velocity_force: np.ndarray
    g: np.ndarray
    kinetic: float
    gravity: float
    linear: np.ndarray
    angular: np.ndarray
    sizes: np.ndarray              # sums of |m v| and |m r x v|: what momentum is small against
    mass: float
    moment: np.ndarray             # sum of m r


class Witness(Kinematics):
    """M, C v, g, K, D, B, energy, momentum, poses and Jacobians of a robot."""

    # Derivatives of functions of Q (b, n) that give arrays (b, ...) ----------------------------

    def gradient(self, function, q: np.ndarray) -> np.ndarray:
        """d function / dq, coordinates last."""
        values = function(q + 1j * TINY * np.eye(self.n))
        return np.moveaxis(values.imag / TINY, 0, -1)

    def second(self, function, q: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """d2 function(q + s d) / ds2 at 0 (d, ...) for every d of the directions (d, n)."""
        radius = RADIUS / np.maximum(np.abs(directions * self.rates).sum(axis=1), 1e-3)
        angle = 2.0 * np.pi / CIRCLE * np.arange(CIRCLE // 2 + 1)
        # The lower half of the circle has the conjugate values.
        share = np.exp(-2j * angle) * np.where(np.sin(angle) > 1e-9, 2.0, 1.0) / CIRCLE
        steps = (radius[:, None] * np.exp(1j * angle))[..., None] * directions[:, None]
        values = function((q + steps).reshape(-1, self.n))
        values = values.reshape(len(directions), len(angle), *values.shape[1:])
        total = np.tensordot(share, values, (0, 1)).real
        return 2.0 * total / radius.reshape(-1, *[1] * (total.ndim - 1))**2

    def slope(self, function, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """d function(q + s v) / ds at 0 by differences of eighth order, for real functions."""
        h = STEP / max(np.abs(v * self.rates).max(), 1e-3)
        return sum(c * (function(q + (k + 1) * h * v) - function(q - (k + 1) * h * v))
                   for k, c in enumerate(STENCIL)) / h

    # Equations of motion ----------------------------------------------------------------------

    def _first(self, q: np.ndarray):
        """Weights, heavy, vectors (k, 3), J (k, 3, n); R, w (rotors, 3, n) in rotor frames."""
        motion = self.motion(np.concatenate((q + 1j * TINY * np.eye(self.n), q[None] + 0j)))
        J = np.moveaxis(motion.vectors[:-1].imag / TINY, 0, -1)
        R = motion.rotors[-1].real
        w = vee(np.swapaxes(R, 1, 2) @ (motion.rotors[:-1].imag / TINY))
        return (motion.weights, motion.heavy, motion.vectors[-1].real, J, R,
                np.moveaxis(w, 0, -1))

    def _spins(self, w: np.ndarray) -> np.ndarray:
        """Turning speed of every rotor about its axis per speed of the coordinates (rotors, n)."""
        spins = np.zeros((len(self.rotors), self.n))
        for k, joint in enumerate(self.rotors):
            spins[k] = joint.axis @ w[k]
            spins[k, self.names.index(f'{joint.name}/motor')] += 1.0
        return spins

    @cached_property
    def _rotor_inertia(self) -> np.ndarray:
        return np.array([joint.flexible.motor_inertia for joint in self.rotors])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        weights, _, _, J, _, w = self._first(q)
        return self._mass_matrix(weights, J, self._spins(w))

    def _mass_matrix(self, weights, J, spins) -> np.ndarray:
        rooted = (np.sqrt(weights)[:, None, None] * J).reshape(-1, self.n)
        return rooted.T @ rooted + (spins.T * self._rotor_inertia) @ spins

    def mass_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """dM/dt (n, n)."""
        return self.slope(self.mass_matrix, q, v)

    def terms(self, q: np.ndarray, v: np.ndarray) -> Terms:
        weights, heavy, vectors, J, R, w = self._first(q)
        spins = self._spins(w)
        M = self._mass_matrix(weights, J, spins)

        def all_numbers(Q):
            motion = self.motion(Q)
            return np.concatenate((motion.vectors.reshape(len(Q), -1),
                                   motion.rotors.reshape(len(Q), -1)), axis=1)

        bent = self.second(all_numbers, q, v[None])[0]
        bend, turn = bent[:vectors.size].reshape(-1, 3), bent[vectors.size:].reshape(-1, 3, 3)
        force = np.einsum('k,kcj,kc->j', weights, J, bend, optimize=True)
        # The rate of vee(R' dR/dt) is vee(R' d2R/dt2): the rest is symmetric.
        spin_rate = vee(np.swapaxes(R, 1, 2) @ turn)
        speed, axes = w @ v, np.array([joint.axis for joint in self.rotors]).reshape(-1, 3)
        for k, inertia in enumerate(self._rotor_inertia):
            force += inertia * (spins[k] * (axes[k] @ spin_rate[k])
                                + (spins[k] @ v) * (axes[k] @ np.cross(w[k].T, speed[k]).T))
        velocity = J @ v
        momenta = weights[:, None] * velocity
        turning = np.cross(vectors, momenta)
        rotor_momenta = (self._rotor_inertia * (spins @ v))[:, None] * (
            R @ axes[:, :, None])[..., 0]
        heavy_weights = weights * heavy
        moment = heavy_weights @ vectors
        return Terms(
            M=M, velocity_force=force,
            g=-np.einsum('k,kcj,c->j', heavy_weights, J, self.robot.gravity, optimize=True),
            kinetic=0.5 * float((momenta * velocity).sum()
                                + self._rotor_inertia @ (spins @ v)**2),
            gravity=-float(self.robot.gravity @ moment),
            linear=momenta[heavy].sum(axis=0),
            angular=turning.sum(axis=0) + rotor_momenta.sum(axis=0),
            sizes=np.array([np.linalg.norm(momenta[heavy], axis=1).sum(),
                            np.linalg.norm(turning, axis=1).sum()
                            + np.linalg.norm(rotor_momenta, axis=1).sum()]),
            mass=float(heavy_weights.sum()), moment=moment)

    # What does not change ---------------------------------------------------------------------

    @cached_property
    def K(self) -> np.ndarray:
        return self._beams_and_springs({name: beam.stiffness() for name, beam
                                        in self.beams.items()}, 'stiffness')

    @cached_property
    def D(self) -> np.ndarray:
        """Dampers of beams, on M at zero without payloads; of elastic joints and of joints."""
        bare = Witness(self.robot, self.order, fine=self.fine)
        M = bare.mass_matrix(np.zeros(self.n))
        blocks = {}
        for name, own in self.elastic.items():
            link, mass, stiffness = self.beams[name].link, M[own, own], self.K[own, own]
            given, parts, start = link.damping, [], 0
            for count, ratios in zip(self.beams[name].counts, (
                    given.ratio_bend_y, given.ratio_bend_z, given.ratio_twist), strict=True):
                part = slice(start, start + count)
                parts.append(modal(mass[part, part], stiffness[part, part], ratios))
                start += count
            blocks[name] = block_diag(*parts) + given.alpha * mass + given.beta * stiffness
        D = self._beams_and_springs(blocks, 'damping')
        for joint, column in self._friction_columns():
            D += joint.damping * np.outer(column, column)
        return D

    @cached_property
    def B(self) -> np.ndarray:
        """Work of efforts: a plain motor turns the root section, an elastic one its rotor."""
        B = np.eye(self.n)[:, :self.n_joints]
        for joint, column in self._friction_columns():
            B[:, self.names.index(joint.name)] = column
        for joint in self.rotors:
            B[:, self.names.index(joint.name)] = 0.0
            B[self.names.index(f'{joint.name}/motor'), self.names.index(joint.name)] = (
                1.0 / joint.flexible.gear_ratio)
        return B

    def coulomb_force(self, v: np.ndarray) -> np.ndarray:
        """Dry friction of the joints (n,), on the left side of the equations of motion."""
        return sum((joint.friction * np.tanh(column @ v / FRICTION_SPEED) * column
                    for joint, column in self._friction_columns()), np.zeros(self.n))

    def _friction_columns(self):
        """Joints of one coordinate and the share (n,) of each coordinate in what they turn.

        The root section of a pinned beam turns against the link's frame; its turn about the
        joint's axis, to first order, is the joint's too.
        """
        for joint in self.robot.joints:
            if joint.name not in self.names:
                continue
            column = np.eye(self.n)[self.names.index(joint.name)]
            beam = self.beams.get(joint.child)
            if beam is not None and beam.link.pinned and joint.type != 'prismatic':
                axis = beam.link.origin[:3, :3].T @ joint.axis
                column[self.elastic[joint.child]] = axis @ beam.t1[beam.section(0.0)]
            yield joint, column

    def _beams_and_springs(self, blocks: dict[str, np.ndarray], attribute: str) -> np.ndarray:
        out = np.zeros((self.n, self.n))
        for name, own in self.elastic.items():
            out[own, own] = blocks[name]
        for joint in self.rotors:
            stretch = np.zeros(self.n)
            stretch[self.names.index(joint.name)] = -1.0
            stretch[self.names.index(f'{joint.name}/motor')] = 1.0 / joint.flexible.gear_ratio
            out += getattr(joint.flexible, attribute) * np.outer(stretch, stretch)
        return out

    # Frames -----------------------------------------------------------------------------------

    def frames_at(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (points, 4, 4) and Jacobians (points, 6, n), linear rows first, of the points."""
        poses = self.frame_poses(q[None] + 0j)[0].real
        slopes = np.moveaxis(self.gradient(self.frame_poses, q), -1, 1)
        angular = vee(slopes[..., :3, :3] @ np.swapaxes(poses[:, None, :3, :3], 2, 3))
        return poses, np.moveaxis(np.concatenate((slopes[..., :3, 3], angular), axis=-1), 1, -1)

    def jacobian_rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """dJ/dt (points, 6, n): mixed derivatives from second ones along sums and differences."""
        size, speed = 1.0 / self.rates, max(np.abs(v * self.rates).max(), 1e-9)
        units = np.diag(size)
        bent = self.second(self.frame_poses, q, np.concatenate(
            (units + v / speed, units - v / speed)))
        mixed = 0.25 * (bent[:self.n] - bent[self.n:]) * (speed / size)[:, None, None, None]
        R = self.frame_poses(q[None] + 0j)[0, :, :3, :3].real
        slopes = np.moveaxis(self.gradient(self.frame_poses, q), -1, 0)[..., :3, :3]
        rate = np.tensordot(v, slopes, (0, 0))
        angular = vee(mixed[..., :3, :3] @ np.swapaxes(R, 1, 2)
                      + slopes @ np.swapaxes(rate, 1, 2))
        return np.moveaxis(np.concatenate((mixed[..., :3, 3], angular), axis=-1), 0, -1)


def modal(mass: np.ndarray, stiffness: np.ndarray, ratios: tuple[float, ...]) -> np.ndarray:
    """D that gives every mode of M, K its damping ratio, the last one serving all higher modes."""
    if not ratios or not len(mass):
        return np.zeros_like(mass)
    root = np.linalg.cholesky(mass)
    inner = np.linalg.solve(root, np.linalg.solve(root, stiffness).T)
    squares, turn = np.linalg.eigh(0.5 * (inner + inner.T))
    each = np.array([ratios[min(k, len(ratios) - 1)] for k in range(len(squares))])
    modes = root @ turn
    return (modes * (2.0 * each * np.sqrt(np.maximum(squares, 0.0)))) @ modes.T
