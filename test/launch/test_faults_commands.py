"""Faults of those who command: the simulator refuses, says why, and the graph goes on."""
import math
import re
import tempfile
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from graph import Listener, sim
from launch import LaunchDescription
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_msgs.msg import FlexState

FOLDER = tempfile.TemporaryDirectory()
TIMEOUT = 2.0            # s; a busy machine may keep the test from its next command for a while
LIMIT = 10.0             # N m, of the robot's file
DAMPING = 1.0            # N m s/rad, of the drive


@pytest.mark.launch_test
def generate_test_description():
    path = Path(FOLDER.name, 'parameters.yaml')
    path.write_text(yaml.safe_dump({'/**/simulator': {'ros__parameters': {
        'rate': 100.0, 'step': 0.002, 'drive.damping': [DAMPING], 'command_timeout': TIMEOUT}}}))
    return LaunchDescription([
        sim(robot='lab_link', headless='true', control='false', driver='answering',
            params_file=str(path)),
        launch_testing.actions.ReadyToTest()])


def acting(message):
    """The commanded effort in what the motor gives, N m."""
    return message.effort[0] + DAMPING * message.velocity[0]


class TestCommands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        for kind, topic in ((JointState, 'joint_states'), (FlexState, 'flex_state'),
                            (DiagnosticArray, '/diagnostics')):
            graph.listen(kind, topic, 100)
        cls.publishers = [graph.node.create_publisher(JointState, 'joint_commands', 10)]
        graph.until(cls.publishers[0].get_subscription_count, 'the simulator')
        graph.next('joint_states', 2)

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def send(self, effort=0.5, who=0, age=0.0, **fields):
        """A command, stamped `age` s before the last state that was heard."""
        message = JointState(name=['joint1'])
        message.effort = effort if isinstance(effort, list) else [effort]
        now = self.graph.heard['joint_states'][-1].header.stamp
        at = max(now.sec * 10**9 + now.nanosec - round(1e9 * age), 1)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(at, 10**9)
        for name, value in fields.items():
            setattr(message, name, value)
        self.publishers[who].publish(message)
        return message

    def drive(self, seconds=0.4, effort=0.5, **more):
        """A stream of commands; the one that acted in the end."""
        for _ in range(round(seconds / 0.02)):
            self.send(effort, **more)
            self.graph.spin(0.02)
        return acting(self.graph.heard['joint_states'][-1])

    def status(self, silent=False):
        """Level, text and values of the simulator's next status; silent: without commands."""
        self.graph.heard['/diagnostics'].clear()

        def find():
            if not silent:
                self.send(0.1)
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == 'simulator: status'), None)
        status = self.graph.until(find, 'a status')
        return status.level, status.message, {v.key: v.value for v in status.values}

    def assert_well(self):
        """A good command still acts, and nothing is wrong."""
        self.graph.until(lambda: abs(self.drive(0.2, 0.3) - 0.3) < 1e-9, 'a command that acts')
        state = self.graph.heard['flex_state'][-1]
        assert np.isfinite([*state.position, *state.velocity]).all()

    def refused(self, reason, **command):
        """The bad command goes out again and again, and is refused for that reason."""
        def seen():
            for _ in range(3):
                self.send()
                self.graph.spin(0.02)
                self.send(**command)
                self.graph.spin(0.02)
            return reason in self.status()[2]['last rejection']
        before = int(self.status()[2]['rejected commands'])
        self.graph.until(seen, reason)
        assert int(self.status()[2]['rejected commands']) > before
        self.assert_well()

    def test_commands_that_stop(self):
        self.drive()
        self.graph.until(lambda: 'fail-safe' in self.status(True)[1], 'the fail-safe')
        level, _, _ = self.status(True)
        assert level == DiagnosticStatus.WARN
        # The drive still damps, and no effort of the last command is left.
        assert abs(acting(self.graph.next('joint_states')[0])) < 1e-9
        self.graph.until(lambda: abs(self.graph.next('joint_states')[0].velocity[0]) < 0.05,
                         'a link that comes to rest')
        self.assert_well()
        assert self.status()[2]['driven by'] == '/listener'

    def test_commands_that_come_late(self):
        self.refused(f'is more than {TIMEOUT:g} s old', age=1e3)

    def test_commands_out_of_order(self):
        def seen():
            self.drive(0.1)
            self.send(age=0.1)           # older than the last one, and young enough to act
            self.graph.spin(0.02)
            return 'is before that of the command before' in self.status()[2]['last rejection']
        self.graph.until(seen, 'the refusal of an old command')
        self.assert_well()

    def test_commands_of_the_future(self):
        self.refused('is after the present', age=-1e3)

    def test_duplicated_commands_act_once(self):
        self.drive(0.2)
        rejected = int(self.status()[2]['rejected commands'])

        def acts():
            message = self.send(0.4)
            for _ in range(3):
                self.publishers[0].publish(message)
            self.graph.spin(0.05)
            return abs(acting(self.graph.heard['joint_states'][-1]) - 0.4) < 1e-9
        for _ in range(10):
            self.graph.until(acts, 'a command that acts')
        assert int(self.status()[2]['rejected commands']) == rejected
        self.assert_well()

    def test_wrong_names(self):
        self.refused("name: 'elbow' is no joint of this robot; joints: joint1", name=['elbow'])
        self.refused('name: expected joint names, found none', name=[], effort=[])
        self.refused('name: a joint is named twice', name=['joint1', 'joint1'], effort=[1.0, 1.0])

    def test_wrong_lengths(self):
        for field, value in (('effort', [1.0, 2.0]), ('position', [1.0, 2.0]),
                             ('velocity', [0.0, 0.0, 0.0])):
            self.refused(f'{field}: expected 1 numbers, one a name, found {len(value)}',
                         **{field: value})

    def test_numbers_that_are_none(self):
        for value in (math.nan, math.inf, -math.inf):
            self.refused(f'effort: expected finite numbers, found {value} for joint1',
                         effort=[value])

    def test_ten_times_the_limit(self):
        for sign in (1.0, -1.0):         # each for a moment, so that the link stays in reach
            self.graph.until(lambda sign=sign: sign * self.drive(0.06, sign * 10.0 * LIMIT) > 2.0,
                             'a large effort')
        efforts = [m.effort[0] for m in self.graph.heard['joint_states']]
        assert max(map(abs, efforts)) <= LIMIT
        assert int(self.status()[2]['commands cut to limits']) > 0
        self.assert_well()

    def test_two_controllers_at_once(self):
        self.graph.until(lambda: self.status()[2]['driven by'] == '/listener', 'a driver')
        second = Node('second', context=self.graph.context)
        self.publishers.append(second.create_publisher(JointState, 'joint_commands', 10))
        self.graph.until(self.publishers[1].get_subscription_count, 'the simulator')
        begin = len(self.graph.heard['joint_states'])
        for _ in range(40):
            self.send(0.2)
            self.send(-7.0, who=1)
            self.graph.spin(0.02)
        efforts = [acting(m) for m in self.graph.heard['joint_states'][begin:]]
        assert min(efforts) > -1.0
        _, _, values = self.status()
        assert values['last rejection'] == (
            '/listener drives the robot: commands of /second are refused until it has been silent '
            f'for {TIMEOUT:g} s')
        # The first falls silent: the second takes over.
        self.graph.until(lambda: self.drive(0.2, -0.2, who=1) < -0.1, 'the second driver')
        second.destroy_node()
        self.assert_well()


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        text = b''.join(io.text for io in proc_output).decode()
        assert 'Traceback' not in text
        assert not re.search(r'\bnan\b', text.replace('found nan', ''))
        FOLDER.cleanup()
