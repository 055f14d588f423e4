"""The `linear` order: equations of motion to first order in elastic coordinates and speeds.

Cibicik and Egeland's model: kinematics truncated at every step, a section's rotation I + theta x
and its angular velocity theta' in the beam's axes, M = P'D P and C of (112), gravity of (109).
What holds and what does not:

- M is linear in the elastic coordinates, and not positive definite for large ones: calls that need
  M then say so. At zero deflection it is the M of every order.
- theta' is not the angular velocity of any rotation beyond first order, but for planar motion. So
  the linear part of M differs from that of order `first` where elastic coordinates meet, and C v
  and g in their elastic rows; what joints feel of each other is the same.
- dM/dt - 2 C is skew-symmetric, exactly. C v has all terms of first order in elastic coordinates
  and speeds together, centrifugal softening among them, which Lagrange's equations of the
  truncated M would lose; of products of elastic speeds it has those that skewness asks for.
"""
from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from flex_dynamics.build.linear_beam import beam_blocks, largest_turn, section_shapes
from flex_dynamics.build.pack import Packed
from flex_dynamics.build.tree import Tree
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.linear.linear_kinematics import LinearScratch
from flex_dynamics.kernels.linear.linear_order import linear_terms


class LinearOrder:
    """M, C and g of a packed tree, truncated to first order. Vectors (n,) as in Model."""

    def __init__(self, tree: Tree, packed: Packed, gravity: np.ndarray, known: dict) -> None:
        """gravity (3,) m/s2, world axes. known: beams' integrals, to share between models."""
        self._names = packed.names
        self._first_elastic = packed.first_elastic
        table, nodes = packed.table, len(tree.nodes)
        columns = _moving_coordinates(table)
        most = max(map(len, columns))
        padded = np.zeros((nodes, most), dtype=np.int64)
        for row, used in zip(padded, columns, strict=True):
            row[:len(used)] = used
        counts = np.array([len(used) for used in columns])
        shapes, blocks = [np.zeros(0)], [np.zeros(0)]
        at = np.zeros(nodes, dtype=np.int64)
        self._turn = np.zeros(len(packed.names))
        for i, node in enumerate(tree.nodes):
            if node.beam is not None:
                fields = packed.fields[i]
                if (node.beam.link, 'linear blocks') not in known:
                    known[node.beam.link, 'linear blocks'] = beam_blocks(fields)
                at[i] = sum(map(len, blocks))
                blocks.append(known[node.beam.link, 'linear blocks'])
                start = table[i, layout.ELASTIC]
                self._turn[start:start + fields.n_modes] = largest_turn(fields)
            elif node.kind == layout.ON_BEAM:
                phi = section_shapes(packed.fields[node.parent], np.array([node.section_x]))[0]
                at[i] = sum(map(len, shapes))
                shapes.append(np.concatenate(([node.section_x], phi.T.ravel())))
        self._arrays = (table, packed.body, padded, counts, np.concatenate(shapes),
                        np.concatenate(blocks), at, gravity)
        self._scratch = _scratch(nodes, most, max(table[:, layout.MODES].max(), 1))

    def terms(self, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M (n, n), C (n, n) and g (n,), whether or not M is positive definite."""
        n = len(self._names)
        mass, coriolis, force = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        linear_terms(*self._arrays, q, v, True, self._scratch, mass, coriolis, force)
        return mass, coriolis, force

    def mass_and_gravity(self, q) -> tuple[np.ndarray, np.ndarray]:
        """M (n, n) and g (n,), whether or not M is positive definite."""
        n = len(self._names)
        mass, force = np.empty((n, n)), np.empty(n)
        linear_terms(*self._arrays, q, q, False, self._scratch, mass, mass, force)
        return mass, force

    def mass_matrix(self, q) -> np.ndarray:
        """M (n, n); DynamicsError where it is not positive definite."""
        mass = self.mass_and_gravity(q)[0]
        self._factor(mass, q)
        return mass

    def mass_and_coriolis(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """M, checked as above, and C (n, n) with dM/dt - 2 C skew-symmetric."""
        mass, coriolis, _ = self.terms(q, v)
        self._factor(mass, q)
        return mass, coriolis

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """M a + C v + g (n,); springs and dampers are not in it."""
        mass, coriolis, force = self.terms(q, v)
        if a.any():
            self._factor(mass, q)
        return mass @ a + coriolis @ v + force

    def forward_dynamics(self, q, v, generalised_force) -> np.ndarray:
        """Accelerations (n,) by Cholesky; generalised_force (n,) without C v and g."""
        mass, coriolis, force = self.terms(q, v)
        factor = self._factor(mass, q)
        return dpotrs(factor, generalised_force - coriolis @ v - force, lower=1)[0]

    def _factor(self, mass: np.ndarray, q: np.ndarray) -> np.ndarray:
        factor, pivot = dpotrf(mass, lower=1)
        if pivot:
            self._complain(q)
        return factor

    def _complain(self, q: np.ndarray) -> None:
        rigid = q.copy()
        rigid[self._first_elastic:] = 0.0
        pivot = dpotrf(self.mass_and_gravity(rigid)[0], lower=1)[1]
        if pivot:
            raise DynamicsError(
                f'mass matrix not positive definite at coordinate {self._names[pivot - 1]}: it '
                'moves no mass; give the links behind it an inertia')
        turns = self._turn * np.abs(q)
        worst = int(np.argmax(turns))
        raise DynamicsError(
            "order 'linear': the mass matrix, truncated to first order in the deflections, is not "
            f'positive definite at this state; largest deflection: {self._names[worst]} = '
            f'{q[worst]:.4g}, which turns a section by {turns[worst]:.2g} rad. Use order '
            "'second', which has no such limit, or keep the links from bending so far")


def _moving_coordinates(table: np.ndarray) -> list[list[int]]:
    """Per node the coordinates that move it, its parent's first."""
    columns: list[list[int]] = []
    for row in table:
        parent = row[layout.PARENT]
        used = list(columns[parent]) if parent >= 0 else []
        if row[layout.KIND] == layout.ON_BEAM:
            start = table[parent, layout.ELASTIC]
            used += range(start, start + table[parent, layout.MODES])
        else:
            used += range(row[layout.Q], row[layout.Q] + row[layout.DOF])
        columns.append(used)
    return columns


def _scratch(nodes: int, most: int, modes: int) -> LinearScratch:
    size, wide = 6 + modes, most + modes + 1
    shapes = {'R': (3, 3), 'p': (3,), 'S': (6, 6), 'S_rate': (6, 6), 'V': (nodes, 2, 6),
              'G': (nodes, 2, 6), 'J': (nodes, 2, most, 6), 'J_rate': (nodes, 2, most, 6),
              'T': (2, wide, size), 'T_rate': (2, wide, size), 'D': (2, size, size),
              'B': (2, size, size), 'y': (2, size), 'z': (2, size), 'turn': (6,),
              'turn_rate': (6,)}
    return LinearScratch(**{name: np.zeros(shape) for name, shape in shapes.items()})
