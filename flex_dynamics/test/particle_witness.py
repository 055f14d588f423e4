"""A robot as a cloud of points, in plain numpy: an independent derivation of M, C v and g.

Nothing is shared with the package but the robot's records. Positions are composed from poses for
complex coordinates, so that derivatives are complex steps, exact to rounding. Beam fields follow
Piedboeuf: rotation (16) as I + [theta1] + R2 with R2 = int [theta1][kappa] (13), (14), position
(18) as the integral of its first column, both by Chebyshev series. What a section carries turns
with the exponential of R2's logarithm to second order.

A kind of point is a world vector u(q) with weight m: T = sum 1/2 m |du/dt|^2. Points of a body
have u = p; its second moments have u = R e and m = e' E e, E = tr(I)/2 - I.
"""
from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

TINY = 1e-30
DEGREE = 64
STATIONS = 30
STENCIL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


def cross(v: np.ndarray) -> np.ndarray:
    """[v] for vectors (..., 3), complex ones too."""
    zero = np.zeros_like(v[..., 0])
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return np.stack((np.stack((zero, -z, y), -1), np.stack((z, zero, -x), -1),
                     np.stack((-y, x, zero), -1)), -2)


def turn(vector: np.ndarray) -> np.ndarray:
    """exp([vector]) by its series, which holds for complex vectors."""
    generator, term, total = cross(vector), np.eye(3, dtype=complex), np.eye(3, dtype=complex)
    for k in range(1, 40):
        term = term @ generator / k
        total = total + term
    return total


def pose(rotation, position) -> np.ndarray:
    out = np.eye(4, dtype=complex)
    out[:3, :3], out[:3, 3] = rotation, position
    return out


class Beam:
    """Deformation of one flexible link of constant section at complex amplitudes."""

    def __init__(self, link, eta: np.ndarray, order: str) -> None:
        self.link, self.second = link, order == 'second'
        n_y, n_z = link.bend_y.count, link.bend_z.count
        self.eta = eta[:n_y], eta[n_y:n_y + n_z], eta[n_y + n_z:]
        # Chebyshev points of the second kind hold both ends.
        points = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)[::-1]
        self.half = 0.5 * link.length
        x = self.half * (points + 1.0)
        theta, kappa = cross(self.theta(x)), cross(self.theta(x, 1))
        start = 0.5 * theta[0] @ theta[0]
        self.vander = np.linalg.inv(chebyshev.chebvander(points, DEGREE))
        self.turned = self.integral(theta @ kappa)
        self.start = start
        self.path = self.integral(self.second_rotation(x)[:, :, 0])

    def theta(self, x, derivative=0) -> np.ndarray:
        """theta1 = (alpha, -w', v') (k, 3)."""
        link, (y, z, twist) = self.link, self.eta
        return np.stack((twist @ link.twist(x, derivative) + 0j,
                         -(z @ link.bend_z(x, derivative + 1)) + 0j,
                         y @ link.bend_y(x, derivative + 1) + 0j), axis=-1)

    def integral(self, values: np.ndarray) -> np.ndarray:
        """Chebyshev coefficients of the integral from 0 of values at the points."""
        coefficients = np.tensordot(self.vander, values, 1)
        return self.half * chebyshev.chebint(coefficients, lbnd=-1.0)

    def value(self, series: np.ndarray, x: np.ndarray) -> np.ndarray:
        rows = chebyshev.chebvander(np.asarray(x) / self.half - 1.0, len(series) - 1)
        return np.tensordot(rows, series, 1)

    def second_rotation(self, x) -> np.ndarray:
        """R2 (k, 3, 3)."""
        return self.start + self.value(self.turned, x)

    def axis(self, x) -> np.ndarray:
        """Points of the axis (k, 3), beam frame."""
        y, z, _ = self.eta
        out = np.stack((x + 0j, y @ self.link.bend_y(x) + 0j, z @ self.link.bend_z(x) + 0j), -1)
        return out + self.value(self.path, x) if self.second else out

    def directors(self, x) -> np.ndarray:
        """Section axes (k, 3, 3), the exponential of the rotation vector, as columns."""
        vectors = self.theta(x)
        if self.second:
            R2 = self.second_rotation(x)
            skew = 0.5 * (R2 - np.swapaxes(R2, 1, 2))
            vectors = vectors + np.stack((skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]), axis=-1)
        return np.array([turn(vector) for vector in vectors])

    def section(self, x: float) -> np.ndarray:
        """Pose (4, 4) in the beam frame of what the section at x carries."""
        at = np.array([x])
        vector = self.theta(at)[0]
        if self.second:
            R2 = self.second_rotation(at)[0]
            skew = 0.5 * (R2 - R2.T)
            vector = vector + np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        return pose(turn(vector), self.axis(at)[0])


class Witness:
    """M, bias and gravity of a robot, from its records."""

    def __init__(self, robot, names, order='second') -> None:
        self.robot, self.names, self.order = robot, names, order
        self.links = {link.name: link for link in robot.links}
        self.n = len(names)

    def value(self, q, name) -> complex:
        return q[self.names.index(name)]

    def joint_pose(self, joint, q) -> np.ndarray:
        name, axis = joint.name, joint.axis
        if joint.type == 'fixed':
            return np.eye(4)
        if joint.type == 'prismatic':
            return pose(np.eye(3), self.value(q, name) * axis)
        if joint.type == 'planar':
            x, y, angle = (self.value(q, f'{name}/{part}') for part in ('x', 'y', 'angle'))
            first = np.eye(3)[0 if abs(axis[0]) < 0.9 else 1]
            first = first - axis * (axis @ first)
            first /= np.linalg.norm(first)
            return pose(turn(angle * axis), x * first + y * np.cross(axis, first))
        if joint.type == 'floating':
            place = [self.value(q, f'{name}/{part}') for part in ('x', 'y', 'z')]
            vector = [self.value(q, f'{name}/{part}') for part in ('rx', 'ry', 'rz')]
            return pose(turn(np.array(vector)), place)
        return pose(turn(self.value(q, name) * axis), np.zeros(3))

    def vectors(self, q) -> tuple[np.ndarray, np.ndarray, np.ndarray, list]:
        """Weights (k,), whether a point has weight in gravity (k,), vectors (k, 3), rotors.

        A rotor is (motor coordinate, inertia, carrier rotation, axis in the carrier).
        """
        q = np.asarray(q, dtype=complex)
        weights, heavy, vectors, rotors = [], [], [], []

        def body(inertia, at):
            weights.append(inertia.mass)
            heavy.append(True)
            vectors.append(at[:3, :3] @ inertia.centre + at[:3, 3])
            moments, axes = np.linalg.eigh(0.5 * np.trace(inertia.tensor) * np.eye(3)
                                           - inertia.tensor)
            for moment, axis in zip(moments, axes.T, strict=True):
                weights.append(moment)
                heavy.append(False)
                vectors.append(at[:3, :3] @ axis)

        def beam(link, at):
            eta = np.array([self.value(q, name) for name in self.names
                            if name.startswith(link.link + '/')])
            bent = Beam(link, eta, self.order)
            frame = at @ link.origin
            nodes, shares = np.polynomial.legendre.leggauss(STATIONS)
            x, dx = bent.half * (nodes + 1.0), bent.half * shares
            p = link.properties(x)
            directors = bent.directors(x)
            for values, weight, is_heavy in (
                    (bent.axis(x), p.mass_per_length, True),
                    (directors[:, :, 1], p.inertia_z, False),
                    (directors[:, :, 2], p.inertia_y, False)):
                weights.extend(dx * weight)
                heavy.extend([is_heavy] * len(x))
                world = values @ frame[:3, :3].T
                vectors.extend(world + frame[:3, 3] if is_heavy else world)
            for mass in link.masses:
                body(mass, frame @ bent.section(mass.x))
            return bent

        places, bent = {self.robot.links[0].name: np.eye(4, dtype=complex)}, {}
        for joint in self.robot.joints:
            carrier, origin = places[joint.parent], joint.origin
            if joint.parent in bent:
                link = bent[joint.parent].link
                x = link.length if joint.section_x is None else joint.section_x
                carrier = carrier @ link.origin @ bent[joint.parent].section(x)
                at_rest = pose(np.eye(3), [x, 0.0, 0.0]).real
                origin = np.linalg.inv(link.origin @ at_rest) @ origin
            at = carrier @ origin @ self.joint_pose(joint, q)
            places[joint.child] = at
            if joint.flexible is not None:
                rotors.append((self.names.index(f'{joint.name}/motor'),
                               joint.flexible.motor_inertia, carrier[:3, :3] @ origin[:3, :3],
                               joint.axis))
            child = self.links[joint.child]
            if child.flexible is not None:
                bent[child.name] = beam(child.flexible, at)
            elif child.inertia is not None:
                body(child.inertia, at)
        return np.array(weights), np.array(heavy), np.array(vectors), rotors

    def jacobian(self, q) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Weights, heavy, d vectors / dq (k, 3, n), spin rates (rotors, n) of all rotors."""
        columns, spins = [], []
        for j in range(self.n):
            step = np.zeros(self.n, dtype=complex)
            step[j] = 1j * TINY
            weights, heavy, vectors, rotors = self.vectors(q + step)
            columns.append(vectors.imag / TINY)
            spins.append([self._spin(rotor, j) for rotor in rotors])
        return weights, heavy, np.moveaxis(np.array(columns), 0, -1), np.array(spins).T.reshape(
            len(rotors), self.n)

    @staticmethod
    def _spin(rotor, j) -> float:
        """Rate of a rotor's turn about its axis per rate of coordinate j."""
        motor, _, rotation, axis = rotor
        omega = rotation.real.T @ (rotation.imag / TINY)
        return float(motor == j) + axis @ np.array([omega[2, 1], omega[0, 2], omega[1, 0]])

    def mass_matrix(self, q) -> np.ndarray:
        weights, _, J, spins = self.jacobian(q)
        inertias = np.array([rotor[1] for rotor in self.vectors(q)[3]])
        points = np.einsum('k,kci,kcj->ij', weights, J, J, optimize=True)
        return points + spins.T * inertias @ spins

    def gravity_force(self, q) -> np.ndarray:
        weights, heavy, J, _ = self.jacobian(q)
        return -np.einsum('k,kci,c->i', weights * heavy, J, self.robot.gravity)

    def coriolis_force(self, q, v, h=2e-3) -> np.ndarray:
        """sum m J' d2u/dt2 at constant v, and Lagrange's terms of the rotors."""
        def speed(s):
            return self.vectors(q + s * v + 1j * TINY * v)[2].imag / TINY

        weights, _, J, spins = self.jacobian(q)
        force = np.einsum('k,kci,kc->i', weights, J, slope(speed, h))
        rotors = self.vectors(q)[3]
        if rotors:
            inertias = np.array([rotor[1] for rotor in rotors])
            rate = slope(lambda s: self.jacobian(q + s * v)[3], h)
            gradient = np.stack([slope(lambda s, e=e: self.spins(q + s * e, v), h)
                                 for e in np.eye(self.n)], axis=1)
            force += inertias * (rate @ v) @ spins + inertias * (spins @ v) @ (rate - gradient)
        return force

    def momentum(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Linear (3,) and angular (3,) momentum about the world's origin, rotors included."""
        weights, heavy, vectors, rotors = self.vectors(q + 1j * TINY * v)
        place, speed = vectors.real, vectors.imag / TINY
        angular = weights @ np.cross(place, speed)
        for (_, inertia, rotation, axis), spin in zip(rotors, self.spins(q, v), strict=True):
            angular += inertia * spin * (rotation.real @ axis)
        return (weights * heavy) @ speed, angular

    def spins(self, q, v) -> np.ndarray:
        """Turning speeds of all rotors at speeds v."""
        return np.array([v[rotor[0]] + self._spin(rotor, -1)
                         for rotor in self.vectors(q + 1j * TINY * v)[3]])


def slope(function, h) -> np.ndarray:
    """Eighth-order central differences at 0."""
    return sum(c * (function((k + 1) * h) - function(-(k + 1) * h))
               for k, c in enumerate(STENCIL)) / h
