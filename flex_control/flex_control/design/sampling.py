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
"""Exact sampling of linear systems, inputs held over the period, stiff ones too."""
from __future__ import annotations

import math

import numpy as np

from flex_control.incremental import Pieces

TERMS = 9            # of the series: relative error 0.5^9 / 9! = 5e-9 of a piece of the period
LARGEST_PIECE = 0.5  # norm of A times the first piece


def exponential_and_gramian(A: np.ndarray, Q: np.ndarray,
                            period: float) -> Pieces[tuple[np.ndarray, np.ndarray]]:
    """e^(A T) and the integral from 0 to T of e^(A t) Q e^(A' t) dt, each (k, k); in pieces.

    A series over a short piece of the period T (s), then doubling,
    W(2 h) = W(h) + e^(A h) W(h) e^(A' h). Van Loan's exponential of (-A, Q; 0, A') gives the same,
    but has e^(-A T) in it, which overflows where drives damp light joints.
    """
    doublings = max(0, math.ceil(math.log2(max(np.abs(A).sum(0).max() * period, 1e-300)
                                           / LARGEST_PIECE)))
    step = period / 2**doublings
    power = scaled = step * A
    exponential = np.eye(len(A)) + scaled
    term = step * Q
    gramian = term.copy()
    for k in range(2, TERMS + 1):
        # S_(k+1) = (A S_k + S_k A') h / (k + 1): derivatives of e^(A t) Q e^(A' t) at zero
        product = scaled @ term
        term = (product + product.T) / k
        gramian += term
        power = (power @ scaled) / k
        exponential += power
        yield
    for _ in range(doublings):
        gramian = gramian + exponential @ gramian @ exponential.T
        exponential = exponential @ exponential
        yield
    return exponential, 0.5 * (gramian + gramian.T)
