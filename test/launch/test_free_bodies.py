"""Robots that not every joint of which has a motor: a base that floats, a mast without joints."""
import subprocess

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graph import Listener, seconds
from processes import end
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.plant import Drives, Plant
from flex_msgs.msg import FlexState

BEAM = """<flexible link="beam"><beam length="2"><section shape="circle" radius="0.01"/>
 <material name="steel"/></beam><modes bending_y="1" bending_z="1" twist="1"/></flexible>"""
SATELLITE = f"""<robot name="satellite"><link name="world"/><link name="bus"><inertial>
 <mass value="100"/><inertia ixx="10" iyy="10" izz="10" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="beam"/>
 <joint name="free" type="floating"><parent link="world"/><child link="bus"/></joint>
 <joint name="hinge" type="revolute"><parent link="bus"/><child link="beam"/><axis xyz="0 0 1"/>
 <limit lower="-1" upper="1" effort="50" velocity="5"/></joint>
 {BEAM}<gravity xyz="0 0 0"/></robot>"""
MAST = f"""<robot name="mast"><link name="ground"/><link name="beam"/>
 <joint name="foot" type="fixed"><parent link="ground"/><child link="beam"/></joint>
 {BEAM}</robot>"""


@pytest.fixture
def graph():
    made = Listener()
    made.listen(FlexState, 'flex_state', 1000)
    made.listen(JointState, 'joint_commands', 1000)
    made.listen(DiagnosticArray, '/diagnostics')
    yield made
    made.close()


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(text, *command):
        path = tmp_path / 'robot.urdf'
        path.write_text(text)
        started.append(subprocess.Popen([*command, f'robot:={path}'], start_new_session=True))

    yield begin
    for process in started:
        end(process)


def passed(graph):
    """Simulated time, s, once some has passed."""
    return graph.until(lambda: graph.heard['flex_state'] and seconds(
        graph.heard['flex_state'][-1].header.stamp) > 0.5, 'time that passes')


def status(graph):
    def find():
        return next((s for m in graph.heard['/diagnostics'] for s in m.status
                     if s.name == 'simulator: status'), None)
    graph.heard['/diagnostics'].clear()
    found = graph.until(find, 'diagnostics')
    return found.message, {v.key: v.value for v in found.values}


@pytest.mark.parametrize('in_process', ['false', 'true'])
def test_the_arm_of_a_satellite_is_driven_and_its_base_is_not(graph, start, in_process):
    start(SATELLITE, 'ros2', 'launch', 'flex_bringup', 'sim.launch.py', 'headless:=true',
          f'in_process:={in_process}')
    passed(graph)
    if in_process == 'false':
        assert list(graph.next('joint_commands')[0].name) == ['hinge']
    values = status(graph)[1]
    assert 'is no joint' not in values['last rejection']
    assert np.isfinite(graph.next('flex_state')[0].position).all()


def test_a_base_that_floats_has_no_drive():
    model = Model(load_robot(SATELLITE))
    gains = np.full(model.n_joints, 10.0)
    plant = Plant(model, 1e-3, 1, Drives(gains, gains), np.zeros(model.n_joints), deflected=False)
    assert plant.drives.damping.tolist() == plant.drives.stiffness.tolist() == 6 * [0.0] + [10.0]
    assert plant.commands.joints == ['hinge']


def test_a_mast_without_joints_waits_for_no_command(graph, start):
    start(MAST, 'ros2', 'run', 'flex_dynamics', 'simulator', '--ros-args', '-p')
    passed(graph)
    assert status(graph)[0] == 'running'
