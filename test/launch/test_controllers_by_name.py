"""Every installed controller by its name, switched to while the robot runs: each brings the robot
to its goal or is refused with the reason; a flexible arm, and an elastic joint in one process."""
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from graph import Listener, Parameters, sim
from launch import LaunchDescription
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import available_controllers

FOLDED, TURNED = np.array([0.0, 0.52, 2.09, 0.52]), np.array([0.5, 0.9, 1.4, 0.9])
FIXED = {'attitude': 'expected a base that floats'}
LINKS = {**FIXED, 'elastic_joint': 'expected a spring between motor and link in every joint'}
SPRING = {**FIXED, 'computed_torque': 'elastic joint', 'feedback_linearization': 'elastic joint',
          'strain_feedback': 'expected strain gauges'}
# namespace: robot, in one process, two poses, controllers that are not for this robot
ROBOTS = {
    'arm': ('cibicik_arm', 'false', (FOLDED, TURNED), LINKS),
    'spring': ('mladenova_arm', 'true', (np.array([0.1]), np.array([0.5])), SPRING),
}
DURATION = 1.0        # s, of a move
NEAR = 0.01           # rad, at the end, as the action judges it
SETTLE = 2            # s, in which it has to come near


def parameters(robot, start):
    joints = '\n'.join(f'    constraints.joint{k + 1}.goal: {NEAR}' for k in range(len(start)))
    return f"""
/**/simulator:
  ros__parameters: {{rate: 500.0, step: 0.001, drive.bandwidth: 0.0,
                     start.positions: {start.tolist()}}}
/**/dynamics:
  ros__parameters: {{rate: 50.0}}
/**/control:
  ros__parameters:
    terms_rate: 50.0
    pd.bandwidth: 0.0
    constraints.goal_time: {SETTLE}.0
    constraints.stopped_velocity_tolerance: 0.05
{joints}
/**/state_publisher:
  ros__parameters: {{rate: 5.0}}
"""


@pytest.mark.launch_test
def generate_test_description():
    folder = TemporaryDirectory()
    started = []
    for space, (robot, in_process, poses, _) in ROBOTS.items():
        path = Path(folder.name, f'{space}.yaml')
        path.write_text(parameters(robot, poses[0]))
        started.append(sim(robot=robot, namespace=space, in_process=in_process, headless='true',
                           sync='lockstep', paused='true', params_file=str(path)))
    return LaunchDescription([*started, launch_testing.actions.ReadyToTest()]), {'folder': folder}


class TestEveryController(unittest.TestCase):
    def setUp(self):
        self.graph = Listener()

    def tearDown(self):
        self.graph.close()

    def play(self, space, state):
        answer = self.graph.call(SetSimulationState, f'{space}/simulator/set_simulation_state',
                                 SetSimulationState.Request(state=SimulationState(state=state)))
        assert answer.result.result == Result.RESULT_OK, answer

    def drive(self, space):
        """All controllers in turn, from pose to pose."""
        _, _, poses, refused = ROBOTS[space]
        graph = self.graph
        graph.listen(JointState, f'{space}/joint_states')
        first = graph.next(f'{space}/joint_states')[0]
        control = Parameters(graph, f'{space}/control')
        client = ActionClient(graph.node, FollowJointTrajectory,
                              f'{space}/control/follow_joint_trajectory')
        graph.until(client.server_is_ready, 'the action server')
        self.play(space, SimulationState.STATE_PLAYING)
        arrived = []
        for name in available_controllers():
            why = control.set('controller', name)
            if name in refused:
                assert refused[name] in why, (name, why)
                continue
            assert not why, (name, why)
            goal = poses[(len(arrived) + 1) % 2]
            self.move(client, name, list(first.name), goal)
            arrived.append(name)
        self.play(space, SimulationState.STATE_PAUSED)
        client.destroy()
        assert len(arrived) + len(refused) == len(available_controllers())

    def move(self, client, name, joints, goal):
        still = [0.0] * len(goal)
        point = JointTrajectoryPoint(positions=goal.tolist(), velocities=still,
                                     accelerations=still)
        point.time_from_start.sec = round(DURATION)
        sent = client.send_goal_async(FollowJointTrajectory.Goal(
            trajectory=JointTrajectory(joint_names=joints, points=[point]),
            path_tolerance=[JointTolerance(name=joint, position=0.5) for joint in joints]))
        self.graph.until(sent.done, f'{name}: the acceptance')
        future = sent.result().get_result_async()
        self.graph.until(future.done, f'{name}: the result')
        end = future.result()
        assert end.status == GoalStatus.STATUS_SUCCEEDED, (name, end.result.error_string)

    def test_on_the_flexible_arm(self):
        self.drive('arm')

    def test_on_an_elastic_joint_inside_the_process_of_the_simulator(self):
        self.drive('spring')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well_without_a_fail_safe(self, proc_info, proc_output, folder):
        folder.cleanup()
        launch_testing.asserts.assertExitCodes(proc_info)
        for io in proc_output:
            assert b'Traceback' not in io.text, io.text
            assert b'fail-safe' not in io.text, io.text
