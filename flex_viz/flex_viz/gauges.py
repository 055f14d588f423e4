"""Strain gauges on the bent robot: where they sit and what they read."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model
from flex_viz.bent_beam import BentBeam
from flex_viz.elastic import flexible_links
from flex_viz.skin import placed


class Gauges:
    """All gauges of a robot, link by link."""

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
        """(gauges, 3) m in the root's frame, the links being at `poses` (4, 4)."""
        parts = []
        for link, beam, points in self._links:
            position, rotation = beam.sections(q)
            in_beam = position + np.einsum('kij,kj->ki', rotation, points)
            parts.append(placed(in_beam, poses[link] @ beam.flexible.origin))
        return np.concatenate(parts) if parts else np.zeros((0, 3))
