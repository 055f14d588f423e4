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
"""A beam cut into rigid pieces that are joined by springs.

The beam is divided into elements of equal length. All compliance of an element is put into one
hinge: E Iz and E Iy into rotations about z and y, G J into a rotation about x. The hinge is where
a bent element seems to be hinged, the centroid of its compliance (the middle, if it is uniform).
Pieces lie between hinges and have exactly the inertia of their part of the beam. The error falls
with the square of the element's length.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from flex_description.link_modes import SHAPE_KINDS, link_matrices
from flex_description.math import Array, gauss_stations
from flex_description.rigid_inertia import combined, lumped_inertia, piece_inertia
from flex_description.robot import FlexibleLink, Inertia, LumpedMass
from flex_description.shapes import build_shapes

# Positive angles bend towards positive v and w and twist positively, as the amplitudes do.
AXES = {'bend_y': (0.0, 0.0, 1.0), 'bend_z': (0.0, -1.0, 0.0), 'twist': (1.0, 0.0, 0.0)}
REFERENCE_SHAPES = 12   # of each kind: the first frequencies of a beam to five digits


@dataclass(frozen=True)
class Spring:
    """One rotation of a hinge, about `axis` (3,) in beam axes."""

    kind: str           # bend_y, bend_z or twist
    axis: Array
    stiffness: float    # N m/rad
    damping: float      # N m s/rad


@dataclass(frozen=True)
class BeamChain:
    """Hinge k joins piece k to piece k + 1; piece 0 is clamped.

    hinges (n,): m along the beam. springs: of each hinge, in the order of their rotations.
    pieces: n + 1 bodies in the frame of the straight beam, lumped masses included.
    """

    length: float
    hinges: Array
    springs: tuple[tuple[Spring, ...], ...]
    pieces: tuple[Inertia, ...]

    def piece_at(self, x: float) -> int:
        """Number of the piece that has the section at x, m."""
        return int(np.searchsorted(self.hinges, x, side='right'))


def cut_beam(link: FlexibleLink, segments: int, loads: Sequence[LumpedMass]) -> BeamChain:
    """The chain of a link's beam; kinds of deformation without a mode stay rigid.

    loads: what the link carries, which its damping ratios are related to.
    """
    edges = np.linspace(0.0, link.length, segments + 1)
    kinds = [kind for kind in SHAPE_KINDS if getattr(link, kind).count]
    rates = {kind: _damping_rate(link, kind, loads) for kind in kinds}
    hinges, springs = [], []
    for start, end in pairwise(edges):
        place, compliance = _compliance(link, start, end, kinds)
        hinges.append(place)
        springs.append(tuple(Spring(kind, np.array(AXES[kind]), 1.0 / compliance[kind],
                                    rates[kind] / compliance[kind]) for kind in kinds))
    bounds = [0.0, *hinges, link.length]
    bodies = [[piece_inertia(link, start, end)] for start, end in pairwise(bounds)]
    for mass in link.masses:
        bodies[int(np.searchsorted(hinges, mass.x, side='right'))].append(lumped_inertia(mass))
    pieces = [combined(parts) for parts in bodies]
    return BeamChain(link.length, np.array(hinges), tuple(springs),
                     tuple(piece for piece in pieces if piece is not None))


def chain_matrices(chain: BeamChain, loads: Sequence[LumpedMass] = (),
                   ) -> tuple[Array, Array, Array, Array]:
    """The straight chain, clamped, for small angles (m,), hinge by hinge.

    Returns mass (m, m); stiffness (m,) of each angle; force (m, 3) per unit acceleration of
    gravity along x, y and z; displacement (3, m) of the beam's end per angle.
    """
    number = np.repeat(np.arange(len(chain.hinges)), [len(each) for each in chain.springs])
    flat = [spring for each in chain.springs for spring in each]
    axes = np.array([spring.axis for spring in flat])
    place = np.zeros((len(flat), 3))
    place[:, 0] = chain.hinges[number]
    bodies = [*enumerate(chain.pieces), *((chain.piece_at(load.x), lumped_inertia(load))
                                          for load in loads)]
    mass, force = np.zeros((len(flat), len(flat))), np.zeros((len(flat), 3))
    for piece, body in bodies:
        angular = axes * (number < piece)[:, None]
        linear = np.cross(angular, body.centre - place)
        mass += body.mass * linear @ linear.T + angular @ body.tensor @ angular.T
        force += body.mass * linear
    tip = np.cross(axes, np.array([chain.length, 0.0, 0.0]) - place).T
    return mass, np.array([spring.stiffness for spring in flat]), force, tip


def reference_link(link: FlexibleLink, loads: Sequence[LumpedMass] = ()) -> FlexibleLink:
    """The same beam with so many shapes that its first frequencies are those of a beam."""
    masses = [body for body in (*link.masses, *loads) if body.x < link.length]
    counts = [REFERENCE_SHAPES if getattr(link, kind).count else 0 for kind in SHAPE_KINDS]
    y, z, twist = build_shapes('craig-bampton', (counts[0], counts[1], counts[2]), link,
                               masses=masses)
    edges = sorted({*link.breakpoints, *(body.x for body in masses if body.x > 0.0)})
    return replace(link, bend_y=y, bend_z=z, twist=twist, breakpoints=tuple(edges))


def _compliance(link: FlexibleLink, start: float, end: float, kinds: Sequence[str],
                ) -> tuple[float, dict[str, float]]:
    """Where the hinge of an element is, and its angles per unit moment, rad/(N m)."""
    inner = [x for x in link.breakpoints if start < x < end]
    x, weight = gauss_stations([start, *inner, end], 8)
    at = link.properties(x)
    stiffness = {'bend_y': at.bending_stiffness_z, 'bend_z': at.bending_stiffness_y,
                 'twist': at.torsion_stiffness}
    total = {kind: float(np.sum(weight / stiffness[kind])) for kind in kinds}
    # Twist is the same wherever its hinge is, so bending decides; both planes share the place.
    decisive = [kind for kind in kinds if kind != 'twist'] or list(kinds)
    place = np.mean([np.sum(weight * x / stiffness[kind]) / total[kind] for kind in decisive])
    return float(place), total


def _damping_rate(link: FlexibleLink, kind: str, loads: Sequence[LumpedMass]) -> float:
    """Damping over stiffness, s, that damps the first mode of a kind as the link's damping does.
    """
    damping = link.damping
    ratios = getattr(damping, f'ratio_{kind}')
    if not ratios and not damping.alpha:
        return damping.beta
    mass, stiffness = link_matrices(link, loads)
    start = sum(getattr(link, each).count for each in SHAPE_KINDS[:SHAPE_KINDS.index(kind)])
    own = slice(start, start + getattr(link, kind).count)
    # The largest eigenvalue of K^-1 M is 1 / omega^2 of the first mode.
    slowness = np.sqrt(np.abs(np.linalg.eigvals(
        np.linalg.solve(stiffness[own, own], mass[own, own]))).max())
    return float(2.0 * (ratios[0] if ratios else 0.0) * slowness + damping.alpha * slowness**2
                 + damping.beta)
