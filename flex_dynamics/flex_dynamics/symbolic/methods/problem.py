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
"""A robot as a derivation sees it: nodes with numbers, coordinates as symbols.

Coordinates are those of the Model, in its order: q1 ... qn, and speeds v1 ... vn.
"""
from __future__ import annotations

import numpy as np

from flex_dynamics.kernels.base import layout
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.expressions.tape import Scalar, Tape
from flex_dynamics.symbolic.expressions.vectors import clean, exponential, scalars, turn_about
from flex_dynamics.symbolic.methods.bodies import Body
from flex_dynamics.symbolic.methods.named_parameters import NamedParameters


class Problem:
    """The robot of a model on a tape: symbols q and v (n,), and its bodies in tree order.

    named: masses, lengths and stiffnesses are symbols, too, in `parameters`, which is else None.
    """

    def __init__(self, model: Model, tape: Tape, named: bool = False) -> None:
        self.model, self.tape = model, tape
        n = model.n
        self.n, self.names = n, model.names
        self.parameters = NamedParameters(tape) if named else None
        self.gravity = clean(model.gravity)
        if self.parameters is not None:
            self.gravity = self.parameters.gravity(self.gravity)
        self.q = [tape.symbol(f'q{k + 1}') for k in range(n)]
        self.v = [tape.symbol(f'v{k + 1}') for k in range(n)]
        self.first_elastic = model.assembly.packed.first_elastic
        self.bodies = [self._body(i) for i in range(len(model.assembly.tree.nodes))]

    def _body(self, i: int) -> Body:
        packed, node = self.model.assembly.packed, self.model.assembly.tree.nodes[i]
        row, numbers = packed.table[i], packed.body[i]
        beam = node.parent if node.kind == layout.ON_BEAM else i
        start, modes = packed.table[beam, layout.ELASTIC], packed.table[beam, layout.MODES]
        motor = int(row[layout.MOTOR])
        return Body(
            i, node.name, node.parent, node.kind,
            tuple(range(row[layout.Q], row[layout.Q] + row[layout.DOF])),
            motor if motor >= 0 else None, tuple(range(start, start + modes)),
            clean(node.pose[:3, :3]), clean(node.pose[:3, 3]), clean(node.axis),
            clean(node.point), clean(numbers[layout.PLANE:layout.PLANE + 6]).reshape(2, 3),
            node.mass, clean(node.moment), clean(node.inertia), float(numbers[layout.ROTOR]),
            clean(numbers[layout.ROTOR_AXIS:layout.ROTOR_AXIS + 3]), packed.fields.get(beam),
            node.section_x)

    def joint_motion(self, body: Body) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """R (3, 3) and p (3,) of a node in its parent, and the screws (6,) of its coordinates in
        its own axes, [angular; linear] at its origin."""
        tape, R0 = self.tape, body.rotation.astype(object)
        p = (body.position.astype(object) if self.parameters is None
             else self.parameters.position(body))
        q = [self.q[k] for k in body.coordinates]
        if body.kind == layout.REVOLUTE:
            R = R0 @ turn_about(tape, body.axis, q[0])
            p = p + R0 @ body.point - R @ body.point
            return R, p, [np.concatenate((body.axis, np.cross(body.axis, -body.point)))]
        if body.kind == layout.PRISMATIC:
            p = p + q[0] * clean(body.rotation @ body.axis)
            return R0, p, [np.concatenate((np.zeros(3), body.axis))]
        if body.kind == layout.PLANAR:
            turn = turn_about(tape, body.axis, q[2])
            p = p + q[0] * (R0 @ body.plane[0]) + q[1] * (R0 @ body.plane[1])
            screws = [_linear(turn.T @ body.plane[k]) for k in range(2)]
            return R0 @ turn, p, [*screws, np.concatenate((body.axis, np.zeros(3)))]
        if body.kind == layout.FLOATING:
            turn, jacobian = exponential(tape, q[3:])
            for k in range(3):
                p = p + q[k] * R0[:, k]
            screws = [_linear(turn.T[:, k]) for k in range(3)]
            return R0 @ turn, p, [*screws, *(_angular(jacobian[:, k]) for k in range(3))]
        return R0, p, []

    def rate(self, value):
        """Time derivative of a scalar or of an array of scalars."""
        if isinstance(value, np.ndarray):
            out = scalars(value.shape)
            out.ravel()[:] = [self.rate(x) for x in value.ravel()]
            return out
        if not isinstance(value, Scalar):
            return 0.0
        parts = (self.tape.derivative(value, q) * v for q, v in zip(self.q, self.v))
        return sum(parts, 0.0)


def _linear(vector) -> np.ndarray:
    return np.concatenate((np.zeros(3, dtype=object), vector))


def _angular(vector) -> np.ndarray:
    return np.concatenate((vector, np.zeros(3, dtype=object)))
