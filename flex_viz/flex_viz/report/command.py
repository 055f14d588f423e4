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
"""`ros2 run flex_viz plot BAG`: the report of a recorded run, as that of `make sim`."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from flex_viz.report.animation import animate
from flex_viz.report.bag import read_run
from flex_viz.report.page import write_report
from flex_viz.report.plots import LARGEST_FACTOR, exaggeration_to_see
from flex_viz.report.run import Run, RunError, table

MOMENTS = 6      # poses in a strip


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the report, return the exit code."""
    parser = argparse.ArgumentParser(prog='plot', description='Report of a recorded run: HTML '
                                     'page, pictures and a table.')
    parser.add_argument('bag', type=Path, help='rosbag2 folder, or a file .mcap or .db3')
    parser.add_argument('--output', type=Path, help='folder for the report (default: BAG_report)')
    parser.add_argument('--robot', default='', help='URDF, xacro or bundled name (default: '
                        'robot_description of the bag)')
    parser.add_argument('--overlay', default='', help='YAML that makes its links flexible')
    parser.add_argument('--order', default='second', choices=('linear', 'first', 'second'))
    parser.add_argument('--tool', default='', help='frame whose deflection is reported')
    parser.add_argument('--exaggeration', type=float, metavar='FACTOR',
                        help='factor of the deflection in the second strip of poses and in the '
                        'animation (default: such that the deflection is visible)')
    parser.add_argument('--animation', type=Path, help='also write an animation to this GIF file')
    given = parser.parse_args(arguments)
    factor = given.exaggeration
    if factor is not None and not 0.0 <= factor <= LARGEST_FACTOR:
        parser.error(f'--exaggeration: expected 0 to {LARGEST_FACTOR:g}, found {factor}')
    try:
        run = read_run(given.bag, given.robot, given.overlay, given.order, given.tool)
        moments = _moments(run)
        if factor is None:
            factor = exaggeration_to_see(run, moments)
        folder = given.output or given.bag.with_name(f'{given.bag.name}_report')
        files = write_report(folder, run, moments, factor)
        if given.animation is not None:
            animate(given.animation, run, factor)
            files.append(given.animation)
    except (RunError, OSError) as error:
        print(f'plot: {error}', file=sys.stderr)
        return 1
    drawn = 'as it is' if factor == 1.0 else f'{factor:g} times as large (second strip)'
    print(f'{table(run)}\n\ndeflection drawn {drawn}; --exaggeration FACTOR changes it\n'
          f'{", ".join(map(str, files))}')
    return 0


def _moments(run: Run) -> list[float]:
    """Times (s) of the poses: evenly over the run, the nearest one moved to the largest
    deflection."""
    moments = np.linspace(run.time[0], run.time[-1], MOMENTS)
    largest = run.time[run.deflection.argmax()]
    inner = moments[1:-1]
    inner[np.abs(inner - largest).argmin()] = largest
    return np.sort(moments).tolist()


if __name__ == '__main__':
    sys.exit(main())
