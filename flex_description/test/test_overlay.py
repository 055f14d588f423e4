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
"""Overlays: the same robot as from XML, merging, and errors with file and line."""
import numpy as np
import pytest

from flex_description import RobotError, load_robot

ARM = """<robot name="arm"><link name="base"/><link name="upper"/><link name="hand"/>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/></joint>
<joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/>
<origin xyz="1.2 0 0"/></joint>{}</robot>"""
XML = """<flexible link="upper">
  <beam to="wrist"><section shape="rectangle" width="0.04" height="0.02"/>
    <material name="titanium"/></beam>
  <mass x="0.5" mass="2" xyz="0 0.1 0" ixx="0.1" iyy="0.1" izz="0.1"/><mass x="0.7" mass="1"/>
  <modes basis="clamped-mass" bending_y="3" tip_mass="auto"/>
  <damping ratio="0.02"/><gauge name="g" x="0.1" y="0.02"/>
</flexible>
<flexible_joint joint="shoulder" stiffness="1e4" motor_inertia="1e-3"/>
<imu name="tip" frame="hand"/><gravity xyz="0 0 -1.62"/>"""
YAML = """# an overlay
flexible:
  upper:
    beam:
      to: wrist
      section: {shape: rectangle, width: 0.04, height: 0.02}
      material: titanium
    masses:
      - {x: 0.5, mass: 2, xyz: [0, 0.1, 0], ixx: 0.1, iyy: 0.1, izz: 0.1}
      - {x: 0.7, mass: 1}
    modes: {basis: clamped-mass, bending_y: 3, tip_mass: auto}
    damping: 0.02
    gauges:
      - {name: g, x: 0.1, y: 0.02}
flexible_joints:
  shoulder: {stiffness: 1e4, motor_inertia: 1e-3}
imus:
  tip: {frame: hand}
gravity: [0, 0, -1.62]
"""
MAPPING = {
    'flexible': [{'link': 'upper',
                  'beam': {'to': 'wrist', 'section': {'shape': 'rectangle', 'width': 0.04,
                                                      'height': np.float64(0.02)},
                           'material': {'name': 'titanium'}},
                  'mass': [{'x': 0.5, 'mass': 2, 'xyz': np.array([0, 0.1, 0]), 'ixx': 0.1,
                            'iyy': 0.1, 'izz': 0.1}, {'x': 0.7, 'mass': 1}],
                  'modes': {'basis': 'clamped-mass', 'bending_y': 3, 'tip_mass': 'auto'},
                  'damping': {'ratio': 0.02}, 'gauge': {'name': 'g', 'x': 0.1, 'y': 0.02}}],
    'flexible_joints': [{'joint': 'shoulder', 'stiffness': 1e4, 'motor_inertia': 1e-3}],
    'imus': [{'name': 'tip', 'frame': 'hand'}],
    'gravity': {'xyz': (0, 0, -1.62)},
}


def figures(robot):
    """All that distinguishes two robots, as comparable values."""
    beam = robot.links[1].flexible
    x = np.linspace(0, beam.length, 7)
    shapes = [shape(x).round(9).tolist() for shape in (beam.bend_y, beam.bend_z, beam.twist)]
    masses = [(mass.x, mass.mass, mass.centre.tolist(), mass.tensor.tolist())
              for mass in beam.masses]
    return (beam.origin.tolist(), beam.length, beam.breakpoints, shapes, masses, beam.gauges,
            beam.damping, beam.basis, [joint.flexible for joint in robot.joints], robot.imus,
            robot.gravity.tolist(), beam.properties(x).torsion_stiffness.tolist())


def test_overlay_file_and_mapping_say_what_xml_says(tmp_path):
    path = tmp_path / 'overlay.yaml'
    path.write_text(YAML)
    expected = figures(load_robot(ARM.format(XML)))
    assert figures(load_robot(ARM.format(''), path)) == expected
    assert figures(load_robot(ARM.format(''), str(path))) == expected
    assert figures(load_robot(ARM.format(''), MAPPING)) == expected


def test_overlay_changes_only_what_it_names():
    plain = load_robot(ARM.format(XML))
    robot = load_robot(ARM.format(XML), {
        'flexible': {'upper': {'modes': {'basis': 'craig-bampton', 'twist': 2}}},
        'flexible_joints': {'shoulder': {'stiffness': 5}}, 'gravity': [0, 0, 0]})
    beam = robot.links[1].flexible
    assert (beam.basis, beam.bend_y.count, beam.twist.count) == ('craig-bampton', 2, 2)
    assert beam.gauges == plain.links[1].flexible.gauges and len(beam.masses) == 2
    spring = robot.joints[0].flexible
    assert (spring.stiffness, spring.motor_inertia) == (5, 1e-3)
    assert robot.gravity.tolist() == [0, 0, 0] and robot.imus == plain.imus


@pytest.mark.parametrize('overlay', [None, '', {}])
def test_empty_overlay_changes_nothing(overlay):
    assert load_robot(ARM.format(''), overlay).links[1].flexible is None


def test_shape_file_is_looked_for_beside_the_overlay(tmp_path):
    x = np.linspace(0, 1.2, 61)
    np.savez(tmp_path / 'shapes.npz', x=x, v=x**2)
    path = tmp_path / 'overlay.yaml'
    path.write_text(YAML.replace('{basis: clamped-mass, bending_y: 3, tip_mass: auto}',
                                 '{basis: file, file: shapes.npz, bending_y: 1}'))
    assert load_robot(ARM.format(''), path).links[1].flexible.bend_y.count == 1


CASES = {
    'unknown_key': ('gravity:', 'gravty:', 19, 'expected found "gravty" did you mean "gravity"'),
    'unknown_link': ('  upper:', '  uper:', 3,
        '<flexible link="uper"> expected did you mean "upper"'),
    'unknown_part': ('    damping:', '    dampin:', 3,
        '<flexible link="upper"> found "dampin" "damping"'),
    'unknown_attribute': ('bending_y: 3', 'bending: 3', 11, '<modes> expected found "bending"'),
    'unknown_material': ('titanium', 'titan', 7, '<material name="titan"> expected "titanium"'),
    'nan': ('mass: 2', 'mass: .nan', 9, '<mass> mass expected found ".nan"'),
    'infinite': ('stiffness: 1e4', 'stiffness: .inf', 16,
        '<flexible_joint joint="shoulder"> expected found'),
    'negative': ('width: 0.04', 'width: -0.04', 6,
        '<section> width expected positive found "-0.04"'),
    'word': ('x: 0.7', 'x: far', 10, '<mass> x expected found "far"'),
    'short_list': ('[0, 0.1, 0]', '[0, 0.1]', 9, '<mass> xyz expected 3 numbers found 2'),
    'list_for_mapping': ('{frame: hand}', '[hand]', 18, '<imu> expected a mapping found a list'),
    'value_for_mapping': ('{frame: hand}', 'hand', 18,
        '<imu> expected a mapping found the value "hand"'),
    'nested_list': ('[0, 0.1, 0]', '[[0], 1, 2]', 9,
        'xyz expected a value or a list of values found'),
    'gauge_off': ('y: 0.02}\n', 'y: 0.03}\n', 14, '<gauge name="g"> y expected found "0.03"'),
    'mass_off': ('x: 0.7', 'x: 1.3', 10, '<mass> x expected 1.2 found "1.3"'),
    'not_a_child': ('to: wrist', 'to: shoulder', 4,
        '<beam> to expected parent "upper" found "shoulder"'),
    'broken_yaml': ('gravity: [0, 0, -1.62]', 'gravity: [0, 0', 20, 'expected valid YAML found'),
    'tabs': ('  tip:', '\ttip:', 18, 'expected valid YAML found'),
    'twice': ('    damping: 0.02', '    damping: 0.02\n    damping: 0.03', 13,
        'expected each key once found "damping"'),
    'alias_bomb': ('gravity: [0, 0, -1.62]', 'a: &a [1]\nb: [*a, *a]', 20,
        'expected plain YAML found an alias'),
    'list_at_top': (YAML, '- flexible', 1, 'expected a mapping found a list'),
    'key_not_a_name': ('  tip:', '  [tip]:', 18, 'expected a name as key found a list'),
    'tag': ('gravity: [0, 0, -1.62]', 'gravity: !!python/object/apply:os.system [ls]', 19,
        '<gravity> xyz expected found'),
    'zero_modes': ('bending_y: 3', 'bending_y: 0, bending_z: 0, twist: 0', 11,
        '<modes> expected at least one found 0'),
    'name_twice': ('{frame: hand}', '{frame: hand, name: other}', 18, 'name expected found'),
}


@pytest.mark.parametrize('case', CASES)
def test_bad_overlay(case, tmp_path):
    old, new, line, words = CASES[case]
    assert old in YAML
    path = tmp_path / 'overlay.yaml'
    path.write_text(YAML.replace(old, new, 1))
    with pytest.raises(RobotError) as caught:
        load_robot(ARM.format(''), path)
    message = str(caught.value)
    assert message.startswith(f'{path}:{line}: ') and '\n' not in message, message
    assert not [word for word in words.split() if word not in message], message


ENDLESS: dict[str, object] = {}
ENDLESS['flexible'] = ENDLESS


@pytest.mark.parametrize('overlay, words', [
    ('nowhere.yaml', 'found no such file'), (3, 'found int'), ({'flexible': object()}, 'found'),
    ({'flexible': {'upper': {'beam': None}}}, 'expected'), ({'imus': 3}, 'expected a mapping'),
    ({'flexible': {'upper': {'beam': 'long'}}}, 'beam: expected an element'), (ENDLESS, 'found'),
])
def test_bad_overlay_objects(overlay, words):
    with pytest.raises(RobotError, match=words):
        load_robot(ARM.format(''), overlay)
