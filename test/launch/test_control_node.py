"""The control node in lockstep: a foreign controller, terms by topic, switching, the action."""
import itertools
import re
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from diagnostic_msgs.msg import DiagnosticArray
from foreign_package import ForeignPackage
from graph import Listener, seconds, sim
from launch import LaunchDescription
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_msgs.msg import FlexState

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'flex_control' / 'doc' / 'write_your_own_controller.md'
START = np.array([0.0, 0.5, 2.0, 0.5])
JOINTS = ['joint1', 'joint2', 'joint3', 'joint4']
ALL = QoSProfile(depth=5000)
FAR_OFF = 100.0      # s; time goes faster than the wall clock, and a test may be held up
Result = FollowJointTrajectory.Result

# The links start straight, so that they swing: equal bits are then worth something. The steps are
# so small that who listens has less to do than the simulator, and keeps up on a busy machine too.
PARAMETERS = """
/**/simulator:
  ros__parameters:
    rate: 200.0
    step: 1.0e-4
    drive.bandwidth: 0.0
    start.deflected: false
    start.positions: [0.0, 0.5, 2.0, 0.5]
/**/dynamics:
  ros__parameters: {rate: 50.0}
/**/control:
  ros__parameters:
    terms_rate: 50.0
    pd.bandwidth: 10.0
    allow_partial_joints_goal: false
    stop_time: 0.2
    constraints.stopped_velocity_tolerance: 0.1
    limits.acceleration: [50.0]
/**/state_publisher:
  ros__parameters: {rate: 10.0}
"""


PROBE = """
import numpy as np
from flex_control import ControlError, Controller
from flex_dynamics import Sensors


class Probe(Controller):
    '''Holds the arm as long as every sensor reads what belongs to the state.'''
    needs_measurements = True

    def drive_gains(self):
        return np.full(4, 2e4), np.full(4, 2e3)

    def update(self, time, period):
        seen = self.measurements
        imu = self.sensors.imu(self.q, self.v, np.zeros(self.model.n))[0]
        if not (np.array_equal(seen.joint_position, self.q[:4])
                and np.array_equal(seen.joint_velocity, self.v[:4])
                and np.array_equal(seen.strain, self.sensors.strain(self.q))
                and np.array_equal(seen.gyro, [imu.gyro])
                and seen.acceleration.shape == (1, 3)):
            raise ControlError(f'expected the readings of the state, found {seen}')
        return np.zeros(4)

    def parameters_changed(self):
        self.sensors = Sensors(self.model)
"""


def package_of_the_page():
    """The two files that the page shows."""
    module, setup, *_ = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)
    lines = len(module.splitlines()) + len(setup.splitlines())
    assert lines <= 30, f'the page promises 30 lines and has {lines}'
    name = re.search(r"py_modules=\['(\w+)'\]", setup).group(1)
    key, kind = re.search(rf"\['(\w+) = {name}:(\w+)'\]", setup).groups()
    return ForeignPackage(name, module, {key: kind})


@pytest.mark.launch_test
def generate_test_description():
    package = package_of_the_page()
    probe = ForeignPackage('probe_control', PROBE, {'probe': 'Probe'})
    return LaunchDescription([
        sim(headless='true', sync='lockstep', controller='gentle',
            params_file=package.write('parameters.yaml', PARAMETERS)),
        launch_testing.actions.ReadyToTest()]), {'packages': (package, probe)}


def trajectory(positions, duration, names=JOINTS, stamp=0.0):
    zero = [0.0] * len(positions)
    point = JointTrajectoryPoint(positions=list(positions), velocities=zero, accelerations=zero)
    point.time_from_start.sec = int(duration)
    point.time_from_start.nanosec = round(duration % 1 * 1e9)
    message = JointTrajectory(joint_names=list(names), points=[point])
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), round(stamp % 1 * 1e9)
    return message


def set_back(messages):
    """The place of the first message after a reset of time; 0 if there was none."""
    steps = np.diff([seconds(message.header.stamp) for message in messages])
    return max(np.flatnonzero(steps < 0.0) + 1, default=0)


class TestControl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(FlexState, 'flex_state', ALL)
        graph.listen(JointState, 'joint_commands', ALL)
        graph.listen(DiagnosticArray, '/diagnostics')
        graph.listen(JointTrajectoryControllerState, 'control/controller_state')
        cls.client = ActionClient(graph.node, FollowJointTrajectory,
                                  'control/follow_joint_trajectory',
                                  feedback_sub_qos_profile=ALL)
        graph.until(cls.client.server_is_ready, 'the action server')
        graph.next('control/controller_state')
        cls.feedback = []

    @classmethod
    def tearDownClass(cls):
        cls.client.destroy()
        cls.graph.close()

    def set(self, **values):
        """Set parameters of the control node at once; `__` stands for a dot."""
        kinds = {str: ('string_value', ParameterType.PARAMETER_STRING),
                 float: ('double_value', ParameterType.PARAMETER_DOUBLE)}
        given = []
        for name, value in values.items():
            field, kind = kinds[type(value)]
            given.append(Parameter(name=name.replace('__', '.'),
                                   value=ParameterValue(type=kind, **{field: value})))
        return self.graph.call(SetParametersAtomically, 'control/set_parameters_atomically',
                               SetParametersAtomically.Request(parameters=given)).result

    def send(self, message, **fields):
        del self.feedback[:]
        goal = FollowJointTrajectory.Goal(trajectory=message, **fields)
        future = self.client.send_goal_async(goal, feedback_callback=self.feedback.append)
        self.graph.until(future.done, 'the acceptance')
        assert future.result().accepted
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self.graph.until(future.done, 'the result')
        return future.result().status, future.result().result

    def begun(self):
        """Since when (s) the goal is followed: what is heard now may be of the motion before."""
        return seconds(self.graph.until(lambda: self.feedback, 'feedback')[0]
                       .feedback.header.stamp)

    def commands(self, begin):
        """What was heard since `begin` (s), by its stamp: a command that is sent again is one."""
        return {seconds(m.header.stamp): m for m in self.graph.heard['joint_commands']
                if seconds(m.header.stamp) > begin}

    def now(self):
        return seconds(self.graph.next('flex_state')[0].header.stamp)

    def wait(self, duration):
        """Let simulated time pass."""
        until = self.now() + duration
        self.graph.until(lambda: self.now() > until, f'{duration} s later')

    def reset(self):
        """Back to the start; forget what was heard of the time before."""
        heard = [self.graph.heard[topic] for topic in ('flex_state', 'joint_commands')]
        for topic in ('flex_state', 'joint_commands'):
            self.graph.next(topic)
            del self.graph.heard[topic][:-1]
        self.graph.call(ResetSimulation, 'simulator/reset_simulation', ResetSimulation.Request())
        # Time goes fast: states and commands from before the reset are still on their way, and
        # the first of the new run may have come before the answer.
        for messages in heard:
            begin = self.graph.until(lambda messages=messages: set_back(messages), 'time set back')
            del messages[:begin]

    def test_a_the_foreign_controller_with_terms_by_topic_is_the_same_to_the_last_bit(self):
        # Who is held up loses some of the 101 of each topic, as the simulator waits for nobody but
        # the control node: so it takes two runs, or more on a busy machine.
        known, compared = {}, 0
        for _ in range(20):
            self.reset()
            self.graph.until(lambda: self.now() > 0.6, 'a while')
            run = {
                (topic, seconds(message.header.stamp)):
                    (bytes(message.position), bytes(getattr(message, 'effort', b'')))
                for topic in ('flex_state', 'joint_commands')
                for message in self.graph.heard[topic] if seconds(message.header.stamp) <= 0.5}
            assert len(run) <= 2 * 101
            both = known.keys() & run.keys()
            assert [known[at] for at in both] == [run[at] for at in both]
            known.update(run)
            compared += len(both)
            if compared > 100:
                break
        assert compared > 100
        speeds = np.array([m.velocity for m in self.graph.heard['flex_state']])
        assert np.abs(speeds).max() > 0.1      # and it did move

    def test_b_controllers_and_gains_change_in_mid_motion_without_a_jump(self):
        """The weight that gentle carries at the change to half is what would jump."""
        begin = self.now()
        handle = self.send(trajectory(START + [0.4, 0.3, -0.4, 0.2], 1.5))
        self.wait(0.3)
        for change in ({'controller': 'pd'}, {'controller': 'gentle', 'gentle__carry': 0.5},
                       {'gentle__carry': 1.0}, {'controller': 'pd'}):
            assert self.set(**change).successful
            self.wait(0.25)
            self.assert_smooth(begin, change)
        status, result = self.result(handle)
        assert status == GoalStatus.STATUS_SUCCEEDED and result.error_code == Result.SUCCESSFUL
        self.wait(0.25)
        self.assert_smooth(begin, 'the end')

    def assert_smooth(self, begin, what):
        """No effort since `begin` (s) leaves the line of its neighbours by a tenth of the weight.
        (Steps alone would not do: an arm that fell for long at half of its weight is picked up
        by efforts that grow fast.)"""
        efforts = {at: np.array(m.effort) for at, m in self.commands(begin).items()}
        stamps = sorted(efforts)
        periods = np.round(np.diff(stamps) / 0.005)          # between those that were heard
        steps = np.diff([efforts[at] for at in stamps], axis=0) / periods[:, None]
        jumps = np.abs(steps[1:-1] - 0.5 * (steps[:-2] + steps[2:])).max(axis=1)
        weight = np.abs(efforts[stamps[-1]]).max()
        assert weight > 50.0                 # N m: a jump to half of it would show
        at = int(jumps.argmax())
        assert jumps[at] < 0.1 * weight, (
            what, stamps[at], [efforts[when] for when in stamps[max(at - 1, 0):at + 5]])

    def test_c_bad_changes_are_refused_with_the_reason_and_change_nothing(self):
        assert self.set(controller='pd').successful
        for change, words in (({'controller': 'gentel'}, "did you mean 'gentle'?"),
                              ({'gentle__frequency': 99.0}, 'gentle.frequency: expected 0 to 20'),
                              ({'controller': 'gentle', 'gentle__carry': 2.0}, 'carry: expected'),
                              ({'shaper': 'zvx'}, 'shaper: expected one of none, zv'),
                              ({'pd__kp': -1.0}, 'pd.kp: expected 0 to')):
            result = self.set(**change)
            assert not result.successful and words in result.reason, result.reason
        self.graph.until(lambda: self.status().message == 'running', 'the state as before')
        assert {v.key: v.value for v in self.status().values}['controller'] == 'pd'

    def status(self):
        begin = len(self.graph.heard['/diagnostics'])

        def find():
            return next((status for message in self.graph.heard['/diagnostics'][begin:]
                         for status in message.status if status.name == 'control: status'), None)
        return self.graph.until(find, 'the status of control')

    def test_d_a_goal_succeeds_with_feedback(self):
        handle = self.send(trajectory(START, 0.6),
                           goal_tolerance=[JointTolerance(name='joint2', position=0.05)])
        status, result = self.result(handle)
        assert (status, result.error_code) == (GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL)
        stamps = [seconds(m.feedback.header.stamp) for m in self.feedback]
        periods = np.diff(stamps) / 0.05          # one may be lost by who is held up
        assert len(stamps) > 4 and np.allclose(periods, np.round(periods)) and periods.min() > 0.5
        last = self.feedback[-1].feedback
        assert list(last.joint_names) == JOINTS
        assert np.allclose(np.array(last.desired.positions) - last.actual.positions,
                           last.error.positions)
        answer = self.graph.call(QueryTrajectoryState, 'control/query_state',
                                 QueryTrajectoryState.Request(time=last.header.stamp))
        assert answer.success and np.allclose(answer.position, last.desired.positions)

    def test_e_a_newer_goal_or_trajectory_takes_the_place_of_a_goal(self):
        first = self.send(trajectory(START + 0.5, FAR_OFF))
        self.wait(0.2)
        second = self.send(trajectory(START + 0.2, FAR_OFF))
        status, result = self.result(first)
        assert status == GoalStatus.STATUS_ABORTED and 'another goal' in result.error_string
        publisher = self.graph.node.create_publisher(JointTrajectory, 'control/joint_trajectory',
                                                     10)
        self.graph.until(publisher.get_subscription_count, 'the control node')
        publisher.publish(trajectory(START, 0.3))
        status, result = self.result(second)
        assert status == GoalStatus.STATUS_ABORTED
        assert 'joint_trajectory took its place' in result.error_string
        self.wait(0.5)             # at rest at the start

    def test_f_a_cancelled_goal_comes_to_rest_without_a_jump(self):
        for goal in (START + 0.5, START) * 3:
            handle = self.send(trajectory(goal, 20.0))
            begin = self.begun()
            self.wait(2.0)
            future = handle.cancel_goal_async()
            self.graph.until(future.done, 'the answer to the cancellation')
            status = self.result(handle)[0]
            if status != GoalStatus.STATUS_SUCCEEDED:      # it does if we are held up for long
                break
        assert status == GoalStatus.STATUS_CANCELED
        stamps = set()

        def wanted():
            sent = self.commands(begin)
            stamps.update(sent)
            return np.array([sent[at].position for at in sorted(sent)])

        def at_rest():       # after a motion: what is heard may be long past
            self.graph.spin(0.1)
            found = wanted()[[0, *range(-20, 0)]] if len(wanted()) > 20 else None
            return (found is not None and (found[1:] == found[-1]).all()
                    and (found[0] != found[-1]).any())
        self.graph.until(at_rest, 'a reference at rest')
        # 3e-4 rad in a period at most, some of which may not have been heard; not all of the way.
        steps = np.abs(np.diff(wanted(), axis=0)).max(axis=1)
        assert (steps / np.diff(sorted(stamps)) * 0.005).max() < 5e-4
        assert np.abs(wanted()[-1] - goal).max() > 0.02

    def test_g_tolerances_that_are_missed_end_a_goal(self):
        tight = [JointTolerance(name='joint2', position=1e-6)]
        status, result = self.result(self.send(trajectory(START, 1.0), path_tolerance=tight))
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code == Result.PATH_TOLERANCE_VIOLATED
        assert 'joint2, position: expected an error of at most 1e-06' in result.error_string
        # From elsewhere: an arm that has been at its goal for long is there to the last digit.
        there = self.result(self.send(trajectory(START + 0.1, 2.0)))[0]
        assert there == GoalStatus.STATUS_SUCCEEDED
        goal = FollowJointTrajectory.Goal()
        goal.goal_time_tolerance.nanosec = 100_000_000
        handle = self.send(trajectory(START, 0.3), goal_time_tolerance=goal.goal_time_tolerance,
                           goal_tolerance=[JointTolerance(name='joint2', position=1e-9)])
        status, result = self.result(handle)
        assert status == GoalStatus.STATUS_ABORTED
        assert result.error_code == Result.GOAL_TOLERANCE_VIOLATED

    def test_h_every_refusal_has_its_code_and_a_sentence(self):
        self.wait(0.1)
        good = trajectory(START, 1.0)
        twice = trajectory(START, 1.0)
        twice.points = [twice.points[0], twice.points[0]]
        for message, fields, code, words in (
                (trajectory([0.1] * 4, 1.0, ['joint1', 'joint2', 'joint3', 'elbow']), {},
                 Result.INVALID_JOINTS, "found 'elbow'"),
                (trajectory([0.1] * 3, 1.0, JOINTS[:3]), {}, Result.INVALID_JOINTS,
                 "'joint4' is missing"),
                (trajectory([0.1] * 4, 0.01, stamp=0.001), {}, Result.OLD_HEADER_TIMESTAMP,
                 'before the present'),
                (twice, {}, Result.INVALID_GOAL, 'expected to rise'),
                (trajectory([float('nan')] * 4, 1.0), {}, Result.INVALID_GOAL, 'finite'),
                (trajectory([99.0] * 4, 1.0), {}, Result.INVALID_GOAL, 'limit'),
                (trajectory(START + 0.1, 0.1), {}, Result.INVALID_GOAL,
                 'acceleration: expected at most 50'),
                (JointTrajectory(joint_names=JOINTS), {}, Result.INVALID_GOAL, 'points'),
                (good, {'path_tolerance': [JointTolerance(name='elbow')]}, Result.INVALID_JOINTS,
                 'path_tolerance: expected some of joint1'),
                (good, {'goal_tolerance': [JointTolerance(name='joint1', position=-3.0)]},
                 Result.INVALID_GOAL, 'goal_tolerance of joint1')):
            status, result = self.result(self.send(message, **fields))
            assert status == GoalStatus.STATUS_ABORTED
            assert result.error_code == code and words in result.error_string, result

    def test_i_a_shaped_motion_arrives_later_and_at_rest(self):
        assert self.set(shaper='zvd').successful
        handle = self.send(trajectory(START + 0.2, 0.4))
        assert self.result(handle)[0] == GoalStatus.STATUS_SUCCEEDED

        begin = self.begun()

        def later():       # by the commands: of the feedback some is lost now and then
            sent = self.commands(begin)
            moving = [at for at, next_one in itertools.pairwise(sorted(sent))
                      if sent[at].position != sent[next_one].position]
            return moving and moving[-1] - begin > 0.45
        self.graph.until(later, 'a motion of more than 0.45 s')
        assert self.set(shaper='none').successful

    def test_j_measurements_in_lockstep_are_those_of_the_state(self):
        assert self.set(controller='probe').successful
        self.graph.until(lambda: self.status().message == 'running', 'probe with its sensors')
        self.wait(0.3)
        status = self.status()
        assert status.message == 'running', status.message
        assert {v.key: v.value for v in status.values}['controller'] == 'probe'
        assert self.set(controller='pd').successful

    def test_z_reset_in_mid_motion_ends_the_goal(self):
        handle = self.send(trajectory(START, FAR_OFF))
        self.wait(0.1)
        self.reset()
        status, result = self.result(handle)
        assert status == GoalStatus.STATUS_ABORTED and 'time was set back' in result.error_string


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output, packages):
        for package in reversed(packages):
            package.remove()
        launch_testing.asserts.assertExitCodes(proc_info)
        for io in proc_output:
            assert b'Traceback' not in io.text, io.text

    def test_every_goal_has_its_log_lines(self, proc_output):
        text = b''.join(io.text for io in proc_output).decode()
        error = r'largest joint error \S+ rad \(joint\d\)'
        for line in (r'goal accepted: a motion of 0\.600 s',
                     rf'goal reached after 0\.6\d\d s, {error}',
                     rf'goal cancelled after \S+ s, {error}',
                     rf'goal missed after \S+ s, {error}: path tolerance: joint2, position: '
                     'expected an error of at most 1e-06',
                     rf'goal missed after 0\.4\d\d s, {error}: goal tolerance: joint2',
                     rf'goal aborted after \S+ s, {error}: another goal took its place'):
            assert re.search(line, text), line
