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
"""Scratch of the kernels: one flat array, carved into named places, so that no kernel allocates.

What vector code works on is given by its address; rows of six numbers are ROW apart there.
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from flex_dynamics.kernels.base.layout import (
    FULL,
    KIND,
    LANES,
    MODES,
    N_AXIS,
    N_SECTIONS,
    ON_BEAM,
    OPTIONS,
    PARENT,
    ROW,
    Q,
)
from flex_dynamics.kernels.base.vector import ADDRESS

INERTIA_BLOCK = 6 * ROW

# Small parts, so that inner functions are handed a few addresses and not all of the workspace.
Fields = namedtuple('Fields', (
    'point',        # (columns,) axis points and rotation vectors of a beam ...
    'point_rate',
    'convective',
    'force',
    'B',            # (most modes, columns) ... and their gradients
    'B_rate',
    'turn',         # (9, sections) R' of every section, one row an entry ...
    'weighted_turn',    # ... and its rows times the roots of the section's inertia
))
Scratch = namedtuple('Scratch', (
    'X',            # (6, ROW) one change of frame
    'T',            # (6, ROW) one inertia between two frames
    'rows',         # (most modes, ROW) forces of amplitudes at a section
    'section',      # (5, ROW) fields of one section ...
    'section_B',    # (most modes, ROW) ... and their gradients
    'section_B_rate',
))
Workspace = namedtuple('Workspace', (
    # Arrays
    'R',        # (nodes, 3, 3) node axes to parent axes
    'p',        # (nodes, 3) node origin in the parent
    'V',        # (nodes, 6) twist
    'c',        # (nodes, 6) acceleration that speeds alone cause
    'b',        # (nodes, 6) own bias force
    'D',        # (nodes, 6) joint pivots and their right-hand sides
    'S',        # (6, 6) screws of the floating or planar base, one row a coordinate
    'S_rate',
    'base_U',   # (6, 6)
    'base_D',   # (6, 6)
    'six',      # (8, 6) small vectors
    'phi',      # (section rows, ROW) section Jacobian, one row an amplitude
    'phi_rate',
    # Addresses
    'A',        # (nodes, 6, ROW) articulated or composite inertia, bias force in column 6
    'acc',      # (nodes, ROW) acceleration, gravity as an upward acceleration of the base, then 1
    'U',        # (nodes, ROW) A times screw; in the parent's axes for elastic joints
    'F',        # (elastic, ROW) coupling of amplitudes and twist, bias force in column 6
    'H',        # (elastic, most modes up to a multiple of LANES) elastic block
    'most',     # row length of H
    'fields',
    'scratch',
))


def up_to_lanes(count: int) -> int:
    return LANES * -(-count // LANES)


def sizes(table: np.ndarray) -> np.ndarray:
    """(nodes, elastic, most modes, columns, section rows, sections, followers) of a model's
    table."""
    sections = table[:, KIND] == ON_BEAM
    modes = table[:, MODES]
    columns = 3 * (table[:, N_AXIS] + table[:, N_SECTIONS])
    section_rows = sum(up_to_lanes(m) for m in modes[table[sections, PARENT]])
    return np.array([len(table), modes.sum(), up_to_lanes(max(modes.max(initial=0), 1)),
                     max(columns.max(initial=0), 6), max(section_rows, 1),
                     table[:, N_SECTIONS].max(initial=0),
                     (table[:, FULL] != table[:, Q]).sum()], dtype=np.int64)


def workspace_length(size: np.ndarray) -> int:
    nodes, elastic, most, columns, section_rows, sections = (int(s) for s in size[:6])
    return (nodes * (9 + 3 + 4 * 6) + 4 * 36 + 48 + 2 * ROW * section_rows
            + nodes * (INERTIA_BLOCK + 2 * ROW) + (elastic + LANES) * (ROW + most)
            + 2 * INERTIA_BLOCK + (3 * most + 5) * ROW + (4 + 2 * most) * columns
            + 18 * sections)


@intrinsic
def at_address(typing_context, address):
    """A pointer to doubles at an address."""
    def build(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))
    return ADDRESS(address), build


def _array_at(element, shape):
    """Type of, and code for, an array at an address; nothing owns it."""
    array_type = types.Array(element, len(shape), 'C')

    def build(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(element)))
        extents = [context.cast(builder, extent, numba_type, types.intp) for extent, numba_type in
                   zip(cgutils.unpack_tuple(builder, arguments[1]), shape, strict=True)]
        size = context.get_constant(types.intp, 8)
        strides = [size]
        for extent in extents[:0:-1]:
            strides.insert(0, builder.mul(strides[0], extent))
        array = context.make_array(array_type)(context, builder)
        populate_array(array, data=pointer, shape=extents, strides=strides, itemsize=size,
                       meminfo=None)
        return array._getvalue()
    return array_type, build


@intrinsic
def array_at(typing_context, address, shape):
    """An array of float64 at an address. (carray would need reference counts.)"""
    array_type, build = _array_at(types.float64, shape)
    return array_type(address, shape), build


@intrinsic
def integers_at(typing_context, address, shape):
    """An array of int64 at an address."""
    array_type, build = _array_at(types.int64, shape)
    return array_type(address, shape), build


@njit(**OPTIONS)
def carve(work, size):
    """Places in the flat scratch array; see Workspace.

    They are made from addresses, not by slicing: half a microsecond instead of two, and views that
    own nothing need no reference counts. `work` must outlive them, as an argument does.
    """
    nodes, most, columns, section_rows = size[0], size[2], size[3], size[4]
    elastic = size[1] + LANES
    base, at = work.ctypes.data, 0
    R = array_at(base + 8 * at, (nodes, 3, 3))
    at += 9 * nodes
    p = array_at(base + 8 * at, (nodes, 3))
    at += 3 * nodes
    V = array_at(base + 8 * at, (nodes, 6))
    at += 6 * nodes
    c = array_at(base + 8 * at, (nodes, 6))
    at += 6 * nodes
    b = array_at(base + 8 * at, (nodes, 6))
    at += 6 * nodes
    D = array_at(base + 8 * at, (nodes, 6))
    at += 6 * nodes
    S = array_at(base + 8 * at, (6, 6))
    at += 36
    S_rate = array_at(base + 8 * at, (6, 6))
    at += 36
    base_U = array_at(base + 8 * at, (6, 6))
    at += 36
    base_D = array_at(base + 8 * at, (6, 6))
    at += 36
    six = array_at(base + 8 * at, (8, 6))
    at += 48
    phi = array_at(base + 8 * at, (section_rows, ROW))
    at += ROW * section_rows
    phi_rate = array_at(base + 8 * at, (section_rows, ROW))
    at += ROW * section_rows
    A = at_address(base + 8 * at)
    at += INERTIA_BLOCK * nodes
    acc = at_address(base + 8 * at)
    at += ROW * nodes
    U = at_address(base + 8 * at)
    at += ROW * nodes
    F = at_address(base + 8 * at)
    at += ROW * elastic
    H = at_address(base + 8 * at)
    at += most * elastic
    T = at_address(base + 8 * at)
    at += INERTIA_BLOCK
    X = at_address(base + 8 * at)
    at += INERTIA_BLOCK
    rows = at_address(base + 8 * at)
    at += ROW * most
    section = at_address(base + 8 * at)
    at += 5 * ROW
    section_B = at_address(base + 8 * at)
    at += ROW * most
    section_B_rate = at_address(base + 8 * at)
    at += ROW * most
    point = at_address(base + 8 * at)
    at += columns
    point_rate = at_address(base + 8 * at)
    at += columns
    convective = at_address(base + 8 * at)
    at += columns
    force = at_address(base + 8 * at)
    at += columns
    B = at_address(base + 8 * at)
    at += most * columns
    B_rate = at_address(base + 8 * at)
    at += most * columns
    turn = at_address(base + 8 * at)
    at += 9 * size[5]
    weighted_turn = at_address(base + 8 * at)
    return Workspace(R, p, V, c, b, D, S, S_rate, base_U, base_D, six, phi, phi_rate, A, acc, U, F,
                     H, most, Fields(point, point_rate, convective, force, B, B_rate, turn,
                                     weighted_turn),
                     Scratch(X, T, rows, section, section_B, section_B_rate))
