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
"""Motion within limits: exact peaks, slower where needed, refused where slower does not help."""
import numpy as np
import pytest

from flex_control import ControlError
from flex_control.trajectories import (
    CubicSpline,
    Cycloidal,
    MinimumJerk,
    MotionLimits,
    QuinticSpline,
    Reference,
    SetPoints,
    Splines,
    Stop,
    TimeScaled,
)
from flex_description import load_robot

RNG = np.random.default_rng(7)
TIMES = np.array([1.0, 1.4, 2.5, 3.0])
POINTS = RNG.normal(size=(4, 2))
NAMES = ('shoulder', 'elbow')


def limits(velocity=np.inf, acceleration=np.inf, jerk=np.inf, reach=np.inf):
    both = np.ones(2)
    return MotionLimits(NAMES, -reach * both, reach * both, velocity * both, acceleration * both,
                  jerk * both)


def motions():
    return {
        'minimum jerk': MinimumJerk(POINTS[0], POINTS[1], 1.7, start=1.0),
        'cycloidal': Cycloidal(POINTS[0], POINTS[1], [1.1, 1.7], start=1.0),
        'cubic spline': CubicSpline(TIMES, POINTS),
        'quintic spline': QuinticSpline(TIMES, POINTS),
        'hermite': Splines(TIMES, POINTS, RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))),
        'scaled': TimeScaled(QuinticSpline(TIMES, POINTS), 1.3),
        'stop': Stop(Reference(*RNG.normal(size=(3, 2))), 0.6, start=1.0),
    }


@pytest.mark.parametrize('name', motions())
def test_every_derivative_is_that_of_the_one_before(name):
    motion = motions()[name]
    step = 1e-5
    for time in np.linspace(motion.start, motion.end, 13)[1:-1] + 1e-3:
        before, at, after = (motion.sample(time + d) for d in (-step, 0.0, step))
        for order in range(4):
            slope = (after.derivative(order) - before.derivative(order)) / (2 * step)
            assert np.allclose(slope, at.derivative(order + 1), rtol=1e-5,
                               atol=1e-5 * (1.0 + np.abs(at.derivative(order + 1)).max())), order


@pytest.mark.parametrize('name', motions())
def test_extremes_are_those_of_many_samples(name):
    motion = motions()[name]
    samples = [motion.sample(time) for time in np.linspace(motion.start, motion.end, 2001)[:-1]]
    for order in range(4):
        values = np.array([sample.derivative(order) for sample in samples])
        low, high = motion.extremes(order)
        slack = 1e-2 * np.ptp(values, axis=0) + 1e-12
        assert (low <= values.min(axis=0) + 1e-6).all()
        assert (low > values.min(axis=0) - slack).all()
        assert (high >= values.max(axis=0) - 1e-6).all()
        assert (high < values.max(axis=0) + slack).all()


def test_extremes_of_thousands_of_pieces_are_those_of_all_of_them():
    """Only pieces that can hold an extreme are looked into: none may be left out."""
    rng = np.random.default_rng(11)
    times = np.cumsum(rng.uniform(0.01, 0.2, 3000))
    motion = Splines(times, *rng.normal(size=(3, 3000, 2)))
    for order in range(4):
        values = np.concatenate([
            np.linspace(0.0, 1.0, 401)[:, None]**motion._powers @ piece[order]
            for piece in motion._derivatives])
        low, high = motion.extremes(order)
        reach = np.ptp(values, axis=0)
        assert (np.abs(low - values.min(axis=0)) < 1e-4 * reach).all()
        assert (np.abs(high - values.max(axis=0)) < 1e-4 * reach).all()
        assert (low <= values.min(axis=0) + 1e-9 * reach).all()
        assert (high >= values.max(axis=0) - 1e-9 * reach).all()


@pytest.mark.parametrize('kind, order', [(CubicSpline, 2), (QuinticSpline, 3)])
def test_splines_are_the_smoothest_through_their_points(kind, order):
    """Any other motion through the points, with the same ends, has a larger integral."""
    motion = kind(TIMES, POINTS)
    for time, place in zip(TIMES, POINTS):
        assert np.allclose(motion.sample(time).position, place)
    instants = TIMES[0] + (np.arange(1000) + 0.5) * (TIMES[-1] - TIMES[0]) / 1000
    ours = np.array([motion.sample(time).derivative(order) for time in instants])
    # A bump that vanishes at all points, and at the ends with its slopes
    bump = np.poly1d(np.repeat(TIMES, [order, 1, 1, order]), r=True)
    other = bump.deriv(order)(instants)
    other *= np.abs(ours).max() / np.abs(other).max()
    assert abs(np.mean(other[:, None] * ours, axis=0)).max() < 1e-4 * np.mean(ours**2)
    assert (np.mean((ours + 0.3 * other[:, None])**2, axis=0) > np.mean(ours**2, axis=0)).all()


def test_two_points_of_a_quintic_spline_are_minimum_jerk():
    spline = QuinticSpline([1.0, 3.0], POINTS[:2])
    motion = MinimumJerk(POINTS[0], POINTS[1], 2.0, start=1.0)
    for time in (0.0, 1.3, 2.2, 4.0):
        for order in range(5):
            assert np.allclose(spline.sample(time).derivative(order),
                               motion.sample(time).derivative(order), atol=1e-9)


def test_the_cycloid_rests_at_its_ends_and_the_printed_one_does_not():
    """Mohan and Saha (44): k1 = 0.075 1/s and T1 = 10 s leave joint 1 at 0.15 rad/s."""
    durations, rates = np.array([10.0, 5.0, 5.0]), np.array([0.075, 0.05, 0.1])
    printed = Cycloidal(np.zeros(3), rates * durations, durations, as_printed=True)
    for t in (0.5, 2.0, 4.9):
        assert np.allclose(printed.sample(t).position, rates * (
            t - durations / np.pi * np.sin(np.pi * t / durations)))
    assert abs(printed.sample(10.0 - 1e-9).velocity[0] - 0.15) < 1e-6
    with pytest.raises(ControlError, match='a corner'):
        MotionLimits.of(load_robot('lab_link'), ['a', 'b', 'c'], acceleration=[9.0]).check(printed)
    rest = Cycloidal(np.zeros(3), rates * durations, durations)
    assert np.abs(rest.sample(10.0 - 1e-9).velocity).max() < 1e-9
    assert np.allclose(rest.sample(7.0).position[1:], (rates * durations)[1:])


@pytest.mark.parametrize('kind', [MinimumJerk, Cycloidal])
@pytest.mark.parametrize('given', [{'velocity': 0.5}, {'acceleration': 0.8}, {'jerk': 2.0}])
def test_the_quickest_motion_reaches_its_limit_and_keeps_it(kind, given):
    bounds = limits(**given)
    motion = kind.within(bounds, [0.0, 1.0], [1.0, -1.0], start=2.0)
    assert motion.start == 2.0
    bounds.check(motion)
    assert abs(bounds.factor(motion) - 1.0) < 1e-6


@pytest.mark.parametrize('kind', [CubicSpline, QuinticSpline])
def test_a_spline_finds_its_own_times(kind):
    bounds = limits(velocity=0.7, acceleration=2.0)
    motion = kind.within(bounds, POINTS, start=4.0)
    assert motion.start == 4.0 and abs(bounds.factor(motion) - 1.0) < 1e-6
    assert np.allclose(motion.sample(motion.end).position, POINTS[-1])
    for place, time in zip(POINTS, motion.times):
        assert np.allclose(motion.sample(time).position, place)


def test_a_motion_that_is_too_quick_is_stretched_along_its_path():
    motion = QuinticSpline(TIMES, POINTS)
    bounds = limits(velocity=1.0, acceleration=1.0)
    slower = bounds.stretched(motion)
    bounds.check(slower)
    assert abs(bounds.factor(slower) - 1.0) < 1e-9
    factor = (slower.end - slower.start) / (motion.end - motion.start)
    assert np.allclose(slower.sample(1.0 + 0.7 * factor).position, motion.sample(1.7).position)
    assert np.allclose(slower.sample(99.0).position, POINTS[-1])
    assert bounds.stretched(slower) is slower


@pytest.mark.parametrize('motion, bounds, words', [
    (MinimumJerk([0.0, 0.0], [1.0, 2.0], 1.0), limits(velocity=3.0),
     r'elbow, velocity: expected at most 3 .* found 3.75 .* 1.25 times the duration'),
    (MinimumJerk([0.0, 0.0], [1.0, 2.0], 1.0), limits(jerk=100.0), 'elbow, jerk: expected'),
    (MinimumJerk([0.0, 0.0], [1.0, 2.0], 1.0), limits(reach=1.5),
     r'elbow: expected -1.5 to 1.5 \(its limits\), found 2'),
    (CubicSpline([0.0, 0.1, 1.0], [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), limits(reach=1.01),
     'shoulder: expected -1.01 to 1.01'),      # it overshoots between its points
    (Splines([0.0, 1.0, 2.0], [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), limits(acceleration=9.0),
     'shoulder, acceleration: .*a corner'),
    (SetPoints([0.0, 1e-6], [[9.0, 0.0], [0.0, 0.0]]), limits(reach=1.0), 'shoulder: expected'),
])
def test_what_leaves_the_limits_is_refused_with_the_reason(motion, bounds, words):
    with pytest.raises(ControlError, match=words):
        bounds.check(motion)


def test_what_slower_does_not_help_is_refused():
    moving = Splines([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ControlError, match='begins at speed'):
        limits(velocity=0.5).stretched(moving)
    with pytest.raises(ControlError, match='its limits'):
        limits(reach=0.5).stretched(moving)
    with pytest.raises(ControlError, match='a corner'):
        limits(acceleration=0.5).stretched(Splines([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(ControlError, match='shoulder: expected a limit of velocity'):
        MinimumJerk.within(limits(), [0.0, 0.0], [1.0, 0.0])


def test_limits_of_a_robot_are_those_of_its_file():
    robot = load_robot('ur5')
    names = [joint.name for joint in robot.joints if joint.limits.velocity < np.inf]
    bounds = MotionLimits.of(robot, names, acceleration=[2.0])
    first = next(joint for joint in robot.joints if joint.name == names[0]).limits
    assert (bounds.lower[0], bounds.upper[0], bounds.velocity[0]) == (
        first.lower, first.upper, first.velocity)
    assert (bounds.acceleration == 2.0).all() and np.isinf(bounds.jerk).all()
    assert MotionLimits.of(robot, names, velocity=[1e-3]).velocity.max() == 1e-3
    for given, words in (([1.0, 2.0], 'expected none, 1 or'), ([-1.0], 'positive')):
        with pytest.raises(ControlError, match=words):
            MotionLimits.of(robot, names, velocity=given)


def test_a_stop_begins_with_the_present_motion_and_stays_in_range():
    present = Reference(np.array([0.0, 0.9]), np.array([1.0, 1.0]), np.array([0.5, 0.0]))
    stop = Stop(present, 0.8, start=3.0)
    for order in range(3):
        assert np.allclose(stop.sample(3.0).derivative(order), present.derivative(order))
        assert np.allclose(stop.sample(3.8 - 1e-9).derivative(order),
                           stop.sample(3.8).derivative(order), atol=1e-6)
    ranged = Stop(present, 0.8, start=3.0, lower=-np.ones(2), upper=np.ones(2))
    assert ranged.extremes(0)[1][1] <= 1.0 and ranged.end < stop.end
    beyond = Reference(np.array([0.0, 1.2]), np.array([0.0, 1.0]), np.zeros(2))
    assert Stop(beyond, 0.8, 0.0, -np.ones(2), np.ones(2)).sample(9.0).position[1] <= 1.2


def test_the_limits_of_a_urdf_hold_and_the_lower_one_of_two():
    """Acceleration, deceleration and jerk of URDF 1.2; a further limit may only be lower."""
    joint = ('<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{0}_link"/>'
             '<limit lower="-1" upper="1" effort="9" velocity="3" {2}/></joint>'
             '<link name="{0}_link"/>')
    robot = load_robot('<robot name="arm" version="1.2"><link name="base"/>' + joint.format(
        'shoulder', 'base', 'acceleration="5" deceleration="4" jerk="20"') + joint.format(
        'elbow', 'shoulder_link', '') + '</robot>')
    found = MotionLimits.of(robot, ('elbow', 'shoulder'))
    assert found.acceleration.tolist() == [np.inf, 4.0] and found.jerk.tolist() == [np.inf, 20.0]
    found = MotionLimits.of(robot, ('elbow', 'shoulder'), acceleration=4.5, jerk=[10.0, 10.0])
    assert found.acceleration.tolist() == [4.5, 4.0] and found.jerk.tolist() == [10.0, 10.0]
    # 1 rad with jerk 20 takes the longest: the peak of a minimum-jerk motion is 60 / T^3.
    assert MotionLimits.of(robot, ('shoulder',)).duration(
        np.zeros(1), np.ones(1), (1.875, 5.7735, 60.0)) == pytest.approx(3.0**(1.0 / 3.0))
