"""Motors in flex_state are on the motor's side of their gears: published so, and read so.

A hinge with a gear of 20 rad/rad, and on it a slide with a spindle of 300 rad/m, held by the
controller for elastic joints, which divides by the gear ratio: were the motors on the joint's
side, it would take springs for stretched by metres.
"""
import subprocess

import numpy as np
import pytest
from graph import Listener, seconds
from processes import end
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import FlexState

HINGE, SPINDLE = 20.0, 300.0
ARM = f"""<robot name="arm"><link name="base"/>
 <link name="boom"><inertial><origin xyz="0.3 0 0"/><mass value="4"/>
  <inertia ixx="0.05" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="jib"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.02" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="hinge" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 -1 0"/>
  <limit lower="-2" upper="2" effort="500" velocity="3"/></joint>
 <joint name="slide" type="prismatic"><parent link="boom"/><child link="jib"/>
  <origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
  <limit lower="-0.1" upper="0.5" effort="500" velocity="1"/></joint>
 <flexible_joint joint="hinge" stiffness="800" motor_inertia="5e-4" gear_ratio="{HINGE}"/>
 <flexible_joint joint="slide" stiffness="9e3" motor_inertia="2e-5" gear_ratio="{SPINDLE}"/>
</robot>"""
START = [0.4, 0.15]                # rad, m


@pytest.fixture
def graph():
    made = Listener()
    made.listen(FlexState, 'flex_state', 1000)
    made.listen(JointState, 'joint_states', 1000)
    yield made
    made.close()


@pytest.fixture
def robot(tmp_path):
    """The whole graph in lockstep, which comes out the same however busy the machine is."""
    path, parameters = tmp_path / 'arm.urdf', tmp_path / 'arm.yaml'
    path.write_text(ARM)
    parameters.write_text('/**/simulator:\n  ros__parameters:\n    drive.bandwidth: 0.0\n'
                          f'    start.positions: {START}\n')
    process = subprocess.Popen(
        ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', f'robot:={path}', 'headless:=true',
         'controller:=elastic_joint', 'sync:=lockstep', f'params_file:={parameters}'],
        start_new_session=True)
    yield process
    end(process)


def test_what_is_published_and_what_is_read(graph, robot):
    model = Model(load_robot(ARM))
    sag, _ = model.statics(START)
    states = graph.heard['flex_state']
    graph.until(lambda: states and seconds(states[-1].header.stamp) > 2.0, 'two seconds')
    for state in (states[0], states[-1]):
        assert list(state.name) == ['hinge', 'slide', 'hinge/motor', 'slide/motor']
        assert state.joint_count == 2
        q = np.array(state.position)
        # Published: rad at the motor, the gear ratio times the joint and the spring's stretch.
        assert q[2:] == pytest.approx(sag[2:], rel=0.05)
        assert q[2] == pytest.approx(HINGE * 0.4, rel=0.1)
        assert q[3] == pytest.approx(SPINDLE * 0.15, rel=0.1)
        # Read: the controller holds the arm where it began.
        assert q[:2] == pytest.approx(START, abs=5e-3)
    assert np.abs(states[-1].velocity).max() < 0.5
    # In lockstep two seconds may be over before the simulator has found this subscriber.
    joints = graph.until(lambda: graph.heard['joint_states'], 'joint_states')[-1]
    assert list(joints.name) == ['hinge', 'slide']
    assert joints.position[0] == pytest.approx(states[-1].position[0], abs=1e-2)
