"""The shaping proxy between a client and a controller like joint_trajectory_controller."""
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from geometry_msgs.msg import Inertia, Vector3
from proxy_bench import MODEL, ProxyBench, Result
from rclpy.parameter import Parameter
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectoryPoint

from flex_control.nodes.proxy.downstream import Passage
from flex_msgs.srv import AttachPayload

START, END = np.array([0.0, 0.5, 2.1, 0.5]), np.array([0.3, 1.0, 1.0, 1.0])
SUCCEEDED, CANCELED, ABORTED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED,
                                GoalStatus.STATUS_ABORTED)


@pytest.fixture
def bench(request):
    made = ProxyBench(START, **getattr(request, 'param', {}))
    yield made
    made.close()


def goal(last=END, duration=0.8, names=MODEL.joint_names, stamp=0.0):
    message = FollowJointTrajectory.Goal()
    message.trajectory.joint_names = list(names)
    rest = [1e-16] * len(names)
    point = JointTrajectoryPoint(positions=list(map(float, last)), velocities=rest,
                                 accelerations=[0.0] * len(names))
    point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(1e9 * duration),
                                                                      10**9)
    message.trajectory.points = [point]
    message.trajectory.header.stamp.sec = int(stamp)
    return message


def seconds(duration):
    return duration.sec + 1e-9 * duration.nanosec


def test_a_motion_arrives_shaped_later_with_its_tolerances_and_feedback(bench):
    message = goal()
    order = [2, 0, 3, 1]
    message.trajectory.joint_names = [MODEL.joint_names[at] for at in order]
    message.trajectory.points[0].positions = END[order].tolist()
    message.path_tolerance = [JointTolerance(name='joint2', position=0.5, velocity=-1.0)]
    message.goal_time_tolerance.sec = 2
    sent = bench.send(message)
    assert sent.end() == (SUCCEEDED, Result.SUCCESSFUL, 'arrived')
    passed, = bench.controller.goals
    np.testing.assert_allclose(bench.controller.position, END, atol=1e-9)
    last = passed.trajectory.points[-1]
    assert seconds(last.time_from_start) > 0.8 + 0.2       # later by the shaper's delay
    assert set(last.velocities) == {0.0} and len(passed.trajectory.points) > 50
    assert passed.path_tolerance == message.path_tolerance
    assert passed.goal_time_tolerance == message.goal_time_tolerance   # from that later end on
    assert sent.feedback and len(sent.feedback[0].actual.positions) == 4
    positions = np.array([point.positions for point in passed.trajectory.points])
    assert (positions >= np.minimum(START, END) - 1e-9).all()
    assert (positions <= np.maximum(START, END) + 1e-9).all()


def test_a_new_goal_goes_on_from_the_commanded_state_without_a_jump(bench):
    first = bench.send(goal(duration=1.5))
    bench.until(lambda: np.abs(bench.controller.position - START).max() > 0.3)
    second = bench.send(goal(START, 1.5))
    assert second.end() == (SUCCEEDED, Result.SUCCESSFUL, 'arrived')
    status, code, text = first.end()
    assert (status, code) == (ABORTED, Result.INVALID_GOAL) and text
    np.testing.assert_allclose(bench.controller.position, START, atol=1e-9)
    one, two = bench.controller.goals
    speeds = np.abs([point.velocities for one in (one, two)
                     for point in one.trajectory.points]).max()
    times, places = zip(*bench.controller.record)
    steps = np.diff(places, axis=0)
    moved = np.abs(steps).max(axis=1)
    # An update may be late; never is a step longer than what the largest speed explains.
    assert (moved <= 1.05 * speeds * np.diff(times) + 1e-6).all()


def test_a_cancelled_goal_is_cancelled_in_the_controller_and_the_next_begins_from_rest(bench):
    sent = bench.send(goal(duration=3.0))
    bench.until(lambda: np.abs(bench.controller.position - START).max() > 0.1)
    cancelled = sent.handle.cancel_goal_async()
    assert sent.end()[0] == CANCELED and cancelled.done()
    held = bench.controller.position.copy()
    assert 0.1 < np.abs(held - START).max() < 1.0
    assert bench.send(goal(duration=0.5)).end()[0] == SUCCEEDED
    first = np.array(bench.controller.goals[-1].trajectory.points[0].positions)
    np.testing.assert_allclose(first, held, atol=0.02)


def test_what_the_controller_says_reaches_the_client(bench):
    bench.controller.rejects = True
    status, code, text = bench.send(goal()).end()
    assert (status, code) == (ABORTED, Result.INVALID_GOAL)
    assert f'{bench.action} rejected the goal' in text
    bench.controller.rejects, bench.controller.aborts = False, 'joint3 is blocked'
    assert bench.send(goal()).end() == (
        ABORTED, Result.PATH_TOLERANCE_VIOLATED, 'joint3 is blocked')
    bench.controller.aborts = ''
    assert bench.send(goal()).end()[0] == SUCCEEDED


@pytest.mark.parametrize('bench', [{'server_timeout': 3.0}], indirect=True)
def test_a_controller_that_is_not_there_is_named(bench):
    bench.controller.die()
    bench.until(lambda: not bench.proxy._downstream.ready())
    status, code, text = bench.send(goal()).end()
    assert (status, code) == (ABORTED, Result.INVALID_GOAL)
    assert f'no action server {bench.action}' in text
    assert bench.proxy._status()[1].startswith('no action server')
    bench.controller.start()
    assert bench.send(goal()).end()[0] == SUCCEEDED


class GoneServer:
    """What a client of the action has if its server does not answer, or goes away."""

    accepted, there = True, True

    def __init__(self):
        self.sent, self.result, self.cancelled = Future(), Future(), 0

    def send_goal_async(self, goal, feedback):
        return self.sent

    def server_is_ready(self):
        return self.there

    def get_result_async(self):
        return self.result

    def cancel_goal_async(self):
        self.cancelled += 1


SETTINGS = SimpleNamespace(server_timeout=0.0, feedback_timeout=0.0)


def test_a_controller_that_never_answers_is_named_and_a_late_answer_cancelled():
    server = GoneServer()
    passage = Passage(goal(), server, '/arm', SETTINGS, None)
    while not passage.ended.done():
        passage.watch(0)
    assert '/arm did not answer' in passage.ended.result().text
    server.sent.set_result(server)
    assert server.cancelled == 1


def test_a_controller_that_goes_away_in_mid_motion_is_named():
    server = GoneServer()
    passage = Passage(goal(), server, '/arm', SETTINGS, None)
    server.sent.set_result(server)
    passage.watch(0)
    assert passage.accepted.result() is True and not passage.ended.done()
    server.there = False
    passage.watch(0)
    assert passage.ended.result().status == ABORTED
    assert '/arm went away' in passage.ended.result().text


def test_a_controller_that_sends_neither_feedback_nor_a_result_is_given_up(monkeypatch):
    """Its result may be lost; one that sends no feedback has the time of the motion, too."""
    server, now = GoneServer(), [100.0]
    settings = SimpleNamespace(server_timeout=1.0, feedback_timeout=5.0)
    monkeypatch.setattr('flex_control.nodes.proxy.downstream.time.monotonic', lambda: now[0])
    passage = Passage(goal(duration=20.0), server, '/arm', settings, None)
    server.sent.set_result(server)
    for seconds, ended in ((0.0, False), (24.5, False), (25.5, True)):
        now[0] = 100.0 + seconds
        passage.watch(round(1e9 * seconds))
        assert passage.ended.done() is ended
    assert '/arm has been silent for' in passage.ended.result().text


def test_a_result_is_asked_for_again_while_no_feedback_comes(monkeypatch):
    server, now, asked = GoneServer(), [100.0], []
    monkeypatch.setattr('flex_control.nodes.proxy.downstream.time.monotonic', lambda: now[0])
    server.get_result_async = lambda: asked.append(now[0] - 100.0) or server.result
    passage = Passage(goal(duration=50.0), server, '/arm', SETTINGS, None)
    server.sent.set_result(server)
    for tenth in range(100):
        now[0] = 100.0 + 0.1 * tenth
        passage.watch(round(1e8 * tenth))
        if tenth < 20:
            passage.heard(round(1e8 * tenth))
    assert asked == pytest.approx([0.0, 3.0, 5.1, 9.2], abs=0.15)
    now[0] += 1000.0
    passage.watch(round(1e8 * 20))            # simulated time was paused
    assert len(asked) == 4


def test_a_controller_that_was_started_anew_does_not_know_the_goal(bench):
    sent = bench.send(goal(duration=100.0))
    bench.until(lambda: sent.feedback)
    server = bench.controller.server
    bench.controller._motion = bench.controller._ended = None
    server._goal_handles.clear()              # as after a start
    status, _, text = sent.end()
    assert status == ABORTED and 'does not know the goal any more' in text
    assert bench.controller.now() < 1000.0 + 90.0


@pytest.mark.parametrize('bench', [{'feedback_timeout': 0.5}], indirect=True)
def test_a_controller_that_falls_silent_is_given_up(bench):
    sent = bench.send(goal(duration=20.0))
    bench.until(lambda: sent.feedback)
    bench.controller.silent = True
    status, _, text = sent.end()
    assert status == ABORTED and 'silent' in text
    # It was asked to stop, in case that it hears.
    bench.until(lambda: bench.controller._motion is None)


def test_bad_goals_are_refused_with_their_codes(bench):
    nan = goal()
    nan.trajectory.points[0].positions[1] = float('nan')
    tolerance = goal()
    tolerance.goal_tolerance = [JointTolerance(name='joint1', position=-3.0)]
    step = goal(duration=0.0)
    there = goal(START + 1e-4, duration=0.0)
    for message, code, words in (
            (nan, Result.INVALID_GOAL, 'finite'),
            (goal(names=['a', 'b', 'c', 'd']), Result.INVALID_JOINTS, "found 'a'"),
            (goal(duration=5e3), Result.INVALID_GOAL, 'raise point_period'),
            (goal(stamp=10.0), Result.OLD_HEADER_TIMESTAMP, 'use_sim_time'),
            (tolerance, Result.INVALID_GOAL, '-1 for no limit'),
            (step, Result.INVALID_GOAL, 'point after now'),
            (FollowJointTrajectory.Goal(), Result.INVALID_JOINTS, 'found none')):
        status, found, text = bench.send(message).end()
        assert (status, found) == (ABORTED, code) and words in text, text
    assert bench.controller.goals == []
    assert bench.send(there).end() == (SUCCEEDED, Result.SUCCESSFUL, 'there already')
    assert len(bench.controller.goals[-1].trajectory.points) == 1


def test_a_payload_slows_the_motion_by_parameter_and_by_service(bench):
    def duration():
        assert bench.send(goal(duration=0.4)).end()[0] == SUCCEEDED
        assert bench.send(goal(START, 0.4)).end()[0] == SUCCEEDED
        return seconds(bench.controller.goals[-1].trajectory.points[-1].time_from_start)

    empty = duration()
    assert bench.proxy.set_parameters([Parameter('payload.mass', value=20.0)])[0].successful
    loaded = duration()
    assert loaded > empty + 0.02
    assert not bench.proxy.set_parameters([Parameter('payload.mass', value=-1.0)])[0].successful
    client = bench.node.create_client(AttachPayload, f'{bench.name}/attach_payload')
    bench.until(client.service_is_ready)
    answer = client.call_async(AttachPayload.Request(name='box', frame='tool', inertia=Inertia(
        m=20.0, com=Vector3(x=0.1))))
    bench.until(answer.done)
    assert answer.result().success, answer.result().message
    assert duration() > loaded + 0.02
