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
"""Bad documents, trees, joints and inertias: one line with file, line, expected and found."""
import pytest
from bad_robots import GOOD, GRAVITY, JOINT, Case, check

from flex_description import RobotError, load_robot

CASES: dict[str, Case] = {
    # the document
    'broken_xml': ('<link name="base"/>', '<link name="base">', '</robot>',
        'expected well-formed XML found: mismatched tag'),
    'not_xml': (GOOD, '<<<', '<<<', 'expected well-formed XML found'),
    'only_a_comment': (GOOD, '<!-- nothing -->', '<!--', 'expected well-formed XML found'),
    'entity_bomb': ('<robot name="arm">',
        '<!DOCTYPE bomb [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;">', '<!DOCTYPE',
        'expected plain XML found <!DOCTYPE>'),
    'foreign_entity': ('<robot name="arm">',
        '<!DOCTYPE r [<!ENTITY f SYSTEM "file:///etc/hosts">]><robot name="&f;">', '<!DOCTYPE',
        'expected plain XML found'),
    'too_deep': (GRAVITY, '<a>' * 200 + '</a>' * 200, '<a>', 'expected at most 100 deep found'),
    'not_a_robot': (GOOD, '<sdf version="1.7"/>', '<sdf', '<sdf> expected <robot> found'),
    'no_robot_name': ('<robot name="arm">', '<robot>', '<robot>', '<robot> name expected found'),
    'no_links': (GOOD, '<robot name="empty"/>', '<robot', 'expected at least one <link> found'),
    # the tree
    'two_roots': (GRAVITY, '<link name="loose"/>', '"loose"',
        '<link name="loose"> expected one root found 2 base'),
    'two_parents': (GRAVITY, JOINT.format('again', 'fixed', 'base', 'tool'), '"again"',
        '<joint name="again"> expected one parent found "tool" "joint2"'),
    'cycle': (GRAVITY,
        '<link name="a"/><link name="b"/>' + JOINT.format('ab', 'fixed', 'a', 'b')
        + JOINT.format('ba', 'fixed', 'b', 'a'), '"ab"',
        '<joint name="ab"> expected a tree found a cycle'),
    'cycle_without_root': ('<parent link="base"/>', '<parent link="tool"/>', '"joint1" type',
        '<joint name="joint1"> expected a tree found a cycle'),
    'no_root': (GRAVITY, JOINT.format('back', 'fixed', 'tool', 'base'), '"joint1" type',
        'expected a tree found a cycle'),
    'own_parent': (GRAVITY, '<link name="a"/>' + JOINT.format('aa', 'fixed', 'a', 'a'), '"aa"',
        'expected a tree found a cycle'),
    'missing_parent': ('<parent link="base"/>', '<parent link="bass"/>', '"bass"',
        '<parent link="bass"> expected joint "joint1" found'),
    'missing_child': ('<child link="tool"/>', '<child link="hand"/>', '"hand"',
        '<child link="hand"> expected found "hand"'),
    'no_parent': ('<parent link="base"/>', '', '"joint1" type',
        '<joint name="joint1"> expected <parent link found none'),
    'duplicate_link': (GRAVITY, '<link name="tool"/>', '<link name="tool"/>',
        '<link name="tool"> expected one link found another on line 7'),
    'duplicate_joint': (GRAVITY, JOINT.format('joint1', 'fixed', 'base', 'tool'),
        '"joint1" type="fixed"', '<joint name="joint1"> expected found line 14'),
    'unnamed_link': ('<link name="base"/>', '<link/>', '<link/>', '<link> name expected found'),
    'empty_name': ('<link name="base"/>', '<link name=" "/>', '" "', 'name expected found " "'),
    # joints
    'joint_type': ('type="revolute"', 'type="revolut"', '"revolut"',
        'type expected found "revolut" did you mean "revolute"'),
    'floating_not_at_root': ('type="continuous"', 'type="floating"', '"floating"',
        '<joint name="joint2"> expected root link "base" found "link1"'),
    'planar_not_at_root': ('type="continuous"', 'type="planar"', '"planar"',
        'expected root found'),
    'zero_axis': ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>', '<axis',
        '<axis> expected direction found "0 0 0"'),
    'short_vector': ('xyz="0 0 0.3"', 'xyz="0 0"', '"0 0"',
        '<origin> xyz expected 3 numbers found 2'),
    'word_for_number': ('xyz="0 0 0.3"', 'xyz="0 0 high"', 'high',
        'expected 3 numbers found "0 0 high"'),
    'crossed_limits': ('lower="-2" upper="2"', 'lower="2" upper="-2"', '<limit',
        '<limit> upper expected 2 found "-2"'),
    'negative_effort': ('effort="100"', 'effort="-1"', '"-1"',
        '<limit> effort expected found "-1"'),
    'no_effort': ('effort="100" ', '', '<limit',
        '<limit> effort expected found no such attribute'),
    'negative_friction': ('friction="0.2"', 'friction="-1"', '"-1"',
        '<dynamics> friction expected found'),
    'two_origins': ('<axis xyz="0 0 1"/>', '<origin/><axis xyz="0 0 1"/>', '<origin/>',
        '<origin> expected at most one found 2'),
    # inertia
    'zero_mass': ('<mass value="2"/>', '<mass value="0"/>', '<mass value',
        '<link name="tool"> <mass> value expected a positive number (kg) found "0"'),
    'negative_mass': ('<mass value="2"/>', '<mass value="-2"/>', '<mass value',
        '<mass> expected positive found "-2"'),
    'no_inertia': ('<inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/>', '',
        '<inertial>', '<inertial> expected <inertia> <link name="tool"> found none'),
    'indefinite_inertia': ('ixy="0"', 'ixy="0.5"', '<inertia ',
        '<inertia> expected a positive-definite found principal moments'),
    'zero_inertia': ('ixx="0.02"', 'ixx="0"', '<inertia ', 'expected a positive-definite found 0'),
    # not finite, in numbers of all kinds
    'nan_mass': ('<mass value="2"/>', '<mass value="nan"/>', '"nan"',
        '<mass> expected finite found "nan"'),
    'inf_inertia': ('ixx="0.02"', 'ixx="inf"', '"inf"', '<inertia> expected finite found "inf"'),
    'nan_origin': ('xyz="0 0 0.3"', 'xyz="0 0 NaN"', 'NaN',
        '<origin> xyz expected finite found "0 0 NaN"'),
    'inf_rpy': ('rpy="0 0 0"', 'rpy="0 1e999 0"', '1e999', '<origin> rpy expected finite found'),
    'nan_axis': ('<axis xyz="0 0 1"/>', '<axis xyz="0 nan 1"/>', '<axis',
        '<axis> expected finite found'),
    'inf_limit': ('upper="2"', 'upper="inf"', '"inf"',
        '<limit> upper expected finite found "inf"'),
    'nan_damping': ('<dynamics damping="0.1"', '<dynamics damping="nan"', '"nan"',
        'expected finite found'),
    'nan_visual': ('radius="0.05" length="1"', 'radius="nan" length="1"', '"nan"',
        '<cylinder> radius expected finite found "nan"'),
    'nan_length': ('length="1.5"', 'length="nan"', '"nan"', '<beam> length expected finite found'),
    'inf_radius': ('outer_radius="0.05"', 'outer_radius="inf"', '"inf"',
        '<section> expected finite found'),
    'nan_stiffness': ('stiffness="1e4"', 'stiffness="nan"', '"nan"',
        '<flexible_joint joint="joint1"> stiffness expected finite found'),
    'nan_gravity': (GRAVITY, '<gravity xyz="0 0 nan"/>', 'nan', '<gravity> expected finite found'),
    'nan_gauge': ('x="0.1" z="0.05"', 'x="nan" z="0.05"', '"nan"',
        '<gauge name="root"> expected finite found'),
    'nan_ratio': ('ratio="0.01"', 'ratio="nan"', '"nan"', '<damping> ratio expected finite found'),
    'foreign_digits': ('length="1.5"', 'length="\uff11"', '\uff11',
        '<beam> length expected found'),
    'long_value': ('length="1.5"', f'length="{"9" * 500}"', '999',
        '<beam> expected found 999..."'),
    'underscore': ('length="1.5"', 'length="1_5"', '1_5', '<beam> length expected found "1_5"'),
}


@pytest.mark.parametrize('case', CASES)
def test_bad_robot(case, tmp_path, capsys):
    check(CASES[case], tmp_path, capsys)


def test_the_robot_that_the_cases_spoil_is_good():
    assert load_robot(GOOD).warnings == ()


@pytest.mark.parametrize('source', ['nowhere/arm.urdf', 'nowhere.urdf', 'canadrm'])
def test_missing_source(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RobotError, match='expected .* found') as caught:
        load_robot(source)
    assert source in str(caught.value)


@pytest.mark.parametrize('source', [None, 3, b'<robot/>', ['arm.urdf']])
def test_wrong_type_of_source(source):
    with pytest.raises(RobotError, match=f'expected a path.*found {type(source).__name__}'):
        load_robot(source)


def test_directory_and_binary_file(tmp_path):
    with pytest.raises(RobotError, match='found a directory'):
        load_robot(tmp_path)
    path = tmp_path / 'arm.urdf'
    path.write_bytes(b'\xff\xfe\x00\x81')
    with pytest.raises(RobotError, match='expected a readable UTF-8 text file'):
        load_robot(path)


def test_text_with_a_lone_surrogate():
    with pytest.raises(RobotError, match='expected Unicode text'):
        load_robot('<robot name="\ud800"/>')
