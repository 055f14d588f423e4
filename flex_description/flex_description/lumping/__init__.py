"""A flexible robot as rigid segments on springs, for programs that have no beams."""
from flex_description.lumping.accuracy import LinkAccuracy, lumping_accuracy
from flex_description.lumping.lumped_robot import Body, Freedom, LumpedRobot, lump
from flex_description.lumping.mjcf import mjcf_text
from flex_description.lumping.sdf import sdf_text
from flex_description.lumping.urdf import urdf_text

__all__ = ['Body', 'Freedom', 'LinkAccuracy', 'LumpedRobot', 'lump', 'lumping_accuracy',
           'mjcf_text', 'sdf_text', 'urdf_text']
