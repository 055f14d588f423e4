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
"""A link whose beam has part of its mass, and one rigid body at the root all the rest.

Bodies are compared by their pseudo-inertia P (4, 4), which is linear in the mass and of which each
physical body has a positive semidefinite one (Wensing, Kim and Slotine 2018): a beam of P_b fits
into a link of P if P - P_b is one, too.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from flex_description.beam import Beam
from flex_description.math import Array, skew, without_negative_moments
from flex_description.rigid_inertia import beam_inertia, combined, lumped_inertia
from flex_description.robot import Inertia, LumpedMass

SLACK = 1e-3        # share of the largest possible beam that is left to the body at the root
# Share of the link's mass. If a possible body leaves less for the beam, <inertial> is at the edge
# of what bodies can have (rounded, or identified from motions): then what is left need only have
# positive kinetic energy in every motion, a weaker condition.
EDGE = 0.01
ROOT_BODY = 'root'  # name of the body at the root, the last of a link's lumped masses
DEFINITE = 1e-12    # least eigenvalue, relative to the body's size, of a body with extent


@dataclass(frozen=True)
class MassBudget:
    """What a link's rigid inertia leaves for its beam.

    rest: the link without its lumped masses, in the beam's frame, as pseudo-inertia (4, 4).
    beam: of the beam as its section and density say (4, 4). largest: the factor up to which the
    beam's mass can be scaled with a physical body left, 0 if there is none.
    """

    rest: Array
    beam: Array
    largest: float
    possible: float     # the same with a body left that exists, not only of positive energy

    def root_body(self, scale: float) -> LumpedMass | None:
        """The rigid body that, at the root, completes the beam of scaled mass; None if nothing
        is left."""
        left = self.rest - scale * self.beam
        mass = float(left[3, 3])
        if mass <= 0.0:
            return None
        centre = left[:3, 3] / mass
        second = left[:3, :3] - mass * np.outer(centre, centre)
        tensor = np.trace(second) * np.eye(3) - second
        return LumpedMass(0.0, mass, centre, without_negative_moments(tensor), ROOT_BODY)


def mass_budget(link: Inertia, beam: Beam, masses: Sequence[LumpedMass]) -> MassBudget:
    """link: the rigid link, in the beam's frame; masses: the lumped ones, which it includes."""
    own = beam_inertia(beam)
    lumps = combined(lumped_inertia(mass) for mass in masses)
    rest = pseudo_inertia(link)
    if lumps is not None:
        rest = rest - pseudo_inertia(lumps)
    beam_only = pseudo_inertia(own)
    with np.errstate(all='ignore'):
        possible = largest = _largest_factor(rest, beam_only)
        if not possible * beam_only[3, 3] > EDGE * rest[3, 3]:
            largest = _largest_factor(_spatial(rest), _spatial(beam_only))
    return MassBudget(rest, beam_only, largest, possible)


def pseudo_inertia(body: Inertia) -> Array:
    """(4, 4): integral of (r, 1)(r, 1)' dm about the origin of the body's frame, kg m2."""
    second = 0.5 * np.trace(body.tensor) * np.eye(3) - body.tensor
    first = body.mass * body.centre
    second = second + np.outer(first, body.centre)
    return np.block([[second, first[:, None]], [first[None, :], np.array([[body.mass]])]])


def _largest_factor(whole: Array, part: Array) -> float:
    """The largest s for which whole - s part is positive semidefinite; 0 if whole is not."""
    size = np.sqrt(np.maximum(np.diag(whole), 0.0))
    if not np.all(size > 0.0) or not np.all(np.isfinite(size)):
        return 0.0
    size = 1.0 / size
    whole, part = whole * np.outer(size, size), part * np.outer(size, size)
    if not np.all(np.isfinite(part)) or np.linalg.eigvalsh(whole)[0] < DEFINITE:
        return 0.0
    try:
        root = cholesky(whole, lower=True)
    except LinAlgError:
        return 0.0
    half = solve_triangular(root, part, lower=True)
    share = float(np.linalg.eigvalsh(solve_triangular(root, half.T, lower=True))[-1])
    return 1.0 / share if share > 0.0 and np.isfinite(share) else 0.0


def _spatial(pseudo: Array) -> Array:
    """(6, 6) spatial inertia about the origin, linear rows first."""
    mass, first, second = pseudo[3, 3], pseudo[:3, 3], pseudo[:3, :3]
    coupling = skew(first)
    rotation = np.trace(second) * np.eye(3) - second
    return np.block([[mass * np.eye(3), -coupling], [coupling, rotation]])
