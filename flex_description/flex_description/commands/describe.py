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
    parser = robot_parser('describe',
                          'Describe a flexible robot: tree, masses, stiffness, modes.')
    parser.add_argument('--json', action='store_true', help='print JSON, for programs')
    parser.add_argument('--plot', nargs='?', const='', metavar='FILE',
                        help='draw the mode shapes (default: NAME_shapes.png)')
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
    print(f'mode shapes drawn in {path}', file=sys.stderr)


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
    for link in figures['links']:
        if link['flexible'] is not None:
            yield ''
            yield from _flexible(link)
    for imu in figures['imus']:
        yield f'imu {imu["name"]} in {imu["frame"]}'
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
    place = '' if joint['section_x'] is None else f' at x = {joint["section_x"]:.4g} m'
    return f'-> {joint["name"]} ({joint["type"]}{spring}{place}) -> '


def _spring(joint: dict[str, Any]) -> Iterator[str]:
    spring, units = joint['flexible'], joint['flexible']['units']

    def figure(name: str) -> str:
        return f'{spring[name]:.6g} {units[name]}'

    yield f'{joint["name"]}: spring {figure("stiffness")}, damper {figure("damping")}'
    yield (f'  motor {figure("motor_inertia")} behind a gear of {figure("gear_ratio")}: '
           f'{figure("reflected_inertia")} at the joint')


def _flexible(link: dict[str, Any]) -> Iterator[str]:
    beam = link['flexible']
    stiffness, shapes = beam['end_stiffness'], beam['shapes']
    yield f'{link["name"]}: beam of {beam["length"]:.6g} m, section {beam["section"]}'
    yield (f'  mass {link["mass"]:.6g} kg, of it {len(beam["lumped_masses"])} lumped; '
           f'carries {beam["carried_mass"]:.6g} kg')
    yield (f'  stiffness at the end: {stiffness["y"]:.4g} N/m along y, {stiffness["z"]:.4g} N/m '
           f'along z, {stiffness["twist"]:.4g} N m/rad in twist')
    yield (f'  basis {beam["basis"]}: {shapes["bend_y"]} bend_y, {shapes["bend_z"]} bend_z, '
           f'{shapes["twist"]} twist')
    yield '  mode       Hz  kind    share of strain energy'
    for number, mode in enumerate(beam['modes'], 1):
        yield (f'  {number:4d} {mode["frequency"]:8.6g}  {mode["kind"]:6s}  '
               f'{100 * mode["share"]:.0f} %')
    for gauge in beam['gauges']:
        yield (f'  gauge {gauge["name"]} at x = {gauge["x"]:.4g}, y = {gauge["y"]:.4g}, '
               f'z = {gauge["z"]:.4g} m')


if __name__ == '__main__':
    sys.exit(main())
