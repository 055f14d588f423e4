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
"""Command: the equations of motion of a robot, as text, LaTeX, C, Python or JSON."""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

from flex_description import Robot, RobotError
from flex_description.commands import robot_from_arguments as given_robot
from flex_description.commands import robot_parser
from flex_description.commands import run_command as finished
from flex_dynamics.errors import DynamicsError
from flex_dynamics.symbolic.derive import METHODS, MOST_OPERATIONS, ORDERS, derive
from flex_dynamics.symbolic.equations import FORMATS, SIMPLIFIED_FORMATS, Equations
from flex_dynamics.symbolic.hamel import derive_hamel
from flex_dynamics.symbolic.hamel_equations import HamelEquations
from flex_dynamics.symbolic.zero_dynamics import zero_dynamics


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 1, with one line, for what cannot be done."""
    return finished(partial(_derive, _parser().parse_args(arguments)),
                    (RobotError, DynamicsError))


def _derive(options: argparse.Namespace) -> None:
    if options.simplify is not None and options.format not in SIMPLIFIED_FORMATS:
        raise DynamicsError(f"--simplify: expected --format {' or '.join(SIMPLIFIED_FORMATS)}, "
                            f'found {options.format}: exported code calculates what is repeated '
                            'once, and needs no simplification')
    robot = given_robot(options)
    if options.method == 'hamel' or options.method is None and robot.constraints:
        text = _hamel(robot, options)
    else:
        text = _tree(robot, options)
    if options.output is None:
        print(text, flush=True)
    else:
        _write(options.output, text)


def _tree(robot: Robot, options: argparse.Namespace) -> str:
    if options.pseudo is not None:
        raise DynamicsError('--pseudo: expected --method hamel, or a robot with loops, wheels or '
                            'supports: other methods have the speeds of the coordinates')
    equations = derive(robot, options.method or 'lagrange', options.modes, options.order,
                       most_operations=options.most_operations, progress=_Progress(),
                       symbols=options.symbols)
    print(_size(equations), file=sys.stderr)
    if options.zeros:
        _say_zeros(equations, options.pose)
    return (equations.text(options.format) if options.simplify is None else
            equations.simplified_text(equations.simplify(options.simplify), options.format))


def _hamel(robot: Robot, options: argparse.Namespace) -> str:
    for name in ('simplify', 'zeros'):
        if getattr(options, name) not in (None, False):
            raise DynamicsError(f'--{name}: expected a method other than hamel, which has its '
                                'elements in harmonic form already, and no zeros')
    equations = derive_hamel(robot, options.pseudo, options.modes, options.order, options.pose,
                             options.most_operations, _Progress(), options.symbols)
    print(f'{_size(equations)}\nfree speeds: {", ".join(equations.pseudo_names) or "none"}; '
          f'constraints: {", ".join(equations.constraint_names) or "none"}', file=sys.stderr)
    return equations.text(options.format)


def _parser() -> argparse.ArgumentParser:
    parser = robot_parser('derive', 'Derive the symbolic equations of motion of a robot.')
    parser.add_argument('--method', choices=[*METHODS, 'hamel'],
                        help='lagrange: any tree; dual_screw: any tree, linear in the '
                        'deflections; elastic_joint: rigid links; hamel: loops, wheels and '
                        'supports, in pseudo-velocities (default: lagrange, and hamel for a robot '
                        'with constraints)')
    parser.add_argument('--order', choices=sorted({o for names in ORDERS.values() for o in names}),
                        help='of the deflections; lagrange: first (default) or second')
    parser.add_argument('--format', choices=FORMATS, default='text', help='default: %(default)s')
    parser.add_argument('--modes', type=int, metavar='N',
                        help='keep at most N mode shapes of each kind (default: all); the length '
                        'of the equations grows with the cube of the number of shapes')
    parser.add_argument('--symbols', action='store_true',
                        help='masses, lengths and stiffnesses as symbols (m_LINK, L_LINK, '
                        'EIz_LINK ...) instead of numbers; method lagrange')
    parser.add_argument('--simplify', type=float, metavar='SECONDS',
                        help='simplify the elements for this time; with --format text, latex or '
                        'json')
    parser.add_argument('--zeros', action='store_true',
                        help='say the zeros of joints and tip, and whether they are stable')
    parser.add_argument('--pose', type=float, nargs='+', metavar='Q',
                        help='joint positions for --zeros, or near which method hamel chooses its '
                        'speeds, rad or m (default: zeros)')
    parser.add_argument('--pseudo', nargs='+', metavar='NAME',
                        help='free speeds of method hamel: a coordinate for its rate, or FRAME:vx '
                        '... FRAME:wz for the velocity of a frame in its own axes (default: '
                        'chosen by the program)')
    parser.add_argument('--output', metavar='FILE', help='write there instead of printing')
    parser.add_argument('--most-operations', type=int, default=MOST_OPERATIONS, metavar='N',
                        help='refuse longer equations (default: %(default)s)')
    return parser


class _Progress:
    """Stages on the error stream: a line that is rewritten, or a line a stage in a file."""

    def __init__(self) -> None:
        self._stage, self._shown = '', 0.0

    def __call__(self, stage: str, fraction: float) -> None:
        live = sys.stderr.isatty()
        if stage == self._stage and (not live or time.monotonic() < self._shown + 0.2):
            return
        self._stage, self._shown = stage, time.monotonic()
        if live:
            print(f'\r{stage:8s} {100 * fraction:3.0f} %', end='\n' if stage == 'done' else '',
                  file=sys.stderr, flush=True)
        else:
            print(stage, file=sys.stderr, flush=True)


def _say_zeros(equations: Equations, pose: list[float] | None) -> None:
    for output in ('joints', 'tip'):
        try:
            print(zero_dynamics(equations.model, output, pose), file=sys.stderr)
        except DynamicsError as error:      # the equations are wanted all the same
            print(f'no zeros of the {output}: {error}', file=sys.stderr)


def _size(equations: Equations | HamelEquations) -> str:
    """How large the equations are and, if there are smaller ones, how to get them."""
    beams = [link.flexible for link in equations.model.robot.links if link.flexible is not None]
    fewer = equations.n - sum(max(shapes.count - 1, 0) for beam in beams
                              for shapes in (beam.bend_y, beam.bend_z, beam.twist))
    size = (f'{equations.n} coordinates, {equations.operations} operations, derived in '
            f'{equations.seconds:.2f} s')
    if fewer == equations.n:
        return size
    return (f'{size}\nshorter: --modes N keeps at most N mode shapes of each kind (--modes 1: '
            f'{fewer} coordinates)')


def _write(path: str, text: str) -> None:
    try:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text + '\n')
    except OSError as error:
        raise DynamicsError(f'{path}: expected to write the equations there, found: '
                            f'{error.strerror}') from None


if __name__ == '__main__':
    sys.exit(main())
