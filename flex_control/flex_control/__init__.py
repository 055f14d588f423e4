"""How a flexible robot is driven: trajectories and controllers; without ROS."""
from flex_control.controllers import (
    PD,
    Controller,
    available_controllers,
    controller_class,
    make_controller,
)
from flex_control.errors import ControlError
from flex_control.loop import ControlLoop
from flex_control.measurements import Measurements
from flex_control.parameters import Parameter
from flex_control.shaping import Shaped, Shaper
from flex_control.trajectories import (
    CubicSpline,
    Cycloidal,
    Limits,
    MinimumJerk,
    QuinticSpline,
    Reference,
    SetPoints,
    Splines,
    Trajectory,
)

__version__ = '0.1.0'

__all__ = [
    'PD', 'ControlError', 'ControlLoop', 'Controller', 'CubicSpline', 'Cycloidal', 'Limits',
    'Measurements', 'MinimumJerk', 'Parameter', 'QuinticSpline', 'Reference', 'SetPoints',
    'Shaped', 'Shaper', 'Splines', 'Trajectory', 'available_controllers', 'controller_class',
    'make_controller',
]
