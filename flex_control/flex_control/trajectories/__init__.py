"""Joint motion as a function of time."""
from flex_control.trajectories.base import Reference, Trajectory
from flex_control.trajectories.cartesian_line import CartesianLine
from flex_control.trajectories.cycloidal import Cycloidal
from flex_control.trajectories.interpolating_splines import CubicSpline, QuinticSpline
from flex_control.trajectories.limits import Limits
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.orientations import Orientation, OrientationSpline
from flex_control.trajectories.set_points import SetPoints
from flex_control.trajectories.splines import Splines
from flex_control.trajectories.stop import Stop
from flex_control.trajectories.time_scaling import TimeScaled

__all__ = [
    'CartesianLine', 'CubicSpline', 'Cycloidal', 'Limits', 'MinimumJerk', 'Orientation',
    'OrientationSpline', 'QuinticSpline', 'Reference', 'SetPoints', 'Splines', 'Stop',
    'TimeScaled', 'Trajectory',
]
