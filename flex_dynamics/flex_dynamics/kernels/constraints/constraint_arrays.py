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
"""The constraints of a model as arrays, and the scratch memory of their kernels.

A constraint joins two ends, each a frame fixed in a node (-1: the world), and has one or several
rows. A row r is an equation of the speeds,

    alpha.(v2 - v1) + beta1.w1 + beta2.w2 = 0,

v and w the speeds of the origins and the angular velocities of its ends, in world axes. Its
multiplier is the force alpha and the moment beta2 on the second end, the force -alpha and the
moment beta1 on the first.
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from flex_dynamics.kernels.base.layout import LANES, OPTIONS
from flex_dynamics.kernels.base.workspace import array_at, integers_at, up_to_lanes

# Columns of `rows`
KIND, FIRST, SECOND, HOLONOMIC, ACTIVE = 0, 1, 2, 3, 4
ROWS_WIDTH = 5
# Values of KIND, and what `numbers` has for them: vectors in columns 0 to 5, two numbers after
POINT = 0          # a.(p2 - p1) = 0, a in world axes
ALONG = 1          # a.(p2 - p1) = 0, a fixed in the first end
TURN = 2           # a.b = 0, a fixed in the first end, b in the second
DISTANCE = 3       # |p2 - p1| = length (column 6)
HEIGHT = 4         # the lowest point of a wheel touches the ground: axis a in the second end, ...
ROLL = 5           # ... the point there does not move along the wheel: normal b, ...
SIDE = 6           # ... and not across; radius (column 6) and height (column 7)
EDGE = 7           # a point does not move across its heading a on the ground of normal b
NUMBERS_WIDTH = 8
POSE_WIDTH = 12    # rotation by rows, then position
LINE_WIDTH = 18    # alpha, beta1, beta2 and their rates

Constraints = namedtuple('Constraints', (
    'end_nodes',    # (ends,) node that carries each end, -1: the world
    'end_poses',    # (ends, POSE_WIDTH) its pose in the node
    'rows',         # (m, ROWS_WIDTH)
    'numbers',      # (m, NUMBERS_WIDTH)
    'span',         # (nodes, 2) first column, and that after the last, of rows that pull behind
                    # a node; multiples of LANES, equal if there are none
    # scratch; `columns` is m up to a multiple of LANES, columns from m on are zero
    'poses',        # (ends, POSE_WIDTH) in the world
    'speeds',       # (ends, 6) of the origin, then angular, world axes
    'J',            # (ends, 6, n) linear rows first, world axes
    'J_rate',       # (ends, 6, n)
    'lines',        # (m, LINE_WIDTH)
    'error',        # (m,)
    'A',            # (m, n) Jacobian
    'A_rate',       # (m, n)
    'At',           # (n, columns) A'
    'Z',            # (n, columns) L^-1 A' of M = L D L'
    'W',            # (n, columns) D^-1 Z
    'Y',            # (n, columns) M^-1 A'
    'one',          # (2, n, LANES) a single column in the first lane, and its response
    'S',            # (m, columns) A M^-1 A', then its pivoted Cholesky factor
    'size',         # (columns,) what the diagonal of S would be if every joint gave way to a row
    'scale',        # (m,) of the rows
    'right',        # (columns,)
    'multiplier',   # (m,)
    'order',        # (m,) rows in the order of the pivots
    'rank',         # (1,) number of independent rows
    'pull',         # (nodes, 6, columns) wrenches of the rows on each node, node axes
    'move',         # (nodes, 6, columns) accelerations of nodes
    'R_world',      # (nodes, 3, 3)
    'p_world',      # (nodes, 3)
))
INTEGERS = ('end_nodes', 'rows', 'span', 'order', 'rank')


def make_constraints(end_nodes: np.ndarray, end_poses: np.ndarray, rows: np.ndarray,
                     numbers: np.ndarray, parents: np.ndarray, n: int) -> Constraints:
    """Arrays with scratch of their own; the first four are copied. parents (nodes,): of the tree's
    nodes, -1 for the world."""
    ends, m, nodes = len(end_nodes), len(rows), len(parents)
    columns = up_to_lanes(m)
    shapes = {'poses': (ends, POSE_WIDTH), 'speeds': (ends, 6), 'J': (ends, 6, n),
              'J_rate': (ends, 6, n), 'lines': (m, LINE_WIDTH), 'error': (m,), 'A': (m, n),
              'A_rate': (m, n), 'At': (n, columns), 'Z': (n, columns), 'W': (n, columns),
              'Y': (n, columns), 'one': (2, n, LANES), 'S': (m, columns),
              'size': (columns,), 'scale': (m,),
              'right': (columns,), 'multiplier': (m,), 'order': (m,), 'rank': (1,),
              'pull': (nodes, 6, columns), 'move': (nodes, 6, max(columns, LANES)),
              'R_world': (nodes, 3, 3), 'p_world': (nodes, 3)}
    scratch = {name: np.zeros(shape, dtype=np.int64 if name in INTEGERS else np.float64)
               for name, shape in shapes.items()}
    end_nodes = np.array(end_nodes, dtype=np.int64).reshape(ends)
    rows = np.array(rows, dtype=np.int64).reshape(m, ROWS_WIDTH)
    return Constraints(end_nodes, np.array(end_poses, dtype=np.float64).reshape(ends, POSE_WIDTH),
                       rows, np.array(numbers, dtype=np.float64).reshape(m, NUMBERS_WIDTH),
                       spans(end_nodes, rows, parents), **scratch)


def spans(end_nodes: np.ndarray, rows: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Constraints.span: which columns have forces on a node or on what it carries."""
    found = np.zeros((len(parents), 2), dtype=np.int64)
    if not len(parents):
        return found
    for r, row in enumerate(rows):
        first = LANES * (r // LANES)
        for node in end_nodes[[row[FIRST], row[SECOND]]]:
            while node >= 0:
                start, stop = found[node] if found[node, 1] else (first, first)
                found[node] = min(start, first), max(stop, first + LANES)
                node = parents[node]
    return found


def constraint_addresses(c: Constraints) -> list[int]:
    """Sizes and addresses as open_constraints reads them; the arrays must outlive them."""
    assert all(array.flags.c_contiguous for array in c)
    return [len(c.end_nodes), *c.A.shape, len(c.pull), len(c.right),
            *(array.ctypes.data for array in c)]


@njit(**OPTIONS)
def open_constraints(h, at):
    """Constraints whose sizes and addresses begin at h[at]."""
    ends, m, n, nodes, columns = h[at], h[at + 1], h[at + 2], h[at + 3], h[at + 4]
    a = at + 5
    return Constraints(
        integers_at(h[a], (ends,)), array_at(h[a + 1], (ends, POSE_WIDTH)),
        integers_at(h[a + 2], (m, ROWS_WIDTH)), array_at(h[a + 3], (m, NUMBERS_WIDTH)),
        integers_at(h[a + 4], (nodes, 2)),
        array_at(h[a + 5], (ends, POSE_WIDTH)), array_at(h[a + 6], (ends, 6)),
        array_at(h[a + 7], (ends, 6, n)), array_at(h[a + 8], (ends, 6, n)),
        array_at(h[a + 9], (m, LINE_WIDTH)), array_at(h[a + 10], (m,)),
        array_at(h[a + 11], (m, n)), array_at(h[a + 12], (m, n)),
        array_at(h[a + 13], (n, columns)), array_at(h[a + 14], (n, columns)),
        array_at(h[a + 15], (n, columns)), array_at(h[a + 16], (n, columns)),
        array_at(h[a + 17], (2, n, LANES)), array_at(h[a + 18], (m, columns)),
        array_at(h[a + 19], (columns,)), array_at(h[a + 20], (m,)),
        array_at(h[a + 21], (columns,)), array_at(h[a + 22], (m,)),
        integers_at(h[a + 23], (m,)), integers_at(h[a + 24], (1,)),
        array_at(h[a + 25], (nodes, 6, columns)), array_at(h[a + 26], (nodes, 6, columns)),
        array_at(h[a + 27], (nodes, 3, 3)), array_at(h[a + 28], (nodes, 3)))
