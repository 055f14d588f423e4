"""Space integrals of a beam's mode shapes: the coefficients of the equations, numbers.

Shapes are those of flex_description, any basis. The integrals are done once, by Gauss rules that
are exact for polynomial shapes and to rounding for the others (trigonometric and hyperbolic modes,
splines of tables and finite elements, each in its smooth intervals). Of points p of the beam, with
positions that are polynomials in the amplitudes, p = sum of p_a e_a, e_a = 1, eta_i, eta_i eta_j,
all that the kinetic energy needs is

    m = int rho A,   s_a = int rho A p_a,   W_ab = int p_a p_b'   (3, 3)

W_ab sums the axis with the weight rho A, and the ends of the section's axes y and z with the
weights rho Iz and rho Iy, so that rotary inertia is in it. K is int E Iz v'' v'' + ... (16).
"""
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.quadrature import gauss_stations, particles
from flex_dynamics.symbolic.vectors import scalars

Monomial = tuple[int, ...]                # indices of amplitudes, rising; () is 1


@dataclass(frozen=True)
class ShapeIntegrals:
    """m kg, s (a, 3) kg m, W (a, b, 3, 3) kg m2 over the monomials."""

    monomials: list[Monomial]
    mass: float
    s: np.ndarray
    W: np.ndarray


def shape_integrals(fields: BeamFields) -> ShapeIntegrals:
    modes = fields.n_modes
    monomials: list[Monomial] = [(), *((i,) for i in range(modes))]
    monomials += [(i, j) for i in range(modes) for j in range(i, modes)]
    moments = None
    W = np.zeros((len(monomials), len(monomials), 3, 3))
    for kind in ('axis', 'y', 'z'):
        weight, p0, p1, p2 = particles(fields, fields.resolution, kind)
        points = [p0, *(p1[..., i] for i in range(modes))]
        points += [p2[..., i, j] * (1.0 if i == j else 2.0)
                   for i in range(modes) for j in range(i, modes)]
        stacked = np.array(points)
        W += np.einsum('k,aki,bkj->abij', weight, stacked, stacked, optimize=True)
        if kind == 'axis':
            moments = np.einsum('k,aki->ai', weight, stacked)
            mass = float(weight.sum())
    # What the shapes' orthogonality makes zero is rounding, against what Cauchy and Schwarz allow.
    sizes = np.sqrt(np.einsum('aaii->a', W))
    W[np.abs(W) <= 1e-14 * (sizes[:, None] * sizes)[..., None, None]] = 0.0
    assert moments is not None
    moments[np.abs(moments) <= 1e-14 * np.sqrt(mass) * sizes[:, None]] = 0.0
    return ShapeIntegrals(monomials, mass, moments, W)


def stiffness(fields: BeamFields) -> np.ndarray:
    """K (m, m), from the shapes' second derivatives, plane by plane."""
    link = fields.flexible
    x, weight = gauss_stations(fields.breakpoints, fields.resolution + 8)
    at = link.properties(x)
    K = np.zeros((fields.n_modes, fields.n_modes))
    start = 0
    for shapes, derivative, rigidity in ((link.bend_y, 2, at.bending_stiffness_z),
                                         (link.bend_z, 2, at.bending_stiffness_y),
                                         (link.twist, 1, at.torsion_stiffness)):
        values = shapes(x, derivative)
        own = slice(start, start + shapes.count)
        K[own, own] = (values * (weight * rigidity)) @ values.T
        start += shapes.count
    return K


class Polynomials:
    """Polynomials in a beam's amplitudes on a tape; the same monomial is one line."""

    def __init__(self, amplitudes: list) -> None:
        self._amplitudes = amplitudes

    def monomial(self, indices: Monomial):
        product = 1.0
        for i in indices:
            product = product * self._amplitudes[i]
        return product

    def sum(self, coefficients: dict[Monomial, float]):
        total = 0.0
        for indices in sorted(coefficients, key=lambda m: (len(m), m)):
            if coefficients[indices] != 0.0:
                total = total + coefficients[indices] * self.monomial(indices)
        return total


def mass_block(integrals: ShapeIntegrals, amplitudes: list) -> np.ndarray:
    """Inertia (6 + m, 6 + m) of a beam for its twist and its amplitudes' speeds."""
    modes = len(amplitudes)
    parts: dict[tuple[int, int], dict[Monomial, float]] = defaultdict(lambda: defaultdict(float))

    def put(row: int, column: int, monomial: Monomial, value: float) -> None:
        parts[min(row, column), max(row, column)][monomial] += value

    for a, left in enumerate(integrals.monomials):
        for axis in range(3):
            # [S]^x between angular and linear velocity, dS/deta between linear velocity and speed
            value = integrals.s[a, axis]
            i, j = (axis + 1) % 3, (axis + 2) % 3
            put(i, 3 + j, left, -value)
            put(j, 3 + i, left, value)
            for factor, rest, k in _derivatives(left):
                put(3 + axis, 6 + k, rest, factor * value)
        for b, right in enumerate(integrals.monomials):
            W = integrals.W[a, b]
            if not W.any():
                continue
            both = tuple(sorted(left + right))
            for i in range(3):
                put(i, i, both, np.trace(W) - W[i, i])
                for j in range(i):
                    put(i, j, both, -W[i, j])
            turned = (W[1, 2] - W[2, 1], W[2, 0] - W[0, 2], W[0, 1] - W[1, 0])
            for factor, rest, k in _derivatives(right):
                for i in range(3):
                    put(i, 6 + k, tuple(sorted(left + rest)), factor * turned[i])
                for other, remaining, l in _derivatives(left):  # noqa: E741
                    if l <= k:
                        put(6 + l, 6 + k, tuple(sorted(remaining + rest)),
                            factor * other * np.trace(W))
    polynomials = Polynomials(amplitudes)
    out = scalars((6 + modes, 6 + modes))
    for (i, j), coefficients in parts.items():
        largest = max(map(abs, coefficients.values()))
        kept = {m: c for m, c in coefficients.items() if abs(c) > 1e-15 * largest}
        out[i, j] = out[j, i] = polynomials.sum(kept)
    for i in range(3):
        out[3 + i, 3 + i] = integrals.mass
    return out


def _derivatives(monomial: Monomial) -> list[tuple[float, Monomial, int]]:
    """Partial derivatives: factor, what is left, and by which amplitude."""
    out = []
    for k in sorted(set(monomial)):
        rest = list(monomial)
        rest.remove(k)
        out.append((float(monomial.count(k)), tuple(rest), k))
    return out
