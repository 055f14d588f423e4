"""A robot driven with the wrong sign of damping: the simulator pauses, tells what ran away, and
goes on after a reset. The wrong sign in the robot's own file is refused before anything starts."""
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
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from graph import SIM, Listener, sim
from launch import LaunchDescription
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation

from flex_msgs.msg import FlexState, StrainGauges

FOLDER = tempfile.TemporaryDirectory()
# A light flexible link on a joint that turns without end and has no limits of effort or speed.
ROBOT = """<robot name="unbounded">
  <link name="base"/><link name="arm"/><link name="tip"/>
  <joint name="hub" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    {dynamics}</joint>
  <joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>
    <origin xyz="1 0 0"/></joint>
  <flexible link="arm">
    <beam length="1"><section A="1e-4" Iy="1e-9" Iz="1e-9" J="2e-9"/>
      <material E="70e9" G="26e9" density="2700"/></beam>
    <modes basis="craig-bampton" bending_y="2" bending_z="2" twist="1"/>
    <gauge name="root" x="0.05" y="0.003"/>
  </flexible>
  <imu name="tip_imu" frame="tip"/>
  <gravity xyz="0 0 0"/>
</robot>"""
PARAMETERS = {'/**/simulator': {'ros__parameters': {
    'rate': 200.0, 'step': 0.001, 'drive.bandwidth': 0.0}}}


def write(name, text):
    path = Path(FOLDER.name, name)
    path.write_text(text)
    return str(path)


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        sim(robot=write('robot.urdf', ROBOT.format(dynamics='')), headless='true',
            control='false', driver='answering', sync='lockstep',
            params_file=write('parameters.yaml', yaml.safe_dump(PARAMETERS))),
        launch_testing.actions.ReadyToTest()])


class TestUnstable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        for kind, topic in ((JointState, 'joint_states'), (FlexState, 'flex_state'),
                            (StrainGauges, 'strain_gauges'), (Imu, 'imu/tip_imu'),
                            (DiagnosticArray, '/diagnostics')):
            graph.listen(kind, topic, 100)
        cls.publisher = graph.node.create_publisher(JointState, 'joint_commands', 10)
        cls.push, cls.damping = 0.1, -2.0           # N m, and N m s/rad: the wrong sign
        graph.node.create_subscription(FlexState, 'flex_state', cls.answer, 10)

    @classmethod
    def answer(cls, state):
        """A controller that damps the joint, or means to."""
        cls.publisher.publish(JointState(header=state.header, name=['hub'],
                                         effort=[cls.push - cls.damping * state.velocity[0]]))

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def status(self, level):
        """The next status of the simulator that is of that level."""
        self.graph.heard['/diagnostics'].clear()

        def find():
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == 'simulator: status' and s.level == level), None)
        return self.graph.until(find, 'a status')

    def play(self, state):
        return self.graph.call(SetSimulationState, 'simulator/set_simulation_state',
                               SetSimulationState.Request(state=SimulationState(state=state)))

    def test_it_pauses_at_the_last_good_state_and_says_what_ran_away(self):
        graph = self.graph
        status = self.status(DiagnosticStatus.ERROR)
        assert 'the motion' in status.message
        assert any(f'largest speed in {name}' in status.message
                   for name in graph.heard['flex_state'][-1].name), status.message
        graph.still('flex_state')          # that is still shown, five times a s
        for topic in ('flex_state', 'joint_states', 'strain_gauges', 'imu/tip_imu'):
            for message in graph.heard[topic]:
                assert np.isfinite(numbers(message)).all(), (topic, message)

        # It plays again after a reset, and not before.
        answer = self.play(SimulationState.STATE_PLAYING).result
        assert answer.result == SetSimulationState.Response.STATE_TRANSITION_ERROR
        assert 'reset first' in answer.error_message
        step = graph.call(StepSimulation, 'simulator/step_simulation',
                          StepSimulation.Request(steps=1)).result
        assert step.result == Result.RESULT_INCORRECT_STATE and 'the motion' in step.error_message
        reset = graph.call(ResetSimulation, 'simulator/reset_simulation',
                           ResetSimulation.Request()).result
        assert reset.result == Result.RESULT_OK
        assert self.play(SimulationState.STATE_PLAYING).result.result == Result.RESULT_OK

        # Without that feedback the arm moves again.
        self.__class__.damping = 0.0
        graph.until(lambda: graph.next('joint_states')[0].position[0] > 0.05, 'a motion')
        self.__class__.push = 0.0      # it goes on as it is: no faster, however long we look
        graph.until(lambda: graph.next('flex_state')[0] != graph.next('flex_state')[0],
                    'time that goes on')
        assert 'the motion' not in self.status(DiagnosticStatus.OK).message


def numbers(message):
    if isinstance(message, Imu):
        parts = (message.angular_velocity, message.linear_acceleration)
        return [value for part in parts for value in (part.x, part.y, part.z)]
    if isinstance(message, StrainGauges):
        return list(message.strain)
    return [*message.position, *message.velocity, *getattr(message, 'effort', ())]


class TestWrongSignInTheFile(unittest.TestCase):
    def test_it_is_refused_in_one_line(self):
        path = write('wrong.urdf', ROBOT.format(dynamics='<dynamics damping="-0.5"/>'))
        done = subprocess.run(['ros2', 'launch', str(SIM), f'robot:={path}', 'headless:=true'],
                              capture_output=True, text=True, timeout=180)
        said = done.stdout + done.stderr
        assert done.returncode != 0 and 'Traceback' not in said, said
        line, = [line for line in said.splitlines() if 'damping' in line]
        assert 'damping: expected a number not below 0' in line and '-0.5' in line, line


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        text = b''.join(io.text for io in proc_output).decode()
        assert 'Traceback' not in text
        assert text.count('paused at the last good state') == 1
        FOLDER.cleanup()
