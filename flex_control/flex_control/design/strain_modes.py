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
"""Modes of an arm that strain gauges see and joints move: amplitudes from gauges, efforts back."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from flex_control.design.rest_model import RestModel

SEEN = 1e-3          # of the largest participation: modes with less are left alone
WELL = 1e3           # condition number up to which the amplitudes of modes are told apart
WEAK = 0.01          # of the largest b'b: modes that joints hardly move are left alone gradually


class StrainModes(NamedTuple):
    """m modes of the robot on the springs of its joint loops.

    frequencies (m,), rad/s. reader (m, n_gauges): strains to amplitudes p of the modes (mass 1).
    drive (n_joints, m): efforts with which a mode of amplitude p obeys p'' + w^2 p = f, per f:
    the least ones, over the efforts of `unit`, smaller where joints hardly move the mode. shapes
    (n, m): of the modes.
    """

    frequencies: np.ndarray
    reader: np.ndarray
    drive: np.ndarray
    shapes: np.ndarray


def strain_modes(rest: RestModel, strain: np.ndarray, kp: np.ndarray, unit: np.ndarray,
                 highest: float) -> StrainModes:
    """The modes at the pose of `rest` that gauges with strain = `strain` (n_gauges, n) dq tell
    apart, the ones with the largest participation first to be taken.

    kp (n_joints,): stiffness of the joint loops. unit (n_joints,): efforts of one size. highest:
    rad/s, faster modes are left alone.
    """
    K = rest.K + (rest.B * kp) @ rest.B.T
    squares, shapes = eigh(0.5 * (K + K.T), rest.M, check_finite=False)
    first = int(np.searchsorted(squares, 1e-6))
    last = int(np.searchsorted(squares, highest**2))
    squares, shapes = squares[first:last], shapes[:, first:last]
    seen = strain @ shapes
    moved = unit[:, None] * (rest.B.T @ shapes)
    # strain per effort of one size at each mode's resonance, to a factor of its damping ratio
    share = (np.linalg.norm(seen, axis=0) * np.linalg.norm(moved, axis=0)
             / np.maximum(squares, 1e-12))
    taken: list[int] = []
    for mode in np.argsort(-share, kind='stable'):
        if share[mode] <= SEEN * share.max(initial=0.0) or len(taken) == len(strain):
            break
        scaled = seen[:, [*taken, mode]]
        scaled = scaled / np.linalg.norm(scaled, axis=0)
        if np.linalg.cond(scaled) < WELL:
            taken.append(int(mode))
    taken.sort()
    seen, moved, shapes = seen[:, taken], moved[:, taken], shapes[:, taken]
    power = (moved**2).sum(axis=0)
    drive = unit[:, None] * moved / (power + WEAK * power.max(initial=0.0) + 1e-300)
    reader = np.linalg.pinv(seen) if taken else np.zeros((0, len(strain)))
    return StrainModes(np.sqrt(squares[taken]), reader, drive, shapes)


def in_order_of(modes: StrainModes, before: StrainModes, M: np.ndarray) -> StrainModes | None:
    """The same modes in the order and with the signs of `before`, which they continue at another
    pose; None if they are other ones."""
    if modes.frequencies.shape != before.frequencies.shape or not modes.frequencies.size:
        return None
    overlap = before.shapes.T @ M @ modes.shapes
    order = np.argmax(np.abs(overlap), axis=1)
    if len(set(order.tolist())) != len(order):
        return None
    sign = np.where(overlap[np.arange(len(order)), order] < 0.0, -1.0, 1.0)
    return StrainModes(modes.frequencies[order], sign[:, None] * modes.reader[order],
                       modes.drive[:, order] * sign, modes.shapes[:, order] * sign)
