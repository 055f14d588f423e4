"""`ros2 run flex_viz plot BAG`: the report of a recorded run, as that of `make sim`."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from flex_viz.report.animation import animate
from flex_viz.report.bag import read_run
from flex_viz.report.page import write_report
from flex_viz.report.run import RunError, table

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
    parser.add_argument('--exaggeration', type=float, default=4.0,
                        help='factor of the deflection in the second strip of poses (default 4)')
    parser.add_argument('--animation', type=Path, help='also write an animation to this GIF file')
    given = parser.parse_args(arguments)
    if not 0.0 <= given.exaggeration <= 1e3:
        parser.error(f'--exaggeration: expected 0 to 1000, found {given.exaggeration}')
    try:
        run = read_run(given.bag, given.robot, given.overlay, given.order, given.tool)
        moments = np.linspace(run.time[0], run.time[-1], MOMENTS).tolist()
        folder = given.output or given.bag.with_name(f'{given.bag.name}_report')
        files = write_report(folder, run, moments, given.exaggeration)
        if given.animation is not None:
            animate(given.animation, run)
            files.append(given.animation)
    except (RunError, OSError) as error:
        print(f'plot: {error}', file=sys.stderr)
        return 1
    print(f'{table(run)}\n\n{", ".join(map(str, files))}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
