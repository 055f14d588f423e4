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
"""Whole robots cut into rigid segments (flex_description.lumping) against their own beams."""
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.linalg import eigh

from flex_description import load_robot
from flex_description.lumping import lump, urdf_text
from flex_dynamics import Model

ELASTIC = """<robot name="elastic"><link name="base"/><link name="arm"/><link name="hand">
<inertial><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
</link><joint name="a" type="revolute"><parent link="base"/><child link="arm"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="5" velocity="1"/></joint>
<joint name="h" type="fixed"><parent link="arm"/><child link="hand"/><origin xyz="1 0 0"/></joint>
<flexible link="arm"><beam length="1"><section shape="circle" radius="0.01"/>
<material name="steel"/></beam><modes bending_y="4" bending_z="4" twist="2"/></flexible>
<flexible_joint joint="a" stiffness="300" motor_inertia="2e-4" gear_ratio="80"/></robot>"""


class Lumped:
    """The URDF of a lumped robot as a rigid model, with the springs and motors that go with it."""

    def __init__(self, robot, segments):
        lumped = lump(robot, segments)
        text = urdf_text(lumped)
        self.model = Model(load_robot(text))
        names = list(self.model.names)
        self.stiffness = np.zeros(self.model.n)
        for element in ElementTree.fromstring(text).findall('gazebo'):
            self.stiffness[names.index(element.get('reference'))] = float(
                element.findtext('springStiffness'))
        self.armature = np.zeros(self.model.n)
        for body in lumped.bodies:
            for freedom in body.freedoms:
                if freedom.reflected_inertia:
                    self.armature[names.index(freedom.name)] = freedom.reflected_inertia
        self.joints = [names.index(joint.name) for joint in robot.joints if joint.type != 'fixed']
        self.springs = np.flatnonzero(self.stiffness)

    def place(self, joints):
        q = np.zeros(self.model.n)
        q[self.joints] = joints
        return q

    def frequencies(self, joints, moving):
        mass = self.model.mass_matrix(self.place(joints)) + np.diag(self.armature)
        squares = eigh(np.diag(self.stiffness[moving]), mass[np.ix_(moving, moving)],
                       eigvals_only=True)
        return np.sqrt(np.maximum(squares, 0.0))

    def statics(self, joints):
        """Newton: the springs' angles under gravity."""
        q, own = self.place(joints), self.springs
        for _ in range(30):
            rest = (self.model.gravity_force(q) + self.stiffness * q)[own]
            if np.abs(rest).max() < 1e-9:
                return q
            # The gradient of gravity is small beside the springs: a slope of K alone converges.
            q[own] -= rest / self.stiffness[own]
        raise AssertionError('no equilibrium')


@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree'])
def test_frequencies_and_static_tip_near_those_of_the_beams(name):
    robot = load_robot(name)
    model = Model(robot)
    joints = np.linspace(0.3, 0.7, model.n_joints)
    q, _ = model.statics(joints)
    beams = model.frequencies(np.concatenate((joints, np.zeros(model.n - model.n_joints))),
                              joints='locked')[0][:4]
    stiff = model.pose(np.concatenate((joints, np.zeros(model.n - model.n_joints))),
                       robot.frames[-1].name)[:3, 3]
    tip = model.pose(q, robot.frames[-1].name)[:3, 3]
    errors = {}
    for segments in (4, 8):
        lumped = Lumped(robot, segments)
        found = lumped.frequencies(joints, lumped.springs)[:4]
        sagged = lumped.model.pose(lumped.statics(joints), robot.frames[-1].name)[:3, 3]
        assert lumped.model.pose(lumped.place(joints), robot.frames[-1].name)[
            :3, 3] == pytest.approx(stiff, abs=1e-12)
        errors[segments] = (np.abs(found / beams - 1.0).max(),
                            np.linalg.norm(sagged - tip) / np.linalg.norm(tip - stiff))
    assert np.linalg.norm(tip - stiff) > 1e-4       # m, something sags
    assert errors[8][0] < 0.01 and errors[8][1] < 0.01
    # Of second order, down to the truncation of the modes.
    assert errors[8][1] < 0.4 * errors[4][1]


def test_elastic_joint_keeps_its_motor():
    """Free at the joint: the motor swings against the beam, both through the joint's spring."""
    robot = load_robot(ELASTIC)
    model = Model(robot)
    lumped = Lumped(robot, 12)
    everything = np.arange(lumped.model.n)
    found = lumped.frequencies([0.0], everything)
    expected = model.frequencies(np.zeros(model.n))[0]
    assert found[0] < 1e-3 and expected[0] < 1e-3
    assert found[1:6] == pytest.approx(expected[1:6], rel=0.006)
    # The motor matters: without it the first frequency is far away.
    lumped.armature[:] = 0.0
    assert abs(lumped.frequencies([0.0], everything)[1] / expected[1] - 1.0) > 0.05
