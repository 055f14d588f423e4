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
"""Kinematics of a platform on wheels, from the Jacobian of its constraints.

A twist is (3,): speed ahead and to the left (m/s) and turning rate (rad/s) of the base link, in
its own axes. No wheel arrangement is assumed: rows of rolling wheels say which twists are possible
and which wheel speeds go with them. Separation and radius of the wheels are in the model.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description import Joint, Wheel
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model

BASES = ('planar', 'floating')
SMALL = 1e-9          # of singular values: twists that no wheel resists
STANDING = 1e-6       # m/s: below it a steered wheel keeps its angle
UPRIGHT = 0.999       # cosine of the largest angle between z of the base and the ground's normal
TURN_WEIGHT = 1e-3    # of the turning rate beside the speed where a wheel cannot have both


@dataclass(frozen=True)
class WheelCommand:
    """Speeds (rad/s) of driven wheels and angles (rad) of steered ones, by joint, and the twist
    (3,) that they give at the present steering angles."""

    speeds: dict[str, float]
    angles: dict[str, float]
    twist: Array


@dataclass(frozen=True)
class _Steered:
    """A wheel that a motor steers: joint coordinate, wheel's axis and steering axis at angle 0 and
    the wheel's centre, all in the base link's axes, from its origin."""

    at: int
    axis: Array
    about: Array
    centre: Array


def has_mobile_base(model: Model) -> bool:
    """Whether a motor drives a rolling wheel of a robot whose base slides or floats."""
    try:
        MobileBase(model)
    except DynamicsError:
        return False
    return True


class MobileBase:
    """A base that moves on driven wheels.

    wheels: joints of driven rolling wheels; steering: joints with a motor that turn wheels about
    an upright axis. DynamicsError if the model is no platform.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        robot = model.robot
        root = next((joint for joint in robot.joints if joint.type in BASES), None)
        if root is None:
            raise DynamicsError(f'robot {robot.name!r}: expected a planar or floating base for a '
                                'platform, found none')
        self.link, self.root = root.child, root.parent
        above = {joint.child: joint for joint in robot.joints}
        names = list(model.joint_names)
        self._base = [at for at, name in enumerate(names) if name.startswith(f'{root.name}/')]
        self._rows: list[int] = []
        wheels: dict[str, int] = {}
        steering: dict[str, tuple[Joint, Wheel]] = {}
        chassis: set[int] = set()
        for wheel in robot.wheels:
            chain = _moving_chain(wheel.centre.frame, above, root)
            driven = [joint for joint in chain if not joint.passive]
            if wheel.type != 'castor':      # which slides, and may be steered all the same
                chassis.update(names.index(joint.name) for joint in chain)
                self._rows += [row for row, name in enumerate(model.constraint_names)
                               if name.rpartition('/')[0] == wheel.name]
            if wheel.type == 'rolling' and driven and driven[0] is chain[0]:
                wheels[chain[0].name] = names.index(chain[0].name)
                driven = driven[1:]
            for joint in driven:
                steering[joint.name] = (joint, wheel)
        if not wheels:
            raise DynamicsError(f'robot {robot.name!r}: expected a rolling <wheel> on a joint '
                                'with a motor for a platform, found none')
        self.wheels, self.steering = tuple(wheels), tuple(steering)
        self._wheel_places = list(wheels.values())
        self._places = sorted(chassis)
        self._speed_limits = model.joint_limits.velocity[self._wheel_places]
        self._steered = {name: self._steer(names.index(name), joint, wheel.centre.frame,
                                           wheel.axis)
                         for name, (joint, wheel) in steering.items()}
        self._fixed: tuple[Array, Array] | None = None
        up = model.pose(np.zeros(model.n), self.link)[:3, 2]
        normal = robot.wheels[0].normal
        if up @ normal < UPRIGHT:
            raise DynamicsError(f'robot {robot.name!r}: expected z of {self.link!r} along the '
                                f'normal of the ground {normal} for a platform, found {up}')

    def twist(self, q: ArrayLike, rates: ArrayLike) -> Array:
        """Twist (3,) of the base from the rates (n_joints,) of the wheels' joints, as encoders
        measure them, at positions q (n_joints or more): least squares over all wheels."""
        base, wheels = self._rows_at(np.asarray(q, dtype=float))
        rate = np.asarray(rates, dtype=float)[self._places]
        # Rates of joints that no motor turns are not measured; they follow.
        known = self._measured
        unknown = wheels[:, ~known]
        matrix = np.hstack((base, unknown))
        solved: Array = np.linalg.lstsq(matrix, -wheels[:, known] @ rate[known], rcond=SMALL)[0]
        return solved[:3]

    def command(self, twist: ArrayLike, q: ArrayLike) -> WheelCommand:
        """Wheel speeds and steering angles for a twist (3,) at joint positions q.

        A twist that the wheels do not allow (sideways, or a turn on the spot of a car) gives the
        nearest one that they do; speeds beyond a wheel's limit slow the platform down on its path.
        """
        wanted = np.array(twist, dtype=float)
        q = np.asarray(q, dtype=float)
        angles = {name: self._angle(steered, wanted, float(q[steered.at]))
                  for name, steered in self._steered.items()}
        base, wheels = self._rows_at(q)
        possible = self._possible(base, wheels)
        weights = np.array([1.0, 1.0, TURN_WEIGHT])
        c = np.linalg.lstsq(weights[:, None] * possible, weights * wanted, rcond=SMALL)[0]
        feasible = possible @ c
        rates = np.zeros(self._model.n_joints)
        rates[self._places] = np.linalg.lstsq(wheels, -base @ feasible, rcond=SMALL)[0]
        speeds = rates[self._wheel_places]
        most = float(np.max(np.abs(speeds) / self._speed_limits, initial=0.0))
        if most > 1.0:
            speeds, feasible = speeds / most, feasible / most
        return WheelCommand(dict(zip(self.wheels, speeds.tolist(), strict=True)), angles, feasible)

    def true_pose(self, q: ArrayLike) -> Array:
        """x, y (m) and heading (rad) of the base link in the root's frame, (3,)."""
        pose = self._model.pose(q, self.link)
        return np.array([pose[0, 3], pose[1, 3], np.arctan2(pose[1, 0], pose[0, 0])])

    def true_twist(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Twist (3,) of the base link in its own axes at positions q and speeds v (n,)."""
        axes = self._model.pose(q, self.link)[:3, :3]
        speed = self._model.jacobian(q, self.link) @ np.asarray(v, dtype=float)
        return np.array([*(axes.T @ speed[:3])[:2], (axes.T @ speed[3:])[2]])

    @property
    def _measured(self) -> np.ndarray:
        """Which of the wheels' joints (all in `_places`) have a motor, and so an encoder."""
        turned = {*self.wheels, *self.steering}
        return np.array([self._model.joint_names[at] in turned for at in self._places])

    def _rows_at(self, q: Array) -> tuple[Array, Array]:
        """Rows of the wheels per twist (rows, 3) and per rate of their joints (rows, joints).

        They do not depend on where the base is, on the arm, nor on how far wheels have turned.
        """
        if self._fixed is not None:
            return self._fixed
        model, still = self._model, np.zeros(self._model.n)
        for steered in self._steered.values():
            still[steered.at] = q[steered.at]
        for at in self._places:
            if model.joint_names[at] not in self.wheels:
                still[at] = q[at]
        jacobian = model.constraint_jacobian(still)[self._rows]
        axes = model.pose(still, self.link)[:3, :3]
        unit = np.zeros((6, 3))
        unit[:3, :2], unit[3:, 2] = axes[:, :2], axes[:, 2]
        motion = np.linalg.lstsq(model.jacobian(still, self.link)[:, self._base], unit,
                                 rcond=None)[0]
        found = jacobian[:, self._base] @ motion, jacobian[:, self._places]
        if set(self._places) == set(self._wheel_places):       # nothing steers or swivels
            self._fixed = found
        return found

    @staticmethod
    def _possible(base: Array, wheels: Array) -> Array:
        """Basis (3, k) of the twists that some wheel speeds go with."""
        left, sizes, _ = np.linalg.svd(wheels)
        rank = int(np.sum(sizes > SMALL * max(1.0, sizes.max(initial=0.0))))
        resisted = left[:, rank:].T @ base
        _, sizes, rows = np.linalg.svd(resisted)
        rank = int(np.sum(sizes > SMALL * max(1.0, sizes.max(initial=0.0))))
        basis: Array = rows[rank:].T
        return basis

    def _steer(self, at: int, joint: Joint, wheel: str, axis: Array) -> _Steered:
        model, still = self._model, np.zeros(self._model.n)
        base = model.pose(still, self.link)
        turn, centre = model.pose(still, joint.child), model.pose(still, wheel)
        inward = base[:3, :3].T
        return _Steered(at, inward @ centre[:3, :3] @ axis, inward @ turn[:3, :3] @ joint.axis,
                        inward @ (centre[:3, 3] - base[:3, 3]))

    def _angle(self, steered: _Steered, twist: Array, now: float) -> float:
        """Angle at which the wheel's axis is across the speed of its centre, within the limits,
        the one of two nearest to the present angle; the present one where it stands."""
        speed = np.array([twist[0] - twist[2] * steered.centre[1],
                          twist[1] + twist[2] * steered.centre[0], 0.0])
        if np.linalg.norm(speed) < STANDING:
            return now
        across, along = steered.axis @ speed, np.cross(steered.about, steered.axis) @ speed
        angle = float(np.arctan2(-across, along))
        limits = self._model.joint_limits
        lower, upper = float(limits.lower[steered.at]), float(limits.upper[steered.at])
        turns = [angle + k * np.pi for k in range(-2, 3)]
        inside = [one for one in turns if lower <= one <= upper]
        return min(inside or [min(max(one, lower), upper) for one in turns],
                   key=lambda one: abs(one - now))


def _moving_chain(link: str, above: dict[str, Joint], root: Joint) -> list[Joint]:
    """Joints that move, from a link up to the base; the link's own first."""
    chain = []
    link = link.removesuffix('/tip')
    while link in above and above[link] is not root:
        joint = above[link]
        if joint.type != 'fixed':
            chain.append(joint)
        link = joint.parent
    return chain


class WheelOdometry:
    """Pose of a platform by its wheels alone, as a robot computes it from encoders.

    pose (3,): x, y (m) and heading (rad) since the start; twist (3,): of the last period. The arc
    between two readings is exact for a constant twist.
    """

    def __init__(self, base: MobileBase, q: ArrayLike, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        self._base = base
        self.reset(q, pose)

    def reset(self, q: ArrayLike, pose: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Begin at a pose (3,) with joint positions q."""
        self._last = np.array(q, dtype=float)
        self.pose, self.twist = np.array(pose, dtype=float), np.zeros(3)

    def update(self, q: ArrayLike, period: float) -> None:
        """Go on to joint positions q, one period (s) after those before."""
        now = np.array(q, dtype=float)
        moved = self._base.twist(0.5 * (now + self._last), now - self._last)
        self._last, self.twist = now, moved / period
        turn = moved[2]
        # sin(a) / a and (1 - cos(a)) / a
        along = np.sinc(turn / np.pi)
        across = np.sin(0.5 * turn) * np.sinc(0.5 * turn / np.pi)
        x, y = along * moved[0] - across * moved[1], across * moved[0] + along * moved[1]
        c, s = np.cos(self.pose[2]), np.sin(self.pose[2])
        self.pose += (c * x - s * y, s * x + c * y, turn)
