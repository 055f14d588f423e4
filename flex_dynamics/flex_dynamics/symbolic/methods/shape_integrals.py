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
"""Space integrals of a beam's mode shapes: the coefficients of the equations, numbers.

Shapes are those of flex_description, any basis. The integrals are done once, by Gauss rules that
are exact for polynomial shapes and to rounding for the others (trigonometric and hyperbolic modes,
splines of tables and finite elements, each in its smooth intervals). Of points p of the beam, with
positions that are polynomials in the amplitudes, p = sum of p_a e_a, e_a = 1, eta_i, eta_i eta_j,
all that the kinetic energy needs is

    m = int rho A,   s_a = int rho A p_a,   W_ab = int rho A p_a p_b'   (3, 3)

all with the weight rho A. The rotary inertia of the sections is added as a polynomial of the
amplitudes too (rotary_parts). K is int E Iz v'' v'' + ... (16).
"""
from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flex_description.math import gauss_stations
from flex_dynamics.build.beam_fields import LEVI_CIVITA, BeamFields
from flex_dynamics.build.quadrature import beam_stations
from flex_dynamics.symbolic.expressions.vectors import scalars

if TYPE_CHECKING:
    from flex_dynamics.symbolic.methods.named_parameters import BeamUnits

Monomial = tuple[int, ...]                # indices of amplitudes, rising; () is 1
ROTARY_DEGREE = 4                         # in the amplitudes, as the axis' own products have ...
MANY_MODES = 8                            # ... and half of it for beams with more shapes than this


@dataclass(frozen=True)
class ShapeIntegrals:
    """m kg, s (a, 3) kg m, W (a, b, 3, 3) kg m2 over the monomials; rotary inertia: its name, its
    whole, kg m2, and its parts by entry of the beam's block and monomial."""

    monomials: list[Monomial]
    mass: float
    s: np.ndarray
    W: np.ndarray
    rotary: list[tuple[str, float, dict[tuple[int, int], dict[Monomial, float]]]]


def shape_integrals(fields: BeamFields, by_axis: bool = False) -> ShapeIntegrals:
    """by_axis: the rotary inertias of bending about y and z apart, as they are given apart."""
    modes = fields.n_modes
    monomials: list[Monomial] = [(), *((i,) for i in range(modes))]
    monomials += [(i, j) for i in range(modes) for j in range(i, modes)]
    stations = beam_stations(fields)
    at, weight = fields.at(stations.x), stations.weights * stations.mass
    points = [at.r0, *(at.r1[..., i] for i in range(modes))]
    points += [at.r2[..., i, j] * (1.0 if i == j else 2.0)
               for i in range(modes) for j in range(i, modes)]
    stacked = np.array(points)
    W = np.einsum('k,aki,bkj->abij', weight, stacked, stacked, optimize=True)
    moments = np.einsum('k,aki->ai', weight, stacked)
    mass = float(weight.sum())
    # What the shapes' orthogonality makes zero is rounding, against what Cauchy and Schwarz allow.
    sizes = np.sqrt(np.einsum('aaii->a', W))
    W[np.abs(W) <= 1e-14 * (sizes[:, None] * sizes)[..., None, None]] = 0.0
    moments[np.abs(moments) <= 1e-14 * np.sqrt(mass) * sizes[:, None]] = 0.0
    inertia = stations.inertia
    shares = [('J', inertia)]
    if by_axis:
        about_y, about_z = inertia[:, 1], inertia[:, 2]
        if not np.allclose(about_y, about_z, rtol=1e-12, atol=0.0):
            none = np.zeros_like(about_y)
            shares = [('Jy', np.column_stack((about_y, about_y, none))),
                      ('Jz', np.column_stack((about_z, none, about_z)))]
    rotary = [(name, float(stations.weights @ share.max(axis=1)), rotary_parts(fields, share))
              for name, share in shares]
    return ShapeIntegrals(monomials, mass, moments, W, rotary)


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


def rotary_parts(fields: BeamFields, inertia: np.ndarray,
                 ) -> dict[tuple[int, int], dict[Monomial, float]]:
    """Rotary inertia of a beam, entries (row, column) of its block, as polynomials.

    inertia: (k, 3) kg m about the axes of the sections at the beam's Gauss stations.

    A section turns with R'w + Jr(theta) theta' in its own axes, R = exp(theta). R' and Jr are
    series in [theta], and theta is of second degree in the amplitudes; products are kept up to
    ROTARY_DEGREE, of beams with many shapes up to half of it: their monomials would be thousands.
    The numeric model has the exponential itself.
    """
    modes = range(fields.n_modes)
    degree = ROTARY_DEGREE if fields.n_modes <= MANY_MODES else ROTARY_DEGREE // 2
    stations = beam_stations(fields)
    at = fields.at(stations.x)
    theta: dict[Monomial, np.ndarray] = {(i,): at.t1[..., i] for i in modes}
    theta |= {(i, j): (1.0 if i == j else 2.0) * at.t2[..., i, j]
              for i in modes for j in range(i, len(modes))}
    skew = {m: np.einsum('abc,kb->kac', LEVI_CIVITA, value)           # [theta]
            for m, value in theta.items() if value.any()}
    power = {(): np.broadcast_to(np.eye(3), (len(stations.x), 3, 3))}
    turn, jacobian = dict(power), dict(power)
    for n in range(1, degree + 1):
        power = _product(power, skew, degree, lambda a, b: a @ b)
        for m, value in power.items():
            sign = (-1.0) ** n
            turn[m] = turn.get(m, 0.0) + sign * value / math.factorial(n)
            jacobian[m] = jacobian.get(m, 0.0) + sign * value / math.factorial(n + 1)
    columns = {c: {m: value[..., c] for m, value in turn.items()} for c in range(3)}
    for k in modes:
        slope = {(): at.t1[..., k]} | {(j,): 2.0 * at.t2[..., k, j] for j in modes
                                       if at.t2[..., k, j].any()}
        columns[6 + k] = _product(jacobian, slope, degree, lambda a, b: (a @ b[..., None])[..., 0])
    weight = stations.weights[:, None] * inertia
    sizes = {c: math.sqrt(np.sum(weight * column[()] ** 2)) for c, column in columns.items()}
    parts = {}
    for row, left in columns.items():
        for column, right in columns.items():
            if row <= column:
                entry = _product(left, right, degree, lambda a, b: np.sum(weight * a * b))
                rounding = 1e-14 * (sizes[row] + sizes[0]) * (sizes[column] + sizes[0])
                parts[row, column] = {m: value for m, value in entry.items()
                                      if abs(value) > rounding}
    return parts


def _product(left: dict, right: dict, degree: int, times) -> dict:
    """Product of two polynomials in the amplitudes, up to a degree."""
    out: dict = {}
    for a, one in left.items():
        for b, two in right.items():
            if len(a) + len(b) <= degree:
                key = tuple(sorted(a + b))
                out[key] = out.get(key, 0.0) + times(one, two)
    return out


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

    def sum_with_units(self, terms: dict[Monomial, tuple[float, float, Any]]):
        """The same of coefficients that are (value, value of their symbols, symbols): what has
        the same symbols is summed first."""
        groups: dict[Any, dict[Monomial, float]] = defaultdict(dict)
        for monomial, (value, scale, symbols) in terms.items():
            if value != 0.0:
                groups[symbols][monomial] = value / scale
        return sum((symbols * self.sum(group) for symbols, group in groups.items()), 0.0)


Table = dict[tuple[int, int], dict[Monomial, float]]


def mass_block(integrals: ShapeIntegrals, amplitudes: list,
               units: BeamUnits | None = None) -> np.ndarray:
    """Inertia (6 + m, 6 + m) of a beam for its twist and its amplitudes' speeds.

    units: the symbols in which to write it; None: numbers.
    """
    modes = len(amplitudes)
    tables: dict[str, Table] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    totals = {'m': integrals.mass}

    def put(row: int, column: int, monomial: Monomial, value: float, name: str = 'm') -> None:
        tables[name][min(row, column), max(row, column)][monomial] += value

    for name, total, rotary in integrals.rotary:
        totals[name] = total
        for (row, column), entry in rotary.items():
            for monomial, value in entry.items():
                put(row, column, monomial, value, 'm' if units is None else name)
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
    for i in range(3):
        put(3 + i, 3 + i, (), integrals.mass)
    polynomials = Polynomials(amplitudes)
    out = scalars((6 + modes, 6 + modes))
    for name, table in tables.items():
        for (i, j), coefficients in table.items():
            largest = max(map(abs, coefficients.values()))
            kept = {m: c for m, c in coefficients.items() if abs(c) > 1e-15 * largest}
            if units is None:
                total = polynomials.sum(kept)
            else:
                total = polynomials.sum_with_units(
                    {m: (c, *units.inertia(name, totals[name], i, j, m))
                     for m, c in kept.items()})
            out[i, j] = out[j, i] = out[i, j] + total
    return out


def _derivatives(monomial: Monomial) -> list[tuple[float, Monomial, int]]:
    """Partial derivatives: factor, what is left, and by which amplitude."""
    out = []
    for k in sorted(set(monomial)):
        rest = list(monomial)
        rest.remove(k)
        out.append((float(monomial.count(k)), tuple(rest), k))
    return out
