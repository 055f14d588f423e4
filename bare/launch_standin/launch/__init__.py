"""A small stand-in for ROS 2's `launch`, for machines that have none.

It implements the part that the launch files and launch tests of this repository use, with the
names, arguments and meaning of the real package, and refuses the rest with an error that names it.
Three things differ, all in how a launch ends: processes get a process group of their own and
`SIGINT` is always passed on to it; the waits before `SIGTERM` and `SIGKILL` are 2 s each, not 5 s;
and the exit code is 1, not 0, if a process died by itself or had to be killed.
"""
from launch.core import Action, LaunchContext, LaunchDescription, Substitution, refuser
from launch.service import LaunchService

__all__ = ['Action', 'LaunchContext', 'LaunchDescription', 'LaunchService', 'Substitution']
__getattr__ = refuser(__name__)
