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
"""Extreme sizes load, with finite numbers, or are refused in one line; messages stay short."""
import json

import numpy as np
import pytest
from bad_robots import GOOD, GRAVITY

from flex_description import RobotError, load, load_robot
from flex_description.commands.describe import main
from flex_description.commands.summary import summary

FIXED = GOOD.replace('type="continuous"', 'type="fixed"')
LUMP = '<mass x="0.7" mass="2.0" xyz="0 0 0.01" ixx="0.1" iyy="0.1" izz="0.1"/>'
SIZES = {
    'moment below zero by rounding': [('ixx="0.02"', 'ixx="-1e-12"')],
    'length': [('length="1.5"', 'length="1e-12"'), ('x="0.7"', 'x="0"'), ('x="0.1"', 'x="0"')],
    'offset': [('xyz="1.5 0 0"', 'xyz="1e8 0 0"')],
    'offset beside': [('xyz="1.5 0 0"', 'xyz="1.5 1e8 0"')],
    'offset of the tool': [('xyz="0.1 0 0"', 'xyz="0 1e8 0"')],
    'carried mass': [('<mass value="2"/>', '<mass value="1e15"/>')],
    'lumped mass': [('mass="2.0"', 'mass="1e15"')],
    'both': [('<mass value="2"/>', '<mass value="1e15"/>'), ('xyz="1.5 0 0"', 'xyz="1e8 0 0"')],
    'radius': [('outer_radius="0.05" inner_radius="0.045"',
                'outer_radius="1e-30" inner_radius="9e-31"')],
}


@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-free', 'clamped-mass', 'pinned-free',
                                   'pinned-pinned', 'polynomial', 'fe'])
@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('lumped', [True, False])
def test_extreme_sizes(basis, size, lumped, tmp_path, capsys):
    text = FIXED.replace('"craig-bampton"', f'"{basis}"').replace('twist="1"', 'twist="1"')
    text = text if lumped else text.replace(LUMP, '')
    for old, new in SIZES[size]:
        text = text.replace(old, new)
    path = tmp_path / 'arm.urdf'
    path.write_text(text)
    with np.errstate(all='raise', under='ignore'):   # nothing is computed that is not finite
        try:
            robot = load_robot(path)
        except RobotError as error:
            assert str(error).startswith(f'{path}:') and 'expected' in str(error)
            assert '<flexible link="link1">' in str(error)
            return
    try:
        json.dumps(summary(robot), allow_nan=False)
        expected = 0
    except RobotError as error:
        assert str(error).startswith(f'{path}: link "link1": expected')
        expected = 1
    assert main([str(path)]) == expected
    assert capsys.readouterr().err.count('\n') == expected


@pytest.mark.parametrize(('section', 'words'), [
    ('shape="hollow_rectangle" width="1e5" height="8e13" thickness="4e-18"', 'thickness: exp'),
    ('shape="hollow_rectangle" width="0.1" height="8e13" thickness="4e-18"', 'thickness: exp'),
    ('shape="hollow_circle" outer_radius="0.05" inner_radius="0.04999999999"',
     'inner_radius: expected less than outer_radius 0.05, by'),
    ('shape="i" width="1" height="1" web_thickness="1e-17" flange_thickness="1e-17"',
     'flange_thickness: expected at least 1e-06 of height 1')])
def test_walls_too_thin_for_rounding_are_refused(section, words):
    text = GOOD.replace('shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"', section)
    with pytest.raises(RobotError, match=f'<section>: {words}'):
        load_robot(text.replace(' z="0.05"', ''))


def test_a_stiffness_that_varies_too_much_is_refused_without_a_warning(recwarn):
    section = '<section shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"/>'
    circle = '<segment length="0.75"><section shape="circle" radius="{}"/></segment>'
    text = GOOD.replace(section, circle.format(1e5) + circle.format(1e-3)).replace(' z="0.05"', '')
    with pytest.raises(RobotError, match='stiffness that varies by less than 16 digits'):
        load_robot(text)
    assert not recwarn.list


def test_a_moment_below_zero_by_rounding_is_taken_for_zero():
    robot = load_robot(FIXED.replace('ixx="0.02"', 'ixx="-1e-12"').replace(
        'iyy="0.03"', 'iyy="0.02"').replace('izz="0.03"', 'izz="0.02"'))
    tool = next(link for link in robot.links if link.name == 'tool')
    assert np.linalg.eigvalsh(tool.inertia.tensor)[0] >= 0.0


@pytest.mark.parametrize(('old', 'new', 'words'), [
    (LUMP, LUMP * 101, 'at most 100 <mass> of a beam, found 101'),
    ('<material name="steel"/>', '<segment length="0.01"/>' * 101, 'at most 100 <segment>'),
])
def test_beams_of_too_many_parts(old, new, words):
    with pytest.raises(RobotError, match=words):
        load_robot(GOOD.replace(old, new))


def test_beams_of_thirty_parts():
    section = '<section shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"/>'
    text = GOOD.replace(section, f'<segment length="0.05">{section}</segment>' * 30)
    assert len(load_robot(text.replace(LUMP, '')).links[1].flexible.breakpoints) == 31


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('MOST_MODES', 3, 'at most 3 modes in all'),
    ('MOST_SECONDS_OF_MODES', 0.0, 'computed within 0 s in all, found 0 links')])
def test_robots_of_too_many_modes(monkeypatch, name, value, words):
    monkeypatch.setattr(load, name, value)
    again = '<flexible link="tool"><beam length="1"><section shape="circle" radius="0.1"/>' + (
        '<material name="steel"/></beam></flexible>')
    with pytest.raises(RobotError, match=words):
        load_robot(GOOD.replace(GRAVITY, again))


LONG = 'y' * 100_000


@pytest.mark.parametrize(('old', 'new'), [
    ('length="1.5"', f'length="{LONG}"'), ('<flexible link="link1">', f'<flexible link="{LONG}">'),
    ('<beam length="1.5">', f'<beam to="{LONG}">'), ('length="1.5"', f'{LONG}="1.5"'),
    ('<link name="base"/>', f'<link name="base"/><link name="{LONG}"/><link name="{LONG}"/>'),
    ('<link name="base"/>', f'<link name="base"/><link name="{LONG}"/>'),
    ('"revolute"', f'"{LONG}"'),
    ('<child link="tool"/>', f'<child link="{LONG}"/>'), ('frame="tool"', f'frame="{LONG}"'),
    ('joint="joint1"', f'joint="{LONG}"'), ('<beam ', f'<{LONG}/><beam '),
    (GRAVITY, f'<gravity xyz="{LONG}"/>'), (GRAVITY, f'<gravity xyz="{"1 " * 50_000}"/>'),
    ('name="steel"', f'name="{LONG}"'), ('basis="craig-bampton"', f'basis="{LONG}"'),
    ('basis="craig-bampton"', f'basis="file" file="{LONG}"'),
    ('bending_y="2"', f'bending_y="{"9" * 100_000}"'), (GOOD, f'<{LONG}/>')])
def test_values_of_100_kb_are_not_echoed(old, new):
    assert old in GOOD
    with pytest.raises(RobotError) as caught:
        load_robot(GOOD.replace(old, new, 1))
    assert len(str(caught.value)) < 1300 and '...' in str(caught.value)


@pytest.mark.parametrize('overlay', [
    {LONG: 1}, {'flexible': {LONG: {}}}, {'flexible': LONG}, {'gravity': LONG},
    {'gravity': {LONG: 1}}, {'flexible': {'link1': {'beam': {LONG: 1}}}}, {'imus': {'i': LONG}}])
def test_keys_of_100_kb_are_not_echoed(overlay):
    with pytest.raises(RobotError) as caught:
        load_robot(GOOD, overlay)
    assert len(str(caught.value)) < 1300


def test_lists_of_known_names_are_cut():
    links = ''.join(f'<link name="n{k}"/><joint name="k{k}" type="fixed"><parent link="base"/>'
                    f'<child link="n{k}"/></joint>' for k in range(500))
    with pytest.raises(RobotError, match='n1, n10, .* and 484 more$') as caught:
        load_robot(GOOD.replace(GRAVITY, links + '<flexible link="zzzz"/>'))
    assert len(str(caught.value)) < 500


def test_escape_sequences_of_a_file_do_not_reach_the_terminal():
    with pytest.raises(RobotError) as caught:
        load_robot(GOOD.replace('frame="tool"', 'frame="\u009b31m\u202etool"'))
    assert str(caught.value).isprintable() and '\\x9b31m\\u202e' in str(caught.value)
    assert all(warning.isprintable() for warning in load_robot(GOOD.replace(
        '<axis ', '<axis \u00e9\u0300="1" ')).warnings)
