"""moveit.launch.py for the UR5 with flexible links and for the Panda, side by side: what MoveIt
does to the control node is done here, with trajectories of the kind that MoveIt sends.

move_group itself is a partner that leaves its parameters here: the action's name, the joints and
their limits are taken from them.
"""
import json
import sys
import time
import unittest
from contextlib import contextmanager
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from graph import SIM, Listener, Simulation
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from partner_packages import PartnerPackages
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / 'flex_control' / 'test'))
from planned_trajectories import Planned, plan  # noqa: E402

PARTNER = Path(__file__).with_name('move_group_partner.py')
PACKAGES = {'moveit_ros_move_group': {'move_group': PARTNER}, **{name: {} for name in (
    'moveit_simple_controller_manager', 'moveit_planners_ompl', 'pilz_industrial_motion_planner',
    'moveit_kinematics')}}
SPACES = {'ur': 'ur5', 'franka': 'panda'}
START_TOLERANCE = 0.01          # rad, MoveIt's allowed_start_tolerance
Result = FollowJointTrajectory.Result


def moveit(**arguments):
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SIM.with_name('moveit.launch.py'))),
        launch_arguments=list(arguments.items()))


@pytest.mark.launch_test
def generate_test_description():
    packages = PartnerPackages(PACKAGES)
    return LaunchDescription([
        moveit(robot='ur5', overlay='ur5_flexible', namespace='ur', in_process='false',
               headless='true'),
        moveit(robot='panda', overlay='', namespace='franka', in_process='true',
               headless='true'),
        launch_testing.actions.ReadyToTest()]), {'packages': packages}


class MoveIt:
    """What move_group knows and does of one robot."""

    def __init__(self, graph, space, folder):
        self._graph, self._topic = graph, f'{space}/joint_states'
        path = folder / f'{space}.json'
        graph.until(path.is_file, f'move_group of {space}')
        self.parameters = json.loads(path.read_text())
        own = self.parameters['moveit_simple_controller_manager']
        prefix = 'moveit_simple_controller_manager.'
        controller, = own[f'{prefix}controller_names']
        self.joints = own[f'{prefix}{controller}.joints']
        self.action = f'{controller}/{own[f"{prefix}{controller}.action_ns"]}'
        limits = 'robot_description_planning.joint_limits.'
        group = self.parameters['move_group']
        self.velocity, self.acceleration = (np.array(
            [group[f'{limits}{joint}.max_{what}'] for joint in self.joints])
            for what in ('velocity', 'acceleration'))
        graph.listen(JointState, self._topic, QoSProfile(depth=1))
        self._simulation = Simulation(graph, f'{space}/simulator')
        self._client = ActionClient(graph.node, FollowJointTrajectory, f'{space}/{self.action}')
        graph.until(self._client.server_is_ready, f'action server of {space}')
        self.rng = np.random.default_rng(len(self.joints))

    def close(self):
        self._client.destroy()

    def state(self):
        """Measured positions, in the order of the controller's joints, and their stamp (s)."""
        message, = self._graph.next(self._topic)
        return self._read(message)

    def _read(self, message):
        where = dict(zip(message.name, message.position))
        stamp = message.header.stamp
        return np.array([where[joint] for joint in self.joints]), stamp.sec + 1e-9 * stamp.nanosec

    @contextmanager
    def paused(self):
        """The robot stands still, however long it takes this process to plan."""
        self._simulation.pause()
        self._graph.still(self._topic)
        yield
        self._simulation.play()

    def step(self, seconds):
        """Let so much time pass for a paused robot."""
        end = self.state()[1] + seconds
        while self.state()[1] < end:
            self._simulation.step(50)
            self._graph.still(self._topic)

    def plan(self, change, scaling=1.0):
        """From the measured state, by way of a corner."""
        begin, _ = self.state()
        corner = begin + 0.5 * np.array(change) + self.rng.uniform(-0.05, 0.05, len(begin))
        return plan(np.array([begin, corner, begin + change]), scaling * self.velocity,
                    scaling * self.acceleration, self.rng)

    def send(self, planned, order=None, stamp=0):
        """Send a goal as MoveIt does, and return its handle once it is accepted."""
        order = np.arange(len(self.joints)) if order is None else order
        message = JointTrajectory(joint_names=[self.joints[k] for k in order])
        message.header.stamp.sec = stamp
        for time_, *rows in zip(*planned):
            position, velocity, acceleration = (row[order].tolist() for row in rows)
            message.points.append(JointTrajectoryPoint(
                positions=position, velocities=velocity, accelerations=acceleration,
                time_from_start=Duration(sec=int(time_), nanosec=round(time_ % 1 * 1e9))))
        future = self._client.send_goal_async(FollowJointTrajectory.Goal(trajectory=message))
        self._graph.until(future.done, 'the answer to a goal')
        assert future.result().accepted
        return future.result()

    def result(self, handle):
        future = handle.get_result_async()
        self._graph.until(future.done, 'the result of a goal')
        return future.result()

    def wait(self, seconds):
        """So much simulated time."""
        begin = self.state()[1]
        self._graph.until(lambda: self.state()[1] >= begin + seconds, f'{seconds} s of its time')

    def succeeds(self, planned, **how):
        self.arrives(planned, self.send(planned, **how))

    def arrives(self, planned, handle):
        answer = self.result(handle)
        assert (answer.status, answer.result.error_code) == (
            GoalStatus.STATUS_SUCCEEDED, Result.SUCCESSFUL), answer.result.error_string
        end = planned.positions[-1]
        np.testing.assert_allclose(self.state()[0], end, atol=START_TOLERANCE)


class TestMoveIt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.robots = {}

    @classmethod
    def tearDownClass(cls):
        for robot in cls.robots.values():
            robot.close()
        cls.graph.close()

    def robot(self, space, packages):
        if space not in self.robots:
            self.robots[space] = MoveIt(self.graph, space, packages.folder)
        return self.robots[space]

    def test_1_move_group_gets_what_it_needs(self, packages):
        for space, name in SPACES.items():
            robot = self.robot(space, packages)
            for node in robot.parameters.values():         # also the controller manager's
                assert node['use_sim_time'] is True
            group = robot.parameters['move_group']
            assert f'<robot name="{name}"' in group['robot_description']
            assert f'<robot name="{name}"' in group['robot_description_semantic']
            assert group['planning_pipelines'][0] == group['default_planning_pipeline'] == 'ompl'
            assert group['ompl.planning_plugins'] == ['ompl_interface/OMPLPlanner']
            assert robot.action == 'control/follow_joint_trajectory'

    def test_2_plans_are_followed(self, packages):
        """At full speed, from the state `home`, where the launch file starts the robot."""
        for space in SPACES:
            robot = self.robot(space, packages)
            count = len(robot.joints)
            for number in range(3):
                change = robot.rng.uniform(0.1, 0.4, count) * (-1)**number
                order = robot.rng.permutation(count) if number else None
                robot.succeeds(robot.plan(change), order=order)

    def test_3_a_goal_where_the_arm_is_already(self, packages):
        for space in SPACES:
            robot = self.robot(space, packages)
            here = robot.state()[0][None]
            robot.succeeds(Planned(np.zeros(1), here, np.zeros_like(here), np.zeros_like(here)))

    def test_4_the_first_point_may_differ_by_the_start_tolerance(self, packages):
        robot = self.robot('ur', packages)
        planned = robot.plan(np.full(6, 0.15))
        planned.positions[0] += 0.9 * START_TOLERANCE * np.array([1, -1, 1, -1, 1, -1])
        robot.succeeds(planned)

    def test_5_cancel_stops_the_arm(self, packages):
        for space in SPACES:
            robot = self.robot(space, packages)
            with robot.paused():
                planned = robot.plan(np.full(len(robot.joints), -0.4), scaling=0.2)
                handle = robot.send(planned)
                robot.step(0.5)
                future = handle.cancel_goal_async()
                self.graph.until(future.done, 'the answer to a cancellation')
            assert robot.result(handle).status == GoalStatus.STATUS_CANCELED
            robot.wait(1.0)
            first = robot.state()[0]
            robot.wait(0.3)
            np.testing.assert_allclose(robot.state()[0], first, atol=2e-3)
            assert np.abs(first - planned.positions[-1]).max() > 0.05

    def test_6_a_new_plan_in_mid_motion_takes_over(self, packages):
        for space in SPACES:
            robot = self.robot(space, packages)
            with robot.paused():
                old = robot.send(robot.plan(np.full(len(robot.joints), 0.4), scaling=0.2))
                robot.step(0.5)
                planned = robot.plan(np.full(len(robot.joints), -0.2))
                new = robot.send(planned)
            robot.arrives(planned, new)
            answer = robot.result(old)
            assert answer.status == GoalStatus.STATUS_ABORTED
            assert 'another goal took its place' in answer.result.error_string

    def test_7_a_goal_by_the_wall_clock_is_answered_at_once(self, packages):
        robot = self.robot('franka', packages)
        answer = robot.result(robot.send(robot.plan(np.full(7, 0.1)), stamp=int(time.time())))
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert 'use_sim_time' in answer.result.error_string


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        PartnerPackages.close_all()

    def test_nodes_end_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
