"""Deformation fields of a beam, polynomials of second degree in its elastic amplitudes.

A section at x has, in the beam's frame,

    position  r = (x, 0, 0) + r1 eta + eta' r2 eta
    rotation  R = exp(theta),  theta = t1 eta + eta' t2 eta

With theta1 = (alpha, -w', v') and the curvature kappa = theta1', Piedboeuf's rotation (16) is
R1 = [theta1], R2 = int [theta1][kappa] (13), (14). Its logarithm has the second-order part
theta2 = 1/2 int theta1 x kappa, so exp(theta1 + theta2) is a proper rotation that equals (16) to
second order. The position (18) is the integral of R e_x to second order. For a basis with a slope
at x = 0 (pinned) the same formulae hold, theta1(0) being the first turn.

Order `first` drops r2 and t2; order `second` keeps them.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import legendre

from flex_description.robot import FlexibleLink

# theta1 x kappa and theta1 x (theta1 x e_x) need the cross product as a tensor.
LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k] = 1.0
    LEVI_CIVITA[_i, _k, _j] = -1.0


@dataclass(frozen=True)
class SectionFields:
    """Coefficients at k stations of one beam with m amplitudes; units of m and rad.

    r0 (k, 3), r1 (k, 3, m), r2 (k, 3, m, m) symmetric; t1, t2 likewise for the rotation vector.
    """

    x: np.ndarray
    r0: np.ndarray
    r1: np.ndarray
    r2: np.ndarray
    t1: np.ndarray
    t2: np.ndarray


def _symmetric(tensor: np.ndarray) -> np.ndarray:
    return 0.5 * (tensor + np.swapaxes(tensor, -1, -2))


def _second_order_tangent(t1: np.ndarray, t2: np.ndarray) -> np.ndarray:
    """Second-order part of exp(theta) e_x: theta2 x e_x + 1/2 theta1 x (theta1 x e_x)."""
    cross_axis = LEVI_CIVITA[:, :, 0]                # theta x e_x = cross_axis theta
    first = np.einsum('ab,kbi->kai', cross_axis, t1)
    double = 0.5 * np.einsum('abc,kbi,kcj->kaij', LEVI_CIVITA, t1, first, optimize=True)
    return np.einsum('ab,kbij->kaij', cross_axis, t2) + _symmetric(double)


class BeamFields:
    """Fields of one flexible link at any station, for order `first` or `second`."""

    def __init__(self, flexible: FlexibleLink, order: str) -> None:
        self.flexible = flexible
        self.second = order == 'second'
        shapes = (flexible.bend_y, flexible.bend_z, flexible.twist)
        points = set(flexible.breakpoints)
        for shape in shapes:
            points.update(shape.breakpoints)
        ordered = np.array(sorted(p for p in points if 0.0 <= p <= flexible.length))
        keep = np.concatenate(([True], np.diff(ordered) > 1e-9 * flexible.length))
        self.breakpoints = ordered[keep]
        self.breakpoints[-1] = flexible.length
        self.counts = tuple(shape.count for shape in shapes)
        # Stations per smooth interval that integrate products of four shapes to rounding.
        self.resolution = 24 + 4 * max(max(self.counts), 1)

    @property
    def n_modes(self) -> int:
        return sum(self.counts)

    def rotation_first(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """theta1 = (alpha, -w', v') or its derivative, the curvature: (k, 3, m)."""
        n_y, n_z, _ = self.counts
        link = self.flexible
        out = np.zeros((len(x), 3, self.n_modes))
        out[:, 0, n_y + n_z:] = link.twist(x, derivative).T
        out[:, 1, n_y:n_y + n_z] = -link.bend_z(x, derivative + 1).T
        out[:, 2, :n_y] = link.bend_y(x, derivative + 1).T
        return out

    def displacement_first(self, x: np.ndarray) -> np.ndarray:
        """(0, v, w) per amplitude: (k, 3, m)."""
        n_y, n_z, _ = self.counts
        out = np.zeros((len(x), 3, self.n_modes))
        out[:, 1, :n_y] = self.flexible.bend_y(x).T
        out[:, 2, n_y:n_y + n_z] = self.flexible.bend_z(x).T
        return out

    def first_order_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """Largest displacement (m,) in m and rotation (m,) in rad along the beam per amplitude."""
        x = np.linspace(0.0, self.flexible.length, 17 + 4 * max(self.counts))
        return (np.abs(self.displacement_first(x)).max(axis=(0, 1)),
                np.abs(self.rotation_first(x)).max(axis=(0, 1)))

    def at(self, x: np.ndarray) -> SectionFields:
        """Fields at stations x (k,), in any order, each within [0, length]."""
        x = np.asarray(x, dtype=float)
        m = self.n_modes
        r0 = np.zeros((len(x), 3))
        r0[:, 0] = x
        r1 = self.displacement_first(x)
        t1 = self.rotation_first(x)
        r2 = np.zeros((len(x), 3, m, m))
        t2 = np.zeros((len(x), 3, m, m))
        if self.second and m:
            r2, t2 = self._second_order(x)
        return SectionFields(x, r0, r1, r2, t1, t2)

    def _second_order(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r2 and t2 at stations x."""
        m = self.n_modes
        r2 = np.zeros((len(x), 3, m, m))
        t2 = np.zeros((len(x), 3, m, m))
        for part in self._intervals:
            inside = (x >= part.left) & (x <= part.right)
            if inside.any():
                t2[inside], r2[inside] = part.at(x[inside])
        return r2, t2

    @cached_property
    def _intervals(self) -> list[_Interval]:
        """The smooth intervals, each with its integrands at Gauss-Legendre nodes."""
        m = self.n_modes
        nodes, _ = gauss_legendre(self.resolution)
        t_start, r_start = np.zeros((3, m, m)), np.zeros((3, m, m))
        intervals = []
        for left, right in zip(self.breakpoints[:-1], self.breakpoints[1:], strict=True):
            half = 0.5 * (right - left)
            stations = left + half * (nodes + 1.0)
            theta = self.rotation_first(stations)
            kappa = self.rotation_first(stations, 1)
            turn_rate = 0.5 * _symmetric(
                np.einsum('abc,kbi,kcj->kaij', LEVI_CIVITA, theta, kappa, optimize=True))
            t_nodes = t_start + half * np.tensordot(
                integral_weights(self.resolution, nodes), turn_rate, 1)
            tangent = _second_order_tangent(theta, t_nodes)
            part = _Interval(left, right, t_start, r_start, turn_rate, tangent)
            (t_start,), (r_start,) = part.at(np.array([right]))
            intervals.append(part)
        return intervals


@dataclass(frozen=True)
class _Interval:
    """Second-order integrands of one smooth interval and the integrals up to its left end."""

    left: float
    right: float
    t_start: np.ndarray
    r_start: np.ndarray
    turn_rate: np.ndarray
    tangent: np.ndarray

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """t2 and r2 at stations of this interval."""
        half = 0.5 * (self.right - self.left)
        weights = half * integral_weights(len(self.tangent), (x - self.left) / half - 1.0)
        return (self.t_start + np.tensordot(weights, self.turn_rate, 1),
                self.r_start + np.tensordot(weights, self.tangent, 1))


@lru_cache
def gauss_legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [-1, 1]."""
    return legendre.leggauss(count)


@lru_cache
def _to_integrated(count: int) -> np.ndarray:
    """From values at `count` Legendre nodes to the series of the integral from -1."""
    to_coefficients = np.linalg.inv(legendre.legvander(gauss_legendre(count)[0], count - 1))
    return legendre.legint(np.eye(count), lbnd=-1.0) @ to_coefficients


def integral_weights(count: int, points: np.ndarray) -> np.ndarray:
    """Weights (points, count) that integrate values at Legendre nodes from -1 to each point."""
    return legendre.legvander(points, count) @ _to_integrated(count)
