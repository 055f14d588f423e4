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
"""`ros2 run flex_identification place robot.urdf --parameters ...`: where sensors tell most."""
from __future__ import annotations

import sys

from flex_control import ControlError
from flex_description import RobotError
from flex_dynamics import DynamicsError
from flex_identification.commands.plan import arguments_of, percent, read, show_progress
from flex_identification.design.excitation import plan_excitation
from flex_identification.design.sensor_places import place_sensors
from flex_identification.errors import IdentificationError
from flex_identification.prediction.parameters import ParameterSet


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the places, return the exit code."""
    parser = arguments_of('place', 'Find where gauges and IMUs tell parameters best, in a planned '
                          'motion, beside the encoders.')
    parser.add_argument('--count', type=int, default=4, help='sensors')
    parser.add_argument('--places', type=int, default=9, help='candidates along a beam')
    given = parser.parse_args(arguments)
    try:
        model, paths, start = read(given)
        plan = plan_excitation(model, ParameterSet.of(model, paths), given.duration, start=start,
                               criterion=given.criterion, tries=given.tries, seed=given.seed,
                               progress=show_progress)
        alone, found = place_sensors(
            model, paths, plan.motion, given.count, places=given.places,
            criterion=given.criterion, progress=lambda done, total, name: print(
                f'sensor {done} of {total}: {name}', file=sys.stderr, flush=True))
    except (IdentificationError, RobotError, DynamicsError, ControlError) as error:
        print(f'place: {error}', file=sys.stderr)
        return 1
    rows = [('encoders alone', alone), *((f'+ {one.name}', one.told) for one in found)]
    width = max(len(name) for name, _ in rows)
    print(f'{"relative standard errors":{width}} ' + ' '.join(f'{path:>28}' for path in paths))
    for name, told in rows:
        errors = told.relative_errors()
        print(f'{name:{width}} ' + ' '.join(f'{percent(errors[path]):>28}' for path in paths))
    return 0


if __name__ == '__main__':
    sys.exit(main())
