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
"""The strain gauges on deflected beams."""
from __future__ import annotations

import numpy as np

from flex_dynamics import BeamSections, Model
from flex_viz.geometry.coordinates import flexible_links
from flex_viz.geometry.frames import transform_points


class Gauges:
    """All strain gauges of a robot, link by link."""

    def __init__(self, model: Model) -> None:
        self.names: list[str] = []
        self._links: list[tuple[str, np.ndarray, BeamSections, np.ndarray]] = []
        for link in flexible_links(model):
            flexible = model.beam(link).flexible
            if flexible.gauges:
                self.names += [gauge.name for gauge in flexible.gauges]
                sections = model.sections(link, [gauge.x for gauge in flexible.gauges])
                points = np.array([(0.0, gauge.y, gauge.z) for gauge in flexible.gauges])
                self._links.append((link, flexible.origin, sections, points))

    def strain(self, q: np.ndarray) -> np.ndarray:
        """(gauges,) m/m, positive in tension."""
        parts = [points[:, 2] * curvature[:, 1] - points[:, 1] * curvature[:, 2]
                 for _, _, sections, points in self._links
                 for curvature in (sections.curvature(q),)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def positions(self, q: np.ndarray, poses: dict[str, np.ndarray]) -> np.ndarray:
        """(gauges, 3) m in the frame of the root, with the links at `poses` (4, 4)."""
        parts = []
        for link, origin, sections, points in self._links:
            position, rotation = sections.poses(q)
            in_beam = position + np.einsum('kij,kj->ki', rotation, points)
            parts.append(transform_points(in_beam, poses[link] @ origin))
        return np.concatenate(parts) if parts else np.zeros((0, 3))
