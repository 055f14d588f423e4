"""Stiffness, damping and friction of a running simulator, by parameter."""
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
from graph import Listener, Parameters, seconds, sim
from launch import LaunchDescription
from rcl_interfaces.srv import DescribeParameters
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation

from flex_description import load_robot
from flex_dynamics import Model, model_parameters, with_parameters
from flex_msgs.msg import FlexState
from flex_msgs.srv import AttachPayload, DetachPayload

MODEL = Model(load_robot('cibicik_arm'))
KNOWN = {path: one.value for path, one in model_parameters(MODEL).items()}
SOFT, LATER = 'link2.bending_stiffness_y', 'link3.bending_stiffness_y'
FOLDER = tempfile.TemporaryDirectory()
START = [0.0, 0.5, 1.0, 0.5]
PARAMETERS = {
    '/**/simulator': {'ros__parameters': {
        'rate': 100.0, 'step': 0.001, 'start.positions': START, 'command_timeout': 1000.0,
        'drive.bandwidth': 0.0, 'drive.stiffness': [1e6],
        'drive.damping': [8000.0, 8000.0, 4000.0, 400.0],
        f'model.{SOFT}': 0.5 * KNOWN[SOFT], 'model.link2.damping': 0.2, 'model.link3.damping': 0.2,
    }},
}


@pytest.mark.launch_test
def generate_test_description():
    path = Path(FOLDER.name, 'parameters.yaml')
    path.write_text(yaml.safe_dump(PARAMETERS))
    return LaunchDescription([sim(headless='true', control='false', driver='answering',
                                  params_file=str(path)),
                              launch_testing.actions.ReadyToTest()])


class TestPhysicalParameters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        cls.parameters = Parameters(graph, 'simulator')
        graph.listen(FlexState, 'flex_state', 100)
        graph.listen(DiagnosticArray, '/diagnostics', 100)
        commands = graph.node.create_publisher(JointState, 'joint_commands', 10)
        graph.until(commands.get_subscription_count, 'the simulator')
        # One command is held for ever; the drives are stiff, so that the joints hardly move.
        commands.publish(JointState(name=list(MODEL.names[:4]), position=START,
                                    effort=MODEL.statics(START)[1].tolist()))

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def settles_at(self, model):
        """Whether the links come to rest as that model bends at the joints' positions."""
        def rests():
            state = self.graph.next('flex_state', 30)[-1]
            q = np.array(state.position)
            bent = model.statics(q[:4])[0]
            return np.abs(q - bent)[4:].max() < 1e-6 + 0.01 * np.abs(bent[4:]).max()
        self.graph.until(rests, 'rest')

    def status(self, key):
        self.graph.heard['/diagnostics'].clear()

        def find():
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == 'simulator: status'), None)
        return {v.key: v.value for v in self.graph.until(find, 'diagnostics').values}[key]

    def test_values_of_the_start_and_values_set_later_bend_the_links(self):
        given = {SOFT: 0.5 * KNOWN[SOFT]}
        self.settles_at(with_parameters(MODEL, given))
        self.graph.until(lambda: SOFT in self.status('parameters changed'), 'the status')
        attach = AttachPayload.Request(name='box', frame='tool')
        attach.inertia.m = 2.0
        assert self.graph.call(AttachPayload, 'simulator/attach_payload', attach).success
        given[LATER] = 0.7 * KNOWN[LATER]
        last = self.graph.next('flex_state')[0]
        assert self.parameters.set(f'model.{LATER}', given[LATER]) == ''
        after = self.graph.next('flex_state')[0]
        assert seconds(after.header.stamp) > seconds(last.header.stamp)
        # The step of the links is a motion, not a jump.
        assert np.abs(np.subtract(after.position, last.position)).max() < 0.05
        self.settles_at(with_parameters(MODEL, given).with_payload('box', 'tool', 2.0))
        # The payload is still one that can be let go, and a reset keeps the values.
        assert self.graph.call(DetachPayload, 'simulator/detach_payload',
                               DetachPayload.Request(name='box')).success
        scope = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        answer = self.graph.call(ResetSimulation, 'simulator/reset_simulation', scope).result
        assert answer.result == Result.RESULT_OK
        self.settles_at(with_parameters(MODEL, given))
        assert self.parameters.set(f'model.{LATER}', KNOWN[LATER]) == ''
        self.graph.until(lambda: LATER not in self.status('parameters changed'), 'the status')

    def test_bad_values_are_refused_with_the_reason(self):
        lower, upper = 1e-4 * KNOWN[SOFT], 1e6 * KNOWN[SOFT]
        for name, value, reason in (
                (SOFT, 0.0, f'expected {lower:g} to {upper:g}, found 0'),
                (SOFT, -1.0, 'found -1'), (SOFT, float('nan'), 'found nan'),
                (SOFT, 1e30, 'found 1e+30'), (SOFT, 'soft', "expected numbers, found 'soft'"),
                (SOFT, [1e5, 1e5], 'expected a number'),
                ('link2.damping', 11.0, 'expected 0 to 10, found 11'),
                ('joint1.friction', -0.1, 'expected 0 to 1e+09')):
            assert reason in self.parameters.set(f'model.{name}', value), (name, value)
        # All or none.
        reason = self.parameters.set_all((f'model.{LATER}', 0.5 * KNOWN[LATER]),
                                         ('model.joint1.friction', -1.0))
        assert 'joint1.friction' in reason
        assert LATER not in self.status('parameters changed')

    def test_each_has_a_description_and_a_dump_can_be_loaded(self):
        name = f'model.{SOFT}'
        found, = self.graph.call(DescribeParameters, 'simulator/describe_parameters',
                                 DescribeParameters.Request(names=[name])).descriptors
        for part in ('E Iy', 'N m2', 'while the robot moves'):
            assert part in found.description
        dump = subprocess.run(['ros2', 'param', 'dump', '/simulator'], capture_output=True,
                              text=True, timeout=120)
        assert dump.returncode == 0, dump.stderr
        dumped = yaml.safe_load(dump.stdout)['/simulator']['ros__parameters']['model']
        assert dumped['link2']['bending_stiffness_y'] == 0.5 * KNOWN[SOFT]
        file = Path(FOLDER.name, 'changed.yaml')
        file.write_text(yaml.safe_dump({'/simulator': {'ros__parameters': {'model': {
            'joint1': {'friction': 2.5}, 'joint2': {'damping': 3}}}}}))
        load = subprocess.run(['ros2', 'param', 'load', '/simulator', str(file)],
                              capture_output=True, text=True, timeout=120)
        assert load.returncode == 0, load.stderr
        for one in ('joint1.friction 2.5', 'joint2.damping 3'):
            self.graph.until(lambda one=one: one in self.status('parameters changed'), one)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_exit_codes(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_the_log_tells_what_was_changed(self, proc_output):
        launch_testing.asserts.assertInStderr(
            proc_output, f'the model differs from the description: {SOFT}', None)
        launch_testing.asserts.assertInStderr(proc_output, f'model changed: {LATER}', None)
