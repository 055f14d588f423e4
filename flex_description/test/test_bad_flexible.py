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
"""Bad beams, modes, gauges, joints and sensors: one line with file, line, expected and found."""
import pytest
from bad_robots import GOOD, GRAVITY, JOINT, Case, check

from flex_description import RobotError, load_robot

SECTION = 'shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"'
MODES = '<modes basis="craig-bampton" bending_y="2" bending_z="2" twist="1"/>'
CASES: dict[str, Case] = {
    # the beam
    'unknown_link': ('<flexible link="link1">', '<flexible link="lnk1">', '"lnk1"',
        '<flexible link="lnk1"> expected found "lnk1" did you mean "link1"'),
    'twice_flexible': (GRAVITY, '<flexible link="link1"/>', '<flexible link="link1"/>',
        '<flexible link="link1"> expected one found another on line 27'),
    'no_beam': (GRAVITY, '<flexible link="tool"/>', '<flexible link="tool"/>',
        '<flexible link="tool"> expected a <beam> found none'),
    'zero_length': ('length="1.5"', 'length="0"', '<beam',
        '<beam> length expected positive (m) found "0"'),
    'negative_length': ('length="1.5"', 'length="-1.5"', '<beam',
        '<beam> expected positive found "-1.5"'),
    'no_length': ('<beam length="1.5">', '<beam>', '<beam>',
        '<beam> length expected found no such attribute'),
    'to_unknown_joint': ('<beam length="1.5">', '<beam to="joint3">', '<beam',
        '<beam> to expected parent is "link1" found "joint3" "joint2"'),
    'to_and_length': ('<beam length="1.5">', '<beam to="joint2" length="1">', '<beam',
        '<beam> expected either found both'),
    'to_its_start': ('<beam length="1.5">\n      <origin xyz="0 0 0"/>',
        '<beam to="joint2">\n      <origin xyz="1.5 0 0"/>', '<beam', '<beam> to expected found'),
    'to_and_rpy': ('<beam length="1.5">\n      <origin xyz="0 0 0"/>',
        '<beam to="joint2">\n      <origin rpy="0 0 1"/>', '<origin rpy',
        '<origin> rpy expected found'),
    'roll_without_to': ('<beam length="1.5">', '<beam length="1.5" roll="1">', '<beam',
        '<beam> roll expected "to"'),
    'no_section': (f'<section {SECTION}/>', '', '<beam', '<beam> section expected one found 0'),
    'no_material': ('<material name="steel"/>', '', '<beam',
        '<beam> material expected found none'),
    'unknown_material': ('name="steel"', 'name="steal"', '"steal"',
        '<material name="steal"> expected steel found "steal" did you mean "steel"'),
    'zero_modulus': ('name="steel"', 'name="steel" E="0"', 'E="0"',
        '<material E expected positive (Pa) found "0"'),
    'no_density': ('name="steel"', 'E="1e9" G="1e9"', '1e9',
        '<material> density expected found no such attribute'),
    'unknown_shape': ('shape="hollow_circle"', 'shape="hollow_circel"', 'circel',
        '<section> shape expected found did you mean "hollow_circle"'),
    'no_wall': ('inner_radius="0.045"', 'inner_radius="0.05"', '<section',
        '<section> inner_radius expected less than outer_radius found "0.05"'),
    'zero_area': (SECTION, 'A="0" Iy="1" Iz="1" J="1"', '<section',
        '<section> A expected positive (m2) found "0"'),
    'negative_moment': (SECTION, 'A="1" Iy="-1" Iz="1" J="1"', '<section',
        '<section> Iy expected positive found "-1"'),
    'thick_box': (SECTION, 'shape="hollow_rectangle" width="0.1" height="0.2" thickness="0.05"',
        '<section', '<section> thickness expected less than 0.05 found'),
    'thick_flange': (SECTION,
        'shape="i" width="0.1" height="0.2" web_thickness="0.01" flange_thickness="0.1"',
        '<section', '<section> flange_thickness expected found'),
    'three_sections': ('<material name="steel"/>',
        f'<section {SECTION}/><section {SECTION}/><material name="steel"/>', '<beam',
        '<beam> section expected found 3'),
    'mixed_taper': ('<material name="steel"/>',
        '<section shape="circle" radius="0.05"/><material name="steel"/>', '"circle"',
        '<section> shape expected the same found "hollow_circle" and "circle"'),
    'segments_too_short': (f'<section {SECTION}/>',
        f'<segment length="1"><section {SECTION}/></segment>', '<beam',
        '<beam> segments expected sum 1.5 found 1 m'),
    'section_beside_segments': (f'<section {SECTION}/>',
        f'<section {SECTION}/><segment length="1.5"/>', '<segment',
        '<section> expected inside each <segment> found'),
    'unknown_attribute': ('length="1.5"', 'lenght="1.5"', 'lenght',
        '<beam> expected found "lenght" did you mean "length"'),
    'unknown_part': ('<damping ratio="0.01"/>', '<dampping ratio="0.01"/>', 'dampping',
        'expected found <dampping> did you mean "damping"'),
    'unknown_extension': ('<imu name="tip" frame="tool"/>', '<flexible_jont joint="joint1"/>',
        'jont', 'expected found <flexible_jont> did you mean "flexible_joint"'),
    # what sits on it
    'mass_outside': ('x="0.7" mass', 'x="1.6" mass', '"1.6"',
        '<mass> x expected from 0 to 1.5 found "1.6"'),
    'mass_before': ('x="0.7" mass', 'x="-0.1" mass', '"-0.1"', '<mass> x expected found "-0.1"'),
    'lumped_negative': ('mass="2.0"', 'mass="-2"', 'mass="-2"',
        '<mass> mass expected positive (kg) found "-2"'),
    'lumped_triangle': ('ixx="0.1"', 'ixx="0.3"', 'ixx="0.3"',
        '<mass> inertia expected at most the sum of the other two found 0.1, 0.1, 0.3'),
    'lumped_indefinite': ('ixx="0.1"', 'ixx="-0.1"', '"-0.1"', '<mass> inertia expected found'),
    'gauge_beyond': ('x="0.1" z="0.05"', 'x="1.51" z="0.05"', '1.51',
        '<gauge name="root"> x expected 1.5 found "1.51"'),
    'gauge_off_section': ('z="0.05"', 'z="0.06"', '"0.06"',
        '<gauge name="root"> z expected 0.05 m found "0.06"'),
    'gauge_unnamed': ('name="root" ', '', '<gauge',
        '<gauge> name expected found no such attribute'),
    'gauge_twice': ('<gauge name="root" x="0.1" z="0.05"/>',
        '<gauge name="root" x="0"/>\n<gauge name="root" x="1"/>', '"root" x="1"',
        '<gauge name="root"> expected one found another on line'),
    'damping_kinds': ('ratio="0.01"', 'ratio="0.01" beta="1e-4"', 'beta',
        '<damping> expected either found "ratio" and "beta"'),
    'damping_empty': ('<damping ratio="0.01"/>', '<damping/>', '<damping/>',
        '<damping> expected found none'),
    'overdamped': ('ratio="0.01"', 'ratio="0.01 1.5"', 'ratio="0.01 1.5"',
        '<damping> ratio expected found "0.01 1.5"'),
    'negative_alpha': ('ratio="0.01"', 'alpha="-1"', '"-1"',
        '<damping> alpha expected found "-1"'),
    # modes
    'zero_modes': (MODES, '<modes bending_y="0" bending_z="0" twist="0"/>', '<modes',
        '<modes> expected at least one found 0'),
    'too_many_modes': ('bending_y="2"', 'bending_y="21"', '"21"',
        '<modes> bending_y expected 0 to 20 found "21"'),
    'half_a_mode': ('bending_y="2"', 'bending_y="1.5"', 'bending_y="1.5"',
        '<modes> bending_y expected whole found "1.5"'),
    'unknown_basis': ('craig-bampton', 'craig-brampton', 'brampton',
        '<modes> basis expected found did you mean "craig-bampton"'),
    'negative_tip': ('twist="1"', 'twist="1" tip_mass="-1"', '<modes',
        '<modes> tip_mass expected found "-1"'),
    'word_tip': ('twist="1"', 'twist="1" tip_mass="some"', '<modes',
        '<modes> tip_mass expected found "some"'),
    'tip_inertia_auto': ('twist="1"', 'twist="1" tip_inertia="1"', '<modes',
        '<modes> tip_inertia expected tip_mass found'),
    'tip_inertia_small': ('twist="1"', 'twist="1" tip_mass="2" tip_offset="1" tip_inertia="1"',
        '<modes', '<modes> tip expected 2 found 1'),
    'tip_inertia_two': ('twist="1"', 'twist="1" tip_mass="2" tip_inertia="1 1"', '<modes',
        '<modes> tip_inertia expected found "1 1"'),
    'missing_shape_file': ('craig-bampton"', 'file" file="nowhere.csv"', '<modes',
        '<modes> "file" nowhere.csv'),
    'file_without_basis': ('twist="1"', 'twist="1" file="a.csv"', '<modes',
        '<modes> file expected basis "file" found basis "craig-bampton"'),
    'bad_expression': (MODES, '<modes basis="expression" expression_y="x^2*__import__"/>',
        '<modes', '<modes> "expression" expected found __import__'),
    'dependent_shapes': (MODES, '<modes basis="expression" expression_y="x^2; 2*x^2"/>', '<modes',
        '<modes> bending_y expected found 2 that depend'),
    # joints and sensors
    'spring_on_fixed': ('joint="joint1" stiffness', 'joint="joint3" stiffness',
        '"joint3" stiffness',
        '<flexible_joint joint="joint3"> expected revolute found "joint3" fixed'),
    'spring_on_nothing': ('joint="joint1" stiffness', 'joint="joint9" stiffness', '"joint9"',
        '<flexible_joint joint="joint9"> expected found "joint9"'),
    'zero_stiffness': ('stiffness="1e4"', 'stiffness="0"', '"0" motor',
        '<flexible_joint joint="joint1"> stiffness expected positive found "0"'),
    'no_motor': (' motor_inertia="1e-3"', '', '<flexible_joint',
        'motor_inertia expected found no such attribute'),
    'negative_gear': ('gear_ratio="100"', 'gear_ratio="-100"', '"-100"',
        'gear_ratio expected positive found "-100"'),
    'imu_nowhere': ('frame="tool"', 'frame="tol"', '"tol"',
        '<imu name="tip"> frame expected found "tol" did you mean "tool"'),
    'two_gravities': (GRAVITY, f'{GRAVITY}\n{GRAVITY.replace("9.81", "1")}', '-1',
        '<gravity> expected one found another on line'),
    'tip_name_taken': (GRAVITY,
        '<link name="link1/tip"/>' + JOINT.format('extra', 'fixed', 'base', 'link1/tip'),
        '<flexible link',
        '<flexible link="link1"> expected "link1/tip" found a link of that name'),
}


@pytest.mark.parametrize('case', CASES)
def test_bad_flexible_element(case, tmp_path, capsys):
    check(CASES[case], tmp_path, capsys)


def test_a_table_whose_columns_repeat_is_refused(tmp_path):
    rows = [f'{x},{x**2},{2 * x**2}' for x in (1.5 * i / 60 for i in range(61))]
    (tmp_path / 'shapes.csv').write_text('x,v1,v2\n' + '\n'.join(rows))
    path = tmp_path / 'arm.urdf'
    path.write_text(GOOD.replace(MODES, '<modes basis="file" file="shapes.csv" bending_y="2"/>'))
    with pytest.raises(RobotError, match='bending_y: expected shapes .* found 2 that depend'):
        load_robot(path)
    path.write_text(path.read_text().replace('bending_y="2"', 'bending_y="1"'))
    assert load_robot(path).links[1].flexible.n_modes == 1
