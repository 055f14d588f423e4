"""The fewest particles that have a beam's kinetic energy.

The kinetic energy of a beam is a sum of particles, whose positions are the fields r, R e_y, R e_z
(quadratic in the amplitudes), weighted with rho A, rho Iz, rho Iy: no other integral is needed at
run time. Gauss sections give such a sum to rounding; a turn of these among themselves leaves a
handful, with fewer operations than precomputed coefficients of all products would need, and with
a mass matrix that is positive definite by construction.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields, gauss_legendre
from flex_dynamics.kernels.layout import LANES

TOLERANCE = 3e-6
LARGE = 0.05              # of the length, and rad: amplitudes up to which the tolerance is meant


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


@dataclass(frozen=True)
class Particles:
    """Particles that have the inertia of one kind, (k,) of them, scaled by the root of the weight.

    roots (k,), p0 (k, 3), p1 (k, 3, m), p2 (k, 3, m, m).
    """

    roots: np.ndarray
    p0: np.ndarray
    p1: np.ndarray
    p2: np.ndarray


def fewest_particles(fields: BeamFields) -> dict[str, Particles]:
    """The fewest particles of each kind with the beam's inertia, in whole vector registers.

    Inertia is made of products of the fields, summed over sections, so any turn of the sections'
    columns among themselves keeps it. The turn that a singular value decomposition gives puts all
    that matters into a few columns. Those left out have less than TOLERANCE of the size that a
    coordinate's columns have, and change its inertia by the square of that.
    """
    kinds = {kind: _rooted(fields, kind) for kind in ('axis', 'y', 'z')}
    # Sizes to compare with: the root of a shape's inertia, and an amplitude that is large.
    inertia = np.sqrt(sum(np.einsum('kci,kci->i', p.p1, p.p1) for p in kinds.values()))
    inertia = np.maximum(inertia, 1e-12 * inertia.max(initial=1e-300))
    tip = fields.at(np.linspace(0.0, fields.flexible.length, 17))
    moved = np.abs(tip.r1).max(axis=(0, 1)) / fields.flexible.length
    amplitude = LARGE / np.maximum(moved + np.abs(tip.t1).max(axis=(0, 1)), 1e-12)
    change = 2.0 * amplitude / inertia[:, None]
    change = np.maximum(change, change.T)
    turned = {}
    for kind, p in kinds.items():
        columns = [p.p0, p.p1 / inertia, p.p2 * change]
        columns[0] = columns[0] / np.sqrt(np.square(p.p0).sum() + 1e-300)
        if kind == 'axis':
            columns.append(p.roots / np.sqrt(np.square(p.roots).sum()))
        flat = np.concatenate([c.reshape(len(p.roots), -1) for c in columns], axis=1)
        # All turns of the sections, but not those of the columns: these may be ten thousand.
        basis, sizes, _ = np.linalg.svd(flat, full_matrices=flat.shape[0] > flat.shape[1])
        turned[kind] = p, basis, int(np.sum(sizes > TOLERANCE))
    directors = max(turned[kind][2] for kind in 'yz')
    return {kind: _turned(p, basis, count if kind == 'axis' else directors)
            for kind, (p, basis, count) in turned.items()}


def _rooted(fields: BeamFields, kind: str) -> Particles:
    weights, p0, p1, p2 = particles(fields, fields.resolution, kind)
    root = np.sqrt(weights)
    return Particles(root, root[:, None] * p0, root[:, None, None] * p1,
                     root[:, None, None, None] * p2)


def _turned(p: Particles, basis: np.ndarray, count: int) -> Particles:
    """The first columns of basis' times the sections, `count` of them or, to fill registers, a few
    more."""
    kept = basis[:, :LANES * -(-count // LANES)].T
    return Particles(*(np.tensordot(kept, field, 1) for field in (p.roots, p.p0, p.p1, p.p2)))


def stiffness(fields: BeamFields) -> np.ndarray:
    """K (m, m) = int (E Iz v''v'' + E Iy w''w'' + G J alpha'alpha') dx."""
    x, weights = gauss_stations(fields.breakpoints, fields.resolution)
    properties = fields.flexible.properties(x)
    curvature = fields.rotation_first(x, 1)
    rigidity = np.stack((properties.torsion_stiffness, properties.bending_stiffness_y,
                         properties.bending_stiffness_z), axis=1)
    return np.einsum('k,kc,kci,kcj->ij', weights, rigidity, curvature, curvature, optimize=True)
