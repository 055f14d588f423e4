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
"""Rotation through given orientations: knots met, twice differentiable, the paper's recursion."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flex_control import ControlError
from flex_control.trajectories import OrientationSpline
from flex_dynamics.papers import vector_parameters

TIMES = np.array([0.0, 0.7, 1.5, 2.0, 3.1])


@pytest.fixture(scope='module')
def knots():
    rng = np.random.default_rng(3)
    turns = [Rotation.identity()]
    for _ in TIMES[1:]:
        turns.append(turns[-1] * Rotation.from_rotvec(rng.normal(size=3) * 0.6))
    return np.array([turn.as_matrix() for turn in turns])


def spin(spline, time, step=1e-5):
    """Angular velocity in body axes by differences of rotations."""
    before, after = (spline.sample(time + s).rotation for s in (-step, step))
    return Rotation.from_matrix(before.T @ after).as_rotvec() / (2.0 * step)


def test_knots_are_met_and_ends_rest(knots):
    spline = OrientationSpline(TIMES, knots)
    for time, rotation in zip(TIMES, knots):
        assert np.allclose(spline.sample(time).rotation, rotation, atol=1e-12)
    assert np.abs(spline.sample(0.0).velocity).max() < 1e-12
    assert np.abs(spline.sample(TIMES[-1]).velocity).max() < 1e-9
    assert np.array_equal(spline.sample(99.0).rotation, knots[-1])


def test_velocity_and_acceleration_are_derivatives_and_continuous(knots):
    spline = OrientationSpline(TIMES, knots, [0.1, 0.2, -0.3], [0.0, 0.4, 0.0])
    for time in (0.3, 1.1, 1.9, 2.7):
        now = spline.sample(time)
        assert np.allclose(spin(spline, time), now.velocity, atol=1e-6)
        slope = (spline.sample(time + 1e-6).velocity - spline.sample(time - 1e-6).velocity) / 2e-6
        assert np.allclose(slope, now.acceleration, atol=1e-6)
    for knot in TIMES[1:-1]:
        before, after = spline.sample(knot - 1e-9), spline.sample(knot + 1e-9)
        assert np.allclose(before.velocity, after.velocity, atol=1e-6)
        assert np.allclose(before.acceleration, after.acceleration, atol=1e-5)
    assert np.allclose(spline.sample(0.0).velocity, [0.1, 0.2, -0.3])


def test_a_thousand_orientations_are_joined_smoothly():
    rng = np.random.default_rng(5)
    times = np.cumsum(0.3 + rng.random(1000))
    turns = Rotation.from_rotvec(0.3 * rng.normal(size=(1000, 3)))
    rotations = [np.eye(3)]
    for turn in turns[1:]:
        rotations.append(rotations[-1] @ turn.as_matrix())
    spline = OrientationSpline(times, rotations)
    for at in (1, 400, 998):
        before, after = spline.sample(times[at] - 1e-9), spline.sample(times[at] + 1e-9)
        assert np.allclose(before.acceleration, after.acceleration, atol=1e-5)
        assert np.allclose(spline.sample(times[at]).rotation, rotations[at], atol=1e-9)


def test_it_is_the_recursion_of_the_paper(knots):
    """9.2.3, corrected and for any knots, started with this motion's first acceleration."""
    spline = OrientationSpline(TIMES, knots)
    spans = np.diff(TIMES)
    turns = [vector_parameters.from_rotation(a.T @ b) for a, b in zip(knots, knots[1:])]
    z = np.zeros(3)
    y = spline.sample(0.0).acceleration * spans[0]**2 / 4.0
    x = turns[0] - z - y
    for k in range(len(spans)):
        if k:
            w, ratio = turns[k - 1], spans[k] / spans[k - 1]
            v, u = ratio * (3 * x + 2 * y + z), ratio**2 * (6 * x + 2 * y)
            scale = 1.0 + w @ w
            z = (v - np.cross(w, v)) / scale
            y = (u - np.cross(w, u) - 2.0 * (w @ v) * z) / (2.0 * scale)
            x = turns[k] - z - y
        c = x / 8.0 + y / 4.0 + z / 2.0
        assert np.allclose(spline.sample(TIMES[k] + 0.5 * spans[k]).rotation,
                           knots[k] @ vector_parameters.rotation(c), atol=1e-7)


def test_the_path_does_not_depend_on_the_axes(knots):
    world = Rotation.from_rotvec([0.4, -1.0, 0.3]).as_matrix()
    body = Rotation.from_rotvec([-0.2, 0.5, 1.2]).as_matrix()
    one = OrientationSpline(TIMES, knots)
    other = OrientationSpline(TIMES, [world @ knot @ body for knot in knots])
    for time in (0.4, 1.7, 2.9):
        assert np.allclose(other.sample(time).rotation, world @ one.sample(time).rotation @ body,
                           atol=1e-8)


@pytest.mark.parametrize('times, rotations, words', [
    ([0.0, 1.0], [np.eye(3), np.diag([1.0, -1.0, -1.0])], 'half a turn apart'),
    ([0.0, 1.0], [np.eye(3), 2.0 * np.eye(3)], 'orientation 1: expected a rotation matrix'),
    ([0.0, 0.0], [np.eye(3), np.eye(3)], 'expected times that rise'),
    ([0.0], [np.eye(3)], 'at least two times'),
    ([0.0, np.nan], [np.eye(3), np.eye(3)], 'expected finite numbers'),
])
def test_bad_orientations_are_refused(times, rotations, words):
    with pytest.raises(ControlError, match=words):
        OrientationSpline(times, rotations)
