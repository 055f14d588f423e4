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
"""How near a lumped link is to its beam: first frequencies and static tip, clamped at its root.

The link carries all that is beyond it as one rigid body, at the zero pose.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from flex_description.errors import RobotError, quoted
from flex_description.link_modes import LinkMode, link_modes, loads_of, static_tip
from flex_description.lumping.beam_chain import chain_matrices, reference_link
from flex_description.lumping.lumped_robot import LumpedRobot
from flex_description.math import Array
from flex_description.shapes import ShapeError

COMPARED = 6            # frequencies of each link
GRAVITY = 9.81          # m/s2, across the beam


@dataclass(frozen=True)
class LinkAccuracy:
    """A link as segments and as a beam.

    modes: the first ones of the beam; frequencies (k,), Hz: those of the segments. tip, beam_tip
    (2,), m: static displacement of the end along y and z under 9.81 m/s2 along that axis. highest:
    frequency of the segments that limits the step of an explicit integrator, Hz.
    """

    link: str
    modes: tuple[LinkMode, ...]
    frequencies: Array
    tip: Array
    beam_tip: Array
    highest: float

    @property
    def frequency_errors(self) -> Array:
        """Relative errors (k,) of the frequencies."""
        errors: Array = self.frequencies / np.array([mode.frequency for mode in self.modes]) - 1.0
        return errors

    @property
    def tip_errors(self) -> Array:
        """Relative errors (2,) of the static tip; 0 in a plane that does not bend."""
        moved = np.where(self.beam_tip == 0.0, 1.0, self.beam_tip)
        errors: Array = (self.tip - self.beam_tip) / moved
        return errors


def lumping_accuracy(lumped: LumpedRobot) -> list[LinkAccuracy]:
    """Errors of every flexible link of a lumped robot; RobotError if they cannot be computed."""
    loads = loads_of(lumped.robot)
    result = []
    for link in lumped.robot.links:
        if link.flexible is None:
            continue
        carried = loads[link.name]
        mass, stiffness, force, motion = chain_matrices(lumped.chains[link.name], carried)
        try:
            beam = reference_link(link.flexible, carried)
            # In the spring's units, K is the identity, and M positive even beside a huge load.
            unit = 1.0 / np.sqrt(stiffness)
            inverse = eigh(mass * np.outer(unit, unit), eigvals_only=True)[::-1]
            modes = link_modes(beam, carried)[:COMPARED]
            beam_tip = [static_tip(beam, carried, GRAVITY * np.eye(3)[axis])[axis]
                        for axis in (1, 2)]
        except RobotError as error:
            raise RobotError(str(error), lumped.robot.source) from None
        except (np.linalg.LinAlgError, ShapeError, ValueError) as error:
            raise RobotError(f'link {quoted(link.name)}: expected a beam and a load of sizes that '
                             f'can be compared, found: {error}', lumped.robot.source) from None
        tips = motion @ (GRAVITY * force / stiffness[:, None])
        frequencies = 1.0 / (2 * np.pi * np.sqrt(np.maximum(inverse, np.finfo(float).tiny)))
        count = min(len(modes), len(frequencies))
        result.append(LinkAccuracy(link.name, tuple(modes[:count]), frequencies[:count],
                                   np.array([tips[1, 1], tips[2, 2]]), np.array(beam_tip),
                                   float(frequencies[-1])))
    return result
