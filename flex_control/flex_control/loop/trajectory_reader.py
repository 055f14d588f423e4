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
"""Trajectory messages to trajectories, or a refusal with the reason and its error code."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flex_control.errors import ControlError
from flex_control.loop.goal_tolerances import (
    INVALID_GOAL,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    Tolerances,
)
from flex_control.trajectories import (
    MotionLimits,
    QuinticSpline,
    Reference,
    SetPoints,
    Splines,
    Trajectory,
)
from flex_control.trajectories.trajectory_points import TrajectoryPoints

LARGEST = 1e9         # of positions, velocities and accelerations, in SI units
NO_LIMIT = -1.0       # in a JointTolerance; zero means the default
REST = 1.19e-7        # rad/s or m/s at the end, as joint_trajectory_controller has it
ALREADY_THERE = 0.01  # rad or m from the reference: MoveIt's allowed_start_tolerance
AHEAD = 3600.0        # s after now at which a motion may begin
SLACK = 0.02          # of a rate's limit, for the interpolation between a planner's points
RANGE = 1e-4          # rad or m beyond a joint's range, for the same; its drive stays inside
CLOCKS = ('a stamp of zero means now; does the sender use the clock of this node (use_sim_time '
          'where a simulator runs)?')


class GoalError(ControlError):
    """A motion that is refused; `code` is that of control_msgs/action/FollowJointTrajectory."""

    def __init__(self, text: str, code: int = INVALID_GOAL) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads trajectory_msgs/JointTrajectory for the joints `names`.

    interpolation: `splines` as joint_trajectory_controller has them, `minimum_jerk` through the
    positions alone, or `none`, each point a set-point from its time on. partial: a message may
    name some joints; the others stay. stretch: a motion beyond the limits takes more time; else
    it is refused. slack: share of a rate's limit by which the interpolation may exceed it.
    followers: leaders by the joints that follow them (<mimic>), which no motion may name.
    commanded: the joints that motions may name, where constraints move the others; empty: all.
    """

    names: tuple[str, ...]
    limits: MotionLimits
    interpolation: str = 'splines'
    partial: bool = False
    stretch: bool = False
    slack: float = SLACK
    followers: Mapping[str, str] = field(default_factory=dict)
    commanded: tuple[str, ...] = ()

    def read(self, message: Any, now: float, present: Reference) -> Trajectory:
        """The motion that a message, or TrajectoryPoints, ask for; GoalError if it is refused.

        now (s) is the time of the last state, present the reference at it. The motion begins
        there: points that are not after `now` are left out, unless all are set-points.
        """
        try:
            points = (message if isinstance(message, TrajectoryPoints)
                      else TrajectoryPoints.of(message))
            return self._read(points, now, present)
        except GoalError:
            raise
        except ControlError as error:
            raise GoalError(str(error)) from None

    def _read(self, points: TrajectoryPoints, now: float, present: Reference) -> Trajectory:
        places = self._places(points.names)
        times = self._times(points, now)
        still = np.zeros(len(self.names))
        positions = _values(points, 'positions', places, present.position)
        velocities = _values(points, 'velocities', places, still)
        accelerations = _values(points, 'accelerations', places, still)
        if positions is None:
            raise GoalError('positions: expected one number a joint in every point, found none')
        if points.effort is not None:
            raise GoalError('effort: expected none, as the controller computes the efforts')
        if velocities is not None:
            if (np.abs(velocities[-1]) > REST).any():
                raise GoalError('velocities: expected zero in the last point (at most '
                                f'{REST:g}), found {velocities[-1][places]}')
            velocities[-1] = 0.0
        left = times > now
        # Where the arm was does not matter: planners repeat a measured position as first point.
        wanted = positions[left] if left.any() else positions[-1:]
        steps = self.interpolation == 'none'
        if not left.any() and not steps and self._already_there(positions[-1], present):
            return SetPoints([now], [present.position])
        begin = self._measured(positions[~left])
        self.limits.check_range(wanted[-1:, places], places, RANGE)
        self._with(begin).check_range(wanted[:, places], places, RANGE)
        if steps:
            return SetPoints(times, positions)
        if not left.any():
            return self._step(now, positions[-1], present)
        through = np.vstack((present.position, positions[left]))
        rates = [None if values is None else np.vstack((begin, values[left]))
                 for values, begin in ((velocities, present.velocity),
                                       (accelerations, present.acceleration))]
        times = np.insert(times[left], 0, now)
        trajectory: Trajectory
        if self.interpolation == 'minimum_jerk':
            trajectory = QuinticSpline(times, through, present)
        else:
            trajectory = Splines(times, through, *rates)
        limits = self._with(np.vstack((present.position, begin)))    # there is a way back inside
        stated = rates[1] if isinstance(trajectory, Splines) else None
        if self.stretch:
            return limits.stretched(trajectory, self.slack, stated, RANGE)
        limits.check(trajectory, self.slack, stated, RANGE)
        return trajectory

    def _measured(self, begin: np.ndarray) -> np.ndarray:
        """The points (k, n_joints) with which a motion begins, which are measured, with noise: at
        most ALREADY_THERE outside the limits."""
        limits = self.limits
        inside: np.ndarray = np.clip(begin, limits.lower - ALREADY_THERE,
                                     limits.upper + ALREADY_THERE)
        return inside

    def _with(self, positions: np.ndarray) -> MotionLimits:
        """Limits with these positions (k, n_joints) inside."""
        limits = self.limits
        return replace(limits, lower=np.vstack((limits.lower, positions)).min(axis=0),
                       upper=np.vstack((limits.upper, positions)).max(axis=0))

    @staticmethod
    def _already_there(position: np.ndarray, present: Reference) -> bool:
        """Whether a motion that is to be at its end now leads nowhere. Planners send one if the
        goal is where the arm is; measured positions differ a little from the reference, which
        then stays."""
        return bool((np.abs(position - present.position) <= ALREADY_THERE).all()
                    and (np.abs(present.velocity) <= REST).all())

    def _step(self, now: float, position: np.ndarray, present: Reference) -> Trajectory:
        """A motion that is to be at its end now."""
        far = (position != present.position) & np.isfinite(self.limits.velocity)
        if far.any():
            name = self.names[int(np.flatnonzero(far)[0])]
            raise GoalError(f'{name}: expected a point after now, as its velocity has a limit, '
                            'found one with no time to get there')
        return SetPoints([now], [position])

    def _places(self, given: Sequence[str]) -> list[int]:
        unknown = [name for name in given if name not in self.names]
        if unknown and unknown[0] in self.followers:
            raise GoalError(f'joint_names: {unknown[0]!r} follows '
                            f'{self.followers[unknown[0]]!r} (<mimic>) and has no drive: name '
                            'that one only', INVALID_JOINTS)
        commanded = self.commanded or self.names
        led = [name for name in given if name not in commanded and name in self.names]
        if led:
            raise GoalError(f'joint_names: {led[0]!r} is moved by the constraints of the robot: '
                            f'name {", ".join(commanded)} only', INVALID_JOINTS)
        if unknown or not given:
            found = repr(unknown[0]) if unknown else 'none'
            raise GoalError(f'joint_names: expected some of {", ".join(commanded)}, found '
                            f'{found}', INVALID_JOINTS)
        if len(set(given)) != len(given):
            raise GoalError('joint_names: a joint is named twice', INVALID_JOINTS)
        missing = [name for name in commanded if name not in given]
        if missing and not self.partial:
            raise GoalError(f'joint_names: expected all {len(commanded)} joints, as '
                            f'allow_partial_joints_goal is not set, but {missing[0]!r} is missing',
                            INVALID_JOINTS)
        return [self.names.index(name) for name in given]

    def _times(self, points: TrajectoryPoints, now: float) -> np.ndarray:
        if not len(points):
            raise GoalError('points: expected at least one, found none')
        stamp, steps = points.stamp, points.steps
        if steps[0] < 0.0:
            raise GoalError(f'time_from_start: expected at least 0, found {steps[0]:g} s')
        if (np.diff(steps) <= 0.0).any():
            at = int(np.flatnonzero(np.diff(steps) <= 0.0)[0])
            raise GoalError(f'time_from_start: expected to rise, found {steps[at + 1]:g} s in '
                            f'point {at + 2} after {steps[at]:g} s')
        check_stamp(points, now)
        return (stamp or now) + steps


def check_stamp(points: TrajectoryPoints, now: float) -> None:
    """GoalError if the stamp cannot be meant: all is past at `now` (s), or far ahead."""
    stamp = points.stamp
    last = stamp + points.steps[-1] if len(points) else stamp
    if stamp and last < now:
        raise GoalError(f'header.stamp: the last point is at {last:.10g} s, before the present, '
                        f'{now:.10g} s; {CLOCKS}', OLD_HEADER_TIMESTAMP)
    if stamp > now + AHEAD:
        raise GoalError(f'header.stamp: expected at most {AHEAD:g} s after the present, '
                        f'{now:.10g} s, found {stamp:.10g} s; {CLOCKS}')


def read_tolerances(goal: Any, names: Sequence[str], defaults: Tolerances) -> Tolerances:
    """The tolerances of a FollowJointTrajectory goal; GoalError if one cannot be."""
    if goal.component_path_tolerance or goal.component_goal_tolerance or len(
            goal.multi_dof_trajectory.joint_names):
        raise GoalError('multi-dof trajectories and tolerances: expected none, as all joints here '
                        'have one degree of freedom')
    fields = {}
    for kind, given in (('path', goal.path_tolerance), ('goal', goal.goal_tolerance)):
        for what in ('position', 'velocity'):
            values = np.array(getattr(defaults, f'{kind}_{what}'))
            for one in given:
                at = _place(one.name, names, kind)
                values[at] = _tolerance(getattr(one, what), values[at], one.name, kind)
            fields[f'{kind}_{what}'] = values
    allowed = goal.goal_time_tolerance.sec + 1e-9 * goal.goal_time_tolerance.nanosec
    if allowed < 0.0 and allowed != NO_LIMIT:
        raise GoalError(f'goal_time_tolerance: expected at least 0 s, or -1 for no limit, found '
                        f'{allowed:g}')
    goal_time = defaults.goal_time if allowed == 0.0 else max(allowed, 0.0)
    return Tolerances(**fields, goal_time=goal_time)


def _place(name: str, names: Sequence[str], kind: str) -> int:
    if name not in names:
        raise GoalError(f'{kind}_tolerance: expected some of {", ".join(names)}, found {name!r}',
                        INVALID_JOINTS)
    return list(names).index(name)


def _tolerance(given: float, default: float, name: str, kind: str) -> float:
    if not (given >= 0.0 or given == NO_LIMIT):
        raise GoalError(f'{kind}_tolerance of {name}: expected a positive number, 0 for the '
                        f'default or -1 for no limit, found {given:g}')
    return np.inf if given == NO_LIMIT else given or default


def _values(points: TrajectoryPoints, what: str, places: list[int],
            others: np.ndarray) -> np.ndarray | None:
    """One row a point, with `others` for joints that are not named; None if no point has it."""
    rows: np.ndarray | None = getattr(points, what)
    if rows is None:
        return None
    if rows.shape[1] != len(places):
        raise GoalError(f'point 1, {what}: expected {len(places)} numbers, one a joint, found '
                        f'{rows.shape[1]}')
    good = (np.abs(rows) <= LARGEST).all(axis=1)
    if not good.all():
        raise GoalError(f'point {int(np.argmin(good)) + 1}, {what}: expected finite numbers of at '
                        f'most {LARGEST:g}')
    values = np.tile(others, (len(rows), 1))
    values[:, places] = rows
    return values
