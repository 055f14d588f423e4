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
"""`ros2 run flex_identification identify run.bag robot.urdf`: parameters from recorded data."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_identification.data.read import read_recording
from flex_identification.errors import IdentificationError
from flex_identification.fit.identify import Identification, identify
from flex_identification.fit.settings import FitSettings, read_settings
from flex_identification.report.page import write_page
from flex_identification.report.results import overlay_text, result_dictionary, write_json


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, fit, write the files, return the exit code."""
    parser = argparse.ArgumentParser(
        prog='identify', description='Find stiffness, damping, friction and more of a robot from '
        'recordings. Writes an overlay that load_robot takes, a JSON file and an HTML page.')
    parser.add_argument('recordings', nargs='+', help='rosbag2, CSV, NPZ or MAT, one or more')
    parser.add_argument('robot', help='URDF, xacro or bundled robot: the first guess')
    parser.add_argument('--overlay', help='YAML that makes its links flexible')
    parser.add_argument('--mapping', help='YAML: which column is which channel')
    parser.add_argument('--parameters', nargs='+', metavar='PATH', help='what to fit, such as '
                        'link1.bending_stiffness_z (default: stiffness, damping, friction, biases '
                        'of gauges, a delay)')
    parser.add_argument('--settings', help='YAML: parameters, priors, bounds, ties, step, '
                        'withhold')
    parser.add_argument('-o', '--output', default='identified', metavar='NAME',
                        help='NAME.yaml, NAME.json and NAME.html are written (default: '
                        'identified)')
    parser.add_argument('--force', action='store_true', help='overwrite these files')
    parser.add_argument('--quiet', action='store_true', help='no progress')
    given = parser.parse_args(arguments)
    try:
        files = [Path(f'{given.output}{suffix}') for suffix in ('.yaml', '.json', '.html')]
        _refuse_existing(files, given.force)
        settings = read_settings(given.settings) if given.settings else FitSettings()
        model = Model(load_robot(given.robot, given.overlay))
        runs = [read_recording(path, given.mapping) for path in given.recordings]
        found = identify(model, runs, given.parameters or settings.parameters or None,
                         priors=settings.priors, bounds=settings.bounds, ties=settings.ties,
                         hold=settings.effort, step=settings.step, withhold=settings.withhold,
                         progress=None if given.quiet else _progress)
        files[0].write_text(overlay_text(found, given.robot, given.recordings), encoding='utf-8')
        write_json(result_dictionary(found, given.robot, given.recordings), files[1])
        write_page(found, given.robot, given.recordings, files[2])
    except (IdentificationError, RobotError, DynamicsError) as error:
        print(f'identify: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        print(f'identify: {error.strerror or error}: {error.filename or ""}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('identify: stopped; nothing was written', file=sys.stderr)
        return 130
    _print(found)
    print('written: ' + ', '.join(str(path) for path in files))
    return 0


def _refuse_existing(files: list[Path], force: bool) -> None:
    for path in files:
        if path.exists() and not force:
            raise IdentificationError(f'{path}: expected no such file, found one; --force '
                                      'overwrites it, -o NAME writes elsewhere')
        if not path.parent.is_dir():
            raise IdentificationError(f'{path.parent}: expected a folder to write to, found none')


def _progress(text: str) -> None:
    print(f'  {text}', file=sys.stderr, flush=True)


def _print(found: Identification) -> None:
    print(f'{"parameter":36} {"given":>12} {"found":>12} {"95 % interval":>27}  unit')
    for one in found.parameters:
        if one.status == 'not told':
            print(f'{one.path:36} {one.given:12.5g} {"not told":>12} {"":27}  {one.unit}')
        else:
            interval = f'{one.low:.5g} to {one.high:.5g}'
            note = '' if one.status == 'fitted' else f'  ({one.status})'
            print(f'{one.path:36} {one.given:12.5g} {one.value:12.5g} {interval:>27}  '
                  f'{one.unit}{note}')
    for direction in found.directions:
        print(f'cannot be told: {direction.text}')
    for warning in found.warnings:
        print(f'warning: {warning}')



if __name__ == '__main__':
    sys.exit(main())
