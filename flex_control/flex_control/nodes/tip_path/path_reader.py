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
"""A path as a message, read and checked."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from flex_control import ControlError
from flex_control.loop.tip_planning import CIRCLE, LINE, POSES, TipRequest
from flex_description.math import rotation_from_quaternion
from flex_dynamics import Model
from flex_msgs.msg import TipPath
from flex_ros.message_fields import nanoseconds

KINDS = {TipPath.LINE: LINE, TipPath.CIRCLE: CIRCLE, TipPath.POSES: POSES}
TOOL = 'tool'          # the frame, if none is named
MOST_POSES = 1000
LARGEST = 1e6          # m, rad, s
UNIT = 1e-3            # by which the length of a quaternion may differ from one


def read_path(message: TipPath, model: Model, joints: np.ndarray) -> TipRequest:
    """The request of a message for a robot that rests at joints (n_joints,); ControlError if it
    cannot be read."""
    if message.kind not in KINDS:
        raise ControlError(f'kind: expected {TipPath.LINE} (line), {TipPath.CIRCLE} (circle) or '
                           f'{TipPath.POSES} (poses), found {message.kind}')
    if len(message.poses) > MOST_POSES or len(message.times) > MOST_POSES:
        raise ControlError(f'poses and times: expected at most {MOST_POSES}, found '
                           f'{max(len(message.poses), len(message.times))}')
    frame = message.frame or TOOL
    known = [*(link.name for link in model.robot.links),
             *(one.name for one in model.robot.frames)]
    for what, name in (('frame', frame), ('header.frame_id', message.header.frame_id)):
        if name and name not in known:
            raise ControlError(f'{what}: expected one of {", ".join(known)}, found {name!r}')
    numbers = {what: _number(getattr(message, what), what)
               for what in ('angle', 'duration', 'speed', 'strain_limit')}
    for what in ('duration', 'speed', 'strain_limit'):
        if numbers[what] < 0.0:
            raise ControlError(f'{what}: expected at least 0, found {numbers[what]:g}')
    preview = _number(message.preview, 'preview')
    times = np.array([1e-9 * nanoseconds(at) for at in message.times])
    if (np.diff(times, prepend=-1.0 if times.size else 0.0) <= 0.0).any():
        raise ControlError(f'times: expected to rise from 0 or more, found {times.tolist()}')
    turned = message.keep_orientation and message.kind == TipPath.POSES
    return TipRequest(
        KINDS[message.kind], frame, joints, message.header.frame_id, message.relative,
        np.array([_vector(at.position, 'poses') for at in message.poses]).reshape(-1, 3),
        np.array([_rotation(at.orientation) for at in message.poses] if turned else
                 np.zeros((len(message.poses), 3, 3))).reshape(-1, 3, 3), times,
        _vector(message.centre, 'centre'), _vector(message.normal, 'normal'),
        orientation=message.keep_orientation,
        preview=None if preview < 0.0 else preview, **numbers)


def _number(value: float, what: str) -> float:
    if not (math.isfinite(value) and abs(value) <= LARGEST):
        raise ControlError(f'{what}: expected a number up to {LARGEST:g}, found {value}')
    return float(value)


def _vector(at: Any, what: str) -> np.ndarray:
    return np.array([_number(one, what) for one in (at.x, at.y, at.z)])


def _rotation(at: Any) -> np.ndarray:
    quaternion = np.array([at.x, at.y, at.z, at.w])
    if not abs(np.linalg.norm(quaternion) - 1.0) <= UNIT:
        raise ControlError('poses: expected unit quaternions, found '
                           f'{np.round(quaternion, 6).tolist()}')
    rotation: np.ndarray = rotation_from_quaternion(quaternion / np.linalg.norm(quaternion))
    return rotation
