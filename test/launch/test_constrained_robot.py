"""A four-bar through the nodes: moved by its crank, closed, its reactions on topics."""
import subprocess

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from graph import Listener
from processes import end
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState
from flex_msgs.srv import GetDynamics

LINK = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="1"/><inertia ixx="0.01"
 iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}_joint" type="continuous"><parent link="{1}"/><child link="{0}"/>
 <origin xyz="{2} 0 0" rpy="0 {3} 0"/><axis xyz="0 1 0"/></joint>"""
UP, SLOPE = -0.5 * np.pi, float(np.arctan2(0.5, 1.3))
LENGTH = float(np.hypot(1.3, 0.5))
FOUR_BAR = f"""<robot name="four_bar"><link name="ground"/>{LINK.format('crank', 0.25)}
 <link name="coupler"/>{LINK.format('rocker', 0.5)}{JOINT.format('crank', 'ground', 0, UP)}
 {JOINT.format('coupler', 'crank', 0.5, -SLOPE - UP)}{JOINT.format('rocker', 'ground', 1.3, UP)}
 <flexible link="coupler"><beam length="{LENGTH}"><section shape="rectangle" width="0.02"
 height="0.02"/><material name="aluminium"/></beam><modes bending_y="1" bending_z="2" twist="1"/>
 <damping ratio="0.02"/></flexible>
 <loop name="pin" type="revolute" axis="0 1 0"><first frame="coupler" x="{LENGTH}"
 rpy="0 {SLOPE} 0"/><second frame="rocker" xyz="1 0 0" rpy="0 {-UP} 0"/></loop>
 <passive_joint name="coupler_joint"/><passive_joint name="rocker_joint"/></robot>"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'four_bar.urdf'
    path.write_text(FOUR_BAR)
    return path


def test_a_crank_moves_a_closed_loop(path):
    graph = Listener()
    graph.listen(FlexState, 'flex_state', 100)
    graph.listen(WrenchStamped, 'reactions/pin', 100)
    commands = graph.node.create_publisher(JointState, 'joint_commands', 10)
    model = Model(load_robot(path))
    process = subprocess.Popen(
        ['ros2', 'run', 'flex_dynamics', 'simulator', '--ros-args', '-p', f'robot:={path}', '-p',
         'driver:=independent'], start_new_session=True)
    try:
        graph.until(lambda: graph.heard['flex_state'], 'a state')
        start = graph.heard['flex_state'][-1]
        assert list(start.name) == list(model.names)
        assert np.abs(model.constraint_error(np.array(start.position))).max() < 1e-10

        def turned():
            commands.publish(JointState(name=['crank_joint'], position=[0.4]))
            return abs(graph.heard['flex_state'][-1].position[0] - 0.4) < 1e-2

        graph.until(turned, 'the crank where it was sent')
        state = graph.heard['flex_state'][-1]
        q, v = np.array(state.position), np.array(state.velocity)
        assert np.abs(model.constraint_error(q)).max() < 1e-10
        assert np.abs(model.constraint_jacobian(q) @ v).max() < 1e-10
        # Passive joints followed.
        assert abs(q[2] - start.position[2]) > 0.05
        graph.until(lambda: np.abs(graph.heard['flex_state'][-1].velocity[:3]).max() < 0.01,
                    'rest')
        graph.heard['reactions/pin'].clear()
        graph.until(lambda: graph.heard['reactions/pin'], 'a reaction')
        wrench = graph.heard['reactions/pin'][-1]
        assert wrench.header.frame_id == 'rocker'
        force = wrench.wrench.force
        assert 1.0 < np.linalg.norm([force.x, force.y, force.z]) < 100.0
    finally:
        end(process)
        graph.close()


def ask(graph, kind, name, request):
    """The answer of a service."""
    client = graph.node.create_client(kind, name)
    graph.until(client.service_is_ready, name)
    future = client.call_async(request)
    graph.until(future.done, f'an answer of {name}')
    return future.result()


def matrix(values, rows):
    return np.array(values).reshape(rows, -1)


def check_equations(message):
    """M a + C v + D v + K q + g = B effort + A' multipliers, and A a + bias = 0."""
    n, rows = len(message.name), len(message.constraint_name)
    M, C, K, D, B = (matrix(part, n) for part in (
        message.mass, message.coriolis, message.stiffness, message.damping, message.input))
    A = matrix(message.constraint_jacobian, rows)
    q, v = np.array(message.position), np.array(message.velocity)
    force = (B @ np.array(message.effort) + A.T @ np.array(message.multipliers) - C @ v - D @ v
             - K @ q - np.array(message.gravity))
    a = np.linalg.solve(M, force)
    size = max(1.0, np.abs(a).max(), np.abs(message.constraint_bias).max())
    assert np.abs(A @ a + np.array(message.constraint_bias)).max() < 1e-9 * size
    assert np.abs(A @ v).max() < 1e-9 and np.abs(message.constraint_error).max() < 1e-9


def test_goals_terms_and_reactions_of_a_closed_loop(path):
    """Control and dynamics node on a robot with a loop."""
    graph = Listener()
    graph.listen(DynamicsTerms, 'dynamics_terms', 100)
    graph.listen(WrenchStamped, 'dynamics/reactions/pin', 100)
    common = ['--ros-args', '-p', f'robot:={path}']
    started = [subprocess.Popen(['ros2', 'run', *command, *common, *more], start_new_session=True)
               for command, more in (
                   (('flex_control', 'controlled_simulator'),
                    ['-p', 'sync:=lockstep', '-p', 'controller:=pd']),
                   (('flex_dynamics', 'dynamics'), []))]
    try:
        client = ActionClient(graph.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
        graph.until(client.server_is_ready, 'the action')

        def go(joint, position):
            goal = FollowJointTrajectory.Goal()
            goal.trajectory.joint_names = [joint]
            goal.trajectory.points = [JointTrajectoryPoint(
                positions=[position], velocities=[0.0], time_from_start=Duration(sec=1))]
            sent = client.send_goal_async(goal)
            graph.until(sent.done, 'an answer to the goal')
            result = sent.result().get_result_async()
            graph.until(result.done, 'the end of the goal')
            return result.result().result

        refused = go('rocker_joint', 0.3)
        assert refused.error_code == FollowJointTrajectory.Result.INVALID_JOINTS
        assert "'rocker_joint' is moved by the constraints" in refused.error_string
        assert go('crank_joint', 0.3).error_code == FollowJointTrajectory.Result.SUCCESSFUL
        graph.until(lambda: graph.heard['dynamics_terms']
                    and len(graph.heard['dynamics_terms'][-1].effort), 'terms with efforts')
        for message in graph.heard['dynamics_terms']:
            if len(message.effort):
                check_equations(message)
        assert abs(graph.heard['dynamics_terms'][-1].position[0] - 0.3) < 0.01
        graph.until(lambda: graph.heard['dynamics/reactions/pin'], 'a reaction')
        assert graph.heard['dynamics/reactions/pin'][-1].header.frame_id == 'rocker'

        answer = ask(graph, GetDynamics, 'dynamics/get_dynamics', GetDynamics.Request(
            name=['crank_joint'], position=[0.4], velocity=[1.0], effort=[5.0],
            frequencies=True))
        assert answer.success, answer.message
        check_equations(answer.terms)
        model = Model(load_robot(path))
        freedom = model.constraint_independence(np.array(answer.terms.position)).freedom
        assert len(answer.frequency) == freedom and len(answer.shapes) == freedom * model.n
        found = model.reactions(answer.terms.position, answer.terms.velocity, [5.0, 0.0, 0.0])
        force = answer.reactions[0].wrench.force
        assert np.isclose(np.linalg.norm([force.x, force.y, force.z]),
                          np.linalg.norm(found['pin'].second[:3]))
    finally:
        for process in started:
            end(process)
        graph.close()


def test_a_node_without_equations_for_loops_says_so(path):
    done = subprocess.run(
        ['ros2', 'run', 'flex_control', 'shaping_proxy', '--ros-args', '-p', f'robot:={path}'],
        capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and 'Traceback' not in said
    assert "expected a tree of links, found loop 'pin': node shaping_proxy runs robots" in said
