"""Messages read and written as bytes are those that rclpy would read and write."""
import numpy as np
import pytest
import rclpy
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from flex_control.loop.stamped_input import StampedInput
from flex_control.nodes.terms_input import FIELDS as FIELDS_OF_TERMS
from flex_control.nodes.terms_input import TermsInput
from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState
from flex_ros.cdr.fixed_layout import ClockPublisher, FixedLayoutPublisher, FixedLayoutReader

FIELDS = ('position', 'velocity')


class Sink:
    def __init__(self):
        self.data = []

    def publish(self, data):
        self.data.append(data)


def flex_state(count, rng, names=None):
    message = FlexState(name=names or [f'link{k}/bend_y/1' for k in range(count)], joint_count=2)
    message.header.frame_id = 'base'
    message.header.stamp.sec, message.header.stamp.nanosec = 12, 345678901
    message.position, message.velocity = rng.normal(size=count), rng.normal(size=count)
    return message


@pytest.mark.parametrize('count', [1, 2, 7, 20, 64])
def test_what_is_published_is_the_message(count):
    rng, sink = np.random.default_rng(count), Sink()
    message = flex_state(count, rng)
    packed = FixedLayoutPublisher(sink, message, FIELDS)
    q, v = rng.normal(size=(2, count))
    packed.publish(98_000_000_001, q, v)
    packed.repeat()
    message.header.stamp.sec, message.header.stamp.nanosec = 98, 1
    message.position, message.velocity = q, v
    assert [deserialize_message(data, FlexState) for data in sink.data] == 2 * [message]


def test_a_robot_without_joints_has_empty_joint_states():
    sink = Sink()
    FixedLayoutPublisher(sink, JointState(), ('position', 'velocity', 'effort')).publish(
        5, *np.zeros((3, 0)))
    read = deserialize_message(sink.data[0], JointState)
    assert read.header.stamp.nanosec == 5 and not read.name and not read.position


@pytest.mark.parametrize('time', [0, 1, 999_999_999, 2_000_000_000_345_678_901])
def test_the_clock_that_is_published_is_the_message(time):
    sink = Sink()
    clock = ClockPublisher(sink)
    clock.publish(1_234_567_890_123)
    clock.publish(time)
    read = deserialize_message(sink.data[-1], Clock).clock
    assert (read.sec, read.nanosec) == divmod(time, 10**9)


def test_matrices_are_row_major():
    sink, rng, n = Sink(), np.random.default_rng(3), 5
    message = DynamicsTerms(name=list('abcde'), joint_count=2, mass=np.zeros(n * n),
                            gravity=np.zeros(n), stiffness=np.ones(n * n))
    mass, gravity = rng.normal(size=(n, n)), rng.normal(size=n)
    FixedLayoutPublisher(sink, message, ('mass', 'gravity')).publish(0, mass.T, gravity)
    read = deserialize_message(sink.data[0], DynamicsTerms)
    np.testing.assert_array_equal(np.reshape(read.mass, (n, n)), mass.T)
    np.testing.assert_array_equal(read.gravity, gravity)
    assert set(read.stiffness) == {1.0} and read.name == list('abcde')


@pytest.mark.parametrize('count', [1, 2, 7, 20, 64])
def test_what_is_read_is_the_message(count):
    rng, reader = np.random.default_rng(count), FixedLayoutReader(FIELDS)
    first = flex_state(count, rng)
    data = serialize_message(first)
    assert reader.read(data) is None and reader.stamp(data) is None
    reader.learn(data, first)
    other = flex_state(count, rng)
    other.header.stamp.sec = 2_000_000_000
    time, (q, v) = reader.read(serialize_message(other))
    assert time == 2_000_000_000_345_678_901 == reader.stamp(serialize_message(other))
    np.testing.assert_array_equal(q, other.position)
    np.testing.assert_array_equal(v, other.velocity)
    assert q.flags.aligned and q.flags.writeable


def test_a_message_of_another_shape_is_not_read():
    rng, reader = np.random.default_rng(0), FixedLayoutReader(FIELDS)
    first = flex_state(2, rng, ['joint1', 'joint2'])
    reader.learn(serialize_message(first), first)
    for other in (flex_state(2, rng, ['joint2', 'joint1']), flex_state(3, rng),
                  flex_state(2, rng, ['joint1', 'joint9'])):
        assert reader.read(serialize_message(other)) is None
    renamed = flex_state(2, rng, ['joint1', 'joint2'])
    renamed.header.frame_id = 'root'
    assert reader.read(serialize_message(renamed)) is None


def test_gaps_for_alignment_do_not_count():
    rng, reader = np.random.default_rng(0), FixedLayoutReader(FIELDS)
    names = ['a', 'bb', 'ccc', 'dddd', 'eeeee']
    messages = [flex_state(5, rng, names) for _ in range(50)]
    reader.learn(serialize_message(messages[0]), messages[0])
    for message in messages:
        noise = bytes(rng.integers(0, 256, 5000, dtype=np.uint8))     # a heap that was in use
        serialize_message(JointState(name=[noise.hex()]))
        _, (q, _) = reader.read(serialize_message(message))
        np.testing.assert_array_equal(q, message.position)


def test_empty_arrays_stay_empty():
    reader = FixedLayoutReader(('effort', 'position', 'velocity'))
    message = JointState(name=['a', 'b'], effort=[1.0, 2.0])
    data = serialize_message(message)
    reader.learn(data, message)
    time, (effort, position, velocity) = reader.read(data)
    assert time == 0 and effort.tolist() == [1.0, 2.0]
    assert not position.size and not velocity.size
    full = JointState(name=['a', 'b'], effort=[1.0, 2.0], position=[3.0, 4.0])
    assert reader.read(serialize_message(full)) is None


def test_terms_by_bytes_are_the_terms_of_the_model():
    model = Model(load_robot('lab_link'))
    rng = np.random.default_rng(4)
    rclpy.init()
    node = rclpy.create_node('terms')
    arrived = []
    terms_input = TermsInput(node, model, StampedInput(True, 0, 10**9), lambda: arrived.append(1))
    try:
        for tick in range(1, 5):
            q, v = 0.1 * rng.normal(size=(2, model.n))
            expected = model.terms(q, v)
            if tick == 2:
                expected = expected._replace(D=2.0 * expected.D)
            message = DynamicsTerms(
                name=list(model.names), joint_count=model.n_joints, position=q, velocity=v,
                **{field: np.ravel(value) for field, value in zip(FIELDS_OF_TERMS, expected)})
            message.header.stamp.nanosec = tick
            if tick == 3:
                message.gravity[0] = np.nan
            if tick == 4:
                message.name = [f'{name}x' for name in model.names]
            terms_input._receive(serialize_message(message))
            if tick < 3:
                time, found = terms_input.values.at(tick)
                assert time == tick
                for one, other in zip(found, expected):
                    np.testing.assert_array_equal(one, other)
        first, second = (terms_input.values.at(tick)[1] for tick in (1, 2))
        assert second.K is first.K and second.D is not first.D
        assert len(arrived) == 2 and terms_input.rejected == 2
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
