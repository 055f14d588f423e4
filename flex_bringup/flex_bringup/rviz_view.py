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
"""The RViz configuration with a view, a grid and frames in the size of a robot."""
from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import get_package_share_directory

from flex_description import Robot
from flex_viz import reach

# Shares of the reach. RViz sees 45 degrees from top to bottom: upright and stretched robots fit.
DISTANCE, FOCUS = 1.5, (0.2, 0.0, 0.42)
NEAREST, AXES, LARGEST_CELL = 0.01, 0.3, 0.3


def fitted(config: dict[str, Any], size: float) -> dict[str, Any]:
    """A configuration as RViz stores it, changed in place for a robot that reaches `size` (m)."""
    manager = config['Visualization Manager']
    for display in manager['Displays']:
        if display['Class'] == 'rviz_default_plugins/Grid':
            display['Cell Size'] = cell(LARGEST_CELL * size)
        elif display['Class'] == 'rviz_default_plugins/TF':
            display['Marker Scale'] = AXES * size
    view = manager['Views']['Current']
    view['Distance'], view['Near Clip Distance'] = DISTANCE * size, NEAREST * size
    view['Focal Point'] = {axis: share * size for axis, share in zip('XYZ', FOCUS)}
    return config


def cell(most: float) -> float:
    """The largest of ..., 0.5, 1, 2, 5, 10, ... that is not more than `most`."""
    decade = 10.0 ** math.floor(math.log10(most))
    return max(step * decade for step in (1.0, 2.0, 5.0) if step * decade <= most)


def write_view(robot: Robot, name: str = 'robot.rviz') -> str:
    """Path of a new file: rviz/robot.rviz, or the one named, fitted to the robot. What one changes
    in RViz and saves is kept in it."""
    template = Path(get_package_share_directory('flex_bringup'), 'rviz', name)
    config = fitted(yaml.safe_load(template.read_text(encoding='utf-8')), reach(robot))
    prefix = re.sub(r'\W', '_', robot.name)    # a robot may be called what no file can be
    with tempfile.NamedTemporaryFile('w', prefix=f'{prefix}_', suffix='.rviz', delete=False,
                                     encoding='utf-8') as file:
        yaml.safe_dump(config, file, sort_keys=False)
    return file.name
