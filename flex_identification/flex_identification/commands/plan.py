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
"""`ros2 run flex_identification plan robot.urdf --parameters ...`: the motion that tells most."""
from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np

from flex_control import ControlError
from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model, model_parameters
from flex_identification.design.excitation import plan_excitation
from flex_identification.design.trajectory_files import write
from flex_identification.errors import IdentificationError
from flex_identification.prediction.parameters import ParameterSet

if TYPE_CHECKING:
    from flex_identification.prediction.fisher import FisherInformation

USUAL = ('bending_stiffness_y', 'bending_stiffness_z', 'twist_stiffness', 'damping', 'stiffness',
         'friction')


def arguments_of(name: str, description: str) -> argparse.ArgumentParser:
    """What plan and place have in common."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument('robot', help='URDF, xacro or bundled robot')
    parser.add_argument('--overlay', help='YAML that makes its links flexible')
    parser.add_argument('--parameters', nargs='+', metavar='PATH', default=[],
                        help='what is to be found, such as link1.bending_stiffness_z; left out: '
                        'stiffness, damping and friction of all links and joints')
    parser.add_argument('--duration', type=float, default=5.0, help='s, of the motion')
    parser.add_argument('--start', type=float, nargs='+', default=None,
                        help='joint positions at the start, rad or m; left out: zero')
    parser.add_argument('--criterion', choices=('D', 'A'), default='D',
                        help='D: volume of the confidence region; A: mean variance')
    parser.add_argument('--tries', type=int, default=12, help='motions that are simulated')
    parser.add_argument('--seed', type=int, default=0)
    return parser


def read(given: argparse.Namespace) -> tuple[Model, list[str], np.ndarray | None]:
    """The model, the parameters and the start that the arguments name."""
    model = Model(load_robot(given.robot, given.overlay))
    paths = given.parameters or [
        path for path, one in model_parameters(model).items()
        if path.rpartition('.')[2] in USUAL and one.value > 0.0]
    if not paths:
        raise IdentificationError(f'{model.robot.name}: no stiffness, damping or friction above '
                                  'zero; name parameters by --parameters')
    start = None
    if given.start is not None:
        if len(given.start) != model.n_joints:
            raise IdentificationError(f'--start: expected {model.n_joints} numbers '
                                      f'({", ".join(model.joint_names)}), found '
                                      f'{len(given.start)}')
        start = np.array(given.start)
    return model, list(paths), start


def show_progress(done: int, total: int, best: float) -> None:
    """One line a motion."""
    print(f'motion {done} of {total}: best value {best:.3f}', file=sys.stderr, flush=True)


def show_table(told: FisherInformation, first: FisherInformation | None = None) -> None:
    """Expected standard errors by parameter, and what cannot be told."""
    errors, relative = told.standard_errors(), told.relative_errors()
    before = first.relative_errors() if first is not None else {}
    print(f'{"parameter":36} {"standard error":>15} {"relative":>10}'
          + (f' {"first try":>10}' if before else ''))
    for path, error in errors.items():
        line = f'{path:36} {error:15.4g} {percent(relative[path]):>10}'
        print(line + (f' {percent(before[path]):>10}' if before else ''))
    for direction in told.null_directions():
        print(f'warning: {direction.text}')


def percent(share: float) -> str:
    return f'{100.0 * share:.3g} %' if np.isfinite(share) else 'of zero'


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the files, print the table; return the exit code."""
    parser = arguments_of('plan', 'Plan the motion within the limits that tells parameters best.')
    parser.add_argument('--output', default='excitation', metavar='STEM',
                        help='writes STEM.goal.yaml and STEM.params.yaml')
    given = parser.parse_args(arguments)
    try:
        model, paths, start = read(given)
        plan = plan_excitation(model, ParameterSet.of(model, paths), given.duration, start=start,
                               criterion=given.criterion, tries=given.tries, seed=given.seed,
                               progress=show_progress)
        files = write(given.output, model.joint_names, plan.motion)
    except (IdentificationError, RobotError, DynamicsError, ControlError) as error:
        print(f'plan: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        print(f'plan: {error.strerror or error}: {error.filename or ""}', file=sys.stderr)
        return 1
    show_table(plan.told, plan.first_told)
    print(f'written: {", ".join(map(str, files))}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
