"""Other people's robots: limits that exclude zero, a start pose, few parameters of one's own, one
warning, and a joint that follows another one."""
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from builtin_interfaces.msg import Duration
from graph import SIM, Listener, sim
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rcl_interfaces.srv import GetParameters
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

VIEW = SIM.with_name('view.launch.py')
FOLDER = tempfile.TemporaryDirectory()
LINK = ('<link name="{}"><inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="0.01" '
        'iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>')
ROBOT = f"""<robot name="strange">
 <link name="base"/>{LINK.format('upper')}{LINK.format('lower')}{LINK.format('claw')}
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="200" velocity="3"/>
  <dynamics dampin="1"/></joint>
 <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="-1" effort="100" velocity="3"/></joint>
 <joint name="grip" type="revolute"><parent link="lower"/><child link="claw"/>
  <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/>
  <mimic joint="elbow" multiplier="-0.5" offset="0.1"/></joint>
</robot>"""
SRDF = """<robot name="strange">
 <group name="arm"><chain base_link="base" tip_link="lower"/></group>
 <group_state name="ready" group="arm"><joint name="shoulder" value="0.5"/>
  <joint name="elbow" value="-1.5"/><joint name="grip" value="0.85"/></group_state></robot>"""
PARAMETERS = """
/**/control:
  ros__parameters: {pd.bandwidth: 7.0}
/**/simulator:
  ros__parameters: {start.positions: [0.1, -1.1]}
"""


def write(name, text):
    path = Path(FOLDER.name, name)
    path.write_text(text)
    return str(path)


@pytest.mark.launch_test
def generate_test_description():
    robot, srdf = write('strange.urdf', ROBOT), write('strange.srdf', SRDF)
    return LaunchDescription([
        IncludeLaunchDescription(PythonLaunchDescriptionSource(str(VIEW)), launch_arguments=[
            ('use_rviz', 'false'), ('port', '8391'), ('robot', robot), ('namespace', 'shown'),
            ('sync', 'lockstep'), ('srdf', srdf)]),
        sim(robot=robot, namespace='ready', sync='lockstep', headless='true', start='ready',
            srdf=srdf, params_file=write('few.yaml', PARAMETERS)),
        launch_testing.actions.ReadyToTest()])


class TestAnyRobot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(JointState, 'shown/joint_states')
        cls.graph.listen(JointState, 'ready/joint_states')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def held(self, space):
        """Where the joints are, which the controller holds where they began."""
        state, = self.graph.next(f'{space}/joint_states')
        return dict(zip(state.name, state.position))

    def get(self, node, name):
        value, = self.graph.call(GetParameters, f'{node}/get_parameters',
                                 GetParameters.Request(names=[name])).values
        return value

    def test_without_a_start_the_elbow_is_in_the_middle_of_its_range(self, proc_output):
        assert self.held('shown') == pytest.approx({'shoulder': 0.0, 'elbow': -2.0, 'grip': 1.1},
                                                   abs=0.05)

        def said():
            text = b''.join(io.text for io in proc_output).decode()
            return (re.search(r'\[shown\.simulator\]: no start pose is given and the limits of '
                              r'these joints exclude zero; .*: elbow -2\n', text)
                    and re.search(r'look at http://127\.0\.0\.1:8391', text))
        self.graph.until(said, 'the line about the start, and the page')

    def test_one_node_of_a_launch_warns_of_the_description_once(self, proc_output):
        def ready():
            text = b''.join(io.text for io in proc_output).decode()
            starts = ('control]: strange: controller', 'simulator]: strange:',
                      'dynamics]: strange:', 'state_publisher]: strange:')
            return text if all(f'{space}.{one}' in text for space in ('shown', 'ready')
                               for one in starts) and 'look at http' in text else None
        text = self.graph.until(ready, 'the first lines of all nodes')
        told = [line for line in text.splitlines() if 'dampin' in line]
        assert len(told) == 2, told
        for space in ('shown', 'ready'):
            assert any('[WARN]' in line and f'[{space}.simulator]' in line for line in told), told

    def test_a_group_state_wins_over_the_file(self):
        held = self.held('ready')
        assert held == pytest.approx({'shoulder': 0.5, 'elbow': -1.5, 'grip': 0.85}, abs=0.05)
        assert held['grip'] == pytest.approx(-0.5 * held['elbow'] + 0.1, abs=1e-12)

    def test_a_trajectory_of_a_follower_is_refused_with_the_joint_to_name(self, proc_output):
        sender = self.graph.node.create_publisher(
            JointTrajectory, 'ready/control/joint_trajectory', 10)
        point = JointTrajectoryPoint(positions=[0.5], time_from_start=Duration(sec=1))

        sent = [0.0]

        def told():
            if time.monotonic() - sent[0] > 0.5:
                sent[0] = time.monotonic()
                sender.publish(JointTrajectory(joint_names=['grip'], points=[point]))
            return re.search(r"'grip' follows 'elbow' \(<mimic>\) and has no drive",
                             b''.join(io.text for io in proc_output).decode())
        self.graph.until(told, 'the refusal')

    def test_params_file_adds_to_the_defaults(self):
        assert self.get('ready/control', 'pd.bandwidth').double_value == 7.0
        assert self.get('ready/control', 'allow_partial_joints_goal').bool_value
        assert self.get('shown/control', 'pd.bandwidth').double_value == 0.0     # chosen by pd
        assert self.get('shown/control', 'controller').string_value == 'pid'

    def test_group_states_are_goals_of_the_page(self):
        goals = self.get('shown/viewer', 'goals').string_array_value
        assert list(goals) == ['ready: 0.5 -1.5']

    def test_a_missing_file_ends_the_launch_with_one_line(self):
        for file, argument in ((SIM, 'params_file'), (VIEW, 'params_file'), (SIM, 'srdf')):
            ended = subprocess.run(['ros2', 'launch', str(file), f'{argument}:=/nowhere/at.all'],
                                   capture_output=True, text=True, timeout=120)
            lines = (ended.stdout + ended.stderr).splitlines()
            told = [line for line in lines if '/nowhere/at.all' in line]
            assert ended.returncode == 1 and len(told) == 1, lines
            assert 'process started' not in ''.join(lines) and 'Traceback' not in ''.join(lines)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
