"""A four-bar through the nodes: moved by its crank, closed, its reactions on topics."""
import subprocess

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from graph import Listener
from processes import end
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import FlexState

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


def test_a_node_without_equations_for_loops_says_so(path):
    done = subprocess.run(
        ['ros2', 'run', 'flex_control', 'control', '--ros-args', '-p', f'robot:={path}'],
        capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode != 0 and 'Traceback' not in said
    assert "expected a tree of links, found loop 'pin': node control runs robots" in said
