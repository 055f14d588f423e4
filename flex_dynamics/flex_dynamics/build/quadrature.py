"""The fewest Gauss sections that integrate a beam's kinetic energy to rounding.

The kinetic energy of a beam is a sum of particles, whose positions are the fields r, R e_y, R e_z
(quadratic in the amplitudes), weighted with rho A, rho Iz, rho Iy: no other integral is needed at
run time. A sum over n Gauss sections is exact for polynomials of degree 2 n - 1, so a handful of
sections does what precomputed coefficients of all products would, with fewer operations and a
mass matrix that is positive definite by construction.
"""
from __future__ import annotations

import numpy as np

from flex_dynamics.build.beam_fields import LEVI_CIVITA, BeamFields, gauss_legendre

TOLERANCE = 1e-10


def gauss_stations(breakpoints: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` Gauss-Legendre stations and weights in each interval."""
    nodes, weights = gauss_legendre(count)
    half = 0.5 * np.diff(breakpoints)
    x = (breakpoints[:-1, None] + half[:, None] * (nodes + 1.0)).ravel()
    return x, (half[:, None] * weights).ravel()


def particles(fields: BeamFields, count: int, kind: str) -> tuple[np.ndarray, ...]:
    """Weights (k,) and coefficients (k, 3), (k, 3, m), (k, 3, m, m) of one kind of particle.

    kind 'axis': points of the beam's axis, weight rho A. Kinds 'y' and 'z': the directors R e_y
    and R e_z with the weights rho Iz = int rho y2 dA and rho Iy = int rho z2 dA.
    """
    x, weights = gauss_stations(fields.breakpoints, count)
    properties = fields.flexible.properties(x)
    section = fields.at(x)
    if kind == 'axis':
        return weights * properties.mass_per_length, section.r0, section.r1, section.r2
    director_y, director_z = section.directors()
    if kind == 'y':
        return (weights * properties.inertia_z, *director_y)
    return (weights * properties.inertia_y, *director_z)


def mass_blocks(particle: tuple[np.ndarray, ...], eta: np.ndarray) -> np.ndarray:
    """Sum of w G'G with G = (-[p], dp/deta), (3 + m, 3 + m): the kinetic energy but for v."""
    weights, p0, p1, p2 = particle
    position = p0 + p1 @ eta + (p2 @ eta) @ eta
    jacobian = p1 + 2.0 * p2 @ eta
    turning = np.einsum('abc,kb->kac', LEVI_CIVITA, -position)
    rows = np.concatenate((turning, jacobian), axis=2)
    return np.einsum('k,kci,kcj->ij', weights, rows, rows, optimize=True)


def fewest_sections(fields: BeamFields) -> tuple[int, int]:
    """Smallest Gauss counts per interval, for axis points and for directors, that have converged.

    The error is measured against the whole inertia of a coordinate, at rest and at two deformed
    states of three hundredths of the length.
    """
    rng = np.random.default_rng(0)
    tip = fields.at(np.array([fields.flexible.length]))
    size = np.abs(tip.r1).max() + np.abs(tip.t1).max() * tip.x[0]
    scale = 0.03 * fields.flexible.length / max(size, 1e-9)
    samples = [np.zeros(fields.n_modes)]
    samples += [scale * rng.uniform(-1.0, 1.0, fields.n_modes) for _ in range(2)]

    def blocks(count: int, kinds: tuple[str, ...]) -> np.ndarray:
        data = [particles(fields, count, kind) for kind in kinds]
        return np.array([np.sum([mass_blocks(d, eta) for d in data], axis=0)
                         for eta in samples])

    most = fields.resolution
    axis, directors = blocks(most, ('axis',)), blocks(most, ('y', 'z'))
    norm = np.sqrt(np.einsum('sii->si', axis + directors))
    norm = norm[:, :, None] * norm[:, None, :] + 1e-300

    def fewest(kinds: tuple[str, ...], exact: np.ndarray) -> int:
        low, high = 1, most
        while low < high:
            middle = (low + high) // 2
            if np.max(np.abs(blocks(middle, kinds) - exact) / norm) < TOLERANCE:
                high = middle
            else:
                low = middle + 1
        return high

    counts = fewest(('axis',), axis), fewest(('y', 'z'), directors)
    if len(fields.breakpoints) == 2:
        # Whole vector registers: three sections more cost less than a loop's remainder.
        return 4 * -(-counts[0] // 4), 4 * -(-counts[1] // 4)
    return counts


def stiffness(fields: BeamFields) -> np.ndarray:
    """K (m, m) = int (E Iz v''v'' + E Iy w''w'' + G J alpha'alpha') dx."""
    x, weights = gauss_stations(fields.breakpoints, fields.resolution)
    properties = fields.flexible.properties(x)
    curvature = fields.rotation_first(x, 1)
    rigidity = np.stack((properties.torsion_stiffness, properties.bending_stiffness_y,
                         properties.bending_stiffness_z), axis=1)
    return np.einsum('k,kc,kci,kcj->ij', weights, rigidity, curvature, curvature, optimize=True)
