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
"""The model of the Kalman filter at one pose: motion, process noise and sensors, sampled."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from flex_control.design.lqr_design import (
    elastic_motion,
    joint_motion,
    longest_reach,
    soft_force,
)
from flex_control.design.rank_tests import unobservable
from flex_control.design.rest_model import RestModel
from flex_control.design.sampling import exponential_and_gramian
from flex_control.errors import ControlError
from flex_control.incremental import Pieces
from flex_dynamics import Model, Sensors

ERROR_FORCE = 3e-4         # of the soft force, at the tip, for 1/sqrt(Hz)
PUSH_FORCE = 0.3           # of the soft force
UNTRUSTED_ENERGY = 3.5e-5  # of the work of the soft force: 1e-4 J for the 4-joint arm
UNTRUSTED_DAMPING = 0.3    # ratio that modes above the trusted frequency are taken to have


@dataclass(frozen=True)
class FilterNoise:
    """Standard deviations, by physical meaning. A sensor with 0 is not used.

    Motion: `effort` is the density of errors of joint efforts, one number a joint or one for all
    (default: what a force of 0.0003 `soft_force`/sqrt(Hz) at the tip asks in the longest reach),
    `power` what unknown shaking puts into every mode, `push` (default: 0.3 `soft_force`) and
    `push_time` size and correlation time of forces at the last IMU or, without one, on the last
    link. Above `trusted` the model's modes count as noise with the energy `untrusted` (default:
    3.5e-5 of the work of `soft_force`; with much more, sensors that hardly show a mode at rest
    would be believed to tell all of it, and the filter overshoots where they show it better).
    """

    joint_position: float = 1e-5    # rad or m
    joint_velocity: float = 1e-2    # rad/s or m/s
    strain: float = 1e-6            # m/m
    gyro: float = 2e-3              # rad/s
    acceleration: float = 5e-2      # m/s2
    effort: np.ndarray | float | None = None    # N m / sqrt(Hz)
    power: float = 1e-5             # W
    push: float | None = None       # N
    push_time: float = 2.0          # s
    trusted: float = np.inf         # rad/s
    untrusted: float | None = None  # J


@dataclass(frozen=True)
class FilterModel:
    """Sampled motion of the state (q, v, push), scaled, and the rows of its sensors.

    to_scaled (2 n, 2 n) takes (q, v) to the filter's coordinates, from_scaled back. F, Q:
    (2 n + 3, 2 n + 3). held (2 n, n): what accelerations held over the period add. follow
    (n, n_joints): how all coordinates go with the joints, quasi-statically. slope_q, slope_v
    (n, n): of the accelerations. inverse (n, n): of M. by_effort (n, n_joints), by_push (n, 3).
    rows: name of a reading to its slopes (m, 2 n + 3). allowed (2 n + 3, 2 n + 3): of a robot with
    constraints, takes a state to its part along them; F has no other part.
    """

    rest: RestModel
    period: float
    to_scaled: np.ndarray
    from_scaled: np.ndarray
    F: np.ndarray
    Q: np.ndarray
    held: np.ndarray
    follow: np.ndarray
    slope_q: np.ndarray
    slope_v: np.ndarray
    inverse: np.ndarray
    by_effort: np.ndarray
    by_push: np.ndarray
    rows: dict[str, np.ndarray]
    allowed: np.ndarray | None = None

    def goes_to(self, x: np.ndarray) -> np.ndarray:
        """F x (2 n + 3,), of positions across the constraints, too: they stay."""
        after: np.ndarray = self.F @ x
        if self.allowed is not None:
            n = len(self.rest.q)
            across = self.from_scaled @ (x - self.allowed @ x)[:-3]
            across[n:] = 0.0
            after[:-3] += self.to_scaled @ across
        return after


def pushed_frame(model: Model) -> str:
    """Where pushes are taken to act: at the last IMU, else on the last link."""
    return model.robot.imus[-1].frame if model.robot.imus else model.robot.links[-1].name


def effort_noise(model: Model, noise: FilterNoise) -> np.ndarray:
    """Density (n_joints,) of errors of the joint efforts, N m / sqrt(Hz)."""
    if noise.effort is None:
        return ERROR_FORCE * soft_force(model) * longest_reach(model)
    return np.broadcast_to(np.asarray(noise.effort, dtype=float), model.n_joints)


def push_noise(model: Model, noise: FilterNoise) -> float:
    """Standard deviation (N) of forces on the tip."""
    return PUSH_FORCE * soft_force(model) if noise.push is None else noise.push


def untrusted_energy(model: Model, noise: FilterNoise) -> float:
    """Energy (J) of each mode above the trusted frequency."""
    if noise.untrusted is None:
        return UNTRUSTED_ENERGY * soft_force(model) * 0.01 * float(longest_reach(model).max())
    return noise.untrusted


def scaling(rest: RestModel) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) to scaled coordinates of modes (2 f, 2 n) and back (2 n, 2 f)."""
    n, modes = rest.shapes.shape
    there, back = np.zeros((2 * modes, 2 * n)), np.zeros((2 * n, 2 * modes))
    there[:modes, :n], there[modes:, n:] = (rest.scale[:, None] * rest.projection,
                                            rest.projection)
    back[:n, :modes], back[n:, modes:] = rest.shapes / rest.scale, rest.shapes
    return there, back


def tree_scaling(model: Model, rest: RestModel) -> tuple[np.ndarray, np.ndarray]:
    """`scaling` of all coordinates of a robot with constraints, each (2 n, 2 n): as if it had
    none."""
    squares, shapes = eigh(np.asarray(model.stiffness_matrix()), rest.M)
    return scaling(replace(rest, squares=squares, shapes=shapes))


def filter_model(model: Model, sensors: Sensors, rest: RestModel, noise: FilterNoise,
                 period: float, frame: tuple[np.ndarray, np.ndarray]) -> Pieces[FilterModel]:
    """The filter's model at the pose of `rest`, in pieces.

    frame: `scaling` of one fixed pose, in whose coordinates the covariance lives.
    """
    n, modes = rest.shapes.shape
    to_scaled, from_scaled = frame
    A, B = rest.state_space(modes)
    fast = np.flatnonzero(rest.squares > noise.trusted**2)
    damping = 2.0 * UNTRUSTED_DAMPING * rest.scale[fast]
    A[modes + fast, modes + fast] -= damping
    shaken = (effort_noise(model, noise)**2 * B) @ B.T
    half, size = range(modes, 2 * modes), 3 * modes
    shaken[half, half] += 2.0 * noise.power
    shaken[modes + fast, modes + fast] += 2.0 * damping * untrusted_energy(model, noise)
    system, spread = np.zeros((size, size)), np.zeros((size, size))
    system[:2 * modes, :2 * modes], system[modes:2 * modes, 2 * modes:] = A, np.eye(modes)
    spread[:2 * modes, :2 * modes] = shaken
    yield
    sampled, gramian = yield from exponential_and_gramian(system, spread, period)

    own, back = scaling(rest)
    to_fixed, to_own = to_scaled @ back, own @ from_scaled
    yield
    inverse = rest.shapes @ rest.shapes.T
    place = model.jacobian(rest.q, pushed_frame(model))[:3]
    by_push = inverse @ place.T
    held = to_fixed @ sampled[:2 * modes, 2 * modes:] @ rest.projection
    decay = np.exp(-period / noise.push_time)
    F, Q = np.zeros((2 * n + 3, 2 * n + 3)), np.zeros((2 * n + 3, 2 * n + 3))
    F[:2 * n, :2 * n] = to_fixed @ sampled[:2 * modes, :2 * modes] @ to_own
    F[:2 * n, 2 * n:] = held @ by_push
    F[2 * n:, 2 * n:] = decay * np.eye(3)
    yield
    Q[:2 * n, :2 * n] = to_fixed @ gramian[:2 * modes, :2 * modes] @ to_fixed.T
    Q[2 * n:, 2 * n:] = push_noise(model, noise)**2 * (1.0 - decay**2) * np.eye(3)
    yield
    allowed = None
    if model.robot.constraints:
        allowed = np.eye(2 * n + 3)
        allowed[:2 * n, :2 * n] = to_fixed @ to_own
    slope_q, slope_v = -inverse @ rest.K, -inverse @ rest.D
    if allowed is not None:       # of motions that the constraints allow, as F has them
        along = rest.shapes @ rest.projection
        slope_q, slope_v = slope_q @ along, slope_v @ along
    made = FilterModel(rest, period, to_scaled, from_scaled, F, 0.5 * (Q + Q.T), held,
                       _follow(model, rest), slope_q, slope_v, inverse, inverse @ rest.B, by_push,
                       {}, allowed)
    yield
    rows = _sensor_rows(model, sensors, made)
    yield
    return replace(made, rows=rows)


def _follow(model: Model, rest: RestModel) -> np.ndarray:
    """How all coordinates (n, n_joints) go with the (commanded) joints, quasi-statically."""
    n, joints, K = model.n, model.n_joints, rest.K
    if not model.robot.constraints:
        bends = (-np.linalg.solve(K[joints:, joints:], K[joints:, :joints]) if n > joints
                 else np.zeros((0, joints)))
        return np.vstack((np.eye(joints), bends))
    motion, free = joint_motion(model, rest.q), elastic_motion(model, rest.q)
    if not free.shape[1]:
        return motion
    bent: np.ndarray = motion - free @ np.linalg.solve(free.T @ K @ free, free.T @ K @ motion)
    return bent


def _sensor_rows(model: Model, sensors: Sensors, made: FilterModel) -> dict[str, np.ndarray]:
    """Slopes of all readings at rest, in scaled coordinates."""
    n, joints, q = model.n, model.n_joints, made.rest.q
    position, velocity = np.eye(joints, 2 * n + 3), np.zeros((joints, 2 * n + 3))
    velocity[:, n:n + joints] = np.eye(joints)
    strain = np.zeros((len(sensors.gauge_names), 2 * n + 3))
    strain[:, :n] = sensors.strain_matrix()
    gyros, accelerations = [], []
    for frame in sensors.imu_frames:
        turn = model.pose(q, frame)[:3, :3].T
        jacobian = model.jacobian(q, frame)
        gyro, acceleration = np.zeros((2, 3, 2 * n + 3))
        gyro[:, n:2 * n] = turn @ jacobian[3:]
        lift = -model.gravity
        tilt = np.array([[0.0, -lift[2], lift[1]], [lift[2], 0.0, -lift[0]],
                         [-lift[1], lift[0], 0.0]])
        # R'(a - g) as the section turns: R' [a - g]x d theta
        acceleration[:, :n] = turn @ (jacobian[:3] @ made.slope_q + tilt @ jacobian[3:])
        acceleration[:, n:2 * n] = turn @ jacobian[:3] @ made.slope_v
        acceleration[:, 2 * n:] = turn @ jacobian[:3] @ made.by_push
        gyros.append(gyro)
        accelerations.append(acceleration)
    none = np.zeros((0, 2 * n + 3))
    rows = {'joint_position': position, 'joint_velocity': velocity, 'strain': strain,
            'gyro': np.vstack([none, *gyros]), 'acceleration': np.vstack([none, *accelerations])}
    for name, row in rows.items():
        rows[name] = row.copy()
        rows[name][:, :2 * n] = row[:, :2 * n] @ made.from_scaled
    return rows


def refuse_unobservable(model: Model, made: FilterModel, noise: FilterNoise) -> None:
    """ControlError that names the coordinate if a motion neither decays nor shows."""
    used = [row / getattr(noise, name) for name, row in made.rows.items()
            if getattr(noise, name) > 0.0]
    n = model.n
    H = np.vstack([np.zeros((0, 2 * n + 3)), *used])
    lost = unobservable(made.F, H)
    if lost is None:
        return
    there = np.abs(made.from_scaled @ lost[:2 * n])[:n]
    # By inertia: a joint that turns freely has no stiffness, and at rest no speed.
    name = model.names[int(np.argmax(np.diag(made.rest.M) * there**2))]
    sensors = ', '.join(key for key, row in made.rows.items()
                        if getattr(noise, key) > 0.0 and len(row)) or 'none'
    raise ControlError(f'{name} does not show in any sensor (used: {sensors}) and does not come '
                       'to rest by itself: it can not be estimated; use encoders, or put a '
                       'gauge or an IMU where it moves')
