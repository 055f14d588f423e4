"""Bytes that are no messages, and numbers beyond all bounds, on every topic: all nodes go on."""
import os
import re
import signal
import tempfile
import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from graph import Listener, Parameters, sim
from launch import LaunchDescription
from launch_ros.actions import Node
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState, StrainGauges
from flex_msgs.srv import ApplyWrench, AttachPayload, GetDynamics

FOLDER = tempfile.TemporaryDirectory()
MODEL = Model(load_robot('lab_link'))
NODES = ('simulator', 'dynamics', 'control', 'state_publisher', 'markers')
# Who reads what.
TOPICS = {
    'joint_commands': (JointState, ('simulator',)),
    'external_wrench': (WrenchStamped, ('simulator', 'markers')),
    'applied_wrench': (WrenchStamped, ('markers',)),
    'flex_state': (FlexState, ('dynamics', 'control', 'state_publisher', 'markers')),
    'dynamics_terms': (DynamicsTerms, ('control',)),
    'control/joint_trajectory': (JointTrajectory, ('control',)),
}
UNDECODABLE = (
    b'\0\1\0\0' + b'\xff' * 4,                       # a text of 4 GB, as the first field
    b'\0\1\0\0' + b'\xff' * 60,
    b'\0\1', b'\0\1\0\0', b'\0\x0b\0\0' + bytes(40),
    serialize_message(JointTrajectory(joint_names=['a'] * 9))[:50],
)


@pytest.mark.launch_test
def generate_test_description():
    path = Path(FOLDER.name, 'parameters.yaml')
    path.write_text(yaml.safe_dump({
        '/**/simulator': {'ros__parameters': {
            'rate': 100.0, 'step': 0.002, 'drive.damping': [1.0]}},
        '/**/dynamics': {'ros__parameters': {'rate': 50.0}},
        '/**/control': {'ros__parameters': {'pd.bandwidth': 0.0, 'input_timeout': 100.0,
                                            'state_timeout': 100.0}}}))
    return LaunchDescription([
        sim(robot='lab_link', headless='true', controller='feedback_linearization',
            params_file=str(path)),
        Node(package='flex_viz', executable='markers', name='markers', output='screen',
             parameters=[{'robot': 'lab_link', 'use_sim_time': True}]),
        launch_testing.actions.ReadyToTest()])


class TestGarbage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(DiagnosticArray, '/diagnostics', 100)
        graph.listen(DynamicsTerms, 'dynamics_terms', 10)
        graph.listen(JointState, 'joint_states', 100)
        cls.publishers = {topic: graph.node.create_publisher(kind, topic, 10)
                          for topic, (kind, _) in TOPICS.items()}
        for topic, publisher in cls.publishers.items():
            readers = len(TOPICS[topic][1]) + (topic == 'dynamics_terms')
            graph.until(lambda publisher=publisher, readers=readers:
                        publisher.get_subscription_count() >= readers, f'who reads {topic}')
        graph.next('dynamics_terms')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def status(self, node):
        """The next status of a node: its text and its values."""
        self.graph.heard['/diagnostics'].clear()

        def find():
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == f'{node}: status'), None)
        status = self.graph.until(find, f'a status of {node}')
        return status.message, {v.key: v.value for v in status.values}

    def count(self, node, key):
        return int(self.status(node)[1][key])

    def sent_until(self, send, counted, what):
        """Send again and again, as the queues of some readers hold one message, until all
        nodes have counted more than before."""
        before = {one: self.count(*one) for one in counted}

        def more():
            for _ in range(5):
                send()
                self.graph.spin(0.03)
            return all(self.count(*one) > before[one] for one in counted)
        self.graph.until(more, what)

    def assert_well(self):
        """All nodes work: new terms come, and they need states, and the robot is driven."""
        first, second = self.graph.next('dynamics_terms', 2)
        assert np.isfinite(second.mass).all()
        for node in NODES:
            self.status(node)
        self.graph.until(lambda: self.status('control')[0] == 'running', 'a controller that runs')

    def test_a_bytes_that_are_no_message(self):
        for topic, (_, readers) in TOPICS.items():
            def send(publisher=self.publishers[topic]):
                for data in UNDECODABLE:
                    publisher.publish(data)
            self.sent_until(send, [(node, 'undecodable messages') for node in readers],
                            f'the count of what came on {topic}')
            for node in readers:
                last = self.status(node)[1]['last undecodable message']
                assert topic in last and 'expected' in last, last
        self.assert_well()

    def test_b_finite_numbers_beyond_all_bounds(self):
        n = MODEL.n
        state = FlexState(name=list(MODEL.names), joint_count=1, position=[1e308] * n,
                          velocity=[-1e308] * n)
        self.sent_until(lambda: self.publishers['flex_state'].publish(state), [
            (node, 'states rejected') for node in TOPICS['flex_state'][1]], 'rejected states')
        terms = DynamicsTerms(name=list(MODEL.names), joint_count=1, position=[0.0] * n,
                              velocity=[0.0] * n, gravity=[1e308] * n, input=[1.0] * n,
                              **{what: [1e308] * n * n for what in (
                                  'mass', 'coriolis', 'stiffness', 'damping')})
        self.sent_until(lambda: self.publishers['dynamics_terms'].publish(terms), [
            ('control', 'terms and measurements rejected')], 'rejected terms')
        command = JointState(name=['joint1'], effort=[1e308])
        self.sent_until(lambda: self.publishers['joint_commands'].publish(command), [
            ('simulator', 'rejected commands')], 'rejected commands')
        push = WrenchStamped()
        push.header.frame_id, push.wrench.force.x = 'payload', 1e308
        self.sent_until(lambda: self.publishers['external_wrench'].publish(push), [
            ('simulator', 'rejected wrenches')], 'rejected wrenches')
        point = JointTrajectoryPoint(positions=[1e308], velocities=[1e308])
        point.time_from_start.sec = 1
        way = JointTrajectory(joint_names=['joint1'], points=[point])
        self.sent_until(lambda: self.publishers['control/joint_trajectory'].publish(way), [
            ('control', 'trajectories refused')], 'refused trajectories')
        self.assert_well()

    def test_c_clocks_before_zero_and_at_the_end_of_time(self):
        clock = self.graph.node.create_publisher(Clock, '/clock', 1)
        self.graph.until(clock.get_subscription_count, 'who reads the clock')
        message = Clock()
        message.clock.sec = -5
        self.sent_until(lambda: clock.publish(message), [
            (node, 'undecodable messages') for node in ('dynamics', 'control')],
            'ignored clocks')
        message.clock.sec, message.clock.nanosec = 2**31 - 1, 2**32 - 1
        for _ in range(10):
            clock.publish(message)
            self.graph.spin(0.02)
        stamped = FlexState(name=list(MODEL.names), joint_count=1, position=[0.0] * MODEL.n,
                            velocity=[0.0] * MODEL.n)
        stamped.header.stamp = message.clock
        self.sent_until(lambda: self.publishers['flex_state'].publish(stamped), [
            ('dynamics', 'states rejected'), ('control', 'states rejected')], 'rejected stamps')
        self.assert_well()

    def test_d_services_refuse_what_is_beyond_all_bounds(self):
        request = AttachPayload.Request(name='moon', frame='payload')
        for mass, centre in ((1e300, 0.0), (1e9, 0.0), (1.0, 1e300), (float('nan'), 0.0)):
            request.inertia.m, request.inertia.com.x = mass, centre
            answer = self.graph.call(AttachPayload, 'simulator/attach_payload', request)
            assert not answer.success and 'expected' in answer.message, answer.message
        push = ApplyWrench.Request()
        push.wrench.header.frame_id, push.wrench.wrench.torque.z = 'payload', 1e300
        push.duration.sec = 1
        answer = self.graph.call(ApplyWrench, 'simulator/apply_wrench', push)
        assert not answer.success and 'expected finite numbers of at most 1e+09' in answer.message
        answer = self.graph.call(GetDynamics, 'dynamics/get_dynamics', GetDynamics.Request(
            name=['joint1'], position=[1e308]))
        assert not answer.success and 'expected' in answer.message
        self.assert_well()

    def test_e_parameters_refuse_what_cannot_be(self):
        simulator = Parameters(self.graph, 'simulator')
        assert 'nosuchuser' in simulator.set('record', '~nosuchuser/x')
        assert 'expected numbers' in simulator.set('encoders.bias', [True])
        assert 'expected numbers' in simulator.set('encoders.noise', '12')
        for name in ('encoders.quantisation', 'encoders.velocity_quantisation',
                     'gauges.quantisation', 'imu.gyro_quantisation'):
            assert not simulator.set(name, 5e-324)
        for kind, topic in ((StrainGauges, 'strain_gauges'), (Imu, 'imu/tip_imu')):
            self.graph.listen(kind, topic, 100)
        for joints in self.graph.next('joint_states', 5):
            assert np.isfinite([*joints.position, *joints.velocity]).all()
        for gauges in self.graph.next('strain_gauges', 5):
            assert np.isfinite(gauges.strain).all()
        for imu in self.graph.next('imu/tip_imu', 5):
            assert np.isfinite([imu.angular_velocity.x, imu.angular_velocity.z]).all()
        self.assert_well()

    def test_f_a_dynamics_node_that_was_stopped_goes_on(self):
        """Also if others take it for dead meanwhile, and delete its ports in shared memory."""
        process = self.process_of('dynamics')
        os.kill(process, signal.SIGSTOP)
        try:
            time.sleep(2.0)
        finally:
            os.kill(process, signal.SIGCONT)
        self.assert_well()
        ports = [port for port in self.ports_of(process) if Path(port).exists()]
        assert ports, 'with this discovery range ROS uses shared memory'
        os.kill(process, signal.SIGSTOP)
        try:
            for port in ports:
                Path(port).unlink()
            time.sleep(2.0)
        finally:
            os.kill(process, signal.SIGCONT)
        # It is the same process, which has begun to count anew.
        self.graph.until(lambda: set(self.ports_of(process)) and not any(
            word.endswith('(deleted)') for word in self.maps_of(process)), 'a new start')
        assert self.process_of('dynamics') == process
        self.assert_well()

    def maps_of(self, process):
        return [line for line in read_now(f'/proc/{process}/maps').splitlines()
                if 'fastrtps_port' in line]

    def ports_of(self, process):
        """Files in shared memory to which the process listens."""
        names = [read_now(task / 'comm').strip()
                 for task in Path(f'/proc/{process}/task').iterdir()]
        return [f'/dev/shm/fastrtps_port{name[8:]}' for name in names
                if re.fullmatch(r'dds\.shm\.\d+', name)]

    def process_of(self, node):
        """The process of a node of this launch, by its words."""
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                words = (folder / 'cmdline').read_bytes().split(b'\0')
                environment = (folder / 'environ').read_bytes().split(b'\0')
            except OSError:
                continue
            domain = f'ROS_DOMAIN_ID={os.environ["ROS_DOMAIN_ID"]}'.encode()
            if (domain in environment and f'__node:={node}'.encode() in words
                    and any(word.endswith(f'/{node}'.encode()) for word in words[:3])):
                return int(folder.name)
        raise AssertionError(f'no process of {node}')


def read_now(path):
    """A file of /proc; empty if its thread, or the program that it belonged to, is gone."""
    try:
        return Path(path).read_text()
    except OSError:
        return ''


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        text = b''.join(io.text for io in proc_output).decode(errors='replace')
        assert 'Traceback' not in text
        FOLDER.cleanup()
