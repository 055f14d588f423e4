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
"""Internal dynamics: the elastic motion of a robot whose frame is held on its path."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_control.reference.cartesian_path import CartesianPath, FrameTarget
from flex_control.trajectories.base import Trajectory
from flex_dynamics import Model
from flex_dynamics.papers import vector_parameters

MOST_STEPS = 20          # of Newton's method for the joints
CLOSE = 1e-12            # m or rad, of the frame
GOOD = 1e-9              # the same, where rounding ends the search before
PLANE = 1e-6             # share of the largest: directions that joints do not move
SINGULAR = 1e8           # condition of the joints' part of the output
DIFFERENCE = 1e-6        # of amplitudes (m or rad), and of their speeds times the time constant


class InternalDynamics:
    """x' = f(t, x) for x = (elastic positions, speeds), while joint efforts keep y(q) = y_d(t).

    Output y is the position of the frame, in a plane for robots that move it in a plane only, and
    its orientation where the path has one. With more joints than outputs, the others follow
    `posture`: N (q_joints - posture(t)) = 0, N the null space of the output in the middle of the
    path. Of the equations of motion only the rows that no effort acts on remain: with
    J a = y_d'' - dJ/dt v they determine all accelerations.
    """

    def __init__(self, model: Model, frame: str, path: CartesianPath,
                 posture: Trajectory) -> None:
        self.model, self.frame, self.path, self.posture = model, frame, path, posture
        self.joints, self.elastic = model.n_joints, model.n - model.n_joints
        slopes = [model.jacobian(model.statics(posture.sample(time).position)[0], frame)
                  for time in np.linspace(path.start, path.end, 5)]
        self._axes = _directions([slope[:path.rows, :self.joints] for slope in slopes])
        rows = len(self._axes)
        if rows > self.joints:
            raise ControlError(f'{frame}: expected at least {rows} joints for the {rows} '
                               f'directions in which it moves on the path, found {self.joints}')
        middle = self._axes @ slopes[2][:path.rows, :self.joints]
        self._null = np.linalg.svd(middle)[2][rows:]
        if np.linalg.cond(np.vstack((middle, self._null))) > SINGULAR:
            raise ControlError(f'{frame}: expected joints that move it in all {rows} directions '
                               'of the path, found a singular pose in the middle')
        self._still = np.zeros(model.n)
        self._null_rows = np.hstack((self._null, np.zeros((len(self._null), self.elastic))))

    def coordinates(self, time: float, elastic: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """All coordinates (n,) with these elastic ones (m,) and the frame on its path; guess
        (n_joints,): joints to begin with."""
        q = np.concatenate((guess, elastic))
        target, wanted = self.path.sample(time), self.posture.sample(time).position
        for _ in range(MOST_STEPS):
            motion = self.model.frame_motion(q, self._still, self.frame)
            off = np.concatenate((self._axes @ _off(motion.pose, target),
                                  self._null @ (wanted - q[:self.joints])))
            largest = np.abs(off).max()
            if largest < CLOSE:
                return q
            q[:self.joints] += np.linalg.solve(self._output(motion.jacobian)[:, :self.joints], off)
        if not largest < GOOD:
            raise ControlError(f'{self.frame}: at {time:.3f} s no joints hold it on the path')
        return q

    def accelerated(self, time: float, elastic: np.ndarray, speeds: np.ndarray,
                    guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and a (n,) of the whole robot at the internal state elastic, speeds (m,)."""
        model, joints = self.model, self.joints
        q = self.coordinates(time, elastic, guess)
        target, posture = self.path.sample(time), self.posture.sample(time)
        output = self._output(model.jacobian(q, self.frame))
        v = np.concatenate((np.zeros(joints), speeds))
        wanted = np.concatenate((self._axes @ _rates(target), self._null @ posture.velocity))
        v[:joints] = np.linalg.solve(output[:, :joints], wanted - output[:, joints:] @ speeds)
        rate = model.frame_motion(q, v, self.frame).jacobian_rate[:self.path.rows]
        matrix = np.vstack((output, model.mass_matrix(q)[joints:]))
        force = model.inverse_dynamics(q, v, self._still)[joints:]
        a = np.linalg.solve(matrix, np.concatenate((
            self._axes @ (_second_rates(target) - rate @ v),
            self._null @ posture.acceleration, -force)))
        return q, v, a

    def rate(self, time: float, x: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f(t, x) (2 m,), and the joints (n_joints,) there."""
        q, _, a = self.accelerated(time, x[:self.elastic], x[self.elastic:], guess)
        return np.concatenate((x[self.elastic:], a[self.joints:])), q[:self.joints]

    def slope(self, time: float, x: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """df/dx (2 m, 2 m), by central differences."""
        size = self.elastic
        slope = np.zeros((2 * size, 2 * size))
        slope[:size, size:] = np.eye(size)
        steps = np.repeat((DIFFERENCE, 1e2 * DIFFERENCE), size)
        for k, step in enumerate(steps):
            offset = np.zeros(2 * size)
            offset[k] = step
            more, less = (self.rate(time, x + sign * offset, guess)[0] for sign in (1.0, -1.0))
            slope[size:, k] = (more - less)[size:] / (2.0 * step)
        return slope

    def _output(self, jacobian: np.ndarray) -> np.ndarray:
        return np.vstack((self._axes @ jacobian[:self.path.rows], self._null_rows))


def _directions(slopes: list[np.ndarray]) -> np.ndarray:
    """Orthonormal rows: the directions in which joints move the output, (3, 3) in space, (2, 3)
    for robots in a plane; with an orientation all six."""
    rows = len(slopes[0])
    if rows == 6:
        return np.eye(6)
    vectors, sizes, _ = np.linalg.svd(np.hstack(slopes))
    return np.eye(3) if sizes[-1] > PLANE * sizes[0] else vectors[:, sizes > PLANE * sizes[0]].T


def _off(pose: np.ndarray, target: FrameTarget) -> np.ndarray:
    away: np.ndarray = target.position - pose[:3, 3]
    if target.rotation is None:
        return away
    turn = vector_parameters.second_from_rotation(target.rotation @ pose[:3, :3].T)
    return np.concatenate((away, 2.0 * turn))


def _rates(target: FrameTarget) -> np.ndarray:
    return (target.velocity if target.spin is None
            else np.concatenate((target.velocity, target.spin)))


def _second_rates(target: FrameTarget) -> np.ndarray:
    return (target.acceleration if target.spin_rate is None
            else np.concatenate((target.acceleration, target.spin_rate)))
