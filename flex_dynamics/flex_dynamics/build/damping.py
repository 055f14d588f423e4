"""Damping of a beam's amplitudes: modal ratios or Rayleigh."""
from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, eigh

from flex_description import FlexibleLink


def elastic_damping(beam: FlexibleLink, mass: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """D (modes, modes) of one beam.

    mass: its elastic block with everything outboard locked to it. With ratios, the modes of each
    kind (bend_y, bend_z, twist) on that mass get 2 ratio omega each; Rayleigh adds alpha M +
    beta K.
    """
    damping = beam.damping
    blocks, start = [], 0
    for shapes, ratios in ((beam.bend_y, damping.ratio_bend_y),
                           (beam.bend_z, damping.ratio_bend_z),
                           (beam.twist, damping.ratio_twist)):
        part = slice(start, start + shapes.count)
        start += shapes.count
        blocks.append(_modal(mass[part, part], stiffness[part, part], ratios))
    return block_diag(*blocks) + damping.alpha * mass + damping.beta * stiffness


def _modal(mass: np.ndarray, stiffness: np.ndarray, ratios: tuple[float, ...]) -> np.ndarray:
    if not ratios or not len(mass):
        return np.zeros_like(mass)
    squares, vectors = eigh(stiffness, mass)
    each = np.array([ratios[min(k, len(ratios) - 1)] for k in range(len(squares))])
    rates = 2.0 * each * np.sqrt(np.maximum(squares, 0.0))
    momenta = mass @ vectors
    return (momenta * rates) @ momenta.T
