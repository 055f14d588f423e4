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
"""The Kalman filter along a linearised run, with the sensitivities of its innovations.

About a nominal run the state's deviation x (s,) obeys

    x+ = F x + d + G p + B w,    y = H x + J p + r

with p the change of the parameters, w (inputs,) and r (m,) white. Readings are taken in one by one
(their errors are independent): with h a row of H and P the covariance before it,

    c = P h,  v = h.c + variance,  k = c / v,  e = y - h.x,  x += k e,  P -= k c'

The gain k does not depend on p here, so that X = dx/dp follows the same recursion with the slope
of e, -(h X + J). Estimates of p for which sum(slope e / v) = 0 are those of prediction error; the
sum has mean zero at the true parameters if the filter is right, and sum(slope slope' / v) is then
both its covariance and the Fisher information (Ljung, System Identification, ch. 9).
"""
from __future__ import annotations

import math

from numba import njit

KERNEL = {'cache': True, 'nogil': True, 'error_model': 'numpy', 'fastmath': {'contract'}}


@njit(**KERNEL)
def innovations(F, d, G, B, spread, floor, H, J, y, variance, x, P, X, e, v, slope, gain,
                before, covariance):
    """Run the filter; x, P and X are those of the first sample and are overwritten.

    F (N-1, s, s), d (N-1, s), G (N-1, s, p), B (N-1, s, inputs), spread (N-1, inputs): variances
    of w; floor (s,): variances added to every step. H (N, m, s), J (N, m, p), y (N, m): NaN where
    there is no reading; variance (N, m) of r. x (s,), P (s, s), X (s, p).
    Into e (N, m), v (N, m), slope (N, m, p) = -de/dp, gain (N, m, s); x and P before the readings
    of each sample into before (N, s) and covariance (N, s, s), unless these have no rows.
    Returns sum(e2 / v + log v), and 1 + the sample at which a variance was not positive, or 0.
    """
    samples, m, s = H.shape
    p, inputs = G.shape[2], B.shape[2]
    total = 0.0
    work = P.copy()
    new, column = x.copy(), x.copy()
    wide = X.copy()
    kept = before.shape[0] > 0
    for k in range(samples):
        if kept:
            for a in range(s):
                before[k, a] = x[a]
                for b in range(s):
                    covariance[k, a, b] = P[a, b]
        for i in range(m):
            e[k, i] = math.nan
            if math.isnan(y[k, i]):
                continue
            predicted, spreading = 0.0, variance[k, i]
            for a in range(s):
                c = 0.0
                for b in range(s):
                    c += P[a, b] * H[k, i, b]
                column[a] = c
                spreading += H[k, i, a] * c
                predicted += H[k, i, a] * x[a]
            if not spreading > 0.0:
                return total, k + 1
            e[k, i], v[k, i] = y[k, i] - predicted, spreading
            for j in range(p):
                c = J[k, i, j]
                for a in range(s):
                    c += H[k, i, a] * X[a, j]
                slope[k, i, j] = c
            for a in range(s):
                g = column[a] / spreading
                gain[k, i, a] = g
                x[a] += g * e[k, i]
                for b in range(a + 1):
                    P[a, b] -= g * column[b]
                for j in range(p):
                    X[a, j] -= g * slope[k, i, j]
            for a in range(s):
                for b in range(a):
                    P[b, a] = P[a, b]
            total += e[k, i] * e[k, i] / spreading + math.log(spreading)
        if k == samples - 1:
            break
        for a in range(s):
            c = d[k, a]
            for b in range(s):
                c += F[k, a, b] * x[b]
            new[a] = c
            for j in range(p):
                c = G[k, a, j]
                for b in range(s):
                    c += F[k, a, b] * X[b, j]
                wide[a, j] = c
            for b in range(s):
                c = 0.0
                for i in range(s):
                    c += F[k, a, i] * P[i, b]
                work[a, b] = c
        for a in range(s):
            x[a] = new[a]
            for j in range(p):
                X[a, j] = wide[a, j]
        for a in range(s):
            for b in range(a + 1):
                c = floor[a] if a == b else 0.0
                for i in range(s):
                    c += work[a, i] * F[k, b, i]
                for i in range(inputs):
                    c += B[k, a, i] * spread[k, i] * B[k, b, i]
                P[a, b] = c
                P[b, a] = c
    return total, 0


@njit(**KERNEL)
def smoothed(F, H, e, v, gain, before, covariance):
    """before (N, s) becomes the deviations given all readings (Bryson and Frazier): the adjoint r
    goes backwards through the readings, and x + P r is the state that they tell."""
    samples, m, s = H.shape
    adjoint, new = 0.0 * before[0], 0.0 * before[0]
    for k in range(samples - 1, -1, -1):
        for i in range(m - 1, -1, -1):
            if math.isnan(e[k, i]):
                continue
            c = e[k, i] / v[k, i]
            for a in range(s):
                c -= gain[k, i, a] * adjoint[a]
            for a in range(s):
                adjoint[a] += H[k, i, a] * c
        for a in range(s):
            c = 0.0
            for b in range(s):
                c += covariance[k, a, b] * adjoint[b]
            before[k, a] += c
        if k == 0:
            break
        for b in range(s):
            c = 0.0
            for a in range(s):
                c += F[k - 1, a, b] * adjoint[a]
            new[b] = c
        for a in range(s):
            adjoint[a] = new[a]
