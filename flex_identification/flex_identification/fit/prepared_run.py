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
"""A stretch of a recording as the fit takes it: efforts, readings, a first guess of the states."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from flex_dynamics import DynamicsError, Model
from flex_dynamics.arrays import Array
from flex_identification.data.channels import INPUTS, split
from flex_identification.data.recording import FEWEST, Recording
from flex_identification.errors import IdentificationError
from flex_identification.prediction.filtered_run import Start, start_of
from flex_identification.prediction.linearized_run import Inputs

HOLDS = ('linear', 'next', 'previous')
SMOOTHED = 0.03       # s, over which positions are smoothed for a first guess


@dataclass
class PreparedRun:
    """readings (N, m) by channels, NaN where there is none; offsets (N, m) s by which they are
    later than their sample; states (N, 2n): the nominal run, which the fit improves."""

    name: str
    inputs: Inputs
    channels: tuple[str, ...]
    readings: Array
    offsets: Array
    states: Array
    start: Start
    guessed: tuple[str, ...]          # joints without an effort

    def part(self, begin: int, end: int) -> PreparedRun:
        """Samples begin to end, with the start known as here."""
        keep = slice(begin, end)
        return PreparedRun(self.name, Inputs(self.inputs.time[keep], self.inputs.effort[keep]),
                           self.channels, self.readings[keep], self.offsets[keep],
                           self.states[keep].copy(), self.start if begin == 0 else Start(
                               self.states[begin], self.start.covariance), self.guessed)


def prepare(model: Model, recording: Recording, hold: str = 'linear') -> list[PreparedRun]:
    """The stretches without gaps of a recording; hold: which effort acts between two samples."""
    joints = list(model.names[:model.n_joints])
    channels = tuple(name for name in recording.channels if split(name)[0] not in INPUTS)
    efforts, commands = recording.of_kind('effort'), recording.of_kind('command')
    found = []
    stretches = recording.segments()
    for number, stretch in enumerate(stretches):
        time = recording.time[stretch]
        readings = np.array([recording.channels[name][stretch] for name in channels]).T
        offsets = np.array([recording.offsets[name][stretch] if name in recording.offsets
                            else np.zeros(len(time)) for name in channels]).T
        effort, guessed = np.zeros((len(time), len(joints))), []
        states = _guess(model, recording, stretch, joints)
        for j, joint in enumerate(joints):
            if joint in efforts:
                effort[:, j] = _between(_filled(efforts[joint][stretch], time), hold)
            elif joint in commands:
                effort[:, j] = _between(_filled(commands[joint][stretch], time), 'previous')
            else:
                guessed.append(joint)
        if guessed:
            effort[:, [joints.index(one) for one in guessed]] = _needed(model, time, states)[
                :, [joints.index(one) for one in guessed]]
        name = recording.name if len(stretches) == 1 else f'{recording.name}, part {number + 1}'
        start = start_of(model, states[0, :model.n],
                         np.abs(states[:, model.n:model.n + model.n_joints]).max(axis=0))
        found.append(PreparedRun(name, Inputs(time - time[0], effort), channels, readings,
                                 np.nan_to_num(offsets), states, start, tuple(guessed)))
    if not found:
        raise IdentificationError(f'{recording.name}: expected a stretch of at least {FEWEST} '
                                  'samples without a gap, found none')
    return found


def _filled(values: Array, time: Array) -> Array:
    """Without NaN: what is missing lies on a line between its neighbours."""
    good = np.isfinite(values)
    if not good.any():
        return np.zeros_like(values)
    filled: Array = np.interp(time, time[good], values[good])
    return filled


def _between(values: Array, hold: str) -> Array:
    """What acts from each sample to the next."""
    after = np.append(values[1:], values[-1])
    return {'previous': values, 'next': after, 'linear': 0.5 * (values + after)}[hold]


def _guess(model: Model, recording: Recording, stretch: slice, joints: list[str]) -> Array:
    """States (N, 2n): joints as measured, links as they hang at rest."""
    time, n = recording.time[stretch], model.n
    states = np.zeros((len(time), 2 * n))
    positions, velocities = recording.of_kind('position'), recording.of_kind('velocity')
    window = min(2 * (max(5, round(SMOOTHED / recording.period)) // 2) + 1,
                 2 * ((len(time) - 1) // 2) + 1)
    for j, joint in enumerate(joints):
        if joint not in positions:
            continue
        position = _filled(positions[joint][stretch], time)
        states[:, j] = savgol_filter(position, window, 3)
        states[:, n + j] = savgol_filter(position, window, 3, deriv=1, delta=recording.period)
        if joint in velocities:
            states[:, n + j] = savgol_filter(_filled(velocities[joint][stretch], time), window, 3)
    try:
        rest, _ = model.statics(states[0, :model.n_joints])
        states[:, model.n_joints:n] = rest[model.n_joints:]
    except DynamicsError:
        pass                       # no equilibrium there: the links as they are drawn
    return states


def _needed(model: Model, time: Array, states: Array) -> Array:
    """Efforts (N, n_joints) that move the joints as they were seen to move."""
    n, joints = model.n, model.n_joints
    a = np.gradient(states[:, n:], time, axis=0)
    inputs, found = model.input_matrix(), np.zeros((len(time), joints))
    for k, state in enumerate(states):
        force = model.inverse_dynamics(state[:n], state[n:], a[k])
        found[k] = inputs.T @ force / np.einsum('ij,ij->j', inputs, inputs)
    return found
