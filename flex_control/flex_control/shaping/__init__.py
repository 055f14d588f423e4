"""Input shaping: references that leave chosen modes of the robot without residual vibration."""
from flex_control.shaping.impulses import SHAPERS, Impulses
from flex_control.shaping.modes import ringing_modes
from flex_control.shaping.shaped_trajectory import Shaped
from flex_control.shaping.shaper import Shaper
from flex_control.shaping.takeover import ShapedMotion

__all__ = ['SHAPERS', 'Impulses', 'Shaped', 'ShapedMotion', 'Shaper', 'ringing_modes']
