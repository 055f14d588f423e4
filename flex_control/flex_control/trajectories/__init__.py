"""Joint motion as a function of time."""
from flex_control.trajectories.base import Reference, Trajectory
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.set_points import SetPoints
from flex_control.trajectories.splines import Splines

__all__ = ['MinimumJerk', 'Reference', 'SetPoints', 'Splines', 'Trajectory']
