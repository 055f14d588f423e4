"""A control node that is killed in mid-motion and started again, free running and in lockstep."""
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from graph import Listener, sim
from launch import LaunchDescription
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_msgs.msg import FlexState

FOLDER = tempfile.TemporaryDirectory()
SYNC = {'paced': 'free', 'stepped': 'lockstep'}      # by namespace
LONG = {'paced': 5, 'stepped': 100}                 # s; lockstep runs far faster than the clock
PARAMETERS = {
    '/**/simulator': {'ros__parameters': {
        'rate': 50.0, 'step': 0.002, 'drive.bandwidth': 20.0, 'command_timeout': 0.5,
        'lockstep_timeout': 2.0}},
    '/**/control': {'ros__parameters': {'pd.bandwidth': 10.0, 'pd.kd': [0.0]}},
}


@pytest.mark.launch_test
def generate_test_description():
    path = Path(FOLDER.name, 'parameters.yaml')
    path.write_text(yaml.safe_dump(PARAMETERS))
    return LaunchDescription([
        *(sim(robot='lab_link', headless='true', control='false', driver='answering',
              namespace=space, sync=sync, params_file=str(path)) for space, sync in SYNC.items()),
        launch_testing.actions.ReadyToTest()])


class Control:
    """A control node as a process of the test's own."""

    def __init__(self, space):
        self.process = subprocess.Popen(
            ['ros2', 'run', 'flex_control', 'control', '--ros-args', '-r', f'__ns:=/{space}', '-p',
             'robot:=lab_link', '-p', f'sync:={SYNC[space]}', '--params-file',
             str(Path(FOLDER.name, 'parameters.yaml'))], start_new_session=True)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(60.0)


class TestKilledControl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(DiagnosticArray, '/diagnostics')
        cls.publishers = {}
        for space in SYNC:
            graph.listen(FlexState, f'{space}/flex_state', 1)
            cls.publishers[space] = graph.node.create_publisher(
                JointTrajectory, f'{space}/control/joint_trajectory', 10)

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def status(self, node):
        self.graph.heard['/diagnostics'].clear()

        def find():
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == f'{node}: status'), None)
        status = self.graph.until(find, f'a status of {node}')
        return status.message, {v.key: v.value for v in status.values}

    def joint(self, space):
        state = self.graph.next(f'{space}/flex_state')[0]
        assert np.isfinite([*state.position, *state.velocity]).all()
        return state.position[0], state.velocity[0]

    def move(self, space, goal, seconds, done):
        """Send a trajectory, again if a busy machine made the control node refuse it.

        goal: where to, by where the joint is."""
        publisher = self.publishers[space]
        self.graph.until(publisher.get_subscription_count, 'the control node')
        point = JointTrajectoryPoint(velocities=[0.0], accelerations=[0.0])
        point.time_from_start.sec = seconds

        def tried():
            point.positions = [goal(self.joint(space)[0])]
            publisher.publish(JointTrajectory(joint_names=['joint1'], points=[point]))
            self.graph.spin(1.0)
            return any(done(*self.joint(space)) for _ in range(10))
        self.graph.until(tried, f'{space}: a motion')

    def assert_running(self, space):
        """Also after it was started again, the control node is the driver that was known."""
        def runs():
            text, values = self.status(f'{space}/simulator')
            return text == 'running' and values['driven by'] == f'/{space}/control'
        self.graph.until(runs, f'{space}: a robot that runs')

    def test_killed_in_mid_motion_and_started_again(self):
        controls = {space: Control(space) for space in SYNC}
        try:
            for space in SYNC:
                self.assert_running(space)
                # To the far side, as the motion before may have come to its end by now.
                self.move(space, lambda position: 1.0 if position < 0.4 else -0.5, LONG[space],
                          lambda position, velocity: abs(velocity) > 0.005)
                controls[space].kill()
            self.assert_safe()
            controls = {space: Control(space) for space in SYNC}
            for space in SYNC:
                self.assert_running(space)
                self.move(space, lambda _: -0.3, 1,
                          lambda position, velocity: abs(position + 0.3) < 0.02)
        finally:
            for control in controls.values():
                control.end()
        assert [control.process.returncode for control in controls.values()] == [0, 0]

    def assert_safe(self):
        self.graph.until(lambda: 'fail-safe' in self.status('paced/simulator')[0],
                         'the fail-safe')
        self.graph.until(lambda: abs(self.joint('paced')[1]) < 0.05, 'a link that is damped')
        self.graph.until(lambda: 'no command for the state at' in self.status(
            'stepped/simulator')[0], 'who is silent')
        text = self.status('stepped/simulator')[0]
        assert 'waiting for /stepped/control' in text or 'anyone: no node publishes' in text
        first = self.graph.next('stepped/flex_state')[0]
        assert self.graph.next('stepped/flex_state')[0] == first       # time stands still


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
        FOLDER.cleanup()
