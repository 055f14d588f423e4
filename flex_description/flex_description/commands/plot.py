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
"""Plot of the basis shapes of a robot, one row per flexible link.

They are what the amplitudes multiply; natural modes are combinations of them.
"""
from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from flex_description.errors import RobotError
from flex_description.robot import Robot

SHAPE_SYMBOLS = (('bend_y', 'v'), ('bend_z', 'w'), ('twist', 'twist'))


def plot_shapes(robot: Robot, path: str) -> None:
    """Draw all basis shapes into an image file; RobotError if the robot is rigid."""
    links = [link.flexible for link in robot.links if link.flexible is not None]
    if not links:
        raise RobotError(f'expected a flexible link to draw, found none in "{robot.name}"')
    figure = Figure(figsize=(12.0, 2.6 * len(links) + 0.4), layout='constrained')
    rows = figure.subplots(len(links), len(SHAPE_SYMBOLS), squeeze=False)
    for row, link in zip(rows, links):
        x = np.linspace(0.0, link.length, 201)
        for axes, (kind, symbol) in zip(row, SHAPE_SYMBOLS):
            for number, shape in enumerate(getattr(link, kind)(x), 1):
                axes.plot(x, shape, label=f'{kind}/{number}')
            axes.axhline(0.0, color='0.7', linewidth=0.8)
            axes.set_title(f'{link.link}: {kind}, basis shapes ({link.basis})', fontsize='medium')
            axes.set_xlabel('x, m')
            axes.set_ylabel(f'{symbol} per amplitude')
            if getattr(link, kind).count:
                axes.legend(fontsize='x-small', ncols=2)
    figure.savefig(path, dpi=110)
