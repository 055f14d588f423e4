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
"""Coefficients of beam fields in the order of kernels/beam/fields.py and section.py."""
from __future__ import annotations

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.quadrature import beam_stations, fewest_particles
from flex_dynamics.build.rotary_sections import RotarySections, rotary_sections
from flex_dynamics.kernels.base.layout import AXIS_POINT, LANES, ROTATION_VECTOR, ROW, SQUARES

MOST_SECTIONS = 1000     # that the fields of a beam keep

Component = tuple[np.ndarray, np.ndarray, np.ndarray]      # p0 (k,), p1 (k, m), p2 (k, m, m)


def _groups(counts: tuple[int, int, int]) -> list[slice]:
    ends = np.cumsum((0, *counts))
    return [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def pack_block(code: int, counts, p0, p1, p2) -> np.ndarray:
    """The vectors of k columns of one code, each as kernels/beam/fields.py reads it.

    Raises if the field has a product that the code does not know.
    """
    groups = _groups(counts)
    kept1, kept2 = np.zeros_like(p1), np.zeros_like(p2)
    terms = []
    if code < SQUARES:
        one, two = (groups[g] for g in range(3) if g != code)
        terms.append(p1[:, groups[code]])
        terms.append(2.0 * p2[:, one, two])
        kept1[:, groups[code]] = p1[:, groups[code]]
        kept2[:, one, two], kept2[:, two, one] = p2[:, one, two], p2[:, two, one]
    else:
        terms.append(p0)
        for bending in groups[:2]:
            square = p2[:, bending, bending]
            terms.append(2.0 * square)
            kept2[:, bending, bending] = square
    lost = max(np.abs(p1 - kept1).max(initial=0.0), np.abs(p2 - kept2).max(initial=0.0))
    if lost > 1e-10 * max(1.0, np.abs(p2).max(initial=0.0)):
        raise AssertionError(f'beam field block {code} has products that no kernel evaluates')
    flat = np.concatenate([term.reshape(len(p0), -1) for term in terms], axis=1)
    return flat.reshape(len(p0) // LANES, LANES, flat.shape[1]).swapaxes(1, 2).ravel()


def _joined(*components: Component) -> Component:
    p0, p1, p2 = (np.concatenate(parts) for parts in zip(*components, strict=True))
    return p0, p1, p2


def pack_beam(fields: BeamFields) -> tuple[np.ndarray, int, int]:
    """Coefficients of axis points and rotation vectors, then the axis points' roots of mass and
    the constants of the sections.

    Returns coefficients, number of axis points, number of sections.
    """
    stations = beam_stations(fields)
    axis, sections = fewest_particles(fields, stations), rotary_sections(fields, stations)
    vectors = {code: [(axis.p0[:, c], axis.p1[:, c], axis.p2[:, c])]
               for c, code in enumerate(AXIS_POINT)}
    straight = np.zeros(len(sections.x))
    for c, code in enumerate(ROTATION_VECTOR):
        vectors.setdefault(code, []).append((straight, sections.t1[:, c], sections.t2[:, c]))
    # Columns by code, axis points first: kernels/beam/fields.axis_columns knows this order.
    parts = [pack_block(code, fields.counts, *_joined(*vectors[code])) for code in range(4)]
    return (np.concatenate((*parts, axis.roots, _section_constants(sections))), len(axis.roots),
            len(sections.x))


def _section_constants(sections: RotarySections) -> np.ndarray:
    """What kernels/beam/section_rotation.turn_sections reads: (SECTION_CONSTANTS, k), flat."""
    dx, dy, dz = sections.roots.T
    inverse = np.divide(1.0, dx, out=np.zeros_like(dx), where=dx > 0.0)
    return np.concatenate((dx, dy, dz, dy * inverse, dz * inverse, (dz ** 2 - dy ** 2) * inverse))


def pack_section(fields: BeamFields, x: float) -> np.ndarray:
    """Rotation vector and position of the section at x: constant, linear and product rows.

    (1 + m + m m, ROW) flat: the row of a product (a, b) is the derivative by both amplitudes.
    Models of one robot share fields, and so the sections that carry its links.
    """
    if x in fields.packed_sections:
        return fields.packed_sections[x]
    section = fields.at(np.array([x]))
    m = fields.n_modes
    rows = np.zeros((1 + m + m * m, ROW))
    rows[0, 3:6] = section.r0[0]
    rows[1:1 + m, 0:3], rows[1:1 + m, 3:6] = section.t1[0].T, section.r1[0].T
    rows[1 + m:, 0:3] = 2.0 * section.t2[0].reshape(3, -1).T
    rows[1 + m:, 3:6] = 2.0 * section.r2[0].reshape(3, -1).T
    packed = rows.ravel()
    if len(fields.packed_sections) < MOST_SECTIONS:
        fields.packed_sections[x] = packed
    return packed
