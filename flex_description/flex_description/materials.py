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
"""Materials by name: Young's modulus E (Pa), shear modulus G (Pa), density (kg/m3)."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Material:
    """An elastic material: E and G in Pa, density in kg/m3."""

    E: float
    G: float
    density: float


# Room temperature, handbook values: structural steel, aluminium 6061, titanium Ti-6Al-4V, and a
# unidirectional carbon/epoxy laminate with its fibres along the beam.
MATERIALS = {
    'steel': Material(E=210e9, G=80.8e9, density=7850.0),
    'aluminium': Material(E=69e9, G=26e9, density=2700.0),
    'titanium': Material(E=114e9, G=44e9, density=4430.0),
    'carbon': Material(E=135e9, G=5e9, density=1600.0),
}
