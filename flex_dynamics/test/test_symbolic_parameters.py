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
"""Masses, lengths and stiffnesses as symbols: the same equations, for other values, too."""
from __future__ import annotations

import ctypes
import json
import re
import subprocess

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser
from symbolic_robots import rigid_flexible, states

from flex_description import load_robot
from flex_dynamics import DynamicsError
from flex_dynamics.symbolic import derive
from flex_dynamics.symbolic.command import main
from flex_dynamics.symbolic.export import code

ROBOTS = {'lin_lewis_rfr': {}, 'mladenova_arm': {}, 'ur5': {}, 'lab_link': {'modes': 1},
          'barrel': {'modes': 1, 'order': 'second'}}


def robot(name):
    return rigid_flexible('clamped-free') if name == 'barrel' else load_robot(name)


@pytest.mark.parametrize('name', ROBOTS)
def test_with_its_own_values_they_are_the_equations(name):
    numbers, named = (derive(robot(name), symbols=symbols, **ROBOTS[name])
                      for symbols in (False, True))
    assert named.parameters and not numbers.parameters
    expected, found = numbers.function(), named.function()
    for q, v in states(numbers, 2):
        for a, b in zip(expected(q, v), found(q, v)):
            assert np.abs(a - b).max() <= 1e-13 * max(np.abs(a).max(), 1e-9)
    K = np.array(named.K.subs(values(named)), dtype=float)
    assert np.abs(K - numbers.K_numbers).max() <= 1e-12 * np.abs(K).max()


def values(equations):
    return {sympy.Symbol(name, real=True): value for name, value in equations.parameters.items()}


ARM = """<robot name="arm"><link name="base"/><link name="boom"/>
  <link name="load"><inertial><mass value="{load}"/><inertia ixx="0.01" iyy="0.02" izz="0.03"
    ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slew" type="continuous"><parent link="base"/><child link="boom"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="wrist" type="continuous"><parent link="boom"/><child link="load"/>
    <origin xyz="{length} 0 0"/><axis xyz="1 0 0"/></joint>
  <flexible link="boom"><beam length="{length}">
    <section A="{area}" Iy="{iy}" Iz="{iz}" J="{j}"/>
    <material E="{young}" G="26e9" density="2700"/></beam>
    <modes basis="clamped-free" bending_y="2" bending_z="1" twist="1"/></flexible></robot>"""
FIRST = {'load': 1.5, 'length': 2.0, 'area': 1.2e-3, 'iy': 4e-7, 'iz': 6e-7, 'j': 1e-6,
         'young': 70e9}
OTHER = {'load': 0.4, 'length': 0.7, 'area': 0.8e-3, 'iy': 3e-7, 'iz': 2e-7, 'j': 4e-7,
         'young': 200e9}


@pytest.mark.parametrize('order', ['first', 'second'])
def test_with_other_values_they_are_the_equations_of_the_other_robot(order):
    """Another length, mass, section and material: symbols stand where they should, to the right
    power. The shapes are those of a clamped-free beam, functions of x / L."""
    named = derive(load_robot(ARM.format(**FIRST)), order=order, symbols=True)
    other = derive(load_robot(ARM.format(**OTHER)), order=order, symbols=True)
    assert set(named.parameters) == set(other.parameters)
    changed = {name for name in named.parameters
               if abs(named.parameters[name] / other.parameters[name] - 1.0) > 0.01}
    assert {'m_boom', 'L_boom', 'EIy_boom', 'EIz_boom', 'GJ_boom', 'Jy_boom', 'Jz_boom',
            'm_load'} <= changed
    text = named.text('python')
    for name, value in named.parameters.items():
        text = text.replace(f'\n{name} = {value!r}\n', f'\n{name} = {other.parameters[name]!r}\n')
    space: dict = {}
    exec(compile(text, 'terms.py', 'exec'), space)
    expected = derive(load_robot(ARM.format(**OTHER)), order=order)
    function = expected.function()
    for q, v in states(expected, 3, 0.02):
        for a, b in zip(function(q, v), space['terms'](q, v)):
            assert np.abs(a - b).max() <= 1e-11 * np.abs(a).max()
    K = space['constant_terms']()[0]
    assert np.abs(K - expected.model.stiffness_matrix()).max() <= 1e-11 * np.abs(K).max()


def test_the_textbook_can_be_read_off():
    """A cantilever's first mode: K = E I beta^4 / L^3 int phi^2, and m L^2 / 3 of the beam."""
    named = derive(load_robot(ARM.format(**FIRST)), modes={'boom': (1, 0, 0)}, symbols=True)
    L, m, EI = (sympy.Symbol(name, real=True) for name in ('L_boom', 'm_boom', 'EIz_boom'))
    M = named.M
    stiffness, own = named.K[2, 2] * L**3 / EI, sympy.expand(M[2, 2]).coeff(m, 1)
    assert stiffness.is_number and own.is_number
    assert float(stiffness / own) == pytest.approx(1.8751040687**4, rel=1e-6)
    about = sympy.expand(M[0, 0].subs(dict.fromkeys(named.q, 0.0))).coeff(m, 1)
    assert float(about / L**2) == pytest.approx(1.0 / 3.0)


def test_exports_of_named_equations(tmp_path):
    named = derive(load_robot('lin_lewis_rfr'), symbols=True)
    source, library = tmp_path / 'arm.c', tmp_path / 'arm.so'
    source.write_text(named.text('c'))
    assert re.search(r'static const double L_link2 = 1.1938;', source.read_text())
    subprocess.run([code.c_compiler(), '-std=c99', '-fPIC', '-shared', '-o', str(library),
                    str(source), '-lm'], check=True)
    n = named.n
    K, D, B = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, 3))
    ctypes.CDLL(str(library)).constant_terms(*(ctypes.c_void_p(x.ctypes.data) for x in (K, D, B)))
    assert pytest.approx(named.model.stiffness_matrix(), rel=1e-12) == K
    read = json.loads(named.text('json'))
    assert read['parameters']['L_link2'] == 1.1938 and 'EIz_link2' in read['K'][3][3]
    for text in (named.latex(), named.simplified_text(named.simplify(0.5), 'latex')):
        body = text.partition(r'\begin{gather*}')[2].partition(r'\end{gather*}')[0]
        lines = [line.strip() for line in body.split('\\\\') if line.strip()]
        for line in [line for line in lines if len(line) < 150][::6]:      # the parser is slow
            MathTextParser('path').parse(f'${line}$')
        assert all(line.count('{') == line.count('}') for line in lines)
        assert r'L_{\mathrm{link2}} = 1.1938' in text and r'EIz_{\mathrm{link2}}' in text
    assert 'EIz_link2/L_link2**3' in str(named)


def test_names_are_identifiers_and_different(capsys):
    text = ARM.format(**FIRST).replace('"boom"', '"a b.é/c"').replace('"load"', '"a b.ü/c"')
    named = derive(load_robot(text), modes=1, symbols=True)
    assert all(re.fullmatch(r'[A-Za-z]\w*', name) for name in named.parameters)
    assert named.function('numpy')(np.zeros(named.n), np.zeros(named.n))[0].shape == (5, 5)
    with pytest.raises(DynamicsError, match="symbols: expected method 'lagrange'"):
        derive(load_robot('lin_lewis_rfr'), 'dual_screw', symbols=True)
    assert main(['mladenova_arm', '--symbols', '--simplify', '5']) == 0
    out = capsys.readouterr().out
    assert 'k_joint1' in out and 'g_gravity' in out
