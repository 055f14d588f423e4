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
"""Sums that stand for the integrals along a beam: its axis, its rotary inertia, its stiffness.

The kinetic energy of a beam's axis is that of particles, whose positions are quadratic in the
amplitudes: no other integral is needed at run time. Gauss stations give such a sum to rounding; a
turn of these among themselves leaves a handful, with fewer operations than precomputed
coefficients of all products would need, and with a mass matrix that is positive definite by
construction. Rotary inertia is that of sections that turn by an exponential (rotary_sections.py).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from flex_description.math import gauss_stations
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.kernels.base.layout import LANES

TOLERANCE = 1e-7          # of a coordinate's share in the columns; inertia has the square of it
LARGEST_DEFLECTION = 0.2  # of the length: amplitudes up to which the tolerances are meant, ...
LARGEST_TWIST = 0.5       # ... rad, and ...
LARGEST_SLOPE = 3.0       # ... rad of one shape: high shapes are that steep at a small deflection


@dataclass(frozen=True)
class BeamStations:
    """Gauss stations of a beam, enough of them for every integral: x, weights (k,), displacement
    and rotation per amplitude (k, 3, m); per length: mass (k,) kg/m, inertia (k, 3) kg m about
    the section's axes.

    Of each amplitude (m,): the root of its shape's inertia, and how large it may be.
    """

    x: np.ndarray
    weights: np.ndarray
    r1: np.ndarray
    t1: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    root_inertia: np.ndarray
    largest: np.ndarray


def beam_stations(beam: BeamFields) -> BeamStations:
    x, weights = gauss_stations(beam.breakpoints, beam.resolution)
    r1, t1 = beam.displacement_first(x), beam.rotation_first(x)
    properties = beam.flexible.properties(x)
    inertia = section_inertia(beam, x)
    squares = (np.einsum('k,kci->i', weights * properties.mass_per_length, r1 ** 2)
               + np.einsum('k,kc,kci->i', weights, inertia, t1 ** 2, optimize=True))
    root = np.sqrt(np.maximum(squares, 1e-24 * squares.max(initial=1e-300)))
    shift = np.abs(r1).max(axis=(0, 1), initial=0.0) / beam.flexible.length
    twist = np.abs(t1[:, 0]).max(axis=0, initial=0.0)
    slope = np.abs(t1[:, 1:]).max(axis=(0, 1), initial=0.0)
    largest = 1.0 / np.maximum(np.maximum(shift / LARGEST_DEFLECTION + twist / LARGEST_TWIST,
                                          slope / LARGEST_SLOPE), 1e-12)
    return BeamStations(x, weights, r1, t1, properties.mass_per_length, inertia, root, largest)


def section_inertia(beam: BeamFields, x: np.ndarray) -> np.ndarray:
    """(k, 3) kg m about the sections' own axes, per length."""
    at = beam.flexible.properties(x)
    return np.stack((at.inertia_y + at.inertia_z, at.inertia_y, at.inertia_z), axis=1)


@dataclass(frozen=True)
class Particles:
    """Particles that have the inertia of a beam's axis, (k,) of them, scaled by their roots.

    roots (k,) of the masses, p0 (k, 3), p1 (k, 3, m), p2 (k, 3, m, m).
    """

    roots: np.ndarray
    p0: np.ndarray
    p1: np.ndarray
    p2: np.ndarray


def fewest_particles(beam: BeamFields, stations: BeamStations) -> Particles:
    """The fewest particles with the inertia of the beam's axis, in whole vector registers.

    Inertia is made of products of the fields, summed over stations, so any turn of the stations'
    columns among themselves keeps it. The turn that a singular value decomposition gives puts all
    that matters into a few columns. Those left out have less than TOLERANCE of the size that a
    coordinate's columns have, and change its inertia by the square of that.
    """
    roots = np.sqrt(stations.weights * stations.mass)
    p0, p1 = roots * stations.x, roots[:, None, None] * stations.r1
    p2 = roots[:, None] * beam.second_order(stations.x)[1]
    one, two = beam.moves.first, beam.moves.second
    size, large = stations.root_inertia, stations.largest
    change = np.where(one == two, 2.0, 1.0) * np.maximum(large[two] / size[one],
                                                         large[one] / size[two])
    flat = np.column_stack((p0 / (np.linalg.norm(p0) + 1e-300),
                            roots / (np.linalg.norm(roots) + 1e-300),
                            (p1[:, 1:] / size).reshape(len(roots), -1), p2 * change))
    # The columns may be thousands, of which only the turns of the stations matter.
    small = flat
    if flat.shape[1] > len(flat):
        small = scipy.linalg.qr(flat.T, mode='r')[0][:len(flat)].T
    basis, sizes, _ = np.linalg.svd(small, full_matrices=small.shape[0] > small.shape[1])
    count = int(np.sum(sizes > TOLERANCE))
    kept = basis[:, :LANES * -(-count // LANES)].T
    along = np.zeros((len(kept), 3))
    along[:, 0] = kept @ p0
    return Particles(kept @ roots, along, np.tensordot(kept, p1, 1),
                     beam.moves.dense(kept @ p2, beam.n_modes))


def stiffness(fields: BeamFields) -> np.ndarray:
    """K (m, m) = int (E Iz v''v'' + E Iy w''w'' + G J alpha'alpha') dx."""
    x, weights = gauss_stations(fields.breakpoints, fields.resolution)
    properties = fields.flexible.properties(x)
    curvature = fields.rotation_first(x, 1)
    rigidity = np.stack((properties.torsion_stiffness, properties.bending_stiffness_y,
                         properties.bending_stiffness_z), axis=1)
    return np.einsum('k,kc,kci,kcj->ij', weights, rigidity, curvature, curvature, optimize=True)
