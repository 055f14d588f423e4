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
"""How a flexible robot looks: deflected shapes and frames, and reports of recorded runs.

    from pathlib import Path
    from flex_viz import animate, read_run, table, write_report

    run = read_run(Path('bag'))                                # rosbag2, without ROS
    print(table(run))
    write_report(Path('report'), run, moments=(0.0, 1.0, 2.0))
    animate(Path('run.gif'), run)

Reports: `read_run`, `Run`, `RunError`, `table`, `write_report`, `animate`.
Shapes: `BentRobot`, `RobotShape`, `outline`, `reach`, `Frames`, `Point`, `natural_modes`, `Mode`.

Neither ROS nor the browser viewer is imported. The names below are imported on first use, because
matplotlib and rosbags would slow the start of every node.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flex_viz.geometry.bent_robot import BentRobot, RobotShape
    from flex_viz.geometry.frames import Frames, Point
    from flex_viz.geometry.modes import Mode, natural_modes
    from flex_viz.geometry.outline import outline, reach
    from flex_viz.report.animation import animate
    from flex_viz.report.bag import read_run
    from flex_viz.report.page import write_report
    from flex_viz.report.run import Run, RunError, table

__version__ = '0.1.0'

__all__ = ['BentRobot', 'Frames', 'Mode', 'Point', 'RobotShape', 'Run', 'RunError', 'animate',
           'natural_modes', 'outline', 'reach', 'read_run', 'table', 'write_report']

_MODULES = {
    'geometry.bent_robot': ('BentRobot', 'RobotShape'),
    'geometry.frames': ('Frames', 'Point'),
    'geometry.modes': ('Mode', 'natural_modes'),
    'geometry.outline': ('outline', 'reach'),
    'report.animation': ('animate',),
    'report.bag': ('read_run',),
    'report.page': ('write_report',),
    'report.run': ('Run', 'RunError', 'table'),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(f'{__name__}.{_MODULE_OF[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
