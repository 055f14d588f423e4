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
"""Shaped motions that take over from each other: no jump, no vibration, within the limits."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lsim

from flex_control import MinimumJerk, Splines
from flex_control.shaping import SHAPERS, Impulses, Shaped, ShapedMotion, Shaper
from flex_control.shaping.delays import ConstantDelays, played_out
from flex_description import load_robot
from flex_dynamics import Model

SLOW, FAST = 2.0 * np.pi * 6.0, 2.0 * np.pi * 9.0      # rad/s
RATIO = 0.01


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def constant(name, *frequencies):
    total = Impulses(np.ones(1), np.zeros(1))
    for frequency in frequencies:
        total = total.convolved(Impulses.of(name, frequency, RATIO))
    return ConstantDelays(total)


def turn(old, at, last, duration=1.0):
    """From where a motion is to `last`, at rest."""
    now, none = old.sample(at), np.zeros_like(last)
    return Splines([at, at + duration], [now.position, last], [now.velocity, none],
                   [now.acceleration, none])


def vibration(motion, frequency, begin=0.0):
    """Amplitude that a mode keeps after the motion of its clamp, by that of the clamp's jerk."""
    times = np.arange(begin, motion.end + 0.5, 2e-4)
    acceleration = motion.samples(times)[2, :, 0]
    a = np.array([[0.0, 1.0], [-frequency**2, -2.0 * RATIO * frequency]])
    _, _, state = lsim((a, [[0.0], [-1.0]], np.eye(2), np.zeros((2, 1))), acceleration,
                       times - begin)
    after = state[times >= motion.end + 1e-3]
    return float(np.hypot(after[:, 0], after[:, 1] / frequency).max())


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(SHAPERS)), st.floats(3.0, 80.0), st.floats(3.0, 80.0),
       st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=6))
def test_constant_delays_are_convex(name, one, two, places):
    """Position, speed and acceleration of the shaped motion stay within those of the motion, as
    heights are positive and sum to 1; so a motion within its limits stays within them."""
    delays = constant(name, one, two)
    assert (delays.heights > 0.0).all() and delays.heights.sum() == pytest.approx(1.0)
    times = np.arange(len(places)) * 0.5
    rates = np.gradient(places)[:, None]
    rates[[0, -1]] = 0.0
    x = Splines(times, np.array(places)[:, None], rates, 0.0 * rates)
    y = ShapedMotion(x, delays)
    grid = np.linspace(-0.1, y.end + 0.1, 700)
    values = y.samples(grid)
    for order in range(3):
        low, high = x.extremes(order)
        assert (values[order] >= min(low[0], 0.0 if order else low[0]) - 1e-9).all()
        assert (values[order] <= max(high[0], 0.0 if order else high[0]) + 1e-9).all()


def test_samples_are_those_of_the_motion_one_by_one(arm):
    x = MinimumJerk([0.0, 0.5, 2.1, 0.5], [0.3, 1.0, 1.0, 1.0], 0.6, start=0.5)
    plan = Shaped(x, Shaper(arm, 'zvd', 2))
    motion = ShapedMotion(x, plan.delays())
    assert motion.end == pytest.approx(plan.end, abs=0.01)     # which is interpolated
    times = np.linspace(0.4, plan.end - 0.01, 60)
    for order, rows in enumerate(motion.samples(times)):
        wanted = [plan.sample(time).derivative(order) for time in times]
        np.testing.assert_allclose(rows, wanted, atol=1e-6 * 10.0**order)


@pytest.mark.parametrize('before, after', [('zvd', 'zvd'), ('zv', 'zvdd'), ('ei', 'zv')])
@pytest.mark.parametrize('at, duration', [(0.35, 0.8), (0.6, 3.0), (0.9, 0.8)])
def test_a_takeover_has_no_jump_and_leaves_no_vibration(before, after, at, duration):
    """Also if the new motion is shaped for another frequency, in another way."""
    old = ShapedMotion(MinimumJerk([0.0, 1.0], [1.0, 0.0], duration),
                       constant(before, SLOW, 3 * SLOW))
    rest = np.array([-0.5, 0.3])
    kept = old.interrupted(at, at - 0.1)
    new = ShapedMotion(turn(old, at, rest), constant(after, SLOW, FAST), kept)
    early = np.linspace(at - 0.1, at, 30)
    np.testing.assert_allclose(new.samples(early)[0], old.samples(early)[0], atol=1e-7)
    np.testing.assert_allclose(new.samples(early)[1], old.samples(early)[1], atol=1e-4)
    times = np.linspace(at - 0.1, new.end, 20_000)
    position, velocity, acceleration = new.samples(times)
    step = times[1] - times[0]
    assert np.abs(np.diff(position, axis=0)).max() < 1.1 * step * np.abs(velocity).max()
    assert np.abs(np.diff(velocity, axis=0)).max() < 1.1 * step * np.abs(acceleration).max()
    np.testing.assert_allclose(new.sample(new.end).position, rest, atol=1e-9)
    # As the whole is a sum, it can be looked at from the first motion's beginning on.
    whole = Joined(old, new, at)
    plain = constant('zv')                                    # no mode: one impulse
    without = ShapedMotion(old.trajectory, plain)
    without = Joined(without, ShapedMotion(turn(without, at, rest), plain), at)
    left, unshaped = vibration(whole, SLOW), vibration(without, SLOW)
    # EI leaves 5 % of each part by itself.
    assert left < (0.2 if 'ei' in (before, after) else 0.01) * unshaped


class Joined:
    def __init__(self, first, second, at):
        self._first, self._second, self._at, self.end = first, second, at, second.end

    def samples(self, times):
        return np.where((times < self._at)[None, :, None], self._first.samples(times),
                        self._second.samples(times))


def test_many_takeovers_are_continuous_and_come_to_rest():
    rng = np.random.default_rng(4)
    motion = ShapedMotion(MinimumJerk([0.0], [1.0], 2.0), constant('zvd', SLOW))
    for at in 0.1 + 0.1 * np.arange(60):
        goal = rng.uniform(-1.0, 1.0, 1)
        kept = motion.interrupted(at, at - 0.05)
        before, motion = motion, ShapedMotion(
            turn(motion, at, goal, 2.0), constant('zvd', rng.uniform(SLOW, FAST)), kept)
        for order, size in ((0, 1e-6), (1, 1e-3)):
            np.testing.assert_allclose(motion.sample(at).derivative(order),
                                       before.sample(at).derivative(order), atol=size)
    np.testing.assert_allclose(motion.sample(motion.end).position, goal, atol=1e-9)
    np.testing.assert_allclose(motion.sample(motion.end).velocity, 0.0, atol=1e-9)


def test_everything_is_played_at_the_end(arm):
    x = MinimumJerk([0.0, 0.5, 2.1, 0.5], [0.3, 1.0, 1.0, 1.0], 0.6)
    for delays in (constant('zvd', SLOW), Shaped(x, Shaper(arm, 'ei', 2)).delays()):
        for time in (0.6, 2.0, 30.0):
            end = played_out(delays, time)
            assert end > time
            assert delays.origins(np.array([end]))[0].min() == pytest.approx(time, abs=1e-6)
