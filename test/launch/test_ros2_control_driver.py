"""The simulator under a driver like ros2_control's topic hardware, with control:=false.

The driver here does what joint_state_topic_hardware_interface does: it waits until the clock runs,
lists all joints of its tag, fills the arrays of the claimed command interfaces, has NaN for the
others, sends nothing while the states are within 1e-5 of its commands, and here stamps by the wall
clock, as it does without use_sim_time.
"""
import math
import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graph import Listener, sim
from launch import LaunchDescription
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

START = [0.3, 0.9, 0.8, 0.5]
JOINTS = [f'joint{k}' for k in range(1, 5)]
THRESHOLD = 1e-5


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        sim(headless='true', control='false', start=' '.join(map(str, START))),
        launch_testing.actions.ReadyToTest()])


class TopicHardware:
    """Sends positions as the hardware component does after each update."""

    def __init__(self, graph):
        self._graph = graph
        self._publisher = graph.node.create_publisher(JointState, 'joint_commands',
                                                      QoSProfile(depth=1))
        self.sent = self.silent = 0

    def connected(self):
        return self._publisher.get_subscription_count()

    def write(self, positions, state):
        off = sum(abs(a - b) for a, b in zip(positions, state) if not math.isnan(a))
        if off <= THRESHOLD:
            self.silent += 1
            return
        message = JointState(name=JOINTS, position=list(positions), effort=[math.nan] * 4)
        message.header.stamp.sec = int(time.time())
        self._publisher.publish(message)
        self.sent += 1


class TestRos2ControlDriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(JointState, 'joint_states')
        cls.graph.listen(Clock, 'clock')
        cls.graph.listen(DiagnosticArray, '/diagnostics')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def joints(self):
        state, = self.graph.next('joint_states')
        assert list(state.name) == JOINTS
        return np.array(state.position)

    def test_1_time_runs_and_the_start_pose_is_held_without_a_command(self):
        """ros2_control waits for a clock that moves."""
        self.graph.until(lambda: any(one.clock.sec >= 1 for one in self.graph.heard['clock']),
                         'a second of simulated time')
        np.testing.assert_allclose(self.joints(), START, atol=5e-3)

    def test_2_a_motion_is_followed_and_silence_keeps_its_end(self):
        hardware = TopicHardware(self.graph)
        self.graph.until(hardware.connected, 'the simulator')
        state = self.joints()
        goal = state + [0.2, -0.1, 0.1, math.nan]      # nobody has claimed joint4
        for share in np.linspace(0.0, 1.0, 100):
            hardware.write(state + share * (goal - state), self.joints())
        for _ in range(20):
            hardware.write(goal, self.joints())
        self.assertGreater(hardware.sent, 50)
        end = self.joints()
        np.testing.assert_allclose(end[:3], goal[:3], atol=0.01)
        np.testing.assert_allclose(end[3], START[3], atol=0.02)
        # Now the driver has nothing to say.
        stamp = self.graph.heard['clock'][-1].clock.sec
        self.graph.until(lambda: self.graph.heard['clock'][-1].clock.sec >= stamp + 3,
                         'three seconds of simulated time')
        np.testing.assert_allclose(self.joints(), end, atol=0.01)
        status = self.status()
        self.assertEqual(status['times the fail-safe acted'], '0')
        self.assertEqual(status['rejected commands'], '0')

    def status(self):
        """What the simulator says of itself from now on."""
        heard = self.graph.heard['/diagnostics']
        heard.clear()
        return self.graph.until(lambda: {
            pair.key: pair.value for message in heard for one in message.status
            if one.name.startswith('simulator') for pair in one.values}, 'a status')


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    def test_one_warning_about_the_clock_and_none_else(self, proc_output):
        lines = [line for output in proc_output for line in output.text.decode().splitlines()]
        clock = [line for line in lines if 'by another clock than simulated time' in line]
        self.assertEqual(len(clock), 1, lines)
        self.assertFalse([line for line in lines if 'fail-safe' in line or 'rejected' in line])

    def test_nodes_end_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
