"""Points of trajectories read from serialised messages are those that rclpy reads."""
import sys
from pathlib import Path

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import ControlError
from flex_control.trajectories.trajectory_points import MOST_POINTS, TrajectoryPoints

sys.path.insert(0, str(Path(__file__).parent / 'fuzz'))
from message_mutations import Mutator  # noqa: E402

ARRAYS = ('positions', 'velocities', 'accelerations', 'effort')


def trajectory(count, joints, arrays, rng, frame='base'):
    message = JointTrajectory(joint_names=[f'joint{k}' * (k + 1) for k in range(joints)])
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = 3, 500_000_000
    for at in range(count):
        point = JointTrajectoryPoint(**{what: rng.normal(size=joints).tolist()
                                        for what in arrays})
        point.time_from_start.sec, point.time_from_start.nanosec = at, int(rng.integers(10**9))
        message.points.append(point)
    return message


def assert_same(one, other):
    assert (one.names, one.stamp) == (other.names, other.stamp)
    np.testing.assert_array_equal(one.steps, other.steps)
    for what in ARRAYS:
        mine, theirs = getattr(one, what), getattr(other, what)
        assert (mine is None) == (theirs is None), what
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize('count', [0, 1, 2, 3, 50])
@pytest.mark.parametrize('joints', [1, 2, 4, 7])
@pytest.mark.parametrize('arrays', [ARRAYS, ARRAYS[:3], ARRAYS[:2], ARRAYS[:1], ARRAYS[1:2], (),
                                    ('positions', 'effort')])
def test_points_by_bytes_are_those_of_the_message(count, joints, arrays):
    rng = np.random.default_rng([count, joints, len(arrays)])
    for frame in ('', 'a', 'base', 'base_link'):       # each another alignment of what follows
        message = trajectory(count, joints, arrays, rng, frame)
        assert_same(TrajectoryPoints.from_bytes(serialize_message(message)),
                    TrajectoryPoints.of(message))


def test_points_that_do_not_fit_together_are_named():
    rng = np.random.default_rng(1)
    message = trajectory(20, 3, ARRAYS[:2], rng)
    message.points[12].velocities = [0.0, 0.0]
    with pytest.raises(ControlError, match='point 13, velocities: expected 3 numbers'):
        TrajectoryPoints.from_bytes(serialize_message(message))
    with pytest.raises(ControlError, match='point 13, velocities: expected 3 numbers'):
        TrajectoryPoints.of(message)


def test_more_points_than_the_limit_are_refused():
    point = JointTrajectoryPoint()
    message = JointTrajectory(joint_names=['a'], points=[point] * (MOST_POINTS + 1))
    for read, given in ((TrajectoryPoints.of, message),
                        (TrajectoryPoints.from_bytes, serialize_message(message))):
        with pytest.raises(ControlError, match='expected at most 100000, found 100001'):
            read(given)


def test_mutated_messages_are_read_as_rclpy_reads_them_or_refused():
    """Never another reading, and never another error than those of the reader."""
    rng, same, refused = np.random.default_rng(2), 0, 0
    valid = [trajectory(count, 2, arrays, rng) for count in (0, 1, 4)
             for arrays in (ARRAYS[:3], ARRAYS[:1])]
    for seed in range(4000):
        data = Mutator([seed]).message(valid[seed % len(valid)])
        try:
            found = TrajectoryPoints.from_bytes(data)
        except ValueError:
            refused += 1
            continue
        try:
            expected = TrajectoryPoints.of(deserialize_message(data, JointTrajectory))
        except RuntimeError:       # rclpy is stricter about texts without an end
            continue
        except ControlError:       # arrays of another length than there are names: said later
            continue
        assert_same(found, expected)
        same += 1
    assert same > 1000 and refused > 1000
