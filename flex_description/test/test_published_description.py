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
"""What goes out as robot_description: URDF 1.0, and the same robot when it is read again."""
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from bad_robots import GOOD

from flex_description import (
    RobotError,
    bundled_robots,
    load_robot,
    published_description,
)
from flex_description.math import rotation_from_rpy, rpy_from_rotation
from flex_description.visuals.shapes import read_visuals

LATER = GOOD.replace('<robot name="arm">', '<robot name="arm" version="1.2">')
STANDARD = ('link', 'joint', 'material')


def same(record, other, path='robot'):
    """Assert that two records agree to rounding, but for texts about where they come from."""
    if isinstance(record, (np.ndarray, float)):
        assert np.allclose(record, other, rtol=1e-13, atol=1e-14, equal_nan=True), path
    elif isinstance(record, tuple):
        assert len(record) == len(other), path
        for at, (one, two) in enumerate(zip(record, other)):
            same(one, two, f'{path}[{at}]')
    elif hasattr(record, '__dataclass_fields__'):
        assert type(record) is type(other), path
        for name in record.__dataclass_fields__:
            if name not in ('urdf', 'extensions', 'source', 'warnings', 'properties'):
                same(getattr(record, name), getattr(other, name), f'{path}.{name}')
    elif callable(record):           # mode shapes
        for derivative in range(3):
            x = np.linspace(0.0, record.breakpoints[-1], 7)
            same(np.asarray(record(x, derivative)), np.asarray(other(x, derivative)), path)
    else:
        assert record == other, path


def beams(robot):
    """Properties of all beams at seven stations each."""
    return [np.array([value for value in vars(link.flexible.properties(
        np.linspace(0.0, link.flexible.length, 7))).values() if value is not None])
        for link in robot.links if link.flexible is not None]


def check(robot):
    text = published_description(robot)
    again = load_robot(text, log_warnings=False)
    same(robot, again)
    for one, two in zip(beams(robot), beams(again), strict=True):
        assert np.allclose(one, two, rtol=1e-13, atol=0.0)
    root = ElementTree.fromstring(text)
    assert root.get('version') == '1.0'
    for child in root:
        if child.tag in STANDARD:
            assert not child.findall('.//capsule') and not child.findall('.//*[@quat_xyzw]')
            for limit in child.findall('limit'):
                assert set(limit.attrib) <= {'lower', 'upper', 'effort', 'velocity'}
    # What is published of the robot that was read from the text is the same text.
    assert published_description(again) == text
    return text


@pytest.mark.parametrize('name', sorted(bundled_robots()))
def test_every_bundled_robot_is_the_same_again(name):
    check(load_robot(name, log_warnings=False))


def test_the_overlay_is_in_the_text():
    check(load_robot('ur5', 'ur5_flexible', log_warnings=False))
    beam = {'to': 'elbow_joint', 'material': 'steel', 'section': {'shape': 'circle',
                                                                  'radius': 0.05}}
    text = check(load_robot('ur5', {'flexible': {'upper_arm_link': {'beam': beam}}},
                            log_warnings=False))
    assert '<flexible link="upper_arm_link" mass="keep">' in text


def test_an_overlay_that_changes_an_element_of_the_urdf():
    overlay = {'flexible': {'link1': {'modes': {'bending_y': 1, 'bending_z': 1, 'twist': 1}}},
               'gravity': [0.0, 0.0, -1.62], 'imus': {'tip': {'frame': 'link1/tip'}},
               'motion_limits': {'joint1': {'acceleration': 3.0, 'jerk': 50}}}
    robot = load_robot(GOOD, overlay, log_warnings=False)
    assert robot.joints[0].limits.acceleration == robot.joints[0].limits.deceleration == 3.0
    text = check(robot)
    assert text.count('<flexible ') == 1 and 'mass="beam"' in text


@pytest.mark.parametrize('limit, rates', [
    ('acceleration="2" jerk="9"', (2.0, 2.0, 9.0)), ('deceleration="5"', (np.inf, 5.0, np.inf))])
def test_rates_of_limits_go_to_an_element_of_ours(limit, rates):
    robot = load_robot(LATER.replace('<limit ', f'<limit {limit} ', 1))
    text = check(robot)
    found = load_robot(text).joints[0].limits
    assert (found.acceleration, found.deceleration, found.jerk) == rates
    assert text.count('<motion_limits ') == 1


@pytest.mark.parametrize('element, message', [
    ('<motion_limits joint="joint9" jerk="1"/>', 'joint: expected the name of a joint, found'),
    ('<motion_limits joint="joint1" jerk="-1"/>', 'jerk: expected a positive number'),
    ('<motion_limits joint="joint1" speed="1"/>', 'expected only known attributes, found "speed"'),
    ('<motion_limits joint="joint1" jerk="1"/>' * 2, 'expected one <motion_limits> of this joint'),
    ('<motion_limit joint="joint1"/>', 'did you mean "motion_limits"'),
])
def test_bad_motion_limits_are_told(element, message):
    with pytest.raises(RobotError, match=message):
        load_robot(GOOD.replace('</robot>', f'{element}</robot>'))


@pytest.mark.parametrize('level', [0.0, 1e-16, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize('end', [-0.5 * np.pi, 0.5 * np.pi])
def test_rpy_of_a_rotation_that_is_nearly_upright(level, end):
    rng = np.random.default_rng(7)
    for _ in range(50):
        roll, yaw = rng.uniform(-np.pi, np.pi, 2)
        rotation = rotation_from_rpy([roll, end - np.sign(end) * level, yaw])
        assert np.allclose(rotation_from_rpy(rpy_from_rotation(rotation)), rotation, rtol=0.0,
                           atol=4e-15)


def test_quaternions_become_rpy():
    quaternion = 'quat_xyzw="0.1 0.70710678118654757 -0.1 0.69282032302755092"'
    robot = load_robot(LATER.replace('<origin xyz="0 0 0.3" rpy="0 0 0"/>',
                                     f'<origin xyz="0 0 0.3" {quaternion}/>'))
    text = check(robot)
    assert 'rpy="' in text and 'quat_xyzw' not in text


def test_a_capsule_is_drawn_as_a_cylinder_and_two_spheres():
    text = LATER.replace('<cylinder radius="0.05" length="1"/>',
                         '<capsule radius="0.05" length="1"/>')
    text = text.replace('<visual>', '<visual name="shell"><origin xyz="1 0 0" rpy="0 1.5 0.1"/>')
    robot = load_robot(text)
    again = load_robot(check(robot))
    drawn, = (shapes for shapes in read_visuals(again).values() if len(shapes) == 3)
    whole, = next(shapes for shapes in read_visuals(robot).values() if shapes[0].kind == 'capsule')
    assert [shape.kind for shape in drawn] == ['cylinder', 'sphere', 'sphere']
    assert np.allclose(drawn[0].pose, whole.pose)
    for shape, z in zip(drawn[1:], (-0.5, 0.5)):
        assert np.allclose(shape.pose[:3, 3], (whole.pose @ [0.0, 0.0, z, 1.0])[:3])
        assert np.allclose(shape.size, 0.1)


def test_a_table_of_mode_shapes_is_in_the_text(tmp_path):
    x = np.linspace(0.0, 1.5, 41)
    rows = ['x,v1,w1,note', *(f'{at!r},{3 * at**2 - at**3!r},{at**2!r},1' for at in x.tolist())]
    (tmp_path / 'shapes.csv').write_text('\n'.join(rows))
    (tmp_path / 'overlay.yaml').write_text(
        'flexible:\n  link1:\n    modes: {basis: file, file: shapes.csv, bending_y: 1, '
        'bending_z: 1}\n')
    robot = load_robot(GOOD, tmp_path / 'overlay.yaml', log_warnings=False)
    text = published_description(robot)
    (tmp_path / 'shapes.csv').unlink()
    assert 'shapes.csv' not in text and 'note' not in text
    check(robot)


@pytest.mark.parametrize('attributes, message', [
    ('basis="file" table="x,v1; 0,0; 1,a" bending_y="1"', 'table: expected numbers'),
    ('basis="file" table="x,v1; 0,0; 1,1" bending_y="1"', 'table: too coarse'),
    ('basis="file" table="x;1" file="a.csv" bending_y="1"', "or 'table', its text"),
    ('basis="fe" table="x;1"', 'table: expected together with basis "file"'),
])
def test_a_bad_table_in_the_text_is_told(attributes, message):
    with pytest.raises(RobotError, match=message):
        load_robot(GOOD, {'flexible': {'link1': {'modes': dict(
            part.split('="') for part in attributes[:-1].split('" '))}}})


def test_elements_and_text_of_other_tools_stay():
    others = ('<gazebo reference="link1"><material a="1 &lt; 2">Gazebo/Grey &amp; co</material>'
              '</gazebo><other:tool other:x="1"><y/></other:tool>')
    text = published_description(load_robot(GOOD.replace('</robot>', f'{others}</robot>')))
    assert 'Gazebo/Grey &amp; co' in text and 'a="1 &lt; 2"' in text
    assert '<other:tool other:x="1">' in text
    load_robot(text)


def test_meshes_beside_the_file_get_an_address(tmp_path):
    (tmp_path / 'arm.urdf').write_text(GOOD.replace(
        '<cylinder radius="0.05" length="1"/>', '<mesh filename="a shell.stl"/>'))
    text = published_description(load_robot(tmp_path / 'arm.urdf', log_warnings=False))
    assert f'filename="{(tmp_path / "a shell.stl").as_uri()}"' in text
