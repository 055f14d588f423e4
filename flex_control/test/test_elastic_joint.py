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
"""Elastic joints: the published single link, the linear error, bending links as disturbance."""
import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, Reference, controller_class
from flex_control.controllers.elastic_joint import ElasticJoint
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model

PLANAR = """<robot name="planar">
  <link name="base"/>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/></joint>
  <link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="3"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="b" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.6 0 0"/><axis xyz="0 0 1"/></joint>
  <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <flexible_joint joint="a" stiffness="400" motor_inertia="1e-5" gear_ratio="100"/>
  <flexible_joint joint="b" stiffness="150" motor_inertia="5e-6" gear_ratio="100"/>
  <gravity xyz="0 -9.81 0"/>
</robot>"""


@pytest.fixture(scope='module')
def single():
    return Model(load_robot('mladenova_arm'))


def test_it_is_installed_under_its_name():
    assert controller_class('elastic_joint') is ElasticJoint


def test_the_law_is_mladenovas_for_the_single_link(single):
    """u = (Il Im / K) (v - a(x)) with a(x) of section 7.4, at random states."""
    spring = single.robot.joints[0].flexible
    stiffness, motor = spring.stiffness, spring.motor_inertia
    inertia = single.mass_matrix(np.zeros(2))[0, 0]
    weight = single.gravity_force(np.array([np.pi / 2, 0.0]))[0]      # M g L
    controller = ElasticJoint(single, {'bandwidth': 6.0})
    offset = 0.0 if abs(single.gravity_force(np.zeros(2))[0]) < 1e-9 else np.pi / 2
    rng = np.random.default_rng(5)
    for _ in range(5):
        x1, x2, x3, x4 = rng.normal(size=4)
        controller.q, controller.v = np.array([x1 - offset, x3 - offset]), np.array([x2, x4])
        controller.reference = Reference(*rng.normal(size=(5, 1)))
        wanted = [controller.reference.derivative(k)[0] for k in range(5)]
        mgl = weight / inertia
        y2 = -mgl * np.sin(x1) - stiffness / inertia * (x1 - x3)
        y3 = -mgl * np.cos(x1) * x2 - stiffness / inertia * (x2 - x4)
        v = (wanted[4] + 24.0 * (wanted[3] - y3) + 216.0 * (wanted[2] - y2)
             + 864.0 * (wanted[1] - x2) + 1296.0 * (wanted[0] - x1 + offset))
        a = (mgl * np.sin(x1) * (x2**2 + mgl * np.cos(x1) + stiffness / inertia)
             + stiffness / inertia * (x1 - x3) * (stiffness / inertia + stiffness / motor
                                                  + mgl * np.cos(x1)))
        u = inertia * motor / stiffness * (v - a)
        assert controller.update(0.0, 1e-3)[0] == pytest.approx(u, rel=1e-5)


def test_errors_of_two_joints_die_as_the_linear_ones():
    """(d/dt + w)^4 e = 0 from an offset at rest: e0 (1 + wt + (wt)^2/2 + (wt)^3/6) exp(-wt)."""
    model = Model(load_robot(PLANAR))
    controller = ElasticJoint(model, {'bandwidth': 8.0})
    goal = np.array([0.4, 0.3])
    result = run_trial(controller, MinimumJerk(goal, goal, 1.0), 0.6, tip='fore', period=2e-4,
                       step=1e-4, start=goal + [0.05, -0.08])
    x = 8.0 * result.time
    shape = (1.0 + x + x**2 / 2.0 + x**3 / 6.0) * np.exp(-x)
    for joint, offset in enumerate((0.05, -0.08)):
        assert np.abs(-result.joint_error()[:, joint] - offset * shape).max() < 4e-3


def test_a_soft_spring_is_driven_without_leaving_it_ringing(single):
    controller = ElasticJoint(single)
    result = run_trial(controller, MinimumJerk([0.0], [1.5], 1.0), 2.2,
                       tip='tool', step=1e-3)
    assert np.abs(result.joint_error()[-200:]).max() < 1e-3


def test_a_bending_link_is_a_disturbance_that_does_not_upset_it():
    model = Model(load_robot('rest_to_rest_link'))
    controller = ElasticJoint(model)
    result = run_trial(controller, MinimumJerk([0.0], [0.5], 1.5), 2.0, tip='link1', step=1e-3)
    assert np.abs(result.joint_error()).max() < 0.1


def test_robots_without_springs_are_refused():
    with pytest.raises(ControlError, match='found none in joint1.*computed_torque'):
        ElasticJoint(Model(load_robot('cibicik_arm')))


def test_bad_bandwidths_are_refused(single):
    with pytest.raises(ControlError, match='bandwidth: expected 0.01 to 10000'):
        ElasticJoint(single, {'bandwidth': -3.0})
