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
"""Motions along a path of the tip, from a request to a plan within the robot's limits."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flex_control.errors import ControlError
from flex_control.reference.cartesian_path import (
    CartesianPath,
    HeldOrientation,
    TipCircle,
    TipLine,
    TipPoses,
)
from flex_control.reference.fibre_strain import FibreStrain
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.reference.tip_trajectory import TipTrajectory
from flex_control.trajectories import MotionLimits
from flex_dynamics import Model

LINE, CIRCLE, POSES = 'line', 'circle', 'poses'
NEAR = 1e-3                # m from where the frame is: a first pose that is the start itself
STAYS = 1e-6               # rad or m, by which a plan may begin beside the joints as they are
SHORTEST = 1e-3            # s, of a path and between two of its poses
LONGEST = 600.0            # s, of a path


@dataclass(frozen=True)
class TipRequest:
    """A path of a frame, as it is asked for of a robot that rests.

    kind: LINE, CIRCLE or POSES. joints (n_joints,): where the robot rests. base: link or frame in
    which points are given, '' for the world. relative: points are offsets from where the frame
    is. positions (k, 3) m and rotations (k, 3, 3): LINE has one, POSES one or more. times (k,) s
    of POSES, or empty. centre (3,) m, normal (3,), angle (rad): of a CIRCLE. orientation: it is
    held, or that of the poses. duration (s) or speed (m/s on average), 0 for none; preview: as in
    TipTrajectory, None: as long as it takes. strain_limit: m/m, 0 for none.
    """

    kind: str
    frame: str
    joints: np.ndarray
    base: str = ''
    relative: bool = False
    positions: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    rotations: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 3)))
    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    centre: np.ndarray = field(default_factory=lambda: np.zeros(3))
    normal: np.ndarray = field(default_factory=lambda: np.zeros(3))
    angle: float = 0.0
    orientation: bool = False
    duration: float = 0.0
    speed: float = 0.0
    preview: float | None = None
    strain_limit: float = 0.0


@dataclass(frozen=True)
class TipPlan:
    """A motion that keeps all limits: strain, the largest (m/m) at an outer fibre; effort_share,
    the largest effort as a share of the limit of its joint."""

    motion: TipTrajectory
    strain: float
    effort_share: float


def plan_tip_motion(model: Model, request: TipRequest, limits: MotionLimits,
                    slack: float) -> TipPlan:
    """The motion that is asked for; its path begins at time 0.

    slack: share of a limit of speed, acceleration or jerk by which the motion may exceed it.
    ControlError, which says why, if the robot cannot make the motion or is not one for it.
    """
    motion = TipTrajectory(model, request.frame, tip_path(model, request), request.joints,
                           request.preview)
    off = np.abs(motion.sample(motion.start).position - request.joints).max()
    if off > STAYS:
        raise ControlError(f'{request.frame}: expected a motion that begins with the joints as '
                           f'they are, found one {off:.3g} rad or m away')
    limits.check(motion, slack)
    share = _check_efforts(model, motion)
    return TipPlan(motion, _check_strain(model, motion, request.strain_limit), share)


def tip_path(model: Model, request: TipRequest) -> CartesianPath:
    """The path in the world, from time 0 on; ControlError if it is no path."""
    kinematics = InverseKinematics(model, request.frame)
    rests = kinematics.pose(request.joints)
    begin = rests[:3, 3]
    base = np.eye(4)
    if request.base:
        base = InverseKinematics(model, request.base).pose(request.joints)
    origin = begin if request.relative else base[:3, 3]

    def placed(point: np.ndarray) -> np.ndarray:
        found: np.ndarray = origin + base[:3, :3] @ point
        return found

    path: CartesianPath
    if request.kind == LINE:
        if len(request.positions) != 1:
            raise ControlError(f'line: expected one pose, its end, found {len(request.positions)}')
        end = placed(request.positions[0])
        path = TipLine(begin, end, _duration(request, float(np.linalg.norm(end - begin))))
    elif request.kind == CIRCLE:
        centre, angle = placed(request.centre), request.angle or 2.0 * np.pi
        length = abs(angle) * float(np.linalg.norm(begin - centre))
        path = TipCircle(begin, centre, base[:3, :3] @ request.normal,
                         _duration(request, length), angle)
    else:
        return _through_poses(request, rests, np.array([placed(at) for at in request.positions]),
                              base[:3, :3] @ request.rotations)
    return HeldOrientation(path, rests[:3, :3]) if request.orientation else path


def _through_poses(request: TipRequest, rests: np.ndarray, positions: np.ndarray,
                   rotations: np.ndarray) -> TipPoses:
    """The path from the pose `rests` (4, 4) through poses in the world."""
    if not len(positions):
        raise ControlError('poses: expected at least one pose to go to, found none')
    begin, times = rests[:3, 3], request.times
    if times.size and len(times) != len(positions):
        raise ControlError(f'times: expected {len(positions)}, one a pose, or none, found '
                           f'{len(times)}')
    away = float(np.linalg.norm(positions[0] - begin))
    if times.size and times[0] == 0.0 and away > NEAR:
        raise ControlError(f'poses: the first one, at time 0, is {away:.3g} m from where '
                           f'{request.frame} is, expected at most {NEAR:g} m; go there first, or '
                           'give it a later time')
    if away <= NEAR and (len(positions) > 1 if not times.size else times[0] == 0.0):
        positions, rotations, times = positions[1:], rotations[1:], times[1:]
    points = np.vstack((begin, positions))
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not times.size:
        if (lengths == 0.0).any():
            raise ControlError('poses: expected times, as two poses have the same position')
        times = np.cumsum(lengths) * (_duration(request, float(lengths.sum())) / lengths.sum())
    elif request.duration or request.speed:
        raise ControlError('poses: expected times, or a duration, or a speed, found two of them')
    times = np.concatenate(([0.0], times))
    _check_length(times[-1])
    shortest = float(np.diff(times).min())
    if shortest < SHORTEST:
        raise ControlError(f'times: expected at least {SHORTEST:g} s from one pose to the next, '
                           f'found {shortest:g} s')
    turns = np.concatenate((rests[None, :3, :3], rotations)) if request.orientation else None
    return TipPoses(times, points, turns)


def _duration(request: TipRequest, length: float) -> float:
    """s for a path of this length (m)."""
    if length < NEAR:
        raise ControlError(f'path: expected a length of at least {NEAR:g} m, found {length:.3g}')
    if (request.duration > 0.0) == (request.speed > 0.0):
        raise ControlError('path: expected a duration in s or a speed in m/s, one of them, found '
                           f'duration {request.duration:g} and speed {request.speed:g}')
    duration = request.duration or length / request.speed
    _check_length(duration)
    return duration


def _check_length(duration: float) -> None:
    if not SHORTEST <= duration <= LONGEST:
        raise ControlError(f'path: expected it to take {SHORTEST:g} to {LONGEST:g} s, found '
                           f'{duration:g} s')


def _check_efforts(model: Model, motion: TipTrajectory) -> float:
    """The largest effort as a share of its limit; ControlError if it is beyond."""
    most = np.asarray(model.joint_limits.effort)
    largest = np.abs(motion.efforts()).max(axis=0)
    shares = np.divide(largest, most, out=np.where(largest > 0.0, np.inf, 0.0), where=most > 0.0)
    at = int(np.argmax(shares))
    if shares[at] > 1.0:
        raise ControlError(f'{model.joint_names[at]}, effort: expected at most {most[at]:g} (its '
                           f'limit), found {largest[at]:.4g} on the way; allow more time')
    return float(shares[at])


def _check_strain(model: Model, motion: TipTrajectory, limit: float) -> float:
    """The largest strain (m/m); ControlError if it is beyond the limit, 0 for none."""
    fibres = FibreStrain(model)
    if limit and not fibres.links:
        raise ControlError('strain_limit: expected flexible links whose sections have a known '
                           'size, found none')
    largest, where = max((fibres.largest(row) for row in motion.coordinates()),
                         default=(0.0, ''))
    if limit and largest > limit:
        raise ControlError(f'{where}, strain: expected at most {limit:g}, found {largest:.3g} on '
                           'the way; allow more time')
    return largest
