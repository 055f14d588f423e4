"""trajectory_msgs/JointTrajectory to a trajectory of the library, or a refusal with its reason."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flex_control.errors import ControlError
from flex_control.trajectories import Reference, SetPoints, Splines, Trajectory
from flex_description import Robot


def trajectory_from(message: Any, names: Sequence[str], robot: Robot, now: float,
                    present: Reference, interpolation: str) -> Trajectory:
    """The motion that a JointTrajectory message asks for.

    now (s) is the time of the last state, present the reference at it: the motion begins there,
    and joints that the message does not name stay there. interpolation 'splines' or 'none' (each
    point is a set-point from its time on).
    """
    if not message.points:
        return SetPoints([now], [present.position])
    places = _places(message.joint_names, names)
    stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
    begin = stamp or now
    times = np.array([begin + p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                      for p in message.points])
    if times[-1] < now:
        raise ControlError(f'the last point is at {times[-1]:g} s, before the present, {now:g} s')
    positions = _values(message, 'positions', places, present.position)
    _check_limits(positions, names, robot)
    velocities = _values(message, 'velocities', places, np.zeros(len(names)))
    accelerations = _values(message, 'accelerations', places, np.zeros(len(names)))
    if positions is None:
        raise ControlError('positions: expected one number a joint in every point, found none')
    if interpolation == 'none' or (times[0] <= now and len(times) == 1):
        return SetPoints(times, positions)
    if times[0] > now:     # get to the first point from where we are
        times = np.insert(times, 0, now)
        positions = np.vstack((present.position, positions))
        if velocities is not None:
            velocities = np.vstack((present.velocity, velocities))
        if accelerations is not None:
            accelerations = np.vstack((present.acceleration, accelerations))
    return Splines(times, positions, velocities, accelerations)


def _places(given: Sequence[str], names: Sequence[str]) -> list[int]:
    unknown = [name for name in given if name not in names]
    if unknown or not given:
        found = repr(unknown[0]) if unknown else 'none'
        raise ControlError(f'joint_names: expected some of {", ".join(names)}, found {found}')
    if len(set(given)) != len(given):
        raise ControlError('joint_names: a joint is named twice')
    return [list(names).index(name) for name in given]


def _values(message: Any, what: str, places: list[int],
            others: np.ndarray) -> np.ndarray | None:
    """One row a point, with `others` for joints that are not named; None if no point has it."""
    rows = [list(getattr(point, what)) for point in message.points]
    if not any(rows):
        return None
    for at, row in enumerate(rows):
        if len(row) != len(places):
            raise ControlError(f'point {at + 1}, {what}: expected {len(places)} numbers, one a '
                               f'joint, found {len(row)}')
    values = np.tile(others, (len(rows), 1))
    values[:, places] = rows
    if not np.isfinite(values).all():
        raise ControlError(f'{what}: expected finite numbers')
    return values


def _check_limits(positions: np.ndarray | None, names: Sequence[str], robot: Robot) -> None:
    if positions is None:
        return
    limits = {joint.name: joint.limits for joint in robot.joints}
    for column, name in enumerate(names):
        if name not in limits:
            continue
        low, high = limits[name].lower, limits[name].upper
        for value in positions[:, column]:
            if not low <= value <= high:
                raise ControlError(f'{name}: expected {low:g} to {high:g} (its limits), found '
                                   f'{value:g}')
