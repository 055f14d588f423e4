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
"""Stiffness, damping and friction of a running simulator: `model.link2.bending_stiffness_y`.

Mode shapes and their integrals are those of the start. A changed model is always made from the
described one, so that values which are set back give the first model again, to the last bit.
"""
from __future__ import annotations

from typing import Any

from rclpy.node import Node

from flex_dynamics import DynamicsError, Model, model_parameters, with_parameters
from flex_dynamics.model.parameters import ModelParameter
from flex_dynamics.simulation.plant import Plant
from flex_ros.message_guard import CALCULATION_ERRORS, shortened
from flex_ros.parameters import LiveParameters, NodeError, numbers

PREFIX = 'model.'
STIFFNESSES = {
    'bending_stiffness_y': 'E Iy of the beam, at its root',
    'bending_stiffness_z': 'E Iz of the beam, at its root',
    'twist_stiffness': 'G J of the beam, at its root',
    'stiffness': 'of the elastic joint',
}
LOSSES = {
    'damping': 'of the joint or of its spring; of a link the damping ratio of its first mode',
    'friction': 'Coulomb friction of the joint',
}
SOFTEST, STIFFEST = 1e-4, 1e6       # in described stiffnesses
MOST_RATIO = 10.0                   # of modal damping
MOST_LOSS = 1e9                     # N m s/rad or N m (prismatic: N s/m or N)


class PhysicalParameters:
    """The parameters of a node that change the model of its plant; `model` is what they say."""

    def __init__(self, node: Node, described: Model, live: LiveParameters) -> None:
        self._node, self._described = node, described
        self._plant: Plant | None = None
        self._known = {PREFIX + path: one for path, one in model_parameters(described).items()
                       if _changeable(path, one)}
        self._bounds = {name: _bounds(one) for name, one in self._known.items()}
        self._values = {name: one.value for name, one in self._known.items()}
        given = live.group({name: (one.value, self._description(name))
                            for name, one in self._known.items()},
                           self._check, self._apply, lambda _: None)
        self._values, self.model = self._check(
            {name: value for name, value in given.items() if value != self._values[name]})
        if text := self.text:
            node.get_logger().info(f'the model differs from the description: {text}')

    @property
    def text(self) -> str:
        """What differs from the description; empty: nothing."""
        return ', '.join(
            f'{one.path} {self._values[name]:.6g} (described: {one.value:.6g})'
            for name, one in self._known.items() if self._values[name] != one.value)

    def drive(self, plant: Plant) -> None:
        """Change the model of this plant from now on."""
        self._plant = plant

    def _description(self, name: str) -> str:
        one, (lower, upper) = self._known[name], self._bounds[name]
        what = one.path.rpartition('.')[2]
        return (f'{STIFFNESSES.get(what) or LOSSES[what]}, {one.unit or "no unit"}; {lower:g} to '
                f'{upper:g}; may be set while the robot moves')

    def _check(self, changes: dict[str, Any]) -> tuple[dict[str, float], Model]:
        """All values after the change, and the model that has them; NodeError if it cannot be."""
        values = dict(self._values)
        for name, value in changes.items():
            vector = numbers(name, value, *self._bounds[name])
            if vector.size != 1:
                raise NodeError(f'parameter {name}: expected a number, found {value!r}')
            values[name] = float(vector[0])
        changed = {one.path: values[name] for name, one in self._known.items()
                   if values[name] != one.value}
        try:
            model = with_parameters(self._described, changed)
            if self._plant is not None:
                model = _carrying(model, self._plant.model)
        except (DynamicsError, *CALCULATION_ERRORS) as error:
            raise NodeError(shortened(str(error))) from None
        return values, model

    def _apply(self, checked: tuple[dict[str, float], Model]) -> None:
        values, model = checked
        changes = [f'{self._known[name].path} {before:.6g} -> {values[name]:.6g}'
                   for name, before in self._values.items() if values[name] != before]
        if not changes or self._plant is None:
            return                   # the motion goes on as it would have, to the last bit
        self._values = values
        self._plant.change_model(model)
        self._node.get_logger().info(f'model changed: {", ".join(changes)}')


def _changeable(path: str, one: ModelParameter) -> bool:
    owner, _, what = path.rpartition('.')
    return bool(owner) and (what in STIFFNESSES or what in LOSSES)


def _bounds(one: ModelParameter) -> tuple[float, float]:
    if one.path.rpartition('.')[2] in STIFFNESSES:
        return SOFTEST * one.value, STIFFEST * one.value
    return 0.0, MOST_LOSS if one.unit else MOST_RATIO


def _carrying(model: Model, other: Model) -> Model:
    """model with the payloads and supports of another model of the same robot."""
    for name, payload in other.payloads.items():
        body = payload.inertia
        model = model.with_payload(name, payload.frame, body.mass, body.centre, body.tensor,
                                   payload.x)
    return model.with_supports_of(other.robot.supports) if other.robot.supports else model
