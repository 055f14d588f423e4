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
"""Trajectories that messages ask for: begun where the arm is, or refused with code and reason."""
import math
from types import SimpleNamespace as Record

import numpy as np
import pytest

from flex_control.loop.goal_tolerances import (
    INVALID_GOAL,
    INVALID_JOINTS,
    OLD_HEADER_TIMESTAMP,
    Tolerances,
)
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader, read_tolerances
from flex_control.trajectories import MotionLimits, Reference, SetPoints

NAMES = ('shoulder', 'elbow')
NOW = 5.0
PRESENT = Reference(np.array([0.1, 0.2]), np.array([0.3, 0.0]), np.array([0.0, 0.5]))
STILL = Reference.at_rest([0.1, 0.2])
LIMITS = MotionLimits(NAMES, np.full(2, -2.0), np.full(2, 2.0), np.full(2, 4.0),
                      np.full(2, np.inf), np.full(2, np.inf))


def duration(seconds):
    whole = math.floor(seconds)
    return Record(sec=whole, nanosec=round((seconds - whole) * 1e9))


def point(time, positions, velocities=(), accelerations=(), effort=()):
    return Record(time_from_start=duration(time), positions=positions, velocities=velocities,
                  accelerations=accelerations, effort=effort)


def message(*points, names=NAMES, stamp=0.0):
    return Record(header=Record(stamp=duration(stamp)), joint_names=list(names),
                  points=list(points))


def read(given, present=PRESENT, **settings):
    return TrajectoryReader(NAMES, LIMITS, **settings).read(given, NOW, present)


@pytest.mark.parametrize('interpolation, smooth', [('splines', 2), ('minimum_jerk', 2)])
def test_a_motion_goes_on_from_the_present_one(interpolation, smooth):
    rest = [0.0, 0.0]
    motion = read(message(point(1.0, [0.5, 0.0], rest, rest), point(2.0, [1.0, 1.0], rest, rest)),
                  interpolation=interpolation)
    for order in range(smooth + 1):
        assert np.allclose(motion.sample(NOW).derivative(order), PRESENT.derivative(order))
    assert np.allclose(motion.sample(NOW + 1.0).position, [0.5, 0.0])
    assert np.allclose(motion.sample(NOW + 2.0).position, [1.0, 1.0])
    assert motion.end == NOW + 2.0


def test_joints_that_are_not_named_stay_and_any_order_will_do():
    motion = read(message(point(1.0, [0.7]), names=['elbow']), STILL, partial=True)
    assert np.allclose(motion.sample(NOW + 1.0).position, [0.1, 0.7])
    motion = read(message(point(1.0, [0.7, 0.3]), names=['elbow', 'shoulder']))
    assert np.allclose(motion.sample(NOW + 1.0).position, [0.3, 0.7])


def test_points_that_are_over_are_left_out():
    """As planners do, the first point says where the arm was: the motion begins where it is."""
    rest = [0.0, 0.0]
    motion = read(message(point(0.0, [0.11, 0.19], rest), point(1.0, [1.0, 1.0], rest)))
    assert np.allclose(motion.sample(NOW).position, PRESENT.position)
    late = read(message(point(0.5, [9e-1, 0.0], rest), point(2.5, [1.0, 1.0], rest), stamp=4.0))
    assert np.allclose(late.sample(NOW).position, PRESENT.position)
    assert late.end == 6.5


def test_set_points_have_no_ramp():
    motion = read(message(point(1.0, [0.5, 0.0]), point(2.0, [1.0, 1.0])), interpolation='none')
    assert isinstance(motion, SetPoints)
    assert np.allclose(motion.sample(NOW + 1.5).position, [0.5, 0.0])


def test_limits_refuse_or_stretch():
    rest = [0.0, 0.0]
    quick = message(point(0.2, [1.0, 1.0], rest, rest))
    with pytest.raises(GoalError, match='shoulder, velocity: expected at most 4'):
        read(quick, STILL)
    slower = read(quick, STILL, stretch=True)
    assert slower.end > NOW + 0.2 and np.allclose(slower.peak(1).max(), 4.0)


def test_there_is_a_way_back_from_outside_the_limits():
    outside = Reference.at_rest([2.1, 0.0])
    motion = read(message(point(2.0, [1.0, 0.0], [0.0] * 2, [0.0] * 2)), outside)
    assert np.allclose(motion.sample(NOW + 2.0).position, [1.0, 0.0])
    with pytest.raises(GoalError, match='its limits'):
        read(message(point(2.0, [2.05, 0.0])), outside)


def test_a_joint_that_follows_another_is_not_commanded():
    given = message(point(1.0, [0.5, 0.5, 0.1]), names=[*NAMES, 'finger'])
    with pytest.raises(GoalError, match=r"'finger' follows 'elbow' \(<mimic>\) and has no drive: "
                                        'name that one only') as refused:
        read(given, followers={'finger': 'elbow'})
    assert refused.value.code == INVALID_JOINTS


GOOD = point(1.0, [0.5, 0.5])


@pytest.mark.parametrize('given, code, words', [
    (message(GOOD, names=['wrist', 'elbow']), INVALID_JOINTS, "found 'wrist'"),
    (message(GOOD, names=[]), INVALID_JOINTS, 'found none'),
    (message(GOOD, names=['elbow', 'elbow']), INVALID_JOINTS, 'named twice'),
    (message(point(1.0, [0.5]), names=['elbow']), INVALID_JOINTS, "'shoulder' is missing"),
    (message(), INVALID_GOAL, 'points: expected at least one'),
    (message(GOOD, stamp=1.0), OLD_HEADER_TIMESTAMP, 'last point is at 2 s, before the present'),
    (message(GOOD, GOOD), INVALID_GOAL, 'time_from_start: expected to rise'),
    (message(point(-1.0, [0.5, 0.5])), INVALID_GOAL, 'time_from_start: expected at least 0'),
    (message(point(1.0, [math.nan, 0.5])), INVALID_GOAL, 'positions: expected finite'),
    (message(point(1.0, [0.5, 0.5], [math.inf, 0.0])), INVALID_GOAL, 'velocities: expected fin'),
    (message(point(1.0, [0.5])), INVALID_GOAL, 'point 1, positions: expected 2 numbers'),
    (message(point(1.0, [], [0.0, 0.0])), INVALID_GOAL, 'positions: expected one number a joint'),
    (message(point(1.0, [0.5, 0.5], (), [0.0, 0.0])), INVALID_GOAL, 'without velocities'),
    (message(point(1.0, [0.5, 0.5], [0.0, 0.1])), INVALID_GOAL, 'zero in the last point'),
    (message(point(1.0, [0.5, 0.5], effort=[1.0, 1.0])), INVALID_GOAL, 'effort: expected none'),
    (message(point(1.0, [0.5, 2.5])), INVALID_GOAL, r'elbow: expected -2 to 2 \(its limits\)'),
    (message(point(0.01, [0.5, 0.5])), INVALID_GOAL, 'shoulder, velocity: expected at most 4'),
    (message(point(0.0, [0.5, 0.5])), INVALID_GOAL, 'no time to get there'),
])
def test_bad_motions_are_refused_with_code_and_reason(given, code, words):
    with pytest.raises(GoalError, match=words) as caught:
        read(given)
    assert caught.value.code == code


def tolerance(name, position=0.0, velocity=0.0):
    return Record(name=name, position=position, velocity=velocity, acceleration=0.0)


def goal(path=(), end=(), time=0.0, component=()):
    return Record(path_tolerance=list(path), goal_tolerance=list(end),
                  component_path_tolerance=list(component), component_goal_tolerance=[],
                  multi_dof_trajectory=Record(joint_names=[]), goal_time_tolerance=duration(time))


DEFAULTS = Tolerances(np.full(2, 0.5), np.full(2, np.inf), np.full(2, 0.1), np.full(2, 0.01), 2.0)


def test_tolerances_of_a_goal_stand_in_for_the_defaults():
    """joint_trajectory_controller: positive counts, 0 is the default, -1 is no limit."""
    found = read_tolerances(goal([tolerance('elbow', 0.2, -1.0)],
                                 [tolerance('shoulder', -1.0, 0.3)], 7.0), NAMES, DEFAULTS)
    assert found.path_position.tolist() == [0.5, 0.2]
    assert found.path_velocity.tolist() == [np.inf, np.inf]
    assert found.goal_position.tolist() == [np.inf, 0.1]
    assert found.goal_velocity.tolist() == [0.3, 0.01]
    assert found.goal_time == 7.0
    assert read_tolerances(goal(), NAMES, DEFAULTS).goal_time == 2.0
    assert read_tolerances(goal(time=-1.0), NAMES, DEFAULTS).goal_time == 0.0


@pytest.mark.parametrize('given, code, words', [
    (goal([tolerance('wrist')]), INVALID_JOINTS, "path_tolerance: .* found 'wrist'"),
    (goal([tolerance('elbow', -2.0)]), INVALID_GOAL, 'path_tolerance of elbow: .* found -2'),
    (goal(end=[tolerance('elbow', math.nan)]), INVALID_GOAL, 'goal_tolerance of elbow'),
    (goal(time=-3.0), INVALID_GOAL, 'goal_time_tolerance: expected at least 0'),
    (goal(component=[1]), INVALID_GOAL, 'multi-dof'),
])
def test_bad_tolerances_are_refused(given, code, words):
    with pytest.raises(GoalError, match=words) as caught:
        read_tolerances(given, NAMES, DEFAULTS)
    assert caught.value.code == code
