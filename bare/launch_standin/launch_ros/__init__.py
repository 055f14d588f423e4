"""The part of `launch_ros` that goes with the stand-in for `launch`."""
from launch.core import refuser

__getattr__ = refuser(__name__)
