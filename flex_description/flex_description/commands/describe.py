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
"""Command `describe`: a robot as text or JSON; exit code 1 and one line for a bad robot."""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from flex_description.commands.robot_arguments import (
    robot_from_arguments,
    robot_parser,
    run_command,
)
from flex_description.commands.summary import summary
from flex_description.errors import RobotError
from flex_description.robot import Robot

DEEPEST = 20  # levels of indentation, so that long chains fit the screen


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return run_command(partial(_describe, _parser().parse_args(arguments)))


def _describe(options: argparse.Namespace) -> None:
    robot = robot_from_arguments(options)
    figures = summary(robot)
    if options.json:
        print(json.dumps(figures, indent=2), flush=True)
    else:
        print('\n'.join(_lines(figures)), flush=True)
    if options.plot is not None:
        _plot(robot, options.plot or f'{robot.name}_shapes.png')


def _parser() -> argparse.ArgumentParser:
    parser = robot_parser('describe', 'Describe a flexible robot: tree, masses, stiffness, and '
                          'the natural modes of every flexible link, in Hz.')
    parser.add_argument('--json', action='store_true', help='print JSON, for programs')
    parser.add_argument('--plot', nargs='?', const='', metavar='FILE',
                        help='draw the basis shapes of every flexible link, whose amplitudes are '
                        'coordinates; not its natural modes (default: NAME_shapes.png)')
    return parser


def _plot(robot: Robot, path: str) -> None:
    try:
        from flex_description.commands.plot import plot_shapes
    except ImportError as error:
        raise RobotError(f'--plot: expected matplotlib, found: {error}; install it') from None
    try:
        plot_shapes(robot, path)
    except (OSError, ValueError) as error:
        raise RobotError(f'expected to write the plot, found: {error}', path) from None
    print(f'basis shapes drawn in {path}', file=sys.stderr)


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    count = figures['coordinates']
    yield f'{figures["name"]} ({figures["source"]})'
    yield (f'{len(figures["links"])} links, {count["total"]} coordinates: {count["joints"]} of '
           f'joints, {count["motors"]} of motors, {count["modes"]} elastic')
    yield ''
    yield from _tree(figures)
    for joint in figures['joints']:
        if joint['flexible'] is not None:
            yield ''
            yield from _spring(joint)
        if joint['motor'] is not None:
            yield ''
            yield _motor(joint)
    for link in figures['links']:
        if link['flexible'] is not None:
            yield ''
            yield from _flexible(link)
    if any(link['flexible'] for link in figures['links']):
        yield ''
        yield ('natural frequencies of the whole robot: Model.frequencies(q) in flex_dynamics, in '
               'rad/s (divide by 2 pi for Hz)')
    for imu in figures['imus']:
        yield f'imu {imu["name"]} in {imu["frame"]}'
    for one in figures['constraints']:
        yield f'{one["kind"]} {one["name"]}: {one["type"]}, {" to ".join(one["at"])}{one["more"]}'
    for warning in figures['warnings']:
        yield f'warning: {warning}'


def _tree(figures: dict[str, Any]) -> Iterator[str]:
    """One line per link, below its parent."""
    links = {link['name']: link for link in figures['links']}
    below: dict[str, list[dict[str, Any]]] = {name: [] for name in links}
    for joint in figures['joints']:
        below[joint['parent']].append(joint)
    root = figures['links'][0]['name']
    stack: list[tuple[str, dict[str, Any] | None, int]] = [(root, None, 0)]
    while stack:
        name, joint, depth = stack.pop()
        link = links[name]
        kind = 'flexible' if link['flexible'] else 'rigid' if link['mass'] else 'no mass'
        mass = f', {link["mass"]:.4g} kg' if link['mass'] else ''
        yield f'{"  " * min(depth, DEEPEST)}{_by_joint(joint)}{name}: {kind}{mass}'
        stack += [(child['child'], child, depth + 1) for child in reversed(below[name])]


def _by_joint(joint: dict[str, Any] | None) -> str:
    if joint is None:
        return ''
    spring = ', elastic' if joint['flexible'] else ''
    follows = '' if joint['mimic'] is None else f', follows {joint["mimic"]["joint"]}'
    place = '' if joint['section_x'] is None else f' at x = {joint["section_x"]:.4g} m'
    passive = ', passive' if joint['passive'] else ''
    return f'-> {joint["name"]} ({joint["type"]}{passive}{spring}{follows}{place}) -> '


def _spring(joint: dict[str, Any]) -> Iterator[str]:
    spring, units = joint['flexible'], joint['flexible']['units']

    def figure(name: str) -> str:
        return f'{spring[name]:.6g} {units[name]}'

    yield f'{joint["name"]}: spring {figure("stiffness")}, damper {figure("damping")}'
    yield (f'  motor {figure("motor_inertia")} behind a gear of {figure("gear_ratio")}: '
           f'{figure("reflected_inertia")} at the joint')


def _motor(joint: dict[str, Any]) -> str:
    motor, units = joint['motor'], joint['motor']['units']
    return (f'{joint["name"]}: motor {motor["inertia"]:.6g} {units["inertia"]} behind a gear of '
            f'{motor["ratio"]:.6g} {units["ratio"]}: {motor["reflected_inertia"]:.6g} '
            f'{units["reflected_inertia"]} at the joint')


def _flexible(link: dict[str, Any]) -> Iterator[str]:
    beam = link['flexible']
    stiffness, shapes = beam['end_stiffness'], beam['shapes']
    yield f'{link["name"]}: beam of {beam["length"]:.6g} m, section {beam["section"]}'
    lumped = len(beam['lumped_masses'])
    yield (f'  mass {link["mass"]:.6g} kg, {lumped} lumped mass{"" if lumped == 1 else "es"} '
           f'included; carries {beam["carried_mass"]:.6g} kg')
    yield (f'  stiffness at the end: {stiffness["y"]:.4g} N/m along y, {stiffness["z"]:.4g} N/m '
           f'along z, {stiffness["twist"]:.4g} N m/rad in twist')
    yield from _fit(link['mass'], beam['fit'])
    yield (f'  basis {beam["basis"]}: {shapes["bend_y"]} bend_y, {shapes["bend_z"]} bend_z, '
           f'{shapes["twist"]} twist')
    yield '  natural modes of this link alone, clamped at its base, what it carries being rigid:'
    yield '  mode    frequency  kind    share of strain energy'
    for number, mode in enumerate(beam['modes'], 1):
        yield (f'  {number:4d}  {mode["frequency"]:8.6g} Hz  {mode["kind"]:6s}  '
               f'{100 * mode["share"]:.0f} %')
    for gauge in beam['gauges']:
        yield (f'  gauge {gauge["name"]} at x = {gauge["x"]:.4g} m, y = {gauge["y"]:.4g} m, '
               f'z = {gauge["z"]:.4g} m')


def _fit(mass: float, fit: dict[str, Any]) -> Iterator[str]:
    """What was asked for beside sections and materials, and what follows."""
    if fit['mass'] == 'keep':
        yield (f'  mass kept from <inertial>: {mass:.6g} kg, of it {fit["beam_mass"]:.4g} kg '
               f'along the beam (density x {fit["mass_factor"]:.4g}), {fit["root_mass"]:.4g} kg '
               'rigid at its root')
    if fit['stiffness']:
        y, z, twist = fit['stiffness_factors']
        yield (f'  stiffness asked for: {fit["stiffness"]} (E Iz x {y:.4g}, E Iy x {z:.4g}, '
               f'G J x {twist:.4g})')


if __name__ == '__main__':
    sys.exit(main())
