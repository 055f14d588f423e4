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
"""Inverse kinematics of the deflected robot."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError, refuse_constraints
from flex_control.reference.static_load import StaticLoad
from flex_dynamics import Model
from flex_dynamics.papers import vector_parameters

MOST_STEPS = 100
CLOSE = 1e-9             # m, and rad weighed by `length`
GOOD = 1e-7              # the same, where rounding ends the search before
DAMPING = 1e-6           # of the step, m2: small near singular poses, none far from them
LARGEST_STEP = 0.3       # rad or m


class InverseKinematics:
    """Solves for joints at which a frame is where it is wanted, the links sagging under gravity.

    Newton's method on the equilibrium, damped, so that stretched arms do not run away. Its slope
    has the deflection in it: J_joints + J_elastic d q_elastic / d q_joints. With more joints than
    are needed each step is the smallest, so the result is near the start. length (m): turning by
    one radian counts as that much.
    """

    def __init__(self, model: Model, frame: str, length: float = 0.3) -> None:
        refuse_constraints(model, 'inverse kinematics')
        self._model, self._frame, self._length = model, frame, length
        self._static = StaticLoad(model)
        self._lower, self._upper = model.joint_limits.lower, model.joint_limits.upper

    def pose(self, joints: ArrayLike) -> np.ndarray:
        """Pose (4, 4) of the frame in the world with these joints (n_joints,), at rest."""
        return self._model.pose(self._static.equilibrium(np.asarray(joints, dtype=float))[0],
                                self._frame)

    def solve(self, position: ArrayLike, start: ArrayLike,
              rotation: ArrayLike | None = None) -> np.ndarray:
        """Joints (n_joints,) for a position (3,) m and, if given, a rotation (3, 3) in the world.

        start (n_joints,): where to look from. ControlError if no joints within their limits do.
        """
        position = _finite(position, (3,), 'position')
        joints = _finite(start, (self._model.n_joints,), 'start').copy()
        wanted = None if rotation is None else _finite(rotation, (3, 3), 'rotation')
        error = self._error(joints, position, wanted)
        damping = DAMPING
        for _ in range(MOST_STEPS):
            if np.linalg.norm(error) < CLOSE:
                return joints
            slope = self._slope(joints, wanted)
            free = self._free(joints, slope.T @ error)
            J = slope[:, free]
            step = np.zeros(len(joints))
            step[free] = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(error)), error)
            step *= min(1.0, LARGEST_STEP / max(np.abs(step).max(), 1e-300))
            tried = np.clip(joints + step, self._lower, self._upper)
            left = self._error(tried, position, wanted)
            if np.linalg.norm(left) < np.linalg.norm(error):
                joints, error, damping = tried, left, max(0.1 * damping, 1e-14)
            else:
                damping *= 10.0
                if damping > 1e6:
                    break
        if np.linalg.norm(error) < GOOD:
            return joints
        raise self._out_of_reach(joints, error, position)

    def _error(self, joints: np.ndarray, position: np.ndarray,
               rotation: np.ndarray | None) -> np.ndarray:
        pose = self.pose(joints)
        off: np.ndarray = position - pose[:3, 3]
        if rotation is None:
            return off
        turn = vector_parameters.second_from_rotation(rotation @ pose[:3, :3].T)
        return np.concatenate((off, 2.0 * self._length * turn))

    def _slope(self, joints: np.ndarray, rotation: np.ndarray | None) -> np.ndarray:
        """Of the pose against each joint, at the equilibria that the joints have."""
        model, count = self._model, len(joints)
        q, still = self._static.equilibrium(joints)[0], np.zeros(self._model.n)
        pose, jacobian, _ = model.frame_motion(q, still, self._frame)
        # K q + g - B tau stays zero: what motors and amplitudes do when the joints move.
        force = model.inverse_dynamics_derivatives(q, still, still).by_q
        bent = np.linalg.solve(np.hstack((force[:, count:], -model.input_matrix())),
                               -force[:, :count])[:model.n - count]
        slope: np.ndarray = jacobian[:, :count] + jacobian[:, count:] @ bent
        if rotation is None:
            return slope[:3]
        off = rotation @ pose[:3, :3].T
        turn = vector_parameters.second_from_rotation(off)
        for j in range(count):
            slope[3:, j] = 2.0 * self._length * vector_parameters.second_rate(turn,
                                                                              off @ slope[3:, j])
        return slope

    def _free(self, joints: np.ndarray, wish: np.ndarray) -> np.ndarray:
        """Joints that are not at a limit against which they are pulled."""
        held = ((joints <= self._lower) & (wish < 0.0)) | ((joints >= self._upper) & (wish > 0.0))
        return ~held

    def _out_of_reach(self, joints: np.ndarray, left: np.ndarray,
                      position: np.ndarray) -> ControlError:
        turn = ('' if len(left) == 3 else ' and turned by '
                f'{np.linalg.norm(left[3:]) / self._length:.3g} rad')
        at = [name for name, joint, lower, upper in zip(
            self._model.joint_names, joints, self._lower, self._upper)
            if joint <= lower or joint >= upper]
        limit = f'; at a limit: {", ".join(at)}' if at else ''
        return ControlError(
            f'{self._frame} at {position.round(4).tolist()} m is out of reach: the nearest that '
            f'was found is {np.linalg.norm(left[:3]):.4g} m off{turn}{limit}')


def _finite(value: ArrayLike, shape: tuple[int, ...], name: str) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise ControlError(f'{name}: expected finite numbers of shape {shape}, found {value!r}')
    return array
