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
"""Joint motion, efforts and elastic motion that carry the deflected tip along a path."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from flex_control.design.zero_dynamics import check_joint_outputs
from flex_control.errors import ControlError, refuse_constraints
from flex_control.reference.cartesian_line import RestingPath
from flex_control.reference.cartesian_path import CartesianPath
from flex_control.reference.internal_dynamics import InternalDynamics
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.reference.stable_inversion import invert
from flex_control.trajectories.base import Feedforward, Reference, Trajectory
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.splines import Splines
from flex_dynamics import Model

SHORTEST_STEP, LONGEST_STEP = 1e-4, 0.05      # s
SWEEPS = 2               # of Newton's method in a step


class TipTrajectory(Trajectory):
    """The motion of a robot whose frame follows a path, bent links included (stable inversion).

    Joints, elastic coordinates and efforts are those of the model while the frame is exactly on
    the path. The robot begins to move `preview` before the path does; the frame rests until then.
    `lqr`, `lqg`, `computed_torque`, `pd` and `pid` take all of it as feedforward.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot, with its payload. Expected: clamped shapes, stiff joints, no floating base.
    frame : str
        Link or frame that follows the path.
    path : CartesianPath
        Where it goes: `TipLine`, `TipCircle`, `TipPoses` or one of your own.
    first : array-like, shape (n_joints,)
        Joints near those at the start of the path.
    preview : float, optional
        Longest time (s) before the path in which the robot may move; left out: as long as it
        takes. 0: causal, the frame then misses the path at its start by `tip_error`.
    step : float, optional
        Time (s) between the points of the solution; left out: as the robot and the path ask for.

    Attributes
    ----------
    path_start, path_end : float
        When the frame begins and ends its path, s; `start` and `end` are those of the robot.
    begin : array, shape (n_joints,)
        The joints `first`.
    tip_error : float
        Largest distance (m) of the frame from the path in the model, joints as planned.
    zeros : array
        Zeros (1/s) of the robot at the start of the path, from efforts to the frame's position.

    Examples
    --------
    >>> from flex_control import InverseKinematics, TipLine, TipTrajectory
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> model = Model(load_robot('de_luca_siciliano'))
    >>> tip = InverseKinematics(model, 'link2/tip').pose([0.5, 1.0])[:3, 3]
    >>> line = TipLine(tip, tip + [0.05, 0.0, 0.0], 1.0)
    >>> motion = TipTrajectory(model, 'link2/tip', line, [0.5, 1.0])
    >>> motion.start < 0.0 and motion.tip_error < 1e-4
    True
    """

    def __init__(self, model: Model, frame: str, path: CartesianPath, first: ArrayLike,
                 preview: float | None = None, step: float | None = None) -> None:
        refuse_constraints(model, 'tip trajectory')
        check_joint_outputs(model, 'tip trajectory')
        self._check(preview, step)
        begin = np.array(first, dtype=float)
        if begin.shape != (model.n_joints,) or not np.isfinite(begin).all():
            raise ControlError(f'first: expected {model.n_joints} finite numbers, found {first!r}')
        self.model, self.frame, self.path, self.begin = model, frame, path, begin
        posture = RestingPath(InverseKinematics(model, frame), path, begin)
        inverse = invert(InternalDynamics(model, frame, path, posture), step)
        self.path_start, self.path_end, self.zeros = path.start, path.end, inverse.zeros
        times, q, v, a = inverse.times, inverse.q, inverse.v, inverse.a
        self.preview = inverse.preview
        if preview is not None and preview < inverse.preview:
            self.preview = preview
            late = times >= path.start - preview - (times[1] - times[0])
            times = times[late]
            planned = np.array([one[late, :model.n_joints] for one in (q, v, a)])
            q, v, a = follow(model, Splines(times, *_begun_late(
                planned, posture.samples(times), times, path.start - preview,
                inverse.preview)), times)
        self.start, self.end = float(times[0]), float(times[-1])
        self._motion = Splines(times, q, v, a)
        self._times, self._q = times, q
        self._efforts = np.array([model.inverse_dynamics(*one)[:model.n_joints]
                                  for one in zip(q, v, a)])
        self._rests = tuple(self._resting(posture.sample(time).position)
                            for time in (path.start, path.end))
        self.tip_error = self._tip_error()

    @staticmethod
    def _check(preview: float | None, step: float | None) -> None:
        if step is not None and not SHORTEST_STEP <= step <= LONGEST_STEP:
            raise ControlError(f'step: expected {SHORTEST_STEP:g} to {LONGEST_STEP:g} s, found '
                               f'{step:g}')
        if preview is not None and not 0.0 <= preview < np.inf:
            raise ControlError(f'preview: expected a time of at least 0 s, found {preview}')

    def _resting(self, joints: np.ndarray) -> Reference:
        q, efforts = self.model.statics(joints)
        elastic = q[self.model.n_joints:]
        still = np.zeros_like(elastic)
        return replace(Reference.at_rest(joints), feedforward=Feedforward(
            elastic, still, still, efforts, np.zeros_like(efforts)))

    def sample(self, time: float) -> Reference:
        if time < self.start:
            return self._rests[0]
        if time > self.end:
            return self._rests[1]
        joints = self.model.n_joints
        at = self._motion.sample(time)
        k = min(int(np.searchsorted(self._times, time, side='right')) - 1, len(self._times) - 2)
        rate = ((self._efforts[k + 1] - self._efforts[k])
                / (self._times[k + 1] - self._times[k]))
        position, velocity, acceleration = (at.derivative(order)[joints:] for order in range(3))
        planned = Feedforward(position, velocity, acceleration,
                              self._efforts[k] + (time - self._times[k]) * rate, rate)
        return Reference(*(at.derivative(order)[:joints] for order in range(5)),
                         feedforward=planned)

    def efforts(self) -> np.ndarray:
        """Efforts (k, n_joints), N m or N, at the points of the solution."""
        return self._efforts.copy()

    def times(self) -> np.ndarray:
        """Times (k,) s of the points of the solution."""
        return self._times.copy()

    def coordinates(self) -> np.ndarray:
        """Joints and elastic coordinates (k, n) at the points of the solution."""
        return self._q.copy()

    def _tip_error(self) -> float:
        """What the planned joint motion does to the tip of the model, from rest."""
        q, _, _ = follow(self.model, self, self._times)
        return max(float(np.linalg.norm(self.model.pose(row, self.frame)[:3, 3]
                                        - self.path.sample(time).position))
                   for time, row in zip(self._times, q))


def follow(model: Model, joints: Trajectory,
           times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (k, n) at `times` (k,) s of a robot whose joints are on a trajectory, its links
    bending from rest; by the implicit midpoint rule, K and D within it."""
    count, size = model.n_joints, model.n
    q, v, a = (np.zeros((len(times), size)) for _ in range(3))
    q[0] = model.statics(joints.sample(times[0]).position)[0]
    stiffness = np.asarray(model.stiffness_matrix())[count:, count:]
    damping = np.asarray(model.damping_matrix())[count:, count:]
    still = np.zeros(size - count)
    for k, time in enumerate(times):
        at = joints.sample(time)
        q[k, :count], v[k, :count], a[k, :count] = at.position, at.velocity, at.acceleration
        force = model.inverse_dynamics(q[k], v[k], np.concatenate((at.acceleration, still)))
        a[k, count:] = -np.linalg.solve(model.mass_matrix(q[k])[count:, count:], force[count:])
        if k + 1 == len(times):
            break
        half = 0.5 * (times[k + 1] - time)
        middle = joints.sample(time + half)
        place, speed, rate = (np.concatenate((own, elastic)) for own, elastic in (
            (middle.position, q[k, count:] + half * v[k, count:]),
            (middle.velocity, v[k, count:]), (middle.acceleration, still)))
        matrix = (model.mass_matrix(place)[count:, count:] + half * damping
                  + half**2 * stiffness)
        for _ in range(SWEEPS):
            change = -np.linalg.solve(matrix, model.inverse_dynamics(place, speed, rate)[count:])
            rate[count:] += change
            speed[count:] += half * change
            place[count:] += half**2 * change
        v[k + 1, count:] = v[k, count:] + 2.0 * half * rate[count:]
        q[k + 1, count:] = q[k, count:] + 2.0 * half * speed[count:]
    return q, v, a


def _begun_late(planned: np.ndarray, posture: np.ndarray, times: np.ndarray, start: float,
                rise: float) -> np.ndarray:
    """Position, velocity and acceleration (3, k, n_joints) of joints that are at rest in their
    posture until `start` (s), and as planned from `rise` (s) later on."""
    share = MinimumJerk([0.0], [1.0], rise, start).samples(times)        # (3, k, 1)
    off = planned - posture
    product = np.array([share[0] * off[0], share[1] * off[0] + share[0] * off[1],
                        share[2] * off[0] + 2.0 * share[1] * off[1] + share[0] * off[2]])
    late: np.ndarray = posture + product
    return late
