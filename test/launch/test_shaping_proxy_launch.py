"""shaping_proxy.launch.py beside a simulated robot with its own trajectory controller, which is a
process of the test's own and is killed in mid-motion."""
import os
import signal
import subprocess
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from ament_index_python.packages import get_package_share_directory
from control_msgs.action import FollowJointTrajectory
from graph import LATE, SIM, Listener, sim
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from processes import end
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

JOINTS = [f'joint{k}' for k in range(1, 5)]
START, END = [0.0, 0.5, 1.5, 0.5], [0.3, 0.8, 1.0, 0.8]
OWN = 'control/follow_joint_trajectory'
DEFAULTS = f'{get_package_share_directory("flex_bringup")}/config/default.yaml'


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        sim(headless='true', control='false', driver='answering',
            start=' '.join(map(str, START))),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SIM.with_name('shaping_proxy.launch.py'))),
            launch_arguments=[('robot', 'cibicik_arm'), ('use_sim_time', 'true'),
                              ('controller_action', OWN), ('shaper_modes', '2')]),
        launch_testing.actions.ReadyToTest()])


class TestShapingProxy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(JointState, 'joint_states')
        cls.client = ActionClient(cls.graph.node, FollowJointTrajectory,
                                  'shaping_proxy/follow_joint_trajectory')
        cls.start_control()
        cls.graph.until(cls.client.server_is_ready, 'the proxy')
        other = ActionClient(cls.graph.node, FollowJointTrajectory, OWN)
        cls.graph.until(other.server_is_ready, "the robot's own controller")
        other.destroy()
        cls.graph.next('joint_states')
        cls.graph.spin(LATE)

    @classmethod
    def tearDownClass(cls):
        if cls.control.poll() is None:
            end(cls.control)
        cls.client.destroy()
        cls.graph.close()

    @classmethod
    def start_control(cls):
        cls.control = subprocess.Popen(
            ['ros2', 'run', 'flex_control', 'control', '--ros-args', '--params-file', DEFAULTS,
             '-p', 'robot:=cibicik_arm', '-p', 'controller:=pid', '-p', 'drive_node:=simulator',
             '-p', 'use_sim_time:=true'], start_new_session=True)

    def joints(self):
        state, = self.graph.next('joint_states')
        return np.array(state.position)

    def wait_for_rest(self):
        """Until a new controller has caught the arm, which swings without one."""
        self.graph.until(lambda: np.abs(self.graph.next('joint_states')[0].velocity).max() < 1e-3,
                         'rest')

    def send(self, last, seconds):
        """The future of the result."""
        message = FollowJointTrajectory.Goal()
        message.trajectory.joint_names = JOINTS
        point = JointTrajectoryPoint(positions=last, velocities=[0.0] * 4,
                                     accelerations=[0.0] * 4)
        point.time_from_start.sec = seconds
        message.trajectory.points = [point]
        sent = self.client.send_goal_async(message)
        self.graph.until(sent.done, 'an answer to the goal')
        return sent.result().get_result_async()

    def answer(self, result):
        self.graph.until(result.done, 'the result')
        return result.result()

    def test_1_a_goal_goes_through_to_the_robot(self):
        answer = self.answer(self.send(END, 1))
        self.assertEqual(answer.status, GoalStatus.STATUS_SUCCEEDED, answer.result.error_string)
        np.testing.assert_allclose(self.joints(), END, atol=0.02)
        answer = self.answer(self.send([9.0, 0.0, 0.0, 0.0], 1))
        self.assertEqual(answer.status, GoalStatus.STATUS_ABORTED)
        self.assertIn('its limits', answer.result.error_string)

    def test_2_a_controller_that_is_killed_in_mid_motion_is_named(self):
        begin = self.joints()
        result = self.send(START, 100)
        self.graph.until(lambda: np.abs(self.joints() - begin).max() > 0.01, 'motion')
        os.killpg(self.control.pid, signal.SIGKILL)
        self.control.wait()
        answer = self.answer(result)
        self.assertEqual(answer.status, GoalStatus.STATUS_ABORTED)
        self.assertRegex(answer.result.error_string,
                         f'^/{OWN} (has been silent for|went away during)')

    def test_3_a_controller_that_is_killed_and_back_at_once_ends_the_goal(self):
        """Its server is there all the time for who asks the graph, but knows nothing of it."""
        type(self).start_control()
        self.wait_for_rest()
        begin = self.joints()
        result = self.send(START, 100)
        self.graph.until(lambda: np.abs(self.joints() - begin).max() > 0.01, 'motion')
        os.killpg(self.control.pid, signal.SIGKILL)
        self.control.wait()
        type(self).start_control()
        answer = self.answer(result)
        self.assertEqual(answer.status, GoalStatus.STATUS_ABORTED)
        self.assertRegex(answer.result.error_string,
                         f'^/{OWN} (does not know the goal any more|went away during'
                         '|has been silent for)')     # by how soon the new one is there
        # The new one takes the next motion.
        self.wait_for_rest()
        answer = self.answer(self.send(END, 2))
        self.assertEqual(answer.status, GoalStatus.STATUS_SUCCEEDED, answer.result.error_string)


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    def test_the_motion_was_shaped_and_nodes_end_well(self, proc_output, proc_info):
        text = ''.join(output.text.decode() for output in proc_output)
        self.assertIn('goal passed on: a motion of 1.000 s takes', text)
        self.assertIn('zvd for', text)
        launch_testing.asserts.assertExitCodes(proc_info)
