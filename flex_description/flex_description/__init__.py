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
"""Flexible robots: URDF or xacro with flexible elements, loaded into frozen records.

Public beside the names below: `flex_description.math` (rotations, quaternions, quadrature,
inertia), `flex_description.shapes` (mode shape bases), `flex_description.commands` (command lines
about a robot) and `flex_description.suggestion` (near-name suggestions). Everything else is
private to the package.
"""
from flex_description.errors import RobotError
from flex_description.load import load_robot
from flex_description.poses import default_pose, joint_coordinates, read_pose
from flex_description.reading.source import bundled_robots
from flex_description.reading.srdf import read_group_states
from flex_description.robot import (
    Attachment,
    BeamProperties,
    Damping,
    FlexibleJoint,
    FlexibleLink,
    Frame,
    Imu,
    Inertia,
    Joint,
    Limits,
    Link,
    Loop,
    LumpedMass,
    Mimic,
    Motor,
    Robot,
    ScaledProperties,
    StrainGauge,
    Support,
    Wheel,
)
from flex_description.shapes import ModeShapes, NoShapes
from flex_description.writing.urdf_1_0 import published_description

__version__ = '0.1.0'

__all__ = [
    'Attachment', 'BeamProperties', 'Damping', 'FlexibleJoint', 'FlexibleLink', 'Frame', 'Imu',
    'Inertia', 'Joint', 'Limits', 'Link', 'Loop', 'LumpedMass', 'Mimic', 'ModeShapes', 'Motor',
    'NoShapes', 'Robot', 'RobotError', 'ScaledProperties', 'StrainGauge', 'Support', 'Wheel',
    'bundled_robots', 'default_pose', 'joint_coordinates', 'load_robot', 'published_description',
    'read_group_states', 'read_pose',
]
