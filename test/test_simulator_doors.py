"""What the simulator node decides before anything reaches the plant."""
import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.command_reader import CommandReader, answered_tick, is_copy
from flex_dynamics.nodes.effort_gate import CommandError
from flex_dynamics.nodes.push import read_arguments
from flex_dynamics.nodes.simulator_parameters import Timing
from flex_dynamics.nodes.wrench_input import Push, forget_past, place


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
        with pytest.raises(DynamicsError, match='frame'):
            place(model, name)


def test_tensors_that_no_body_has_are_refused():
    model = Model(load_robot('cibicik_arm'))
    for tensor in (np.zeros((3, 3)), np.diag([1.0, 1.0, 2.0])):      # a point, a plate
        assert model.with_payload('box', 'tool', 1.0, tensor=tensor).n == model.n
    for tensor in (np.diag([1.0, 1.0, 3.0]), np.diag([-1.0, 1.0, 1.0]), np.full((3, 3), np.nan)):
        with pytest.raises(DynamicsError, match='payload box: .*expected'):
            model.with_payload('box', 'tool', 1.0, tensor=tensor)


def test_pushes_on_a_frame_follow_each_other_in_the_order_of_their_begin():
    def push(begin, end):
        return Push(WrenchStamped(), 'tool', None, np.zeros(6), begin, end)
    late, early, long = push(20, 30), push(5, 8), push(10, 100)
    pushes = [early, long, late]
    acting = []
    for tick in range(40):
        forget_past(pushes, tick)
        acting.append(pushes[0] if pushes and pushes[0].begin <= tick else None)
    assert acting == (5 * [None] + 3 * [early] + 2 * [None] + 10 * [long] + 10 * [late]
                      + 10 * [None])


def test_the_command_line_of_push():
    given = read_arguments(['tool', '--force', '0', '-20.5', '1e1', '--duration', '0.5'])
    assert (given.frame, given.force, given.duration) == ('tool', [0.0, -20.5, 10.0], 0.5)
    assert given.torque == (0.0, 0.0, 0.0) and given.simulator == 'simulator'
    with pytest.raises(SystemExit):
        read_arguments(['tool', '--force', '1', '2'])
