# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""Goals of `~/follow_joint_trajectory` with many points, taken without an object for each point.

rclpy converts the goal that the middleware has decoded to Python objects, six for a point: for
100,000 points that takes it seconds, in the thread of the control loop. rclpy finds the function
that converts at the type of the message. Here it is given one that serialises a long goal again,
in C, and reads its points as arrays; short goals go the usual way. Where a library for that is
not found, all goals do.
"""
from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer
from rclpy.clock import Clock
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from flex_control.errors import ControlError
from flex_control.trajectories.trajectory_points import TrajectoryPoints, with_one_point
from flex_ros.clock import steady_clock
from flex_ros.polled_subscription import LIBRARIES, Serialized

REQUEST = FollowJointTrajectory.Impl.SendGoalService.Request
LONG = 20_000          # bytes of a goal that is not converted as usual: about 150 points
GOAL_ID = 16           # bytes before the goal in a request
MOST_ANSWERED = 100    # times of goals that are remembered; few goals wait or are followed


class LongGoal(NamedTuple):
    """A goal that has its first point only, and all points, or why they are to be refused."""

    goal: FollowJointTrajectory.Goal
    points: TrajectoryPoints | ControlError


class LongRequest(NamedTuple):
    """A request as the action server takes it."""

    goal_id: Any
    goal: LongGoal


def long_request(data: bytes) -> LongRequest:
    """The request in its serialised form; ValueError if it cannot be read in this way."""
    try:
        points: TrajectoryPoints | ControlError = TrajectoryPoints.from_bytes(data, GOAL_ID)
        short = deserialize_message(with_one_point(data, GOAL_ID), REQUEST)
    except ControlError as error:
        points, short = error, REQUEST()
        short.goal_id.uuid = list(data[4:4 + GOAL_ID])
    return LongRequest(short.goal_id, LongGoal(short.goal, points))


class SteadyNode:
    """A node for rcl, whose clock is one that nobody sets."""

    def __init__(self, node: Node) -> None:
        self._node, self._clock = node, steady_clock()

    def get_clock(self) -> Clock:
        return self._clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)


class SteadyActionServer(ActionServer):
    """An action server whose results are kept for `result_timeout` s of steady time.

    By the clock of the node, the result of a goal that came before the clock was set back would
    be kept until the clock is there again: for ever, if it was a wrong clock.
    """

    def __init__(self, node: Node, *arguments: Any, **options: Any) -> None:
        steady = SteadyNode(node)
        super().__init__(steady, *arguments, **options)
        self._node, self._steady_clock = node, steady.get_clock()
        # Times (ns) at which goals were answered, by the clock of the node and the steady one.
        self._answered: deque[tuple[int, int]] = deque(maxlen=MOST_ANSWERED)

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Forget the goals that have expired first: rclpy would take a new goal with the ID of one
        of them before, and then forget that."""
        expired = taken_data.pop('expired', None)
        if expired is not None:
            await self._execute_expire_goals(expired)
        await super().execute(taken_data)

    async def _execute_goal(self, execute_callback: Any, goal_handle: Any) -> None:
        """Keep the result of a goal that has ended, without the goal: rclpy keeps both, and a
        goal can have megabytes."""
        await super()._execute_goal(execute_callback, goal_handle)
        goal_handle._goal_request = None

    async def _execute_goal_request(self, request_header_and_message: Any) -> None:
        now = self._node.get_clock().now().nanoseconds
        await super()._execute_goal_request(request_header_and_message)
        self._answered.append((now, self._steady_clock.now().nanoseconds))

    async def _execute_cancel_request(self, request_header_and_message: Any) -> None:
        """A request to cancel all goals up to a time names that by the clock of the node: cancel
        what came up to the last goal that was answered by then, and what came before."""
        time = request_header_and_message[1].goal_info.stamp
        if time.sec or time.nanosec:
            limit = time.sec * 10**9 + time.nanosec
            steady = max((at for stamp_ns, at in self._answered if stamp_ns <= limit),
                         default=1)         # zero would be no time, and with it all goals
            time.sec, time.nanosec = divmod(steady, 10**9)
        await super()._execute_cancel_request(request_header_and_message)

    @property
    def kept(self) -> int:
        """Number of goals that are followed or whose results can still be asked for."""
        return len(self._goal_handles)


class LongGoalServer(SteadyActionServer):
    """An action server whose goals are LongGoal if they are long."""

    def __init__(self, node: Node, *arguments: Any, **options: Any) -> None:
        super().__init__(node, *arguments, **options)
        self._converter = converter()
        if self._converter is not None:
            real = self._action_type
            send_goal = SimpleNamespace(Request=request_type(self._converter),
                                        Response=real.Impl.SendGoalService.Response)
            self._action_type = SimpleNamespace(
                Impl=SimpleNamespace(SendGoalService=send_goal,
                                     CancelGoalService=real.Impl.CancelGoalService,
                                     GetResultService=real.Impl.GetResultService,
                                     FeedbackMessage=real.Impl.FeedbackMessage),
                Goal=real.Goal, Result=real.Result, Feedback=real.Feedback)


def request_type(convert: Any) -> Any:
    """What rclpy makes requests from: as the type of the message, but for the conversion."""
    meta = REQUEST.__class__
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                   ctypes.c_void_p]
    capsule = new(ctypes.cast(convert, ctypes.c_void_p).value, _name(meta._CONVERT_TO_PY), None)
    return type('LongGoalType', (), {
        '_CREATE_ROS_MESSAGE': meta._CREATE_ROS_MESSAGE, '_CONVERT_TO_PY': capsule,
        '_DESTROY_ROS_MESSAGE': meta._DESTROY_ROS_MESSAGE, '_TYPE_SUPPORT': meta._TYPE_SUPPORT,
        '_CONVERT_FROM_PY': meta._CONVERT_FROM_PY})()


def converter() -> Any:
    """The function, for C, from a decoded request to Python; None if it cannot be here."""
    serialize = _serializer()
    if serialize is None:
        return None
    REQUEST.__class__.__import_type_support__()
    usual = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(
        _pointer(REQUEST.__class__._CONVERT_TO_PY))

    def convert(message: int) -> Any:
        try:
            data = serialize(message)
            return long_request(data) if len(data) > LONG else usual(message)
        except Exception:            # C cannot take one
            return usual(message)

    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(convert)


def _serializer() -> Callable[[int], bytes] | None:
    """From the address of a decoded request to its serialised form."""
    meta = REQUEST.__class__
    for name in ('librmw_implementation.so',
                 f'lib{rclpy.get_rmw_implementation_identifier()}.so'):
        try:
            function = ctypes.CDLL(name).rmw_serialize
            break
        except (OSError, AttributeError):
            continue
    else:
        return None
    if LIBRARIES is None or not all(hasattr(meta, part) for part in (
            '_TYPE_SUPPORT', '_CONVERT_TO_PY', '_CREATE_ROS_MESSAGE', '_DESTROY_ROS_MESSAGE')):
        return None
    function.argtypes = [ctypes.c_void_p] * 3
    rcutils = LIBRARIES[1]

    def serialize(message: int) -> bytes:
        out = Serialized(rcutils)
        if function(message, _pointer(meta._TYPE_SUPPORT), out.pointer):
            rcutils.rcutils_reset_error()
            raise ValueError('the middleware cannot serialise the goal')
        return bytes(out.view)

    return serialize


def _name(capsule: Any) -> bytes | None:
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


def _pointer(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, _name(capsule))
