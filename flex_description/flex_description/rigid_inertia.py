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
"""Rigid inertia of links: sums, change of frame, and the inertia of an undeformed beam."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flex_description.beam import Beam
from flex_description.math import Array, ArrayLike, gauss_stations, parallel_axes, rotated_tensor
from flex_description.robot import FlexibleLink, Inertia, LumpedMass


def combined(bodies: Iterable[Inertia]) -> Inertia | None:
    """The inertia of bodies held together, all given in one frame; None for no body."""
    parts = list(bodies)
    mass = sum(body.mass for body in parts)
    if mass == 0.0:
        return None
    centre = sum((body.mass * body.centre for body in parts), np.zeros(3)) / mass
    total = sum((body.tensor + parallel_axes(body.mass, body.centre - centre) for body in parts),
                np.zeros((3, 3)))
    return Inertia(mass, centre, total)


def transformed(body: Inertia, pose: ArrayLike) -> Inertia:
    """The same body in the outer frame of `pose` (4, 4)."""
    place = np.asarray(pose, dtype=float)
    rotation = place[:3, :3]
    return Inertia(body.mass, rotation @ body.centre + place[:3, 3],
                   rotated_tensor(body.tensor, rotation))


def tensor_about(body: Inertia, point: Array) -> Array:
    """Inertia tensor (3, 3), kg m2, of the body about a point (3,), m, of the same frame."""
    return body.tensor + parallel_axes(body.mass, body.centre - point)


def lumped_inertia(mass: LumpedMass) -> Inertia:
    """A lumped mass as a body in the undeformed beam's frame."""
    return Inertia(mass.mass, np.array([mass.x, 0.0, 0.0]) + mass.centre, mass.tensor)


def link_inertia(origin: Array, beam: Beam | FlexibleLink,
                 masses: Iterable[LumpedMass]) -> Inertia:
    """The undeformed flexible link with its lumped masses as one body, in the link's frame.

    origin (4, 4): the beam's frame in the link's.
    """
    body = combined([beam_inertia(beam), *(lumped_inertia(mass) for mass in masses)])
    assert body is not None  # a beam has mass
    return transformed(body, origin)


def beam_inertia(beam: Beam | FlexibleLink) -> Inertia:
    """The undeformed beam in its own frame, without lumped masses."""
    return piece_inertia(beam, 0.0, beam.length)


def piece_inertia(beam: Beam | FlexibleLink, start: float, end: float) -> Inertia:
    """The piece of an undeformed beam from start to end, m along it, in the beam's frame."""
    inner = [x for x in beam.breakpoints if start < x < end]
    x, weight = gauss_stations([start, *inner, end], 8)
    at = beam.properties(x)
    dm = weight * at.mass_per_length
    mass = float(dm.sum())
    centre = np.array([float(dm @ x) / mass, 0.0, 0.0])
    second = float(dm @ (x - centre[0])**2)
    iy, iz = float(weight @ at.inertia_y), float(weight @ at.inertia_z)
    return Inertia(mass, centre, np.diag([iy + iz, iy + second, iz + second]))
