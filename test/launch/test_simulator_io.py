"""What goes into the simulator and what comes out: sensors, pushes, payloads, recordings."""
import subprocess
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
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from graph import Listener, Parameters, seconds, sim
from launch import LaunchDescription
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetSimulatorFeatures,
    ResetSimulation,
    SetSimulationState,
    StepSimulation,
)
from std_msgs.msg import Int32

from flex_description import load_robot
from flex_dynamics import Model, Sensors
from flex_msgs.msg import FlexState, StrainGauges
from flex_msgs.srv import ApplyWrench, AttachPayload, DetachPayload

MODEL = Model(load_robot('cibicik_arm'))
SENSORS = Sensors(MODEL)
FOLDER = tempfile.TemporaryDirectory()
START = [0.0, 0.5, 1.0, 0.5]
NOISE, BIAS, QUANTUM = 2e-6, 1e-4, 1e-4
PARAMETERS = {
    '/**/simulator': {'ros__parameters': {
        # One command is held for ever: how busy the machine is does not matter to the motion.
        'rate': 100.0, 'step': 0.001, 'start.positions': START, 'command_timeout': 1000.0,
        'drive.bandwidth': 0.0, 'drive.stiffness': [2e4],
        'drive.damping': [800.0, 2400.0, 900.0, 40.0],
        'gauges.noise': NOISE, 'gauges.bias': [0.0, 0.0, BIAS, 0.0], 'sensors.seed': 5,
        'encoders.quantisation': QUANTUM, 'encoders.delay': 0.03,
        'imu.gyro_noise': 0.02, 'imu.acceleration_quantisation': 0.01, 'imu.orientation': False,
    }},
}
BAG, FAST_BAG, LAST_BAG = (Path(FOLDER.name, name) for name in ('run', 'fast', 'until_the_end'))
SET = 5_000_000       # ns by which the clock of the machine may be set during a test


@pytest.mark.launch_test
def generate_test_description():
    path = Path(FOLDER.name, 'parameters.yaml')
    path.write_text(yaml.safe_dump(PARAMETERS))
    return LaunchDescription([sim(headless='true', control='false', driver='answering',
                                  params_file=str(path)),
                              launch_testing.actions.ReadyToTest()])


class TestSimulator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        cls.parameters = Parameters(graph, 'simulator')
        for kind, topic in ((JointState, 'joint_states'), (FlexState, 'flex_state'),
                            (StrainGauges, 'strain_gauges'), (Imu, 'imu/tip_imu'),
                            (WrenchStamped, 'applied_wrench'),
                            (DiagnosticArray, '/diagnostics')):
            graph.listen(kind, topic, 1000)      # who is held up for a second loses nothing
        cls.commands = graph.node.create_publisher(JointState, 'joint_commands', 10)
        graph.until(cls.commands.get_subscription_count, 'the simulator')
        cls.command()
        graph.until(lambda: seconds(graph.next('flex_state')[0].header.stamp) > 0.1, 'time')

    @classmethod
    def command(cls):
        """Hold the start pose."""
        cls.commands.publish(JointState(name=list(MODEL.names[:4]), position=START,
                                        effort=MODEL.statics(START)[1].tolist()))

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def pairs(self, topic, count=100):
        """So many messages of a sensor, each with the flex_state of its stamp."""
        self.graph.until(lambda: self.furthest(0.2) < 1e-3, 'an arm at rest')
        self.graph.next(topic, count)
        self.graph.spin(0.1)
        states = {str(m.header.stamp): m for m in self.graph.heard['flex_state']}
        # The reader of a busy machine may have lost some of either.
        found = [(m, states[str(m.header.stamp)]) for m in self.graph.heard[topic][-count:]
                 if str(m.header.stamp) in states]
        assert len(found) > count // 2
        return found

    def status(self):
        self.graph.heard['/diagnostics'].clear()

        def find():
            return next((s for m in self.graph.heard['/diagnostics'] for s in m.status
                         if s.name == 'simulator: status'), None)
        return {v.key: v.value for v in self.graph.until(find, 'diagnostics').values}

    def play(self, state):
        request = SetSimulationState.Request(state=SimulationState(state=state))
        return self.graph.call(SetSimulationState, 'simulator/set_simulation_state',
                               request).result.result

    def push(self, frame, force, sec=1, nanosec=0):
        request = ApplyWrench.Request(duration=Duration(sec=sec, nanosec=nanosec))
        request.wrench.header.frame_id = frame
        request.wrench.wrench.force.y = force
        return self.graph.call(ApplyWrench, 'simulator/apply_wrench', request)

    def furthest(self, span=0.5):
        """The largest change of a coordinate in the next simulated s."""
        begin = seconds(self.graph.next('flex_state')[0].header.stamp)
        return self.moved(begin, begin + span)

    def moved(self, begin, end):
        """The largest change of a coordinate from begin to end (s)."""
        heard = self.graph.heard['flex_state']
        self.graph.until(lambda: seconds(heard[-1].header.stamp) > end, 'simulated time')
        states = np.array([m.position for m in heard if seconds(m.header.stamp) >= begin])
        return np.abs(states - states[0]).max()

    # Sensors ----------------------------------------------------------------------------------

    def test_gauges_read_the_strain_of_the_state_with_noise_and_bias(self):
        errors = []
        for message, state in self.pairs('strain_gauges', 200):
            assert list(message.name) == SENSORS.gauge_names
            assert message.header.frame_id == 'base'
            errors.append(np.array(message.strain) - SENSORS.strain(state.position))
        errors = np.array(errors)
        bound = 5.0 * NOISE / np.sqrt(len(errors))
        assert np.abs(errors.mean(axis=0) - [0.0, 0.0, BIAS, 0.0]).max() < bound
        assert abs(errors.std() / NOISE) > 0.8
        assert np.abs(errors - errors.mean(axis=0)).std() < 1.2 * NOISE

    def test_the_imu_feels_the_deflected_tool(self):
        def felt(message, state):
            """In world axes, m/s2."""
            force = message.linear_acceleration
            return MODEL.pose(state.position, 'tool')[:3, :3] @ [force.x, force.y, force.z]

        def weight():        # and no more, once the last swing of the test before has gone
            found = self.pairs('imu/tip_imu', 50)
            return found if all(np.abs(felt(*one) - [0.0, 0.0, 9.81]).max() < 2.0
                                for one in found) else None
        for message, _ in self.graph.until(weight, 'an IMU that feels the weight'):
            assert message.header.frame_id == 'tool'
            force = message.linear_acceleration
            force = np.array([force.x, force.y, force.z])
            assert np.allclose(force, 0.01 * np.round(force / 0.01), atol=1e-12)
            assert np.isclose(message.linear_acceleration_covariance[4], 1e-4 / 12.0)
            assert np.isclose(message.angular_velocity_covariance[0], 4e-4)
            assert message.angular_velocity_covariance[1] == 0.0
            assert message.orientation_covariance[0] == -1.0

    def test_encoders_are_late_and_have_steps(self):
        # 0.03 s are 3 periods of 0.01 s.
        states = {round(1e9 * m.header.stamp.sec) + m.header.stamp.nanosec: m
                  for m in self.graph.next('flex_state', 50)}
        self.graph.next('joint_states', 50)
        compared = 0
        for message in self.graph.heard['joint_states']:
            now = message.header.stamp
            then = round(1e9 * now.sec) + now.nanosec - 30_000_000
            if then in states:
                truth = np.array(states[then].position[:4])
                assert np.allclose(message.position, QUANTUM * np.round(truth / QUANTUM),
                                   rtol=0.0, atol=1e-12)
                assert np.array_equal(message.velocity, states[then].velocity[:4])
                compared += 1
        assert compared > 10

    def test_sensor_topics_are_reliable(self):
        for topic in ('strain_gauges', 'imu/tip_imu'):
            self.graph.listen(Imu if 'imu' in topic else StrainGauges, topic, QoSProfile(
                depth=5, reliability=ReliabilityPolicy.BEST_EFFORT), f'{topic} best effort')
            self.graph.next(f'{topic} best effort', 3)
            info, = self.graph.node.get_publishers_info_by_topic(f'/{topic}')
            assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE

    def test_errors_of_sensors_can_be_set_while_it_runs(self):
        assert self.parameters.set('imu.gyro_noise', 0.5) == ''
        self.graph.until(lambda: self.graph.next('imu/tip_imu')[0].angular_velocity_covariance[0]
                         == 0.25, 'the new noise')
        assert self.parameters.set('imu.gyro_noise', 0.02) == ''

    def test_bad_parameters_are_refused_with_the_reason(self):
        for name, value, reason in (
                ('gauges.noise', -1.0, 'gauges.noise: expected 0 to 1e+06, found -1'),
                ('gauges.noise', 'much', "gauges.noise: expected numbers, found 'much'"),
                ('gauges.bias', [1.0, 2.0], 'gauges.bias: expected none, 1 or 4 numbers (one a '
                                            'gauge), found 2'),
                ('imu.gyro_bias', [float('nan')], 'imu.gyro_bias: expected -1e+06 to 1e+06, '
                                                  'found nan'),
                ('drive.damping', [-1.0], 'drive.damping: expected 0 to 1e+12, found -1'),
                ('drive.bandwidth', 1e9, 'drive.bandwidth: expected 0 to 10000, found 1e+09'),
                ('record', FOLDER.name, 'exists already'),
                ('record', '/dev/null/bag', 'cannot record to /dev/null/bag'),
                ('step', 0.5, 'read-only')):
            assert reason in self.parameters.set(name, value), name
        for damping in ([900.0], [800.0, 2400.0, 900.0, 40.0]):
            assert self.parameters.set('drive.damping', damping) == ''

    def test_a_set_that_is_refused_leaves_nothing_behind(self):
        refused = Path(FOLDER.name, 'refused')
        for pairs, reason in (((('record', str(refused)), ('gauges.noise', -1.0)), 'found -1'),
                              ((('gauges.noise', 1e-6), ('gauges.noise', 1e-5)), 'found two')):
            assert reason in self.parameters.set_all(*pairs)
            assert not refused.exists() and self.status()['recording'] == 'off'
        assert self.parameters.set_all(('record', str(refused)), ('gauges.noise', NOISE)) == ''
        assert self.parameters.set('record', '') == '' and refused.exists()

    # Pushes and payloads ----------------------------------------------------------------------

    def test_a_push_by_service_ends_after_its_time(self):
        self.graph.until(lambda: self.furthest(0.3) < 1e-3, 'an arm at rest')
        told = self.graph.heard['applied_wrench']
        told.clear()
        answer = self.push('link3/tip', 400.0, 0, 300000000)
        assert answer.success, answer.message
        self.graph.until(lambda: len(told) > 2, 'the push, told three times')
        begin = seconds(told[0].header.stamp)
        assert self.moved(begin - 0.1, begin + 0.5) > 5e-3
        assert [(m.header.frame_id, m.wrench.force.y) for m in told] == [('link3/tip', 400.0)] * 3
        begin, *later = [seconds(m.header.stamp) for m in told]
        assert np.allclose(later, [begin + 0.1, begin + 0.2])
        self.graph.until(lambda: self.furthest(0.3) < 1e-3, 'an arm at rest again')

    def test_bad_pushes_are_refused_with_the_reason(self):
        for frame, force, duration, reason in (
                ('elbow', 1.0, 1, "unknown frame 'elbow'"),
                ('tool', float('nan'), 1, "wrench on 'tool': expected finite numbers"),
                ('tool', 1.0, 0, 'duration: expected a positive time')):
            answer = self.push(frame, force, duration)
            assert not answer.success and reason in answer.message
        request = ApplyWrench.Request(duration=Duration(sec=1))
        request.wrench.header.frame_id = 'tool'
        request.wrench.header.stamp.sec = round(time.time())      # not simulated time
        answer = self.graph.call(ApplyWrench, 'simulator/apply_wrench', request)
        assert not answer.success and 'more than an hour after the present' in answer.message

    def test_a_push_by_topic_lasts_while_it_is_sent(self):
        publisher = self.graph.node.create_publisher(WrenchStamped, 'external_wrench', 10)
        self.graph.until(publisher.get_subscription_count, 'the simulator')
        message = WrenchStamped()
        message.header.frame_id = 'tool'
        message.wrench.force.y = 400.0
        begin = self.graph.next('flex_state')[0].position

        def moved():
            publisher.publish(message)
            states = self.graph.next('flex_state', 5)
            return np.abs(np.subtract(states[-1].position, begin)).max() > 5e-3
        self.graph.until(moved, 'an arm that is pushed')
        self.graph.until(lambda: self.furthest(0.3) < 1e-3, 'an arm at rest again')
        message.header.frame_id = 'nowhere'
        publisher.publish(message)
        self.graph.until(lambda: "'nowhere'" in self.status()['last rejected wrench'],
                         'the refusal')
        self.graph.node.destroy_publisher(publisher)

    def test_a_push_from_the_shell(self):
        command = ['ros2', 'run', 'flex_dynamics', 'push', 'tool', '--force', '0', '400', '0',
                   '--duration', '1.5']
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.graph.until(lambda: self.furthest(0.3) > 5e-3, 'an arm that was pushed')
        assert process.wait(60.0) == 0, process.stderr.read()
        command[4] = 'elbow'
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 1
        assert done.stderr.strip() == ("push: unknown frame 'elbow': expected a link or frame of "
                                       'cibicik_arm')
        self.graph.until(lambda: self.furthest(0.3) < 1e-3, 'an arm at rest again')

    def test_payloads_come_and_go_at_speed(self):
        def stopped_at_speed():      # once more if it came to rest against the push before
            self.push('tool', 400.0, 3)
            self.furthest(0.2)
            assert self.play(SimulationState.STATE_PAUSED) == Result.RESULT_OK
            state = self.graph.still('flex_state')
            if np.abs(state.velocity).max() > 0.01:
                return state
            assert self.play(SimulationState.STATE_PLAYING) == Result.RESULT_OK
            self.furthest(4.0)
            return None
        before = self.graph.until(stopped_at_speed, 'an arm at speed')
        request = AttachPayload.Request(name='box', frame='tool')
        request.inertia.m = 5.0
        request.inertia.com.x = 0.1
        for mass, reason in ((-1.0, 'inertia.m: expected 0 to'), (5.0, '')):
            request.inertia.m = mass
            answer = self.graph.call(AttachPayload, 'simulator/attach_payload', request)
            assert answer.success == (not reason) and reason in answer.message
        answer = self.graph.call(AttachPayload, 'simulator/attach_payload', request)
        assert not answer.success and 'attached already' in answer.message
        after = self.graph.next('flex_state')[0]
        assert after.position == before.position and after.velocity == before.velocity
        assert self.status()['payloads'] == 'box'
        step = StepSimulation.Request(steps=1)
        assert self.graph.call(StepSimulation, 'simulator/step_simulation',
                               step).result.result == Result.RESULT_OK
        moved = self.graph.still('flex_state')
        assert 0.0 < np.abs(np.subtract(moved.position, after.position)).max() < 0.05
        let_go = DetachPayload.Request(name='box')
        assert self.graph.call(DetachPayload, 'simulator/detach_payload', let_go).success
        again = self.graph.call(DetachPayload, 'simulator/detach_payload', let_go)
        assert not again.success and 'is not attached' in again.message
        still = self.graph.next('flex_state')[0]
        assert still.velocity == moved.velocity
        # With what the arm cannot bear there is no start pose to go back to.
        request.inertia.m, request.name = 1e5, 'mountain'
        self.graph.call(AttachPayload, 'simulator/attach_payload', request)
        scope = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_STATE)
        answer = self.graph.call(ResetSimulation, 'simulator/reset_simulation', scope).result
        assert answer.result == Result.RESULT_OPERATION_FAILED
        assert 'no equilibrium' in answer.error_message
        assert self.graph.call(DetachPayload, 'simulator/detach_payload',
                               DetachPayload.Request(name='mountain')).success
        request.inertia.m, request.name = 5.0, 'box'
        # A reset takes spawned things away, and the features say that it can.
        self.graph.call(AttachPayload, 'simulator/attach_payload', request)
        scope = ResetSimulation.Request(scope=ResetSimulation.Request.SCOPE_SPAWNED)
        self.graph.call(ResetSimulation, 'simulator/reset_simulation', scope)
        assert self.status()['payloads'] == ''
        features = self.graph.call(GetSimulatorFeatures, 'simulator/get_simulator_features',
                                   GetSimulatorFeatures.Request()).features.features
        assert SimulatorFeatures.SIMULATION_RESET_SPAWNED in features
        assert self.play(SimulationState.STATE_PLAYING) == Result.RESULT_OK
        self.graph.until(lambda: self.furthest(0.3) < 1e-3, 'an arm at rest again')

    # Recordings -------------------------------------------------------------------------------

    def test_a_recording_has_every_topic_and_every_state(self):
        assert self.parameters.set('record', str(BAG)) == ''

        def enough():
            self.command()     # again and again: the recorder may not listen at once
            said = self.status()['recording'].split()[0]      # "off" may still be on its way
            return said.isdigit() and int(said) > 1000
        self.graph.until(enough, 'messages')
        assert self.parameters.set('record', '') == ''
        assert yaml.safe_load(Path(BAG, 'metadata.yaml').read_text())[
            'rosbag2_bagfile_information']['storage_identifier'] == 'mcap'
        with AnyReader([BAG]) as bag:
            topics = {c.topic: c for c in bag.connections}
            for topic in ('joint_states', 'flex_state', 'clock', 'strain_gauges', 'imu/tip_imu',
                          'joint_commands', 'dynamics_terms', 'tf', 'robot_description',
                          'diagnostics'):
                assert topics[f'/{topic}'].msgcount > 0, topic
            for topic, connection in topics.items():
                offered = self.graph.node.get_publishers_info_by_topic(topic)
                if offered:
                    assert connection.digest == str(offered[0].topic_type_hash), topic
            states = {str((m.header.stamp.sec, m.header.stamp.nanosec)): m for m in (
                bag.deserialize(data, connection.msgtype) for connection, _, data
                in bag.messages([topics['/flex_state']]))}
        heard = self.graph.heard['flex_state']
        last = max(seconds(state.header.stamp) for state in states.values())
        self.graph.until(lambda: seconds(heard[-1].header.stamp) > last, 'what was recorded')
        compared = 0
        for message in heard:
            found = states.get(str((message.header.stamp.sec, message.header.stamp.nanosec)))
            if found is not None:
                assert np.array_equal(found.position, message.position)
                assert list(found.name) == list(MODEL.names)
                compared += 1
        assert compared > 50

    def test_a_recording_has_all_of_a_fast_topic_of_another_node(self):
        assert self.parameters.set('record', str(FAST_BAG)) == ''
        publisher = self.graph.node.create_publisher(Int32, 'counter', 2000)
        self.graph.until(publisher.get_subscription_count, 'the recorder')
        began = time.time_ns()
        for number in range(2000):                     # a thousand a second
            publisher.publish(Int32(data=number))
            time.sleep(0.001)
        ended = time.time_ns()
        self.graph.spin(0.2)
        assert self.parameters.set('record', '') == ''
        self.graph.node.destroy_publisher(publisher)
        with AnyReader([FAST_BAG]) as bag:
            found = [(when, bag.deserialize(data, c.msgtype).data) for c, when, data
                     in bag.messages([c for c in bag.connections if c.topic == '/counter'])]
        assert [number for _, number in found] == list(range(2000))
        # When they came, in their order, not when the recorder took them (every 20 ms). The clock
        # of the machine may be set while this runs, by less than that.
        assert began - SET <= found[0][0] < found[-1][0] <= ended + SET

    def test_z_a_recording_that_is_under_way_at_the_end(self):
        assert self.parameters.set('record', str(LAST_BAG)) == ''
        self.graph.next('flex_state', 100)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_what_was_recorded_at_the_end_is_whole(self):
        with AnyReader([LAST_BAG]) as bag:
            count = {c.topic: c.msgcount for c in bag.connections}
            stamps = [m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in (
                bag.deserialize(data, c.msgtype) for c, _, data in bag.messages(
                    [c for c in bag.connections if c.topic == '/flex_state']))]
        assert count['/flex_state'] == count['/joint_states'] == len(stamps) > 50
        # No state is missing in between.
        assert np.allclose(np.diff(sorted(set(stamps))), 0.01)
        FOLDER.cleanup()
