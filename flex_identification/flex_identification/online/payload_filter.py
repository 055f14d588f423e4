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
"""Extended Kalman filter of a robot's motion and the payload that it carries."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model, Sensors
from flex_dynamics.arrays import Array
from flex_identification.errors import IdentificationError
from flex_identification.online.payload_motion import (
    PARAMETERS,
    PayloadNoise,
    carrying,
    payload_motion,
    payload_wrench,
)

START_ENERGY = 1e-4        # J that every mode may have at the start
START_JOINTS = 1e-2        # rad or m that joints may be off at the start
POSE_STEP = 0.05           # rad or m of a joint after which the linear model is made anew
PAYLOAD_STEP = 0.05        # of the largest mass by which the payload may differ from the model's
SURPRISE = 8.0             # normalised innovation squared, a reading, of a payload that changes
JUMPED = 30.0              # likelihood ratio, chi-square of 4 parameters, of another payload
WATCHED = 0.25             # s for which it is collected
SHOCK = 0.15               # s after a change in which nothing is learned of the centre
LARGEST = 1e6              # of scaled coordinates


class PayloadFilter:
    """State: q, v (n,) scaled, payload parameters pi (4,), biases of efforts (n_joints,) and of
    gauges (n_gauges,).

    The motion is the sampled one of `PayloadMotion`, about the quasi-static motion of the joints.
    The model carries the payload estimated when it was made; what pi differs from it acts as the
    wrench of `payload_wrench` with the estimated acceleration of the frame.

    largest_mass kg and largest_offset m bound what is looked for; they are the prior.
    """

    def __init__(self, model: Model, frame: str, noise: PayloadNoise, period: float,
                 largest_mass: float, largest_offset: float) -> None:
        self.model, self.frame, self.noise, self.period = model, frame, noise, period
        self.largest_mass = largest_mass
        self.prior = largest_mass * np.array([1.0, *3 * [0.5 * largest_offset]])
        self._strains = np.asarray(Sensors(model).strain_matrix())
        n, joints = model.n, model.n_joints
        self._payload = slice(2 * n, 2 * n + PARAMETERS)
        self._biases = slice(2 * n + PARAMETERS, 2 * n + PARAMETERS + joints)
        self._zeros = slice(2 * n + PARAMETERS + joints,
                            2 * n + PARAMETERS + joints + len(self._strains))
        self.size = self._zeros.stop
        self.begun = False
        self.nis, self.measured = 0.0, 0

    @property
    def payload(self) -> Array:
        """Mass kg and first moments kg m in the axes of the frame, (4,)."""
        return np.array(self.x[self._payload])

    @property
    def covariance(self) -> Array:
        """Of the payload's parameters, (4, 4)."""
        return np.array(self.P[self._payload, self._payload])

    def begin(self, joints: Array) -> None:
        """Start at rest with the joints there (n_joints,); a payload may be there already."""
        n, noise = self.model.n, self.noise
        self._motion, self._scales = payload_motion(
            self.model, joints, np.zeros(PARAMETERS), noise, self.period)
        self.x, self.P = np.zeros(self.size), np.zeros((self.size, self.size))
        self.x[:2 * n] = self._scales[0] @ np.concatenate((self._motion.q, np.zeros(n)))
        follow = np.vstack((self._motion.follow, 0.0 * self._motion.follow))
        there = self._scales[0] @ follow
        self.P[:2 * n, :2 * n] = START_ENERGY * np.eye(2 * n) + START_JOINTS**2 * there @ there.T
        for part, deviation in ((self._payload, self.prior), (self._biases, noise.effort_bias),
                                (self._zeros, noise.strain_bias)):
            places = np.arange(part.start, part.stop)
            self.P[places, places] = deviation**2
        self.begun, self._shaken = True, round(SHOCK / self.period)
        self._acceleration = np.zeros(n)
        self._payload_acceleration = np.zeros(n)
        self._watch_for_change()
        self._read()

    def expect_another(self) -> None:
        """The payload may have changed: its parameters are as uncertain as at the start."""
        places = np.arange(self._payload.start, self._payload.stop)
        self.P[places, places] += self.prior**2
        self._shaken = round(SHOCK / self.period)
        self._watch_for_change()

    def _watch_for_change(self) -> None:
        """Begin to collect what speaks for a payload that is another one since now."""
        self._signature = np.zeros((self.size, PARAMETERS))
        self._signature[self._payload] = np.eye(PARAMETERS)
        self._score, self._watched = np.zeros(PARAMETERS), 0.0
        self._told = np.diag(1.0 / self.prior**2)

    def _has_changed(self) -> bool:
        """The likelihood ratio of a jump of the parameters (Willsky and Jones 1976).

        A payload that is let go hardly surprises in one period, but it pulls all innovations the
        same way.
        """
        self._watched += self.period
        if float(self._score @ np.linalg.solve(self._told, self._score)) > JUMPED:
            return True
        if self._watched > WATCHED:
            self._watch_for_change()
        return False

    def _forget_centre(self) -> None:
        """The first shock of a payload would tell its centre by how it turns, if its moments of
        inertia were known."""
        first, stop = self._payload.start, self._payload.stop
        heaviest = abs(self.payload[0]) + np.sqrt(self.covariance[0, 0])
        self.P[first + 1:stop] = self.P[:, first + 1:stop] = 0.0
        places = np.arange(first + 1, stop)
        self.P[places, places] = (min(heaviest / self.prior[0], 1.0) * self.prior[1:])**2
        self.x[places] = 0.0

    def _read(self) -> None:
        if not np.abs(self.x).max() < LARGEST:
            self.begun = False
            raise IdentificationError('the estimate has left all bounds: the readings contradict '
                                      'the model; it begins anew')
        n = self.model.n
        state = self._scales[1] @ self.x[:2 * n]
        self.q, self.v = state[:n], state[n:]

    def update(self, effort: Array, position: Array | None, velocity: Array | None,
               strain: Array | None, steps: int = 1) -> None:
        """Go on by so many periods under these mean efforts (n_joints,), N m or N, and take in the
        readings at their end: see `correct`.

        If they surprise, the payload has changed within these periods: they are gone through
        again, with a payload as uncertain as at the start.
        """
        before = self.x, self.P, self._acceleration
        for attempt in range(2):
            for _ in range(steps):
                self.predict(effort)
            if attempt or self.surprise(position, velocity, strain) < SURPRISE:
                break
            self.x, self.P, self._acceleration = before
            self.P = self.P.copy()
            self.expect_another()
            self._read()
        self.correct(position, velocity, strain)
        if self._shaken <= 0 and self._has_changed():
            self.expect_another()
        if self._shaken > 0:
            self._shaken -= steps
            self._forget_centre()

    def predict(self, effort: Array) -> None:
        """Go on by a period under these mean efforts (n_joints,), N m or N."""
        made, n, noise = self._motion, self.model.n, self.noise
        joints = self.model.n_joints
        q = made.q + made.follow @ (self.q[:joints] - made.q[:joints])
        v = made.follow @ self.v[:joints]
        force = made.model.inverse_dynamics(q, v, np.zeros(n))
        base = (made.by_effort @ effort - made.inverse @ force - made.slope_q @ q
                - made.slope_v @ v)
        by_payload, doubted = self._by_payload()
        F = np.eye(self.size)
        F[:2 * n, :2 * n] = made.F
        F[:2 * n, self._payload] = made.held @ by_payload
        F[:2 * n, self._biases] = made.held @ made.by_effort
        decay = np.exp(-self.period / noise.bias_time)
        fading = np.arange(self._biases.start, self.size)
        F[fading, fading] = decay
        x = F @ self.x
        x[:2 * n] += made.held @ (base - by_payload @ made.reference)
        self.x, self.P = x, F @ self.P @ F.T
        self._signature = F @ self._signature
        self.P[:2 * n, :2 * n] += made.Q
        doubt = made.held * (noise.model * (self._acceleration + self._payload_acceleration))
        self.P[:2 * n, :2 * n] += doubt @ doubt.T
        doubt = made.held @ doubted
        self.P[:2 * n, :2 * n] += doubt @ doubt.T
        places = np.arange(self._payload.start, self._payload.stop)
        self.P[places, places] += (noise.mass * self.prior / self.prior[0])**2 * self.period
        grown = 1.0 - decay**2
        for part, deviation in ((self._biases, noise.effort_bias),
                                (self._zeros, noise.strain_bias)):
            places = np.arange(part.start, part.stop)
            self.P[places, places] += grown * deviation**2
        self._read()
        # Without what the payload differs by: fed back with a delay, it would grow where the
        # payload is heavier than what the frame moves by itself.
        self._acceleration = base + made.slope_q @ self.q + made.slope_v @ self.v
        self._payload_acceleration = (by_payload @ (self.payload - made.reference)
                                      + made.by_effort @ self.x[self._biases])

    def _by_payload(self) -> tuple[Array, Array]:
        """Accelerations (n, 4) per unit of the payload's parameters, and (n, 6) what errors of its
        force and moment may do.

        The centre is learned from the weight only: the moment in motion is that of the moments of
        inertia, too, which nobody knows, and it counts as noise. The mass is believed to
        `noise.model` of what it does by its acceleration.
        """
        made = self._motion
        at = made.model.frame_motion(self.q, self.v, self.frame)
        moving = at.jacobian @ self._acceleration + at.jacobian_rate @ self.v
        weight, none = -self.model.gravity, np.zeros(3)
        wrench = payload_wrench(at.pose[:3, :3], weight, none, none)
        wrench[:3, 0] -= moving[:3]
        reach = float(self.prior[1] / self.prior[0])
        mass = min(abs(self.payload[0]) + np.sqrt(self.covariance[0, 0]), 2.0 * self.prior[0])
        lift, turning = np.linalg.norm(moving[:3]), np.linalg.norm(moving[3:])
        force = mass * (self.noise.model * lift + reach * turning)
        moment = mass * reach * (lift + reach * turning)
        by_wrench = made.inverse @ at.jacobian.T
        return by_wrench @ wrench, by_wrench * np.repeat((force, moment), 3)

    def _innovation(self, position: Array | None, velocity: Array | None,
                    strain: Array | None) -> tuple[Array, Array, Array]:
        """Of the readings that are there: innovation (m,), rows H (m, size), variances (m,)."""
        n, joints, noise = self.model.n, self.model.n_joints, self.noise
        offs, rows, variances = [np.zeros(0)], [np.zeros((0, self.size))], [np.zeros(0)]
        for given, start, deviation in ((position, 0, noise.joint_position),
                                        (velocity, n, noise.joint_velocity)):
            if given is None:
                continue
            row = np.zeros((joints, self.size))
            row[:, :2 * n] = self._scales[1][start:start + joints]
            offs.append(given - row @ self.x)
            rows.append(row)
            variances.append(np.full(joints, deviation**2))
        if strain is not None and len(self._strains):
            row = np.zeros((len(self._strains), self.size))
            row[:, :2 * n] = self._strains @ self._scales[1][:n]
            row[:, self._zeros] = np.eye(len(self._strains))
            offs.append(strain - row @ self.x)
            rows.append(row)
            variances.append(np.full(len(row), noise.strain**2))
        off = np.concatenate(offs)
        good = np.isfinite(off)
        return off[good], np.vstack(rows)[good], np.concatenate(variances)[good]

    def surprise(self, position: Array | None, velocity: Array | None,
                 strain: Array | None) -> float:
        """Normalised innovation squared of readings, a reading; 1 is as expected."""
        off, H, variance = self._innovation(position, velocity, strain)
        spread = H @ self.P @ H.T + np.diag(variance)
        return float(off @ np.linalg.solve(spread, off)) / max(len(off), 1)

    def correct(self, position: Array | None, velocity: Array | None,
                strain: Array | None) -> None:
        """Take in readings: joints (n_joints,), gauges (n_gauges,); NaN or None: not there."""
        off, H, variance = self._innovation(position, velocity, strain)
        self.nis, self.measured = 0.0, len(off)
        if not len(off):
            return
        cross = self.P @ H.T
        spread = H @ cross + np.diag(variance)
        gain = np.linalg.solve(spread, cross.T).T
        self.nis = float(off @ np.linalg.solve(spread, off))
        seen = H @ self._signature
        self._told = self._told + seen.T @ np.linalg.solve(spread, seen)
        self._score = self._score + seen.T @ np.linalg.solve(spread, off)
        self.x = self.x + gain @ off
        rest = np.eye(self.size) - gain @ H
        self._signature = rest @ self._signature
        P = rest @ self.P @ rest.T + (gain * variance) @ gain.T
        self.P = 0.5 * (P + P.T)
        self._read()
        self._follow()

    def _follow(self) -> None:
        """A new linear model where pose or payload have moved too far from those of the last."""
        joints, made = self.model.n_joints, self._motion
        reference = self._reference()
        moved = np.abs(self.q[:joints] - made.q[:joints]).max(initial=0.0) > POSE_STEP
        loaded = np.abs((reference - made.reference) / self.prior).max() > PAYLOAD_STEP
        if not (moved or loaded):
            return
        model = carrying(self.model, self.frame, reference, self.largest_mass)
        if model is self.model:
            reference = np.zeros(PARAMETERS)
        self._motion, _ = payload_motion(model, self.q[:joints], reference, self.noise,
                                         self.period, self._scales)

    def _reference(self) -> Array:
        """The estimated payload, as a body that can be: at least none, its centre not too far."""
        mass = float(np.clip(self.payload[0], 0.0, 2.0 * self.largest_mass))
        most = mass * 2.0 * self.prior[1:] / self.prior[0]
        return np.array([mass, *np.clip(self.payload[1:], -most, most)])
