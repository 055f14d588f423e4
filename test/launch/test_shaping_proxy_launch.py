"""shaping_proxy.launch.py beside a simulated robot with its own trajectory controller."""
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from graph import LATE, SIM, Listener, sim
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

JOINTS = [f'joint{k}' for k in range(1, 5)]
START, END = [0.0, 0.5, 1.5, 0.5], [0.3, 0.8, 1.0, 0.8]
OWN = 'control/follow_joint_trajectory'


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        sim(headless='true', controller='pid', start=' '.join(map(str, START))),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SIM.with_name('shaping_proxy.launch.py'))),
            launch_arguments=[('robot', 'cibicik_arm'), ('use_sim_time', 'true'),
                              ('controller_action', OWN), ('shaper_modes', '2')]),
        launch_testing.actions.ReadyToTest()])


class TestShapingProxy(unittest.TestCase):
    def setUp(self):
        self.graph = Listener()
        self.graph.listen(JointState, 'joint_states')
        self.client = ActionClient(self.graph.node, FollowJointTrajectory,
                                   'shaping_proxy/follow_joint_trajectory')

    def tearDown(self):
        self.client.destroy()
        self.graph.close()

    def goal(self, last, seconds):
        message = FollowJointTrajectory.Goal()
        message.trajectory.joint_names = JOINTS
        point = JointTrajectoryPoint(positions=last, velocities=[0.0] * 4,
                                     accelerations=[0.0] * 4)
        point.time_from_start.sec = seconds
        message.trajectory.points = [point]
        sent = self.client.send_goal_async(message)
        self.graph.until(sent.done, 'an answer to the goal')
        result = sent.result().get_result_async()
        self.graph.until(result.done, 'the result')
        return result.result()

    def test_a_goal_goes_through_to_the_robot(self):
        self.graph.until(self.client.server_is_ready, 'the proxy')
        other = ActionClient(self.graph.node, FollowJointTrajectory, OWN)
        self.graph.until(other.server_is_ready, "the robot's own controller")
        other.destroy()
        self.graph.next('joint_states')
        self.graph.spin(LATE)
        answer = self.goal(END, 1)
        self.assertEqual(answer.status, GoalStatus.STATUS_SUCCEEDED, answer.result.error_string)
        state, = self.graph.next('joint_states')
        np.testing.assert_allclose(state.position, END, atol=0.02)
        answer = self.goal([9.0, 0.0, 0.0, 0.0], 1)
        self.assertEqual(answer.status, GoalStatus.STATUS_ABORTED)
        self.assertIn('its limits', answer.result.error_string)


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    def test_the_motion_was_shaped_and_nodes_end_well(self, proc_output, proc_info):
        text = ''.join(output.text.decode() for output in proc_output)
        self.assertIn('goal passed on: a motion of 1.000 s takes', text)
        self.assertIn('zvd for', text)
        launch_testing.asserts.assertExitCodes(proc_info)
