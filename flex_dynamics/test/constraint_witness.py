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
"""Constraints in plain numpy for complex states, from what they mean and not from their rows.

A loop, a height or a support is a function of poses, differentiated twice along the motion; a
wheel is the speed of the point that touches the ground. Frames are the jets of jet_witness.py.
"""
from __future__ import annotations

import numpy as np
from jet_witness import Jet, Witness, product, spin

from flex_dynamics import Model
from flex_dynamics.kernels.constraints import constraint_arrays as kinds


def dot(one: Jet, two: Jet) -> Jet:
    return product(lambda a, b: (a * b).sum(-1), one, two)


def cross(one: Jet, two: Jet) -> Jet:
    return product(np.cross, one, two)


def scaled(number: Jet, vector: Jet) -> Jet:
    return product(lambda a, b: a[:, None] * b, number, vector)


def less(one: Jet, two: Jet) -> Jet:
    return one + two.of(lambda x: -x)


def fixed(vector: np.ndarray, count: int) -> Jet:
    still = np.zeros((count, 3))
    return Jet(np.tile(vector, (count, 1)), still, still)


def inverse_root(x: Jet) -> Jet:
    first, second = -0.5 * x.x**-1.5, 0.75 * x.x**-2.5
    return Jet(x.x**-0.5, first * x.v, second * x.v**2 + first * x.a)


class ConstraintWitness(Witness):
    """Of a model with constraints: also their Jacobian and the accelerations of their rows."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        set_ = model.assembly.constraints
        self.ends = list(zip(set_.end_nodes, set_.end_poses, strict=True))
        self.rows, self.numbers = set_.rows, set_.numbers

    def rows_of(self, q, v, a) -> tuple[np.ndarray, np.ndarray]:
        """A (m, n), and A a + A_rate v (m,), at complex q, v and a (n,)."""
        jets = self._jets(q, v, a)
        poses, found = self.poses(jets), []
        ends = []
        for node, flat in self.ends:
            turn, point = flat[:9].reshape(3, 3), flat[9:]
            R, p = poses[node]                       # the world is the last, that is -1
            ends.append((R.of(lambda y, t=turn: y @ t), p + R.of(lambda y, d=point: y @ d)))
        for (kind, first, second, _, active), numbers in zip(self.rows, self.numbers,
                                                             strict=True):
            rate, second_rate = self._row(kind, numbers, ends[first], ends[second])
            found.append((active * rate, active * second_rate))
        return (np.array([rate[1:] for rate, _ in found]),
                np.array([second_rate[0] for _, second_rate in found]))

    def _row(self, kind: int, numbers: np.ndarray, first, second) -> tuple[np.ndarray,
                                                                           np.ndarray]:
        """First and second rate (b,) of a row."""
        (R1, p1), (R2, p2) = first, second
        arm, count = less(p2, p1), len(p1.x)
        if kind == kinds.POINT:
            value = dot(fixed(numbers[:3], count), arm)
        elif kind == kinds.ALONG:
            value = dot(R1.of(lambda y: y @ numbers[:3]), arm)
        elif kind == kinds.TURN:
            value = dot(R1.of(lambda y: y @ numbers[:3]), R2.of(lambda y: y @ numbers[3:6]))
        elif kind == kinds.DISTANCE:
            value = dot(arm, arm).of(lambda y: 0.5 * y / numbers[6])
        else:
            return self._wheel(kind, numbers, R2, p2)
        return value.v, value.a

    def _wheel(self, kind: int, numbers: np.ndarray, R: Jet, p: Jet) -> tuple[np.ndarray,
                                                                              np.ndarray]:
        axis, normal = R.of(lambda y: y @ numbers[:3]), fixed(numbers[3:6], len(p.x))
        radius, lean = numbers[6], dot(axis, normal)
        square = dot(lean_less := less(normal, scaled(lean, axis)), lean_less)
        by = inverse_root(square)                     # |n - lean a|^2 = 1 - lean^2
        if kind == kinds.HEIGHT:
            value = less(dot(normal, p), product(lambda a, b: radius * a * b, square, by))
            return value.v, value.a
        heading = scaled(by, less(axis, scaled(lean, normal)) if kind == kinds.EDGE
                         else cross(axis, normal))
        along = heading if kind == kinds.ROLL else cross(normal, heading)
        up = scaled(by, lean_less)
        back = np.swapaxes(R.x, 1, 2)
        turn = spin(R.v @ back)
        change = spin(R.a @ back + R.v @ np.swapaxes(R.v, 1, 2))
        speed = p.v - radius * np.cross(turn, up.x)
        rate = p.a - radius * (np.cross(change, up.x) + np.cross(turn, up.v))
        return (along.x * speed).sum(-1), (along.v * speed + along.x * rate).sum(-1)
