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
"""Natural frequencies of one flexible link, clamped at its base, with all that it carries.

Rayleigh and Ritz with the link's own shapes: all links beyond it count as rigid, at the zero pose.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from flex_description.carried_inertia import carried_inertia
from flex_description.errors import RobotError, quoted
from flex_description.math import Array, gauss_stations, parallel_axes, skew
from flex_description.rigid_inertia import link_inertia, transformed
from flex_description.robot import FlexibleLink, Inertia, LumpedMass, Robot

SHAPE_KINDS = ('bend_y', 'bend_z', 'twist')
POINTS = 64  # Gauss points per interval: six per half wave of the 20th mode, squared


@dataclass(frozen=True)
class LinkMode:
    """A natural mode of a clamped link.

    kind: bend_y, bend_z or twist, the one with most of the strain energy; share: its part of it.
    """

    frequency: float    # Hz
    kind: str
    share: float


def link_modes(link: FlexibleLink, loads: Sequence[LumpedMass] = ()) -> list[LinkMode]:
    """Modes in rising frequency; loads: rigid bodies on sections, besides the link's masses."""
    M, K = link_matrices(link, loads)
    squares, vectors = _eigen(K, M, link)
    counts = [link.bend_y.count, link.bend_z.count, link.twist.count]
    return [_mode(square, vector, K, counts) for square, vector in zip(squares, vectors.T)]


def link_matrices(link: FlexibleLink, loads: Sequence[LumpedMass] = ()) -> tuple[Array, Array]:
    """Mass and stiffness (n_modes, n_modes) of the clamped link with its masses and loads."""
    x, weight = gauss_stations(link.breakpoints, POINTS)
    at = link.properties(x)
    y, z, twist = link.bend_y, link.bend_z, link.twist
    blocks = [_gram(y(x), weight * at.mass_per_length) + _gram(y(x, 1), weight * at.inertia_z),
              _gram(z(x), weight * at.mass_per_length) + _gram(z(x, 1), weight * at.inertia_y),
              _gram(twist(x), weight * (at.inertia_y + at.inertia_z))]
    springs = [_gram(y(x, 2), weight * at.bending_stiffness_z),
               _gram(z(x, 2), weight * at.bending_stiffness_y),
               _gram(twist(x, 1), weight * at.torsion_stiffness)]
    counts = [y.count, z.count, twist.count]
    M, K = _diagonal(blocks, counts), _diagonal(springs, counts)
    for body in (*link.masses, *loads):
        section = _section_motion(link, body.x)
        M += section.T @ _spatial(body) @ section
    return M, K


def static_tip(link: FlexibleLink, loads: Sequence[LumpedMass], acceleration: Array) -> Array:
    """Displacement (3,), m, of the end of the clamped link under its weight and its loads.

    acceleration (3,): of gravity, m/s2; both in beam axes.
    """
    x, weight = gauss_stations(link.breakpoints, POINTS)
    dm = weight * link.properties(x).mass_per_length
    force = np.concatenate((link.bend_y(x) @ dm * acceleration[1],
                            link.bend_z(x) @ dm * acceleration[2], np.zeros(link.twist.count)))
    for body in (*link.masses, *loads):
        pull = body.mass * acceleration
        force += _section_motion(link, body.x).T @ np.concatenate(
            (pull, np.cross(body.centre, pull)))
    amplitudes = np.linalg.solve(link_matrices(link)[1], force)
    tip: Array = _section_motion(link, link.length)[:3] @ amplitudes
    return tip


def _eigen(K: Array, M: Array, link: FlexibleLink) -> tuple[Array, Array]:
    """Squares of the frequencies, rising, and the modes as columns."""
    try:
        squares, vectors = eigh(K, M)
        return squares, vectors
    except (np.linalg.LinAlgError, ValueError):
        pass
    # A load that outweighs the beam by 16 digits leaves an M that rounding has made indefinite.
    try:
        inverses, vectors = eigh(M, K)
    except (np.linalg.LinAlgError, ValueError):
        inverses, vectors = np.zeros(1), np.zeros((1, 1))
    if inverses[0] <= 0.0:
        raise RobotError(f'link {quoted(link.link)}: expected a beam and a load of sizes that can '
                         'be computed with, found a load too heavy, or too far away, for the beam')
    return 1.0 / inverses[::-1], vectors[:, ::-1]


def loads_of(robot: Robot) -> dict[str, list[LumpedMass]]:
    """For each flexible link: what its joints carry, on the sections that carry it."""
    inertias: dict[str, Inertia | None] = {}
    for link in robot.links:
        inertias[link.name] = link.inertia if link.flexible is None else link_inertia(
            link.flexible.origin, link.flexible, link.flexible.masses)
    bodies = carried_inertia(robot.joints, inertias)
    beams = {link.name: link.flexible for link in robot.links if link.flexible is not None}
    result: dict[str, list[LumpedMass]] = {name: [] for name in beams}
    for joint in robot.joints:
        body = bodies[joint.name]
        if joint.section_x is None or body is None:
            continue
        result[joint.parent].append(load_on_section(beams[joint.parent].origin, joint.section_x,
                                                    body, joint.child))
    return result


def load_on_section(origin: Array, x: float, body: Inertia, name: str = '') -> LumpedMass:
    """A body, in the link's frame, as carried by the section at x (m) of the link's beam.

    origin (4, 4): the beam's frame in the link's.
    """
    inside = transformed(body, np.linalg.inv(origin))
    return LumpedMass(x, inside.mass, inside.centre - np.array([x, 0.0, 0.0]), inside.tensor, name)


def _gram(shapes: Array, weight: Array) -> Array:
    return (shapes * weight) @ shapes.T


def _diagonal(blocks: list[Array], counts: list[int]) -> Array:
    result = np.zeros((sum(counts), sum(counts)))
    start = 0
    for block, count in zip(blocks, counts):
        result[start:start + count, start:start + count] = block
        start += count
    return result


def _section_motion(link: FlexibleLink, x: float) -> Array:
    """(6, n): linear and angular velocity of the section at x, per unit rate of each amplitude.

    theta = (twist, -w', v') in beam axes.
    """
    here = np.array([x])
    ny, nz = link.bend_y.count, link.bend_z.count
    result = np.zeros((6, link.n_modes))
    result[1, :ny], result[5, :ny] = link.bend_y(here)[:, 0], link.bend_y(here, 1)[:, 0]
    result[2, ny:ny + nz] = link.bend_z(here)[:, 0]
    result[4, ny:ny + nz] = -link.bend_z(here, 1)[:, 0]
    result[3, ny + nz:] = link.twist(here)[:, 0]
    return result


def _spatial(body: LumpedMass) -> Array:
    """(6, 6) inertia about the section's axis point, linear rows first."""
    coupling = skew(body.mass * body.centre)
    rotation = body.tensor + parallel_axes(body.mass, body.centre)
    return np.block([[body.mass * np.eye(3), -coupling], [coupling, rotation]])


def _mode(square: float, vector: Array, K: Array, counts: list[int]) -> LinkMode:
    energy = vector * (K @ vector)
    parts = np.array([part.sum() for part in np.split(energy, np.cumsum(counts)[:-1])])
    shares = parts / max(parts.sum(), np.finfo(float).tiny)
    best = int(np.argmax(shares))
    return LinkMode(float(np.sqrt(max(square, 0.0)) / (2 * np.pi)), SHAPE_KINDS[best],
                    float(shares[best]))
