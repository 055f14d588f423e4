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
"""Gains of strain feedback, tuned by the tip motion that pushes cause."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

from flex_control.design.gains import FASTEST, first_frequency, poses, shared_inertia
from flex_control.design.lqr_design import longest_reach, soft_force
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.design.strain_modes import StrainModes, strain_modes
from flex_control.design.vibration_loop import LinearLaw, VibrationLoop
from flex_control.errors import ControlError
from flex_control.incremental import finish
from flex_dynamics import Model, Sensors

SHARES = (0.6, 0.85, 1.2, 1.7)     # of the first frequency, that are tried for the bandwidth
USUAL_SHARE = 0.6       # whose springs say what a mode is (VibrationLoop)
GAINS = {'rate': (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0),
         'position': (0.05, 0.1, 0.2, 0.35, 0.5, 0.7)}
SHARE_OF_SAMPLING = 0.1      # of the sampling rate: the gauges' filters and efforts come too late
CORNER = 4.0                 # of the rate's filter, over the frequency of the mode
FILTER_DAMPING = 0.5         # ratio, of positive position feedback's filter
WASHOUT = 0.1                # of the first mode: slower strains are no vibration
BESIDE = 0.1                 # rad or m, from the pose of the gains, where they have to hold, too
LATE = 1                     # periods by which efforts may come late
POSES = 5                    # that are looked at
MARGIN = 1.5                 # times the gain, with which the loop is still stable
STIFFER = 0.25               # power of the compliance in what is left


class StrainFilter(NamedTuple):
    """c+ = A c + B p for all modes' amplitudes p (m,), f = C c + D p, (m,): effort on each mode.

    States of the modes one kind after the other, (k m,).
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray


class StrainTuning(NamedTuple):
    """bandwidth (rad/s) of the joints, gain, and what they leave at the worst pose: the motion of
    the tip after pushes (VibrationLoop.tip_motion) times a power of its compliance."""

    bandwidth: float
    gain: float
    left: float


def rate_filter(frequencies: np.ndarray, gain: float, period: float) -> StrainFilter:
    """f = -2 g w s / (1 + s / w_c) p: damping of ratio g for each mode of frequency w (rad/s)."""
    corner = CORNER * frequencies
    a = np.exp(-corner * period)
    force = 2.0 * gain * frequencies * corner
    return StrainFilter(np.diag(a), np.diag(1.0 - a), np.diag(force), np.diag(-force))


def position_filter(frequencies: np.ndarray, gain: float, period: float) -> StrainFilter:
    """f = g w^2 e,  e'' + 2 z w e' + w^2 e = w^2 (p - p_0): positive position feedback, where p_0
    is p through a low-pass of WASHOUT times the lowest frequency."""
    m = len(frequencies)
    A, B = np.zeros((3 * m, 3 * m)), np.zeros((3 * m, m))
    slow = WASHOUT * float(frequencies.min(initial=np.inf))
    for k, w in enumerate(frequencies):
        rows = [k, m + k, 2 * m + k]
        system = np.zeros((4, 4))
        system[0, 1] = 1.0
        system[1] = -w**2, -2.0 * FILTER_DAMPING * w, -w**2, w**2
        system[2] = 0.0, 0.0, -slow, slow
        sampled = expm(system * period)
        A[np.ix_(rows, rows)], B[rows, k] = sampled[:3, :3], sampled[:3, 3]
    C = np.zeros((m, 3 * m))
    C[:, :m] = np.diag(gain * frequencies**2)
    return StrainFilter(A, B, C, np.zeros((m, m)))


FILTERS = {'rate': rate_filter, 'position': position_filter}


class StrainDesign:
    """Design of a robot; parameters: those of `StrainFeedback`. `strain` (n_gauges, n): strains
    per coordinate."""

    def __init__(self, model: Model, parameters: Mapping[str, Any]) -> None:
        self._model, self._given = model, parameters
        self.strain = Sensors(model).strain_matrix()
        self._inertia, self._first = shared_inertia(model), first_frequency(model)
        self._unit = soft_force(model) * longest_reach(model)
        self._loops: dict[tuple[bytes, float, float], VibrationLoop] = {}

    def joint_gains(self, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
        """kp = J w^2 and kd = 2 w J, each (n_joints,), as those of pd; what is given stays."""
        kp = self._given['kp'] if self._given['kp'].size else self._inertia * bandwidth**2
        kd = (self._given['kd'] if self._given['kd'].size
              else 2.0 * np.sqrt(kp * self._inertia))
        return kp, kd

    def modes(self, q: np.ndarray, kp: np.ndarray, kd: np.ndarray, period: float) -> StrainModes:
        """At the equilibrium q (n,), for updates every `period` (s)."""
        rest = finish(rest_model(self._model, q, np.zeros(self._model.n_joints), kd))
        return self._modes(rest, kp, period)

    def _modes(self, rest: RestModel, kp: np.ndarray, period: float) -> StrainModes:
        highest = 2.0 * np.pi * (self._given['highest_mode'] or SHARE_OF_SAMPLING / period)
        return strain_modes(rest, self.strain, kp, self._unit, highest)

    def tuned(self, period: float) -> StrainTuning:
        """Bandwidth and gain, of those that are not given, that leave least at the worst pose, its
        neighbour and efforts that come late included; ControlError if none is stable."""
        if self._given['bandwidth'] or self._given['kp'].size:
            shares = [self._given['bandwidth'] or USUAL_SHARE * self._first]
        else:
            shares = [min(FASTEST, share * self._first) for share in SHARES]
        best = min((self._best(bandwidth, period) for bandwidth in shares),
                   key=lambda one: one.left)
        return self._checked(best, period)

    def at_bandwidth(self, bandwidth: float, period: float) -> StrainTuning:
        """The same for a bandwidth (rad/s) that is kept."""
        return self._checked(self._best(bandwidth, period), period)

    def _best(self, bandwidth: float, period: float) -> StrainTuning:
        given = self._given
        gains = [given['gain']] if given['gain'] else [0.0, *GAINS[given['method']]]
        return min((StrainTuning(bandwidth, gain, self._left(bandwidth, gain, period))
                    for gain in gains), key=lambda one: one.left)

    def _checked(self, best: StrainTuning, period: float) -> StrainTuning:
        if not np.isfinite(best.left):
            raise ControlError(
                f'strain_feedback: expected gains that are stable every {period * 1e3:g} ms, '
                f'found none for robot {self._model.robot.name}: update faster, give a smaller '
                'gain, or use pid')
        return best

    def _left(self, bandwidth: float, gain: float, period: float) -> float:
        kp, kd = self.joint_gains(bandwidth)
        worst = 0.0
        for joints in poses(self._model)[:POSES]:
            modes: StrainModes | None = None
            for place in (joints, joints + BESIDE):
                loop = self._loop(place, kd, bandwidth, period)
                if modes is None:
                    modes = self._modes(loop.rest, kp, period)
                more = self._law(modes, MARGIN * gain, period).with_joint_loops(kp, 0.0 * kd)
                if not loop.stable(more, LATE):
                    return np.inf
                law = self._law(modes, gain, period).with_joint_loops(kp, 0.0 * kd)
                worst = max(worst, loop.tip_motion(law, LATE) * loop.compliance(kp)**STIFFER)
                if not np.isfinite(worst):
                    return np.inf
        return worst

    def _law(self, modes: StrainModes, gain: float, period: float) -> LinearLaw:
        filters = FILTERS[self._given['method']](modes.frequencies, gain, period)
        n = self._model.n
        seen = np.hstack((modes.reader @ self.strain, np.zeros((len(modes.reader), n))))
        return LinearLaw(filters.A, filters.B @ seen, modes.drive @ filters.C,
                         modes.drive @ filters.D @ seen)

    def _loop(self, joints: np.ndarray, kd: np.ndarray, bandwidth: float,
              period: float) -> VibrationLoop:
        key = (joints.tobytes(), bandwidth, period)
        if key not in self._loops:
            q = self._model.statics(joints)[0]
            springs = self._inertia * min(FASTEST, USUAL_SHARE * self._first)**2
            self._loops[key] = VibrationLoop(self._model, q, kd, springs, period)
        return self._loops[key]
