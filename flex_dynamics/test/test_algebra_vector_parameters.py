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
"""Vector-parameters: a group, the same one as SO(3), with the paper's closed forms."""
from __future__ import annotations

import numpy as np
import pytest
from algebra_strategies import ANGLE, VECTOR, quick
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from flex_description.math import skew, unskew
from flex_dynamics import DynamicsError
from flex_dynamics.papers import vector_parameters as vp


def turn(c) -> np.ndarray:
    """O(c) by the series of the exponential."""
    size = np.linalg.norm(c)
    return expm(skew(c) * (2.0 * np.arctan(size) / size)) if size > 0.0 else np.eye(3)


def composable(*parameters) -> bool:
    """No product on the way, in either grouping, near a half-turn."""
    a, b, *rest = parameters
    return all(abs(1.0 - x @ y) > 1e-3 for x, y in [
        (a, b), *((b, c) for c in rest),
        *((vp.compose(a, b), c) for c in rest if abs(1.0 - a @ b) > 1e-3),
        *((a, vp.compose(b, c)) for c in rest if abs(1.0 - b @ c) > 1e-3)])


@quick
@given(VECTOR)
def test_rotation_is_cayley_s_and_the_exponential_s(c):
    R = vp.rotation(c)
    cayley = (np.eye(3) + skew(c)) @ np.linalg.inv(np.eye(3) - skew(c))
    assert pytest.approx(turn(c), abs=1e-12) == R
    assert pytest.approx(cayley, abs=1e-12) == R
    assert vp.from_rotation(R) == pytest.approx(c, abs=1e-11)
    assert 2.0 * unskew(R) / (1.0 + np.trace(R)) == pytest.approx(c, abs=1e-10)     # (66)
    assert vp.rotation(-c) == pytest.approx(R.T, abs=1e-15)


@quick
@given(VECTOR, VECTOR, VECTOR)
def test_composition_is_a_group(a, b, c):
    assert vp.compose(a, np.zeros(3)) == pytest.approx(a)
    assert vp.compose(a, -a) == pytest.approx(np.zeros(3), abs=1e-15)
    if composable(a, b, c):
        left, right = vp.compose(vp.compose(a, b), c), vp.compose(a, vp.compose(b, c))
        assert left == pytest.approx(right, rel=1e-7, abs=1e-8)
        assert vp.rotation(vp.compose(a, b)) == pytest.approx(
            vp.rotation(a) @ vp.rotation(b), abs=1e-11)


@quick
@given(VECTOR, VECTOR)
def test_conjugation_turns_the_parameter(a, b):
    conjugate = vp.rotation(a) @ vp.rotation(b) @ vp.rotation(-a)
    assert vp.rotation(vp.rotation(a) @ b) == pytest.approx(conjugate, abs=1e-13)


@quick
@given(VECTOR, VECTOR, VECTOR)
def test_second_chart_is_a_group_through_half_turns(a, b, c):
    d = [vp.second_chart(x) for x in (a, b, c)]
    assert vp.rotation_second(d[0]) == pytest.approx(vp.rotation(a), abs=1e-13)
    assert vp.first_chart(d[0]) == pytest.approx(a, abs=1e-9)
    product = vp.rotation(a) @ vp.rotation(b) @ vp.rotation(c)
    assert vp.rotation_second(vp.compose_second(*d)) == pytest.approx(product, abs=1e-12)
    assert vp.rotation_second(vp.second_from_rotation(product)) == pytest.approx(product,
                                                                                abs=1e-12)


@quick
@given(VECTOR)
def test_half_turns_are_in_the_second_chart_only(c):
    size = np.linalg.norm(c)
    axis = c / size if size > 0.1 else np.array([0.0, 0.0, 1.0])
    half = 2.0 * np.outer(axis, axis) - np.eye(3)
    assert vp.rotation_second(axis) == pytest.approx(half, abs=1e-7)
    d = vp.second_from_rotation(half)
    assert vp.rotation_second(d) == pytest.approx(half, abs=1e-7)
    # two quarter turns about one axis: c1 c2 = 1
    with pytest.raises(DynamicsError, match='half-turn'):
        vp.compose(axis, axis)
    quarter = vp.second_chart(axis)
    assert vp.rotation_second(vp.compose_second(quarter, quarter)) == pytest.approx(half, abs=1e-7)
    back = vp.compose_second(axis, axis)
    assert vp.rotation_second(back) == pytest.approx(np.eye(3), abs=1e-7)


@quick
@given(VECTOR, VECTOR, VECTOR)
def test_velocity_and_acceleration_are_the_derivatives_of_the_rotation(c, rate, second):
    def path(t):
        return c + t * rate + 0.5 * t * t * second

    h = 1e-3
    R = {k: vp.rotation(path(k * h)) for k in (-2, -1, 0, 1, 2)}
    derivative = (8.0 * (R[1] - R[-1]) - (R[2] - R[-2])) / (12.0 * h)
    omega = vp.angular_velocity(c, rate)
    assert unskew(derivative @ R[0].T) == pytest.approx(omega, abs=1e-7)
    near = {k: vp.angular_velocity(path(k * h), rate + k * h * second) for k in (-2, -1, 1, 2)}
    expected = (8.0 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12.0 * h)
    acceleration = vp.angular_acceleration(c, rate, second)
    assert acceleration == pytest.approx(expected, abs=1e-6)
    assert vp.parameter_rate(c, omega) == pytest.approx(rate, abs=1e-12)
    assert vp.parameter_second_rate(c, rate, acceleration) == pytest.approx(second, abs=1e-10)
    R = vp.rotation(c)
    printed = (R.T + np.eye(3)) @ omega / (1.0 + np.trace(R))                        # (81)
    assert printed == pytest.approx(rate, abs=1e-10)


@quick
@given(VECTOR, VECTOR)
def test_rate_in_the_second_chart(c, omega):
    d, h = vp.second_chart(c), 1e-4
    paths = {k: vp.second_from_rotation(expm(skew(omega) * k * h) @ vp.rotation(c))
             for k in (-2, -1, 1, 2)}
    expected = (8.0 * (paths[1] - paths[-1]) - (paths[2] - paths[-2])) / (12.0 * h)
    assert vp.second_rate(d, omega) == pytest.approx(expected, abs=1e-8)


@quick
@given(ANGLE, ANGLE, ANGLE)
def test_conversions(first, second, third):
    euler = Rotation.from_euler('ZXZ', [first, second, third])
    bryant = Rotation.from_euler('ZYX', [third, second, first])
    for known, c in ((euler, vp.from_euler(first, second, third)),
                     (bryant, vp.from_bryant(first, second, third))):
        R = known.as_matrix()
        assert vp.rotation(c) == pytest.approx(R, abs=1e-11)
        assert vp.rotation(vp.from_euler(*vp.to_euler(c))) == pytest.approx(R, abs=1e-7)
        assert vp.rotation(vp.from_bryant(*vp.to_bryant(c))) == pytest.approx(R, abs=1e-7)
        q = vp.quaternion(c)
        assert Rotation.from_quat(q).as_matrix() == pytest.approx(R, abs=1e-11)
        assert vp.from_quaternion(-3.0 * q) == pytest.approx(c)
        vector = vp.to_rotation_vector(c)
        assert expm(skew(vector)) == pytest.approx(R, abs=1e-11)
        assert vp.from_rotation_vector(vector) == pytest.approx(c, rel=1e-9, abs=1e-12)


@quick
@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_bryant_angles_as_printed(first, second, third):
    x, y, z = np.tan(0.5 * np.array([first, second, third]))
    printed = np.array([x - y * z, y + x * z, z - x * y]) / (1.0 + x * y * z)        # (74)
    assert vp.from_bryant(first, second, third) == pytest.approx(printed, abs=1e-12)


@pytest.mark.parametrize('call', [
    lambda: vp.rotation([1.0, np.nan, 0.0]), lambda: vp.rotation([1.0, 2.0]),
    lambda: vp.from_rotation(np.diag([1.0, 1.0, -1.0])),
    lambda: vp.from_rotation(np.zeros((3, 3))),
    lambda: vp.rotation_second([1.0, 1.0, 0.0]), lambda: vp.from_quaternion(np.zeros(4)),
    lambda: vp.from_euler(0.0, np.pi, 0.0)])
def test_what_is_no_rotation_is_refused_in_a_sentence(call):
    with pytest.raises(DynamicsError, match='expected .* found'):
        call()
