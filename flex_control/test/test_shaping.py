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
"""Input shaping: what is left at the mode, its slope, EI's band; motions that stay motions."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flex_control import ControlError, MinimumJerk, Splines
from flex_control.shaping import SHAPERS, Impulses, Shaped, Shaper, ringing_modes
from flex_control.shaping.impulses import EI_VIBRATION, ei
from flex_control.trajectories import Prepared
from flex_description import load_robot
from flex_dynamics import Model

W = 10.0      # rad/s
ratios = st.floats(0.0, 0.3)


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


@settings(deadline=None)
@given(st.sampled_from(['zv', 'zvd', 'zvdd']), ratios)
def test_nothing_is_left_at_the_mode(name, ratio):
    shaper = Impulses.of(name, W, ratio)
    assert shaper.heights.sum() == pytest.approx(1.0) and (shaper.heights > 0.0).all()
    assert shaper.residual(W, ratio) == pytest.approx(0.0, abs=1e-13)


@settings(deadline=None)
@given(ratios)
def test_slope_and_curvature_over_frequency_vanish(ratio):
    """Ten times nearer to the mode, ZV leaves 10 times less, ZVD 100, ZVDD 1000 times less."""
    for order, name in enumerate(('zv', 'zvd', 'zvdd'), 1):
        shaper = Impulses.of(name, W, ratio)
        far, near = (shaper.residual(W * (1.0 + d), ratio) for d in (1e-2, 1e-3))
        assert far / near == pytest.approx(10.0**order, rel=0.05)


@settings(deadline=None)
@given(ratios)
def test_ei_leaves_its_share_at_the_mode_and_less_in_a_band_around(ratio):
    shaper = Impulses.of('ei', W, ratio)
    assert shaper.residual(W, ratio) == pytest.approx(EI_VIBRATION, rel=1e-9)
    band = [shaper.residual(W * (1.0 + d), ratio) for d in np.linspace(-0.12, 0.12, 25)]
    assert max(band) < 1.05 * EI_VIBRATION


def test_undamped_ei_is_the_published_one():
    v = EI_VIBRATION
    assert np.allclose(ei(0.0), [(1 + v) / 4, (1 - v) / 2, (1 + v) / 4])


@pytest.mark.parametrize('name, width', [('zv', 0.064), ('zvd', 0.286), ('ei', 0.398)])
def test_insensitivity_is_the_published_one(name, width):
    """Width of the band, by the frequency, where at most 5 % are left (Singhose 1994)."""
    shaper = Impulses.of(name, W, 0.0)
    grid = np.linspace(0.7, 1.3, 6001)
    inside = grid[[shaper.residual(W * r, 0.0) <= 0.05 * (1.0 + 1e-9) for r in grid]]
    assert np.ptp(inside) == pytest.approx(width, abs=2e-3)


def test_convolved_shapers_put_both_modes_to_rest():
    both = Impulses.of('zvd', 3.0, 0.02).convolved(Impulses.of('zv', 17.0, 0.05))
    assert both.residual(3.0, 0.02) < 1e-13 and both.residual(17.0, 0.05) < 1e-13
    assert both.heights.sum() == pytest.approx(1.0)
    assert (np.diff(both.delays) >= 0.0).all()


def test_modes_with_locked_joints_are_the_models(arm):
    q = np.zeros(arm.n)
    q[1:4] = 0.5
    frequencies, ratios = ringing_modes(arm, q, 5)
    assert np.allclose(frequencies, arm.frequencies(q, joints='locked')[0][:5], rtol=1e-9)
    assert (ratios == 0.0).all()


def test_modes_of_held_joints_are_poles_of_the_linear_model(link):
    q, tau = link.statics([0.3])
    frequencies, ratios = ringing_modes(link, q, 3, [5.0], [0.2])
    A, B = link.linearize(q, np.zeros(link.n), tau)
    A[:, 0] -= 5.0 * B[:, 0]
    A[:, link.n] -= 0.2 * B[:, 0]
    poles = np.linalg.eigvals(A)
    for frequency, ratio in zip(frequencies, ratios):
        pole = frequency * (-ratio + 1j * np.sqrt(1.0 - ratio**2))
        assert np.abs(poles - pole).min() < 2e-2 * frequency     # gravity is not in the modes


@pytest.mark.parametrize('name', SHAPERS)
def test_a_constant_frequency_gives_the_convolution(link, name):
    """One link: its modes do not depend on the joint."""
    shaper = Shaper(link, name, 2)
    x = MinimumJerk([0.1], [0.9], 0.7, start=1.0)
    y = Shaped(x, shaper)
    impulses = shaper.impulses_at([0.5])
    assert y.delay == pytest.approx(impulses.delays[-1], rel=1e-6)
    for time in np.linspace(0.9, y.end + 0.1, 37):
        wanted = sum(height * x.sample(time - delay).position
                     for height, delay in zip(impulses.heights, impulses.delays))
        assert np.allclose(y.sample(time).position, wanted, atol=1e-9)


def test_derivatives_are_those_of_the_position_while_the_frequency_changes(arm):
    first, last = np.array([0.0, 0.5, 2.1, 0.5]), np.array([0.3, 1.0, 1.0, 1.0])
    y = Shaped(MinimumJerk(first, last, 0.6, start=0.5), Shaper(arm, 'zvd', 2))
    step = 1e-5
    for time in np.linspace(0.55, y.end - 0.05, 15):
        before, at, after = (y.sample(time + d) for d in (-step, 0.0, step))
        for order in range(3):
            slope = (after.derivative(order) - before.derivative(order)) / (2.0 * step)
            size = 1.0 + np.abs(at.derivative(order + 1)).max()
            assert np.allclose(slope, at.derivative(order + 1), atol=2e-4 * size)


def test_shaped_motion_is_causal_within_range_and_arrives(arm):
    first, last = np.array([0.0, 0.5, 2.1, 0.5]), np.array([0.3, 1.0, 1.0, 1.0])
    x = MinimumJerk(first, last, 0.6, start=0.5)
    y = Shaped(x, Shaper(arm, 'ei', 1))
    assert np.array_equal(y.sample(0.5).position, first)
    assert np.allclose(y.sample(y.end).position, last) and not y.sample(y.end).velocity.any()
    assert np.allclose(y.sample(y.end - 1e-9).position, last, atol=1e-9)
    period = 2.0 * np.pi / y.shaper.modes_at(last)[0][0]
    assert 0.7 * period < y.delay <= 1.001 * period
    progress = [(y.sample(t).position[0] - first[0]) / 0.3 for t in np.linspace(0.5, y.end, 50)]
    assert min(np.diff(progress)) > -1e-12 and min(progress) >= 0.0 and max(progress) <= 1.0


def test_a_new_motion_takes_over_without_a_jump(arm):
    first, middle, last = np.array([[0.0, 0.5, 2.1, 0.5], [0.3, 1.0, 1.0, 1.0], [0.0] * 4])
    shaper = Shaper(arm, 'zvd')
    old = Shaped(MinimumJerk(first, middle, 1.0), shaper)
    at, none = 0.7, np.zeros(4)
    now = old.unshaped(at)
    turn = Splines([at, at + 1.0], [now.position, last], [now.velocity, none],
                   [now.acceleration, none])
    new = Shaped(turn, shaper, old)
    before, after = old.sample(at), new.sample(at + 1e-9)
    assert np.allclose(before.position, after.position, atol=2e-4)
    assert np.allclose(before.velocity, after.velocity, atol=5e-3)
    assert np.allclose(new.sample(new.end).position, last)
    assert np.allclose(new.unshaped(0.3).position, old.unshaped(0.3).position)


def test_a_rigid_robot_is_left_as_it_is():
    model = Model(load_robot('ur5'))
    x = MinimumJerk(np.zeros(6), np.ones(6), 1.0)
    y = Shaped(x, Shaper(model, 'zvd'))
    assert y.delay == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(y.sample(0.4).position, x.sample(0.4).position)


@pytest.mark.parametrize('make, words', [
    (lambda m: Shaper(m, 'zvx'), "shaper: expected one of zv, zvd, zvdd, ei, found 'zvx'"),
    (lambda m: Shaper(m, 'zv', 0), 'modes: expected 1 to 4'),
    (lambda m: Impulses.of('zv', 0.0, 0.1), 'frequency: expected a positive'),
    (lambda m: Impulses.of('zv', 3.0, 1.0), 'damping ratio: expected 0 to 1'),
    (lambda m: Impulses.of('zv', 3.0, float('nan')), 'damping ratio'),
])
def test_bad_shapers_are_refused(link, make, words):
    with pytest.raises(ControlError, match=words):
        make(link)


def test_a_motion_planned_in_pieces_is_the_same_and_the_one_before_goes_on(arm):
    here, there = np.array([0.0, 0.5, 2.0, 0.5]), np.array([0.5, 0.9, 1.4, 0.9])
    motion = MinimumJerk(here, there, 0.8, start=0.5)
    shaper = Shaper(arm, 'zvd', 2)
    before = MinimumJerk(here - 0.1, here, 0.5)
    coming = Prepared(before, Shaped.in_pieces(motion, shaper), 0.5)
    count = 0
    while coming.motion is None:
        assert coming.end == np.inf
        coming.work()
        count += 1
    assert 20 < count < 120
    whole = Shaped(motion, shaper)
    for time in (0.3, 0.49, 0.5, 0.9, 1.4, 3.0):
        wanted = (before if time < 0.5 else whole).sample(time)
        assert np.array_equal(coming.sample(time).position, wanted.position)
    assert coming.end == whole.end


def test_what_is_left_of_a_plan_at_its_start_is_done_at_once(arm):
    motion = MinimumJerk([0.0, 0.5, 2.0, 0.5], [0.5, 0.9, 1.4, 0.9], 0.8, start=0.5)
    coming = Prepared(motion, Shaped.in_pieces(motion, Shaper(arm)), 0.5)
    assert np.array_equal(coming.sample(1.0).position,
                          Shaped(motion, Shaper(arm)).sample(1.0).position)
