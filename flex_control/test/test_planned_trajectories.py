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
"""Trajectories of the kind that MoveIt sends are followed as they are."""
from dataclasses import replace
from types import SimpleNamespace as Record

import numpy as np
import pytest
from planned_trajectories import Planned, plan

from flex_control.loop.goal_tolerances import INVALID_GOAL, OLD_HEADER_TIMESTAMP, Tolerances
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader, read_tolerances
from flex_control.trajectories import MotionLimits, Reference
from flex_control.trajectories.trajectory_points import TrajectoryPoints

# Velocity (rad/s) and acceleration (rad/s2) limits of two arms' usual MoveIt configurations.
ARMS = {'six joints': ([3.15] * 3 + [3.2] * 3, [5.0] * 6),
        'seven joints': ([2.175] * 4 + [2.61] * 3, [3.75, 1.875, 2.5, 3.125, 3.75, 5.0, 5.0])}
NOW = 3.0


def limits_of(arm, acceleration=False):
    velocity, most = (np.array(values) for values in ARMS[arm])
    names = tuple(f'joint{k + 1}' for k in range(len(velocity)))
    none = np.full(len(names), np.inf)
    return MotionLimits(names, np.full(len(names), -2.8), np.full(len(names), 2.8), velocity,
                        most if acceleration else none, none)


def planned(arm, count, scaling=1.0, seed=1):
    """So many random plans within the limits, each of two to four way-points."""
    rng = np.random.default_rng([seed, len(ARMS[arm][0])])
    velocity, acceleration = (scaling * np.array(values) for values in ARMS[arm])
    found = []
    while len(found) < count:
        waypoints = rng.uniform(-2.8, 2.8, (rng.integers(2, 5), len(velocity)))
        try:
            found.append(plan(waypoints, velocity, acceleration, rng))
        except ValueError:               # a way-point that the path turns back at
            continue
    return found


def points(names, given: Planned, stamp=0.0):
    return TrajectoryPoints(tuple(names), stamp, given.times, given.positions, given.velocities,
                            given.accelerations, None)


@pytest.mark.parametrize('scaling', [0.1, 0.5, 1.0])
@pytest.mark.parametrize('arm', ARMS)
def test_all_plans_are_followed(arm, scaling):
    """50 plans for each arm and scaling, 300 in all, half of them with limited accelerations."""
    for number, given in enumerate(planned(arm, 50, scaling)):
        limits = limits_of(arm, acceleration=number % 2 == 1)
        reader = TrajectoryReader(limits.names, limits)
        start = Reference.at_rest(given.positions[0])
        motion = reader.read(points(limits.names, given), NOW, start)
        assert motion.end == NOW + given.times[-1]
        middle = len(given.times) // 2
        assert np.allclose(motion.sample(NOW + given.times[middle]).position,
                           given.positions[middle])
        end = motion.sample(motion.end)
        assert np.array_equal(end.position, given.positions[-1]) or np.allclose(
            end.position, given.positions[-1], rtol=0.0, atol=1e-12)
        assert not motion.sample(motion.end + 1e-3).velocity.any()


def test_joints_in_any_order_give_the_same_motion():
    given, = planned('six joints', 1)
    limits = limits_of('six joints')
    reader, start = TrajectoryReader(limits.names, limits), Reference.at_rest(given.positions[0])
    order = np.random.default_rng(2).permutation(6)
    other = points([limits.names[k] for k in order],
                   Planned(given.times, *(values[:, order] for values in given[1:])))
    straight = reader.read(points(limits.names, given), NOW, start)
    mixed = reader.read(other, NOW, start)
    for time in np.linspace(NOW, straight.end, 20):
        assert np.array_equal(straight.sample(time).position, mixed.sample(time).position)


def test_the_start_may_differ_a_little():
    """The first point is a measured position, the motion begins at the reference."""
    rng = np.random.default_rng(3)
    limits = limits_of('six joints')
    for given in planned('six joints', 20):
        there = given.positions[0] + rng.uniform(-0.01, 0.01, 6)
        motion = TrajectoryReader(limits.names, limits).read(
            points(limits.names, given), NOW, Reference.at_rest(there))
        assert np.allclose(motion.sample(NOW).position, there)


def test_a_new_plan_goes_on_from_the_middle_of_a_motion():
    """As after re-planning: the new plan begins at rest where the arm was a moment ago."""
    limits = limits_of('six joints')
    reader = TrajectoryReader(limits.names, limits)
    first, = planned('six joints', 1, scaling=0.3)
    motion = reader.read(points(limits.names, first), NOW, Reference.at_rest(first.positions[0]))
    middle = 0.5 * (NOW + motion.end)
    present = motion.sample(middle)
    velocity, acceleration = (0.3 * np.array(values) for values in ARMS['six joints'])
    second = plan(np.array([motion.sample(middle - 0.05).position, np.full(6, 0.5)]), velocity,
                  acceleration, np.random.default_rng(4))
    again = reader.read(points(limits.names, second), middle, present)
    for order in range(3):
        assert np.allclose(again.sample(middle).derivative(order), present.derivative(order))
    assert np.allclose(again.sample(again.end).position, 0.5)


@pytest.mark.parametrize('away', [0.0, 1e-6, 0.009])
def test_a_single_point_at_time_zero_is_reached_already(away):
    limits = limits_of('six joints')
    start = Reference.at_rest(np.full(6, 0.3))
    still = np.zeros((1, 6))
    given = Planned(np.zeros(1), start.position[None] + away, still, still)
    motion = TrajectoryReader(limits.names, limits).read(points(limits.names, given), NOW, start)
    assert motion.end <= NOW and np.array_equal(motion.sample(NOW).position, start.position)


def test_a_single_point_elsewhere_has_no_time():
    limits = limits_of('six joints')
    start, still = Reference.at_rest(np.zeros(6)), np.zeros((1, 6))
    given = Planned(np.zeros(1), np.full((1, 6), 0.02), still, still)
    with pytest.raises(GoalError, match='no time to get there'):
        TrajectoryReader(limits.names, limits).read(points(limits.names, given), NOW, start)


@pytest.mark.parametrize('stamp, code, words', [
    (1.79e9, INVALID_GOAL, r'at most 3600 s after the present, 3 s, found 1790000000 s.*use_sim'),
    (0.5, OLD_HEADER_TIMESTAMP, 'before the present.*use_sim_time')])
def test_stamps_of_another_clock_are_refused_with_the_reason(stamp, code, words):
    limits = limits_of('six joints')
    still = np.zeros((1, 6))
    given = Planned(np.ones(1), still, still, still)
    with pytest.raises(GoalError, match=words) as caught:
        TrajectoryReader(limits.names, limits).read(
            points(limits.names, given, stamp), NOW, Reference.at_rest(np.zeros(6)))
    assert caught.value.code == code


def test_end_speeds_are_zero_but_for_rounding():
    limits = limits_of('six joints')
    given, = planned('six joints', 1)
    reader, start = TrajectoryReader(limits.names, limits), Reference.at_rest(given.positions[0])
    given.velocities[-1] = 1.1e-7
    assert not reader.read(points(limits.names, given), NOW, start).sample(100.0).velocity.any()
    given.velocities[-1, 2] = 1.3e-7
    with pytest.raises(GoalError, match=r'zero in the last point \(at most 1.19e-07\)'):
        reader.read(points(limits.names, given), NOW, start)


def test_what_exceeds_the_slack_is_refused_with_a_factor_that_would_do():
    limits = limits_of('six joints')
    given = next(one for one in planned('six joints', 50)
                 if np.abs(one.velocities).max() > 0.999 * limits.velocity.max())
    reader, start = TrajectoryReader(limits.names, limits), Reference.at_rest(given.positions[0])
    quick = given._replace(times=given.times / 1.03, velocities=1.03 * given.velocities,
                           accelerations=1.03**2 * given.accelerations)
    with pytest.raises(GoalError, match=r'velocity: expected at most .* times the dur') as caught:
        reader.read(points(limits.names, quick), NOW, start)
    factor = float(str(caught.value).split('; ')[1].split()[0])
    assert 1.0 < factor < 1.06
    slower = quick._replace(times=quick.times * factor, velocities=quick.velocities / factor,
                            accelerations=quick.accelerations / factor**2)
    replace(reader, slack=1e-3).read(points(limits.names, slower), NOW, start)


def test_empty_tolerances_are_the_defaults():
    none = np.full(6, np.inf)
    defaults = Tolerances(none, none, none, np.full(6, 0.01))
    goal = Record(component_path_tolerance=[], component_goal_tolerance=[], path_tolerance=[],
                  goal_tolerance=[], multi_dof_trajectory=Record(joint_names=[]),
                  goal_time_tolerance=Record(sec=0, nanosec=0))
    read = read_tolerances(goal, limits_of('six joints').names, defaults)
    assert np.array_equal(read.goal_velocity, defaults.goal_velocity)
