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
"""`ros2 run flex_identification inspect run.bag [robot.urdf]`: what a recording has in it."""
from __future__ import annotations

import argparse
import sys

import numpy as np

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_identification.data.channels import KINDS, split
from flex_identification.data.plausibility import refuse_implausible
from flex_identification.data.read import read_recording
from flex_identification.errors import IdentificationError


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the table, return the exit code."""
    parser = argparse.ArgumentParser(prog='inspect', description='Read a recording and print its '
                                     'channels, and what is wrong with them.')
    parser.add_argument('recording', help='rosbag2, CSV, NPZ or MAT')
    parser.add_argument('robot', nargs='?', help='URDF, xacro or bundled robot to compare with')
    parser.add_argument('--overlay', help='YAML that makes its links flexible')
    parser.add_argument('--mapping', help='YAML: which column is which channel')
    given = parser.parse_args(arguments)
    try:
        run = read_recording(given.recording, given.mapping)
        warnings = list(run.warnings)
        if given.robot:
            warnings += refuse_implausible(run, Model(load_robot(given.robot, given.overlay)))
    except (IdentificationError, RobotError, DynamicsError) as error:
        print(f'inspect: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        print(f'inspect: {error.strerror or error}: {error.filename or ""}', file=sys.stderr)
        return 1
    print(f'{run.name}: {len(run.time)} samples, {run.time[-1]:.3f} s, one in '
          f'{1e3 * run.period:.3f} ms, {len(run.segments())} stretches without a gap')
    print(f'{"channel":32} {"least":>12} {"most":>12} {"missing":>8}  unit')
    for name, values in run.channels.items():
        print(f'{name:32} {np.nanmin(values):12.5g} {np.nanmax(values):12.5g} '
              f'{int(np.isnan(values).sum()):8d}  {KINDS[split(name)[0]].unit}')
    for warning in warnings:
        print(f'warning: {warning}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
