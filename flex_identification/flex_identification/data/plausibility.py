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
"""Does a recording belong to this robot, and are its units what they should be?"""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model, Sensors
from flex_dynamics.arrays import Array
from flex_dynamics.checks import did_you_mean
from flex_identification.data.channels import INPUTS, RADIANS, split
from flex_identification.data.recording import Recording
from flex_identification.errors import IdentificationError

LARGEST_STRAIN = 0.02       # m/m; beams yield at a tenth of it
BEYOND = 1.2                # times a joint's range
SLIP = 2.0                  # ratio of a measured velocity to the rate of the position
ALIKE = 0.9                 # correlation from which such a ratio means something


def refuse_implausible(recording: Recording, model: Model) -> list[str]:
    """IdentificationError if the recording does not fit the robot; warnings otherwise."""
    warnings: list[str] = []
    sensors = Sensors(model)
    known = {'strain': list(sensors.gauge_names), 'gyro': list(sensors.imu_names),
             'acceleration': list(sensors.imu_names)}
    joints = list(model.names[:model.n_joints])
    frames = [link.name for link in model.robot.links] + [
        frame.name for frame in model.robot.frames]
    for channel in recording.channels:
        kind, target, _ = split(channel)
        names = frames if kind == 'tip' else known.get(kind, joints)
        if target not in names:
            raise IdentificationError(
                f'{recording.name}: {channel}: expected one of {", ".join(names) or "none"} of '
                f'robot {model.robot.name}, found {target!r}{did_you_mean(target, names)}')
    _refuse_missing(recording, joints)
    for joint, values in recording.of_kind('position').items():
        _refuse_degrees(recording, model, joint, values)
    for gauge, values in recording.of_kind('strain').items():
        largest = float(np.nanmax(np.abs(values - np.nanmedian(values))))
        if largest > LARGEST_STRAIN:
            raise IdentificationError(
                f'{recording.name}: strain/{gauge}: expected strains below {LARGEST_STRAIN:g} '
                f'm/m, found {largest:.3g}; if they are in microstrain say so in the mapping '
                '(unit: microstrain)')
    for joint, values in recording.of_kind('velocity').items():
        _refuse_other_rate(recording, joint, values)
    if all(np.nanmax(values) - np.nanmin(values) < 1e-9
           for name, values in recording.channels.items() if split(name)[0] not in INPUTS):
        raise IdentificationError(f'{recording.name}: expected a robot that moves, found '
                                  'readings that do not change: they tell nothing')
    if not recording.segments():
        raise IdentificationError(f'{recording.name}: expected a stretch of at least 20 samples '
                                  'without a gap, found none')
    for joint, values in recording.of_kind('effort').items():
        limit = _limits(model, joint)[2]
        if limit > 0.0 and np.abs(values).max() > 2.0 * limit:
            warnings.append(f'{recording.name}: effort/{joint}: up to {np.abs(values).max():.3g}, '
                            f'beyond twice the limit of the robot, {limit:g}; is the unit right?')
    return warnings


def _refuse_missing(recording: Recording, joints: list[str]) -> None:
    positions = recording.of_kind('position')
    inputs = {**recording.of_kind('command'), **recording.of_kind('effort')}
    for kinds, found in (('position', positions), ('effort or command', inputs)):
        missing = [joint for joint in joints if joint not in found]
        if missing:
            raise IdentificationError(
                f'{recording.name}: expected the {kinds} of every joint, found none of '
                f'{", ".join(missing)}')


def _limits(model: Model, name: str) -> tuple[float, float, float]:
    """Position limits (rad or m) and effort limit of a joint; infinite and 0 without."""
    for joint in model.robot.joints:
        if joint.name == name and joint.limits is not None:
            low, high = joint.limits.lower, joint.limits.upper
            if joint.type == 'continuous' or not high > low:
                low, high = -np.inf, np.inf
            effort = joint.limits.effort
            return low, high, effort if effort is not None and np.isfinite(effort) else 0.0
    return -np.inf, np.inf, 0.0


def _refuse_degrees(recording: Recording, model: Model, joint: str, values: Array) -> None:
    low, high, _ = _limits(model, joint)
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    room = (BEYOND - 1.0) * (high - low) if np.isfinite(high - low) else 0.0
    if np.isfinite(high - low) and (least < low - room or most > high + room):
        inside = low <= least * RADIANS and most * RADIANS <= high
        advice = ('; this looks like degrees: say so in the mapping (unit: deg)' if inside
                  else '; is the joint the right one, and its unit rad or m?')
        raise IdentificationError(f'{recording.name}: position/{joint}: expected {low:.4g} to '
                                  f'{high:.4g}, the limits of the joint, found {least:.4g} to '
                                  f'{most:.4g}{advice}')


def _refuse_other_rate(recording: Recording, joint: str, values: Array) -> None:
    """A velocity that is the rate of the position times another factor than one."""
    position = recording.of_kind('position').get(joint)
    if position is None:
        return
    span = max(2, round(0.02 / recording.period))     # quantised positions need a longer base
    rate = (position[2 * span:] - position[:-2 * span]) / (
        recording.time[2 * span:] - recording.time[:-2 * span])
    middle = values[span:-span]
    good = np.isfinite(rate) & np.isfinite(middle)
    if good.sum() < 20 or not rate[good].any() or not middle[good].any():
        return
    product = float(rate[good] @ middle[good])
    alike = product / float(np.linalg.norm(rate[good]) * np.linalg.norm(middle[good]))
    ratio = product / float(rate[good] @ rate[good])
    if abs(alike) > ALIKE and not 1.0 / SLIP < ratio < SLIP:
        advice = ('; is it in deg/s?' if 40.0 < ratio < 80.0 else
                  '; is its sign turned round?' if ratio < 0.0 else '; is its unit right?')
        raise IdentificationError(f'{recording.name}: velocity/{joint}: expected the rate of '
                                  f'position/{joint}, found {ratio:.3g} times it{advice}')
