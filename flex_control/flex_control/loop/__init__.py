"""The control loop without ROS: states in, efforts out, trajectories accepted and monitored."""
from flex_control.loop.control_loop import ControlLoop

__all__ = ['ControlLoop']
