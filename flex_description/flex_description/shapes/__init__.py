"""Mode shapes of beams: every basis is an object of the class `ModeShapes`."""
from flex_description.shapes.base import ModeShapes, NoShapes

__all__ = ['ModeShapes', 'NoShapes']
