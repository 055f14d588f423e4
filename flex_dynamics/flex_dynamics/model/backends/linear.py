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
from scipy.linalg.lapack import dpotrf

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.build.linear_beam import beam_blocks, largest_turn, section_shapes
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.linear.linear_derivatives import LinearChange, linear_derivatives
from flex_dynamics.kernels.linear.linear_kinematics import LinearScratch
from flex_dynamics.kernels.linear.linear_order import linear_terms
from flex_dynamics.model.backends.dense import DenseBackend
from flex_dynamics.model.data import Data


class LinearBackend(DenseBackend):
    """M, C and g truncated to first order. See Backend for what the methods take and give."""

    name = 'linear'

    def __init__(self, assembly: Assembly) -> None:
        super().__init__(assembly)
        tree, packed, known = assembly.tree, assembly.packed, assembly.beams
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
                        np.concatenate(blocks), at, assembly.gravity)
        self._sizes = nodes, most, int(max(table[:, layout.MODES].max(), 1))

    def rebuilt(self, assembly: Assembly) -> LinearBackend:
        return LinearBackend(assembly)

    def create_scratch(self) -> LinearWork:
        return LinearWork(self._n, *self._sizes)

    def terms(self, q: Array, v: Array,
              data: Data) -> tuple[Array, Array, Array]:
        n = self._n
        mass, coriolis, force = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        linear_terms(*self._arrays, q, v, True, data.backend_scratch.terms, mass, coriolis, force)
        return mass, coriolis, force

    def force_derivatives(self, q: Array, v: Array, a: Array,
                          data: Data) -> tuple[Array, Array, Array]:
        n = self._n
        mass = self.terms(q, v, data)[0]
        by_q, by_v = np.empty((n, n)), np.empty((n, n))
        work: LinearWork = data.backend_scratch
        linear_derivatives(*self._arrays[:-1], q, v, a, work.terms, work.change, by_q, by_v)
        return by_q, by_v, mass

    def mass_matrix(self, q: Array, data: Data) -> Array:
        mass = self._unchecked_mass(q, data)
        self._factor(mass, q, data)
        return mass

    def _unchecked_mass(self, q: Array, data: Data) -> Array:
        """M (n, n), whether or not it is positive definite."""
        n = self._n
        mass, force = np.empty((n, n)), np.empty(n)
        linear_terms(*self._arrays, q, q, False, data.backend_scratch.terms, mass, mass, force)
        return mass

    def inverse_dynamics(self, q: Array, v: Array, a: Array,
                         data: Data) -> Array:
        mass, coriolis, force = self.terms(q, v, data)
        if a.any():
            self._factor(mass, q, data)
        return mass @ a + coriolis @ v + force

    def _factor(self, mass: Array, q: Array, data: Data) -> Array:
        factor: Array
        factor, pivot = dpotrf(mass, lower=1)
        if pivot:
            self._refuse_mass(q, data)
        return factor

    def _refuse_mass(self, q: Array, data: Data) -> None:
        names = self._assembly.names
        rigid = q.copy()
        rigid[self._assembly.packed.first_elastic:] = 0.0
        pivot = dpotrf(self._unchecked_mass(rigid, data), lower=1)[1]
        if pivot:
            raise DynamicsError(
                f'mass matrix not positive definite at coordinate {names[pivot - 1]}: it '
                'moves no mass; give the links behind it an inertia')
        turns = self._turn * np.abs(q)
        worst = int(np.argmax(turns))
        raise DynamicsError(
            "order 'linear': the mass matrix, truncated to first order in the deflections, is not "
            f'positive definite at this state; largest deflection: {names[worst]} = '
            f'{q[worst]:.4g}, which turns a section by {turns[worst]:.2g} rad. Use order '
            "'second', which has no such limit, or keep the links from bending so far")


def _moving_coordinates(table: Array) -> list[list[int]]:
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


class LinearWork:
    """What Data.backend_scratch holds: scratch of the terms, and of their derivatives, which is
    made when a Data is first asked for one."""

    def __init__(self, n: int, nodes: int, most: int, modes: int) -> None:
        self._sizes, size, wide = (n, nodes, most, modes), 6 + modes, most + modes + 1
        shapes = {'R': (3, 3), 'p': (3,), 'S': (6, 6), 'S_rate': (6, 6), 'V': (nodes, 2, 6),
                  'G': (nodes, 2, 6), 'J': (nodes, 2, most, 6), 'J_rate': (nodes, 2, most, 6),
                  'T': (2, wide, size), 'T_rate': (2, wide, size), 'D': (2, size, size),
                  'B': (2, size, size), 'y': (2, size), 'z': (2, size), 'turn': (6,),
                  'turn_rate': (6,)}
        self.terms = LinearScratch(**{name: np.zeros(shape) for name, shape in shapes.items()})
        self._change: LinearChange | None = None

    @property
    def change(self) -> LinearChange:
        if self._change is None:
            n, nodes, most, modes = self._sizes
            size = 6 + modes
            shapes: dict[str, tuple[int, ...]] = {
                **dict.fromkeys(('q', 'v', 'force'), (n,)),
                **dict.fromkeys(('V', 'G'), (nodes, 2, 6)),
                **dict.fromkeys(('J', 'J_rate'), (nodes, 2, most, 6)),
                **dict.fromkeys(('S', 'S_rate'), (6, 6)),
                **dict.fromkeys(('D', 'B'), (2, size, size)),
                **dict.fromkeys(('A', 'W', 'y', 'A_change', 'W_change', 'y_change'), (2, size)),
                **dict.fromkeys(('own', 'own_change', 'turn', 'carried'), (6,)),
                **dict.fromkeys(('K', 'K_less'), (27,))}
            self._change = LinearChange(**{name: np.zeros(shape)
                                           for name, shape in shapes.items()})
        return self._change
