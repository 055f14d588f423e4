"""What a flexible robot is: URDF or xacro with flexible elements, loaded into frozen records."""
from flex_description.errors import RobotError
from flex_description.loader import load_robot
from flex_description.robot import (
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
    LumpedMass,
    Robot,
    StrainGauge,
)
from flex_description.source import bundled_robots

__version__ = '0.1.0'

__all__ = [
    'BeamProperties', 'Damping', 'FlexibleJoint', 'FlexibleLink', 'Frame', 'Imu', 'Inertia',
    'Joint', 'Limits', 'Link', 'LumpedMass', 'Robot', 'RobotError', 'StrainGauge',
    'bundled_robots', 'load_robot',
]
