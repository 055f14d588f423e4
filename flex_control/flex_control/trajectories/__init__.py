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
"""Joint motion as a function of time."""
from __future__ import annotations

import importlib
import warnings
from typing import Any

from flex_control.trajectories.base import Feedforward, Reference, Trajectory
from flex_control.trajectories.cycloidal import Cycloidal
from flex_control.trajectories.interpolating_splines import CubicSpline, QuinticSpline
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.motion_limits import MotionLimits
from flex_control.trajectories.orientations import Orientation, OrientationSpline
from flex_control.trajectories.prepared import Prepared
from flex_control.trajectories.set_points import SetPoints
from flex_control.trajectories.splines import Splines
from flex_control.trajectories.stop import Stop
from flex_control.trajectories.time_scaling import Shifted, TimeScaled

__all__ = [
    'CubicSpline', 'Cycloidal', 'Feedforward', 'MinimumJerk', 'MotionLimits', 'Orientation',
    'OrientationSpline', 'Prepared', 'QuinticSpline', 'Reference', 'SetPoints', 'Shifted',
    'Splines', 'Stop', 'TimeScaled', 'Trajectory',
]


def __getattr__(name: str) -> Any:
    if name != 'CartesianLine':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    warnings.warn('flex_control.trajectories.CartesianLine is now flex_control.CartesianLine; the '
                  'old name will be removed', DeprecationWarning, stacklevel=2)
    # By name, as it is built on modules that import this one.
    return importlib.import_module('flex_control.reference').CartesianLine
