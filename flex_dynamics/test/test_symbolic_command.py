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
"""The derive command: what it prints, what it refuses."""
from __future__ import annotations

import json

import pytest

from flex_dynamics.symbolic.command import main


@pytest.mark.parametrize('format, mark', [('text', 'M[1,1] ='), ('python', 'def terms(q, v):'),
                                          ('c', 'void terms(const double *q'),
                                          ('latex', r'\begin{gather*}'),
                                          ('json', '"coordinates"')])
def test_formats(format, mark, capsys):
    assert main(['lin_lewis_rfr', '--format', format]) == 0
    out, err = capsys.readouterr()
    assert mark in out
    assert err.splitlines()[:3] == ['links', 'speeds', 'done'] and '4 coordinates' in err
    if format == 'json':
        assert json.loads(out)['method'] == 'lagrange'


def test_arguments_of_a_xacro(capsys):
    assert main(['lin_lewis_one_link', '--xacro', 'modes:=2', '--xacro',
                 'basis:=clamped-free']) == 0
    assert '3 coordinates' in capsys.readouterr().err


def test_simplified_with_zeros_into_a_file(tmp_path, capsys):
    path = tmp_path / 'arm.txt'
    assert main(['mladenova_arm', '--method', 'elastic_joint', '--simplify', '60', '--zeros',
                 '--output', str(path)]) == 0
    text = path.read_text()
    assert 'g[1] = 4.905*sin(q1)' in text and '10 of 10 elements' in text
    assert 'output joint1: minimum phase (no zeros)' in capsys.readouterr().err


def test_simplified_as_latex(capsys):
    assert main(['mladenova_arm', '--simplify', '5', '--format', 'latex']) == 0
    out = capsys.readouterr().out
    assert r'g_{1} = 4.905 \sin{\left(q_{1} \right)} \\' in out and r'\end{gather*}' in out


def test_it_says_how_to_get_shorter_equations(capsys):
    assert main(['lab_link']) == 0
    assert '--modes N keeps at most N mode shapes of each kind (--modes 1: 4 coordinates)' in (
        capsys.readouterr().err)
    assert main(['lab_link', '--modes', '1']) == 0
    err = capsys.readouterr().err
    assert '4 coordinates' in err and '--modes' not in err


def test_zeros_in_a_stretched_pose_do_not_spoil_the_equations(capsys):
    assert main(['lin_lewis_rfr', '--method', 'dual_screw', '--zeros']) == 0
    out, err = capsys.readouterr()
    assert 'no zeros of the tip: tip: expected a pose' in err and 'M[1,1]' in out
    assert main(['lin_lewis_rfr', '--zeros', '--pose', '0', '1', '1']) == 0
    assert 'non-minimum phase' in capsys.readouterr().err


@pytest.mark.parametrize('arguments, words', [
    (['no_such_robot'], 'no_such_robot'),
    (['lin_lewis_rfr', '--method', 'elastic_joint'], 'expected rigid links'),
    (['canadarm_paper', '--most-operations', '3000'], 'modes=1 works'),
    (['lin_lewis_rfr', '--modes', '0'], 'at least one shape'),
    (['lin_lewis_rfr', '--most-operations', '0'], 'expected a positive number'),
    (['lin_lewis_rfr', '--xacro', 'modes=2'], 'expected NAME:=VALUE'),
    (['lin_lewis_rfr', '--simplify', '1', '--format', 'c'], 'expected --format text'),
    (['lin_lewis_rfr', '--simplify', '-1'], 'budget: expected a time'),
    (['lin_lewis_rfr', '--output', '/no/such/folder/file'], 'expected to write')])
def test_refusals_are_one_line_and_exit_code_1(arguments, words, capsys):
    assert main(arguments) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith('error: ') and words in last


def test_unknown_choices_are_usage_errors(capsys):
    with pytest.raises(SystemExit) as stop:
        main(['ur5', '--format', 'fortran'])
    assert stop.value.code == 2 and 'latex' in capsys.readouterr().err
