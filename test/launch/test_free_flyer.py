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
"""A free-flying base through ROS: held while its arm moves by a trajectory, then turned."""
import subprocess

import numpy as np
import pytest
from graph import Listener, Parameters, seconds
from processes import end
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import available_controllers
from flex_description import load_robot
from flex_description.math import logarithm, rotation_from_rpy
from flex_dynamics import Model
from flex_msgs.msg import FlexState

ARM = ['turret_joint', 'upper_joint', 'fore_joint']
WHEELS = slice(6, 9)


@pytest.fixture
def graph():
    made = Listener()
    made.listen(FlexState, 'flex_state', 2000)
    process = subprocess.Popen(
        ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', 'robot:=free_flyer', 'sync:=lockstep',
         'controller:=attitude', 'headless:=true'], start_new_session=True)
    yield made
    end(process)
    made.close()


def test_the_base_is_held_and_turned(graph):
    assert 'attitude' in available_controllers()
    model = Model(load_robot('free_flyer'))

    def states():
        return list(graph.heard['flex_state'])

    def after(moment):
        return graph.until(lambda: states() and seconds(
            states()[-1].header.stamp) >= moment, f'{moment} s of simulated time', 240.0)

    after(0.2)
    publisher = graph.node.create_publisher(JointTrajectory, 'control/joint_trajectory', 10)
    point = JointTrajectoryPoint(positions=[0.1, 0.1, -0.1], velocities=[0.0] * 3,
                                 accelerations=[0.0] * 3)
    point.time_from_start.sec = 6
    graph.until(lambda: publisher.get_subscription_count(), 'the control node')
    begin = seconds(states()[-1].header.stamp)
    publisher.publish(JointTrajectory(joint_names=ARM, points=[point]))
    after(begin + 7.5)
    q = np.array([state.position for state in states()])
    v = np.array([state.velocity for state in states()])
    assert np.allclose(q[-1, 9:12], point.positions, atol=5e-3)
    assert np.linalg.norm(q[:, 3:6], axis=1).max() < 2e-3       # rad, the base
    assert np.abs(v[:, WHEELS]).max() > 3.0                      # rad/s, who took the reaction

    control = Parameters(graph, 'control')
    assert not control.set('attitude.yaw', 0.1)
    begin = seconds(states()[-1].header.stamp)
    after(begin + 16.0)
    turned = model.pose(np.array(states()[-1].position), 'bus')[:3, :3]
    wanted = rotation_from_rpy(np.array([0.0, 0.0, 0.1]))
    assert np.linalg.norm(logarithm(turned @ wanted.T)) < 2e-3
    assert np.abs(np.array(states()[-1].velocity)[:6]).max() < 2e-3

    # by thrusters: the wheels keep their speed
    assert not control.set('attitude.thruster_moment', 2.0)
    before = np.array(states()[-1].velocity)[WHEELS]
    assert not control.set('attitude.yaw', 0.2)
    begin = seconds(states()[-1].header.stamp)
    after(begin + 12.0)
    turned = model.pose(np.array(states()[-1].position), 'bus')[:3, :3]
    wanted = rotation_from_rpy(np.array([0.0, 0.0, 0.2]))
    assert np.linalg.norm(logarithm(turned @ wanted.T)) < 5e-3
    assert np.allclose(np.array(states()[-1].velocity)[WHEELS], before, atol=1.0)
