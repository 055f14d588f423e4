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
"""Command `lump`: a flexible robot as rigid segments on springs, in URDF, SDF or MJCF."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from flex_description.commands.robot_arguments import (
    robot_from_arguments,
    robot_parser,
    run_command,
)
from flex_description.errors import RobotError
from flex_description.lumping import (
    LinkAccuracy,
    LumpedRobot,
    lump,
    lumping_accuracy,
    mjcf_text,
    sdf_text,
    urdf_text,
)
from flex_description.lumping.mjcf import mjcf_notes, time_step
from flex_description.lumping.sdf import sdf_notes
from flex_description.lumping.urdf import urdf_notes

ENDINGS = {'urdf': 'urdf', 'sdf': 'sdf', 'mjcf': 'xml'}
NOTES = {'urdf': urdf_notes, 'sdf': sdf_notes, 'mjcf': mjcf_notes}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(partial(_lump, _parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = robot_parser('lump', 'Export a flexible robot as rigid segments on springs. Prints '
                                  'the errors of its first frequencies and of its static tip.')
    parser.add_argument('--segments', type=int, default=8, metavar='N',
                        help='elements of each beam (default: 8)')
    parser.add_argument('--format', choices=tuple(ENDINGS), default='urdf',
                        help='format of the file (default: urdf)')
    parser.add_argument('--output', metavar='FILE',
                        help='file to write (default: NAME_lumped.urdf, .sdf or .xml); '
                             '- writes to the standard output and reports on the standard error')
    return parser


def _lump(options: argparse.Namespace) -> None:
    robot = robot_from_arguments(options)
    lumped = lump(robot, options.segments)
    accuracy = lumping_accuracy(lumped)
    highest = max((each.highest for each in accuracy), default=0.0)
    writers: dict[str, Callable[[LumpedRobot], str]] = {
        'urdf': urdf_text, 'sdf': sdf_text, 'mjcf': partial(mjcf_text, highest=highest)}
    text = writers[options.format](lumped)
    to_output = options.output == '-'
    path = options.output or f'{_file_name(robot.name)}_lumped.{ENDINGS[options.format]}'
    if to_output:
        print(text, end='', flush=True)
    else:
        try:
            Path(path).write_text(text, encoding='utf-8')
        except OSError as error:
            raise RobotError(f'expected to write the file, found: {error.strerror}',
                             path) from None
    report = [*_lines(lumped, accuracy), *(f'note: {note}' for note in (
        *lumped.notes, *NOTES[options.format](lumped))),
        *(f'warning: {warning}' for warning in robot.warnings)]
    if not to_output:
        report.append(f'written to {path}')
    print('\n'.join(report), file=sys.stderr if to_output else sys.stdout, flush=True)


def _file_name(name: str) -> str:
    """The robot's name without what a file name cannot have."""
    return ''.join(letter if letter.isalnum() or letter in '-_.' else '_' for letter in name)


def _lines(lumped: LumpedRobot, accuracy: Sequence[LinkAccuracy]) -> Iterator[str]:
    driven = sum(freedom.driven for body in lumped.bodies for freedom in body.freedoms)
    yield (f'{lumped.robot.name}: {len(lumped.bodies)} bodies, {driven} joints, '
           f'{len(lumped.springs)} springs')
    for link in accuracy:
        yield ''
        yield (f'{link.link}, clamped at its root, with what it carries: {lumped.segments} '
               'segments and the beam')
        yield '  mode  kind     segments, Hz      beam, Hz     error'
        for number, (mode, found, error) in enumerate(zip(
                link.modes, link.frequencies, link.frequency_errors), 1):
            yield (f'  {number:4d}  {mode.kind:6s} {found:14.6g} {mode.frequency:13.6g} '
                   f'{100 * error:+8.2f} %')
        yield '  static tip, 9.81 m/s2 across the beam'
        for axis, found, exact, error in zip('yz', link.tip, link.beam_tip, link.tip_errors):
            if exact:
                yield (f'        along {axis} {1e3 * found:11.6g} mm {1e3 * exact:10.6g} mm '
                       f'{100 * error:+8.2f} %')
    if accuracy:
        highest = max(link.highest for link in accuracy)
        yield ''
        yield (f'highest frequency of the segments: {highest:.4g} Hz; an explicit integrator '
               f'needs steps of {time_step(highest):g} s or less')
        worst = max(float(np.abs(link.frequency_errors[:2]).max()) for link in accuracy)
        if worst > 0.02:
            yield (f'the first two frequencies are up to {100 * worst:.1f} % off: take more '
                   'segments')


if __name__ == '__main__':
    sys.exit(main())
