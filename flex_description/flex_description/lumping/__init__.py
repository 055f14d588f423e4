# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""A flexible robot as rigid segments on springs, for programs that have no beams."""
from flex_description.lumping.accuracy import LinkAccuracy, lumping_accuracy
from flex_description.lumping.lumped_robot import Body, Freedom, LumpedRobot, lump
from flex_description.lumping.mjcf import mjcf_text
from flex_description.lumping.sdf import sdf_text
from flex_description.lumping.urdf import urdf_text

__all__ = ['Body', 'Freedom', 'LinkAccuracy', 'LumpedRobot', 'lump', 'lumping_accuracy',
           'mjcf_text', 'sdf_text', 'urdf_text']
