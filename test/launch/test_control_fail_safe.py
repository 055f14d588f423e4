"""The control node, free running: loss of terms and of states, a controller that fails."""
import os
import signal
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from foreign_package import ForeignPackage
from graph import Listener, seconds, sim
from launch import LaunchDescription
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

CONTROLLERS = '''
from flex_control import Controller, Parameter
from flex_dynamics.model.joint_inertia import largest_joint_inertia


class Carry(Controller):
    """Carries the weight, with springs, by the terms on the topic."""
    needs_terms = True

    def drive_gains(self):
        inertia = largest_joint_inertia(self.model)
        return 0.0 * inertia, 10.0 * inertia

    def update(self, time, period):
        joints = self.model.n_joints
        error = self.reference.position - self.q[:joints]
        return 20.0 * self.terms.M[:joints, :joints] @ error + self.terms.g[:joints]


class Faulty(Carry):
    """Gives NaN when told to."""
    PARAMETERS = (Parameter('fails', False, 'whether it fails'),)

    def update(self, time, period):
        return super().update(time, period) * (float('nan') if self.parameters['fails'] else 1.0)
'''
PARAMETERS = """
/**/simulator:
  ros__parameters: {rate: 100.0, command_timeout: 2.0, drive.bandwidth: 0.0,
                    real_time_factor: 0.5}
/**/dynamics:
  ros__parameters: {rate: 50.0}
/**/control:
  ros__parameters: {pd.bandwidth: 5.0, input_timeout: 1.0,
                    state_timeout: 3.0}
/**/state_publisher:
  ros__parameters: {rate: 5.0}
"""


@pytest.mark.launch_test
def generate_test_description():
    package = ForeignPackage('fault_control', CONTROLLERS, {'carry': 'Carry', 'faulty': 'Faulty'})
    return LaunchDescription([
        sim(robot='lab_link', headless='true', controller='carry',
            params_file=package.write('parameters.yaml', PARAMETERS)),
        launch_testing.actions.ReadyToTest()]), {'package': package}


class TestFailSafe(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(DiagnosticArray, '/diagnostics')
        graph.listen(JointState, 'joint_commands', QoSProfile(depth=1000))
        graph.listen(JointState, 'joint_states')
        cls.client = ActionClient(graph.node, FollowJointTrajectory,
                                  'control/follow_joint_trajectory')
        graph.until(cls.client.server_is_ready, 'the action server')
        graph.next('joint_commands', 10)
        cls.stopped = []

    @classmethod
    def tearDownClass(cls):
        for pid in cls.stopped:
            os.kill(pid, signal.SIGCONT)
        cls.client.destroy()
        cls.graph.close()

    def stop(self, proc_info, node):
        """Hold a node up, as a machine that swaps would; returns how to let it go on."""
        pid = next(event.pid for event in proc_info if event.process_name.startswith(node))
        os.kill(pid, signal.SIGSTOP)
        self.stopped.append(pid)

        def go_on():
            os.kill(pid, signal.SIGCONT)
            self.stopped.remove(pid)
        return go_on

    def until_status(self, level, words):
        def found():
            for message in self.graph.heard['/diagnostics'][begin:]:
                for status in message.status:
                    if (status.name == 'control: status' and status.level == level
                            and words in status.message):
                        return True
            return False
        begin = len(self.graph.heard['/diagnostics'])
        self.graph.until(found, f'{words!r} in the status of control')

    def send(self, position, duration):
        point = JointTrajectoryPoint(positions=[position], velocities=[0.0], accelerations=[0.0])
        point.time_from_start.sec = duration
        joint = self.graph.next('joint_commands')[0].name[0]
        goal = FollowJointTrajectory.Goal(
            trajectory=JointTrajectory(joint_names=[joint], points=[point]))
        future = self.client.send_goal_async(goal)
        self.graph.until(future.done, 'the acceptance')
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.graph.until(future.done, 'the result')
        return future.result().status, future.result().result

    def set(self, name, kind, **value):
        request = SetParameters.Request(parameters=[
            Parameter(name=name, value=ParameterValue(type=kind, **value))])
        result, = self.graph.call(SetParameters, 'control/set_parameters', request).results
        assert result.successful, result.reason

    def test_a_lost_terms_bring_the_arm_to_rest_until_they_are_there_again(self, proc_info):
        handle = self.send(0.5, 30)
        self.graph.next('joint_commands', 20)
        go_on = self.stop(proc_info, 'dynamics')
        status, result = self.result(handle)
        assert status == GoalStatus.STATUS_ABORTED
        assert 'no dynamics_terms for more than 1 s' in result.error_string
        self.until_status(DiagnosticStatus.ERROR, 'fail-safe (hold): no dynamics_terms')
        first, last = self.graph.next('joint_commands', 100)[::99]
        assert np.isfinite(first.effort).all()          # commands go on
        assert seconds(last.header.stamp) > seconds(first.header.stamp)
        assert abs(last.position[0] - first.position[0]) < 0.05 and last.velocity[0] == 0.0
        status, result = self.result(self.send(0.1, 1))
        assert status == GoalStatus.STATUS_ABORTED and 'no motion now' in result.error_string
        go_on()
        self.until_status(DiagnosticStatus.OK, 'running')
        assert self.result(self.send(0.1, 1))[0] == GoalStatus.STATUS_SUCCEEDED

    def test_b_lost_states_bring_a_command_that_holds(self, proc_info):
        handle = self.send(0.5, 30)
        state = self.graph.next('joint_states', 20)[-1]
        go_on = self.stop(proc_info, 'simulator')
        status, result = self.result(handle)
        assert status == GoalStatus.STATUS_ABORTED and 'no state for' in result.error_string
        self.until_status(DiagnosticStatus.ERROR, 'fail-safe (hold): no state for')
        command = self.graph.next('joint_commands')[0]
        assert command.velocity[0] == 0.0
        assert abs(command.position[0] - state.position[0]) < 0.05
        go_on()
        self.until_status(DiagnosticStatus.OK, 'running')
        found = self.graph.next('joint_states')[0].position[0]
        assert abs(self.graph.next('joint_commands')[0].position[0] - found) < 0.05

    def test_c_a_controller_that_fails_is_replaced_until_someone_mends_it(self):
        kinds = ParameterType
        self.set('controller', kinds.PARAMETER_STRING, string_value='faulty')
        self.until_status(DiagnosticStatus.OK, 'running')
        self.set('faulty.fails', kinds.PARAMETER_BOOL, bool_value=True)
        self.until_status(DiagnosticStatus.ERROR, 'fail-safe (hold): controller faulty: Faulty: '
                          'expected 1 finite efforts')
        for command in self.graph.next('joint_commands', 20):
            assert np.isfinite(command.effort).all()
        self.set('faulty.fails', kinds.PARAMETER_BOOL, bool_value=False)
        self.until_status(DiagnosticStatus.OK, 'running')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output, package):
        package.remove()
        launch_testing.asserts.assertExitCodes(proc_info)
        for io in proc_output:
            assert b'Traceback' not in io.text, io.text
