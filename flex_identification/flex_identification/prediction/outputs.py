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
"""What sensors read at the states of a run, and the derivatives of that."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flex_dynamics import Model, ParameterDerivatives, Sensors
from flex_dynamics.arrays import Array
from flex_identification.data.channels import AXES, split
from flex_identification.errors import IdentificationError

INERTIAL = ('gyro', 'acceleration')


class Readings(NamedTuple):
    """Readings (N, m) and their derivatives by the state (q, v), (N, m, 2n), and by the
    parameters of the model, (N, m, k)."""

    values: Array
    by_state: Array
    by_parameters: Array


class Outputs:
    """The sensors of some channels of a robot, true readings: no gain, bias or delay.

    Parameters
    ----------
    model : Model
    channels : sequence of str
        As data/channels.py names them: position, velocity, strain, gyro, acceleration, tip.
    """

    def __init__(self, model: Model, channels: Sequence[str]) -> None:
        self.channels = tuple(channels)
        self._model, self._sensors = model, Sensors(model)
        n, names = model.n, list(model.names)
        self._rows = np.zeros((len(self.channels), 2 * n))
        self._frames: dict[str, list[tuple[int, str, int]]] = {}
        for i, channel in enumerate(self.channels):
            kind, target, axis = split(channel)
            if kind in ('position', 'velocity'):
                self._rows[i, names.index(target) + (n if kind == 'velocity' else 0)] = 1.0
            elif kind == 'strain':
                gauge = self._sensors.gauge_names.index(target)
                self._rows[i, :n] = self._sensors.strain_matrix()[gauge]
            elif kind in INERTIAL or kind == 'tip':
                frame = target
                if kind in INERTIAL:
                    frame = self._sensors.imu_frames[self._sensors.imu_names.index(target)]
                self._frames.setdefault(frame, []).append((i, kind, AXES.index(axis)))
            else:
                raise IdentificationError(f'{channel}: expected a reading, found what acts on the '
                                          'robot')

    @property
    def accelerates(self) -> bool:
        """Whether a reading depends on accelerations."""
        return any(kind == 'acceleration' for rows in self._frames.values()
                   for _, kind, _ in rows)

    def along(self, q: Array, v: Array, tau: Array,
              parameters: ParameterDerivatives | None = None) -> Readings:
        """At states q, v (N, n) under joint efforts tau (N, n_joints), which accelerometers feel.
        """
        model, n, N = self._model, self._model.n, len(q)
        k = 0 if parameters is None else len(parameters.paths)
        values = np.hstack((q, v)) @ self._rows.T
        by_state = np.broadcast_to(self._rows, (N, *self._rows.shape)).copy()
        by_parameters = np.zeros((N, len(self._rows), k))
        if not self._frames:
            return Readings(values, by_state, by_parameters)
        data = model.create_data()
        a, slopes, by_p = np.zeros((N, n)), np.zeros((N, n, 2 * n)), np.zeros((N, n, k))
        if self.accelerates:
            for at in range(N):
                a[at] = model.forward_dynamics(q[at], v[at], tau[at], data=data)
                by_q, by_v, _ = model.forward_dynamics_derivatives(q[at], v[at], tau[at],
                                                                   data=data)
                slopes[at, :, :n], slopes[at, :, n:] = by_q, by_v
            if parameters is not None:
                mass = np.array([model.mass_matrix(one, data) for one in q])
                by_p = -np.linalg.solve(mass, parameters.inverse_dynamics_along(q, v, a))
        gravity = np.asarray(model.gravity)
        for frame, rows in self._frames.items():
            kinds = {kind for _, kind, _ in rows}
            for at in range(N):
                pose, jacobian, rate = model.frame_motion(q[at], v[at], frame, data=data)
                R = pose[:3, :3]
                found: dict[str, tuple[Array, Array, Array]] = {}
                if 'tip' in kinds:
                    by = np.zeros((3, 2 * n))
                    by[:, :n] = jacobian[:3]
                    found['tip'] = pose[:3, 3], by, np.zeros((3, k))
                if kinds & set(INERTIAL):
                    turn = model.jacobian_derivative(q[at], frame, data=data)
                if 'gyro' in kinds:
                    u, by = jacobian[3:] @ v[at], np.zeros((3, 2 * n))
                    by[:, :n] = np.einsum('imj,m->ij', turn[3:], v[at])
                    by[:, :n] -= np.cross(jacobian[3:].T, u).T
                    by[:, n:] = jacobian[3:]
                    found['gyro'] = R.T @ u, R.T @ by, np.zeros((3, k))
                if 'acceleration' in kinds:
                    # The change of J_rate v by q is left out: of second order in the speeds.
                    u = jacobian[:3] @ a[at] + rate[:3] @ v[at] - gravity
                    by = jacobian[:3] @ slopes[at]
                    by[:, :n] += np.einsum('imj,m->ij', turn[:3], a[at])
                    by[:, :n] -= np.cross(jacobian[3:].T, u).T
                    by[:, n:] += 2.0 * rate[:3]
                    more = jacobian[:3] @ by_p[at]
                    for column, path in enumerate(() if parameters is None else parameters.paths):
                        if path.startswith('gravity.'):
                            more[AXES.index(path[-1]), column] -= 1.0
                    found['acceleration'] = R.T @ u, R.T @ by, R.T @ more
                for i, kind, axis in rows:
                    value, slope, by_parameter = found[kind]
                    values[at, i], by_state[at, i] = value[axis], slope[axis]
                    by_parameters[at, i] = by_parameter[axis]
        return Readings(values, by_state, by_parameters)
