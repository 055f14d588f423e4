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
"""Motions planned beside a control loop, without ROS."""
import time

import numpy as np
import pytest

from flex_control import ControlLoop, MotionLimits, SetPoints, Shaped, make_controller
from flex_control.loop.motion_planner import FIRST_STATE, MotionPlanner
from flex_control.loop.planning import AT_ONCE, DELAY, DELAY_PER_POINT
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.trajectories import Prepared
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_description import load_robot
from flex_dynamics import Model

MODEL = Model(load_robot('lab_link'))
NAMES = MODEL.names[:1]
PERIOD_NS = 2_000_000


class Rig:
    """A loop in lockstep that holds 0.4 rad, and what its planner was heard to say."""

    def __init__(self, interpolation='splines'):
        self.loop = ControlLoop(MODEL, make_controller('pd', MODEL), SetPoints([0.0], [[0.4]]))
        limits = MotionLimits.of(MODEL.robot, NAMES)
        self.planner = MotionPlanner(self.loop, TrajectoryReader(NAMES, limits, interpolation),
                                     lockstep=True)
        self.outcome, self.warnings, self._tick = None, [], 0
        self._q = MODEL.statics([0.4])[0]

    def states(self, count):
        """The references at the next states (count,), rad."""
        wanted = []
        for _ in range(count):
            stamp_ns = self._tick * PERIOD_NS
            self._tick += 1
            self.loop.step(1e-9 * stamp_ns, self._q, np.zeros(MODEL.n))
            wanted.append(float(self.loop.controller.reference.position[0]))
            self.planner.observe(stamp_ns)
            self.planner.go_on()
            self.warnings.append(self.planner.work())
        return np.array(wanted)

    def done(self, outcome):
        self.outcome = outcome
        if not isinstance(outcome, GoalError):
            self.loop.set_trajectory(outcome)

    def begin(self, positions, duration=1.0):
        times = np.linspace(duration / len(positions), duration, len(positions))
        self.planner.begin(TrajectoryPoints(
            tuple(NAMES), 0.0, times, np.array(positions)[:, None], None, None, None), self.done)


@pytest.fixture
def rig():
    made = Rig()
    yield made
    made.planner.close()


def test_a_short_motion_begins_at_once_from_the_present_reference(rig):
    rig.states(5)
    rig.begin([0.6])
    wanted = rig.states(501)
    assert abs(wanted[0] - 0.4) < 1e-3 and np.all(np.diff(wanted) >= 0.0)
    assert abs(wanted[-1] - 0.6) < 1e-9


def test_a_motion_waits_for_the_first_state(rig):
    rig.begin([0.6])
    rig.planner.go_on()
    assert rig.outcome is None and rig.planner.waits
    wanted = rig.states(501)
    assert not rig.planner.waits and wanted[0] == 0.4 and abs(wanted[-1] - 0.6) < 1e-9


def test_a_long_motion_waits_for_the_first_state(rig):
    rig.begin(np.linspace(0.41, 0.6, AT_ONCE + 50))
    assert abs(rig.states(700)[-1] - 0.6) < 1e-9


def test_a_motion_does_not_wait_for_the_first_state_for_ever(rig, monkeypatch):
    rig.begin([0.6])
    now = time.monotonic()
    monkeypatch.setattr(time, 'monotonic', lambda: now + FIRST_STATE + 0.1)
    rig.planner.go_on()
    assert isinstance(rig.outcome, GoalError) and not rig.planner.waits
    assert str(rig.outcome) == ('no state has come for 10 s: expected flex_state or '
                                'joint_states')
    assert np.allclose(rig.states(20), 0.4)


@pytest.mark.parametrize('end, why', [
    (lambda rig: rig.planner.forget('cancelled'), 'cancelled'),
    (lambda rig: rig.planner.stop(0.1), 'the motion was stopped'),
    (lambda rig: rig.begin([0.3]), 'another motion took its place')])
def test_a_motion_that_waits_can_be_ended(rig, end, why):
    first = []
    rig.planner.begin(TrajectoryPoints(tuple(NAMES), 0.0, np.ones(1), np.array([[0.6]]), None,
                                       None, None), first.append)
    end(rig)
    assert str(first[0]) == why
    assert abs(rig.states(501)[-1] - (0.3 if 'place' in why else 0.4)) < 1e-9


def test_no_motion_while_blocked(rig):
    rig.planner.blocked = 'the arm is unplugged'
    rig.begin([0.6])
    assert str(rig.outcome) == 'no motion now: the arm is unplugged'
    rig.states(1)
    rig.outcome = None
    rig.begin([0.6])
    assert str(rig.outcome) == 'no motion now: the arm is unplugged'


def test_a_long_motion_begins_after_its_delay_however_fast_the_thread_is(rig):
    rig.states(5)
    count = AT_ONCE + 50
    rig.begin(np.linspace(0.41, 0.6, count))
    assert rig.outcome is None
    begins = 4 + int((DELAY + DELAY_PER_POINT * count) / (1e-9 * PERIOD_NS))      # ticks
    wanted = rig.states(600)
    moving = np.flatnonzero(wanted != 0.4)[0] + 5
    assert moving == begins + 1 and abs(wanted[-1] - 0.6) < 1e-9


def test_another_motion_replaces_one_that_is_being_planned(rig):
    rig.states(5)
    rig.begin(np.linspace(0.41, 0.6, AT_ONCE + 50))
    replaced = []
    rig.planner.forget = (lambda forget: lambda why: (replaced.append(why), forget(why)))(
        rig.planner.forget)
    rig.begin([0.3])
    assert replaced == ['another motion took its place']
    assert abs(rig.states(501)[-1] - 0.3) < 1e-9


def test_a_shaped_motion_is_prepared_and_then_followed(rig):
    rig.planner.set_shaper('zvd')
    rig.planner.set_shaper_modes(1)
    rig.states(5)
    rig.begin([0.6])
    assert isinstance(rig.outcome, Prepared) and rig.outcome.motion is None
    rig.states(200)
    shaped = rig.loop.trajectory
    assert isinstance(shaped, Shaped) and shaped is rig.outcome.motion
    left = int((shaped.end - rig.loop.time) / (1e-9 * PERIOD_NS)) + 2
    assert abs(rig.states(left)[-1] - 0.6) < 1e-12


def test_a_stop_forgets_the_planning_and_comes_to_rest(rig):
    rig.states(5)
    rig.begin(np.linspace(0.41, 0.6, AT_ONCE + 50))
    rig.planner.stop(0.1)
    assert isinstance(rig.outcome, GoalError) and str(rig.outcome) == 'the motion was stopped'
    assert np.allclose(rig.states(100), 0.4)


@pytest.mark.parametrize('duration, warns', [(0.25, True), (2.0, False)])
def test_too_much_effort_is_a_warning(duration, warns):
    rig = Rig('minimum_jerk')
    rig.states(5)
    rig.begin([1.4], duration)
    rig.states(100)
    warnings = [text for text in rig.warnings if text]
    assert len(warnings) == warns
    if warns:
        assert 'N m of joint1, whose limit is 10: the joint will lag behind' in warnings[0]
    rig.planner.close()
