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
"""The default robot's manoeuvre through the whole ROS graph: what `make sim` runs.

It starts sim.launch.py in lockstep, steps the simulator, records the run from its topics like any
other node, and ends with a table and a page of pictures.
"""
from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

import numpy as np
import rclpy
from ament_index_python.packages import get_package_share_directory
from domain_coordinator import domain_id
from rclpy.signals import SignalHandlerOptions

from flex_bringup.recorder import Recorder
from flex_description import load_robot
from flex_dynamics import Model
from flex_viz import Run, RunError, animate, table, write_report

ROBOT = 'cibicik_arm'
TOOL = 'tool'
EXAGGERATION = 4.0
MOMENTS = (0.0, 0.53, 0.7, 2.5, 3.07, 3.45)     # s, of the strip of poses


class Graph:
    """The launch as a process of its own; what it says goes to a log and, at first, to us."""

    def __init__(self, log: Path) -> None:
        params = Path(get_package_share_directory('flex_bringup'), 'config',
                      'cibicik_manoeuvre.yaml')
        command = ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', f'robot:={ROBOT}',
                   f'params_file:={params}', 'controller:=pd', 'sync:=lockstep',
                   'paused:=true', 'headless:=true']
        print(' '.join(command), flush=True)
        self._log = log
        self._show = True
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors='replace', start_new_session=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self._log.open('w') as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                if self._show:
                    print(f'  {line}', end='', flush=True)

    def quiet(self) -> None:
        self._show = False

    def check(self) -> None:
        """RunError if it has ended."""
        code = self.process.poll()
        if code is not None:
            raise RunError(f'the launch ended early with exit code {code}; see {self._log}')

    def end(self) -> None:
        """SIGINT, and after 10 s SIGKILL."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(10.0)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


class Progress:
    """One line that grows on a terminal; elsewhere a line a second of simulated time."""

    def __init__(self, out: TextIO, duration: float) -> None:
        self._out, self._duration = out, duration
        self._terminal = out.isatty()
        self._said = -1.0
        self._began = time.monotonic()

    def show(self, now: float) -> None:
        often = 0.1 if self._terminal else 1.0
        if self._said >= self._duration or (now - self._said < often and now < self._duration):
            return
        self._said = now
        share = min(now / self._duration, 1.0)
        bar = ('#' * int(30 * share)).ljust(30, '.')
        wall = time.monotonic() - self._began
        text = f'[{bar}] {now:.1f} of {self._duration:g} s, wall {wall:.1f} s'
        print(f'\r{text}' if self._terminal else text, end='' if self._terminal else '\n',
              file=self._out, flush=True)

    def end(self) -> None:
        if self._terminal:
            print(file=self._out)


def record(duration: float, folder: Path) -> tuple[Recorder, float]:
    """Run the graph for `duration` s of simulated time; the record and the wall time it took."""
    graph = Graph(folder / 'launch.log')
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        recorder = Recorder()
        recorder.wait(lambda: recorder.has(recorder.latest), graph.check,
                      'waiting for a first state and its command', 120.0)
        graph.quiet()
        progress = Progress(sys.stdout, duration)
        began = time.monotonic()

        def watch() -> None:
            graph.check()
            progress.show(1e-9 * recorder.latest)

        recorder.run(round(1e9 * duration), watch)
        wall = time.monotonic() - began
        progress.end()
        recorder.read()
        return recorder, wall
    finally:
        graph.end()
        rclpy.try_shutdown()


def evaluate(recorder: Recorder, duration: float, wall: float) -> Run:
    """The record as arrays; RunError if states are missing."""
    model = Model(load_robot(ROBOT))
    if recorder.names != list(model.names):
        raise RunError(f'expected the coordinates of {ROBOT}, found {recorder.names}')
    times = sorted(t for t in recorder.states if t in recorder.efforts and t in recorder.commands
                   and t <= duration * 1e9)
    gaps = np.unique(np.diff(times))
    if len(gaps) != 1:
        raise RunError(f'states are missing: their stamps are {gaps} ns apart')
    states = np.array([recorder.states[t] for t in times])
    known = sorted(recorder.set_points)
    at = np.maximum(np.searchsorted(known, times, side='right') - 1, 0)
    return Run(model, TOOL, 1e-9 * np.array(times), states[:, 0], states[:, 1],
               np.array([recorder.efforts[t] for t in times]),
               np.array([recorder.commands[t] for t in times]),
               np.array([recorder.set_points[known[k]] for k in at]), wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--duration', type=float, default=6.0, help='simulated s (default 6)')
    parser.add_argument('--output', type=Path, default=Path('results'),
                        help='folder for the table and the pictures (default results)')
    parser.add_argument('--animation', type=Path, help='also write a moving picture to this GIF')
    given = parser.parse_args()
    if not 0.0 < given.duration <= 3600.0:
        parser.error(f'--duration: expected 0 to 3600 s, found {given.duration}')
    given.output.mkdir(parents=True, exist_ok=True)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    try:
        with domain_id() as domain:
            os.environ['ROS_DOMAIN_ID'] = str(domain)
            recorder, wall = record(given.duration, given.output)
        run = evaluate(recorder, given.duration, wall)
        files = write_report(given.output, run, MOMENTS, EXAGGERATION)
        if given.animation is not None:
            animate(given.animation, run, EXAGGERATION)
            files.append(given.animation)
    except RunError as error:
        print(f'demo: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nended before the manoeuvre was over', file=sys.stderr)
        return 130
    print(f'\n{table(run)}\n\n{", ".join(map(str, files))}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
