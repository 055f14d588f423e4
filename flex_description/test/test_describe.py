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
"""The describe command: text, JSON, plot, exit codes."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flex_description.commands.describe import main

ARM = """<robot name="arm"><link name="base"/><link name="boom"/>
<link name="hand"><inertial><mass value="3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="cable"/>
<joint name="slew" type="revolute"><parent link="base"/><child link="boom"/></joint>
<joint name="wrist" type="continuous"><parent link="boom"/><child link="hand"/>
<origin xyz="2 0 0"/></joint>
<joint name="clip" type="fixed"><parent link="boom"/><child link="cable"/>
<origin xyz="1 0 0.1"/></joint>
<flexible link="boom"><beam length="2"><section shape="circle" radius="0.02"/>
<material name="steel"/></beam><gauge name="root" x="0.1"/></flexible>
<imu name="tip" frame="hand"/>
<flexible_joint joint="slew" stiffness="100" motor_inertia="0.1"/></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return str(path)


def test_text(arm, capsys):
    assert main([arm]) == 0
    out, err = capsys.readouterr()
    assert err == ''
    for words in ('4 links, 8 coordinates: 2 of joints, 1 of motors, 5 elastic',
                  '\n  -> slew (revolute, elastic) -> boom: flexible, 19.73 kg',
                  '\n    -> wrist (continuous at x = 2 m) -> hand: rigid, 3 kg',
                  '\n    -> clip (fixed at x = 1 m) -> cable: no mass',
                  'beam of 2 m, section circle', 'carries 3 kg',
                  'basis craig-bampton: 2 bend_y, 2 bend_z, 1 twist',
                  'gauge root at x = 0.1 m, y = ',
                  'natural modes of this link alone', 'imu tip in hand',
                  'Model.frequencies(q) in flex_dynamics, in rad/s',
                  '\nslew: spring 100 N m/rad, damper 0 N m s/rad\n'
                  '  motor 0.1 kg m2 behind a gear of 1 rad/rad: 0.1 kg m2 at the joint\n',
                  'warning: ', '<joint name="slew"> has no <limit>'):
        assert words in out
    # 3 E I / L^3 of the clamped beam
    assert len(re.findall(r'\n +\d  +[\d.]+ Hz  (bend_y|bend_z|twist) ', out)) == 5
    assert f'{3 * 210e9 * 3.14159265 / 4 * 0.02**4 / 8:.4g} N/m along y' in out


SLIDE = """<robot name="slide"><link name="base"/><link name="car"><inertial><mass value="3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="rail" type="prismatic"><parent link="base"/><child link="car"/>
<limit lower="0" upper="1" effort="10" velocity="1"/></joint>
<flexible_joint joint="rail" stiffness="4e4" damping="20" motor_inertia="2e-5" gear_ratio="300"/>
</robot>"""


def test_units_of_an_elastic_prismatic_joint(tmp_path, capsys):
    """A spindle: 300 rad/m show a rotor of 2e-5 kg m2 as 1.8 kg."""
    path = tmp_path / 'slide.urdf'
    path.write_text(SLIDE)
    assert main([str(path)]) == 0
    assert ('\nrail: spring 40000 N/m, damper 20 N s/m\n'
            '  motor 2e-05 kg m2 behind a gear of 300 rad/m: 1.8 kg at the joint\n'
            ) in capsys.readouterr().out + '\n'
    assert main([str(path), '--json']) == 0
    spring = json.loads(capsys.readouterr().out)['joints'][0]['flexible']
    assert spring['reflected_inertia'] == pytest.approx(1.8)
    assert spring['units'] == {
        'stiffness': 'N/m', 'damping': 'N s/m', 'motor_inertia': 'kg m2', 'gear_ratio': 'rad/m',
        'reflected_inertia': 'kg'}


@pytest.mark.parametrize('old, new, words', [
    (' gear_ratio="300"', '', 'gear_ratio: expected a positive number (rad of the motor per m)'),
    ('gear_ratio="300"', 'gear_ratio="0"', '(rad of the motor per m), found "0"'),
    ('stiffness="4e4"', 'stiffness="-1"', 'stiffness: expected a positive number (N/m)'),
    ('damping="20"', 'damping="-1"', '(N s/m), found "-1"'),
    ('motor_inertia="2e-5"', 'motor_inertia="0"', 'positive number (kg m2), found "0"')])
def test_errors_say_the_units_of_a_prismatic_joint(tmp_path, capsys, old, new, words):
    path = tmp_path / 'slide.urdf'
    path.write_text(SLIDE.replace(old, new))
    assert main([str(path)]) == 1
    assert words in capsys.readouterr().err


def test_json(arm, capsys):
    assert main([arm, '--json']) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures['coordinates'] == {'joints': 2, 'motors': 1, 'modes': 5, 'total': 8}
    boom = figures['links'][1]['flexible']
    assert boom['carried_mass'] == 3 and len(boom['modes']) == 5
    assert boom['modes'][0]['frequency'] > 1 and figures['units']['frequency'] == 'Hz'
    assert figures['joints'][0]['limits']['upper'] is None


def test_plot(arm, tmp_path, capsys):
    image = tmp_path / 'shapes.png'
    assert main([arm, '--plot', str(image)]) == 0
    assert image.read_bytes()[:4] == b'\x89PNG' and image.stat().st_size > 10_000
    err = capsys.readouterr().err
    assert str(image) in err and 'basis shapes' in err and 'mode' not in err
    assert main([arm, '--plot', str(tmp_path / 'none' / 'shapes.png')]) == 1
    assert main([arm, '--plot', str(tmp_path / 'shapes.unknown')]) == 1
    assert [line[:6] for line in capsys.readouterr().err.splitlines()] == ['error:', 'error:']


def test_plot_of_a_rigid_robot_is_refused(tmp_path, capsys):
    path = tmp_path / 'rigid.urdf'
    path.write_text('<robot name="rigid"><link name="a"/></robot>')
    assert main([str(path)]) == 0
    assert main([str(path), '--plot', str(tmp_path / 'a.png')]) == 1
    assert 'expected a flexible link' in capsys.readouterr().err


def test_overlay_and_xacro_argument(tmp_path, capsys):
    path = tmp_path / 'arm.xacro'
    path.write_text(ARM.replace('name="arm">', 'name="arm" '
                                'xmlns:xacro="http://wiki.ros.org/xacro">'
                                '<xacro:arg name="imu" default="one"/>')
                    .replace('<imu name="tip"', '<imu name="$(arg imu)"'))
    overlay = tmp_path / 'overlay.yaml'
    overlay.write_text('flexible: {boom: {modes: {basis: fe, twist: 3}}}')
    assert main([str(path), str(overlay), '--xacro', 'imu:=other']) == 0
    out = capsys.readouterr().out
    assert 'imu other in hand' in out and 'basis fe: 2 bend_y, 2 bend_z, 3 twist' in out
    assert main([str(path), '--xacro', 'imu']) == 1
    assert 'expected NAME:=VALUE, found "imu"' in capsys.readouterr().err


def test_as_a_module_with_a_bad_robot(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM.replace('radius="0.02"', 'radius="0"'))
    package = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(package), os.environ.get('PYTHONPATH', '')])
    done = subprocess.run([sys.executable, '-m', 'flex_description.commands.describe', str(path)],
                          capture_output=True, text=True, env={**os.environ, 'PYTHONPATH': paths})
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr == (f'error: {path}:10: <flexible link="boom"> <section>: radius: '
                           'expected a positive number (m), found "0"\n')


def test_the_former_module_still_runs_and_says_where_it_is_now(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    done = subprocess.run([sys.executable, '-m', 'flex_description.describe', str(path)],
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'boom: beam of' in done.stdout
    assert 'use flex_description.commands.describe' in done.stderr
