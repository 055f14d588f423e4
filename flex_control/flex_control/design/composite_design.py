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
"""Bandwidth and fast gains of composite control, by the tip motion that pushes cause."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from flex_control.design.fast_design import fast_gains
from flex_control.design.gains import (
    FASTEST,
    LQR_SHARE_OF_SOFT_FORCE,
    first_frequency,
    poses,
    shared_inertia,
)
from flex_control.design.lqr_design import (
    SHARE_OF_EFFORT,
    LqrGains,
    deflection_efforts,
    longest_reach,
    soft_force,
)
from flex_control.design.rest_model import RestModel
from flex_control.design.vibration_loop import LinearLaw, VibrationLoop
from flex_control.errors import ControlError
from flex_control.incremental import Pieces, finish
from flex_dynamics import Model

FIRST_SHARE = 0.85          # of the first frequency, for the bandwidth that is tried first
SHARES = (0.6, 1.2, 1.7)                  # that are tried then
ENERGIES = 4.0 ** np.arange(-6.0, 2.0)    # over the usual energy, that are tried
USUAL_SHARE = 0.6           # whose springs say what a mode is (VibrationLoop)
SHARE_OF_SAMPLING = 0.4     # of the sampling rate: faster modes are left alone
BESIDE = 0.1                # rad or m, from the pose of the gains, where they have to hold, too
LATE = 1                    # periods by which efforts may come late
STIFFER = 0.25              # power of the compliance in what is left
POSES = 2                   # that are looked at: stretched or default, and another
#: parameters of which tuning depends
TUNED_BY = ('bandwidth', 'damping_ratio', 'energy', 'effort', 'effort_time', 'highest_mode')


class Tuning(NamedTuple):
    """bandwidth (rad/s) of the joints, energy (J) of the fast gains' cost, and what they leave at
    the worst pose: the motion of the tip after pushes (VibrationLoop.tip_motion) times a power of
    its compliance under constant ones."""

    bandwidth: float
    energy: float
    left: float


class CompositeDesign:
    """Design of a robot; parameters: those of `Composite`."""

    def __init__(self, model: Model, parameters: Mapping[str, Any]) -> None:
        self._model, self._given = model, parameters
        self._first = first_frequency(model)
        self._inertia = shared_inertia(model)
        reach = longest_reach(model)
        force = soft_force(model)
        given = parameters['effort']
        self._effort = given if given.size else LQR_SHARE_OF_SOFT_FORCE * force * reach
        self._usual_energy = 0.005 * force * float(reach.max())    # that the soft force puts in
        self._loops: dict[tuple[bytes, float, float], VibrationLoop] = {}

    def joint_gains(self, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
        """J w^2 and 2 z w J, each (n_joints,)."""
        ratio = self._given['damping_ratio']
        return self._inertia * bandwidth**2, 2.0 * ratio * bandwidth * self._inertia

    def gains(self, rest: RestModel, energy: float, period: float) -> Pieces[LqrGains]:
        """The fast gains at the pose of `rest`."""
        highest = 2.0 * np.pi * (self._given['highest_mode'] or SHARE_OF_SAMPLING / period)
        gains = yield from fast_gains(self._model, rest, self._effort,
                                      self._given['effort_time'], energy, highest, period)
        return gains

    def tuned(self, period: float) -> Tuning:
        """The bandwidth and the energy, of those that are not given, that leave least at the worst
        of the poses, their neighbours and efforts that come late included; ControlError if none is
        stable."""
        given = self._given['bandwidth']
        first = given or min(FASTEST, FIRST_SHARE * self._first)
        best = self.at_bandwidth(first, period)
        if not given:
            others = [(min(FASTEST, share * self._first), best.energy)
                      for share in SHARES]
            best = min(best, self._best(others, period), key=lambda one: one.left)
            if best.bandwidth != first:
                best = self.at_bandwidth(best.bandwidth, period)
        self.check(best, period)
        return best

    def at_bandwidth(self, bandwidth: float, period: float) -> Tuning:
        """The same for a bandwidth (rad/s) that is kept."""
        given = self._given['energy']
        energies = [given] if given else list(self._usual_energy * ENERGIES)
        return self._best([(bandwidth, energy) for energy in energies], period)

    def check(self, tuning: Tuning, period: float) -> None:
        """ControlError if a loop is not stable with updates every `period` (s)."""
        if np.isfinite(tuning.left):
            return
        raise ControlError(
            f'composite: expected gains that are stable every {period * 1e3:g} ms, found none '
            f'for robot {self._model.robot.name}: update faster, or use pid')

    def _best(self, tries: list[tuple[float, float]], period: float) -> Tuning:
        found = [Tuning(bandwidth, energy, self._left(bandwidth, energy, period))
                 for bandwidth, energy in tries]
        return min(found, key=lambda one: one.left)

    def _left(self, bandwidth: float, energy: float, period: float) -> float:
        """Of the worst pose (see `Tuning`)."""
        kp, kd = self.joint_gains(bandwidth)
        worst = 0.0
        for joints in poses(self._model)[:POSES]:
            gains: LqrGains | None = None
            for place in (joints, joints + BESIDE):
                loop = self._loop(place, kd, bandwidth, period)
                if gains is None:
                    try:
                        gains = finish(self.gains(loop.rest, energy, period))
                    except ControlError:
                        return np.inf
                    if self._asks_too_much(loop.rest, gains):
                        return np.inf
                law = LinearLaw.of_gains(gains.state, gains.effort).with_joint_loops(kp, 0.0 * kd)
                worst = max(worst, loop.tip_motion(law, LATE) * loop.compliance(kp)**STIFFER)
                if not np.isfinite(worst):
                    return np.inf
        return worst

    def _asks_too_much(self, rest: RestModel, gains: LqrGains) -> bool:
        share = deflection_efforts(self._model, rest, gains)[1]
        return bool(share.max(initial=0.0) > SHARE_OF_EFFORT)

    def _loop(self, joints: np.ndarray, kd: np.ndarray, bandwidth: float,
              period: float) -> VibrationLoop:
        key = (joints.tobytes(), bandwidth, period)
        if key not in self._loops:
            q = self._model.statics(joints)[0]
            springs = self.joint_gains(min(FASTEST, USUAL_SHARE * self._first))[0]
            self._loops[key] = VibrationLoop(self._model, q, kd, springs, period)
        return self._loops[key]
