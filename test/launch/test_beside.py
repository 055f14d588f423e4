"""beside.launch.py next to a driver: our simulator, whose own flex_state goes elsewhere."""
import unittest
from pathlib import Path
from tempfile import mkdtemp

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graph import SIM, Listener, Simulation, seconds
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState, FlexStateCovariance

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# The driver's description is that of the arm; what only we know is in the overlay.
OVERLAY = Path(mkdtemp()) / 'overlay.yaml'
OVERLAY.write_text('imus: {elbow: {frame: link2/tip}}\n'
                   'flexible: {link2: {damping: 0.01}, link3: {damping: 0.01}}\n')
MODEL = Model(load_robot('cibicik_arm', OVERLAY))
START = np.array([0.0, 0.5, 1.0, 0.5])
MOVES = 2.0          # s of the driver's time that a motion takes


@pytest.mark.launch_test
def generate_test_description():
    driver = Node(
        package='flex_dynamics', executable='simulator', name='driver', output='screen',
        remappings=[('flex_state', 'truth/flex_state')],
        parameters=[{'overlay': str(OVERLAY), 'driver': 'independent', 'rate': 500.0,
                     'step': 0.001, 'drive.bandwidth': 20.0, 'start.positions': START.tolist(),
                     'encoders.noise': 1e-5, 'gauges.noise': 1e-6}])
    beside = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SIM.with_name('beside.launch.py'))),
        launch_arguments=[('overlay', str(OVERLAY)), ('use_sim_time', 'true')])
    return LaunchDescription([driver, beside, launch_testing.actions.ReadyToTest()])


def at(message):
    return seconds(message.header.stamp)


def tip(message):
    q = np.array(message.position)[[list(message.name).index(name) for name in MODEL.names]]
    return MODEL.pose(q, 'tool')[:3, 3]


class TestBesideADriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(FlexState, 'flex_state', 100)
        graph.listen(FlexState, 'truth/flex_state', 100)
        # As robot_state_publisher does, and later than the nodes that wait for it.
        cls.description = graph.node.create_publisher(String, 'robot_description', LATCHED)
        cls.description.publish(String(data=load_robot('cibicik_arm').urdf))
        cls.commands = graph.node.create_publisher(JointState, 'joint_commands', 10)
        graph.until(lambda: graph.heard['flex_state'], 'an estimate')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def test_a_moving_arm_is_estimated(self):
        """Step by step, each with its estimate: a driver in a hurry is not what is tested."""
        truths, estimates = (self.graph.heard[name] for name in ('truth/flex_state', 'flex_state'))
        driver = Simulation(self.graph, 'driver')
        driver.pause()
        began = at(self.graph.still('truth/flex_state'))
        for now in np.arange(0.0, MOVES, 0.02):
            share = np.clip(now / 1.5, 0.0, 1.0)
            share = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
            goal = START + 0.4 * share * np.array([1.0, -0.6, 0.6, -0.8])
            self.commands.publish(JointState(name=list(MODEL.joint_names),
                                             position=goal.tolist()))
            driver.step(10)
            self.graph.until(lambda end=began + now + 0.02 - 1e-6: min(
                at(truths[-1]), at(estimates[-1])) > end, 'an estimate')
        driver.play()
        true = {round(1e9 * at(one)): one for one in truths if at(one) > began}
        pairs = [(one, true[stamp]) for one in estimates
                 if (stamp := round(1e9 * at(one))) in true]
        off = np.array([np.linalg.norm(tip(one) - tip(other)) for one, other in pairs])
        static = max(np.linalg.norm(
            MODEL.pose(MODEL.statics(np.array(other.position[:4]))[0], 'tool')[:3, 3]
            - tip(other)) for _, other in pairs[::50])
        assert len(pairs) > 950
        assert np.median(off) < 0.5e-3 and off.max() < 0.3 * static, (
            np.median(off), off.max(), static)
        assert static > 10e-3

    def test_covariances_come_with_the_estimates(self):
        self.graph.listen(FlexStateCovariance, 'flex_state_covariance')
        one = self.graph.next('flex_state_covariance')[0]
        assert list(one.name) == list(MODEL.names) and one.effort_known
        assert 0.0 < max(one.position_deviation) < 0.1

    def test_frames_have_the_prefix_and_hang_on_those_of_the_driver(self):
        self.graph.listen(TFMessage, '/tf_static', LATCHED)
        self.graph.listen(TFMessage, '/tf', 100)
        self.graph.listen(MarkerArray, 'markers')
        fixed = [one for message in self.graph.until(
            lambda: self.graph.heard['/tf_static'], 'fixed frames') for one in message.transforms]
        assert ('base', 'flex/base') in {(one.header.frame_id, one.child_frame_id)
                                         for one in fixed}
        moving = self.graph.next('/tf')[0].transforms
        assert moving and all(one.child_frame_id.startswith('flex/') for one in moving)
        marker = self.graph.next('markers')[0].markers[0]
        assert marker.header.frame_id == 'flex/base'

    def test_the_merged_description_has_the_overlay(self):
        self.graph.listen(String, 'flex/robot_description', LATCHED)
        text = self.graph.until(lambda: self.graph.heard['flex/robot_description'],
                                'the merged description')[0].data
        robot = load_robot(text, log_warnings=False)
        assert [imu.name for imu in robot.imus] == [imu.name for imu in MODEL.robot.imus]
        q = np.full(MODEL.n, 0.01)
        assert np.allclose(Model(robot).mass_matrix(q), MODEL.mass_matrix(q), rtol=1e-10)
        assert self.graph.node.count_publishers('robot_description') == 1      # the driver's

    def test_terms_are_those_of_the_estimate(self):
        self.graph.listen(DynamicsTerms, 'dynamics_terms')
        terms = self.graph.next('dynamics_terms')[0]
        assert list(terms.name) == list(MODEL.names) and not terms.static_deflection

    def test_the_observer_reports(self):
        self.graph.listen(DiagnosticArray, '/diagnostics')

        def status():
            return [one for message in self.graph.heard['/diagnostics'] for one in message.status
                    if one.name == 'observer: status']
        values = {one.key: one.value for one in self.graph.until(status, 'its status')[-1].values}
        assert 'imu/elbow' in values and 'strain_gauges' in values


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
