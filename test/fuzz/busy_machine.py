"""A robot, free running, on a machine that is busy with other things: no fail-safe may act.

Starts as many endless loops as asked for, then sim.launch.py with each controller for some time,
and prints what /diagnostics counted.
"""
from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rclpy
from ament_index_python.packages import get_package_share_directory
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from flex_msgs.msg import FlexState

CONFIG = Path(get_package_share_directory('flex_bringup'), 'config')
NODES = ('simulator', 'control')
START = 180.0       # s of wall time until a busy machine has started all nodes
FAIL_SAFES = 'times the fail-safe acted'


class Listener(Node):
    """Keeps the last status of the nodes, and the largest joint speed of a run."""

    def __init__(self) -> None:
        super().__init__('busy_machine')
        self.figures: dict[str, dict[str, str]] = {}
        self.factors: list[float] = []
        self.time = self.speed = 0.0
        self.create_subscription(DiagnosticArray, '/diagnostics', self._keep, 10)
        self.create_subscription(FlexState, 'flex_state', self._see, 10)

    def _keep(self, message: DiagnosticArray) -> None:
        for status in message.status:
            name = status.name.partition(':')[0]
            if name not in NODES:
                continue
            self.figures[name] = {one.key: one.value for one in status.values}
            if name == 'simulator' and self.time > 0.0:
                self.factors.append(float(self.figures[name]['real-time factor']))

    def _see(self, state: FlexState) -> None:
        self.time = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        self.speed = max(self.speed, float(np.abs(state.velocity[:state.joint_count]).max()))


def run(controller: str, seconds: float, priority: int) -> list[str]:
    """One robot for so long; prints the counts and returns the problems."""
    executor, listener = SingleThreadedExecutor(), Listener()     # which has heard of no other run
    executor.add_node(listener)
    with tempfile.TemporaryDirectory() as folder:
        parameters = Path(folder, 'parameters.yaml')
        parameters.write_text((CONFIG / 'cibicik_manoeuvre.yaml').read_text()
                              + f'/**:\n  ros__parameters: {{thread_priority: {priority}}}\n')
        log = Path(folder, 'log')
        with log.open('w') as output:
            process = subprocess.Popen(
                ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', 'headless:=true',
                 f'controller:={controller}', f'params_file:={parameters}'],
                stdout=output, stderr=output, start_new_session=True)
        try:
            end = time.monotonic() + START
            while listener.time == 0.0 and time.monotonic() < end and process.poll() is None:
                executor.spin_once(timeout_sec=0.1)
            end = time.monotonic() + seconds
            while time.monotonic() < end and process.poll() is None:
                executor.spin_once(timeout_sec=0.1)
        finally:
            executor.shutdown()
            listener.destroy_node()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            process.wait()
        return report(controller, listener, log.read_text())


def report(controller: str, listener: Listener, log: str) -> list[str]:
    """Print a line about a run; the problems."""
    if listener.time == 0.0 or set(listener.figures) < set(NODES):
        return [f'{controller}: the robot did not run: {log[-2000:]}']
    simulator, control = (listener.figures[name] for name in NODES)
    print(f'{controller:24} {listener.time:8.1f} {np.mean(listener.factors):8.2f} '
          f'{simulator["waits for the driver"]:>6} '
          f'{simulator["time waited for the driver (s)"]:>8} {simulator[FAIL_SAFES]:>10} '
          f'{control[FAIL_SAFES]:>8} {listener.speed:8.2f}', flush=True)
    problems = [f'{controller}: the fail-safe of the {name} acted {figures[FAIL_SAFES]} times: '
                + '; '.join(line for line in log.splitlines() if 'fail-safe' in line)[-2000:]
                for name, figures in listener.figures.items() if figures[FAIL_SAFES] != '0']
    if listener.speed < 0.1:
        problems.append(f'{controller}: the robot did not move')
    return problems


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--seconds', type=float, default=60.0, help='of wall time, a controller')
    parser.add_argument('--loops', type=int, default=4, help='endless loops beside the robot')
    parser.add_argument('--controllers', nargs='+',
                        default=['pd', 'lqg', 'feedback_linearization'])
    parser.add_argument('--priority', type=int, default=0, help='real-time priority of the '
                        'simulator; 0: as a user without the right to it')
    given = parser.parse_args(words)
    os.environ.setdefault('ROS_DOMAIN_ID', str(random.randrange(1, 101)))
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
             for _ in range(given.loops)]
    problems: list[str] = []
    try:
        rclpy.init()
        print(f'{given.loops} busy loops on {os.cpu_count()} cores, {given.seconds:g} s each')
        print(f'{"controller":24} {"time (s)":>8} {"factor":>8} {"waits":>6} {"waited":>8} '
              f'{"fail-safes":>10} {"control":>8} {"rad/s":>8}', flush=True)
        for controller in given.controllers:
            problems += run(controller, given.seconds, given.priority)
    finally:
        for loop in loops:
            loop.kill()
    for problem in problems:
        print(f'problem: {problem}')
    print('no fail-safe acted' if not problems else f'{len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)       # taking the middleware apart may hang (see flex_ros/shutdown.py)
