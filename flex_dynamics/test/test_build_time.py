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
"""Building a model stays cheap for many modes and for many flexible links.

Counted is work, not time: the sizes of what is built and how often shapes are evaluated.
"""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.pack_fields import pack_beam


def chain(basis: str, modes: int, links: int = 1):
    parts = []
    for k in range(1, links + 1):
        parts.append(f"""<link name="link{k}"/>
          <joint name="joint{k}" type="continuous"><parent link="link{k - 1}"/>
            <child link="link{k}"/><origin xyz="{1.0 if k > 1 else 0.0} 0 0"/>
            <axis xyz="0 0 1"/></joint>
          <flexible link="link{k}"><beam length="1.0">
            <section A="1.2e-3" Iy="4e-7" Iz="6e-7" J="1e-6"/>
            <material E="70e9" G="26e9" density="2700"/></beam>
            <modes basis="{basis}" bending_y="{modes}" bending_z="{modes}" twist="{modes}"/>
          </flexible>""")
    return load_robot(f'<robot name="chain"><link name="link0"/>{"".join(parts)}</robot>')


class CountingShapes:
    """Mode shapes that count the numbers that they are asked for."""

    def __init__(self, shapes) -> None:
        self._shapes, self.evaluated = shapes, 0

    def __getattr__(self, name):
        return getattr(self._shapes, name)

    def __call__(self, x, derivative=0):
        self.evaluated += np.size(x) * self._shapes.count
        return self._shapes(x, derivative)


@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-free', 'fe'])
def test_twenty_modes_in_each_direction(basis):
    beam = chain(basis, 20).links[1].flexible
    shapes = [CountingShapes(getattr(beam, name)) for name in ('bend_y', 'bend_z', 'twist')]
    for name, counting in zip(('bend_y', 'bend_z', 'twist'), shapes, strict=True):
        object.__setattr__(beam, name, counting)
    fields = BeamFields(beam, 'second')
    _, n_axis, n_sections = pack_beam(fields)
    # Products are kept by pairs that occur, a sixth of all: 400 + 2 x 400, 2 x 210 + 2 x 400.
    assert len(fields.turns.first) == 1200 and len(fields.moves.first) == 1220
    assert n_axis <= 64 and n_sections <= 216
    assert max(counting.evaluated for counting in shapes) < 100_000


def test_a_beam_of_a_long_chain_needs_a_few_trials():
    beam = chain('craig-bampton', 2).links[1].flexible
    shapes = CountingShapes(beam.bend_y)
    object.__setattr__(beam, 'bend_y', shapes)
    pack_beam(BeamFields(beam, 'second'))
    assert shapes.evaluated < 3000
