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
"""Rotations, quaternions, quadrature and inertia: identities, and scipy as a witness."""
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from flex_description.math import (
    exponential,
    gauss_legendre,
    gauss_stations,
    inertia_tensor,
    is_possible,
    logarithm,
    parallel_axes,
    pose,
    principal_moments,
    quaternion_from_rotation,
    quaternion_product,
    rotated_tensor,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_with_x_along,
    rpy_from_rotation,
    skew,
    unskew,
    without_negative_moments,
)

RNG = np.random.default_rng(20)
ROTATIONS = Rotation.random(40, random_state=7).as_matrix()
HALF_TURNS = [np.diag(signs) for signs in ([1.0, -1.0, -1.0], [-1.0, 1.0, -1.0],
                                           [-1.0, -1.0, 1.0])]


@pytest.mark.parametrize('rpy', [*RNG.uniform(-1.5, 1.5, (10, 3)), np.zeros(3)])
def test_rpy_is_the_order_of_urdf(rpy):
    rotation = rotation_from_rpy(rpy)
    assert rotation == pytest.approx(Rotation.from_euler('xyz', rpy).as_matrix(), abs=1e-15)
    assert rpy_from_rotation(rotation) == pytest.approx(rpy, abs=1e-14)


@pytest.mark.parametrize('pitch', [0.5 * np.pi, -0.5 * np.pi])
def test_rpy_at_the_pole_gives_the_same_rotation(pitch):
    rotation = rotation_from_rpy([0.4, pitch, -0.9])
    found = rpy_from_rotation(rotation)
    assert found[2] == 0.0
    assert rotation_from_rpy(found) == pytest.approx(rotation, abs=1e-9)


def test_skew_is_the_cross_product_and_unskew_its_inverse():
    a, b = RNG.normal(size=(2, 5, 3))
    assert np.einsum('kij,kj->ki', skew(a), b) == pytest.approx(np.cross(a, b), abs=1e-15)
    assert unskew(skew(a)) == pytest.approx(a, abs=0.0)
    assert skew(a[0]).shape == (3, 3)
    assert unskew(skew(a[0]) + np.diag(b[0])) == pytest.approx(a[0], abs=0.0)


@pytest.mark.parametrize('angle', [0.0, 1e-200, 1e-9, 1e-4, 0.3, 1.0, 3.0, np.pi, 7.0])
def test_exponential(angle):
    theta = angle * np.array([2.0, -1.0, 2.0]) / 3.0
    rotation = exponential(theta)
    assert rotation == pytest.approx(Rotation.from_rotvec(theta).as_matrix(), abs=1e-15)
    if angle < 4.0:     # the series of expm loses a digit beyond
        assert rotation == pytest.approx(expm(skew(theta)), abs=3e-15)
    assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-15)


def test_exponential_of_many_vectors_is_that_of_each():
    theta = RNG.normal(size=(2, 4, 3))
    assert exponential(theta).shape == (2, 4, 3, 3)
    for i, j in np.ndindex(2, 4):
        assert np.array_equal(exponential(theta)[i, j], exponential(theta[i, j]))


@pytest.mark.parametrize('angle', [0.0, 1e-300, 1e-9, 1e-4, 0.3, 1.0, 3.0, np.pi - 1e-7])
def test_logarithm_is_the_inverse_of_the_exponential(angle):
    theta = angle * np.array([-2.0, 1.0, 2.0]) / 3.0
    assert logarithm(exponential(theta)) == pytest.approx(theta, rel=1e-8, abs=1e-15)


@pytest.mark.parametrize('rotation', HALF_TURNS)
def test_logarithm_of_a_half_turn_is_one_of_both(rotation):
    theta = logarithm(rotation)
    assert np.linalg.norm(theta) == pytest.approx(np.pi)
    assert exponential(theta) == pytest.approx(rotation, abs=1e-15)


@pytest.mark.parametrize('rotation', [*ROTATIONS, *HALF_TURNS, np.eye(3)])
def test_quaternions_are_those_of_scipy(rotation):
    found = quaternion_from_rotation(rotation)
    expected = Rotation.from_matrix(rotation).as_quat(canonical=True)
    assert found == pytest.approx(expected, abs=1e-15)
    assert found[3] >= 0.0
    assert rotation_from_quaternion(found) == pytest.approx(rotation, abs=1e-15)


def test_quaternion_product_is_the_product_of_the_rotations():
    for left, right in zip(ROTATIONS[:20], ROTATIONS[20:], strict=True):
        product = quaternion_product(quaternion_from_rotation(left),
                                     quaternion_from_rotation(right))
        assert rotation_from_quaternion(product) == pytest.approx(left @ right, abs=3e-15)


@pytest.mark.parametrize('direction', [[1.0, 2.0, 3.0], [0.0, 0.0, 2.0], [0.0, 0.0, -0.1],
                                       [-1.0, 0.0, 0.0]])
def test_x_axis_along_a_direction_with_y_level(direction):
    rotation = rotation_with_x_along(direction)
    assert rotation[:, 0] == pytest.approx(direction / np.linalg.norm(direction))
    assert rotation[2, 1] == 0.0
    assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_pose():
    place = pose(ROTATIONS[0], [1.0, 2.0, 3.0])
    inner = np.array([0.1, 0.2, 0.3, 1.0])
    assert (place @ inner)[:3] == pytest.approx(ROTATIONS[0] @ inner[:3] + [1.0, 2.0, 3.0])
    assert place[3] == pytest.approx([0.0, 0.0, 0.0, 1.0])


def test_gauss_stations_integrate_polynomials_of_degree_2n_minus_1():
    breakpoints = (0.0, 0.3, 1.0, 2.5)
    for counts in (4, [4, 5, 6], np.array([4, 5, 6])):
        x, weight = gauss_stations(breakpoints, counts)
        assert np.all(np.diff(x) > 0.0)
        for degree in range(8):
            assert weight @ x**degree == pytest.approx(2.5**(degree + 1) / (degree + 1))
        assert weight @ x**10 != pytest.approx(2.5**11 / 11, rel=1e-12)


def test_gauss_stations_are_the_same_to_the_bit_however_counts_are_given():
    breakpoints = np.cumsum([0.0, *RNG.uniform(0.1, 2.0, 7)])
    for one, each in zip(gauss_stations(breakpoints, 9), gauss_stations(breakpoints, [9] * 7),
                         strict=True):
        assert np.array_equal(one, each)


def test_gauss_stations_want_a_count_for_each_interval():
    with pytest.raises(ValueError, match='expected 2, one for each interval, found 3'):
        gauss_stations((0.0, 1.0, 2.0), [3, 3, 3])


def test_shared_gauss_rules_cannot_be_changed():
    nodes, weights = gauss_legendre(5)
    for shared in (nodes, weights):
        with pytest.raises(ValueError, match='read-only'):
            shared[0] = 0.0
    gauss_stations((0.0, 1.0), 5)[0][0] = 2.0       # one's own
    assert gauss_stations((0.0, 1.0), 5)[0][0] < 0.1


def test_parallel_axes_and_rotation_of_a_cloud_of_points():
    points, masses = RNG.normal(size=(30, 3)), RNG.uniform(0.1, 1.0, 30)

    def about(point, cloud):
        return sum(parallel_axes(mass, place - point) for mass, place in zip(masses, cloud))

    centre = masses @ points / masses.sum()
    at_centre = about(centre, points)
    far = np.array([1.0, -2.0, 0.5])
    assert at_centre + parallel_axes(masses.sum(), centre - far) == pytest.approx(
        about(far, points))
    R = ROTATIONS[3]
    assert rotated_tensor(at_centre, R) == pytest.approx(about(R @ centre, points @ R.T))
    moments = principal_moments(at_centre)
    assert np.all(np.diff(moments) >= 0.0)
    assert principal_moments(rotated_tensor(at_centre, R)) == pytest.approx(moments)
    assert is_possible(moments)


def test_inertia_tensor_keeps_the_signs_of_urdf():
    assert inertia_tensor(1.0, 2.0, 3.0, 4.0, 5.0, 6.0).tolist() == [
        [1.0, 4.0, 5.0], [4.0, 2.0, 6.0], [5.0, 6.0, 3.0]]


def test_moments_that_no_body_has():
    assert is_possible([1.0, 1.0, 2.0])
    assert is_possible([1.0, 1.0, 2.01])
    assert not is_possible([1.0, 1.0, 2.1])
    assert not is_possible([1.0, 1.0, 2.01], tolerance=0.0)


def test_moments_below_zero_are_cut_off():
    R = ROTATIONS[5]
    good, rounded = rotated_tensor(np.diag([1.0, 2.0, 2.5]), R), np.diag([-1e-12, 1.0, 1.0])
    assert np.array_equal(without_negative_moments(good), good)
    assert principal_moments(without_negative_moments(rotated_tensor(rounded, R))) == (
        pytest.approx([0.0, 1.0, 1.0], abs=1e-14))
