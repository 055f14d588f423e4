"""Trajectories of many points: the loop answers every state while they are read and checked."""
import threading

import numpy as np
import pytest
from action_msgs.srv import CancelGoal
from control_bench import MODEL, Bench, stamp
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control.loop.planning import AT_ONCE
from flex_control.nodes import long_goals, trajectory_action

PERIOD = 0.01
POINTS = 3000          # a goal of 200 kB
STATES = 20            # that are answered while the motion is planned


@pytest.fixture
def bench(request):
    # The test may be held up between two states; the fail-safe would act.
    bench = Bench(state_timeout=60.0, **getattr(request, 'param', {}))
    yield bench
    bench.close()


@pytest.fixture
def simulated_time_bench():
    bench = Bench(state_timeout=60.0, use_sim_time=True)
    yield bench
    bench.close()


@pytest.fixture
def kept_for(request, monkeypatch):
    """Seconds for which the bench keeps results: to be asked for before the bench."""
    seconds = getattr(request, 'param', 1)
    monkeypatch.setattr(trajectory_action, 'RESULT_KEPT', seconds)
    monkeypatch.setattr(trajectory_action, 'MOST_KEPT', 5)
    return seconds


def trajectory(count=POINTS, span=3.0, joint='joint1'):
    """From where the joint of the bench is, slowly, to 0.6."""
    s = np.linspace(0.0, 1.0, count + 1)[1:]
    way = 10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5
    message = JointTrajectory(joint_names=[joint])
    for at, share in zip(span * s, way):
        point = JointTrajectoryPoint(positions=[0.4 + 0.2 * share])
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(1e9 * at), 10**9)
        message.points.append(point)
    return message


class Held:
    """Keeps the planning of a control node until it is let go."""

    def __init__(self, bench):
        thread = bench.control._motion.planner._thread
        self.asked, self._go = threading.Event(), threading.Event()
        read = thread._reader.read

        class Reader:
            def read(_, *given):
                self.asked.set()
                assert self._go.wait(60.0)
                return read(*given)
        thread._reader = Reader()

    def let_go(self):
        self._go.set()


def answer_states(bench, begin, count, **more):
    """Send states; each must be answered. The positions that the commands want."""
    wanted = []
    for at in range(begin, begin + count):
        assert bench.state(PERIOD * at, **more), 'a state without a command'
        wanted.append(bench.commands[-1].position[0])
    return wanted


def arrive(bench, held, at):
    """Answer states until the long motion is being planned; the number of the next state."""
    while not held.asked.is_set():
        answer_states(bench, at, 1)
        at += 1
    return at


@pytest.mark.parametrize('bench', [{'sync': 'free'}, {'sync': 'lockstep'}], indirect=True)
def test_states_are_answered_while_a_long_trajectory_is_planned(bench):
    held = Held(bench)
    publisher = bench.node.create_publisher(JointTrajectory, 'control/joint_trajectory', 10)
    assert bench.until(publisher.get_subscription_count)
    answer_states(bench, 1, 2)
    publisher.publish(serialize_message(trajectory()))
    at = arrive(bench, held, 3)
    # The motion is due 0.1 s and 20 us a point after its coming.
    still = answer_states(bench, at, 10)
    assert set(still) == {0.4}
    held.let_go()
    planning = bench.control._motion.planner._planning
    assert bench.until(planning.job.done)
    moving = answer_states(bench, at + 10, 60)
    assert moving[-1] > 0.4 and np.diff(moving).min() >= 0.0
    assert np.abs(np.diff(moving)).max() < 2e-3               # it begins without a jump
    assert bench.control._motion.refused == 0


def test_a_motion_that_is_planned_too_late_is_planned_again(bench):
    """Free running the loop waits for nobody: the motion then begins later."""
    held = Held(bench)
    publisher = bench.node.create_publisher(JointTrajectory, 'control/joint_trajectory', 10)
    assert bench.until(publisher.get_subscription_count)
    answer_states(bench, 1, 2)
    publisher.publish(serialize_message(trajectory()))
    at = arrive(bench, held, 3)
    first = bench.control._motion.planner._planning
    still = answer_states(bench, at, STATES)                  # longer than it was to take
    assert set(still) == {0.4} and bench.control._motion.planner._planning is first
    held.let_go()
    assert bench.until(first.job.done)
    still = answer_states(bench, at + STATES, 1)
    second = bench.control._motion.planner._planning
    assert second is not first and set(still) == {0.4}
    assert second.start - second.begun > 1.99 * (second.begun - first.begun)
    assert bench.until(second.job.done)
    moving = answer_states(bench, at + STATES + 1, 120)
    assert moving[-1] > 0.4 and np.abs(np.diff(moving)).max() < 2e-3


def test_a_long_goal_is_taken_as_arrays_and_followed(bench):
    assert long_goals.converter() is not None
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    assert bench.until(client.server_is_ready)
    answer_states(bench, 1, 2)
    sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory(span=0.5)))
    assert bench.until(sent.done)
    request = bench.control._motion._action._server._goal_handles
    goal, = (handle.request for handle in request.values())
    assert isinstance(goal, long_goals.LongGoal) and len(goal.points) == POINTS
    assert len(goal.goal.trajectory.points) == 1
    planning = bench.control._motion.planner._planning
    assert planning is not None and bench.until(planning.job.done)
    moving = answer_states(bench, 3, 100)
    assert moving[-1] == pytest.approx(0.6)


def test_a_goal_of_unknown_joints_or_ragged_points_is_refused_with_its_code(bench):
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    assert bench.until(client.server_is_ready)
    answer_states(bench, 1, 2)
    ragged = trajectory()
    ragged.points[1234].positions = [0.1, 0.2]
    for message, code, words in (
            (trajectory(joint='elbow'), FollowJointTrajectory.Result.INVALID_JOINTS, 'elbow'),
            (ragged, FollowJointTrajectory.Result.INVALID_GOAL, 'point 1235, positions')):
        sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=message))
        assert bench.until(sent.done)
        result = sent.result().get_result_async()
        at = 3
        while not result.done():
            answer_states(bench, at, 1)
            at += 1
        assert result.result().result.error_code == code
        assert words in result.result().result.error_string


def test_a_long_goal_that_is_cancelled_while_it_is_planned_never_begins(bench):
    held = Held(bench)
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    assert bench.until(client.server_is_ready)
    answer_states(bench, 1, 2)
    sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory()))
    assert bench.until(sent.done) and bench.until(held.asked.is_set)
    cancelled = sent.result().cancel_goal_async()
    assert bench.until(cancelled.done)
    result = sent.result().get_result_async()
    assert bench.until(result.done)
    assert result.result().status == 5                        # canceled
    held.let_go()
    assert set(answer_states(bench, 3, 60)) == {0.4}


def test_short_trajectories_begin_at_once(bench):
    publisher = bench.node.create_publisher(JointTrajectory, 'control/joint_trajectory', 10)
    assert bench.until(publisher.get_subscription_count)
    answer_states(bench, 1, 2)
    publisher.publish(trajectory(AT_ONCE, 1.0))
    at = 3
    while bench.control.loop.trajectory.end < 0.5:
        answer_states(bench, at, 1)
        at += 1
    assert bench.control._motion.planner._planning is None
    assert answer_states(bench, at, 50)[-1] > 0.41
    assert MODEL.n_joints == 1


@pytest.mark.parametrize('kept_for', [3600, 1], indirect=True)
def test_results_of_many_goals_are_kept_for_a_while_and_never_without_bound(kept_for, bench):
    most = trajectory_action.MOST_KEPT
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    assert bench.until(client.server_is_ready)
    answer_states(bench, 1, 2)
    server = bench.control._motion._action._server
    for _ in range(3 * most):
        sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory(
            count=2, joint='elbow')))
        assert bench.until(sent.done)
        assert server.kept <= most
    assert bench.until(lambda: all(handle.request is None       # a result needs no goal
                                   for handle in server._goal_handles.values()))
    if kept_for == 1:
        assert bench.until(lambda: server.kept == 0)
    else:
        assert server.kept == most and not sent.result().accepted


def test_a_goal_with_the_id_of_one_that_expires_just_then_is_kept(kept_for, bench):
    """Both come in one turn; rclpy alone forgets the new goal, and ends the node as that ends."""
    kind = FollowJointTrajectory.Impl.SendGoalService
    client = bench.node.create_client(kind, 'control/follow_joint_trajectory/_action/send_goal')
    assert bench.until(client.service_is_ready)
    answer_states(bench, 1, 2)
    server = bench.control._motion._action._server
    take, goals, turns = server.take_data, [], []

    def take_goals_with_what_expires():
        found = take()
        if 'goal' in found and server.kept:
            goals.append(found.pop('goal'))
        if 'expired' in found and goals:
            found['goal'] = goals.pop()
        turns.append(set(found))
        return found

    server.take_data = take_goals_with_what_expires
    request = kind.Request(goal=FollowJointTrajectory.Goal(trajectory=trajectory(
        count=2, joint='elbow')))
    first, second = (client.call_async(request) for _ in range(2))
    assert bench.until(second.done) and first.done() and second.result().accepted
    assert {'goal', 'expired'} in turns
    assert bench.until(lambda: server.kept == 0)           # the second has ended, and expired


def set_clock(bench, seconds):
    """Publish a simulated time, until the control node has it."""
    if not hasattr(bench, 'clock'):
        bench.clock = bench.node.create_publisher(Clock, '/clock', 10)
        assert bench.until(bench.clock.get_subscription_count)
    bench.clock.publish(Clock(clock=stamp(seconds)))
    assert bench.until(lambda: bench.control.get_clock().now().nanoseconds == seconds * 10**9)


def test_results_do_not_stay_for_ever_when_the_clock_is_set_back(kept_for, simulated_time_bench):
    """By the clock of the node they would be kept until it is 1000001 s again."""
    bench = simulated_time_bench
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    assert bench.until(client.server_is_ready)
    server = bench.control._motion._action._server
    set_clock(bench, 1_000_000)
    sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory(
        count=2, joint='elbow')))
    assert bench.until(sent.done) and sent.result().accepted
    set_clock(bench, 10)
    assert bench.until(lambda: server.kept == 0, patience=20.0)


def test_goals_are_cancelled_up_to_a_time_of_the_clock_of_the_node(simulated_time_bench):
    bench = simulated_time_bench
    action = 'control/follow_joint_trajectory'
    client = ActionClient(bench.node, FollowJointTrajectory, action)
    cancel = bench.node.create_client(CancelGoal, f'{action}/_action/cancel_goal')
    assert bench.until(lambda: client.server_is_ready() and cancel.service_is_ready())
    set_clock(bench, 100)
    answer_states(bench, 10_000, 2)
    sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory(
        count=2, span=50.0)))
    assert bench.until(sent.done) and sent.result().accepted
    result = sent.result().get_result_async()
    set_clock(bench, 200)
    for at, cancelled in ((99, 0), (101, 1)):       # before the goal was sent, and after it
        request = CancelGoal.Request()
        request.goal_info.stamp = stamp(at)
        answer = cancel.call_async(request)
        assert bench.until(answer.done)
        assert len(answer.result().goals_canceling) == cancelled
    assert bench.until(result.done) and result.result().status == 5      # cancelled
