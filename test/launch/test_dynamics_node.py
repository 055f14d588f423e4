"""The dynamics node beside a robot that knows its joints only."""
import math
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graph import Listener
from launch import LaunchDescription
from launch_ros.actions import Node
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms
from flex_msgs.srv import GetDynamics

MODEL = Model(load_robot('cibicik_arm'))
POSE = np.array([0.1, 0.5, 1.0, 0.5])
SPEED = np.array([0.0, 0.2, -0.1, 0.0])
ORDER = [2, 0, 3, 1]             # any, with joints of a gripper in between


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        Node(package='flex_dynamics', executable='dynamics', name='dynamics', output='screen',
             parameters=[{'state_topic': 'joint_states', 'rate': 10.0}]),
        launch_testing.actions.ReadyToTest()])


class TestBesideARobot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(DynamicsTerms, 'dynamics_terms', 100)
        graph.listen(DiagnosticArray, '/diagnostics')
        cls.publisher = graph.node.create_publisher(JointState, 'joint_states', 10)
        graph.until(cls.publisher.get_subscription_count, 'the dynamics node')
        cls.time, cls.sent = 0, set()

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def send(self, **fields):
        """Joint states at 50 Hz, as the driver of a robot sends them."""
        self.__class__.time += 20_000_000
        names = [f'joint{k + 1}' for k in ORDER]
        message = JointState(name=['gripper', *names], position=[0.04, *POSE[ORDER]],
                             velocity=[0.0, *SPEED[ORDER]])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.time, 10**9)
        for name, value in fields.items():
            setattr(message, name, value)
        self.publisher.publish(message)
        self.sent.add(self.time)
        self.graph.spin(0.02)

    def test_terms_at_the_static_deflection_with_the_stamp_of_the_state(self):
        def come():
            self.send()
            return len(self.graph.heard['dynamics_terms']) > 4
        self.graph.until(come, 'terms')
        q, _ = MODEL.statics(POSE)
        v = np.r_[SPEED, np.zeros(MODEL.n - 4)]
        wanted = MODEL.terms(q, v)
        stamps = []
        for message in self.graph.heard['dynamics_terms']:
            assert message.static_deflection and message.joint_count == 4
            assert list(message.name) == list(MODEL.names)
            assert message.header.frame_id == 'base'
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            assert np.allclose(message.position, q) and np.allclose(message.velocity, v)
            for found, matrix in (('mass', wanted.M), ('coriolis', wanted.C),
                                  ('stiffness', wanted.K), ('damping', wanted.D),
                                  ('gravity', wanted.g), ('input', wanted.B)):
                found = np.reshape(getattr(message, found), matrix.shape)
                scale = np.abs(matrix).max() + 1e-12
                assert np.abs(found - matrix).max() < 1e-8 * scale
        assert set(stamps) <= self.sent
        assert np.diff(stamps).min() >= 100_000_000          # 10 a second of the robot's time
        info, = self.graph.node.get_publishers_info_by_topic('/dynamics_terms')
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE

    def test_bad_states_are_counted_and_go_no_further(self):
        def rejected():
            for fields in ({'position': [math.nan] * 5}, {'name': ['a', 'b', 'c', 'd', 'e']},
                           {'position': [0.0]}):
                self.send(**fields)
            values = {v.key: v.value for m in self.graph.heard['/diagnostics'] for s in m.status
                      for v in s.values}
            return int(values.get('states rejected', 0)) >= 3
        self.graph.until(rejected, 'the count')
        before = len(self.graph.heard['dynamics_terms'])

        def come():
            self.send()
            return len(self.graph.heard['dynamics_terms']) > before
        self.graph.until(come, 'terms again')
        assert all(np.isfinite(m.mass).all() for m in self.graph.heard['dynamics_terms'])

    def test_the_service_answers_for_any_state(self):
        request = GetDynamics.Request(
            name=['link2/bend_y/1', 'joint2'], position=[0.02, 0.7], velocity=[0.1, 0.0],
            frequencies=True, frame='link2', x=1.3)
        answer = self.graph.call(GetDynamics, 'dynamics/get_dynamics', request)
        assert answer.success, answer.message
        q = np.zeros(MODEL.n)
        q[MODEL.names.index('joint2')], q[MODEL.names.index('link2/bend_y/1')] = 0.7, 0.02
        assert np.allclose(answer.terms.position, q) and not answer.terms.static_deflection
        assert np.allclose(answer.jacobian, MODEL.jacobian(q, 'link2', 1.3).ravel(), atol=1e-12)
        assert np.allclose(answer.frequency, MODEL.frequencies(q)[0], rtol=1e-6, atol=1e-2)
        place = MODEL.pose(q, 'link2', 1.3)[:3, 3]
        found = answer.pose.position
        assert np.allclose([found.x, found.y, found.z], place)
        for fields, words in (({'name': ['elbow'], 'position': [0.0]}, "'elbow' is no coordinate"),
                              ({'name': ['joint1'], 'position': []}, 'expected 1 numbers'),
                              ({'name': ['joint1'], 'position': [math.inf]}, 'finite'),
                              ({'frame': 'link2', 'x': 9.0}, 'expected 0 to 2 m')):
            answer = self.graph.call(GetDynamics, 'dynamics/get_dynamics',
                                     GetDynamics.Request(**fields))
            assert not answer.success and words in answer.message, answer.message

    def test_z_while_nobody_listens_to_terms_it_does_not_listen_to_states(self):
        node, publisher = self.graph.node, self.publisher
        node.destroy_subscription(next(
            one for one in node.subscriptions if one.topic_name == '/dynamics_terms'))
        self.graph.until(lambda: publisher.get_subscription_count() == 0, 'a node that is idle')
        self.graph.heard['/diagnostics'].clear()
        self.graph.until(lambda: any(
            s.message == 'idle: nobody listens to dynamics_terms'
            for m in self.graph.heard['/diagnostics'] for s in m.status), 'its status')
        self.graph.listen(DynamicsTerms, 'dynamics_terms', 100, 'again')

        def come():
            self.send()
            return self.graph.heard['again']
        self.graph.until(come, 'terms again')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
