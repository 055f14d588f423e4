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
"""The largest axial strain of the flexible links, at their outer fibres."""
from __future__ import annotations

import numpy as np

from flex_control.design.limited_outputs import ROUND, STATIONS
from flex_dynamics import Model


class FibreStrain:
    """Bending strain of all beams of a robot whose sections have a known size.

    A fibre at (y, z) has the strain -v'' y - w'' z. The outer fibres of a round section have at
    most r |(v'', w'')|, those of another one |v'' half_y| + |w'' half_z|. `links` has the names of
    the beams that are looked at.
    """

    def __init__(self, model: Model) -> None:
        self.links: list[str] = []
        self._beams = []
        for link in model.robot.links:
            if link.flexible is None:
                continue
            stations = np.linspace(0.0, link.flexible.length, STATIONS)
            properties = link.flexible.properties(stations)
            if properties.half_y is None or properties.half_z is None:
                continue
            self.links.append(link.name)
            self._beams.append((model.sections(link.name, stations),
                                np.asarray(properties.half_y), np.asarray(properties.half_z),
                                link.flexible.section_shape in ROUND))

    def largest(self, q: np.ndarray) -> tuple[float, str]:
        """The largest strain (m/m) at a state q (n,), and its link; zero without beams."""
        found, where = 0.0, ''
        for name, (sections, half_y, half_z, is_round) in zip(self.links, self._beams):
            _, about_y, about_z = np.asarray(sections.curvature(q)).T
            parts = np.abs(half_z * about_y), np.abs(half_y * about_z)
            most = float((np.hypot(*parts) if is_round else parts[0] + parts[1]).max())
            if most > found:
                found, where = most, name
        return found, where
