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
"""The grammar of shape formulas: values, derivatives, refusals."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shape_beams import UniformBeam

from flex_description.shapes import ShapeError, build_shapes
from flex_description.shapes.expression import Expressions, parse


@st.composite
def formulas(draw, depth=3):
    """A formula's text and the same as Python, for the test's own evaluation."""
    if depth == 0 or draw(st.booleans()):
        text = draw(st.sampled_from(['x', 'L', 'pi', '2', '0.5', '1.5e0', '.25']))
        return text, text.replace('pi', repr(math.pi))
    left, right = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    kind = draw(st.sampled_from(['+', '-', '*', '/', '^', 'sin', 'cosh', 'sqrt', 'neg']))
    if kind in '+-*':
        return f'({left[0]} {kind} {right[0]})', f'({left[1]} {kind} {right[1]})'
    if kind == '/':
        return f'{left[0]}/(2+sin({right[0]}))', f'{left[1]}/(2+math.sin({right[1]}))'
    if kind == '^':
        return f'({left[0]})^2', f'({left[1]})**2'
    if kind == 'sqrt':
        return f'sqrt(1+({left[0]})^2)', f'math.sqrt(1+({left[1]})**2)'
    if kind == 'neg':
        return f'-({left[0]})', f'-({left[1]})'
    return f'{kind}(sin({left[0]}))', f'math.{kind}(math.sin({left[1]}))'


@given(formulas(), st.floats(0.1, 1.9))
def test_values_and_derivatives(formula, x):
    text, python = formula
    function = compile(python, 'formula', 'eval')

    def value(at):
        return float(eval(function, {'math': math, 'x': at, 'L': 2.0}))  # the test's own text

    jet = [float(part[0]) for part in parse(text)(np.array([x]), 2.0)]
    step = 1e-4
    low, middle, high = value(x - step), value(x), value(x + step)
    size = 1.0 + abs(low) + abs(high)
    assert jet[0] == pytest.approx(middle, rel=1e-12, abs=1e-12)
    assert jet[1] == pytest.approx((high - low) / (2 * step), rel=1e-3, abs=1e-3 * size)
    assert jet[2] == pytest.approx((high - 2 * middle + low) / step**2, rel=1e-2, abs=1e-2 * size)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused_in_one_line(text):
    try:
        Expressions(1.0, text, 2)
    except ShapeError as error:
        assert len(str(error).splitlines()) <= 1 or len(text.splitlines()) > 1


@pytest.mark.parametrize(('text', 'value'), [
    ('2^3^2', 512.0), ('-2^2', -4.0), ('2^-1', 0.5), ('6/3/2', 1.0), ('1-2-3', -4.0),
    ('2*-3', -6.0), ('exp(1)', math.e), ('2 + 3 * 4', 14.0), ('x^0', 1.0), ('2^x', 8.0)])
def test_precedence(text, value):
    assert parse(text)(np.array([3.0]), 1.0)[0][0] == pytest.approx(value)


@pytest.mark.parametrize(('text', 'words'), [
    ('x^2 +', 'column 6, found the end'), ('x**2', "column 3, found '*'"),
    ('__import__("os")', "column 1, found '__import__'"), ('sin x', "'(' after sin"),
    ('tan(x)', "found 'tan'"), ('(x^2', "expected ')'"), ('x^2)', "found ')'"),
    ('x^2 y', "found 'y'"), ('x.real', "found '.'"), ('(' * 100 + 'x', 'nested deeper'),
    ('x+' * 400 + 'x', 'at most 500 characters'), ('1/x', 'not finite at x = 0'),
    ('sqrt(x)', 'not finite'), ('1e400*x^2', 'not finite'), ('x', 'slope 0 at x = 0'),
    ('L', 'value 0 at x = 0')])
def test_refusals(text, words):
    with pytest.raises(ShapeError) as error:
        Expressions(2.0, text, 2)
    assert words in str(error.value) and '\n' not in str(error.value)


def test_from_build():
    options = {'expression_y': 'x^2; x^3/L', 'expression_twist': 'sin(pi*x/(2*L))'}
    bend, none, twist = build_shapes('expression', (2, 0, 1), UniformBeam(), options=options)
    x = np.array([0.0, 0.5, 2.0])
    assert bend(x, 1) == pytest.approx(np.array([2.0 * x, 1.5 * x**2]))
    assert twist(x)[0] == pytest.approx(np.sin(np.pi * x / 4.0))
    assert none.count == 0
    with pytest.raises(ShapeError, match='expression_y: expected 3 formulas'):
        build_shapes('expression', (3, 0, 1), UniformBeam(), options=options)


@pytest.mark.parametrize(('text', 'x'), [
    ('x^2/(x-0.123456)', 0.123456), ('x^2/(x-0.123456)^2', 0.123456),
    ('x^2*(0.777-x)^-2', 0.777), ('x^2/sin(3*x+0.5)', (math.pi - 0.5) / 3.0),
    ('x^2/(cos(7*x)+1)', math.pi / 7.0),
    ('x^2/sqrt((x-0.5037)^2)', 0.5037), ('x^2*((x-0.5037)^2)^0.5', 0.5037),
    ('x^2/(1-cosh(x-1.0037))', 1.0037)])
def test_poles_between_the_stations_are_found(text, x):
    """None of them at a multiple of 0.02 m, where the values are looked at first."""
    with pytest.raises(ShapeError) as error:
        Expressions(2.0, text, 2)
    found = float(str(error.value).split('near x = ')[1].removesuffix(' m'))
    assert found == pytest.approx(x, abs=1e-5)


@pytest.mark.parametrize('text', [
    'x^2/(2+sin(x))', 'x^2/(x^2-2*x+3)', 'x^2*(L-x)^2.5', 'x^2*2^x', 'x^2/(x^4-x^2+0.25001)',
    'cosh(1.875*x/L)-cos(1.875*x/L)-0.7341*(sinh(1.875*x/L)-sin(1.875*x/L))', 'x^2/cosh(5*x-3)',
    'x^2*exp(-(x-1)^2)', 'x^2*sqrt(1+x^2)', 'x^2/(3+cos(50*x))', 'x^2*(1+x)^-1.5'])
def test_formulas_without_poles_pass(text):
    assert Expressions(2.0, text, 2).count == 1


@given(formulas(), st.floats(0.0, 1.9), st.floats(0.0, 0.1))
def test_bounds_hold_the_values(formula, low, width):
    tree = parse(formula[0])
    x = np.linspace(low, low + width, 20)
    with np.errstate(all='ignore'):
        least, most = tree.bounds(np.array([low]), np.array([low + width]), 2.0)
        values = tree(x, 2.0)[0]
    slack = 1e-9 * (1.0 + np.max(np.abs(values)))
    assert np.isnan(least[0]) or np.all((values >= least - slack) & (values <= most + slack))
