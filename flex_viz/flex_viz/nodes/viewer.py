"""The viewer node: the bent robot, live, in any browser."""
from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from flex_dynamics.nodes.common import Diagnostics, declare, declare_model, run, steady_clock
from flex_dynamics.nodes.state_input import State, StateInput
from flex_viz.scene import Scene


class Viewer(Node):
    """Wires a Scene to the state."""

    def __init__(self) -> None:
        super().__init__('viewer')
        model = declare_model(self)
        host = declare(self, 'host', '127.0.0.1', 'address to serve; 0.0.0.0 for other machines '
                       'too', fixed=True)
        port = declare(self, 'port', 8080, 'port to serve; the next free one if it is taken',
                       lower=1, upper=65535, fixed=True)
        rate = declare(self, 'rate', 30.0, 'pictures a second of wall time', lower=0.1,
                       upper=100.0, fixed=True)
        self._scene = Scene(model, host, port)
        self._state: State | None = None
        self._shown: State | None = None
        self._input = StateInput(self, model, self._keep)
        self.create_timer(1.0 / rate, self._show, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        if host not in ('127.0.0.1', 'localhost'):
            self.get_logger().warning(f'anyone who reaches {host} can look at this robot')
        self.get_logger().info(f'{model.robot.name}: look at {self._scene.address}')

    def _keep(self, state: State) -> None:
        self._state = state

    def _show(self) -> None:
        if self._state is not None and self._state is not self._shown:
            self._shown = self._state
            self._scene.show(1e-9 * self._state.time, self._state.q)

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        return (DiagnosticStatus.OK, 'running' if self._state else 'waiting for a state', {
            'address': self._scene.address,
            'states received': self._input.received,
            'states rejected': self._input.rejected,
        })


def main() -> None:
    run(Viewer)


if __name__ == '__main__':
    main()
