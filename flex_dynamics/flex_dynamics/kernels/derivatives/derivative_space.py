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
"""Scratch of the derivatives: one flat array, carved into named places (see base/workspace.py)."""
from __future__ import annotations

from collections import namedtuple

from numba import njit

from flex_dynamics.kernels.base.layout import LANES, OPTIONS, ROW
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, at_address, workspace_length
from flex_dynamics.kernels.derivatives.responses import TWIST

SLOT = 4 * ROW            # rows of a coordinate at the node that it moves; see SCREW_ROW ... below
# Rows of a slot: the coordinate's screw s; change of the node's twist and of its acceleration with
# the position, and of its acceleration with the speed (that of its twist is s).
SCREW_ROW, TWIST_ROW, ACCELERATION_ROW, SPEED_ROW = 0, ROW, 2 * ROW, 3 * ROW
BASE_SLOTS = 6            # of a node with a joint

# Addresses
BeamSpace = namedtuple('BeamSpace', (
    'second',       # (columns,) gradients times accelerations
    'spare',        # (columns,)
    'B_second',     # (most modes, columns) second rates of the gradients, without speeds
    'acceleration',     # (columns,) of axis points; of sections: moments, carried to theta
    'turn',         # (9, sections) R' of every section
    'by_twist',     # (3, columns) change of axis accelerations and of scaled moments by w ...
    'by_position',  # (most modes, columns) ... by amplitudes
    'by_speed',     # (most modes, columns) ... and by their speeds
    'carried',      # (most modes, columns) moments that turn with their sections
    'bent',         # (most modes, columns) change of moments carried to theta
))
Space = namedtuple('Space', (
    'B',            # (nodes, 6, ROW) force per twist of composite bodies, beside the inertia w.A
    'X',            # (nodes, 6, ROW) change of frame to the parent
    'own',          # (nodes, ROW) twist against the parent, in the node's axes
    'slots',        # (section rows + 6 nodes, SLOT) motion by coordinates
    'first_joint',  # slot of the first node's joint
    'g',            # (elastic, ROW) force on the amplitude per twist, beside w.F per acceleration
    'hq',           # (elastic, ROW) force on the twist per amplitude ...
    'hv',           # (elastic, ROW) ... and per its speed
    'Kq',           # (elastic, most) force on amplitudes per amplitude ...
    'Kv',           # (elastic, most) ... and per its speed
    'rows',         # (6, ROW) scratch
    'J',            # (28,) Jr and its rates of one rotation
    'section',      # (5, ROW) fields of one section at accelerations ...
    'section_B',    # (most modes, ROW)
    'section_B_second',     # (most modes, ROW) ... and their gradients
    'responses',    # two twists of four forces a node
    'beam',
))


@njit(**OPTIONS)
def _own_length(size):
    nodes, elastic, most, columns, section_rows, sections = (size[0], size[1], size[2], size[3],
                                                             size[4], size[5])
    return (nodes * (2 * INERTIA_BLOCK + ROW + 2 * TWIST)
            + SLOT * (section_rows + BASE_SLOTS * nodes)
            + (elastic + LANES) * (3 * ROW + 2 * most) + 6 * ROW + 28 + (2 * most + 5) * ROW
            + columns * (3 + 3 + 5 * most) + 9 * sections)


def derivative_length(size) -> int:
    """Numbers that the derivatives of a model need, the places of workspace.carve among them."""
    return workspace_length(size) + int(_own_length.py_func(size))


@njit(**OPTIONS)
def carve_derivatives(work, size):
    """Places at the end of the flat scratch array; see Space. At its start is a Workspace."""
    nodes, most, columns, section_rows = size[0], size[2], size[3], size[4]
    elastic = size[1] + LANES
    base, at = work.ctypes.data, work.shape[0] - _own_length(size)
    B = at_address(base + 8 * at)
    at += INERTIA_BLOCK * nodes
    X = at_address(base + 8 * at)
    at += INERTIA_BLOCK * nodes
    own = at_address(base + 8 * at)
    at += ROW * nodes
    slots = at_address(base + 8 * at)
    at += SLOT * (section_rows + BASE_SLOTS * nodes)
    g = at_address(base + 8 * at)
    at += ROW * elastic
    hq = at_address(base + 8 * at)
    at += ROW * elastic
    hv = at_address(base + 8 * at)
    at += ROW * elastic
    Kq = at_address(base + 8 * at)
    at += most * elastic
    Kv = at_address(base + 8 * at)
    at += most * elastic
    rows = at_address(base + 8 * at)
    at += 6 * ROW
    J = at_address(base + 8 * at)
    at += 28
    section = at_address(base + 8 * at)
    at += 5 * ROW
    section_B = at_address(base + 8 * at)
    at += ROW * most
    section_B_second = at_address(base + 8 * at)
    at += ROW * most
    places = at_address(base + 8 * at)
    at += 2 * TWIST * nodes
    second = at_address(base + 8 * at)
    at += columns
    spare = at_address(base + 8 * at)
    at += columns
    acceleration = at_address(base + 8 * at)
    at += columns
    by_twist = at_address(base + 8 * at)
    at += 3 * columns
    B_second = at_address(base + 8 * at)
    at += most * columns
    by_position = at_address(base + 8 * at)
    at += most * columns
    by_speed = at_address(base + 8 * at)
    at += most * columns
    carried = at_address(base + 8 * at)
    at += most * columns
    bent = at_address(base + 8 * at)
    at += most * columns
    turn = at_address(base + 8 * at)
    return Space(B, X, own, slots, section_rows, g, hq, hv, Kq, Kv, rows, J, section, section_B,
                 section_B_second, places,
                 BeamSpace(second, spare, B_second, acceleration, turn, by_twist, by_position,
                           by_speed, carried, bent))
