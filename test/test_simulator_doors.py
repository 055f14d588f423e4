"""What the simulator node decides before anything reaches the plant."""
import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.push import read_arguments
from flex_dynamics.ros.simulator.commands import CommandReader
from flex_dynamics.ros.simulator.wrenches import Push, forget_past, place


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
