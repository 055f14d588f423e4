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
"""Command `suggest`: a commented overlay to start from, for a URDF that knows no flexible link."""
from __future__ import annotations

import argparse
import json
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import yaml

from flex_description.commands.long_links import LONG, WALL, Estimate, Survey, survey
from flex_description.commands.robot_arguments import (
    robot_from_arguments,
    robot_parser,
    run_command,
    xacro_arguments,
)
from flex_description.errors import RobotError, cut, one_line
from flex_description.fit.stiffness import end_stiffness
from flex_description.link_modes import LinkMode, link_modes, loads_of
from flex_description.load import load_robot
from flex_description.materials import MATERIALS
from flex_description.math import Array
from flex_description.robot import Robot

MATERIAL = 'aluminium'
DAMPING = 0.01
COLUMNS = 96            # of comments
SHOWN = 3               # natural frequencies
PLAIN_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_./-]*')
RESERVED = {'true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(partial(_suggest, _parser().parse_args(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = robot_parser('suggest', 'Write a commented overlay to start from: long links with a '
                          'beam each, and the natural frequencies that follow.', overlay=False)
    parser.add_argument('-o', '--output', metavar='FILE',
                        help='YAML file to write (default: standard output)')
    parser.add_argument('--force', action='store_true', help='overwrite FILE if it exists')
    return parser


def _suggest(options: argparse.Namespace) -> None:
    output = None if options.output is None else Path(options.output)
    if output is not None and output.exists() and not options.force:
        raise RobotError('expected a file that does not exist yet, found one; --force overwrites '
                         'it', str(output))
    logger = logging.getLogger('flex_description')
    # Warnings are those of overlays on trial; `describe` shows what is left of them.
    before, logger.disabled = logger.disabled, True
    try:
        found = survey(robot := robot_from_arguments(options))
        text = overlay_text(options.robot, robot, found, xacro_arguments(options))
    finally:
        logger.disabled = before
    if not found.found:
        print(_nothing(found), file=sys.stderr)
    if output is None:
        print(text, end='', flush=True)
        return
    try:
        with output.open('w' if options.force else 'x', encoding='utf-8') as file:
            file.write(text)
    except FileExistsError:
        raise RobotError('expected a file that does not exist yet, found one; --force overwrites '
                         'it', str(output)) from None
    except (OSError, ValueError) as error:
        raise RobotError(f'expected to write the overlay, found: {error}', str(output)) from None
    links = '1 flexible link' if len(found.found) == 1 else f'{len(found.found)} flexible links'
    print(f'overlay with {links} written to {output}', file=sys.stderr)


def overlay_text(source: str, robot: Robot, found: Survey, arguments: dict[str, str]) -> str:
    """The overlay as YAML with comments; it loads with the robot of `source`."""
    masses = {estimate.link: _mass_rule(source, robot, estimate, arguments)
              for estimate in found.found}
    bare = '\n'.join(line for estimate in found.found
                     for line in _entry(estimate, masses[estimate.link]))
    bent = load_robot(source, _mapping(bare), arguments) if bare else robot
    lines = [*_comment(f'Overlay for the robot {cut(robot.name)}, written by `suggest`: a start. '
                       'Sections and walls are estimates, the material is a guess: correct what '
                       'you know. Units are SI, frequencies Hz.'),
             *_comment('See what it says: ros2 run flex_description describe ROBOT THIS_FILE')]
    if not found.found:
        return '\n'.join([*lines, *_comment(_nothing(found)), *_remarks(found)]) + '\n'
    lines.append('flexible:')
    for estimate in found.found:
        lines += [*_comment(*estimate.notes, indent=2),
                  *_entry(estimate, masses[estimate.link], commented=True),
                  *_consequences(bent, estimate.link)]
    return '\n'.join([*lines, *_remarks(found)]) + '\n'


def _mapping(body: str) -> dict[str, object]:
    """The entries of links as the mapping that an overlay file has."""
    mapping: dict[str, object] = yaml.safe_load(f'flexible:\n{body}')
    return mapping


def _mass_rule(source: str, robot: Robot, estimate: Estimate,
               arguments: dict[str, str]) -> tuple[str, str]:
    """Value of `mass`, and its comment."""
    inertia = next(link.inertia for link in robot.links if link.name == estimate.link)
    if inertia is None:
        return 'beam', 'the link has no <inertial>: its mass is that of the beam'
    try:
        load_robot(source, _mapping('\n'.join(_entry(estimate, ('keep', '')))), arguments)
    except RobotError:
        return 'beam', (f'<inertial> ({inertia.mass:.4g} kg) is that of a point or a rod, of '
                        'which no beam is a part')
    return 'keep', f'{inertia.mass:.4g} kg, centre and inertia stay those of <inertial>'


def _entry(estimate: Estimate, mass: tuple[str, str], commented: bool = False) -> Iterator[str]:
    """The lines of one link."""
    def line(text: str, comment: str) -> str:
        return f'{text}   # {comment}' if commented else text

    place, note = _place(estimate)
    shape, sizes = _section(estimate)
    yield f'  {_name(estimate.link)}:'
    yield line(f'    mass: {mass[0]}', mass[1])
    yield '    beam:'
    yield line(f'      {place}', note)
    if not estimate.along:
        yield line(f'      origin: {{xyz: {_row(estimate.start)}, rpy: {_row(estimate.rpy)}}}',
                   'm, rad')
    yield line(f'      section: {{shape: {shape}, {sizes}}}',
               f'm, wall guessed: {100 * WALL:.0f} %')
    others = ', '.join(name for name in sorted(MATERIALS) if name != MATERIAL)
    yield line(f'      material: {MATERIAL}', f'or {others}; or E and G in Pa, density in kg/m3')
    yield line(f'    damping: {DAMPING}', 'ratio, of all modes')


def _place(estimate: Estimate) -> tuple[str, str]:
    joint = one_line(cut(estimate.joint.name))
    if estimate.along:
        return f'to: {_name(estimate.joint.name)}', f'{estimate.length:.4g} m'
    return f'length: {estimate.length:.4f}', f'm, as far as joint {joint}'


def _section(estimate: Estimate) -> tuple[str, str]:
    wall = WALL * min(estimate.width, estimate.height)
    if estimate.round:
        radius = 0.25 * (estimate.width + estimate.height)
        return 'hollow_circle', (f'outer_radius: {radius:.3g}, '
                                 f'inner_radius: {radius - wall:.3g}')
    return 'hollow_rectangle', (f'width: {estimate.width:.3g}, height: {estimate.height:.3g}, '
                                f'thickness: {wall:.2g}')


def _consequences(robot: Robot, name: str) -> Iterator[str]:
    """What follows for a link of the robot with the overlay, as comments."""
    link = next(link.flexible for link in robot.links if link.name == name)
    assert link is not None
    y, z, twist = end_stiffness(link)
    carried = loads_of(robot)[name]
    first = link_modes(link, carried)[0].frequency
    yield from _comment('If you know the stiffness, take out the # of one line (the first two say '
                        'what it is now):', indent=4)
    yield (f'    # stiffness: {{tip: [{y:.3g}, {z:.3g}], twist: {twist:.3g}}}   '
           '# N/m along y, z; N m/rad')
    yield (f'    # stiffness: {{frequency: {first:.3g}, carried: included}}   '
           '# Hz, of the first mode')
    yield '    # stiffness: {load: 100, deflection: 0.001}   # N at the end, m there'
    yield from _comment('Natural frequencies, clamped at the root, at the zero pose:', indent=4)
    yield from _comment(f'with the {sum(load.mass for load in carried):.4g} kg that it carries: '
                        f'{_frequencies(link_modes(link, carried))}',
                        f'alone: {_frequencies(link_modes(link))}', indent=6)
    for warning in robot.warnings:
        if f'link="{name}"' in warning:
            yield from _comment(f'warning: {warning.split(">: ", 1)[-1]}', indent=4)


def _frequencies(modes: list[LinkMode]) -> str:
    return ', '.join(f'{mode.frequency:.4g} Hz ({mode.kind})' for mode in modes[:SHOWN])


def _nothing(found: Survey) -> str:
    return (f'no long link found: none of {LONG:.0%} of the reach of {found.reach:.3g} m or '
            f'more, and slender; the longest way between two joints of a link is '
            f'{found.longest:.3g} m')


def _remarks(found: Survey) -> Iterator[str]:
    if found.others:
        yield from _comment('Long, but not taken:', *found.others)


def _name(text: str) -> str:
    """A name as YAML."""
    if PLAIN_NAME.fullmatch(text) and text.lower() not in RESERVED:
        return text
    return json.dumps(text, ensure_ascii=False)


def _row(values: Array) -> str:
    return '[' + ', '.join(f'{float(value) + 0.0:.4f}' for value in values) + ']'


def _comment(*texts: str, indent: int = 0) -> Iterator[str]:
    """Lines of comment of bounded width."""
    for text in texts:
        line = ' ' * indent + '#'
        for word in one_line(text).split():
            if len(line) + 1 + len(word) > COLUMNS and len(line) > indent + 1:
                yield line
                line = ' ' * indent + '#'
            line += f' {word}'
        yield line


if __name__ == '__main__':
    sys.exit(main())
