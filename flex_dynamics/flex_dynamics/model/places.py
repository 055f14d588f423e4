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
"""Where frames are, as kernels take it."""
from __future__ import annotations

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.build.pack_fields import pack_section
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.data import Data

MOST_SECTIONS = 1000     # of beams that a Data keeps packed, for frames at x of a beam


def place(assembly: Assembly, frame: str, x: float | None,
          data: Data) -> tuple[int, Array, Array]:
    """Node of a frame, coefficients of a section of its beam (empty if the frame is fixed in the
    node), and its pose (4, 4) in node or section."""
    node, station, offset = assembly.locate(frame, x)
    section = NO_FORCE
    if station is not None:
        key = (node, station)
        if key not in data.sections:
            if len(data.sections) >= MOST_SECTIONS:
                data.sections.clear()
            data.sections[key] = pack_section(assembly.packed.fields[node], station)
        section = data.sections[key]
    return node, section, np.ascontiguousarray(offset)
