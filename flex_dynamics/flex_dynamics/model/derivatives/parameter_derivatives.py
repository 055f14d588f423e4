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
"""Derivatives of the dynamics by physical parameters, named by path (model/parameters.py).

At a given motion, forces are linear in masses, inertias, stiffnesses, friction and gravity, and
quadratic in the centre of a payload. A central difference of a quadratic function is exact with
any step, so that two models far apart, built once, give the derivative to rounding. Modal damping
is the exception: it has roots of stiffness by mass, and is differentiated by itself.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, eigh

from flex_description import FlexibleLink
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.model.composition import recomposed
from flex_dynamics.model.constraints.linearization import solve_constrained
from flex_dynamics.model.derivatives.solving import solve_mass
from flex_dynamics.model.loads import Loads, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.model.parameters import (
    NOT_NEGATIVE,
    POSITIVE,
    ModelParameter,
    checked_path,
    model_parameters,
    recomposed_with,
    with_parameters,
)

SHIFT = {'m': 0.5, 'm/s2': 0.5, 'kg m2': 1e-3}      # of parameters that may have any sign
MASSLESS = ('stiffness', 'damping', 'friction', 'bending_stiffness_y', 'bending_stiffness_z',
            'twist_stiffness')


@dataclass(frozen=True)
class _Slope:
    """One parameter: models below and above it, the span between them, and derivatives of what
    does not depend on the motion: K and D (n, n), Coulomb friction by node."""

    below: Model
    above: Model
    span: float
    moves_mass: bool
    stiffness: Array
    damping: Array
    coulomb: Array


class ParameterDerivatives:
    """Exact derivatives by parameters of a model; building it builds two models a parameter.

    Parameters
    ----------
    model : Model
        At whose parameters the derivatives are taken.
    paths : names of parameters
        As model_parameters lists them, such as 'link2.bending_stiffness_y'.

    Examples
    --------
    >>> by = ParameterDerivatives(model, ['link1.bending_stiffness_z', 'gravity.z'])
    >>> by.forward_dynamics(q, v, tau).shape == (model.n, 2)
    True
    """

    def __init__(self, model: Model, paths: Iterable[str]) -> None:
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        if isinstance(paths, str) or not isinstance(paths, Iterable):
            raise DynamicsError('paths: expected a list of paths, such as '
                                f"['gravity.z'], found {checks.shown(paths)}")
        known = model_parameters(model)
        chosen = [checked_path(path, known) for path in paths]
        self._model = model
        self._slopes = [_slope(model, parameter) for parameter in chosen]
        self._paths = tuple(parameter.path for parameter in chosen)

    @property
    def paths(self) -> tuple[str, ...]:
        """The parameters (k), in the order of the columns of all results."""
        return self._paths

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Derivatives (n, k) of what Model.inverse_dynamics gives, by the parameters."""
        q, v = checks.state(self._model, q, v)
        a = self._model.finite_vector(a, 'a', self._model.n)
        columns = self.inertial_force(q, v, a)
        for column, slope in zip(columns.T, self._slopes, strict=True):
            column += slope.stiffness @ q + slope.damping @ v
            if slope.coulomb.any():
                column += _friction(self._model, slope.coulomb, v)
        return columns

    def inverse_dynamics_along(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """`inverse_dynamics` (N, n, k) of N motions, q, v, a (N, n) each, in a fraction of the
        time."""
        n = self._model.n
        motions = [checks.real_array(given, name, f'(N, {n}) numbers')
                   for name, given in (('q', q), ('v', v), ('a', a))]
        wanted = (motions[0].shape[:1] or (1,)) + (n,)
        for name, given in zip('qva', motions, strict=True):
            if given.shape != wanted:
                raise DynamicsError(f'{name}: expected shape {wanted}, found {given.shape}')
            checks.finite(given, name, given.shape)
        positions, speeds, accelerations = motions
        found = np.zeros((len(positions), n, len(self._slopes)))
        for k, slope in enumerate(self._slopes):
            found[:, :, k] = positions @ slope.stiffness.T + speeds @ slope.damping.T
            if slope.coulomb.any():
                found[:, :, k] += _friction(self._model, slope.coulomb, speeds)
            if slope.moves_mass:
                for at in range(len(positions)):
                    motion = positions[at], speeds[at], accelerations[at]
                    found[at, :, k] += (_inertial(slope.above, *motion)
                                        - _inertial(slope.below, *motion)) / slope.span
        return found

    def inertial_force(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Derivatives (n, k) of M a + C v + g, by the parameters."""
        q, v = checks.state(self._model, q, v)
        a = self._model.finite_vector(a, 'a', self._model.n)
        columns = np.zeros((self._model.n, len(self._slopes)))
        for column, slope in zip(columns.T, self._slopes, strict=True):
            if slope.moves_mass:
                column += (_inertial(slope.above, q, v, a)
                           - _inertial(slope.below, q, v, a)) / slope.span
        return columns

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Derivatives (k,) of the kinetic and of the gravity energy, by the parameters."""
        kinetic, gravity = np.zeros(len(self._slopes)), np.zeros(len(self._slopes))
        for k, slope in enumerate(self._slopes):
            if slope.moves_mass:
                above, below = slope.above.energy(q, v), slope.below.energy(q, v)
                kinetic[k] = (above[0] - below[0]) / slope.span
                gravity[k] = (above[2] - below[2]) / slope.span
        return kinetic, gravity

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         wrenches: Loads | None = None) -> Array:
        """Derivatives (n, k) of what Model.forward_dynamics gives, by the parameters."""
        model = self._model
        loads = None if wrenches is None else point_wrenches(model, wrenches)
        a = model.forward_dynamics(q, v, tau, loads)
        force = -self.inverse_dynamics(q, v, a)
        mass = model.mass_matrix(q)
        if model.robot.constraints:
            jacobian = model.constraint_jacobian(q)
            return solve_constrained(mass, jacobian, force,
                                     np.zeros((len(jacobian), len(self._slopes))))
        return solve_mass(mass, force)


def _inertial(model: Model, q: Array, v: Array, a: Array) -> Array:
    """M a + C v + g (n,)."""
    force: Array = model.mass_matrix(q) @ a + model.bias_force(q, v)
    return force


def _slope(model: Model, parameter: ModelParameter) -> _Slope:
    value, what = parameter.value, parameter.path.rpartition('.')[2]
    shift = SHIFT.get(parameter.unit, 0.0)
    low, high = value - shift, value + shift
    if parameter.allowed == POSITIVE or (parameter.allowed == NOT_NEGATIVE and value > 0.0):
        low, high = 0.5 * value, 1.5 * value
    elif parameter.allowed == NOT_NEGATIVE:
        low, high = 0.0, 1.0         # linear: one side does
    owner = parameter.path.rpartition('.')[0]
    below, above = (recomposed_with(model, {owner: {what: end}}) for end in (low, high))
    span = high - low
    stiffness = (above.stiffness_matrix() - below.stiffness_matrix()) / span
    damping = (above.damping_matrix() - below.damping_matrix()) / span
    if not (what == 'damping' or owner == 'gravity' or owner in model.payloads):
        _set_modal_damping(model, parameter, low, high, stiffness, damping)
    bodies = above.assembly.packed.body - below.assembly.packed.body
    return _Slope(below, above, span, what not in MASSLESS, stiffness, damping,
                  bodies[:, layout.COULOMB] / span)


def _set_modal_damping(model: Model, parameter: ModelParameter, low: float, high: float,
                       stiffness: Array, damping: Array) -> None:
    """Put the derivative of the beams' damping into its blocks of `damping` (n, n)."""
    bare = model
    if model.payloads:
        # Damping knows nothing of payloads (composition.recomposed).
        bare = recomposed(model, model.robot, dict(model.assembly.beams), {})
    home = np.zeros(model.n)
    masses = [with_parameters(bare, {parameter.path: end}).mass_matrix(home)
              for end in (low, high)]
    slope = (masses[1] - masses[0]) / (high - low)
    at = bare.mass_matrix(home)
    for places in model.coordinates.links.values():
        own = places.all
        link = next(one.flexible for one in model.robot.links if one.name == places.link)
        assert link is not None
        damping[own, own] = damping_slope(link, at[own, own], bare.stiffness_matrix()[own, own],
                                          slope[own, own], stiffness[own, own])


def damping_slope(beam: FlexibleLink, mass: Array, stiffness: Array, mass_slope: Array,
                  stiffness_slope: Array) -> Array:
    """Derivative (modes, modes) of build.damping.elastic_damping when M and K change so."""
    damping, blocks, start = beam.damping, [], 0
    for shapes, ratios in ((beam.bend_y, damping.ratio_bend_y),
                           (beam.bend_z, damping.ratio_bend_z),
                           (beam.twist, damping.ratio_twist)):
        part = slice(start, start + shapes.count)
        start += shapes.count
        blocks.append(_modal_slope(mass[part, part], stiffness[part, part],
                                   mass_slope[part, part], stiffness_slope[part, part], ratios))
    slope: Array = (block_diag(*blocks) + damping.alpha * mass_slope
                    + damping.beta * stiffness_slope)
    return slope


def _modal_slope(mass: Array, stiffness: Array, mass_slope: Array, stiffness_slope: Array,
                 ratios: tuple[float, ...]) -> Array:
    """Of D = M Phi diag(r) Phi'M, r = 2 ratio sqrt(square), Phi'M Phi = 1, Phi'K Phi = squares.

    With Phi' = Phi C, C_ji = phi_j'(dK - square_i dM) phi_i / (square_i - square_j), the change of
    Phi diag(r) Phi' has quotients of differences of r and of square r as its entries.
    """
    if not ratios or not len(mass):
        return np.zeros_like(mass)
    squares, vectors = eigh(stiffness, mass)
    squares = np.maximum(squares, 0.0)
    each = np.array([ratios[min(k, len(ratios) - 1)] for k in range(len(squares))])
    rates = 2.0 * each * np.sqrt(squares)
    # Where two squares are one, the quotient is the derivative: r / (2 square), 3 r / 2.
    gap = squares[:, None] - squares
    close = np.abs(gap) <= 1e-10 * np.maximum(squares.max(), 1e-300)
    halves = np.divide(rates, 2.0 * squares, out=np.zeros_like(rates), where=squares > 0.0)
    safe = np.where(close, 1.0, gap)
    first = np.where(close, 0.5 * (halves[:, None] + halves),
                     (rates[:, None] - rates) / safe)
    second = np.where(close, 0.75 * (rates[:, None] + rates),
                      ((squares * rates)[:, None] - squares * rates) / safe)
    in_modes = (first * (vectors.T @ stiffness_slope @ vectors)
                - second * (vectors.T @ mass_slope @ vectors))
    momenta = mass @ vectors
    turned = mass_slope @ (vectors * rates) @ momenta.T
    slope: Array = turned + turned.T + momenta @ in_modes @ momenta.T
    return slope


def _friction(model: Model, coulomb: Array, v: Array) -> Array:
    """Coulomb friction (..., n) of such coefficients by node, at speeds v (..., n)."""
    force, packed = np.zeros(v.shape), model.assembly.packed
    for row, body, size in zip(packed.table, packed.body, coulomb, strict=True):
        if row[layout.DOF] == 1 and size:
            column = np.eye(model.n)[row[layout.Q]]
            if row[layout.PINNED] >= 0:
                column = model.input_matrix()[:, row[layout.Q]]
            rate = abs(body[layout.RATIO]) / layout.FRICTION_SPEED
            force += size * np.tanh(rate * (v @ column))[..., None] * column
    return force
