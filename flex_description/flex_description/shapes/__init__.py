"""Mode shapes of beams: every basis is an object of the class `ModeShapes`."""
from flex_description.shapes.base import ModeShapes, NoShapes, ShapeError
from flex_description.shapes.build import BASES, MAX_MODES, PINNED, build_shapes
from flex_description.shapes.tip import TipLoad

__all__ = ['BASES', 'MAX_MODES', 'PINNED', 'ModeShapes', 'NoShapes', 'ShapeError', 'TipLoad',
           'build_shapes']
