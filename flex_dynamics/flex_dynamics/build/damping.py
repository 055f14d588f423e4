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
"""Damping of the beams' amplitudes: modal ratios or Rayleigh."""
from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, eigh

from flex_description import FlexibleLink
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.build.constant_matrices import elastic_block
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout


def damping_of_beams(assembly: Assembly, mass: np.ndarray) -> dict[str, np.ndarray]:
    """Damping block of every beam by its link; mass (n, n): M at q = 0, for modal ratios."""
    blocks = {}
    for i, node in enumerate(assembly.tree.nodes):
        if node.beam is not None:
            row = assembly.packed.table[i]
            own = slice(row[layout.ELASTIC], row[layout.ELASTIC] + row[layout.MODES])
            stiffness = elastic_block(assembly.packed, row, layout.STIFFNESS)
            try:
                blocks[node.beam.link] = elastic_damping(node.beam, mass[own, own], stiffness)
            except np.linalg.LinAlgError:
                raise DynamicsError(
                    f'link {node.beam.link!r}: its modal mass with all that it carries is not '
                    'positive definite but for rounding; check masses and offsets of what it '
                    'carries for numbers out of proportion') from None
    return blocks


def set_damping(assembly: Assembly, blocks: dict[str, np.ndarray]) -> None:
    """Write the damping of the beams into the arrays of a model that nobody uses yet."""
    for i, node in enumerate(assembly.tree.nodes):
        if node.beam is not None:
            elastic_block(assembly.packed, assembly.packed.table[i], layout.DAMPING)[:] = (
                blocks[node.beam.link])


def elastic_damping(beam: FlexibleLink, mass: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """D (modes, modes) of one beam.

    mass: its elastic block with everything outboard locked to it. With ratios, the modes of each
    kind (bend_y, bend_z, twist) on that mass get 2 ratio omega each; Rayleigh adds alpha M +
    beta K.
    """
    damping = beam.damping
    blocks, start = [], 0
    for shapes, ratios in ((beam.bend_y, damping.ratio_bend_y),
                           (beam.bend_z, damping.ratio_bend_z),
                           (beam.twist, damping.ratio_twist)):
        part = slice(start, start + shapes.count)
        start += shapes.count
        blocks.append(_modal(mass[part, part], stiffness[part, part], ratios))
    return block_diag(*blocks) + damping.alpha * mass + damping.beta * stiffness


def _modal(mass: np.ndarray, stiffness: np.ndarray, ratios: tuple[float, ...]) -> np.ndarray:
    if not ratios or not len(mass):
        return np.zeros_like(mass)
    squares, vectors = eigh(stiffness, mass)
    each = np.array([ratios[min(k, len(ratios) - 1)] for k in range(len(squares))])
    rates = 2.0 * each * np.sqrt(np.maximum(squares, 0.0))
    momenta = mass @ vectors
    return (momenta * rates) @ momenta.T
