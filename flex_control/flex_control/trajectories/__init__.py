"""Joint motion as a function of time."""
from __future__ import annotations

import importlib
import warnings
from typing import Any

from flex_control.trajectories.base import Reference, Trajectory
from flex_control.trajectories.cycloidal import Cycloidal
from flex_control.trajectories.interpolating_splines import CubicSpline, QuinticSpline
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.motion_limits import MotionLimits
from flex_control.trajectories.orientations import Orientation, OrientationSpline
from flex_control.trajectories.prepared import Prepared
from flex_control.trajectories.set_points import SetPoints
from flex_control.trajectories.splines import Splines
from flex_control.trajectories.stop import Stop
from flex_control.trajectories.time_scaling import TimeScaled

__all__ = [
    'CubicSpline', 'Cycloidal', 'MinimumJerk', 'MotionLimits', 'Orientation', 'OrientationSpline',
    'Prepared', 'QuinticSpline', 'Reference', 'SetPoints', 'Splines', 'Stop', 'TimeScaled',
    'Trajectory',
]


def __getattr__(name: str) -> Any:
    if name != 'CartesianLine':
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    warnings.warn('flex_control.trajectories.CartesianLine is now flex_control.CartesianLine; the '
                  'old name will be removed', DeprecationWarning, stacklevel=2)
    # By name, as it is built on modules that import this one.
    return importlib.import_module('flex_control.reference').CartesianLine
