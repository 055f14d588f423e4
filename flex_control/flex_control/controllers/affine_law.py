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
"""A control law as numbers: feedforward and gains of one update, for compiled loops."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AffineLaw:
    """u+ = clip(ff + u - K_u u - K (x - x_r) - K_i z) - ff,  z' = E (q - q_r),  tau = ff + u+.

    effort (n_joints,): ff. q, v (n,): x_r. state (n_joints, 2 n): K, None where the update has
    no feedback. memory (n_joints, n_joints): K_u, None: the law does not remember its efforts.
    integral (n_joints, z), errors (z, n): K_i and E. limit (n_joints,): of clip.
    """

    effort: np.ndarray
    q: np.ndarray
    v: np.ndarray
    state: np.ndarray | None
    memory: np.ndarray | None
    integral: np.ndarray
    errors: np.ndarray
    limit: np.ndarray
