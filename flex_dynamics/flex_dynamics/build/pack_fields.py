"""Coefficients of beam fields in the order in which kernels/fields.py reads them."""
from __future__ import annotations

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.quadrature import fewest_sections, particles
from flex_dynamics.kernels.layout import (
    AXIS_POINT,
    DIRECTOR_Y,
    DIRECTOR_Z,
    QUADRATIC,
    ROTATION_VECTOR,
)

Component = tuple[np.ndarray, np.ndarray, np.ndarray]      # p0 (k,), p1 (k, m), p2 (k, m, m)


def _groups(counts: tuple[int, int, int]) -> list[slice]:
    ends = np.cumsum((0, *counts))
    return [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def pack_block(code: int, counts, p0, p1, p2) -> np.ndarray:
    """A block of k columns of one code, as kernels/fields.block reads it.

    Raises if the field has a product that the code does not know.
    """
    groups = _groups(counts)
    kept1, kept2 = np.zeros_like(p1), np.zeros_like(p2)
    parts = []
    if code < QUADRATIC:
        one, two = (groups[g] for g in range(3) if g != code)
        parts.append(p1[:, groups[code]].T.ravel())
        parts.append(np.moveaxis(2.0 * p2[:, one, two], 0, -1).ravel())
        kept1[:, groups[code]] = p1[:, groups[code]]
        kept2[:, one, two], kept2[:, two, one] = p2[:, one, two], p2[:, two, one]
    else:
        parts.append(p0)
        for g in range(3):
            if g != code - QUADRATIC:
                square = p2[:, groups[g], groups[g]]
                parts.append(np.moveaxis(2.0 * square, 0, -1).ravel())
                kept2[:, groups[g], groups[g]] = square
    lost = max(np.abs(p1 - kept1).max(initial=0.0), np.abs(p2 - kept2).max(initial=0.0))
    if lost > 1e-10 * max(1.0, np.abs(p2).max(initial=0.0)):
        raise AssertionError(f'beam field block {code} has products that no kernel evaluates')
    return np.concatenate(parts)


def _joined(*components: Component) -> Component:
    p0, p1, p2 = (np.concatenate(parts) for parts in zip(*components, strict=True))
    return p0, p1, p2


def pack_beam(fields: BeamFields) -> tuple[np.ndarray, int, int]:
    """Particle coefficients, scaled by the root of the weight, then the roots of the axis weights.

    Returns coefficients, number of axis sections, number of director sections.
    """
    n_axis, n_director = fewest_sections(fields)
    vectors, roots = {}, {}
    for kind, codes in (('axis', AXIS_POINT), ('y', DIRECTOR_Y), ('z', DIRECTOR_Z)):
        weights, p0, p1, p2 = particles(fields, n_axis if kind == 'axis' else n_director, kind)
        roots[kind] = root = np.sqrt(weights)
        for c, code in enumerate(codes):
            vectors[kind, code] = (root * p0[:, c], root[:, None] * p1[:, c],
                                   root[:, None, None] * p2[:, c])
    # Columns by code, axis points before directors: kernels/beam_body.columns_of knows this order.
    parts = [pack_block(code, fields.counts, *_joined(
        *(vectors[kind, code] for kind in ('axis', 'y', 'z') if (kind, code) in vectors)))
        for code in range(6)]
    return np.concatenate((*parts, roots['axis'])), len(roots['axis']), len(roots['y'])


def pack_section(fields: BeamFields, x: float) -> np.ndarray:
    """Position (codes of an axis point) and rotation vector of the section at x."""
    section = fields.at(np.array([x]))
    parts = [pack_block(code, fields.counts, section.r0[:, c], section.r1[:, c],
                        section.r2[:, c]) for c, code in enumerate(AXIS_POINT)]
    parts += [pack_block(code, fields.counts, np.zeros(1), section.t1[:, c], section.t2[:, c])
              for c, code in enumerate(ROTATION_VECTOR)]
    return np.concatenate(parts)
