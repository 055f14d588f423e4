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
"""Trajectories: ends, continuity, derivatives that are those of the positions, refusals."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flex_control import ControlError, MinimumJerk, SetPoints, Splines

FIRST, LAST = [0.1, -1.0], [0.7, 2.0]


def derivatives_agree(trajectory, time, step=1e-5):
    before, at, after = (trajectory.sample(time + d) for d in (-step, 0.0, step))
    assert np.allclose((after.position - before.position) / (2 * step), at.velocity, atol=1e-6)
    assert np.allclose((after.velocity - before.velocity) / (2 * step), at.acceleration, atol=1e-5)


def test_set_points_hold_until_the_next_one():
    steps = SetPoints([0.0, 0.5, 3.0], [[0.0], [1.0], [2.0]])
    assert [steps.sample(t).position[0] for t in (-1.0, 0.0, 0.499, 0.5, 2.9, 3.0, 9.0)] == [
        0, 0, 0, 1, 1, 2, 2]
    assert steps.sample(0.5).velocity[0] == 0.0


@settings(deadline=None)
@given(st.floats(0.05, 1.95))
def test_minimum_jerk_is_smooth(s):
    derivatives_agree(MinimumJerk(FIRST, LAST, 2.0, start=1.0), 1.0 + s)


def test_minimum_jerk_rests_at_both_ends():
    motion = MinimumJerk(FIRST, LAST, 2.0, start=1.0)
    for time, place in ((0.0, FIRST), (1.0, FIRST), (3.0, LAST), (9.0, LAST)):
        sample = motion.sample(time)
        assert np.allclose(sample.position, place)
        assert np.allclose(sample.velocity, 0.0) and np.allclose(sample.acceleration, 0.0)


@pytest.mark.parametrize('degree', [1, 3, 5])
def test_splines_meet_their_points(degree):
    times = np.array([0.0, 0.7, 2.0])
    values = np.random.default_rng(3).normal(size=(3, 3, 2))
    motion = Splines(times, values[0], values[1] if degree > 1 else None,
                     values[2] if degree > 3 else None)
    for at, time in enumerate(times[:-1]):
        sample = motion.sample(time)
        assert np.allclose(sample.position, values[0, at])
        if degree > 1:
            assert np.allclose(sample.velocity, values[1, at])
        if degree > 3:
            assert np.allclose(sample.acceleration, values[2, at])
    before = motion.sample(2.0 - 1e-9)
    assert np.allclose(before.position, values[0, 2], atol=1e-7)
    assert np.allclose(motion.sample(5.0).velocity, 0.0)
    derivatives_agree(motion, 0.4)
    derivatives_agree(motion, 1.1)


@pytest.mark.parametrize('make, words', [
    (lambda: SetPoints([], []), 'times: expected at least one'),
    (lambda: SetPoints([0.0, 0.0], [[1.0], [2.0]]), 'times: expected to rise'),
    (lambda: SetPoints([0.0], [[np.nan]]), 'finite'),
    (lambda: SetPoints([0.0, 1.0], [[1.0]]), 'positions: expected 2 rows'),
    (lambda: MinimumJerk([0.0], [1.0, 2.0], 1.0), 'ends'),
    (lambda: MinimumJerk([0.0], [1.0], 0.0), 'duration: expected a positive time'),
    (lambda: MinimumJerk([0.0], [np.inf], 1.0), 'finite'),
    (lambda: Splines([0.0, 1.0], [[0.0], [1.0]], None, [[0.0], [0.0]]), 'without velocities'),
    (lambda: Splines([0.0, 1.0], [[0.0], [1.0]], [[0.0]]), 'velocities: expected'),
])
def test_bad_trajectories_are_refused(make, words):
    with pytest.raises(ControlError, match=words):
        make()
