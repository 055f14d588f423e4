"""Soak: one simulated hour through ROS in lockstep, every node a process of its own.

The Canadarm goes to and fro, 20 s a cycle, 10 states a second, as fast as the graph goes: each
state waits on its topic for the command that the control node makes of it. 180 cycles. Once the
simulator is stopped for 2 s, as a busy machine may do it, and all goes on as if nothing had been.
"""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy', reason='soak: rclpy is not there')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from simulation_interfaces.msg import Result  # noqa: E402
from simulation_interfaces.srv import StepSimulation  # noqa: E402

from flex_control import PD, ControlLoop, QuinticSpline  # noqa: E402
from flex_description import load_robot  # noqa: E402
from flex_dynamics import Model  # noqa: E402
from flex_dynamics.simulation.plant import Drives, Plant  # noqa: E402
from flex_msgs.msg import FlexState  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'launch'))
from graph import NODES, Listener  # noqa: E402
from processes import end  # noqa: E402

HOUR, CYCLE, RATE = 3600, 20, 10        # s, s, states a s
PERIOD = 10**9 // RATE                  # ns
WARM = 360                              # s: what nodes keep grows to its size in the first tenth
PATIENCE = 120.0                        # s of wall time for AT_ONCE states, on a busy machine
DEPTH = 5000
STEP, BANDWIDTH = 0.01, 2.0             # s of the integrator, rad/s of the servos
AT_ONCE = 80                            # states; publishers keep 100
HELD_UP = 1000                          # s of simulated time after which the simulator is stopped
PLACES = np.array([[0.0, 0.0, 0.0], [0.2, -0.15, 0.2]])                      # rad


def points() -> tuple[np.ndarray, np.ndarray]:
    """Times (k,) and places (k, 3) to go through."""
    # The curve through all points feels its end: 5 times less with each cycle before it.
    times = np.arange(0.0, HOUR + 20 * CYCLE + 1, CYCLE // 2)
    return times, PLACES[np.arange(len(times)) % 2]


def parameters() -> dict:
    times, places = points()
    return {
        'simulator': {'rate': float(RATE), 'step': STEP, 'drive.bandwidth': 0.0,
                      'start.positions': PLACES[0].tolist()},
        'dynamics': {'rate': 1.0}, 'state_publisher': {'rate': 1.0},
        'control': {'terms_rate': 1.0, 'pd.bandwidth': BANDWIDTH, 'interpolation': 'minimum_jerk',
                    'trajectory.times': times.tolist(),
                    'trajectory.positions': places.ravel().tolist()}}


def without_ros() -> dict[int, np.ndarray]:
    """States (2, n) at the ends of cycles, s, of the same loop in this process."""
    model = Model(load_robot('canadarm'))
    controller = PD(model, {'bandwidth': BANDWIDTH})
    controller.set_drives(*controller.drive_gains())
    loop = ControlLoop(model, controller, QuinticSpline(*points()))
    plant = Plant(model, STEP, PERIOD // round(1e9 * STEP), Drives(*controller.drive_gains()),
                  PLACES[0], True)
    found, joints = {}, model.n_joints
    for k in range(HOUR * RATE):
        if k and k % (CYCLE * RATE) == 0:
            found[k // RATE] = np.array([plant.q, plant.v])
        efforts = loop.step(k / RATE, plant.q.copy(), plant.v.copy())
        wanted = controller.reference
        plant.commands.accept(model.names[:joints], efforts, wanted.position, wanted.velocity)
        plant.advance()
    found[HOUR] = np.array([plant.q, plant.v])
    return found


class Watch:
    """What came by topic, and the memory of every process of the graph over simulated time."""

    def __init__(self, listener: Listener, launch: subprocess.Popen) -> None:
        self.states, self.commands = Counter[int](), Counter[int]()
        self.at: dict[int, np.ndarray] = {}            # s, (2, n): state at the ends of cycles
        self.memory: list[tuple[float, dict[str, float]]] = []
        self.report: dict[str, str] = {}
        self.now, self.wall, self._launch = 0, 0.0, launch       # ns, s that the hour took
        for kind, topic, hear in ((FlexState, 'flex_state', self._state),
                                  (JointState, 'joint_commands', self._command),
                                  (DiagnosticArray, '/diagnostics', self._diagnostics)):
            listener.node.create_subscription(kind, topic, hear, DEPTH)

    def _state(self, message: FlexState) -> None:
        self.now = _nanoseconds(message)
        self.states[self.now] += 1
        if self.now and self.now % (CYCLE * 10**9) == 0:
            self.at[self.now // 10**9] = np.array([message.position, message.velocity])
            self.memory.append((self.now * 1e-9, _memory(self._launch.pid)))

    def _command(self, message: JointState) -> None:
        self.commands[_nanoseconds(message)] += 1

    def _diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if 'rejected commands' in values:
                self.report = values


def _nanoseconds(message) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def _nodes(launch: int) -> dict[str, tuple[int, float]]:
    """Process and resident memory (MB) of the nodes that this process launched."""
    found = {}
    for path in Path('/proc').glob('[0-9]*'):
        try:
            status = dict(line.split(':', 1) for line in
                          (path / 'status').read_text().splitlines() if ':' in line)
            words = (path / 'cmdline').read_text().replace('/', '\0').split('\0')
        except OSError:                 # it has just ended
            continue
        if int(status['PPid']) == launch:
            name = next((name for name in NODES if name in words), path.name)
            found[name] = int(path.name), float(status['VmRSS'].split()[0]) / 1024
    return found


def _memory(launch: int) -> dict[str, float]:
    return {name: size for name, (_, size) in _nodes(launch).items()}


def _run(listener: Listener, seen: Watch, launch: int) -> None:
    """The hour, by so many states at a time that the listener can not fall behind by more than
    the publishers keep for it: what it then does not hear is lost."""
    client = listener.node.create_client(StepSimulation, 'simulator/step_simulation')
    listener.until(client.service_is_ready, 'the service step_simulation')
    for first in range(0, HOUR * RATE, AT_ONCE):
        steps = min(AT_ONCE, HOUR * RATE - first)
        answer = client.call_async(StepSimulation.Request(steps=steps))
        if first <= HELD_UP * RATE < first + steps:
            _hold_up(listener, _nodes(launch)['simulator'][0])
        listener.until(answer.done, f'{steps} states', PATIENCE)
        assert answer.result().result.result == Result.RESULT_OK, answer.result()
        end = (first + steps) * PERIOD
        listener.until(lambda end=end: seen.states[end] and seen.commands[end],
                       f'the state at {end * 1e-9:g} s and its command')


def _hold_up(listener: Listener, process: int) -> None:
    os.kill(process, signal.SIGSTOP)
    try:
        listener.spin(2.0)
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.fixture(scope='module')
def watch(tmp_path_factory):
    """The hour."""
    file = tmp_path_factory.mktemp('soak') / 'soak.yaml'
    file.write_text(yaml.safe_dump({f'/**/{node}': {'ros__parameters': values}
                                    for node, values in parameters().items()}))
    launch = subprocess.Popen(
        ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', 'robot:=canadarm', 'sync:=lockstep',
         'paused:=true', 'headless:=true', 'log_level:=warn', f'params_file:={file}'],
        start_new_session=True)
    listener = Listener()
    try:
        seen = Watch(listener, launch)
        listener.until(lambda: seen.states and seen.commands, 'a first state and its command',
                       120.0)
        began = time.monotonic()
        _run(listener, seen, launch.pid)
        seen.wall = time.monotonic() - began
        listener.spin(1.5)              # a last report
        yield seen
    finally:
        listener.close()
        end(launch)


def test_no_message_is_lost(claims, watch):
    wanted = [k * PERIOD for k in range(HOUR * RATE + 1)]
    for name, heard in (('states', watch.states), ('commands', watch.commands)):
        lost = sum(stamp not in heard for stamp in wanted)
        again = sum(heard[stamp] - 1 for stamp in wanted[1:] if stamp in heard)
        claims.value('soak', f'{name} with the stamps k / {RATE} s that a third node heard',
                     len(wanted), len(wanted) - lost, 0.0,
                     note=f'{again} were sent again, as an answer took 0.2 s; '
                          f'{HOUR / watch.wall:.0f} times real time')
    claims.fact('soak', 'commands that the simulator rejected', '0',
                watch.report['rejected commands'], watch.report['rejected commands'] == '0')


def test_memory_is_flat(claims, watch):
    time, most = np.array([at for at, _ in watch.memory]), 0.0
    figure, axes = plt.subplots(figsize=(7, 3))
    for name in NODES:
        size = np.array([sizes[name] for _, sizes in watch.memory])
        warm = size[time <= WARM][-1]
        claims.bound('soak', f'growth of the memory of {name} from {WARM} s to {HOUR} s',
                     100.0 * (size[time >= WARM].max() / warm - 1.0), 2.0, unit='%',
                     note=f'{warm:.0f} MB')
        axes.plot(time, size, label=name)
        most = max(most, size.max())
    axes.set(xlabel='simulated s', ylabel='MB', ylim=(0.0, 1.1 * most),
             title='Resident memory of the nodes')
    axes.legend()
    claims.figure('Soak: memory over the simulated hour', figure)


def test_no_drift(claims, watch):
    """A damped arm on a periodic trajectory: its cycles become one, and stay it."""
    ends = sorted(at for at in watch.at if WARM <= at <= HOUR)
    states = np.array([watch.at[at] for at in ends])
    claims.value('soak', 'cycles compared', (HOUR - WARM) / CYCLE + 1, len(ends), 0.0)
    claims.bound('soak', 'largest distance of a coordinate at the ends of cycles from that of '
                 f'cycle {WARM // CYCLE}', float(np.abs(states[:, 0] - states[0, 0]).max()), 1e-9,
                 unit='rad or m')
    claims.bound('soak', 'the same of speeds', float(np.abs(states[:, 1] - states[0, 1]).max()),
                 1e-9, unit='rad/s or m/s')
    expected = without_ros()
    claims.bound('soak', f'states at the ends of {len(expected)} cycles, by the same loop without '
                 'ROS', max(float(np.abs(watch.at[at] - state).max())
                            for at, state in expected.items() if at in watch.at), 1e-12, unit='SI',
                 note='the simulator was stopped for 2 s on the way')
