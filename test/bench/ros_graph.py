"""The speed of the ROS graph, the Cibicik arm in it: sim.launch.py, every node a process.

Lockstep as fast as it goes, free running by the wall clock, and with the controller inside the
simulator process. Factors are simulated by wall seconds, so that they show how busy the machine
is; processor times of the processes stand beside them.
"""
from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from report import Report, Row

from flex_description import load_robot
from flex_dynamics import Model, Simulation
from flex_dynamics.simulation.plant import TOLERANCE

SECTION = 'The ROS graph, 4-joint arm, every node a process of its own'
PATIENCE = 120.0         # s for nodes to start
SETTLE = 1.5             # s
SHOWN = 10.0             # states a simulated s: 200 a wall s at 20 times real time
TICKS = os.sysconf('SC_CLK_TCK')
START = [0.0, 0.5235987755982988, 2.0943951023931953, 0.5235987755982988]     # rad
SIMULATOR = {'step': 0.001, 'start.positions': START, 'start.deflected': False,
             'drive.bandwidth': 0.0}
DAMPING = [800.0, 2400.0, 900.0, 40.0]                                     # N m s/rad
SOFT = {'pd.kp': [400.0, 1200.0, 600.0, 40.0], 'pd.kd': DAMPING}           # bears late commands
PD = {'pd.kp': [4000.0, 12000.0, 6000.0, 400.0], 'pd.kd': DAMPING,
      'pd.static_compensation': False, 'interpolation': 'none',
      'trajectory.times': [0.0, 0.5], 'trajectory.positions': [*START, 0.7, 1.0, 1.0, 1.0]}
MOTION = {'interpolation': 'minimum_jerk', 'trajectory.times': [0.0, 0.5, 2.5],
          'trajectory.positions': [*START, *START, 0.7, 1.0, 1.0, 1.0]}


@dataclass(frozen=True)
class Reading:
    """What diagnostics and /proc said at one moment: s, s, count, s by process."""

    wall: float
    simulated: float
    overruns: int
    processor: dict[str, float]
    text: str
    scheduling: str
    heard: int               # messages on joint_states


def measure(report: Report) -> None:
    if find_spec('rclpy') is None:
        report.note('rclpy is not there: no part of the ROS graph was measured.')
        return
    from domain_coordinator import domain_id
    with domain_id() as domain:
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        for name, part in (('lockstep at 500 Hz with terms on their topic', _with_terms),
                           ('lockstep at 1 kHz', _own_model), ('free running', _free),
                           ('controller inside the simulator process', _in_process)):
            try:
                part(report)
            except RuntimeError as error:
                report.add(SECTION, Row(name, f'failed: {error}', 'to run', False))


def _with_terms(report: Report) -> None:
    _lockstep(report, 500.0, 'with the model terms on their topic', {
        'control': {**MOTION, 'terms_source': 'topic', 'terms_rate': 0.0},
        'dynamics': {'rate': 0.0}})


def _own_model(report: Report) -> None:
    _lockstep(report, 1000.0, "with the control node's own model",
              {'control': {**MOTION, 'terms_source': 'model'}})


def _lockstep(report: Report, rate: float, what: str,
              params: dict[str, dict[str, Any]]) -> None:
    params = {**params, 'simulator': {**SIMULATOR, 'rate': rate}}
    first, last = _run(params, ['sync:=lockstep', 'controller:=feedback_linearization'], 10.0)
    factor, spent = _factor(first, last), _processor(first, last)
    each = ', '.join(f'{name} {1e6 * seconds / rate:.0f} us' for name, seconds in spent.items())
    report.add(SECTION, Row(f'lockstep, {rate:g} Hz control {what}', f'{factor:.2f} x real time',
                            'at least 1', factor >= 1.0))
    report.add(SECTION, Row(f'processor time an exchange at {rate:g} Hz', each))


def _free(report: Report) -> None:
    params = {'simulator': {**SIMULATOR, 'rate': 1000.0}, 'control': SOFT}
    first, last = _run(params, ['sync:=free'], 60.0, read_joints=True)
    factor, heard = _factor(first, last), (last.heard - first.heard) / (last.wall - first.wall)
    share = (last.processor['simulator'] - first.processor['simulator']) / (last.wall - first.wall)
    late = (last.overruns - first.overruns) / (1000.0 * (last.simulated - first.simulated))
    name = 'free running, 1 kHz states, 60 s'
    report.add(SECTION, Row('a bare loop of sleeps, 1 kHz, on this machine: late by a period',
                            f'{_bare_loop():.2%}'))
    report.add(SECTION, Row(f'{name}: joint_states heard by a listener beside the control node',
                            f'{heard:.0f} a second'))
    report.add(SECTION, Row(f'{name}: scheduling of the simulator', last.scheduling))
    report.add(SECTION, Row(f'{name}: real-time factor', f'{factor:.3f}', '1.00',
                            abs(factor - 1.0) < 0.005))
    report.add(SECTION, Row(f'{name}: overruns', f'{late:.2%}', 'under 1 %', late < 0.01))
    report.add(SECTION, Row(f"{name}: the simulator's share of a core", f'{share:.0%}',
                            'under 40 %', share < 0.4))


def _bare_loop(seconds: float = 10.0) -> float:
    """Share of 1 ms periods whose wake-up comes a period late, though nothing is to be done."""
    period, late, begin = 1e-3, 0, time.monotonic()
    count = round(seconds / period)
    for k in range(1, count + 1):
        time.sleep(max(begin + k * period - time.monotonic(), 0.0))
        late += time.monotonic() - begin > (k + 1) * period
    return late / count


def _in_process(report: Report) -> None:
    params = {'simulator': {**SIMULATOR, 'rate': 1000.0, 'publish_rate': SHOWN}, 'control': PD}
    first, last = _run(params, ['sync:=lockstep', 'in_process:=true'], 5.0)
    factor = _factor(first, last)
    spent = _processor(first, last)['controlled_simulator']
    report.add(SECTION, Row(f'controller inside the simulator process, 1 kHz, {SHOWN:g} states a '
                            'simulated s on topics',
                            f'{factor:.1f} x real time ({1e3 * spent:.0f} us of processor time a '
                            'period)', 'at least 20', factor >= 20.0))
    report.add(SECTION, Row('the same periods of the plant alone, called from Python in this '
                            'process: median', f'{_plant_alone():.0f} us'))


def _plant_alone(periods: int = 20_000) -> float:
    """us that a period of 1 ms takes, at rest after the motion of `_in_process`."""
    model = Model(load_robot('cibicik_arm'))
    gains = np.array(PD['pd.kp']), np.array(PD['pd.kd'])
    start = np.concatenate((START, np.zeros(model.n - len(START))))
    simulation = Simulation(model, SIMULATOR['step'], q=start, tolerance=TOLERANCE)
    simulation.set_servo(*gains, np.array(PD['trajectory.positions'][len(START):]))
    took = []
    for _ in range(periods):
        begin = time.perf_counter()
        simulation.advance(1)
        took.append(time.perf_counter() - begin)
    return 1e6 * float(np.median(took[periods // 2:]))


def _factor(first: Reading, last: Reading) -> float:
    return (last.simulated - first.simulated) / (last.wall - first.wall)


def _processor(first: Reading, last: Reading) -> dict[str, float]:
    """Processor s a simulated s, by process."""
    return {name: (spent - first.processor[name]) / (last.simulated - first.simulated)
            for name, spent in last.processor.items() if name in first.processor}


def _run(params: dict[str, dict[str, Any]], arguments: list[str], seconds: float,
         read_joints: bool = False) -> tuple[Reading, Reading]:
    """Two readings, `seconds` of wall time apart, of a graph that runs; with a listener to
    joint_states, which are not sent without one, if asked for."""
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import JointState

    readings: list[Reading] = []
    joint_states: list[None] = []

    def listen(message: Any) -> None:
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            if 'simulated time (s)' in values and float(values['simulated time (s)']) > 0.0:
                stamp = message.header.stamp
                readings.append(Reading(
                    stamp.sec + 1e-9 * stamp.nanosec, float(values['simulated time (s)']),
                    int(values['overruns']),
                    {name: _processor_time(pid) for name, pid in processes.items()},
                    status.message, values['scheduling'], len(joint_states)))

    with _launched(params, arguments) as (launch, processes):
        rclpy.init()
        node = rclpy.create_node('bench')
        node.create_subscription(DiagnosticArray, '/diagnostics', listen, 10)
        if read_joints:
            node.create_subscription(JointState, 'joint_states',
                                     lambda _: joint_states.append(None),
                                     qos_profile_sensor_data)
        began = time.monotonic()
        try:
            while not readings or readings[-1].wall - readings[0].wall < SETTLE + seconds:
                rclpy.spin_once(node, timeout_sec=0.5)
                if launch.poll() is not None:
                    raise RuntimeError(f'the launch ended with exit code {launch.returncode}')
                if not readings and time.monotonic() - began > PATIENCE:
                    raise RuntimeError(f'no motion within {PATIENCE:g} s')
        finally:
            node.destroy_node()
            rclpy.try_shutdown()
    if readings[-1].text != 'running':
        raise RuntimeError(f'the simulator says: {readings[-1].text}')
    return next(one for one in readings if one.wall - readings[0].wall > SETTLE), readings[-1]


@contextmanager
def _launched(params: dict[str, dict[str, Any]],
              arguments: list[str]) -> Iterator[tuple[subprocess.Popen, dict[str, int]]]:
    """sim.launch.py, and the processes that it starts by their names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'params.yaml')
        path.write_text(yaml.safe_dump({f'/**/{node}': {'ros__parameters': given}
                                        for node, given in params.items()}))
        command = ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', f'params_file:={path}',
                   'controller:=pd',
                   'headless:=true', *arguments]
        launch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors='replace', start_new_session=True)
        processes: dict[str, int] = {}

        def read() -> None:
            assert launch.stdout is not None
            for line in launch.stdout:
                found = re.search(r'\[(\w+)-\d+\].*process started with pid \[(\d+)\]', line)
                if found:
                    processes[found[1]] = int(found[2])
                elif 'error' in line.lower():
                    print(f'  {line}', end='', flush=True)

        threading.Thread(target=read, daemon=True).start()
        print(f'  {" ".join(arguments)}', flush=True)
        try:
            yield launch, processes
        finally:
            if launch.poll() is None:
                launch.send_signal(signal.SIGINT)
                try:
                    launch.wait(15.0)
                except subprocess.TimeoutExpired:
                    os.killpg(launch.pid, signal.SIGKILL)
                    launch.wait()


def _processor_time(pid: int) -> float:
    """User and system time of a process, s; 0 if it is gone."""
    try:
        fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS
