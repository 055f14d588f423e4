"""ros2_control.launch.py: the simulator is the hardware of a controller manager, here a partner
that does to it what ros2_control does; all runs on simulated time."""
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from graph import SIM, Listener
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from partner_packages import PartnerPackages
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

HERE = Path(__file__).parent
PACKAGES = {
    'controller_manager': {'ros2_control_node': HERE / 'controller_manager_partner.py',
                           'spawner': HERE / 'spawner_partner.py'},
    **{name: {} for name in ('joint_state_topic_hardware_interface', 'joint_state_broadcaster',
                             'joint_trajectory_controller')}}
CONTROLLER = 'joint_trajectory_controller'
START = np.array([0.3, -1.2, 1.6, -1.9, -1.5, 0.2])


@pytest.mark.launch_test
def generate_test_description():
    packages = PartnerPackages(PACKAGES)
    return LaunchDescription([
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SIM.with_name('ros2_control.launch.py'))),
            launch_arguments=[('overlay', 'ur5_flexible'), ('headless', 'true'),
                              ('start', ' '.join(map(str, START)))]),
        launch_testing.actions.ReadyToTest()]), {'packages': packages}


class TestRos2Control(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(JointState, 'joint_states')
        cls.graph.listen(DiagnosticArray, '/diagnostics')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def joints(self):
        state, = self.graph.next('joint_states')
        self.names = list(state.name)
        return np.array(state.position)

    def published_by(self, topic, *nodes):
        """Wait until these nodes, and no others, publish a topic, as far as is known here."""
        self.graph.until(lambda: {info.node_name for info in (
            self.graph.node.get_publishers_info_by_topic(topic))} == set(nodes),
            f'{topic} from {nodes} alone')

    def test_1_the_start_is_held_and_the_topics_do_not_clash(self, packages):
        np.testing.assert_allclose(self.joints(), START, atol=5e-3)
        self.published_by('/joint_states', 'controller_manager')
        self.published_by('/robot_joint_states', 'simulator')
        self.published_by('/robot_joint_commands', 'ur5')          # the hardware
        self.published_by('/joint_commands')

    def test_2_the_controller_moves_the_arm(self, packages):
        publisher = self.graph.node.create_publisher(
            JointTrajectory, f'{CONTROLLER}/joint_trajectory', 1)
        self.graph.until(publisher.get_subscription_count, 'the controller')
        self.assertEqual((packages.folder / 'inactive').read_text(),
                         'effort_trajectory_controller')
        goal = self.joints() + [0.5, 0.2, -0.3, 0.3, 0.4, -0.5]
        publisher.publish(JointTrajectory(joint_names=self.names, points=[JointTrajectoryPoint(
            positions=goal.tolist(), time_from_start=Duration(sec=2))]))
        self.graph.until(lambda: np.abs(self.joints() - goal).max() < 0.02, 'the goal')

    def test_3_nothing_was_rejected(self):
        heard = self.graph.heard['/diagnostics']
        heard.clear()
        status = self.graph.until(lambda: {
            pair.key: pair.value for message in heard for one in message.status
            if one.name.startswith('simulator') for pair in one.values}, 'a status')
        self.assertEqual(status['rejected commands'], '0')
        self.assertEqual(status['times the fail-safe acted'], '0')


@launch_testing.post_shutdown_test()
class TestOutput(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        PartnerPackages.close_all()

    def test_no_warning_about_the_clock(self, proc_output):
        """use_sim_time has reached the hardware's own node."""
        text = ''.join(output.text.decode() for output in proc_output)
        for words in ('another clock', 'fail-safe', 'rejected', 'Traceback'):
            self.assertNotIn(words, text)

    def test_nodes_end_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
