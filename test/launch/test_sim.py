"""sim.launch.py, free running: nodes, topics, services, bad input, and a clean end."""
import math
import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from graph import NODES, Listener, Parameters, seconds, sim
from launch import LaunchDescription
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import (
    GetSimulationState,
    ResetSimulation,
    SetSimulationState,
    StepSimulation,
)
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState
from flex_msgs.srv import GetDynamics

MODEL = Model(load_robot('cibicik_arm'))
JOINTS = list(MODEL.names[:4])
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([sim(headless='true'), launch_testing.actions.ReadyToTest()])


class TestGraph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        graph.listen(JointState, 'joint_states')
        graph.listen(FlexState, 'flex_state')
        graph.listen(DynamicsTerms, 'dynamics_terms')
        graph.listen(TFMessage, 'tf')
        graph.listen(Clock, 'clock')
        graph.listen(DiagnosticArray, '/diagnostics')
        graph.until(lambda: set(NODES) <= set(graph.node.get_node_names()), 'all nodes')
        graph.until(lambda: len(graph.heard['joint_states']) > 5 and seconds(
            graph.heard['joint_states'][-1].header.stamp) > 0.0, 'moving time')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def state(self):
        return self.graph.next('flex_state')[0]

    def status(self, node, key=None):
        """The next diagnostic status of a node, or one value of it."""
        def find():
            for message in self.graph.heard['/diagnostics'][begin:]:
                for status in message.status:
                    if status.name == f'{node}: status':
                        return status
            return None
        begin = len(self.graph.heard['/diagnostics'])
        status = self.graph.until(find, f'status of {node}')
        return {v.key: v.value for v in status.values}[key] if key else status

    def play(self, state):
        return self.graph.call(SetSimulationState, 'simulator/set_simulation_state',
                               SetSimulationState.Request(state=SimulationState(state=state)))

    def test_joint_states_are_those_of_any_robot(self):
        messages = self.graph.next('joint_states', 20)
        stamps = [seconds(m.header.stamp) for m in messages]
        assert all(b > a for a, b in zip(stamps, stamps[1:]))
        for message in messages:
            assert list(message.name) == JOINTS and message.header.frame_id == 'base'
            assert len(message.position) == len(message.velocity) == len(message.effort) == 4
            assert np.isfinite([*message.position, *message.velocity, *message.effort]).all()

    def test_flex_state_has_all_coordinates(self):
        message = self.state()
        assert list(message.name) == list(MODEL.names) and message.joint_count == 4
        assert len(message.position) == len(message.velocity) == MODEL.n

    def test_the_arm_holds_its_sagging_start_pose(self):
        wanted = MODEL.statics(np.zeros(4))[0]

        def there():     # for a while; a control node that was held up takes some time to be so
            states = [message.position for message in self.graph.next('flex_state', 20)]
            return np.abs(np.array(states) - wanted).max() < 0.01
        self.graph.until(there, 'the start pose')

    def test_terms_are_those_of_the_model_at_the_state_they_name(self):
        terms = self.graph.next('dynamics_terms')[0]
        q, v = np.array(terms.position), np.array(terms.velocity)
        n = MODEL.n
        assert list(terms.name) == list(MODEL.names) and not terms.static_deflection
        mass, coriolis = MODEL.mass_and_coriolis(q, v)
        for found, wanted in ((terms.mass, mass), (terms.coriolis, coriolis),
                              (terms.stiffness, MODEL.stiffness_matrix()),
                              (terms.damping, MODEL.damping_matrix())):
            assert np.allclose(np.reshape(found, (n, n)), wanted, rtol=1e-12, atol=1e-12)
        assert np.allclose(terms.gravity, MODEL.gravity_force(q), rtol=1e-9, atol=1e-9)
        assert np.reshape(terms.input, (n, 4))[:4].tolist() == np.eye(4).tolist()

    def test_dynamics_at_any_state_on_request(self):
        request = GetDynamics.Request(name=JOINTS, position=[0.0, 0.5, 1.0, 0.5], frame='tool',
                                      static_deflection=True, frequencies=True, x=math.nan)
        answer = self.graph.call(GetDynamics, 'dynamics/get_dynamics', request)
        assert answer.success, answer.message
        q = MODEL.statics([0.0, 0.5, 1.0, 0.5])[0]
        assert np.allclose(answer.terms.position, q)
        position = answer.pose.position
        assert np.allclose([position.x, position.y, position.z], MODEL.pose(q, 'tool')[:3, 3])
        assert np.allclose(answer.jacobian, MODEL.jacobian(q, 'tool').ravel())
        assert np.allclose(answer.frequency, MODEL.frequencies(q)[0], atol=1e-3)
        request.frame = 'elbow'
        answer = self.graph.call(GetDynamics, 'dynamics/get_dynamics', request)
        assert not answer.success and "unknown frame 'elbow'" in answer.message

    def test_tf_has_every_link_where_it_truly_is(self):
        children = {t.child_frame_id for m in self.graph.next('tf', 3) for t in m.transforms}
        assert children == {'link1', 'link2', 'link3', 'link4', 'link2/tip', 'link3/tip'}
        self.graph.listen(TFMessage, 'tf_static', LATCHED)
        static = self.graph.until(lambda: self.graph.heard['tf_static'], 'tf_static')[0]
        assert [t.child_frame_id for t in static.transforms] == ['tool']

    def test_a_late_joiner_gets_the_robot_description(self):
        self.graph.listen(String, 'robot_description', LATCHED)
        message = self.graph.until(lambda: self.graph.heard['robot_description'], 'description')[0]
        assert '<robot' in message.data and 'flexible' in message.data

    def test_best_effort_and_reliable_readers_both_get_joint_states(self):
        for reliability in (ReliabilityPolicy.BEST_EFFORT, ReliabilityPolicy.RELIABLE):
            key = f'joint_states {reliability.name}'
            self.graph.listen(JointState, 'joint_states',
                              QoSProfile(depth=10, reliability=reliability), key)
            self.graph.next(key, 5)
        for topic in ('joint_states', 'flex_state', 'clock', 'tf', 'joint_commands'):
            def publishers(topic=topic):
                return self.graph.node.get_publishers_info_by_topic(f'/{topic}')
            self.graph.until(lambda: len(publishers()) == 1, f'one publisher of {topic}')
            info = publishers()[0]
            assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE, topic

    def test_a_command_that_is_sent_once_is_not_lost(self):
        readers = self.graph.node.get_subscriptions_info_by_topic('/joint_commands')
        simulator, = [one for one in readers if one.node_name == 'simulator']
        assert simulator.qos_profile.reliability == ReliabilityPolicy.RELIABLE

    def test_the_clock_is_that_of_the_states(self):
        def between():
            before = seconds(self.state().header.stamp)
            clock = seconds(self.graph.next('clock')[0].clock)
            return before - 0.1 < clock < seconds(self.state().header.stamp) + 0.1
        self.graph.until(between, 'a clock that goes with the states')

    def test_diagnostics_of_every_node(self):
        for node in NODES:
            self.graph.until(lambda node=node: self.status(node).message == 'running', node)
            assert self.status(node).hardware_id == 'cibicik_arm'
        assert self.status('simulator', 'coordinates') == '20'

    def test_bad_commands_are_counted_and_go_no_further(self):
        publisher = self.graph.node.create_publisher(JointState, 'joint_commands', 10)
        self.graph.until(publisher.get_subscription_count, 'the simulator')
        for names, efforts, reason in ((['elbow'], [1.0], "'elbow' is no joint"),
                                       (JOINTS, [math.nan] * 4, 'found nan for joint1'),
                                       (JOINTS, [1.0], 'effort: expected 4 numbers'),
                                       ([], [], 'name: expected joint names')):
            message = JointState(name=names, effort=efforts)

            def rejected(message=message, reason=reason):
                for _ in range(10):      # good commands in between may take its place
                    publisher.publish(message)
                    self.graph.spin(0.02)
                # One of two drivers is refused: the second, unless the first was held up.
                last = self.status('simulator', 'last rejection')
                return reason in last or 'are refused' in last
            self.graph.until(rejected, reason)
        assert int(self.status('simulator', 'rejected commands')) >= 4
        assert np.isfinite(self.state().position).all()
        self.graph.node.destroy_publisher(publisher)

    def test_a_gain_out_of_range_is_refused_with_the_reason(self):
        gains = Parameters(self.graph, 'control')
        assert 'kd: expected 0 to 1e+09 N m s/rad' in gains.set('pd.kd', [-1.0])
        # What is taken is in force for the tests that follow: without damping the arm would shake.
        assert gains.set('pd.kd', [1500.0, 1500.0, 600.0, 40.0]) == ''

    def test_pause_step_play_and_reset(self):
        assert self.play(SimulationState.STATE_PAUSED).result.result == Result.RESULT_OK
        again = self.play(SimulationState.STATE_PAUSED).result.result
        assert again == SetSimulationState.Response.ALREADY_IN_TARGET_STATE
        first = seconds(self.graph.still('flex_state').header.stamp)
        result = self.graph.call(StepSimulation, 'simulator/step_simulation',
                                 StepSimulation.Request(steps=10)).result
        assert result.result == Result.RESULT_OK, result.error_message
        last = seconds(self.graph.still('flex_state').header.stamp)
        assert abs(last - first - 0.02) < 1e-9
        state = self.graph.call(GetSimulationState, 'simulator/get_simulation_state',
                                GetSimulationState.Request())
        assert state.state.state == SimulationState.STATE_PAUSED
        assert self.play(SimulationState.STATE_PLAYING).result.result == Result.RESULT_OK
        result = self.graph.call(StepSimulation, 'simulator/step_simulation',
                                 StepSimulation.Request(steps=1)).result
        assert result.result == Result.RESULT_INCORRECT_STATE
        before = seconds(self.state().header.stamp)
        self.graph.call(ResetSimulation, 'simulator/reset_simulation', ResetSimulation.Request())
        self.graph.until(lambda: seconds(self.state().header.stamp) < before, 'time set back')

    def test_steps_keep_to_the_clock_and_end_when_they_are_told_to(self):
        def step(count):
            return self.graph.ask(StepSimulation, 'simulator/step_simulation',
                                  StepSimulation.Request(steps=count))

        def stands():
            return seconds(self.graph.still('flex_state').header.stamp)
        assert self.play(SimulationState.STATE_PAUSED).result.result == Result.RESULT_OK
        before, began = stands(), time.monotonic()
        few = step(300)
        self.graph.until(few.done, 'the end of 300 steps')
        assert few.result().result.result == Result.RESULT_OK
        assert time.monotonic() - began > 0.55          # as long as 299 periods, for who commands
        assert abs(stands() - before - 0.6) < 1e-9
        for end, words in (
                (lambda: self.play(SimulationState.STATE_PAUSED), 'it was paused with'),
                (lambda: self.play(SimulationState.STATE_PLAYING), 'it was set to playing with'),
                (lambda: self.graph.call(ResetSimulation, 'simulator/reset_simulation',
                                         ResetSimulation.Request()), 'it was reset with')):
            endless = step(2**64 - 1)
            self.graph.next('flex_state', 20)
            assert not endless.done()
            assert end().result.result == Result.RESULT_OK
            self.graph.until(endless.done, 'an answer')
            assert endless.result().result.result == Result.RESULT_OPERATION_FAILED
            assert words in endless.result().result.error_message
            self.play(SimulationState.STATE_PAUSED)
            stands()
        assert self.play(SimulationState.STATE_PLAYING).result.result == Result.RESULT_OK

    def test_a_clock_that_stands_still_is_told_too(self):
        self.graph.call(ResetSimulation, 'simulator/reset_simulation', ResetSimulation.Request())
        assert self.play(SimulationState.STATE_PAUSED).result.result == Result.RESULT_OK
        for _ in range(3):       # one period each: most of them are not the clock's turn
            state = self.graph.still('flex_state').header.stamp
            assert self.graph.still('clock').clock == state
            self.graph.call(StepSimulation, 'simulator/step_simulation',
                            StepSimulation.Request(steps=1))
        assert self.play(SimulationState.STATE_PLAYING).result.result == Result.RESULT_OK

    def test_z_a_trajectory_moves_the_arm(self):
        publisher = self.graph.node.create_publisher(JointTrajectory, 'control/joint_trajectory',
                                                     10)
        self.graph.until(publisher.get_subscription_count, 'the control node')
        point = JointTrajectoryPoint(positions=[0.4], velocities=[0.0], accelerations=[0.0])
        point.time_from_start.sec = 1
        refused = int(self.status('control', 'trajectories refused'))
        publisher.publish(JointTrajectory(joint_names=['elbow'], points=[point]))
        self.graph.until(lambda: int(self.status('control', 'trajectories refused')) > refused,
                         'the refusal')

        def there():     # once more if a machine that stalls made the control node give it up
            publisher.publish(JointTrajectory(joint_names=['joint3'], points=[point]))
            self.graph.spin(2.0)
            return all(abs(message.position[2] - 0.4) < 0.01
                       for message in self.graph.next('flex_state', 20))
        self.graph.until(there, 'joint3 at 0.4 rad')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        assert len(list(proc_info)) == 4
        for node in NODES:
            text = b''.join(io.text for io in proc_output
                            if io.process_name.startswith(node)).decode()
            assert 'Traceback' not in text and 'cibicik_arm' in text, text
