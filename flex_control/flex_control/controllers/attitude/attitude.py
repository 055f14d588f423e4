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
"""Attitude control of a free-flying base by reaction wheels, while its flexible arm moves."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers import controller_class
from flex_control.controllers.attitude.free_flyer import FreeFlyer, free_flyer
from flex_control.controllers.attitude.slew import Attitude as Wanted
from flex_control.controllers.attitude.slew import Slews
from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.design.gains import first_frequency
from flex_control.errors import ControlError
from flex_control.trajectories.base import Reference
from flex_description.math import quaternion_from_rotation, rotation_from_rpy
from flex_dynamics import Model

FASTEST = 1.0            # rad/s, default bandwidth of the attitude
SHARE_OF_FIRST = 0.2     # of the first frequency: a faster attitude loop would shake the arm
SHARE_OF_WHEELS = 0.5    # of their torque and momentum, that a slew uses
SLOWEST = 2.0            # s, that a slew takes at least; and two periods of the first mode
NEAR_HALF_TURN = 0.05    # cosine of half the error's angle, below which its sign is kept


class Attitude(Controller):
    """tau_w from  M_b a + h_b = 0  (the base's six rows, no force from outside) for

        alpha = alpha_r + 2 z w (omega_r - omega) - 2 w^2 d,

    the angular acceleration of the base, with accelerations of the arm's joints as wanted, links
    that do not vibrate, and a base that is free to move. d = c / sqrt(1 + c^2) is the error
    O(c) = O O_r' in the second chart of the vector-parameters (Mladenova (68)), which has
    half-turns, too; (103) and (104) are the motion that it is fed back to. The joints of the arm
    have efforts of another controller, `arm`, for which the base is fixed.
    """

    needs_elastic_state: ClassVar[bool] = True      # with it, the state of the base
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('roll', 0.0, 'wanted attitude of the base in the world: about x', 'rad', -7.0,
                  7.0),
        Parameter('pitch', 0.0, 'then about y', 'rad', -7.0, 7.0),
        Parameter('yaw', 0.0, 'then about z, as in a URDF', 'rad', -7.0, 7.0),
        Parameter('bandwidth', 0.0, 'w of the attitude; 0: 0.2 of the first frequency with locked '
                  'joints, at most 1 rad/s', 'rad/s', 0.0, 100.0),
        Parameter('damping_ratio', 1.0, 'z', '', 0.05, 10.0),
        Parameter('slew_rate', 0.0, 'largest rate of a slew; 0: what half of the momentum and '
                  'torque of the wheels allow', 'rad/s', 0.0, 100.0),
        Parameter('thruster_moment', 0.0, 'largest moment of thrusters about each axis of the '
                  'base, which then turn it instead of wheels; 0: wheels', 'N m', 0.0, 1e6),
        Parameter('wheels', '', 'joints that are reaction wheels, separated by spaces; empty: all '
                  'that can be'),
        Parameter('arm', 'pid', 'controller of the joints of the arm, with its defaults'),
    )

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None = None) -> None:
        self._built: tuple[str, str, bool] | None = None
        self._slews: Slews | None = None
        self.arm: Controller | None = None
        super().__init__(model, parameters)

    def parameters_changed(self) -> None:
        given = self.parameters
        thrusters = given['thruster_moment'] > 0.0
        key = given['wheels'], given['arm'], thrusters
        if key != self._built:
            fly = free_flyer(self.model, given['wheels'].split(), thrusters)
            arm = _arm_controller(fly, given['arm'])
            self._fly, self.arm, self._built = fly, arm, key
            self._efforts = self.model.joint_limits.effort[fly.wheel_places]
            speeds = self.model.joint_limits.velocity[fly.wheel_places]
            inertia = np.diag(self.model.mass_matrix(np.zeros(self.model.n)))[fly.wheel_places]
            self._momentum = inertia * speeds
            self._first = np.inf if fly.arm is None else first_frequency(fly.arm)
            self._d: np.ndarray | None = None
            self.thrust = None
            if hasattr(self, 'drive_damping'):
                self.set_drives(self.drive_stiffness, self.drive_damping)
        self._w = given['bandwidth'] or min(FASTEST, SHARE_OF_FIRST * self._first)
        self._target = rotation_from_rpy(np.array([given['roll'], given['pitch'], given['yaw']]))

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().set_drives(stiffness, damping)
        if self.arm is not None:
            at = self._fly.arm_places
            self.arm.set_drives(self.drive_stiffness[at], self.drive_damping[at])

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        stiffness, damping = np.zeros((2, self.model.n_joints))
        if self.arm is not None:
            at = self._fly.arm_places
            stiffness[at], damping[at] = self.arm.drive_gains()
        return stiffness, damping

    def warning(self) -> str:
        return '' if self.arm is None else self.arm.warning()

    def reset(self) -> None:
        self._slews, self._d, self.thrust = None, None, None
        if self.arm is not None:
            self.arm.reset()

    def ahead(self) -> None:
        if self.arm is not None:
            self.arm.ahead()

    @property
    def slewing(self) -> bool:
        """Whether a slew is under way."""
        return self._slews is not None and self._slews.moving

    # Control law ----------------------------------------------------------------------------

    def update(self, time: float, period: float) -> np.ndarray:
        fly = self._fly
        motion = self.model.frame_motion(self.q, self.v, fly.base)
        R = motion.pose[:3, :3]
        if self._slews is None:
            self._slews = Slews(R)
        if not np.array_equal(self._slews.target, self._target):
            self._slews.turn_to(self._target, time, *self._limits(R))
        wanted = self._slews.at(time)
        alpha = self._acceleration(wanted, R, motion.jacobian[3:] @ self.v)
        efforts = np.zeros(self.model.n_joints)
        if self.arm is not None:
            efforts[fly.arm_places] = self._arm_efforts(time, period)
        turned = motion.jacobian_rate[3:] @ self.v
        most = self.parameters['thruster_moment']
        if most > 0.0:
            moment = R.T @ self._moment(alpha, motion.jacobian[3:], turned)
            self.thrust = fly.base, np.r_[np.zeros(3), np.clip(moment, -most, most)]
        else:
            torque = self._wheel_efforts(alpha, motion.jacobian[3:], turned)
            efforts[fly.wheel_places] = np.clip(torque, -self._efforts, self._efforts)
        return efforts

    def _acceleration(self, wanted: Wanted, R: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Angular acceleration (3,) that the base should have, rad/s2, in the world."""
        *vector, root = quaternion_from_rotation(R @ wanted.rotation.T)
        d = np.array(vector)         # of the second chart; root >= 0 is cos(angle / 2)
        if self._d is not None and d @ self._d < 0.0 and root < NEAR_HALF_TURN:
            d = -d                   # the other way round is no shorter
        self._d = d
        acceleration: np.ndarray = (
            wanted.acceleration - 2.0 * self._w**2 * d
            + 2.0 * self.parameters['damping_ratio'] * self._w * (wanted.rate - omega))
        return acceleration

    def _wheel_efforts(self, alpha: np.ndarray, turns: np.ndarray,
                       turned: np.ndarray) -> np.ndarray:
        """Efforts (k,) of the wheels for the angular acceleration alpha (3,) of the base.

        turns (3, n): angular velocity per speed of the coordinates; turned (3,): its part of the
        angular acceleration that the speeds have.
        """
        fly, model = self._fly, self.model
        M = model.mass_matrix(self.q)
        a = np.zeros(model.n)
        a[fly.base_places[3:]] = np.linalg.solve(turns[:, fly.base_places[3:]], alpha - turned)
        a[fly.arm_places] = self.reference.acceleration[fly.arm_places]
        bias = model.inverse_dynamics(self.q, self.v, np.zeros(model.n))
        free = np.concatenate((fly.base_places[:3], fly.wheel_places))
        left = (M @ a + bias)[fly.base_places]
        a[free] = np.linalg.lstsq(M[np.ix_(fly.base_places, free)], -left, rcond=None)[0]
        torque: np.ndarray = (M @ a + bias)[fly.wheel_places]
        return torque

    def _moment(self, alpha: np.ndarray, turns: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """Moment (3,) on the base, N m in the world, for its angular acceleration alpha (3,), the
        wheels left alone; turns, turned: as above."""
        fly, model = self._fly, self.model
        M = model.mass_matrix(self.q)
        a = np.zeros(model.n)
        linear, angular = fly.base_places[:3], fly.base_places[3:]
        a[angular] = np.linalg.solve(turns[:, angular], alpha - turned)
        a[fly.arm_places] = self.reference.acceleration[fly.arm_places]
        bias = model.inverse_dynamics(self.q, self.v, np.zeros(model.n))
        a[linear] = np.linalg.solve(M[np.ix_(linear, linear)], -(M @ a + bias)[linear])
        moment: np.ndarray = np.linalg.solve(turns[:, angular].T, (M @ a + bias)[angular])
        return moment

    def _arm_efforts(self, time: float, period: float) -> np.ndarray:
        """Efforts of the arm's joints by their own controller."""
        arm, fly = self.arm, self._fly
        assert arm is not None
        at, elastic = fly.arm_places, fly.arm_elastic
        arm.q = np.concatenate((self.q[at], self.q[elastic]))
        arm.v = np.concatenate((self.v[at], self.v[elastic]))
        arm.reference = Reference(*(self.reference.derivative(order)[at] for order in range(5)))
        if arm.needs_terms:
            arm.terms = arm.model.terms(arm.q, arm.v)
        return np.asarray(arm.update(time, period), dtype=float)

    def _limits(self, R: np.ndarray) -> tuple[float, float, float]:
        """Rate (rad/s), acceleration (rad/s2) and time (s) of a slew from the attitude R."""
        fly, M = self._fly, self.model.mass_matrix(self.q)
        linear, angular = fly.base_places[:3], fly.base_places[3:]
        turns = self.model.jacobian(self.q, fly.base)[3:][:, angular]
        coupled = np.linalg.solve(M[np.ix_(linear, linear)], M[np.ix_(linear, angular)])
        about_centre = M[np.ix_(angular, angular)] - M[np.ix_(angular, linear)] @ coupled
        back = np.linalg.inv(turns)
        inertia = back.T @ about_centre @ back       # of the robot with its joints locked
        largest = float(np.linalg.eigvalsh(0.5 * (inertia + inertia.T)).max())
        least, most = max(SLOWEST, 4.0 * np.pi / self._first), self.parameters['thruster_moment']
        if most > 0.0:
            return (self.parameters['slew_rate'] or np.inf, SHARE_OF_WHEELS * most / largest,
                    least)
        # of each wheel, per unit of momentum or torque about any axis of the world
        share = np.linalg.norm(np.linalg.pinv(R @ fly.axes), axis=1)
        fastest = SHARE_OF_WHEELS * float((self._momentum / share).min()) / largest
        quickest = SHARE_OF_WHEELS * float((self._efforts / share).min()) / largest
        fastest = min(fastest, self.parameters['slew_rate'] or np.inf)
        if not (fastest > 0.0 and quickest > 0.0):
            raise ControlError('attitude: expected wheels with limits of effort and velocity '
                               f'above zero, found {self._efforts} N m and momenta of '
                               f'{self._momentum} N m s')
        return fastest, quickest, least


def _arm_controller(fly: FreeFlyer, name: str) -> Controller | None:
    """The controller of the arm on a fixed base; None if the robot has no arm."""
    if fly.arm is None:
        return None
    found = controller_class(name)
    if issubclass(found, Attitude) or found.needs_measurements:
        raise ControlError(f'arm: expected a controller of the state of an arm, found {name}; use '
                           'pid, computed_torque or lqr')
    return found(fly.arm)
