"""The observer node alone, in the process of the test, which is the robot and its sensors."""
import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState

from flex_control.nodes.observer import Observer
from flex_description import load_robot
from flex_dynamics import Model, Sensors
from flex_msgs.msg import FlexState, FlexStateCovariance, StrainGauges
from flex_ros.parameters import NodeError

MODEL = Model(load_robot('lab_link'))
SENSORS = Sensors(MODEL)
Q, TAU = MODEL.statics([0.3])
IMU = SENSORS.imu(Q, 0.0 * Q, 0.0 * Q)[0]
PERIOD = 2e-3
COAST = 0.2          # s, coast_time
PATIENCE = 30.0      # s of wall time for what is to come


def stamp(seconds):
    return Time(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))


class Bench:
    """An observer, and all that it listens to."""

    def __init__(self, **parameters):
        given = [part for name, value in parameters.items() for part in ('-p', f'{name}:={value}')]
        rclpy.init(args=['--ros-args', '-p', 'robot:=lab_link', *given])
        self.observer, self.node = Observer(), Node('bench')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.observer)
        self.executor.add_node(self.node)
        self.states, self.covariances = [], []
        self.began, self.time = time.monotonic(), 1.0
        self.node.create_subscription(FlexState, 'flex_state', self.states.append, 100)
        self.node.create_subscription(FlexStateCovariance, 'flex_state_covariance',
                                      self.covariances.append, 100)
        self.topics = {topic: self.node.create_publisher(kind, topic, 10) for topic, kind in (
            ('joint_states', JointState), ('joint_commands', JointState),
            ('strain_gauges', StrainGauges), (f'imu/{SENSORS.imu_names[0]}', Imu))}
        heard = [one for topic, one in self.topics.items() if topic != 'joint_commands'
                 or parameters.get('effort_source', 'auto') in ('auto', 'joint_commands')]
        assert self.until(lambda: all(one.get_subscription_count() for one in heard))
        assert self.until(lambda: self.observer._covariance_topic.get_subscription_count())

    def close(self):
        self.executor.shutdown()
        self.observer.destroy_node()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def until(self, done, patience=PATIENCE):
        """Whether it came to be so."""
        end, turns = time.monotonic() + patience, 20      # some of them also after a long stall
        while time.monotonic() < end or turns > 0:
            if done():
                return True
            self.executor.spin_once(timeout_sec=0.01)
            turns -= 1
        return False

    def send(self, topic, message, at=None):
        message.header.stamp = stamp(self.time if at is None else at)
        self.topics[topic].publish(message)

    def joints(self, at=None, **fields):
        message = JointState(name=list(MODEL.joint_names), position=[0.3], velocity=[0.0])
        for name, value in fields.items():
            setattr(message, name, value)
        self.send('joint_states', message, at)

    def gauges(self, strain=None, at=None):
        self.send('strain_gauges', StrainGauges(
            name=list(SENSORS.gauge_names),
            strain=list(SENSORS.strain(Q)) if strain is None else strain), at)

    def imu(self, at=None):
        message = Imu()
        for field, values in ((message.angular_velocity, IMU.gyro),
                              (message.linear_acceleration, IMU.acceleration)):
            field.x, field.y, field.z = map(float, values)
        self.send(f'imu/{SENSORS.imu_names[0]}', message, at)

    def tick(self, gauges=True, imu=True, **fields):
        """Send a joint state with its readings, stamped by a clock that runs as the wall clock."""
        self.time = max(self.time + PERIOD, 1.0 + time.monotonic() - self.began)
        count = len(self.states)
        if gauges:
            self.gauges()
        if imu:
            self.imu()
        self.joints(**fields)
        self.until(lambda: len(self.states) > count, 0.2)

    def run(self, periods, **fields):
        """The covariance after so many joint states."""
        for _ in range(periods):
            self.tick(**fields)
        self.covariances.clear()
        self.observer._covariance_last_ns = -10**12

        def come():
            self.tick(**fields)
            return any(one.readings for one in self.covariances)
        assert self.until(come), self.status()
        return [one for one in self.covariances if one.readings][-1]

    def status(self):
        return self.observer._status()[1]

    def value(self, key):
        return self.observer._status()[2][key]


@pytest.mark.parametrize('source, commanded, reported, expected', [
    ('auto', [3.0], [2.5], 'joint_states'), ('auto', [3.0], [0.0], 'joint_commands'),
    ('auto', [], [], 'none'), ('joint_commands', [3.0], [2.5], 'joint_commands'),
    ('none', [3.0], [2.5], 'none'), ('joint_states', [3.0], [math.nan], 'none')])
def test_where_efforts_come_from(source, commanded, reported, expected):
    bench = Bench(effort_source=source)
    try:
        if commanded and source in ('auto', 'joint_commands'):
            bench.send('joint_commands', JointState(name=list(MODEL.joint_names),
                                                    effort=commanded))
            assert bench.until(lambda: np.isfinite(bench.observer._commanded).all())
        covariance = bench.run(3, effort=reported)
        assert bench.value('efforts from') == expected
        assert covariance.effort_known == (expected != 'none')
    finally:
        bench.close()


def test_it_refuses_to_start_where_flex_state_is_published():
    rclpy.init(args=['--ros-args', '-p', 'robot:=lab_link'])
    other = Node('simulator', namespace='arm')
    publisher = other.create_publisher(FlexState, '/flex_state', 10)
    with pytest.raises(NodeError, match='/flex_state: expected no publisher, found /arm/simulat'):
        Observer()
    other.destroy_publisher(publisher)
    other.destroy_node()
    rclpy.shutdown()


@pytest.mark.parametrize('given, reason', [
    ({'encoder': 0.0, 'encoder_speed': 0.0, 'strain': 0.0, 'gyro': 0.0, 'accelerometer': 0.0},
     'does not show in any sensor'),
    ({'effort_noise': '[1.0, 2.0]'}, 'effort_noise: expected none, 1 or 1 numbers'),
    ({'rate': 0.0}, 'rate: expected 10 to 2000')])
def test_it_tells_what_it_cannot_start_with(given, reason):
    try:
        with pytest.raises(NodeError, match=reason):
            Bench(**given)
    finally:
        rclpy.try_shutdown()


def test_a_simulated_robot_that_is_held_up_is_not_silent():
    """Its clock stands still with it, so that the estimate is as good as new when it goes on."""
    bench = Bench(use_sim_time=True)
    try:
        clock = bench.node.create_publisher(Clock, '/clock', 1)
        assert bench.until(clock.get_subscription_count)

        bench.began = math.inf            # stamps do not follow the wall clock

        def set_clock(to):
            clock.publish(Clock(clock=stamp(to)))
            assert bench.until(lambda: abs(bench.observer._robot_time() - to) < 1e-6)
        for _ in range(20):
            bench.tick()
            set_clock(bench.time)
        bench.until(lambda: False, 3.0 * COAST)
        assert bench.value('estimates without joint_states') == 0
        assert bench.observer._observer.begun
        set_clock(bench.time + 0.5 * COAST)               # now it is silent
        assert bench.until(lambda: bench.value('estimates without joint_states') > 0)
        set_clock(bench.time + 1.5 * COAST)
        assert bench.until(lambda: not bench.observer._observer.begun)
    finally:
        bench.close()


@pytest.fixture(scope='module')
def shared():
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def bench(shared):
    """The tests from here on share an observer, which takes seconds to start."""
    shared.observer._observer.reset()
    return shared


def test_a_state_and_its_covariance(bench):
    assert bench.status() == 'nothing on joint_states yet'
    covariance = bench.run(20)
    state = bench.states[-1]
    assert list(state.name) == list(MODEL.names) == list(covariance.name)
    assert state.joint_count == 1 and state.header.frame_id == MODEL.robot.links[0].name
    assert np.allclose(state.position, Q, atol=1e-4)
    n = MODEL.n
    matrix = np.reshape(covariance.covariance, (2 * n, 2 * n))
    assert np.allclose(matrix, matrix.T) and np.linalg.eigvalsh(matrix).min() > -1e-12
    assert np.allclose(np.sqrt(np.diag(matrix)), [*covariance.position_deviation,
                                                  *covariance.velocity_deviation])
    assert covariance.force_frame == MODEL.robot.imus[-1].frame
    assert not covariance.effort_known and bench.value('efforts from') == 'none'


def test_what_is_missing_stale_or_nan_is_reported_and_widens_the_covariance(bench):
    full = bench.run(30)
    bad = list(SENSORS.strain(Q))
    bad[0] = math.nan
    bench.gauges(bad)
    assert bench.until(lambda: bench.status() == f'strain_gauges: nan for '
                       f'{SENSORS.gauge_names[0]}'), bench.status()
    less = bench.run(60, gauges=False, imu=False)
    assert max(less.position_deviation) > 1.5 * max(full.position_deviation)
    assert bench.until(lambda: bench.value('strain_gauges').startswith('nothing on strain_gauges'))
    assert bench.value(f'imu/{SENSORS.imu_names[0]}').startswith('nothing on imu/')

    def told():
        bench.gauges(at=0.5)
        bench.run(1, gauges=False, imu=False)
        return 'is it stamped by another clock?' in bench.value('strain_gauges')
    assert bench.until(told), bench.value('strain_gauges')


def test_without_joint_states_it_goes_on_for_a_while_and_then_stops(bench):
    bench.run(20)
    assert bench.until(lambda: not bench.observer._observer.begun)
    assert bench.until(lambda: bench.status().startswith('no joint_states for'))
    count = len(bench.states)
    assert not bench.until(lambda: len(bench.states) > count, 0.3)
    bench.run(1)
    assert np.allclose(bench.states[-1].position, Q, atol=1e-4)


def test_drivers_with_habits_of_their_own(bench):
    """No velocities, joints of a gripper, messages of a gripper alone, no stamp."""
    bench.run(2, velocity=[])
    bench.run(2, name=['finger', *MODEL.joint_names], position=[0.1, 0.3], velocity=[0.0, 0.0])
    rejected = bench.observer._encoders.rejected
    for names in (['finger'], ['finger', 'thumb']):
        bench.joints(name=names, position=[0.1] * len(names), velocity=[])
    bench.run(1)
    assert bench.observer._encoders.rejected == rejected

    def come():
        bench.joints(at=0.0)                   # its time is that of this machine
        bench.until(lambda: False, 0.05)
        return bench.states[-1].header.stamp.sec > 10**9
    assert bench.until(come)


@pytest.mark.parametrize('fields', [
    {'position': [0.1, 0.2]}, {'name': ['a'] * 0}, {'velocity': [0.0, 1.0]},
    {'name': [*MODEL.joint_names, *MODEL.joint_names], 'position': [0.0] * 2, 'velocity': []}])
def test_bad_joint_states_are_counted_and_go_no_further(bench, fields):
    bench.run(2)
    rejected, received = bench.observer._encoders.rejected, bench.observer._encoders.received
    bench.joints(**fields)
    assert bench.until(lambda: bench.observer._encoders.rejected > rejected)
    assert bench.observer._encoders.received == received
    bench.run(1)


@pytest.mark.parametrize('position', [[math.nan], [math.inf], [1e300], [1e8]])
def test_absurd_positions_do_not_end_it(bench, position):
    bench.run(3)
    for _ in range(5):
        bench.tick(position=position)

    def well():
        bench.run(1)
        return np.allclose(bench.states[-1].position, Q, atol=1e-3)
    assert bench.until(well)


def test_the_last_stamp_that_there_is_does_not_end_it(bench):
    """The estimate goes on for a while, beyond what a stamp can hold."""
    bench.run(3)
    for nanosec in (10**9 - 3 * 10**6, 10**9 - 1):
        message = JointState(name=list(MODEL.joint_names), position=[0.3], velocity=[0.0])
        message.header.stamp.sec, message.header.stamp.nanosec = 2**31 - 1, nanosec
        bench.topics['joint_states'].publish(message)
        assert bench.until(lambda: bench.observer._observer.stamp_ns > 2**30 * 10**9)
    assert bench.until(lambda: not bench.observer._observer.begun)       # it has coasted
    bench.run(3)
    assert np.allclose(bench.states[-1].position, Q, atol=1e-4)


@pytest.mark.parametrize('now_ns', [-1, 2**31 * 10**9])
def test_a_clock_that_no_stamp_can_hold_does_not_end_it(bench, monkeypatch, now_ns):
    bench.run(3)
    rejected = bench.observer._encoders.rejected
    monkeypatch.setattr(bench.observer, 'get_clock', lambda: SimpleNamespace(
        now=lambda: SimpleNamespace(nanoseconds=now_ns)))
    bench.joints(at=0.0)
    assert bench.until(lambda: bench.observer._encoders.rejected > rejected)
    monkeypatch.undo()
    bench.run(1)
