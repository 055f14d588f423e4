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
"""Trajectories shaped and sampled for a robot's own controller, without ROS."""
import dataclasses
import time

import numpy as np
import pytest

from flex_control import MotionLimits, Reference
from flex_control.loop.motion_shaper import MotionShaper, ShaperSettings
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.trajectories.trajectory_points import MOST_POINTS, TrajectoryPoints
from flex_description import load_robot
from flex_dynamics import Model

FIRST, LAST = np.array([0.0, 0.5, 2.1, 0.5]), np.array([0.3, 1.0, 1.0, 1.0])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def shaper(model, velocity=(), acceleration=(), **changes):
    limits = MotionLimits.of(model.robot, model.joint_names, velocity, acceleration)
    return MotionShaper(model, TrajectoryReader(model.joint_names, limits, partial=True),
                        ShaperSettings(**changes))


def points(model, last=LAST, duration=0.8, first=FIRST, count=30, stamp=0.0, arrays=3, names=None):
    """A trapezoid of speed, sampled as a planner samples it, with end speeds of 1e-16."""
    third = duration / 3.0
    peak = 1.0 / (duration - third)
    steps = np.linspace(0.0, duration, count)
    shares = np.zeros((3, count))
    for at, t in enumerate(steps):
        left = duration - t
        if t <= third:
            shares[:, at] = 0.5 * peak / third * t * t, peak / third * t, peak / third
        elif left <= third:
            shares[:, at] = 1.0 - 0.5 * peak / third * left**2, peak / third * left, -peak / third
        else:
            shares[:, at] = 0.5 * peak * third + peak * (t - third), peak, 0.0
    rows = [share[:, None] * (last - first) for share in shares]
    rows[0] += first
    rows[1][-1] = 1e-16
    rows = [rows[at] if at < arrays else None for at in range(3)]
    return TrajectoryPoints(tuple(names or model.joint_names), stamp, steps, *rows, None)


def rest(position=FIRST):
    return Reference.at_rest(position)


def test_a_motion_is_shaped_sampled_and_ends_at_rest(arm):
    goal = shaper(arm, modes=2).shape(points(arm), 5.0, rest())
    assert goal.names == arm.joint_names and len(goal.frequencies) == 2
    assert 0.1 < goal.delay < 1.0 and goal.times[0] == pytest.approx(5.01)
    assert goal.times[-1] == goal.motion.end == pytest.approx(5.8 + goal.delay)
    assert (np.diff(goal.times) > 1e-3).all() and np.diff(goal.times).max() < 0.013
    np.testing.assert_array_equal(goal.positions[-1], LAST)
    assert not goal.velocities[-1].any() and not goal.accelerations[-1].any()
    np.testing.assert_allclose(goal.positions[0], FIRST, atol=2e-3)


def test_the_points_have_the_arrays_of_those_that_came(arm):
    for arrays in (1, 2, 3):
        goal = shaper(arm).shape(points(arm, arrays=arrays), 0.0, rest())
        assert (goal.velocities is not None) == (arrays > 1)
        assert (goal.accelerations is not None) == (arrays > 2)


def test_none_passes_on_the_motion_as_it_is(arm):
    plain = points(arm)
    goal = shaper(arm, shaper='none').shape(plain, 0.0, rest())
    assert goal.delay == pytest.approx(0.0, abs=1e-9) and goal.frequencies == ()
    wanted = goal.motion.trajectory.samples(goal.times)
    np.testing.assert_allclose(goal.positions, wanted[0], atol=1e-12)


def test_shuffled_and_partial_joints_keep_their_names(arm):
    every = shaper(arm).shape(points(arm), 0.0, rest())
    order = [2, 0, 3, 1]
    given = points(arm)
    mixed = dataclasses.replace(
        given, names=tuple(given.names[at] for at in order),
        **{what: getattr(given, what)[:, order]
           for what in ('positions', 'velocities', 'accelerations')})
    np.testing.assert_allclose(shaper(arm).shape(mixed, 0.0, rest()).positions, every.positions)
    two = dataclasses.replace(
        given, names=given.names[1:3], **{what: getattr(given, what)[:, 1:3] for what in (
            'positions', 'velocities', 'accelerations')})
    some = shaper(arm).shape(two, 0.0, rest())
    assert some.names == arm.joint_names[1:3] and some.positions.shape[1] == 2
    more = shaper(arm).shape(two, 0.0, rest(), also=['joint4'])
    assert more.names == arm.joint_names[1:]


@pytest.mark.parametrize('where', ['motion', 'goal'])
@pytest.mark.parametrize('seed', range(8))
def test_limits_hold_for_the_shaped_motion(arm, where, seed):
    """Position, speed and acceleration; the motion uses all of the latter two."""
    rng = np.random.default_rng(seed)
    robot = arm.joint_limits
    first, last = (rng.uniform(np.maximum(robot.lower, -1.5), np.minimum(robot.upper, 1.5))
                   for _ in range(2))
    given = points(arm, last, 0.7, first, count=60)
    velocity, acceleration = (np.abs(rows).max(axis=0) for rows in (
        given.velocities, given.accelerations))
    goal = shaper(arm, velocity, acceleration, where=where).shape(given, 0.0, rest(first))
    assert (goal.positions >= np.minimum(first, last) - 1e-9).all()
    assert (goal.positions <= np.maximum(first, last) + 1e-9).all()
    own = goal.motion.trajectory.samples(np.linspace(0.0, 0.7, 2000))
    slack = 1.02            # of the reader, for the interpolation of the motion itself
    assert (np.abs(goal.velocities) <= np.maximum(slack * velocity, np.abs(own[1]).max(axis=0))
            + 1e-9).all()
    assert (np.abs(goal.accelerations) <= np.maximum(
        slack * acceleration, np.abs(own[2]).max(axis=0)) + 1e-9).all()


def test_without_limits_a_motion_is_not_made_much_faster(arm):
    given = points(arm, np.array([0.0, 1.2, 0.0, 0.0]), 0.8)
    goal = shaper(arm).shape(given, 0.0, rest())
    own = goal.motion.trajectory.samples(np.linspace(0.0, 0.8, 2000))
    for rows, before in ((goal.velocities, own[1]), (goal.accelerations, own[2])):
        assert (np.abs(rows).max(axis=0) <= 1.1 * np.abs(before).max(axis=0) + 1e-9).all()


def test_a_new_motion_goes_on_from_the_commanded_one(arm):
    made = shaper(arm)
    old = made.shape(points(arm), 0.0, rest())
    now, start = 0.3, 0.36
    here = old.motion.sample(start).position
    back = points(arm, FIRST, 1.0, here)
    new = made.shape(dataclasses.replace(back, velocities=None, accelerations=None,
                                         positions=back.positions[-1:], steps=back.steps[-1:]),
                     start, rest(), old.motion, now)
    assert new.note == '' and new.delay > 0.1
    assert new.times[0] == now
    early = new.times < start
    commanded = old.motion.samples(new.times[early])
    np.testing.assert_allclose(new.positions[early], commanded[0], atol=1e-9)
    speed = np.abs(np.diff(new.positions, axis=0)) / np.diff(new.times)[:, None]
    assert speed.max() < 1.05 * np.abs(old.motion.samples(np.linspace(0.0, 1.0, 500))[1]).max()
    np.testing.assert_allclose(new.positions[-1], FIRST)


def test_a_position_tells_the_time_of_a_motion(arm):
    goal = shaper(arm).shape(points(arm), 0.0, rest())
    names = list(reversed(arm.joint_names))
    for at, off in ((0.5, 0.1), (0.7, -0.2), (0.41, 0.0)):
        there = goal.motion.sample(at).position[::-1]
        assert goal.time_of(names, there, at + off) == pytest.approx(at, abs=1e-4)
        assert goal.time_of(names, there + 0.01, at + off) is None
    assert goal.time_of(names, LAST[::-1], goal.motion.end) is None       # it rests
    assert goal.time_of(names[1:], there[1:], 0.5) is None
    assert goal.time_of(names, there[1:], 0.5) is None


def test_a_payload_slows_the_modes_and_delays_the_motion(arm):
    made = shaper(arm, modes=1)
    empty = made.shape(points(arm), 0.0, rest())
    made.model = arm.with_payload('load', 'tool', 30.0)
    loaded = made.shape(points(arm), 0.0, rest())
    assert loaded.frequencies[0] < 0.9 * empty.frequencies[0] and loaded.delay > empty.delay


def test_measured_frequencies_replace_those_of_the_model(arm):
    goal = shaper(arm, shaper='zv', frequencies=(5.0, 12.5), damping=(0.02,)).shape(
        points(arm), 0.0, rest())
    assert goal.frequencies == (5.0, 12.5)
    assert goal.delay == pytest.approx(0.1 + 0.04, rel=1e-3)


def test_a_rigid_robot_is_passed_on_as_it_is():
    ur5 = Model(load_robot('ur5'))
    assert ur5.n == ur5.n_joints
    goal = shaper(ur5).shape(points(ur5, 0.2 * np.ones(6), 1.0, np.zeros(6)), 0.0,
                             rest(np.zeros(6)))
    assert goal.frequencies == () and goal.delay == pytest.approx(0.0, abs=1e-9)


def test_a_single_point_at_time_zero_is_there_already_or_refused(arm):
    there = TrajectoryPoints(arm.joint_names, 0.0, np.zeros(1), FIRST[None] + 1e-4, None, None,
                             None)
    goal = shaper(arm).shape(there, 2.0, rest())
    assert len(goal.times) == 1 and goal.times[0] == 2.0
    np.testing.assert_array_equal(goal.positions, FIRST[None])
    with pytest.raises(GoalError, match='step|point after now'):
        shaper(arm).shape(dataclasses.replace(there, positions=LAST[None]), 2.0, rest())


@pytest.mark.parametrize('change, words', [
    ({'positions': np.full((30, 4), np.nan)}, 'finite'),
    ({'velocities': np.ones((30, 4))}, 'zero in the last point'),
    ({'steps': np.zeros(30)}, 'expected to rise'),
    ({'names': ('a', 'b', 'c', 'd')}, "found 'a'"),
    ({'names': ('joint1',) * 4}, 'named twice'),
    ({'stamp': 1e-3}, 'before the present'),
    ({'stamp': 1e9}, 'use_sim_time'),
    ({'steps': np.linspace(0.0, 2e3, 30), 'velocities': None, 'accelerations': None},
     'raise point_period')])
def test_what_cannot_be_shaped_is_refused_with_the_reason(arm, change, words):
    with pytest.raises(GoalError, match=words):
        shaper(arm).shape(dataclasses.replace(points(arm), **change), 5.0, rest())


def test_a_long_motion_has_its_points_farther_apart(arm):
    goal = shaper(arm).shape(points(arm, duration=900.0), 0.0, rest())
    assert len(goal.times) == pytest.approx(20_000, abs=5)
    np.testing.assert_allclose(goal.positions[-1], LAST)


def test_a_hundred_thousand_points_are_shaped_in_seconds(arm):
    given = points(arm, duration=100.0, count=MOST_POINTS)
    begun = time.process_time()
    goal = shaper(arm).shape(given, 0.0, rest())
    assert time.process_time() - begun < 20.0
    assert len(goal.times) == pytest.approx(100.0 / 0.01, rel=0.02)
    np.testing.assert_allclose(goal.positions[-1], LAST)
