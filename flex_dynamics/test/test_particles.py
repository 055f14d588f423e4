"""The particles that a beam keeps have its inertia."""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics.build.beam_fields import LEVI_CIVITA, BeamFields
from flex_dynamics.build.quadrature import LARGE, fewest_particles, particles
from flex_dynamics.kernels.layout import LANES


def inertia(roots, p0, p1, p2, eta) -> np.ndarray:
    """Sum of G'G, G = (-[p], root, dp/deta): the blocks of twist and amplitudes."""
    position = p0 + p1 @ eta + (p2 @ eta) @ eta
    turning = np.einsum('abc,kb->kac', LEVI_CIVITA, -position)
    moving = roots[:, None, None] * np.eye(3)
    rows = np.concatenate((turning, moving, p1 + 2.0 * p2 @ eta), axis=2)
    return np.einsum('kci,kcj->ij', rows, rows)


def beams():
    for name in ('cibicik_arm', 'canadarm', 'flexible_tree', 'spin_up_beam'):
        for link in load_robot(name).links:
            if link.flexible is not None:
                yield pytest.param(link.flexible, id=f'{name} {link.name}')


@pytest.mark.parametrize('beam', list(beams()))
def test_few_particles_have_the_inertia_of_many_sections(beam):
    fields = BeamFields(beam, 'second')
    few = fewest_particles(fields)
    stations = fields.at(np.linspace(0.0, beam.length, 17))
    turn, shift = (np.abs(field).max(axis=(0, 1)) for field in (stations.t1, stations.r1))
    rng = np.random.default_rng(0)
    for eta in (np.zeros(fields.n_modes), LARGE * rng.uniform(-1.0, 1.0, fields.n_modes)
                / (turn + shift / beam.length)):
        exact, kept = 0.0, 0.0
        for kind, p in few.items():
            weights, p0, p1, p2 = particles(fields, fields.resolution, kind)
            root = np.sqrt(weights)
            # A director has no translation: its weight is a moment of area, not a mass.
            still = 1.0 if kind == 'axis' else 0.0
            exact += inertia(still * root, root[:, None] * p0, root[:, None, None] * p1,
                             root[:, None, None, None] * p2, eta)
            kept += inertia(still * p.roots, p.p0, p.p1, p.p2, eta)
        size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        assert np.max(np.abs(kept - exact) / size) < 1e-9


@pytest.mark.parametrize('beam', list(beams()))
def test_they_fill_vector_registers_and_are_fewer_than_the_sections(beam):
    fields = BeamFields(beam, 'second')
    few = fewest_particles(fields)
    sections = len(particles(fields, fields.resolution, 'axis')[0])
    for p in few.values():
        assert len(p.roots) % LANES == 0 and len(p.roots) < sections
