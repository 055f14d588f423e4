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
"""URDF 1.1 and 1.2, and small slips of published files."""
import numpy as np
import pytest
from bad_robots import GOOD

from flex_description import RobotError, load_robot
from flex_description.math import quaternion_from_rotation, rotation_from_rpy

LATER = GOOD.replace('<robot name="arm">', '<robot name="arm" version="1.2">')
RPY = (0.3, -0.4, 0.5)
QUATERNION = quaternion_from_rotation(rotation_from_rpy(np.array(RPY)))


def turned(quaternion):
    text = ' '.join(f'{part:.9f}' for part in quaternion)
    return LATER.replace('<origin xyz="0 0 0.3" rpy="0 0 0"/>',
                         f'<origin xyz="0 0 0.3" quat_xyzw="{text}"/>')


@pytest.mark.parametrize('scale', [1.0, -1.0, 1.004])
def test_a_quaternion_is_the_rotation_that_rpy_is(scale):
    """The negative one is the same rotation; one that was written rounded is made a unit one."""
    found = load_robot(turned(scale * np.array(QUATERNION)))
    expected = load_robot(LATER.replace('rpy="0 0 0"', 'rpy="{} {} {}"'.format(*RPY)))
    assert found.warnings == ()
    assert np.allclose(found.joints[0].origin, expected.joints[0].origin, rtol=0.0, atol=1e-8)
    rotation = found.joints[0].origin[:3, :3]
    assert np.allclose(rotation @ rotation.T, np.eye(3), rtol=0.0, atol=1e-14)


def test_a_quaternion_turns_an_inertia_and_a_beam():
    half = np.sqrt(0.5)
    text = LATER.replace('<origin xyz="0.1 0 0"/>', f'<origin quat_xyzw="0 0 {half} {half}"/>')
    assert np.allclose(np.diag(load_robot(text).links[2].inertia.tensor), [0.03, 0.02, 0.03])
    text = LATER.replace('<origin xyz="0 0 0"/>', f'<origin quat_xyzw="0 0 {half} {half}"/>')
    assert np.allclose(load_robot(text).links[1].flexible.origin[:3, 0], [0.0, 1.0, 0.0])


@pytest.mark.parametrize('attributes, message', [
    ('quat_xyzw="0 0 0 0"', 'quat_xyzw: expected a unit quaternion x y z w, found "0 0 0 0" of '
                            'length 0'),
    ('quat_xyzw="1 0 0 1"', 'of length 1.41421'),
    ('quat_xyzw="0 0 1"', 'quat_xyzw: expected 4 numbers, found 3'),
    ('quat_xyzw="0 0 nan 1"', 'quat_xyzw: expected 4 numbers, finite'),
    ('rpy="0 0 0" quat_xyzw="0 0 0 1"', 'expected rpy or quat_xyzw, found both'),
])
def test_a_bad_quaternion_is_told(attributes, message):
    for place in ('<origin xyz="0 0 0.3" rpy="0 0 0"/>', '<origin xyz="0.1 0 0"/>'):
        with pytest.raises(RobotError, match=f'<origin>: .*{message}'):
            load_robot(LATER.replace(place, f'<origin {attributes}/>'))
    with pytest.raises(RobotError, match=message):
        load_robot(LATER.replace('<visual>', f'<visual><origin {attributes}/>'))


def test_capsules_are_read_and_their_sizes_checked():
    text = LATER.replace('<cylinder radius="0.05" length="1"/>',
                         '<capsule radius="0.05" length="{}"/>')
    assert load_robot(text.format(1)).warnings == ()
    with pytest.raises(RobotError, match='<capsule>: length: expected .* finite, found "inf"'):
        load_robot(text.format('inf'))


def limited(attributes):
    return load_robot(LATER.replace('velocity="3"', f'velocity="3" {attributes}')).joints[0].limits


def test_limits_of_acceleration_deceleration_and_jerk():
    limits = limited('acceleration="5" deceleration="7" jerk="11"')
    assert (limits.acceleration, limits.deceleration, limits.jerk) == (5.0, 7.0, 11.0)
    limits = limited('acceleration="5"')
    assert (limits.deceleration, limits.jerk) == (5.0, np.inf)
    assert limited('').acceleration == np.inf


@pytest.mark.parametrize('name', ['acceleration', 'deceleration', 'jerk'])
def test_a_bad_rate_is_told(name):
    for value in ('0', '-1', 'nan', 'fast'):
        with pytest.raises(RobotError, match=f'<limit>: {name}: expected a positive number '
                                             rf'\(rad/s. or m/s.\).* found "{value}"'):
            limited(f'{name}="{value}"')


EYE = '<link name="eye"/>'
SLIP = ('<link name="eye"><inertial><mass value="{}"/><inertia ixx="{}" iyy="{}" izz="{}" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link>')


def eye(*values):
    return load_robot(LATER.replace(EYE, SLIP.format(*values)))


def test_a_moment_slightly_below_zero_is_taken_as_zero_with_a_warning():
    """As in a published mobile robot: -3.5e-8 kg m2 in a part of 1 mg."""
    robot = eye(1e-6, -3.5e-8, 3.5e-8, 9.1e-8)
    warning, = robot.warnings
    assert warning.endswith('<link name="eye"> <inertia>: inertia: expected principal moments '
                            'above 0, found -3.5e-08, 3.5e-08, 9.1e-08; those below 0 are taken '
                            'as 0')
    assert np.linalg.eigvalsh(robot.links[-1].inertia.tensor).min() >= 0.0
    # Of a large tensor, by its share of the largest moment.
    assert len(eye(100, -0.9e-3, 1.0, 1.0).warnings) == 1


@pytest.mark.parametrize('values', [(0.6, -2.4e-35, 0.0, 2.4e-35), (0.1, 5e-21, 3.5e-20, 5.5e-20),
                                    (0.1, -5.4e-20, -5.4e-20, 0.0), (0.1, -1e-30, -1e-30, -1e-31),
                                    (1.0, -1.8e-22, 0.0, 4.1e-18), (1.0, 0.0, 0.0, 0.0)])
def test_moments_of_the_size_of_rounding_are_those_of_a_point(values):
    """As in a published humanoid, whose head is a point but for -2.4e-35 kg m2."""
    robot = eye(*values)
    assert robot.warnings == ()
    assert np.linalg.eigvalsh(robot.links[-1].inertia.tensor).min() >= 0.0


@pytest.mark.parametrize('values', [(1, -0.02, 0.05, 0.1), (100, -1.1e-3, 1.0, 1.0),
                                    (1, -1e-7, -1e-7, -1e-7)])
def test_a_moment_far_below_zero_is_refused(values):
    with pytest.raises(RobotError, match='<link name="eye"> <inertia>: inertia: expected a '
                                         'positive-definite tensor'):
        eye(*values)


def test_an_inertia_without_mass_is_not_used():
    robot = eye(0, 1e-6, 1e-6, 1e-6)
    assert robot.links[-1].inertia is None
    assert 'expected a mass beside the inertia, found 0 kg; the inertia is not used' in (
        robot.warnings[0])
