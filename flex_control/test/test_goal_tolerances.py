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
"""Tolerances on the way, at the end, and in time; and terms that go with a state."""
import numpy as np
import pytest

from flex_control.loop.goal_tolerances import (
    GOAL_TOLERANCE_VIOLATED,
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
    GoalMonitor,
    Tolerances,
)
from flex_control.loop.stamped_input import StampedInput
from flex_control.trajectories import MinimumJerk

NONE = np.full(2, np.inf)
MOTION = MinimumJerk([0.0, 0.0], [1.0, 0.0], 2.0, start=1.0)


def judge(tolerances, time, off=0.0, speed=0.0):
    """The verdict with elbow `off` (rad) its reference, and too fast by `speed` (rad/s)."""
    wanted = MOTION.sample(time)
    return GoalMonitor(MOTION, tolerances, ('shoulder', 'elbow')).judge(
        time, wanted, wanted.position + [0.0, off], wanted.velocity + [0.0, speed])


def test_without_tolerances_the_end_is_success():
    free = Tolerances(NONE, NONE, NONE, NONE)
    assert judge(free, 2.9, 9.0) is None
    assert judge(free, 3.0, 9.0).code == SUCCESSFUL


@pytest.mark.parametrize('off, speed, what', [(0.3, 0.0, 'position'), (0.0, -0.3, 'velocity')])
def test_leaving_the_path_fails_with_joint_and_error(off, speed, what):
    tight = Tolerances(np.full(2, 0.2), np.full(2, 0.2), NONE, NONE)
    assert judge(tight, 1.5, 0.1, 0.1) is None
    verdict = judge(tight, 1.5, off, speed)
    assert verdict.code == PATH_TOLERANCE_VIOLATED
    assert f'elbow, {what}: expected an error of at most 0.2, found 0.3' in verdict.text


def test_the_goal_may_be_reached_late_but_not_too_late():
    given = Tolerances(NONE, NONE, np.full(2, 0.1), np.full(2, 0.05), 0.5)
    assert judge(given, 3.0, 0.2) is None and judge(given, 3.4, 0.0, 0.1) is None
    assert judge(given, 3.45, 0.05).code == SUCCESSFUL
    verdict = judge(given, 3.6, 0.2)
    assert verdict.code == GOAL_TOLERANCE_VIOLATED and '0.600 s after the end' in verdict.text
    patient = Tolerances(NONE, NONE, np.full(2, 0.1), NONE, 0.0)
    assert judge(patient, 1000.0, 0.2) is None


def test_exact_inputs_are_those_of_the_state_whenever_they_come():
    values = StampedInput(exact=True, period=0, timeout=0)
    values.put(10, 'ten')
    assert values.at(12) is None and values.at(8) is None and values.at(10) == (10, 'ten')


def test_inputs_once_a_period_are_chosen_by_their_stamps():
    """Terms at 0, 20, 40: a state at 20 waits for those of 20, one at 38 takes them."""
    values = StampedInput(exact=True, period=20, timeout=0)
    values.put(0, 'first')
    assert values.at(18) == (0, 'first') and values.at(20) is None
    values.put(20, 'second')
    values.put(40, 'third')
    assert values.at(38) == (20, 'second') and values.at(40) == (40, 'third')


def test_free_running_the_newest_will_do_until_it_is_too_old():
    values = StampedInput(exact=False, period=0, timeout=100)
    assert values.at(0) is None
    values.put(10, 'ten')
    values.put(20, 'twenty')
    assert values.at(120) == (20, 'twenty') and values.at(121) is None
    assert values.at(15) == (20, 'twenty')
    values.clear()
    assert values.at(30) is None


def test_what_comes_late_from_before_a_reset_is_not_taken_for_what_is_to_come():
    values = StampedInput(exact=True, period=0, timeout=0)
    values.at(3_000_000_000)
    values.clear()
    values.put(3_000_000_000, 'old')
    assert values.at(3_000_000_000) is None


def test_the_monitor_keeps_duration_and_largest_error():
    monitor = GoalMonitor(MOTION, Tolerances(NONE, NONE, NONE, NONE), ('slide', 'elbow'),
                          ('m', 'rad'))
    assert monitor.duration == 0.0 and monitor.largest_error() == 'none yet'
    for time, off in ((1.0, [0.0, 0.1]), (1.5, [-0.25, 0.0]), (2.25, [0.0, 0.2])):
        wanted = MOTION.sample(time)
        monitor.judge(time, wanted, wanted.position + off, wanted.velocity)
    assert monitor.duration == 1.25 and monitor.largest_error() == '0.25 m (slide)'
