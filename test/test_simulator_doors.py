"""What the simulator node decides before anything reaches the plant or a file."""
import resource

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.bag import Bag, BagError
from flex_dynamics.nodes.command_reader import CommandReader, answered_tick, is_copy
from flex_dynamics.nodes.effort_gate import CommandError
from flex_dynamics.nodes.push import read_arguments
from flex_dynamics.nodes.simulator_parameters import Timing
from flex_dynamics.nodes.wrench_input import place
from flex_msgs.msg import FlexState


def timing(lockstep=False):
    return Timing(step=0.001, steps=2, lockstep=lockstep, real_time_factor=1.0,
                  command_timeout=0.1, lockstep_timeout=5.0, hold_on_silence=False,
                  wait_for_command=True, start_paused=False, clock_every=5,
                  thread_priority=0)


MS = 10**6


@pytest.mark.parametrize('when, tick', [(0, 100), (200 * MS, 100), (198 * MS, 99),
                                        (100 * MS, 50)])
def test_free_running_a_command_answers_the_state_of_its_stamp(when, tick):
    assert answered_tick(when, 100, 50, timing()) == tick


@pytest.mark.parametrize('when, last, words', [
    (202 * MS, 0, 'is after the present, 200000000 ns'),
    (98 * MS, 0, 'is more than 0.1 s old'),
    (196 * MS, 99, 'is before that of the command before'),
])
def test_free_running_commands_come_in_time_and_order(when, last, words):
    with pytest.raises(CommandError, match=words):
        answered_tick(when, 100, last, timing())


def test_in_lockstep_only_the_present_state_is_answered():
    assert answered_tick(200 * MS, 100, 0, timing(True)) == 100
    for when in (0, 198 * MS, 202 * MS):
        with pytest.raises(CommandError, match='expected that of the last state, 200000000 ns'):
            answered_tick(when, 100, 0, timing(True))
    assert is_copy(198 * MS, 100, timing(True), False)
    assert is_copy(200 * MS, 100, timing(True), True)
    assert not is_copy(200 * MS, 100, timing(True), False)
    assert not is_copy(196 * MS, 100, timing(True), False)


def test_commands_are_read_whatever_their_shape():
    reader = CommandReader()
    for names, effort, position in ((['a', 'b'], [1.0, 2.0], []), (['a', 'b'], [3.0, 4.0], []),
                                    (['b'], [5.0], [0.5]), ([], [], []), (['a'], [1.0, 2.0], [])):
        message = JointState(name=names, effort=effort, position=position)
        message.header.stamp.nanosec = 7
        found = reader.read(serialize_message(message))
        assert found[:2] == (names, 7)
        assert [list(values) for values in found[2]] == [effort, position, []]


def test_places_of_pushes():
    model = Model(load_robot('cibicik_arm'))
    assert place(model, 'tool') == ('tool', None)
    assert place(model, 'link3/tip') == ('link3', 1.8)
    for name in ('elbow', 'link1/tip', '', '/tip'):
        with pytest.raises(DynamicsError, match='unknown frame'):
            place(model, name)


def test_tensors_that_no_body_has_are_refused():
    model = Model(load_robot('cibicik_arm'))
    for tensor in (np.zeros((3, 3)), np.diag([1.0, 1.0, 2.0])):      # a point, a plate
        assert model.with_payload('box', 'tool', 1.0, tensor=tensor).n == model.n
    for tensor in (np.diag([1.0, 1.0, 3.0]), np.diag([-1.0, 1.0, 1.0]), np.full((3, 3), np.nan)):
        with pytest.raises(DynamicsError, match='payload box: .*expected'):
            model.with_payload('box', 'tool', 1.0, tensor=tensor)


def test_the_command_line_of_push():
    given = read_arguments(['tool', '--force', '0', '-20.5', '1e1', '--duration', '0.5'])
    assert (given.frame, given.force, given.duration) == ('tool', [0.0, -20.5, 10.0], 0.5)
    assert given.torque == (0.0, 0.0, 0.0) and given.simulator == 'simulator'
    with pytest.raises(SystemExit):
        read_arguments(['tool', '--force', '1', '2'])


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_gives_back_what_was_written(storage, tmp_path):
    bag = Bag(str(tmp_path / 'bag'), storage)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
    bag.add_topic('/wrench', 'geometry_msgs/msg/WrenchStamped', latched)
    state = FlexState(name=['a'], joint_count=1, position=[0.25], velocity=[-1.0])
    push = WrenchStamped()
    push.wrench.torque.z = 3.5
    for when in (1000, 2000, 3000):
        bag.write('/flex_state', serialize_message(state), when)
    bag.write('/wrench', serialize_message(push), 1500)      # taken late, it lies where it came
    bag.close()
    with AnyReader([tmp_path / 'bag']) as found:
        messages = [(c.topic, found.deserialize(data, c.msgtype))
                    for c, _, data in found.messages()]
        assert [when for _, when, _ in found.messages()] == [1000, 1500, 2000, 3000]
        offered = {c.topic: c.ext.offered_qos_profiles[0] for c in found.connections}
    assert [topic for topic, _ in messages].count('/flex_state') == 3
    topics = dict(messages)
    assert topics['/flex_state'].position.tolist() == [0.25]
    assert topics['/flex_state'].name == ['a']
    assert topics['/wrench'].wrench.torque.z == 3.5
    assert offered['/wrench'].durability.name == 'TRANSIENT_LOCAL'
    assert offered['/flex_state'].reliability.name == 'RELIABLE'
    with pytest.raises(BagError, match='exists already'):
        Bag(str(tmp_path / 'bag'), storage)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_file_that_may_not_grow_ends_a_bag_with_the_reason(storage, tmp_path):
    bag = Bag(str(tmp_path / 'bag'), storage)
    bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, most))
    try:
        with pytest.raises(BagError, match='ended after .* messages'):
            for _ in range(1000):
                bag.write('/flex_state', bytes(10_000), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        bag.abort()


def test_a_type_that_is_not_installed_is_named(tmp_path):
    bag = Bag(str(tmp_path / 'bag'), 'mcap')
    with pytest.raises(BagError, match='no_such_msgs/msg/Thing: its definition is not installed'):
        bag.add_topic('/thing', 'no_such_msgs/msg/Thing', QoSProfile(depth=1))
    bag.abort()
