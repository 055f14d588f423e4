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
"""Drives that follow positions or velocities, as those of an industrial arm do."""
from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.kernels.stepping import driven_period as rows
from flex_dynamics.model.joint_inertia import largest_joint_inertia
from flex_dynamics.model.model import Model
from flex_dynamics.simulation.command_limits import CommandLimits, driven_places

BANDWIDTH = 50.0         # rad/s, of the loops, with the joint's largest inertia
SMOOTHING = 100.0        # rad/s, of the targets: commands come in steps of some 10 ms
TRANSFER_TIME = 0.5      # s, in which an effort that acted before is given up


class PositionDrives:
    """Inner loops of joints that are commanded by position or velocity alone.

    motors (MOTOR_ROWS, n_joints): the plant's, of which the rows of such joints are written before
    each step. A target passes a critically damped filter of second order (SMOOTHING), so that
    commands at 100 Hz do not shake the links; of a velocity the filtered integral is the position.
    Where the drives were given a stiffness, the loop is theirs. Where they were not, it has
    stiffness w^2 I and damping 2 w I (w: BANDWIDTH, I: largest inertia of the joint), more damping
    if the drive has it, and the torque that holds the straight robot without payloads against
    gravity. An integral part would make links unstable whose natural frequency is low.
    """

    def __init__(self, model: Model, motors: Array, commands: CommandLimits) -> None:
        self._model, self._motors, self._commands = model, motors, commands
        self._following = np.zeros(model.n_joints, dtype=bool)
        self._before = np.zeros(model.n_joints)      # efforts beyond gravity, from before
        self._aim = np.zeros((2, model.n_joints))    # the filtered target and its rate

    @cached_property
    def _inertia(self) -> Array:
        return largest_joint_inertia(self._model)      # slow, and most plants never need it

    @cached_property
    def _rigid(self) -> tuple[Array, Array]:
        """Motion (n, n_joints) of all coordinates per unit of each joint as its motor sees it, no
        spring being strained; whether there is a motor (n_joints,)."""
        model = self._model
        stiffness, joints = model.stiffness_matrix(), model.n_joints
        motion = np.eye(model.n, joints)
        for at in model.coordinates.motor.values():
            motion[at] = -stiffness[at, :joints] / stiffness[at, at]
        seen = np.sum(np.array(model.input_matrix()) * motion, axis=0)
        return motion / np.where(seen != 0.0, seen, 1.0), seen != 0.0

    def _gravity(self, position: Array) -> Array:
        """Efforts (n_joints,) that hold the straight robot with its joints there."""
        motion, has_motor = self._rigid
        straight = motion @ position
        weight: Array = motion.T @ self._model.gravity_force(straight)
        if not self._model.constraint_names:
            return has_motor * weight
        # The motors and the constraints carry it together; of more motors than freedoms, with the
        # least sum of squares.
        driven = driven_places(self._model)
        forces = np.hstack((np.eye(len(weight))[:, driven],
                            (self._model.constraint_jacobian(straight) @ motion).T))
        efforts: Array = np.zeros(len(weight))
        efforts[driven] = np.linalg.lstsq(forces, weight, rcond=1e-9)[0][:len(driven)]
        return efforts

    def change_model(self, model: Model) -> None:
        """Carry the weight as another model of the same joints says: other supports hold it. The
        stiffness stays as it was."""
        _ = self._inertia
        self._model = model

    def release(self) -> None:
        """Begin anew with the next period, from where the joints are then."""
        self._following[:] = False

    def advance(self, step: float, stiffness: Array, damping: Array, position: Array,
                velocity: Array) -> None:
        """Set the rows of the joints that are followed for a step (s), to its middle.

        stiffness, damping: that the drives were given; position, velocity: of the joints as their
        motors see them; each (n_joints,).
        """
        commands, motors = self._commands, self._motors
        followed = commands.followed
        begins = followed & ~self._following
        if begins.any():
            self._aim[:, begins] = position[begins], velocity[begins]
            self._before[begins] = (commands.effort - self._gravity(position))[begins]
        self._following[:] = followed
        self._before *= math.exp(-step / TRANSFER_TIME)
        own = followed & (stiffness == 0.0)
        motors[rows.DRIVE_STIFFNESS] = gains = np.where(own, BANDWIDTH**2 * self._inertia,
                                                        stiffness)
        motors[rows.DRIVE_DAMPING] = np.where(
            own, np.maximum(damping, 2.0 * BANDWIDTH * self._inertia), damping)
        with np.errstate(divide='ignore', invalid='ignore'):
            reach = np.where(gains > 0.0, motors[rows.MOST] / gains, np.inf)
        # A velocity that the motor cannot reach must not let its integral run away.
        near = np.clip(self._aim[0], position - reach, position + reach)
        self._aim[0] = np.where(commands.by_velocity, near, self._aim[0])
        middle, self._aim = (_smoothed(self._aim, commands.wanted, commands.by_velocity, time)
                             for time in (0.5 * step, step))
        self._aim[0] = np.clip(self._aim[0], motors[rows.LEAST + 1], motors[rows.MOST + 1])
        commands.position[followed], commands.velocity[followed] = middle[:, followed]
        load = np.where(own, self._gravity(np.where(followed, middle[0], position)), 0.0)
        commands.effort[followed] = np.clip(load + self._before, motors[rows.LEAST],
                                            motors[rows.MOST])[followed]


def _smoothed(aim: Array, wanted: Array, by_velocity: Array, time: float) -> Array:
    """Position and rate (2, n_joints) of the filtered target after a time (s), from `aim` before.

    With y = x - p - v t, where the target is p + v t: y'' = -w^2 y - 2 w y'.
    """
    decay = math.exp(-SMOOTHING * time)
    off, speed = aim - wanted
    slope = speed + SMOOTHING * off
    followed = (wanted[0] + wanted[1] * time + (off + slope * time) * decay,
                wanted[1] + (speed - SMOOTHING * slope * time) * decay)
    # Of a velocity: u' = w (v - u), and x is the integral of u.
    moved = (aim[0] + wanted[1] * time + speed * (1.0 - decay) / SMOOTHING,
             wanted[1] + speed * decay)
    return np.where(by_velocity, moved, followed)
