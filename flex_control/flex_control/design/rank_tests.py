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
"""Stabilisability and detectability: the test of Popov, Belevitch and Hautus."""
from __future__ import annotations

import numpy as np

LOWEST = 1e-7        # singular values below count as zero; the blocks are scaled to one
DECAYS = 1e-9        # modes with |eigenvalue| < 1 - DECAYS decay by themselves


def unreachable(F: np.ndarray, G: np.ndarray) -> np.ndarray | None:
    """A direction (k,) of a motion that neither decays nor is moved by inputs; None if none is.

    x+ = F x + G u is stabilisable if [F - z I, G] has full rank at every eigenvalue z of F with
    |z| >= 1. Otherwise w'[F - z I, G] = 0 for some w, which is returned.
    """
    inputs = G / max(float(np.abs(G).max(initial=0.0)), 1e-300)
    for value in np.linalg.eigvals(F):
        if abs(value) < 1.0 - DECAYS or value.imag < 0.0:
            continue
        pencil = np.hstack((F - value * np.eye(len(F)), inputs))
        left, values, _ = np.linalg.svd(pencil)
        if values[-1] < LOWEST:
            weights: np.ndarray = np.abs(left[:, -1])
            return weights
    return None


def unobservable(F: np.ndarray, H: np.ndarray) -> np.ndarray | None:
    """A direction (k,) of a motion that neither decays nor shows in y = H x; None if none is."""
    return unreachable(F.T, H.T)
