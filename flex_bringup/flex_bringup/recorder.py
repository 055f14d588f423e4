"""Records a run from its topics, as any ROS node could."""
from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState

from flex_msgs.msg import FlexState
from flex_viz.run import RunError


class Recorder(Node):
    """Keeps every state and effort by its stamp (ns); a state that was sent twice counts once."""

    def __init__(self) -> None:
        super().__init__('recorder')
        self.names: list[str] = []
        self.states: dict[int, np.ndarray] = {}         # (2, n): q and v
        self.efforts: dict[int, np.ndarray] = {}        # (n_joints,), as measured
        self.commands: dict[int, np.ndarray] = {}       # (n_joints,), as commanded
        self.set_points: dict[int, np.ndarray] = {}     # (n_joints,)
        self.latest = -1
        every = QoSProfile(depth=10000)
        self.create_subscription(FlexState, 'flex_state', self._on_state, every)
        self.create_subscription(JointState, 'joint_states', self._on_joints, every)
        self.create_subscription(JointState, 'joint_commands', self._on_command, every)
        self.create_subscription(JointTrajectoryControllerState, 'control/controller_state',
                                 self._on_control, every)
        self._play = self.create_client(SetSimulationState, 'simulator/set_simulation_state')

    def _on_state(self, message: FlexState) -> None:
        self.names = message.name
        self.latest = at = _time(message)
        self.states[at] = np.array([message.position, message.velocity])

    def _on_joints(self, message: JointState) -> None:
        self.efforts[_time(message)] = np.array(message.effort)

    def _on_command(self, message: JointState) -> None:
        self.commands[_time(message)] = np.array(message.effort)

    def _on_control(self, message: JointTrajectoryControllerState) -> None:
        self.set_points[_time(message)] = np.array(message.reference.positions)

    def has(self, at: int) -> bool:
        """Whether all of the state with that stamp (ns) is there."""
        return at in self.states and at in self.efforts and at in self.commands

    def wait(self, done: Callable[[], bool], watch: Callable[[], None], patience: float,
             what: str) -> None:
        """Spin until `done`; `watch` is called at each turn. RunError if nothing comes for
        `patience` s of wall time."""
        last, since = self.latest, time.monotonic()
        while not done():
            rclpy.spin_once(self, timeout_sec=0.1)
            watch()
            if self.latest != last:
                last, since = self.latest, time.monotonic()
            if time.monotonic() - since > patience:
                raise RunError(f'{what}: nothing for {patience:g} s')

    def play(self, watch: Callable[[], None]) -> None:
        """Let the paused simulator go."""
        self.wait(self._play.service_is_ready, watch, 30.0, 'waiting for the simulator')
        request = SetSimulationState.Request(
            state=SimulationState(state=SimulationState.STATE_PLAYING))
        future = self._play.call_async(request)
        self.wait(future.done, watch, 30.0, 'waiting for the simulator to play')
        result = future.result().result
        if result.result != Result.RESULT_OK:
            raise RunError(f'the simulator does not play: {result.error_message}')


def _time(message: FlexState | JointState | JointTrajectoryControllerState) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
