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

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.workspace import array_at, integers_at

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
    # scratch
    'poses',        # (ends, POSE_WIDTH) in the world
    'J',            # (ends, 6, n) linear rows first, world axes
    'J_rate',       # (ends, 6, n)
    'lines',        # (m, LINE_WIDTH)
    'error',        # (m,)
    'A',            # (m, n) Jacobian
    'A_rate',       # (m, n)
    'Y',            # (m, n) rows M^-1 A'
    'S',            # (m, m) A Y', then its pivoted Cholesky factor
    'scale',        # (m,) of the rows
    'right',        # (m,)
    'multiplier',   # (m,)
    'order',        # (m,) rows in the order of the pivots
    'rank',         # (1,) number of independent rows
    'node_force',   # (nodes, 6) of a response
    'node_right',   # (nodes, 6)
    'node_acc',     # (nodes, 6)
    'elastic',      # (n,)
    'R_world',      # (nodes, 3, 3)
    'p_world',      # (nodes, 3)
))
INTEGERS = ('end_nodes', 'rows', 'order', 'rank')


def make_constraints(end_nodes: np.ndarray, end_poses: np.ndarray, rows: np.ndarray,
                     numbers: np.ndarray, nodes: int, n: int) -> Constraints:
    """Arrays with scratch of their own; the first four are copied."""
    ends, m = len(end_nodes), len(rows)
    shapes = {'poses': (ends, POSE_WIDTH), 'J': (ends, 6, n), 'J_rate': (ends, 6, n),
              'lines': (m, LINE_WIDTH), 'error': (m,), 'A': (m, n), 'A_rate': (m, n), 'Y': (m, n),
              'S': (m, m), 'scale': (m,), 'right': (m,), 'multiplier': (m,), 'order': (m,),
              'rank': (1,),
              'node_force': (nodes, 6), 'node_right': (nodes, 6), 'node_acc': (nodes, 6),
              'elastic': (n,), 'R_world': (nodes, 3, 3), 'p_world': (nodes, 3)}
    scratch = {name: np.zeros(shape, dtype=np.int64 if name in INTEGERS else np.float64)
               for name, shape in shapes.items()}
    return Constraints(np.array(end_nodes, dtype=np.int64).reshape(ends),
                       np.array(end_poses, dtype=np.float64).reshape(ends, POSE_WIDTH),
                       np.array(rows, dtype=np.int64).reshape(m, ROWS_WIDTH),
                       np.array(numbers, dtype=np.float64).reshape(m, NUMBERS_WIDTH), **scratch)


def constraint_addresses(c: Constraints) -> list[int]:
    """Sizes and addresses as open_constraints reads them; the arrays must outlive them."""
    assert all(array.flags.c_contiguous for array in c)
    return [len(c.end_nodes), *c.A.shape, len(c.node_force), *(array.ctypes.data for array in c)]


@njit(**OPTIONS)
def open_constraints(h, at):
    """Constraints whose sizes and addresses begin at h[at]."""
    ends, m, n, nodes = h[at], h[at + 1], h[at + 2], h[at + 3]
    a = at + 4
    return Constraints(
        integers_at(h[a], (ends,)), array_at(h[a + 1], (ends, POSE_WIDTH)),
        integers_at(h[a + 2], (m, ROWS_WIDTH)), array_at(h[a + 3], (m, NUMBERS_WIDTH)),
        array_at(h[a + 4], (ends, POSE_WIDTH)), array_at(h[a + 5], (ends, 6, n)),
        array_at(h[a + 6], (ends, 6, n)), array_at(h[a + 7], (m, LINE_WIDTH)),
        array_at(h[a + 8], (m,)), array_at(h[a + 9], (m, n)), array_at(h[a + 10], (m, n)),
        array_at(h[a + 11], (m, n)), array_at(h[a + 12], (m, m)), array_at(h[a + 13], (m,)),
        array_at(h[a + 14], (m,)), array_at(h[a + 15], (m,)), integers_at(h[a + 16], (m,)),
        integers_at(h[a + 17], (1,)), array_at(h[a + 18], (nodes, 6)),
        array_at(h[a + 19], (nodes, 6)), array_at(h[a + 20], (nodes, 6)),
        array_at(h[a + 21], (n,)), array_at(h[a + 22], (nodes, 3, 3)),
        array_at(h[a + 23], (nodes, 3)))
