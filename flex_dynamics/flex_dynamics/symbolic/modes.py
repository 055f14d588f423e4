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
"""A robot with fewer mode shapes than it was described with."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flex_description import FlexibleLink, ModeShapes, NoShapes, Robot
from flex_dynamics.errors import DynamicsError

Modes = int | Mapping[str, int | Sequence[int]]
MODE_GROUPS = ('bend_y', 'bend_z', 'twist')


class FirstShapes(ModeShapes):
    """The first shapes of a basis."""

    def __init__(self, shapes: ModeShapes, count: int) -> None:
        self._shapes, self.count, self.length = shapes, count, shapes.length

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return self._shapes.breakpoints

    def __call__(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        return self._shapes(x, derivative)[:self.count]


def with_modes(robot: Robot, modes: Modes | None) -> Robot:
    """The robot with at most `modes` shapes of each kind, or per link: one number for all kinds,
    or three, of bend_y, bend_z and twist."""
    if modes is None:
        return robot
    flexible = {link.name: link.flexible for link in robot.links if link.flexible is not None}
    if isinstance(modes, Mapping):
        unknown = [name for name in modes if name not in flexible]
        if unknown:
            raise DynamicsError(f'modes: {unknown[0]!r} is not a flexible link of {robot.name}; '
                                f'flexible links: {", ".join(flexible) or "none"}')
    links = []
    for link in robot.links:
        beam = link.flexible
        if beam is not None:
            wanted = modes.get(link.name) if isinstance(modes, Mapping) else modes
            if wanted is not None:
                beam = _fewer(beam, wanted)
        links.append(replace(link, flexible=beam))
    return replace(robot, links=tuple(links))


def _fewer(beam: FlexibleLink, wanted: int | Sequence[int]) -> FlexibleLink:
    present = tuple(getattr(beam, kind).count for kind in MODE_GROUPS)
    if isinstance(wanted, int):
        counts = tuple(min(wanted, count) for count in present)
    else:
        counts = tuple(wanted)
    if len(counts) != 3 or any(not isinstance(c, int) or c < 0 for c in counts) or any(
            c > have for c, have in zip(counts, present)):
        raise DynamicsError(f'modes of {beam.link!r}: expected one number, or three of bend_y, '
                            f'bend_z and twist, of at most {present}, found {wanted!r}')
    if not any(counts):
        raise DynamicsError(f'modes of {beam.link!r}: expected at least one shape, found none; '
                            'describe the link as rigid')
    y, z, twist = (FirstShapes(getattr(beam, kind), count) if count else NoShapes(beam.length)
                   for kind, count in zip(MODE_GROUPS, counts))
    return replace(beam, bend_y=y, bend_z=z, twist=twist)
