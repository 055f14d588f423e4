"""What every node of flex shares: parameters with ranges, the model, a clean end, diagnostics."""
from __future__ import annotations

import array
import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterException,
)
from rclpy.executors import ExternalShutdownException
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.ending import WRITING, end_by_signal, end_soon
from flex_dynamics.nodes.executor import KINDS, make_executor, spin
from flex_dynamics.nodes.message_guard import decode_errors, shortened
from flex_dynamics.nodes.rclpy_guard import guard
from flex_dynamics.nodes.transport import PortWatch, choose_transport

LARGEST = sys.float_info.max
WATCHES: list[PortWatch] = []      # of this process: one, once it runs


class NodeError(ValueError):
    """Parameters that a node cannot start with."""


def declare(node: Node, name: str, default: Any, description: str, *,
            lower: float | None = None, upper: float | None = None,
            choices: Sequence[str] = (), fixed: bool = False) -> Any:
    """Declare a parameter with its description and range; return its value, checked.

    A default that is a list stands for numbers of any count, returned as an array. fixed: the
    parameter is read when the node starts and cannot be set later.
    """
    descriptor = ParameterDescriptor(description=description, read_only=fixed)
    if choices:
        descriptor.additional_constraints = f'one of {", ".join(choices)}'
    if lower is not None or upper is not None:
        low = -LARGEST if lower is None else lower
        high = LARGEST if upper is None else upper
        if isinstance(default, int):
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
        elif isinstance(default, float):
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    if isinstance(default, (float, list)):
        descriptor.dynamic_typing = True         # 10 is as good a number as 10.0
    try:
        node.declare_parameter(name, default, descriptor)
    except InvalidParameterValueException as error:
        raise NodeError(f'parameter {name}: expected {_range(lower, upper)}; {error}') from None
    except InvalidParameterTypeException as error:
        raise NodeError(f'parameter {name}: {error}') from None
    value = node.get_parameter(name).value
    if isinstance(default, (float, list)):
        vector = numbers(name, value, lower, upper)
        if isinstance(default, list):
            return vector
        if vector.size != 1:
            raise NodeError(f'parameter {name}: expected a number, found {value!r}')
        return float(vector[0])
    if choices and value not in choices:
        raise NodeError(f'parameter {name}: expected one of {", ".join(choices)}, found {value!r}')
    return value


def numbers(name: str, value: Any, lower: float | None = None,
            upper: float | None = None) -> np.ndarray:
    """A number or an array of them as a vector; NodeError if it is none, or out of range."""
    try:
        given = [value] if isinstance(value, (int, float)) else list(value or ())
        plain = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in given]
        if isinstance(value, bytes) or not all(plain):
            raise ValueError       # also a text, whose characters may be digits
        vector = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise NodeError(f'parameter {name}: expected numbers, found '
                        f'{shortened(repr(value))}') from None
    low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
    for number in vector:
        if not (np.isfinite(number) and low <= number <= high):
            raise NodeError(f'parameter {name}: expected {_range(lower, upper)}, found {number:g}')
    return vector


def _range(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return 'finite numbers'
    if upper is None:
        return f'at least {lower:g}'
    return f'{-np.inf if lower is None else lower:g} to {upper:g}'


def declare_model(node: Node) -> Model:
    """The model that the parameters robot, overlay and order ask for."""
    robot = declare(node, 'robot', 'cibicik_arm', 'URDF or xacro file, its text, or the name of a '
                    'bundled robot', fixed=True)
    overlay = declare(node, 'overlay', '', 'YAML file that makes links of the robot flexible; '
                      'empty: none', fixed=True)
    order = declare(node, 'order', 'second', 'how the deformation field is expanded',
                    choices=('linear', 'first', 'second'), fixed=True)
    loaded = load_robot(robot, overlay or None)
    for warning in loaded.warnings:
        node.get_logger().warning(warning)
    return Model(loaded, order)


def steady_clock() -> Clock:
    """The wall clock that no one sets, for pacing and watching."""
    return Clock(clock_type=ClockType.STEADY_TIME)


def stamp(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def nanoseconds(time: Time) -> int:
    return time.sec * 10**9 + time.nanosec


def floats(values: np.ndarray) -> array.array:
    """Numbers as the messages keep them, in one copy."""
    out = array.array('d')
    out.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return out


class Diagnostics:
    """Publishes one status of a node on /diagnostics, once a second of wall time."""

    def __init__(self, node: Node, hardware_id: str,
                 collect: Callable[[], tuple[bytes, str, Mapping[str, object]]]) -> None:
        self._node, self._collect = node, collect
        self._name = f'{node.get_fully_qualified_name().lstrip("/")}: status'
        self._hardware_id, self._errors = hardware_id, decode_errors(node)
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        node.create_timer(1.0, self.publish, clock=steady_clock())

    def publish(self) -> None:
        level, text, collected = self._collect()
        problem = next((watch.problem for watch in WATCHES if watch.problem), '')
        if problem:
            level, text = DiagnosticStatus.ERROR, problem
        values = {**collected, 'undecodable messages': self._errors.total,
                  'last undecodable message': self._errors.last}
        status = DiagnosticStatus(
            level=level, name=self._name, message=text, hardware_id=self._hardware_id,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._clock.now().to_msg()
        self._publisher.publish(message)


def run(make: Callable[[], Node | Sequence[Node]]) -> NoReturn:
    """Make a node, or several for one process, spin until SIGINT, SIGTERM or their own end, and
    leave with an exit code."""
    code = _spin(make)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)       # all is closed; taking numba and LLVM apart would take a second more


def _spin(make: Callable[[], Node | Sequence[Node]]) -> int:
    choose_transport()
    # rclpy's own handlers take the context away from under a callback that is publishing.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    loaded, stop = threading.Event(), Future()
    nodes: list[Node] = []

    def end() -> None:
        if not (loaded.is_set() or WRITING):
            os._exit(0)
        stop.set_result(None)

    end_by_signal(end)
    executor = None
    try:
        made = make()
        nodes += [made] if isinstance(made, Node) else made
        executor = make_executor(declare(
            nodes[0], 'executor', 'lean', "what calls the callbacks: flex's own executor, or that "
            'of rclpy, which takes several times as long', choices=KINDS, fixed=True))
        for node in nodes:
            guard(node)
            executor.add_node(node)
        watch = PortWatch(nodes[0], steady_clock(), getattr(nodes[0], 'NOTHING_TO_LOSE', False))
        WATCHES.append(watch)
        gc.collect()
        gc.freeze()      # what a node is made of never goes: collections need not look at it
        loaded.set()
        spin(executor, stop)
    except ExternalShutdownException:
        end_soon(0)
    except (RobotError, DynamicsError, NodeError, ParameterException) as error:
        end_soon(1)      # before the error goes, and what there is of the node with it
        print(f'error: {error}', file=sys.stderr)
        return 1
    except Exception as error:      # a mistake of ours: one line, and all of it to those who ask
        end_soon(1)
        at = traceback.extract_tb(error.__traceback__)[-1]
        print(f'error: {type(error).__name__}: {error} ({os.path.basename(at.filename)}, line '
              f'{at.lineno}; --log-level debug tells more)', file=sys.stderr)
        if nodes and nodes[0].get_logger().get_effective_level() <= LoggingSeverity.DEBUG:
            traceback.print_exc()
        return 1
    else:
        end_soon(0)
    finally:
        if executor is not None:
            executor.shutdown()
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
