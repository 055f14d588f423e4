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
"""Exports of derived equations: Python, C, JSON and LaTeX are all the same equations."""
from __future__ import annotations

import ctypes
import json
import re
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser
from symbolic_robots import derived, rigid_flexible, states

from flex_description import load_robot
from flex_dynamics import DynamicsError
from flex_dynamics.symbolic import derive
from flex_dynamics.symbolic.export import code
from flex_dynamics.symbolic.expressions.stumpff import stumpff

CASES = [('lin_lewis_rfr', 'lagrange'), ('mladenova_arm', 'elastic_joint'), ('ur5', 'dual_screw')]


@pytest.fixture(scope='module')
def spatial():
    """A beam bent in both planes that carries a body: Stumpff functions of its slopes."""
    return derive(rigid_flexible('clamped-free'), modes=1, order='second')


@pytest.mark.parametrize('name, method', CASES)
def test_c_is_numpy(name, method):
    equations = derived(name, method)
    compiled, plain = equations.function('c'), equations.function('numpy')
    for q, v in states(equations, 3):
        for found, expected in zip(compiled(q, v), plain(q, v)):
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_stumpff_functions_in_c_and_python(spatial):
    assert 'stumpff(' in spatial.text('c') and 'def stumpff(' in spatial.text('python')
    compiled, plain = spatial.function('c'), spatial.function('numpy')
    for q, v in states(spatial, 2, 0.5):                  # angles on both sides of one radian
        for found, expected in zip(compiled(q, v), plain(q, v)):
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_numpy_function_takes_many_states_at_once(spatial):
    for equations in (derived('lin_lewis_rfr', 'lagrange'), spatial):
        function = equations.function()
        q, v = (np.array(x).T for x in zip(*states(equations, 4)))
        M, C, g = function(q, v)
        assert M.shape == C.shape == (equations.n, equations.n, 4) and g.shape == (equations.n, 4)
        for k in range(4):
            one = function(q[:, k], v[:, k])
            assert M[..., k] == pytest.approx(one[0], abs=1e-15)
            assert C[..., k] == pytest.approx(one[1], abs=1e-15)


def test_python_code_stands_alone(tmp_path):
    """It runs with numpy only, elsewhere."""
    equations = derived('lin_lewis_rfr', 'lagrange')
    text = equations.text('python')
    assert 'flex_dynamics' not in text
    space: dict = {}
    exec(compile(text, 'terms.py', 'exec'), space)
    q, v = next(iter(states(equations, 1)))
    assert space['terms'](q, v)[0] == pytest.approx(equations.function()(q, v)[0], rel=1e-15)
    assert 'link2/bend_y/1' in text


def test_c_code_compiles_without_a_warning(tmp_path, spatial):
    for number, equations in enumerate((spatial, derived('ur5', 'dual_screw'))):
        source = tmp_path / f'{number}.c'
        source.write_text(equations.text('c'))
        done = subprocess.run([code.c_compiler(), '-std=c99', '-pedantic', '-Wall', '-Wextra',
                               '-Wno-unused-parameter', '-Werror', '-c', str(source), '-o',
                               str(tmp_path / 'out.o')], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('name, method', [*CASES, ('lab_link', 'lagrange')])
def test_constant_terms_of_exported_code_are_those_of_the_model(name, method, tmp_path):
    """K, D and B in C, compiled and called, and in Python."""
    equations = (derive(load_robot(name), modes=1) if name == 'lab_link'
                 else derived(name, method))
    model = equations.model
    n, inputs = model.n, model.n_joints
    expected = (model.stiffness_matrix(), model.damping_matrix(),
                model.input_matrix(np.zeros(n)))
    source, library = tmp_path / 'arm.c', tmp_path / 'arm.so'
    source.write_text(equations.text('c'))
    subprocess.run([code.c_compiler(), '-std=c99', '-fPIC', '-shared', '-o', str(library),
                    str(source), '-lm'], check=True)
    found = [np.full((n, n), 7.0), np.full((n, n), 7.0), np.full((n, inputs), 7.0)]
    ctypes.CDLL(str(library)).constant_terms(*(ctypes.c_void_p(x.ctypes.data) for x in found))
    space: dict = {}
    exec(compile(equations.text('python'), 'terms.py', 'exec'), space)
    for in_c, in_python, of_model in zip(found, space['constant_terms'](), expected):
        scale = np.abs(of_model).max(initial=1e-300)
        assert np.abs(in_c - of_model).max() <= 1e-12 * scale
        assert np.array_equal(in_c, in_python)
    assert name != 'lab_link' or all(matrix.any() for matrix in expected)


def test_a_body_at_the_clamped_end_costs_nothing():
    """The hub of lab_link sits where no shape moves: rounding there once doubled the code."""
    equations = derive(load_robot('lab_link'), modes=1, order='second')
    numbers = [abs(float(x)) for x in re.findall(r'\d+\.\d+(?:e[+-]\d+)?', str(equations))]
    assert min(x for x in numbers if x > 0.0) > 1e-12
    assert equations.operations < 3000


def test_names_of_a_robot_cannot_become_code():
    robot = load_robot('mladenova_arm')
    nasty = 'arm"""\nraise SystemExit\n"""*/ int x; /* % } \\input{x}'
    joints = (replace(robot.joints[0], name=nasty), *robot.joints[1:])
    equations = derive(replace(robot, name=nasty, joints=joints), 'elastic_joint')
    for kind in ('numpy', 'c'):
        assert equations.function(kind)(np.zeros(2), np.zeros(2))[0][1, 1] == pytest.approx(0.02)
    assert '\\input' not in equations.text('latex')
    assert json.loads(equations.text('json'))['robot'] == nasty


def test_json_can_be_read_back():
    equations = derived('lin_lewis_rfr', 'lagrange')
    read = json.loads(equations.text('json'))
    assert [c['name'] for c in read['coordinates']] == list(equations.names)
    q, v = next(iter(states(equations, 1)))
    values = {**{f'q{k + 1}': x for k, x in enumerate(q)}, **{f'v{k + 1}': x
                                                              for k, x in enumerate(v)}}
    functions = {'sin': np.sin, 'cos': np.cos, 'stumpff': stumpff}
    for name, text in read['definitions']:
        assert sympy.sympify(text, {'stumpff': sympy.Function('stumpff')}) is not None
        values[name] = eval(text, functions, values)
    M, C, g = equations.function()(q, v)
    for name, matrix in (('M', M), ('C', C)):
        found = [[eval(text, functions, values) for text in row] for row in read[name]]
        assert np.array(found) == pytest.approx(matrix, rel=1e-14, abs=1e-15)
    assert [eval(text, functions, values) for text in read['g']] == pytest.approx(g)
    assert np.array(read['K']) == pytest.approx(equations.model.stiffness_matrix(), rel=1e-12)


@pytest.mark.parametrize('name, method', CASES)
def test_latex_is_whole_and_defines_what_it_uses(name, method):
    text = derived(name, method).text('latex')
    assert text.count('{') == text.count('}') and text.count('(') == text.count(')')
    assert r'\begin{gather*}' in text and r'\end{gather*}' in text and '**' not in text
    defined = set(re.findall(r'^(t_\{\d+\}) =', text, re.MULTILINE))
    used = set(re.findall(r't_\{\d+\}', text))
    assert used == defined
    assert 'M_{1,1} =' in text and '+ -' not in text


def latex_lines(text):
    """The lines of a gather*; matplotlib, which is slow, parses some of the shorter ones, and
    raises an error for bad LaTeX."""
    body = text.partition(r'\begin{gather*}')[2].partition(r'\end{gather*}')[0]
    lines = [line.strip() for line in body.split('\\\\') if line.strip()]
    parser = MathTextParser('path')
    for line in lines:
        assert line.count('{') == line.count('}') and line.count('(') == line.count(')')
    short = [line for line in lines if len(line) < 250]
    for line in short[::len(short) // 15 + 1]:
        parser.parse(f'${line}$')
    return lines


@pytest.mark.parametrize('name', ['lin_lewis_rfr', 'mladenova_arm'])
def test_simplified_latex_is_latex(name):
    equations = derived(name, 'lagrange')
    found = equations.simplify(1.0)
    lines = latex_lines(equations.simplified_text(found, 'latex'))
    text = '\n'.join(lines)
    assert text.count('{') == text.count('}') and text.count('(') == text.count(')')
    assert not re.search(r'\*|\bsqrt\b|(?<!\\)\b(sin|cos)\b|\[\d', text)      # not Python
    assert any(line.startswith('M_{1,1} =') for line in lines)
    assert any(line.startswith('K_{') for line in lines)
    assert any(line.startswith('B_{') for line in lines)
    if name == 'lin_lewis_rfr':
        assert r'\dot q_{1}' in text and 'v_{' not in text
    zero = sum(1 for x in (*found.M, *found.C, *found.g) if x != 0)
    n = equations.n
    below = sum(1 for i in range(n) for j in range(i) if found.M[i, j] != 0)
    constants = sum(np.count_nonzero(x) for x in (equations.K_numbers, equations.D_numbers,
                                                  equations.B_numbers))
    assert len(lines) == 1 + zero - below + constants


def test_latex_of_all_elements_can_be_parsed(spatial):
    assert len(latex_lines(spatial.latex())) > 50


def test_simplified_json_and_text():
    equations = derived('mladenova_arm', 'lagrange')
    found = equations.simplify(5.0)
    read = json.loads(equations.simplified_text(found, 'json'))
    assert read['definitions'] == [] and read['g'] == ['4.905*sin(q1)', '0'] or (
        sympy.sympify(read['g'][0]).subs('q1', 1.0) == pytest.approx(4.905 * np.sin(1.0)))
    text = equations.simplified_text(found)
    assert 'M[2,2] = 0.02\n' in text and 'K[1,2] = -50' in text and 'B[2,1] = 1' in text
    with pytest.raises(DynamicsError, match='expected format text or latex or json, found .c.'):
        equations.simplified_text(found, 'c')


def test_text_names_the_coordinates_and_every_element():
    text = str(derived('mladenova_arm', 'elastic_joint'))
    assert 'q2: joint1/motor' in text and 'M[2,2] = 0.02' in text and 'K[1,2] = -50' in text
    assert 'B[2,1] = 1' in text and 'sin(' in text


def test_what_cannot_be_exported_is_said(monkeypatch):
    equations = derived('mladenova_arm', 'elastic_joint')
    for call in (lambda: equations.text('pdf'), lambda: equations.function('fortran')):
        with pytest.raises(DynamicsError, match='expected one of .* found'):
            call()
    monkeypatch.setattr(code, 'c_compiler', lambda: None)
    with pytest.raises(DynamicsError, match="expected a C compiler .* use 'numpy'"):
        equations.function('c')
    monkeypatch.setattr(code, 'c_compiler', lambda: 'cc')
    monkeypatch.setattr(code.subprocess, 'run', lambda *a, **k: SimpleNamespace(
        returncode=1, stderr='disk full'))
    with pytest.raises(DynamicsError, match='found: disk full'):
        equations.function('c')
