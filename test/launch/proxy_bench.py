"""A shaping proxy in the process of the test, which is its client and the robot's controller.

The controller does what ROS's joint_trajectory_controller does: it takes a stamped trajectory,
samples it at each update, begins with its present command if the trajectory begins later, aborts
the goal before when another one comes, and holds where it is when one is cancelled. Time is
counted by its updates, so that nothing is late on a busy machine.
"""
from __future__ import annotations

import itertools
import time

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState

from flex_control import Splines
from flex_control.nodes.shaping_proxy import ShapingProxy
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_description import load_robot
from flex_dynamics import Model

MODEL = Model(load_robot('cibicik_arm'))
PATIENCE = 60.0       # s of wall time for what is to come
UPDATE = 0.01         # s between two updates of the controller
ACTION = 'follow_joint_trajectory'
# Nodes of this process may stay in the graph for a while after they were destroyed.
NUMBERS = itertools.count()
Result = FollowJointTrajectory.Result


class Controller:
    """joint_trajectory_controller with a robot that is always where it is commanded to be."""

    def __init__(self, node: Node, action: str, position: np.ndarray) -> None:
        self.node, self._action, self.position = node, action, np.array(position)
        self.speed = np.zeros(len(position))
        self.time_ns = 1000 * 10**9
        self.goals: list[FollowJointTrajectory.Goal] = []
        self.record: list[tuple[float, np.ndarray]] = []      # time and command of each update
        self.rejects, self.aborts, self.silent = False, '', False
        self._motion: Splines | None = None
        self._ended: Future | None = None
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._timer = node.create_timer(UPDATE, self.update)
        self._handle = None
        self.server: ActionServer | None = None
        self.start()

    def start(self) -> None:
        self.server = ActionServer(
            self.node, FollowJointTrajectory, self._action, self._execute,
            goal_callback=lambda goal: (GoalResponse.REJECT if self.rejects
                                        else GoalResponse.ACCEPT),
            cancel_callback=lambda handle: CancelResponse.ACCEPT)

    def die(self) -> None:
        """Nothing is answered any more."""
        assert self.server is not None
        self._motion = None
        self.server.destroy()
        self.server = None

    def now(self) -> float:
        return 1e-9 * self.time_ns

    async def _execute(self, handle) -> Result:
        self.goals.append(handle.request)
        if self._ended is not None:
            self._ended.set_result((Result.INVALID_GOAL, 'another goal came'))
        points = TrajectoryPoints.of(handle.request.trajectory)
        times = (points.stamp or self.now()) + points.steps
        assert tuple(points.names) == MODEL.joint_names
        ahead = times[0] > self.now()
        rows = [points.positions, points.velocities, points.accelerations]
        if ahead:                     # from the present command to the first point
            times = np.insert(times, 0, self.now())
            rows = [None if values is None else np.vstack((begin, values)) for values, begin in
                    zip(rows, (self.position, self.speed, np.zeros_like(self.position)))]
        self._motion = Splines(times, *rows) if len(times) > 1 else None
        self._handle, ended = handle, Future()
        self._ended = ended
        if self._motion is None:
            ended.set_result((Result.SUCCESSFUL, 'there already'))
        code, text = await ended
        if self._ended is ended:
            self._ended = self._handle = None
        if handle.is_cancel_requested:
            handle.canceled()
        elif code == Result.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return Result(error_code=code, error_string=text)

    def update(self) -> None:
        self.time_ns += round(1e9 * UPDATE)
        now, motion, ended = self.now(), self._motion, self._ended
        if motion is not None:
            position, speed = motion.samples(np.array([now]))[:2, 0]
            self.position, self.speed = position, speed
        self.record.append((now, self.position.copy()))
        state = JointState(name=list(MODEL.joint_names), position=self.position.tolist(),
                           velocity=self.speed.tolist())
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(self.time_ns, 10**9)
        self._states.publish(state)
        if ended is None or ended.done() or self.server is None:
            return
        if self._handle.is_cancel_requested:
            self._motion, self.speed = None, 0.0 * self.speed
            ended.set_result((Result.SUCCESSFUL, 'held'))
        elif self.aborts:
            self._motion, self.speed = None, 0.0 * self.speed
            ended.set_result((Result.PATH_TOLERANCE_VIOLATED, self.aborts))
        elif motion is not None and now >= motion.end:
            ended.set_result((Result.SUCCESSFUL, 'arrived'))
        elif not self.silent:
            feedback = FollowJointTrajectory.Feedback(joint_names=list(MODEL.joint_names))
            feedback.header.stamp = state.header.stamp
            feedback.desired.positions = feedback.actual.positions = self.position.tolist()
            self._handle.publish_feedback(feedback)


class Goal:
    """A goal of the client, and what came of it."""

    def __init__(self, bench: ProxyBench, message: FollowJointTrajectory.Goal) -> None:
        self._bench = bench
        self.feedback: list[FollowJointTrajectory.Feedback] = []
        sent = bench.client.send_goal_async(
            message, lambda one: self.feedback.append(one.feedback))
        bench.until(sent.done)
        assert sent.result().accepted
        self.handle = sent.result()
        self._result = self.handle.get_result_async()

    def done(self) -> bool:
        return self._result.done()

    def end(self):
        """Status, code and text."""
        self._bench.until(self._result.done)
        answer = self._result.result()
        return answer.status, answer.result.error_code, answer.result.error_string


class ProxyBench:
    """Proxy, client and controller, spun together."""

    def __init__(self, start: np.ndarray, **parameters: object) -> None:
        number = next(NUMBERS)
        self.name, self.action = f'shaping_proxy_{number}', f'/controller_{number}/{ACTION}'
        given = {'robot': 'cibicik_arm', 'controller_action': self.action, 'server_timeout': 20.0,
                 'start_delay': 0.3, 'shaper_modes': 2, **parameters}
        rclpy.init(args=['--ros-args', '-r', f'shaping_proxy:__node:={self.name}', *(
            part for name, value in given.items()
            for part in ('-p', f'{name.replace("__", ".")}:={value}'))])
        self.proxy, self.node = ShapingProxy(), Node('bench')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.proxy)
        self.executor.add_node(self.node)
        self.controller = Controller(self.node, self.action, start)
        self.proxy._now = lambda: self.controller.time_ns
        self.client = ActionClient(self.node, FollowJointTrajectory,
                                   f'{self.name}/{ACTION}')
        self.until(self.client.server_is_ready)
        self.until(lambda: self.proxy._joints.received)
        self.until(self.proxy._downstream.ready)      # by then the proxy knows its client, too

    def close(self) -> None:
        self.executor.shutdown()
        self.proxy.destroy_node()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def until(self, done, patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not done():
            assert time.monotonic() < end, 'it did not come'
            self.executor.spin_once(timeout_sec=0.01)

    def send(self, message: FollowJointTrajectory.Goal) -> Goal:
        return Goal(self, message)
