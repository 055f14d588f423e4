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
"""The discrete Kalman filter: covariances, gains, and how surprising a measurement is."""
from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from flex_control.errors import ControlError


class KalmanFilter:
    """Estimate x (k,) and its covariance P (k, k); x+ = F x + w, y = H x + r.

    The owner may predict x by a model that is not linear; F is then its slope.
    nis: the last measurement's normalised innovation squared, chi-square distributed with
    `measured` degrees of freedom if model and noise are right. gain (k, m): of that measurement.
    """

    def __init__(self, x: np.ndarray, P: np.ndarray) -> None:
        self.x, self.P = np.array(x, dtype=float), np.array(P, dtype=float)
        self.nis, self.measured = 0.0, 0
        self.gain = np.zeros((len(self.x), 0))

    def predict(self, x: np.ndarray, F: np.ndarray, Q: np.ndarray) -> None:
        """Go on to the predicted x (k,): P = F P F' + Q."""
        self.x = x
        self.P = F @ self.P @ F.T + Q

    def correct(self, innovation: np.ndarray, H: np.ndarray, variance: np.ndarray) -> None:
        """Take in m measurements: innovation (m,) = y - h(x), H (m, k), variances (m,) of noise.

        Joseph's form, (I - K H) P (I - K H)' + K R K', stays symmetric and positive definite
        whatever the rounding of K.
        """
        self.measured = len(innovation)
        if not self.measured:
            self.nis, self.gain = 0.0, np.zeros((len(self.x), 0))
            return
        cross = self.P @ H.T
        spread = H @ cross
        spread[np.diag_indices(self.measured)] += variance
        factor, failed = dpotrf(spread, lower=1)
        if failed:
            raise ControlError('Kalman filter: covariance of the measurements not positive '
                               'definite; give every sensor a noise above zero')
        gain = self.gain = dpotrs(factor, cross.T, lower=1)[0].T
        self.nis = float(innovation @ dpotrs(factor, innovation, lower=1)[0])
        self.x = self.x + gain @ innovation
        rest = -gain @ H
        rest[np.diag_indices(len(rest))] += 1.0
        P = rest @ self.P @ rest.T + (gain * variance) @ gain.T
        self.P = 0.5 * (P + P.T)
