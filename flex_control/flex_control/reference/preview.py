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
"""The reference over the time to come: positions, deflections, speeds and efforts on a grid."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.soft_steps import LEAST, MARGIN
from flex_control.trajectories.base import Reference
from flex_dynamics import Model

CLOSE = 1e-6         # m or rad: accuracy of the deflections
AT_ONCE = 8          # knots that are computed in one update; those beyond are held until then


class Ahead(NamedTuple):
    """At k instants: coordinates and speeds (k, n), efforts (k, n_joints), and the accelerations
    (k, n) of which the efforts know nothing: those of the elastic coordinates. known: how many of
    the instants are known by now; the others are as the last of them. wanted (k, n_joints):
    accelerations of the joints."""

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    a: np.ndarray
    known: int
    wanted: np.ndarray


class ReferencePreview:
    """Deflected references at multiples of `step` (s), each computed once.

    A motion is seen as far as it goes on without a step; from there on it is held.
    """

    def __init__(self, model: Model, step: float) -> None:
        self._model, self._step = model, step
        self._deflected = DeflectedReference(model, CLOSE)
        self.reset()

    def reset(self) -> None:
        """Forget all: the motion to come is another one."""
        self._first = 0                      # index of the first knot
        self._knots: list[tuple[Reference, np.ndarray, np.ndarray, np.ndarray]] = []

    def ahead(self, sample: Callable[[float], Reference], now: float,
              delays: np.ndarray) -> Ahead:
        """What comes `delays` (k,) s after `now` (s), interpolated between the knots."""
        step = self._step
        first = int(np.floor(now / step)) - 1
        last = int(np.ceil((now + delays[-1]) / step)) + 2
        if self._knots and not self._first <= first <= self._first + len(self._knots):
            self.reset()
        if not self._knots:
            self._first = first
        del self._knots[:first - self._first]
        self._first = first
        begin = first + len(self._knots)
        for index in range(begin, min(last + 1, begin + AT_ONCE)):
            self._knots.append(self._knot(sample, max(index * step, now)))
        q, effort, speed = (np.array([knot[which] for knot in self._knots])
                            for which in (1, 2, 3))
        joints = self._model.n_joints
        v, a = np.zeros_like(q), np.zeros_like(q)
        v[:, :joints] = speed
        v[1:-1, joints:] = (q[2:, joints:] - q[:-2, joints:]) / (2.0 * step)
        a[1:-1, joints:] = (q[2:, joints:] - 2.0 * q[1:-1, joints:] + q[:-2, joints:]) / step**2
        planned = [knot[0].feedforward is not None for knot in self._knots]
        a[planned] = 0.0
        place = np.minimum((now + delays) / step - first, len(q) - 2.0)
        known = int((place < len(q) - 2.0).sum())
        at = np.maximum(place.astype(int), 0)
        share = (place - at)[:, None]
        wanted = np.array([knot[0].acceleration for knot in self._knots])
        q, v, effort, a, wanted = ((1.0 - share) * one[at] + share * one[at + 1]
                                   for one in (q, v, effort, a, wanted))
        return Ahead(q, v, effort, a, known, wanted)

    def _knot(self, sample: Callable[[float], Reference],
              time: float) -> tuple[Reference, np.ndarray, np.ndarray, np.ndarray]:
        wanted = sample(time)
        if self._knots:
            last = self._knots[-1][0]
            speed = np.maximum(np.abs(wanted.velocity), np.abs(last.velocity))
            jump = np.abs(wanted.position - last.position)
            if (jump > LEAST + MARGIN * speed * self._step + 0.5 * self._step**2 * (
                    np.abs(wanted.acceleration) + np.abs(last.acceleration))).any():
                wanted = Reference.at_rest(last.position)
        self._deflected.move_to(wanted, self._step)
        return (wanted, self._deflected.q.copy(), self._deflected.effort.copy(),
                np.asarray(wanted.velocity))
