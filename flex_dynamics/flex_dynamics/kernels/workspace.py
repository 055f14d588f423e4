"""Scratch of the kernels: one flat array, carved into named views, so that no kernel allocates."""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from flex_dynamics.kernels.layout import (
    KIND,
    MODES,
    N_AXIS,
    N_DIRECTOR,
    ON_BEAM,
    OPTIONS,
    PARENT,
)

Workspace = namedtuple('Workspace', (
    'R',        # (nodes, 3, 3) node axes to parent axes
    'p',        # (nodes, 3) node origin in the parent
    'V',        # (nodes, 6) twist
    'c',        # (nodes, 6) acceleration that speeds alone cause
    'acc',      # (nodes, 6) acceleration, gravity as an upward acceleration of the base
    'A',        # (nodes, 6, 6) articulated or composite inertia
    'b',        # (nodes, 6) articulated bias force
    'U',        # (nodes, 6) A times screw; in the parent's axes for elastic joints
    'D',        # (nodes, 6) joint pivots and their right-hand sides
    'F',        # (elastic, 6) coupling of amplitudes and twist
    'H',        # (elastic, most modes) elastic block, then its Cholesky factor
    'G',        # (elastic, 6) H^-1 F
    'e',        # (elastic,) elastic right-hand side
    'phi',      # (section modes, 6) section Jacobian, one row an amplitude
    'phi_rate',
    'S',        # (6, 6) screws of the floating or planar base, one row a coordinate
    'S_rate',
    'base_U',   # (6, 6)
    'base_D',   # (6, 6)
    'point',    # (columns,) fields at the Gauss sections ...
    'point_rate',
    'convective',
    'force',
    'B',        # flat (most modes times columns) ... and their gradients
    'B_rate',
    'six',      # (8, 6) small vectors
    'section',  # (6,) fields of one section ...
    'section_rate',
    'section_convective',
    'section_B',        # (most modes, 6) ... and its gradient
    'section_B_rate',
))


def sizes(table: np.ndarray) -> np.ndarray:
    """(nodes, elastic, most modes, columns, section modes) of a model's table."""
    sections = table[:, KIND] == ON_BEAM
    modes = table[:, MODES]
    columns = 3 * (table[:, N_AXIS] + 2 * table[:, N_DIRECTOR])
    section_modes = modes[table[sections, PARENT]].sum() if sections.any() else 0
    return np.array([len(table), modes.sum(), max(modes.max(initial=0), 1),
                     max(columns.max(initial=0), 6), max(section_modes, 1)], dtype=np.int64)


def workspace_length(size: np.ndarray) -> int:
    nodes, elastic, most, columns, section_modes = (int(s) for s in size)
    elastic = max(elastic, 1)
    return (nodes * (9 + 3 + 6 * 3 + 36 + 6 * 3) + elastic * (6 + most + 6 + 1)
            + 12 * section_modes + 4 * 36 + 4 * columns + 2 * most * columns + 66 + 12 * most)


@intrinsic
def at_address(typing_context, address):
    """A pointer to doubles at an address."""
    def build(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))
    return types.CPointer(types.float64)(address), build


@njit(**OPTIONS)
def carve(work, size):
    """Views of the flat scratch array; see Workspace.

    They are made from addresses, not by slicing: half a microsecond instead of two, and views that
    own nothing need no reference counts. `work` must outlive them, as an argument does.
    """
    nodes, most, columns, section_modes = size[0], size[2], size[3], size[4]
    elastic = max(size[1], 1)
    base, at = work.ctypes.data, 0
    R = carray(at_address(base + 8 * at), (nodes, 3, 3))
    at += 9 * nodes
    p = carray(at_address(base + 8 * at), (nodes, 3))
    at += 3 * nodes
    V = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    c = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    acc = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    A = carray(at_address(base + 8 * at), (nodes, 6, 6))
    at += 36 * nodes
    b = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    U = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    D = carray(at_address(base + 8 * at), (nodes, 6))
    at += 6 * nodes
    F = carray(at_address(base + 8 * at), (elastic, 6))
    at += 6 * elastic
    H = carray(at_address(base + 8 * at), (elastic, most))
    at += most * elastic
    G = carray(at_address(base + 8 * at), (elastic, 6))
    at += 6 * elastic
    e = carray(at_address(base + 8 * at), (elastic,))
    at += elastic
    phi = carray(at_address(base + 8 * at), (section_modes, 6))
    at += 6 * section_modes
    phi_rate = carray(at_address(base + 8 * at), (section_modes, 6))
    at += 6 * section_modes
    S = carray(at_address(base + 8 * at), (6, 6))
    at += 36
    S_rate = carray(at_address(base + 8 * at), (6, 6))
    at += 36
    base_U = carray(at_address(base + 8 * at), (6, 6))
    at += 36
    base_D = carray(at_address(base + 8 * at), (6, 6))
    at += 36
    point = carray(at_address(base + 8 * at), (columns,))
    at += columns
    point_rate = carray(at_address(base + 8 * at), (columns,))
    at += columns
    convective = carray(at_address(base + 8 * at), (columns,))
    at += columns
    force = carray(at_address(base + 8 * at), (columns,))
    at += columns
    B = carray(at_address(base + 8 * at), (most * columns,))
    at += most * columns
    B_rate = carray(at_address(base + 8 * at), (most * columns,))
    at += most * columns
    six = carray(at_address(base + 8 * at), (8, 6))
    at += 48
    section = carray(at_address(base + 8 * at), (6,))
    at += 6
    section_rate = carray(at_address(base + 8 * at), (6,))
    at += 6
    section_convective = carray(at_address(base + 8 * at), (6,))
    at += 6
    section_B = carray(at_address(base + 8 * at), (most, 6))
    at += 6 * most
    section_B_rate = carray(at_address(base + 8 * at), (most, 6))
    return Workspace(R, p, V, c, acc, A, b, U, D, F, H, G, e, phi, phi_rate, S, S_rate, base_U,
                     base_D, point, point_rate, convective, force, B, B_rate, six, section,
                     section_rate, section_convective, section_B, section_B_rate)
