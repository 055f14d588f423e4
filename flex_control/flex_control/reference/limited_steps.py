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
"""Steps of a reference, made so slow that the motion itself keeps limits."""
from __future__ import annotations

import numpy as np

from flex_control.design.limited_outputs import LimitedOutputs
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.soft_steps import SoftSteps
from flex_control.trajectories.base import Reference
from flex_control.trajectories.splines import Splines
from flex_dynamics import Model

SAMPLES = 10
CLOSE = 1e-5             # m or rad: accuracy of the deflections
SHARE = 0.9              # of the limits that a step may use, the rest is left to vibration
TAKEN = 0.97             # of a limit: if gravity alone takes more, the limit gives way
ROOM = 0.3               # by which it then exceeds what gravity takes
LEAST_SPARE = 0.03
SLOWEST = 20.0           # times the usual duration, at most


def attainable(rests: np.ndarray) -> np.ndarray:
    """What is allowed, in limits, where poses at rest take these shares (...) of them."""
    allowed: np.ndarray = np.where(np.abs(rests) > TAKEN, np.abs(rests) + ROOM, 1.0)
    return allowed


class LimitedSteps(SoftSteps):
    """`SoftSteps` whose duration T is stretched until the quasi-static motion keeps the limits.

    What inertia does falls with 1/T^2, what speeds are with 1/T, and what gravity does stays: at a
    sample with gravity's share g and inertia's share d of a limit, T grows by sqrt(d / (s - g)).
    Where gravity alone takes a limit, it gives way (`attainable`).
    """

    def __init__(self, model: Model, duration: float = 0.0) -> None:
        super().__init__(model, duration)
        self.limited: LimitedOutputs | None = None
        self._model, self._deflected = model, DeflectedReference(model, CLOSE)

    def catch(self, joints: np.ndarray, speeds: np.ndarray) -> None:
        """Go on from where the robot is (n_joints,), at its speeds: it could not follow."""
        last = self._last
        if last is None:
            return
        target = self.ahead(last, 0.0)
        begin = np.array([last.position - joints, last.velocity - speeds,
                          last.acceleration - target.acceleration])
        self._step = Splines([0.0, self._time(begin[0])],
                             *(np.array([one, np.zeros_like(one)]) for one in begin))
        self._since = 0.0

    def _time(self, jump: np.ndarray) -> float:
        usual = super()._time(jump)
        limited, last = self.limited, self._last
        if self.duration > 0.0 or limited is None or not len(limited) or last is None:
            return usual
        still = np.zeros_like(jump)
        way = Splines([0.0, usual], np.array([last.position - jump, last.position]),
                      np.array([still, still]), np.array([still, still]))
        factor = 1.0
        for time in np.linspace(0.0, usual, SAMPLES):
            at = way.sample(time)
            moved, rests = (self._shares(wanted) for wanted in (
                Reference(at.position, still, at.acceleration), Reference.at_rest(at.position)))
            inertia = moved - rests
            spare = attainable(rests) - (1.0 - SHARE) - np.sign(inertia) * rests
            ratio = np.abs(inertia) / np.maximum(spare, LEAST_SPARE)
            v = np.zeros(self._model.n)
            v[:len(jump)] = at.velocity
            fast = np.abs(limited.velocity @ v).max(initial=0.0) / SHARE
            factor = max(factor, float(np.sqrt(ratio.max(initial=0.0))), float(fast))
        return usual * min(factor, SLOWEST)

    def _shares(self, wanted: Reference) -> np.ndarray:
        """Of the limits (k,), without speeds."""
        assert self.limited is not None
        deflected = self._deflected
        deflected.move_to(wanted, 0.0)
        return self.limited.at(deflected.q, np.zeros(self._model.n), deflected.effort)
