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
"""The spin-up beam with exact bending: an inextensible elastica on a turning hub, in plain numpy.

The section angle is theta(s, t) = sum a_k(t) phi_k'(s), the shapes those of the robot's beam, as
in order `second`; but positions are int cos theta and int sin theta, not their second order. So
two things part: what the shapes miss, and what the order misses.
"""
from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre
from scipy.integrate import solve_ivp

from flex_dynamics import Model

EI, RHO_A, RHO_I = 1.4e4, 1.2, 6e-4       # N m2, kg/m, kg m
PERIOD = 15.0                             # s


def hub(t: float, share: float = 1.0) -> tuple[float, float, float]:
    """Angle, speed and acceleration of the root, a share of Simo and Vu-Quoc's."""
    turn = 2.0 * np.pi / PERIOD
    if t >= PERIOD:
        return share * (6.0 * t - 45.0), share * 6.0, 0.0
    return (share * 0.4 * (t**2 / 2.0 + (np.cos(turn * t) - 1.0) / turn**2),
            share * 0.4 * (t - np.sin(turn * t) / turn), share * 0.4 * (1.0 - np.cos(turn * t)))


def exact_lag(model: Model, times: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Tip's distance (m) from the hub's axis at times (k,), by Lagrange's equations."""
    beam = model.beam('beam').flexible
    half, count = beam.length / 2.0, 24
    nodes, weights = legendre.leggauss(count)
    # upto @ f: integrals of f from the root to each node
    upto = half * np.array([legendre.legval(nodes, legendre.legint(c, lbnd=-1.0))
                            for c in np.eye(count)]).T @ np.linalg.inv(
                                legendre.legvander(nodes, count - 1))
    s, weights = half * (nodes + 1.0), half * weights
    slope, bend = beam.bend_y(s, 1), beam.bend_y(s, 2)
    stiffness = EI * (bend * weights) @ bend.T
    rotary, turned = RHO_I * (slope * weights) @ slope.T, RHO_I * slope @ weights
    n = len(slope)

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        a, da = state[:n], state[n:]
        _, speed, growth = hub(t, share)
        theta, turning = a @ slope, da @ slope
        cos, sin = np.cos(theta), np.sin(theta)
        x, y = upto @ cos, upto @ sin
        to_x, to_y = -(slope * sin) @ upto.T, (slope * cos) @ upto.T       # d(x, y) / da
        # accelerations at rest of da: bending, Coriolis, the hub's growth, centrifugal
        along = (-upto @ (cos * turning**2) - 2.0 * speed * (da @ to_y) - growth * y
                 - speed**2 * x)
        across = (-upto @ (sin * turning**2) + 2.0 * speed * (da @ to_x) + growth * x
                  - speed**2 * y)
        mass = RHO_A * ((to_x * weights) @ to_x.T + (to_y * weights) @ to_y.T) + rotary
        force = (-RHO_A * ((to_x * weights) @ along + (to_y * weights) @ across)
                 - growth * turned - stiffness @ a)
        return np.concatenate((da, np.linalg.solve(mass, force)))

    run = solve_ivp(rate, (0.0, times[-1]), np.zeros(2 * n), t_eval=times, rtol=1e-9, atol=1e-11,
                    max_step=0.05)
    return np.sin(run.y[:n].T @ slope) @ weights
