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
"""Errors of control, each a sentence that says what was expected and what was found."""
from flex_dynamics import Model


class ControlError(ValueError):
    """A controller or trajectory that cannot be: unknown name, bad parameter, bad points."""


def refuse_constraints(model: Model, what: str) -> None:
    """ControlError if a robot has loops, wheels, supports or joints without motor, for which
    `what` has no equations."""
    for joint in model.robot.joints:
        if joint.passive:
            raise ControlError(f'{what}: expected a motor on every joint, found joint '
                               f'{joint.name!r} of robot {model.robot.name} without one '
                               '(<passive_joint>)')
    if model.robot.constraints:
        one = model.robot.constraints[0]
        raise ControlError(f'{what}: expected a tree of links, found {type(one).__name__.lower()} '
                           f'{one.name!r} of robot {model.robot.name}; its equations have no '
                           'loops, wheels and supports: use pd, pid, computed_torque, lqr or lqg')
