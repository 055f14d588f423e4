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
"""What one can read off the derived equations, and what simplification makes of them."""
from __future__ import annotations

import time

import numpy as np
import pytest
import sympy
from symbolic_robots import C1, C2, I1, I2, L1, M1, M2, derived, rigid_two_links, states

from flex_dynamics import DynamicsError
from flex_dynamics.symbolic import derive
from flex_dynamics.symbolic.expressions.harmonics import Harmonics
from flex_dynamics.symbolic.expressions.simplify import within
from flex_dynamics.symbolic.expressions.stumpff import stumpff as numeric_stumpff
from flex_dynamics.symbolic.expressions.sympy_expressions import stumpff
from flex_dynamics.symbolic.expressions.tape import Tape, TooLong


def value(expression, equations, q, v) -> float:
    names = {**dict(zip(equations.q, q)), **dict(zip(equations.v, v))}
    return float(expression.subs(names).evalf())


def same(found, expected) -> bool:
    """Equal as functions, with coefficients to nine digits."""
    difference = sympy.expand(sympy.expand_trig(sympy.sympify(found) - expected))
    return all(abs(c) < 1e-9 for c in difference.as_coefficients_dict().values())


def harmonic_mass(equations) -> sympy.Matrix:
    """M in harmonic form, however long it takes."""
    harmonics = Harmonics(equations.tape, float('inf'))
    return sympy.Matrix(equations.n, equations.n, [
        harmonics.expression(line) for line in equations.on_tape[0].ravel()])


def test_rigid_two_links_are_those_of_the_textbook():
    """Spong and Vidyasagar's arm, which Lin and Lewis compare with, term by term."""
    equations = derive(rigid_two_links())
    simple = equations.simplify(60.0)
    (q1, q2), (v1, v2) = equations.q, equations.v
    cosine, sine = sympy.cos(q2), sympy.sin(q2)
    coupled = M2 * L1 * C2
    M12 = M2 * C2**2 + coupled * cosine + I2
    M11 = M1 * C1**2 + M2 * L1**2 + M2 * C2**2 + 2 * coupled * cosine + I1 + I2
    g2 = M2 * C2 * 9.81 * sympy.cos(q1 + q2)
    expected = {'M': [[M11, M12], [M12, M2 * C2**2 + I2]],
                'C': [[-coupled * sine * v2, -coupled * sine * (v1 + v2)], [coupled * sine * v1,
                                                                            0]],
                'g': [[(M1 * C1 + M2 * L1) * 9.81 * sympy.cos(q1) + g2], [g2]]}
    for name, rows in expected.items():
        matrix = getattr(simple, name)
        for i, row in enumerate(rows):
            for j, element in enumerate(row):
                assert same(matrix[i, j], element), (name, i, j, matrix[i, j])
    assert simple.total == 10
    rate = simple.M.diff(q1) * v1 + simple.M.diff(q2) * v2
    skew = rate - 2 * simple.C
    assert all(same(element, 0) for element in skew + skew.T)


def test_constants_of_the_appendix():
    """M11 of the rigid-flexible-rigid arm: 2 phi(L) = 1.09958 and 2 int phi = 0.413302."""
    equations = derived('lin_lewis_rfr', 'lagrange')
    q4 = equations.q[3]
    form = harmonic_mass(equations)[0, 0]
    found = -form.coeff(q4 * sympy.sin(equations.q[1]))
    links = {link.name: link for link in equations.model.robot.links}
    beam = links['link2'].flexible
    x = np.array([beam.length])
    density = float(beam.properties(x).mass_per_length[0])
    outboard = links['link3'].inertia.mass + links['payload'].inertia.mass
    assert 2.0 * beam.bend_y(x)[0, 0] == pytest.approx(1.099579496415663, rel=1e-12)
    expected = (1.099579496415663 * outboard + 0.413302 * density * beam.length) * 0.6
    assert float(found) == pytest.approx(expected, rel=1e-6)


def test_theorem_1_word_by_word():
    """(17) of the kinetic energy, then (25) M = dQ/da and (26) D = dQ/dv / 2, by sympy."""
    equations = derived('lin_lewis_rfr', 'lagrange')
    q, v = equations.q, equations.v
    a = sympy.symbols('a1:5', real=True)
    speeds = sympy.Matrix(v)
    kinetic = (speeds.T * harmonic_mass(equations) * speeds)[0, 0] / 2
    momentum = [kinetic.diff(speed) for speed in v]
    force = [sum(p.diff(q[k]) * v[k] + p.diff(v[k]) * a[k] for k in range(4)) - kinetic.diff(q[i])
             for i, p in enumerate(momentum)]
    function = equations.function()
    for state, rate in states(equations, 1):
        M, C, _ = function(state, rate)
        values = {**dict(zip(q, state)), **dict(zip(v, rate))}
        for i in range(4):
            for j in range(4):
                assert float(force[i].diff(a[j]).subs(values)) == pytest.approx(M[i, j], abs=1e-9)
                assert float(force[i].diff(v[j]).subs(values).subs(dict.fromkeys(a, 0))
                             ) / 2 == pytest.approx(C[i, j], abs=1e-9)


def test_elastic_joint_of_mladenova():
    """(300) with the gravity term of section 7.5: I qdd + M g L sin q + K (q - qm) = 0."""
    equations = derived('mladenova_arm', 'elastic_joint')
    simple = equations.simplify(60.0)
    assert same(simple.M[0, 0], 1.0 / 3.0) and same(simple.M[1, 1], 0.02)
    assert same(simple.g[0], 4.905 * sympy.sin(equations.q[0])) and simple.g[1] == 0
    assert equations.K.tolist() == [[50, -50], [-50, 50]]
    assert equations.B.tolist() == [[0], [1]]


@pytest.mark.parametrize('name, method', [('lin_lewis_rfr', 'lagrange'),
                                          ('lin_lewis_rfr', 'dual_screw')])
def test_sympy_s_expressions_are_the_function_s(name, method):
    equations = derived(name, method)
    function = equations.function()
    for q, v in states(equations, 1):
        M, C, g = function(q, v)
        for i, j in ((0, 0), (1, 2), (3, 3)):
            assert value(equations.M[i, j], equations, q, v) == pytest.approx(M[i, j], abs=1e-12)
            assert value(equations.C[i, j], equations, q, v) == pytest.approx(C[i, j], abs=1e-12)
        assert value(equations.g[1], equations, q, v) == pytest.approx(g[1], abs=1e-12)


def test_simplification_keeps_values_and_its_budget():
    equations = derived('lin_lewis_rfr', 'lagrange')
    start = time.process_time()
    simple = equations.simplify(3.0)           # to the end it takes ten times as long
    assert time.process_time() - start < 15.0
    assert simple.total == 36 and 0 < simple.done <= 36
    function = equations.function()
    for q, v in states(equations, 1):
        M, C, _ = function(q, v)
        for i in range(4):
            for j in range(4):
                assert value(simple.M[i, j], equations, q, v) == pytest.approx(M[i, j], abs=1e-10)
            assert value(simple.C[i, i], equations, q, v) == pytest.approx(C[i, i], abs=1e-10)
    assert sum(x.count_ops() for x in simple.M) < 0.3 * sum(x.count_ops() for x in equations.M)
    untouched = equations.simplify(0.0)
    assert untouched.M.doit() == equations.M.doit() and untouched.done < 36
    with pytest.raises(DynamicsError, match='budget'):
        equations.simplify(float('nan'))


@pytest.mark.parametrize('budget', [0.0, 2.0])
def test_the_budget_holds_for_sixteen_coordinates(budget):
    """Processor time, which a busy machine does not stretch; to the end it takes a minute."""
    equations = derived('cibicik_arm_paper', 'dual_screw')
    start = time.process_time()
    simple = equations.simplify(budget)
    spent = time.process_time() - start
    assert spent < budget + 1.5
    assert simple.total == 528 and simple.done < 528
    # The budget is wall time, of which a busy machine gives this process a part only.
    assert simple.done > 25 * min(spent, budget) if budget else simple.done < 20
    (q, v), = states(equations, 1)
    M, C, g = equations.function()(q, v)
    names = dict(zip((*equations.q, *equations.v), (*q, *v)))
    for found, expected in ((simple.M[0, 0], M[0, 0]), (simple.M[3, 9], M[3, 9]),
                            (simple.C[15, 2], C[15, 2]), (simple.g[7], g[7])):
        assert float(found.xreplace(names)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_calculation_that_never_ends_is_ended():
    def forever():
        while True:
            try:
                time.sleep(0.001)
            except Exception:                      # as sympy does in places
                continue

    start = time.monotonic()
    assert within(0.3, forever) is None
    assert time.monotonic() - start < 20.0     # and not for ever, however busy the machine
    assert within(1.0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        within(1.0, lambda: 1 / 0)


def test_harmonic_form_is_canonical():
    tape = Tape()
    a, b = tape.symbol('q1'), tape.symbol('q2')
    sin, cos = tape.sin, tape.cos
    harmonics = Harmonics(tape, time.monotonic() + 10.0)
    q1, q2 = sympy.symbols('q1 q2', real=True)
    assert harmonics.expression(sin(a) * sin(a) + cos(a) * cos(a)) == 1
    assert harmonics.expression(cos(a) * cos(b) - sin(a) * sin(b)) == sympy.cos(q1 + q2)
    assert harmonics.expression(sin(a) * cos(b) - cos(a) * sin(b)) == sympy.sin(q1 - q2)
    assert harmonics.expression(sin(b - a) + sin(a - b)) == 0
    assert harmonics.expression(a * sin(a * b)) == q1 * sympy.sin(q1 * q2)
    assert harmonics.expression(tape.stumpff(1, a * a) * b) == q2 * stumpff(1, q1**2)
    assert Harmonics(tape, 0.0).expression(a * b) is None


def test_tape_folds_shares_and_differentiates():
    tape = Tape(longest=60)
    a, b = tape.symbol('q1'), tape.symbol('q2')
    assert (a * b) is (b * a) and (a + b) is (b + a) and a - a == 0.0 and 0.0 * a == 0.0
    assert 1.0 * a is a and a + 0.0 is a and -(a - b) is b - a and (2.0 * (3.0 * a)).a == 6.0
    f = tape.sin(a * b) * tape.stumpff(2, a * a + b) - 3.0 * tape.cos(b) * a

    def at(x, y):
        plain = {'+': lambda p, q: p + q, '-': lambda p, q: p - q, '*': lambda p, q: p * q,
                 'sin': np.sin, 'cos': np.cos, 'stumpff': numeric_stumpff}
        return tape.read([f, tape.derivative(f, a), tape.derivative(f, b)],
                         {'q1': x, 'q2': y}.__getitem__, float, plain)

    h = 1e-5
    _, by_a, by_b = at(0.7, 0.4)
    assert by_a == pytest.approx((at(0.7 + h, 0.4)[0] - at(0.7 - h, 0.4)[0]) / (2 * h), abs=1e-9)
    assert by_b == pytest.approx((at(0.7, 0.4 + h)[0] - at(0.7, 0.4 - h)[0]) / (2 * h), abs=1e-9)
    with pytest.raises(TooLong):
        for k in range(100):
            a = a * a + float(k + 2)


@pytest.mark.parametrize('s', [0.0, 1e-12, 0.3, 0.9999, 1.0001, 2.5, 9.0])
def test_stumpff_functions_are_their_series(s):
    for order in range(7):
        series = sum((-s)**j / float(sympy.factorial(2 * j + order)) for j in range(30))
        assert numeric_stumpff(order, s) == pytest.approx(series, rel=1e-13, abs=1e-15)
    assert numeric_stumpff(1, np.array([s, s]))[1] == numeric_stumpff(1, s)
    x = sympy.Symbol('x')
    slope = stumpff(2, x).diff(x).subs(x, s).evalf()
    h = 1e-5
    if s > h:
        assert float(slope) == pytest.approx(
            (numeric_stumpff(2, s + h) - numeric_stumpff(2, s - h)) / (2 * h), abs=1e-9)
