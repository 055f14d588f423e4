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
"""What a regulated robot will do over a horizon: limited outputs, linear in changes of efforts.

The regulator stays in the loop of the prediction, and the decision is what is added to it (dual
mode, Scokaert and Rawlings 1998; Rossiter, Kouvaritakis and Rice 1998): without a limit in reach
that is nothing, and its cost is a sum of squares.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import solve_triangular

from flex_control.design.limited_outputs import LimitedOutputs
from flex_control.design.lqr_design import LqrGains
from flex_control.design.rest_model import RestModel
from flex_control.design.sampling import exponential_and_gramian
from flex_control.incremental import Pieces

INTERVALS = 40                                  # of equal length in a horizon, besides early ones
BREAKS = 0, 2, 5, 9, 14, 20, 28, 40   # of the quadratic splines, intervals from now
EARLY = 1, 2, 4                                 # periods, as far as they are within an interval
A_PIECE = 8                                     # intervals that are predicted in one piece


@dataclass(frozen=True)
class Grid:
    """Instants at which limits are looked at: steps (j,), periods from one to the next. splines
    (j + 1, b): now and at the instants, straight between them; the sum over all periods of the
    product of two of them is 1 or 0."""

    period: float
    steps: np.ndarray
    splines: np.ndarray

    @property
    def delays(self) -> np.ndarray:
        """Times (j,) s of the instants from now."""
        found: np.ndarray = self.period * np.cumsum(self.steps)
        return found


def grid(period: float, horizon: float) -> Grid:
    """Instants over `horizon` (s) for updates every `period` (s)."""
    long = max(1, round(horizon / (INTERVALS * period)))
    ends = np.concatenate(([step for step in EARLY if step < long],
                           long * np.arange(1, INTERVALS + 1)))
    steps = np.diff(ends, prepend=0).astype(int)
    places = np.concatenate(([0], ends))
    knots = long * np.concatenate((BREAKS[:1] * 2, BREAKS, BREAKS[-1:] * 2)).astype(float)
    count = len(knots) - 3
    table = np.array([BSpline(knots, one, 2)(places) for one in np.eye(count)]).T
    every = np.array([np.interp(np.arange(ends[-1]), places, one) for one in table.T])
    factor = np.linalg.cholesky(every @ every.T)
    return Grid(period, steps, solve_triangular(factor, table.T, lower=True).T)


@dataclass(frozen=True)
class Prediction:
    """x(j) = free response + forced(j) a of the regulated robot, about its reference.

    x = (scaled modes, z, u) as in the regulator. a (v,) are the weights of splines in time, so
    that they cost a'a; unscaled (joints, joints) makes changes of efforts of them. outputs (o, k):
    of the limits' rows, drives included. Modes faster than those of x follow at once (static
    correction): without them the root of a beam would not feel its motor. static (o, n): what
    generalised forces do to the outputs in this way. inertia (o, joints): what accelerations of
    the reference do to them.
    """

    rest: RestModel
    gains: LqrGains
    grid: Grid
    limited: LimitedOutputs
    to_modes: np.ndarray
    outputs: np.ndarray
    static: np.ndarray
    inertia: np.ndarray
    powers: dict[int, np.ndarray]
    shaken: dict[int, np.ndarray]
    forced: np.ndarray
    unscaled: np.ndarray

    def state(self, dq: np.ndarray, dv: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        """x (k,) of deviations (n,) from the reference, the integrals and the efforts beyond the
        reference's (n_joints,)."""
        assert self.gains.sampled is not None
        modes, size = len(self.to_modes), len(self.gains.sampled.F)
        rates = self.rest.scale[:modes]
        integrals = z if size > 2 * modes + len(u) else z[:0]
        return np.concatenate((rates * (self.to_modes @ dq), self.to_modes @ dv, integrals, u))

    def free(self, x: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """States (j, k) from x (k,) on without changes, under generalised forces (j, n) of the
        intervals."""
        modes = len(self.to_modes)
        pushes = forces @ self.rest.shapes[:, :modes]
        found = np.empty((len(self.grid.steps), len(x)))
        for at, step in enumerate(self.grid.steps.tolist()):
            x = self.powers[step] @ x + self.shaken[step] @ pushes[at]
            found[at] = x
        return found

    def rows(self, instants: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """How outputs at instants, each (r,), go with a: (r, v)."""
        found: np.ndarray = np.matmul(self.outputs[outputs][:, None, :],
                                      self.forced[instants])[:, 0]
        return found

    def change(self, a: np.ndarray, periods: int) -> np.ndarray:
        """Change (n_joints,) of the efforts, beyond the regulator's, that many periods from the
        solution."""
        joints = self.unscaled.shape[1]
        places = np.concatenate(([0], np.cumsum(self.grid.steps)))
        at = int(np.searchsorted(places, periods, side='right')) - 1
        if at >= len(places) - 1:
            return np.zeros(joints)
        share = (periods - places[at]) / (places[at + 1] - places[at])
        splines = (1.0 - share) * self.grid.splines[at] + share * self.grid.splines[at + 1]
        found: np.ndarray = self.unscaled @ (splines @ a.reshape(-1, joints))
        return found


def predict(rest: RestModel, gains: LqrGains, limited: LimitedOutputs, horizon: float,
            period: float, drive_stiffness: np.ndarray,
            drive_damping: np.ndarray) -> Pieces[Prediction]:
    """The prediction over `horizon` (s) with a regulator for updates every `period` (s)."""
    regulator = gains.sampled
    assert regulator is not None
    joints, size = len(gains.effort), len(regulator.F)
    integrals = joints if gains.integral.any() else 0
    modes = (size - joints - integrals) // 2
    over = grid(period, horizon)
    closed = regulator.F - regulator.G @ regulator.gain

    # forces on modes, held over a period
    system = np.zeros((3 * modes, 3 * modes))
    system[:2 * modes, :2 * modes] = rest.state_space(modes)[0]
    system[modes:2 * modes, 2 * modes:] = np.eye(modes)
    held = yield from exponential_and_gramian(system, np.zeros_like(system), period)
    force = np.zeros((size, modes))
    force[:2 * modes] = held[0][:2 * modes, 2 * modes:]

    powers: dict[int, np.ndarray] = {}
    sums: dict[int, np.ndarray] = {}
    ramps: dict[int, np.ndarray] = {}       # of an input that rises from 0 to 1 over the step
    power, total, ramp = np.eye(size), np.zeros((size, size)), np.zeros((size, size))
    for step in range(1, int(over.steps.max()) + 1):
        ramp = closed @ ramp + (step - 1) * np.eye(size)
        total = total + power
        power = closed @ power
        if step in over.steps:
            powers[step], sums[step], ramps[step] = power, total, ramp / step
        if step % A_PIECE == 0:
            yield
    yield
    # so that the sum of c' weight c over all periods is a'a
    unscaled = solve_triangular(np.linalg.cholesky(regulator.weight).T, np.eye(joints))
    scaled, splines = regulator.G @ unscaled, over.splines
    pushed, rising = ({step: one @ scaled for step, one in which.items()}
                      for which in (sums, ramps))
    yield
    forced = np.zeros((len(over.steps), size, splines.shape[1] * joints))
    now = np.zeros(forced.shape[1:])
    for at, step in enumerate(over.steps.tolist()):
        now = (powers[step] @ now + np.kron(splines[at], pushed[step])
               + np.kron(splines[at + 1] - splines[at], rising[step]))
        forced[at] = now
        if at % A_PIECE == 0:
            yield
    outputs = np.zeros((len(limited), size))
    shapes, on_joints = rest.shapes[:, :modes], rest.B
    outputs[:, :modes] = ((limited.position - (limited.effort * drive_stiffness) @ on_joints.T)
                          @ (shapes / rest.scale[:modes]))
    outputs[:, modes:2 * modes] = ((limited.velocity - (limited.effort * drive_damping)
                                    @ on_joints.T) @ shapes)
    fast = rest.shapes[:, modes:] / np.sqrt(np.abs(rest.squares[modes:]))
    static = (limited.position @ fast) @ fast.T
    outputs[:, modes:2 * modes] -= static @ rest.D @ shapes
    outputs[:, -joints:] = limited.effort + static @ rest.B
    bends = np.zeros((len(rest.q), joints))
    if len(rest.q) > joints:
        bends[joints:] = -np.linalg.solve(rest.K[joints:, joints:], rest.M[joints:, :joints])
    inertia = limited.position @ bends + limited.effort @ (
        rest.M[:joints, :joints] + rest.K[:joints] @ bends)
    return Prediction(rest, gains, over, limited, rest.projection[:modes], outputs, static,
                      inertia, powers,
                      {step: one @ force for step, one in sums.items()}, forced, unscaled)
