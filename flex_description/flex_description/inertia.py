"""Rigid inertia: reading, checking and adding it, and that of an undeformed beam."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flex_description.beam import Beam, quadrature
from flex_description.element import Element
from flex_description.robot import FlexibleLink, Inertia, LumpedMass

TENSOR = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')


def tensor(ixx: float, iyy: float, izz: float, ixy: float, ixz: float, iyz: float) -> np.ndarray:
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def check_tensor(element: Element, matrix: np.ndarray, *, point: bool = False) -> str:
    """Refuse a tensor that is not positive definite; point: moments may be zero (point, rod).

    Returns '' or what is wrong with it otherwise: no body has a principal moment greater than the
    sum of the other two. The tolerance is 1 %, because published tensors are rounded.
    """
    moments = np.linalg.eigvalsh(matrix)
    shown = ', '.join(f'{value:g}' for value in moments)
    if moments[0] <= 0.0 and not (point and moments[0] >= -1e-9 * abs(moments[2])):
        raise element.error('inertia: expected a positive-definite tensor, found principal '
                            f'moments {shown}')
    if moments[2] > 1.01 * (moments[0] + moments[1]):
        return ('inertia: expected principal moments of which each is at most the sum of the '
                f'other two, found {shown}')
    return ''


def not_negative(matrix: np.ndarray) -> np.ndarray:
    """A tensor that check_tensor accepts without moments below zero, which rounding leaves."""
    moments, axes = np.linalg.eigh(matrix)
    return matrix if moments[0] >= 0.0 else (axes * np.maximum(moments, 0.0)) @ axes.T


def steiner(mass: float, arm: np.ndarray) -> np.ndarray:
    """mass (|r|^2 I - r r^T) (3, 3)."""
    return mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))


def add(parts: Iterable[Inertia]) -> Inertia | None:
    """The inertia of several bodies held together, all given in one frame; None for none."""
    bodies = list(parts)
    mass = sum(body.mass for body in bodies)
    if mass == 0.0:
        return None
    centre = sum((body.mass * body.centre for body in bodies), np.zeros(3)) / mass
    total = sum((body.tensor + steiner(body.mass, body.centre - centre) for body in bodies),
                np.zeros((3, 3)))
    return Inertia(mass, centre, total)


def moved(body: Inertia, pose: np.ndarray) -> Inertia:
    """The same body in the outer frame of `pose` (4, 4)."""
    rotation = pose[:3, :3]
    return Inertia(body.mass, rotation @ body.centre + pose[:3, 3],
                   rotation @ body.tensor @ rotation.T)


def lumped(mass: LumpedMass) -> Inertia:
    """A lumped mass in the undeformed beam's frame."""
    return Inertia(mass.mass, np.array([mass.x, 0.0, 0.0]) + mass.centre, mass.tensor)


def link_inertia(origin: np.ndarray, beam: Beam | FlexibleLink,
                 masses: Iterable[LumpedMass]) -> Inertia:
    """The undeformed flexible link with its lumped masses as one body, in the link's frame.

    origin (4, 4): the beam's frame in the link's.
    """
    body = add([beam_inertia(beam), *(lumped(mass) for mass in masses)])
    assert body is not None  # a beam has mass
    return moved(body, origin)


def beam_inertia(beam: Beam | FlexibleLink) -> Inertia:
    """The undeformed beam in its own frame, without lumped masses."""
    x, weight = quadrature(beam.breakpoints, 8)
    at = beam.properties(x)
    dm = weight * at.mass_per_length
    mass = float(dm.sum())
    centre = np.array([float(dm @ x) / mass, 0.0, 0.0])
    second = float(dm @ (x - centre[0])**2)
    iy, iz = float(weight @ at.inertia_y), float(weight @ at.inertia_z)
    return Inertia(mass, centre, np.diag([iy + iz, iy + second, iz + second]))
