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

from flex_dynamics.build.beam_fields import BeamFields, SectionFields, gauss_legendre
from flex_dynamics.kernels.layout import LANES

TOLERANCE = 1e-7          # of a coordinate's share in the columns; inertia has the square of it
LARGEST_DEFLECTION = 0.2  # of the length: amplitudes up to which the tolerances are meant ...
LARGEST_TURN = 0.5        # ... rad


def gauss_stations(breakpoints: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` Gauss-Legendre stations and weights in each interval."""
    nodes, weights = gauss_legendre(count)
    half = 0.5 * np.diff(breakpoints)
    x = (breakpoints[:-1, None] + half[:, None] * (nodes + 1.0)).ravel()
    return x, (half[:, None] * weights).ravel()


@dataclass(frozen=True)
class BeamStations:
    """Gauss stations of a beam, enough of them for every integral: x, weights (k,) and fields;
    per length: mass (k,) kg/m, inertia (k, 3) kg m about the section's axes.

    Of each amplitude (m,): the root of its shape's inertia, and how large it may be.
    """

    x: np.ndarray
    weights: np.ndarray
    fields: SectionFields
    mass: np.ndarray
    inertia: np.ndarray
    root_inertia: np.ndarray
    largest: np.ndarray


def beam_stations(beam: BeamFields) -> BeamStations:
    x, weights = gauss_stations(beam.breakpoints, beam.resolution)
    fields, properties = beam.at(x), beam.flexible.properties(x)
    inertia = np.stack((properties.inertia_y + properties.inertia_z, properties.inertia_y,
                        properties.inertia_z), axis=1)
    squares = (np.einsum('k,kci->i', weights * properties.mass_per_length, fields.r1 ** 2)
               + np.einsum('k,kc,kci->i', weights, inertia, fields.t1 ** 2))
    root = np.sqrt(np.maximum(squares, 1e-24 * squares.max(initial=1e-300)))
    ends = beam.first_order_sizes()
    largest = 1.0 / np.maximum(np.maximum(ends[0] / (LARGEST_DEFLECTION * beam.flexible.length),
                                          ends[1] / LARGEST_TURN), 1e-12)
    return BeamStations(x, weights, fields, properties.mass_per_length, inertia, root, largest)


@dataclass(frozen=True)
class Particles:
    """Particles that have the inertia of a beam's axis, (k,) of them, scaled by their roots.

    roots (k,) of the masses, p0 (k, 3), p1 (k, 3, m), p2 (k, 3, m, m).
    """

    roots: np.ndarray
    p0: np.ndarray
    p1: np.ndarray
    p2: np.ndarray


def fewest_particles(stations: BeamStations) -> Particles:
    """The fewest particles with the inertia of the beam's axis, in whole vector registers.

    Inertia is made of products of the fields, summed over stations, so any turn of the stations'
    columns among themselves keeps it. The turn that a singular value decomposition gives puts all
    that matters into a few columns. Those left out have less than TOLERANCE of the size that a
    coordinate's columns have, and change its inertia by the square of that.
    """
    roots = np.sqrt(stations.weights * stations.mass)
    p0, p1, p2 = (roots.reshape(-1, *[1] * (field.ndim - 1)) * field for field in
                  (stations.fields.r0, stations.fields.r1, stations.fields.r2))
    change = 2.0 * stations.largest / stations.root_inertia[:, None]
    change = np.maximum(change, change.T)
    columns = [p0 / np.sqrt(np.square(p0).sum() + 1e-300), p1 / stations.root_inertia, p2 * change,
               roots / np.sqrt(np.square(roots).sum() + 1e-300)]
    flat = np.concatenate([c.reshape(len(roots), -1) for c in columns], axis=1)
    flat = flat[:, np.any(flat, axis=0)]
    # All turns of the stations, but not those of the columns: these may be ten thousand.
    basis, sizes, _ = np.linalg.svd(flat, full_matrices=flat.shape[0] > flat.shape[1])
    count = int(np.sum(sizes > TOLERANCE))
    kept = basis[:, :LANES * -(-count // LANES)].T
    return Particles(*(np.tensordot(kept, field, 1) for field in (roots, p0, p1, p2)))


def stiffness(fields: BeamFields) -> np.ndarray:
    """K (m, m) = int (E Iz v''v'' + E Iy w''w'' + G J alpha'alpha') dx."""
    x, weights = gauss_stations(fields.breakpoints, fields.resolution)
    properties = fields.flexible.properties(x)
    curvature = fields.rotation_first(x, 1)
    rigidity = np.stack((properties.torsion_stiffness, properties.bending_stiffness_y,
                         properties.bending_stiffness_z), axis=1)
    return np.einsum('k,kc,kci,kcj->ij', weights, rigidity, curvature, curvature, optimize=True)
