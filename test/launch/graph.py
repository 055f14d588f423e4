"""What the launch tests share: the launch file under test, and a node that listens."""
from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState, StepSimulation

SIM = Path(__file__).resolve().parents[2] / 'flex_bringup' / 'launch' / 'sim.launch.py'
NODES = ('simulator', 'dynamics', 'control', 'state_publisher')
PATIENCE = 120.0     # s; a busy machine starts four nodes slowly
KEEPERS: list[tuple[str | None, Node]] = []      # with their domains, the latest last
LATE = 0.1           # s for a server to know the client that it will answer


def sim(**arguments: str) -> IncludeLaunchDescription:
    """sim.launch.py with these arguments; with pd unless they name another controller."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SIM)),
        launch_arguments=list({'controller': 'pd', **arguments}.items()))


def keeper() -> Node:
    """A node that stays in this domain, and with it the middleware: to take that down while other
    nodes come and go may hang (see flex_ros/shutdown.py), and here no alarm is set."""
    domain = os.environ.get('ROS_DOMAIN_ID')
    if not KEEPERS or KEEPERS[-1][0] != domain:
        context = Context()
        rclpy.init(context=context)
        KEEPERS.append((domain, Node(f'keeper_{domain}', context=context)))
    if len(KEEPERS) > 2:       # in its domain all has been quiet for a whole file of tests
        _, old = KEEPERS.pop(0)
        old.destroy_node()
        rclpy.try_shutdown(context=old.context)
    return KEEPERS[-1][1]


class Listener:
    """A node of the test's own; keeps what comes by topic."""

    def __init__(self) -> None:
        self.context = keeper().context
        self.node = Node('listener', context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.heard: dict[str, list[Any]] = defaultdict(list)
        self._clients: dict[str, Any] = {}
        self._taken = 0

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()

    def listen(self, kind: Any, topic: str, quality: Any = 10, key: str | None = None) -> None:
        """Keep all messages of a topic under `key`, or under the topic's name."""
        heard = self.heard[key or topic]

        def keep(message: Any) -> None:
            self._taken += 1
            heard.append(message)
        self.node.create_subscription(kind, topic, keep, quality)

    def until(self, done: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        """Spin until `done` returns something; AssertionError after `patience` s."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            result = done()
            if result:
                return result
            self._executor.spin_once(timeout_sec=0.05)
        raise AssertionError(f'{what} did not come within {patience:g} s')

    def spin(self, seconds: float) -> None:
        """Take what comes for so long; then, as a stalled machine may have kept us from it, all
        that has come by then."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)
        idle, last = 0, time.monotonic() + 0.2
        while idle < 3 and time.monotonic() < last:
            taken = self._taken
            self._executor.spin_once(timeout_sec=0.0)
            idle = idle + 1 if self._taken == taken else 0

    def next(self, topic: str, count: int = 1, patience: float = PATIENCE) -> list[Any]:
        """The next `count` messages of a topic, from now on."""
        self.spin(0.05)
        begin = len(self.heard[topic])
        self.until(lambda: len(self.heard[topic]) >= begin + count, f'{topic} x {count}', patience)
        return self.heard[topic][begin:begin + count]

    def still(self, topic: str) -> Any:
        """The message that comes again and again while time stands still."""
        def same() -> Any:
            one, two, three = self.next(topic, 3)
            return one if one == two == three else None
        return self.until(same, f'{topic} that stands still')

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """The answer of a service."""
        future = self.ask(kind, name, request)
        self.until(future.done, f'answer of {name}')
        return future.result()

    def ask(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service; the future of its answer."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        if not client.service_is_ready():
            self.until(client.service_is_ready, f'service {name}')
            self.spin(LATE)
        return client.call_async(request)


class Parameters:
    """Sets parameters of a running node."""

    def __init__(self, graph: Listener, node: str) -> None:
        self._graph, self._node = graph, node

    def set(self, name: str, value: Any) -> str:
        """Why the node refused the value; empty if it took it."""
        parameter = Parameter(name, value=value).to_parameter_msg()
        result, = self._graph.call(SetParameters, f'{self._node}/set_parameters',
                                   SetParameters.Request(parameters=[parameter])).results
        return self._reason(result)

    def set_all(self, *pairs: tuple[str, Any]) -> str:
        """The same, for several at once, all or none."""
        return self._reason(self._graph.call(
            SetParametersAtomically, f'{self._node}/set_parameters_atomically',
            SetParametersAtomically.Request(parameters=[
                Parameter(name, value=value).to_parameter_msg() for name, value in pairs])).result)

    @staticmethod
    def _reason(result: Any) -> str:
        assert result.successful or result.reason
        return result.reason if not result.successful else ''


class Simulation:
    """Stops the time of a simulator, so that nothing moves while the test makes up its mind."""

    def __init__(self, graph: Listener, simulator: str = 'simulator') -> None:
        self._graph, self._simulator = graph, simulator

    def pause(self) -> None:
        self._set(SimulationState.STATE_PAUSED)

    def play(self) -> None:
        self._set(SimulationState.STATE_PLAYING)

    def step(self, periods: int) -> None:
        """Let so many periods of a paused simulator pass."""
        result = self._graph.call(StepSimulation, f'{self._simulator}/step_simulation',
                                  StepSimulation.Request(steps=periods)).result
        assert result.result == Result.RESULT_OK, result.error_message

    def _set(self, state: int) -> None:
        result = self._graph.call(
            SetSimulationState, f'{self._simulator}/set_simulation_state',
            SetSimulationState.Request(state=SimulationState(state=state))).result
        assert result.result == Result.RESULT_OK, result.error_message


def seconds(stamp: Any) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec
