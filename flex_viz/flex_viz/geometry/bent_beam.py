"""Sections of a deflected beam, and the strain gauges on it.

A section at x has, in the frame of the beam (flex_dynamics.build.beam_fields),

    position  r = (x, 0, 0) + r1 eta + eta' r2 eta
    rotation  R = exp(theta),  theta = t1 eta + eta' t2 eta

Therefore r and theta of k stations are one constant matrix times (1, eta, products of eta).
"""
from __future__ import annotations

import numpy as np

from flex_description.math import exponential
from flex_dynamics import Model
from flex_viz.geometry.coordinates import amplitudes, flexible_links
from flex_viz.geometry.frames import transform_points


class BentBeam:
    """k sections of the flexible link `link`, at `stations` (k,) m along its beam."""

    def __init__(self, model: Model, link: str, stations: np.ndarray) -> None:
        beam = model.beam(link)
        self.flexible = beam.flexible
        self.stations = np.asarray(stations, dtype=float)
        self._own = amplitudes(model, link)
        fields = beam.at(self.stations)
        m, k = len(self._own), len(self.stations)
        self._pairs = np.triu_indices(m)
        twice = np.where(self._pairs[0] == self._pairs[1], 1.0, 2.0)
        rows = []
        for constant, linear, square in ((fields.r0, fields.r1, fields.r2),
                                         (np.zeros((k, 3)), fields.t1, fields.t2)):
            products = square[..., self._pairs[0], self._pairs[1]] * twice
            rows.append(np.concatenate((constant[..., None], linear, products), axis=-1))
        self._matrix = np.concatenate(rows).reshape(6 * k, -1)
        self._curvature = beam.rotation_first(self.stations, 1)

    def sections(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (k, 3) m and rotations (k, 3, 3) in the frame of the beam at state q (n,)."""
        eta = q[self._own]
        powers = np.concatenate(([1.0], eta, eta[self._pairs[0]] * eta[self._pairs[1]]))
        values = (self._matrix @ powers).reshape(2, -1, 3)
        return values[0], exponential(values[1])

    def curvature(self, q: np.ndarray) -> np.ndarray:
        """(k, 3) 1/m: twist rate, curvature about y and about z; alpha', -w'', v''."""
        return self._curvature @ q[self._own]


class Gauges:
    """All strain gauges of a robot, link by link."""

    def __init__(self, model: Model) -> None:
        self.names: list[str] = []
        self._links: list[tuple[str, BentBeam, np.ndarray]] = []
        for link in flexible_links(model):
            flexible = model.beam(link).flexible
            if flexible.gauges:
                self.names += [gauge.name for gauge in flexible.gauges]
                beam = BentBeam(model, link, np.array([gauge.x for gauge in flexible.gauges]))
                points = np.array([(0.0, gauge.y, gauge.z) for gauge in flexible.gauges])
                self._links.append((link, beam, points))

    def strain(self, q: np.ndarray) -> np.ndarray:
        """(gauges,) m/m, positive in tension."""
        parts = [points[:, 2] * curvature[:, 1] - points[:, 1] * curvature[:, 2]
                 for _, beam, points in self._links for curvature in (beam.curvature(q),)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def positions(self, q: np.ndarray, poses: dict[str, np.ndarray]) -> np.ndarray:
        """(gauges, 3) m in the frame of the root, with the links at `poses` (4, 4)."""
        parts = []
        for link, beam, points in self._links:
            position, rotation = beam.sections(q)
            in_beam = position + np.einsum('kij,kj->ki', rotation, points)
            parts.append(transform_points(in_beam, poses[link] @ beam.flexible.origin))
        return np.concatenate(parts) if parts else np.zeros((0, 3))
