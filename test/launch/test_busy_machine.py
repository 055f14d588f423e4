"""Nodes that a busy machine does not schedule for half a second, free running: no fail-safe."""
import os
import signal
import subprocess
import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from ament_index_python.packages import get_package_share_directory
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray
from graph import Listener, seconds, sim
from launch import LaunchDescription
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_msgs.msg import FlexState

DEFAULTS = f'{get_package_share_directory("flex_bringup")}/config/default.yaml'
CONTROLLERS = ('pd', 'lqg')          # and namespaces
STOP = 0.5                           # s, of wall time
MOTION = 3                           # s, simulated
GOAL = 0.5                           # rad


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        *(sim(robot='lab_link', headless='true', control='false', driver='answering',
              namespace=space)
          for space in CONTROLLERS),
        launch_testing.actions.ReadyToTest()])


class TestBusyMachine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(DiagnosticArray, '/diagnostics')
        cls.controls = {space: subprocess.Popen(
            ['ros2', 'run', 'flex_control', 'control', '--ros-args', '-r', f'__ns:=/{space}',
             '--params-file', DEFAULTS, '-p', 'robot:=lab_link', '-p', f'controller:={space}',
             '-p', 'drive_node:=simulator'], start_new_session=True) for space in CONTROLLERS}

    @classmethod
    def tearDownClass(cls):
        for control in cls.controls.values():
            os.killpg(control.pid, signal.SIGCONT)
            os.killpg(control.pid, signal.SIGINT)
        codes = [control.wait(60.0) for control in cls.controls.values()]
        cls.graph.close()
        assert codes == [0, 0]

    def figures(self, node):
        """The values of the next status of a node."""
        begin = len(self.graph.heard['/diagnostics'])

        def find():
            return next((one for message in self.graph.heard['/diagnostics'][begin:]
                         for one in message.status if one.name == f'{node}: status'), None)
        status = self.graph.until(find, f'a status of {node}')
        return {one.key: one.value for one in status.values}

    def move(self, space, goal):
        """Send a goal; the future of its result."""
        client = ActionClient(self.graph.node, FollowJointTrajectory,
                              f'{space}/control/follow_joint_trajectory')
        self.addCleanup(client.destroy)
        self.graph.until(client.server_is_ready, 'the action server')
        point = JointTrajectoryPoint(positions=[goal], velocities=[0.0], accelerations=[0.0])
        point.time_from_start.sec = MOTION
        sent = client.send_goal_async(FollowJointTrajectory.Goal(
            trajectory=JointTrajectory(joint_names=['joint1'], points=[point])))
        self.graph.until(sent.done, 'the acceptance')
        return sent.result().get_result_async()

    def now(self, space):
        return seconds(self.graph.next(f'{space}/flex_state')[0].header.stamp)

    def check(self, space, stop):
        """A motion goes on to its end although `stop` holds a process up for a while."""
        self.graph.listen(FlexState, f'{space}/flex_state', 1)
        self.graph.until(lambda: self.now(space) > 0.5, 'a robot that runs')
        start = self.graph.next(f'{space}/flex_state')[0].position[0]
        result = self.move(space, start + GOAL)
        begin = self.now(space)
        self.graph.until(lambda: self.now(space) > begin + 0.5, 'motion')
        stop(signal.SIGSTOP)
        try:
            time.sleep(STOP)
        finally:
            stop(signal.SIGCONT)
        self.graph.until(result.done, 'the result')
        outcome = result.result().result
        assert outcome.error_code == 0, outcome.error_string
        assert self.now(space) > begin + MOTION - 0.5
        assert abs(self.graph.next(f'{space}/flex_state')[0].position[0] - start - GOAL) < 0.05
        simulator = self.figures(f'{space}/simulator')
        assert simulator['times the fail-safe acted'] == '0', simulator
        control = self.figures(f'{space}/control')
        assert control['times the fail-safe acted'] == '0', control
        return simulator

    def test_the_control_process_is_stopped(self):
        for space in CONTROLLERS:
            with self.subTest(space):
                figures = self.check(space, lambda number, space=space: os.killpg(
                    self.controls[space].pid, number))
                assert int(figures['waits for the driver']) > 0
                assert float(figures['time waited for the driver (s)']) > 0.1

    def test_the_simulator_is_stopped(self, proc_info):
        pids = [event.pid for event in proc_info if event.process_name.startswith('simulator')]
        assert len(pids) == len(CONTROLLERS)
        for space in CONTROLLERS:
            with self.subTest(space):
                self.check(space, lambda number: [os.kill(pid, number) for pid in pids])


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
