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
"""A robot whose followers are free, reduced by hand: q_full = T q + c, so that M is T'M T."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from flex_description import Mimic, Robot
from flex_dynamics import Model
from flex_dynamics.kernels.base.layout import FRICTION_SPEED

GRIPPER = """<robot name="gripper_arm">
  <link name="base"/><link name="boom"/>
  <link name="palm"><inertial><origin xyz="0.05 0 0"/><mass value="0.8"/>
    <inertia ixx="0.002" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0.04 0.01 0"/><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><origin xyz="0.04 -0.01 0"/><mass value="0.12"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pad"><inertial><origin xyz="0.02 0 0"/><mass value="0.05"/>
    <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="{root}"><parent link="base"/><child link="boom"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="100" velocity="3"/></joint>
  <joint name="wrist" type="revolute"><parent link="boom"/><child link="palm"/>
    <origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="100" velocity="3"/></joint>
  <joint name="right_finger" type="revolute"><parent link="palm"/><child link="right"/>
    <origin xyz="0.1 -0.02 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/>{damped}
    <mimic joint="left_finger" multiplier="-1.3" offset="0.1"/></joint>
  <joint name="left_finger" type="revolute"><parent link="palm"/><child link="left"/>
    <origin xyz="0.1 0.02 0"/><axis xyz="0 0 1"/>
    <limit lower="-0.7" upper="0.7" effort="5" velocity="3"/>{damped}</joint>
  <joint name="pad_slide" type="prismatic"><parent link="left"/><child link="pad"/>
    <origin xyz="0.08 0 0"/><axis xyz="1 0 0"/>
    <limit lower="-0.7" upper="0.7" effort="5" velocity="3"/>
    <mimic joint="right_finger" multiplier="0.05" offset="-0.01"/></joint>
  <flexible link="boom"><beam length="1"><section shape="circle" radius="0.008"/>
    <material name="aluminium"/></beam></flexible>
  <motor joint="left_finger" inertia="1e-6" ratio="20"/>
  <motor joint="right_finger" inertia="2e-6" ratio="30"/>
  <imu name="palm_imu" frame="palm"/><gravity xyz="{gravity}"/>{more}
</robot>"""


def gripper(root='revolute', damped='<dynamics damping="0.01" friction="0.02"/>',
            gravity='0 0 -9.81', more='') -> str:
    """URDF of a two-finger gripper on a flexible boom, with a pad that slides as a finger turns;
    root: the type of its first joint."""
    return GRIPPER.format(root=root, damped=damped, gravity=gravity, more=more)


def with_followers(robot: Robot, rng: np.random.Generator) -> Robot | None:
    """The robot with one or two joints that follow another one; None if it has too few joints."""
    beams = {link.name: link.flexible for link in robot.links if link.flexible is not None}
    able = [joint for joint in robot.joints if joint.type in ('revolute', 'continuous',
                                                              'prismatic')
            and not (joint.child in beams and beams[joint.child].pinned)]
    rigid = [joint.name for joint in able if joint.flexible is None]
    if len(able) < 2 or not rigid:
        return None
    count = min(int(rng.integers(1, 3)), len(able) - 1, len(rigid))
    chosen = [str(name) for name in rng.permutation(rigid)[:count]]
    leaders = [joint.name for joint in able if joint.name not in chosen]
    mimics = {name: Mimic(str(rng.choice(leaders)), float(rng.choice([-1, 1]) * rng.uniform(
        0.3, 2.0)), float(rng.uniform(-1.0, 1.0) * rng.integers(0, 2))) for name in chosen}
    return replace(robot, joints=tuple(replace(joint, mimic=mimics.get(joint.name))
                                       for joint in robot.joints))


class Reduction:
    """The terms of a model with followers, from those of the same robot without them."""

    def __init__(self, model: Model) -> None:
        joints = tuple(replace(joint, mimic=None) for joint in model.robot.joints)
        self.free = free = Model(replace(model.robot, joints=joints), model.order)
        for name, payload in model.payloads.items():
            body = payload.inertia
            free = self.free = free.with_payload(name, payload.frame, body.mass, body.centre,
                                                 body.tensor, payload.x)
        self.model = model
        self.T, self.c = np.zeros((free.n, model.n)), np.zeros(free.n)
        follows = {joint.name: joint.mimic for joint in model.robot.joints if joint.mimic}
        for row, name in enumerate(free.names):
            mimic = follows.get(name)
            self.T[row, model.names.index(name if mimic is None else mimic.joint)] = (
                1.0 if mimic is None else mimic.multiplier)
            self.c[row] = 0.0 if mimic is None else mimic.offset

    def full(self, q: np.ndarray) -> np.ndarray:
        return self.T @ q + self.c

    def damping(self) -> np.ndarray:
        """T'D T; modal damping is that of the model, whose followers are not at their zero when it
        is taken."""
        free = np.array(self.free.damping_matrix())
        for link, block in self.model.link_damping.items():
            own = self.free.coordinates.links[link].all
            free[own, own] += block - self.free.link_damping[link]
        return self.T.T @ free @ self.T

    def friction(self, v: np.ndarray) -> np.ndarray:
        """Coulomb friction (n,) of all joints, by hand."""
        force = np.zeros(self.free.n)
        speeds = self.free.input_matrix().T @ (self.T @ v)
        for joint in self.free.robot.joints:
            if joint.friction and joint.name in self.free.coordinates.joint:
                at = self.free.coordinates.joint[joint.name].start
                column = np.array(self.free.input_matrix()[:, at])
                if joint.flexible is not None:
                    column = np.eye(self.free.n)[at]
                speed = speeds[at] if joint.flexible is None else (self.T @ v)[at]
                force += column * joint.friction * np.tanh(speed / FRICTION_SPEED)
        return self.T.T @ force

    def inputs(self) -> np.ndarray:
        """Columns of B of the joints that have a motor."""
        own = [self.free.joint_names.index(name) for name in self.model.joint_names]
        return self.T.T @ self.free.input_matrix()[:, own]

    def terms(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """T'M T, T'C T and T'g; order linear also where its M has given out."""
        T = self.T
        if self.free.order == 'linear':
            M, C, g = self.free.backend.terms(self.full(q), T @ v, self.free.create_data())
        else:
            found = self.free.terms(self.full(q), T @ v)
            M, C, g = found.M, found.C, found.g
        return T.T @ M @ T, T.T @ C @ T, T.T @ g

    def stiffness(self) -> np.ndarray:
        return self.T.T @ self.free.stiffness_matrix() @ self.T

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                     external: np.ndarray) -> np.ndarray:
        """By numpy; external (n of the free model,): forces from outside."""
        M, C, g = self.terms(q, v)
        force = (self.inputs() @ tau + self.T.T @ external - C @ v - g - self.stiffness() @ q
                 - self.damping() @ v - self.friction(v))
        return np.linalg.solve(M, force)
