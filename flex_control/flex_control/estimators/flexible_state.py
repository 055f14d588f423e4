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
"""Elastic coordinates, speeds and external forces from encoders, strain gauges and IMUs."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from flex_control.design.rest_model import RestModel, rest_model
from flex_control.errors import ControlError, refuse_constraints
from flex_control.estimators.constraint_projection import ConstraintProjection
from flex_control.estimators.filter_model import (
    FilterModel,
    FilterNoise,
    effort_noise,
    filter_model,
    push_noise,
    refuse_unobservable,
    scaling,
    tree_scaling,
    untrusted_energy,
)
from flex_control.estimators.kalman import KalmanFilter
from flex_control.estimators.measurements import Measurements
from flex_control.incremental import Pieces, finish
from flex_control.trajectories.base import Reference
from flex_dynamics import Model, Sensors

MOST_MISSED = 50     # periods without an update that are predicted over; after more it restarts
SILENT = 1e-12       # singular value, relative, of what constraints leave no room for
LARGEST = 1e6        # of scaled coordinates: energies of 1e12 J and forces of 1e6 N
START_ENERGY = 1e-4  # J that every mode may have at the start
START_JOINTS = 1e-2  # rad or m that joints may be off at the start
START_SPEED = 1.0    # rad/s or m/s that joints in motion may be off there


class FlexibleStateFilter:
    """Extended Kalman filter of q, v (n,) and a force `push` (3,) N in world axes at the tip.

    The motion is that of the robot at its estimated joints, moving quasi-statically, and linear
    about that: dx/dt = f(x_b, u) + A (x - x_b), sampled exactly with the effort held. So large
    motions are followed by the equations of motion, and modes of a kilohertz stay what they are.
    A is updated as the pose changes: `model_at` computes a new linear model in pieces, `use` sets
    it. `drive_stiffness` and `drive_damping` (n_joints,) are those of `Controller.set_drives`.

    With constraints A and the covariance are those of the motions that they allow, and the
    estimate is put back on the constraints after each prediction and each correction.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot, with its gauges and IMUs.
    noise : FilterNoise, optional
        Standard deviations of sensors and disturbances.
    period : float
        Time (s) between two updates.

    Examples
    --------
    >>> import numpy as np
    >>> from flex_control import FlexibleStateFilter, Measurements, Reference
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> model = Model(load_robot('lab_link'))
    >>> joints, effort = np.zeros(1), np.zeros(1)
    >>> estimator = FlexibleStateFilter(model, period=1e-3)
    >>> estimator.begin(model.statics(joints)[0])
    >>> estimator.predict(effort, Reference.at_rest(joints), 1e-3)
    >>> estimator.correct(Measurements(joint_position=joints), effort, Reference.at_rest(joints))
    >>> estimator.q.shape == (model.n,)
    True
    """

    def __init__(self, model: Model, noise: FilterNoise | None = None,
                 period: float = 1e-3) -> None:
        if not model.robot.constraints:
            refuse_constraints(model, 'estimator')       # joints without motor in a tree
        self._projection = ConstraintProjection(model) if model.robot.constraints else None
        noise = noise or FilterNoise()
        # defaults that depend on the robot are found once, not at every pose
        self.noise = replace(noise, effort=effort_noise(model, noise),
                             push=push_noise(model, noise),
                             untrusted=untrusted_energy(model, noise))
        self.model, self.period = model, period
        self.sensors, self._still = Sensors(model), np.zeros(model.n)
        self.drive_stiffness = np.zeros(model.n_joints)
        self.drive_damping = np.zeros(model.n_joints)
        self._frame: tuple[np.ndarray, np.ndarray] | None = None
        self._filter: KalmanFilter | None = None
        self.q, self.v, self.push = np.zeros(model.n), np.zeros(model.n), np.zeros(3)
        self._speed = np.zeros(model.n_joints)       # of the joints, at the last update
        #: all readings are taken to be as expected: for the gains, which do not depend on them
        self.rehearses = False

    def reset(self) -> None:
        """Forget everything but the noise; `begin` starts anew."""
        self._filter, self._frame = None, None

    @property
    def begun(self) -> bool:
        return self._filter is not None

    # Linear models --------------------------------------------------------------------------

    def model_at(self, rest: RestModel) -> Pieces[FilterModel]:
        """The filter's model at the pose of `rest`, in pieces."""
        if self._frame is None:
            self._frame = (scaling(rest) if self._projection is None
                           else tree_scaling(self.model, rest))
        return filter_model(self.model, self.sensors, rest, self.noise, self.period, self._frame)

    def use(self, made: FilterModel) -> None:
        """Go on with this model."""
        self._made = made
        if self._projection is not None:
            self._projection.begin(made.rest)

    def begin(self, q: np.ndarray, rest: RestModel | None = None, v: np.ndarray | None = None,
              moving: float = 0.0) -> None:
        """Start at the equilibrium q (n,) with the speed v (n,), or at rest; ControlError if a
        motion does not show.

        rest: the linear model there, if it is known already. moving (J): energy that the lowest
        mode may have where the robot may be in motion; higher ones have less, as what bends them
        is the same. Joints may then have any usual speed.
        """
        if rest is None:
            rest = finish(rest_model(self.model, q, self.drive_stiffness, self.drive_damping))
        self.use(finish(self.model_at(rest)))
        refuse_unobservable(self.model, self._made, self.noise)
        n = self.model.n
        spread = np.zeros((2 * n + 3, 2 * n + 3))
        energy = np.full(n, START_ENERGY)
        if moving:
            rates = rest.scale
            lowest = rates[min(self.model.n_joints, len(rates) - 1)]     # before: the joints
            energy[:len(rates)] += moving * np.minimum((lowest / rates)**2, 1.0)
        spread[:2 * n, :2 * n] = np.diag(np.tile(energy, 2))
        there = self._made.to_scaled[:n] @ np.vstack((self._made.follow, 0.0 * self._made.follow))
        spread[:n, :n] += START_JOINTS**2 * there @ there.T
        if moving:
            speeds = self._made.to_scaled[n:] @ np.vstack((0.0 * self._made.follow,
                                                           self._made.follow))
            spread[n:2 * n, n:2 * n] += START_SPEED**2 * speeds @ speeds.T
        spread[2 * n:, 2 * n:] = push_noise(self.model, self.noise)**2 * np.eye(3)
        if self._made.allowed is not None:
            spread = self._made.allowed @ spread @ self._made.allowed.T
        self._filter = KalmanFilter(np.zeros(2 * n + 3), spread)
        self.set_state(q, np.zeros(n) if v is None else v)

    def set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        """Put the estimate elsewhere; the covariance stays."""
        assert self._filter is not None
        self._filter.x[:-3] = self._made.to_scaled @ np.concatenate((q, v))
        self._read()
        self._speed = self.v[:self.model.n_joints]

    # Estimates ------------------------------------------------------------------------------

    @property
    def covariance(self) -> np.ndarray:
        """Of (q, v, push), (2 n + 3, 2 n + 3), SI units."""
        assert self._filter is not None
        back = np.eye(len(self._filter.x))
        back[:-3, :-3] = self._made.from_scaled
        covariance: np.ndarray = back @ self._filter.P @ back.T
        return covariance

    def nees(self, q: np.ndarray, v: np.ndarray, push: np.ndarray) -> float:
        """Normalised estimation error squared against a known truth: chi-square with 2 n + 3
        degrees of freedom (with constraints 2 f + 3) if the filter is consistent."""
        assert self._filter is not None
        truth = np.concatenate((self._made.to_scaled @ np.concatenate((q, v)), push))
        error = truth - self._filter.x
        if self._projection is not None:       # no covariance across the constraints
            return float(error @ np.linalg.pinv(self._filter.P, SILENT, hermitian=True) @ error)
        return float(error @ np.linalg.solve(self._filter.P, error))

    @property
    def nis(self) -> tuple[float, int]:
        """Normalised innovation squared of the last readings, and how many they were."""
        assert self._filter is not None
        return self._filter.nis, self._filter.measured

    def _read(self) -> None:
        assert self._filter is not None
        if not np.abs(self._filter.x).max() < LARGEST:
            raise ControlError('Kalman filter: the estimate has left all bounds: the readings '
                               'contradict the model; check sensors, payload and noise levels, '
                               'and begin anew')
        n = self.model.n
        state = self._made.from_scaled @ self._filter.x[:-3]
        self.q, self.v, self.push = state[:n], state[n:], self._filter.x[-3:]
        if self._projection is not None:
            self.q, self.v = self._projection.apply(self.q, self.v)
            self._filter.x = self._filter.x.copy()
            self._filter.x[:-3] = self._made.to_scaled @ np.concatenate((self.q, self.v))

    # The cycle ------------------------------------------------------------------------------

    def predict(self, effort: np.ndarray, reference: Reference, period: float,
                arrived: Reference | None = None) -> None:
        """Go on by `period` (s) under a held effort (n_joints,), drives about the reference.

        After missed updates the same effort is taken to have acted on, and centrifugal and
        Coriolis forces stay those of the joint speeds at the last update: what light links do
        between readings is not known, and their swinging speeds would feed on these forces.

        arrived: the reference at the end of the period; if both have a feedforward, the
        prediction is linear about that motion.
        """
        assert self._filter is not None
        steps = round(period / self.period)
        if steps > MOST_MISSED:
            raise ControlError(f'Kalman filter: no update for {period:.3g} s, expected one every '
                               f'{self.period:g} s: begin anew')
        if (steps == 1 and arrived is not None and reference.feedforward is not None
                and arrived.feedforward is not None):
            more = effort - 0.5 * (reference.feedforward.effort + arrived.feedforward.effort)
            self._predict_about(more, reference, arrived)
            return
        for _ in range(steps):
            base = self._constant_acceleration(effort, reference, self._speed)
            x = self._made.goes_to(self._filter.x)
            x[:-3] += self._made.held @ base
            self._filter.predict(x, self._made.F, self._made.Q)
            self._read()

    def _predict_about(self, more: np.ndarray, first: Reference, last: Reference) -> None:
        """x(end) = x_r(end) + F (x - x_r) + what efforts `more` (n_joints,) than those of the
        planned motion x_r add; the drives act about its first instant."""
        assert self._filter is not None
        made = self._made
        held = 0.5 * (self.drive_stiffness * (first.position - last.position)
                      + self.drive_damping * (first.velocity - last.velocity))
        before, after = (made.to_scaled @ np.concatenate(_planned(one)[:2])
                         for one in (first, last))
        away = self._filter.x.copy()
        away[:-3] -= before
        x = made.F @ away
        x[:-3] += after + made.held @ (made.by_effort @ (more + held))
        self._filter.predict(x, made.F, made.Q)
        self._read()

    def _constant_acceleration(self, effort: np.ndarray, reference: Reference,
                               speed: np.ndarray) -> np.ndarray:
        """Accelerations (n,) at the quasi-static motion of the joints with that speed
        (n_joints,), less their linear part.

        Forces are those of the equations of motion at that very pose, but they meet the mass
        matrix of the linear model: what balances there must balance here too. The inverse of M
        changes by a multiple of itself within hundredths of a radian where links are light, and
        would turn balanced efforts into accelerations.
        """
        made = self._made
        if reference.feedforward is not None:       # a better motion to be linear about
            q, v, a = _planned(reference)
            more = effort - reference.feedforward.effort
            about: np.ndarray = a + made.by_effort @ more - made.slope_q @ q - made.slope_v @ v
            return about
        q, v = self._quasi_static(speed)
        seen = made.rest.B.T
        total = (effort + self.drive_stiffness * (reference.position - seen @ q)
                 + self.drive_damping * (reference.velocity - seen @ v))
        force = self.model.inverse_dynamics(q, v, self._still)
        acceleration: np.ndarray = (made.by_effort @ total - made.inverse @ force
                                    - made.slope_q @ q - made.slope_v @ v)
        return acceleration

    def _quasi_static(self, speed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q, v (n,) of the quasi-static motion of the estimated joints with a speed (n_joints,).
        """
        made, joints = self._made, self.model.n_joints
        moved = self.q[:joints] - made.rest.q[:joints]
        return made.rest.q + made.follow @ moved, made.follow @ speed

    def balancing_effort(self, pushed: bool = False) -> np.ndarray:
        """Efforts (n_joints,) that leave the joints their speed at the quasi-static motion, for
        a robot whose efforts are not known; pushed: also under the estimated push."""
        made, B = self._made, self._made.rest.B
        motion = self._quasi_static(self.v[:self.model.n_joints])
        force = self.model.inverse_dynamics(*motion, self._still)
        if pushed:
            force = force - made.rest.M @ (made.by_push @ self.push)
        if self._projection is not None:
            shapes = made.rest.shapes
            shared: np.ndarray = np.linalg.lstsq(shapes.T @ B, shapes.T @ force, rcond=SILENT)[0]
            return shared
        # Each column of B has the force on one coordinate, a joint or its motor.
        effort: np.ndarray = B.T @ force / np.einsum('ij,ij->j', B, B)
        return effort

    def correct(self, readings: Measurements, effort: np.ndarray, reference: Reference) -> None:
        """Take in what is there of the readings; effort and reference up to now, for IMUs."""
        assert self._filter is not None
        off, rows, variances = [], [], []
        expected = None
        for name, row in self._made.rows.items():
            given, deviation = getattr(readings, name), getattr(self.noise, name)
            if given is None or deviation <= 0.0 or not len(row):
                continue
            if name in ('gyro', 'acceleration') and expected is None and not self.rehearses:
                expected = self._imu(effort, reference)
            value = np.asarray(given, dtype=float).ravel()
            if value.shape != (len(row),):
                raise ControlError(f'{name}: expected {len(row)} readings, found {value.size}')
            difference = (np.zeros(len(row)) if self.rehearses
                          else value - self._expected(name, expected))
            good = np.isfinite(difference)
            off.append(difference[good])
            rows.append(row[good])
            variances.append(np.full(int(good.sum()), deviation**2))
        if off:
            self._filter.correct(np.concatenate(off), np.vstack(rows), np.concatenate(variances))
            self._read()
        else:
            self._filter.nis, self._filter.measured = 0.0, 0
        self._speed = self.v[:self.model.n_joints]

    @property
    def linear_model(self) -> FilterModel:
        """The linear model of the present pose."""
        return self._made

    def last_gain(self) -> np.ndarray:
        """Gain (2 n + 3, readings) of the last correction, for all readings in the order of
        Measurements; zero for sensors that are not used. All readings were there."""
        assert self._filter is not None
        rows = self._made.rows
        used = [len(row) * [getattr(self.noise, name) > 0.0] for name, row in rows.items()]
        full = np.zeros((len(self._filter.x), sum(map(len, used))))
        full[:, np.concatenate(used).astype(bool)] = self._filter.gain
        return full

    def _expected(self, name: str, imus: dict[str, np.ndarray] | None) -> np.ndarray:
        joints = self.model.n_joints
        if name == 'joint_position':
            return self.q[:joints]
        if name == 'joint_velocity':
            return self.v[:joints]
        if name == 'strain':
            return self.sensors.strain_matrix() @ self.q
        assert imus is not None
        return imus[name]

    def _imu(self, effort: np.ndarray, reference: Reference) -> dict[str, np.ndarray]:
        made = self._made
        a = (self._constant_acceleration(effort, reference, self.v[:self.model.n_joints])
             + made.slope_q @ self.q + made.slope_v @ self.v + made.by_push @ self.push)
        if self._projection is not None:
            a = self._projection.accelerations(self.q, self.v, a)
        readings = self.sensors.imu(self.q, self.v, a)
        return {'gyro': np.concatenate([reading.gyro for reading in readings]),
                'acceleration': np.concatenate([reading.acceleration for reading in readings])}


def _planned(reference: Reference) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (n,) of a reference with a feedforward."""
    elastic = reference.feedforward
    assert elastic is not None
    return (np.concatenate((reference.position, elastic.position)),
            np.concatenate((reference.velocity, elastic.velocity)),
            np.concatenate((reference.acceleration, elastic.acceleration)))
