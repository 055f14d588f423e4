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
"""The observer of a robot in other hands: against a simulated one, with sensors that come and go.
"""
from dataclasses import replace

import numpy as np
import pytest

from flex_control import (
    PD,
    ControlError,
    FilterNoise,
    Measurements,
    MinimumJerk,
    StateObserver,
    run_trial,
)
from flex_description import load_robot
from flex_dynamics import Model, Sensors

PERIOD, PERIOD_NS = 2e-3, 2_000_000
NOISE = FilterNoise()
GAUGES, IMUS = ('strain',), ('gyro', 'acceleration')


class Robot:
    """A simulated arm that moves, and the readings of its sensors at each period."""

    def __init__(self, name, start, way, duration=2.0):
        self.model = model = Model(load_robot(name))
        start = np.array(start)
        self.frame = model.robot.imus[-1].frame
        self.run = run_trial(PD(model), MinimumJerk(start, start + way, 1.5), duration,
                             period=PERIOD, step=PERIOD / 4, tip=self.frame)
        self._sensors, rng = Sensors(model), np.random.default_rng(5)
        self.readings = [self._read(k, rng) for k in range(len(self.run.time))]
        self.stamps = PERIOD_NS * np.arange(len(self.run.time))

    def _read(self, k, rng):
        q, v, joints = self.run.q[k], self.run.v[k], self.model.n_joints
        imus = self._sensors.imu(q, v, self.model.forward_dynamics(q, v, self.run.effort[k]))
        exact = {'joint_position': q[:joints], 'joint_velocity': v[:joints],
                 'strain': self._sensors.strain(q),
                 'gyro': np.array([one.gyro for one in imus]),
                 'acceleration': np.array([one.acceleration for one in imus])}
        return Measurements(**{name: value + getattr(NOISE, name) * rng.standard_normal(
            value.shape) for name, value in exact.items()})

    def tip(self, q):
        return self.model.pose(q, self.frame)[:3, 3]

    def observe(self, efforts=True, without=(), stamps=None, observer=None, every=1):
        """Distance (m) of the tip from its estimate at each period, and its deviation at the
        end. every: periods from one reading to the next."""
        observer = observer or StateObserver(self.model, period=PERIOD)
        off = []
        for k, readings in list(enumerate(self.readings))[::every]:
            estimate = observer.update(
                int((self.stamps if stamps is None else stamps)[k]),
                replace(readings, **dict.fromkeys(without)),
                self.run.effort[max(k - 1, 0)] if efforts else None)
            if estimate is not None:
                off.append(np.linalg.norm(self.tip(estimate.q) - self.tip(self.run.q[k])))
        slopes = self.model.jacobian(estimate.q, self.frame)[:3]
        n = self.model.n
        spread = slopes @ observer.covariance[:n, :n] @ slopes.T
        return np.array(off), float(np.sqrt(np.diag(spread).max())), observer


@pytest.fixture(scope='module')
def arm():
    return Robot('cibicik_arm', [0.0, 0.5, 1.0, 0.5], 0.5 * np.array([1.0, -0.6, 0.6, -0.8]))


@pytest.fixture(scope='module')
def link():
    return Robot('lab_link', [0.3], np.array([0.5]))


def still(robot):
    """Readings at rest at the start."""
    q = robot.model.statics(robot.run.q[0][:robot.model.n_joints])[0]
    sensors = Sensors(robot.model)
    imus = sensors.imu(q, 0.0 * q, 0.0 * q)
    return q, Measurements(q[:robot.model.n_joints], np.zeros(robot.model.n_joints),
                           sensors.strain(q), np.array([one.gyro for one in imus]),
                           np.array([one.acceleration for one in imus]))


def test_the_tip_of_a_moving_arm_is_known_to_half_a_millimetre(arm):
    """By static deflection alone it would be 1 to 2 cm off; the linear model changes many times.
    """
    off, deviation, observer = arm.observe()
    bent = max(np.linalg.norm(arm.tip(arm.model.statics(q[:4])[0]) - arm.tip(q))
               for q in arm.run.q[::20])
    assert bent > 10e-3
    assert np.sqrt(np.mean(off[50:]**2)) < 0.3e-3 and off[50:].max() < 1e-3
    assert deviation < 1e-3 and observer.restarts == 0 and observer.knows_effort


def test_it_works_without_efforts(arm, link):
    for robot, rms in ((arm, 0.6e-3), (link, 0.2e-3)):
        off, deviation, observer = robot.observe(efforts=False)
        assert np.sqrt(np.mean(off[50:]**2)) < rms, robot.model.robot.name
        assert np.sqrt(np.mean(off[50:]**2)) < 3.0 * deviation
        assert not observer.knows_effort and observer.restarts == 0


@pytest.mark.parametrize('efforts, rms', [(True, 1.5e-3), (False, 2e-3)])
def test_drivers_of_100_hz_will_do(arm, efforts, rms):
    """Less well, but nothing swings up between two readings."""
    off, _, observer = arm.observe(efforts, every=5)
    assert np.sqrt(np.mean(off[10:]**2)) < rms and observer.restarts == 0


def share_within(robot, efforts, without, first=0, every=1):
    """Share of the tip's coordinates that are within two deviations of their estimates, and the
    largest error in deviations; first: the reading that it begins with; every: as in observe."""
    observer, errors = StateObserver(robot.model, period=PERIOD), []
    n = robot.model.n
    for k in range(first, len(robot.readings), every):
        estimate = observer.update(robot.stamps[k], replace(
            robot.readings[k], **dict.fromkeys(without)),
            robot.run.effort[max(k - 1, 0)] if efforts else None)
        if k % 5 == 0:
            slopes = robot.model.jacobian(estimate.q, robot.frame)[:3]
            spread = slopes @ observer.covariance[:n, :n] @ slopes.T
            errors.append((robot.tip(estimate.q) - robot.tip(robot.run.q[k]))
                          / np.sqrt(np.diag(spread)))
    sizes = np.abs(errors)
    return float((sizes < 2.0).mean()), float(sizes.max())


@pytest.mark.parametrize('first', [0, 375])
@pytest.mark.parametrize('efforts, without', [
    (True, GAUGES + IMUS), (True, ()), (False, GAUGES + IMUS)])
def test_the_covariance_contains_the_error(arm, efforts, without, first):
    """From rest, and begun in the middle of the motion, where the arm is bent by its own
    acceleration and nobody has told how fast it is."""
    share, worst = share_within(arm, efforts, without, first)
    assert share > 0.95 and worst < 4.0


@pytest.mark.parametrize('efforts', [True, False])
def test_drivers_of_20_hz_get_honest_estimates(arm, efforts):
    """Every reading is a beginning; efforts that are held for 50 ms would throw the tip by 5 cm.
    """
    off, _, observer = arm.observe(efforts, every=25)
    assert np.sqrt(np.mean(off**2)) < 8e-3 and observer.restarts == len(off) - 1
    share, worst = share_within(arm, efforts, (), every=25)
    assert share > 0.95 and worst < 4.0


def test_the_first_estimate_has_all_readings(arm):
    """Where joint states come seldom, every one of them is a beginning."""
    tips = [np.linalg.norm(arm.tip(arm.model.statics(q[:4])[0]) - arm.tip(q))
            for q in arm.run.q[::20]]
    k = 20 * int(np.argmax(tips))
    estimate = StateObserver(arm.model, period=PERIOD).update(0, arm.readings[k])
    off = np.linalg.norm(arm.tip(estimate.q) - arm.tip(arm.run.q[k]))
    assert estimate.measured > 8 and max(tips) > 10e-3 and off < 0.6 * max(tips)
    assert np.abs(estimate.v[:4] - arm.run.v[k, :4]).max() < 0.05


def test_begun_in_mid_motion_it_finds_the_tip(arm):
    for without, rms in (((), 0.5e-3), (GAUGES + IMUS, 5e-3)):
        observer, off = StateObserver(arm.model, period=PERIOD), []
        for k in range(375, len(arm.readings)):
            estimate = observer.update(arm.stamps[k], replace(
                arm.readings[k], **dict.fromkeys(without)), arm.run.effort[k - 1])
            off.append(np.linalg.norm(arm.tip(estimate.q) - arm.tip(arm.run.q[k])))
        assert np.sqrt(np.mean(np.square(off[50:]))) < rms and observer.restarts == 0


def test_what_is_missing_widens_the_covariance(link):
    _, full, _ = link.observe()
    _, without_imu, _ = link.observe(without=IMUS)
    _, encoders, _ = link.observe(without=GAUGES + IMUS)
    _, nothing_known, _ = link.observe(efforts=False, without=GAUGES + IMUS)
    assert full < without_imu < encoders < nothing_known


def test_the_covariance_grows_while_nothing_comes(link):
    q, readings = still(link)
    observer = StateObserver(link.model, period=PERIOD)
    for k in range(50):
        observer.update(k * PERIOD_NS, readings)
    before = np.diag(observer.covariance)
    spreads = [before]
    for k in range(50, 60):
        assert observer.update(k * PERIOD_NS, Measurements()).measured == 0
        spreads.append(np.diag(observer.covariance))
    assert (np.diff([spread[0] for spread in spreads]) > 0.0).all()
    observer.update(60 * PERIOD_NS, readings)
    assert observer.covariance[0, 0] < 2.0 * before[0]


def test_single_nans_are_left_out(link):
    q, readings = still(link)
    observer = StateObserver(link.model, period=PERIOD)
    strain = readings.strain.copy()
    strain[1] = np.nan
    for k in range(20):
        estimate = observer.update(k * PERIOD_NS, replace(readings, strain=strain, gyro=None,
                                                          acceleration=None))
    assert estimate.measured == 2 + len(strain) - 1 and np.isfinite(estimate.q).all()
    estimate = observer.update(20 * PERIOD_NS, replace(readings, joint_position=np.full(
        1, np.nan)))
    assert estimate is not None and np.isfinite(estimate.q).all()


def test_readings_between_the_periods_are_put_on_the_grid(arm):
    """Stamps that jitter by a third of a period: a joint at 1 rad/s would else be off by 0.7
    mrad."""
    rng = np.random.default_rng(2)
    observer = StateObserver(arm.model, period=PERIOD)
    shifts = rng.integers(-600_000, 600_000, len(arm.stamps))
    shifts[0] = 0
    worst = 0.0
    for k, readings in enumerate(arm.readings):
        later = 1e-9 * shifts[k]
        moved = replace(readings, joint_position=readings.joint_position
                        + later * arm.run.v[k, :4])
        estimate = observer.update(int(arm.stamps[k] + shifts[k]), moved,
                                   arm.run.effort[max(k - 1, 0)])
        assert estimate.stamp_ns == arm.stamps[k]
        if k > 50:
            worst = max(worst, np.abs(estimate.q - arm.run.q[k])[:4].max())
    assert worst < 2e-4


def test_faster_readings_are_thinned_and_slower_ones_bridged(link):
    q, readings = still(link)
    observer = StateObserver(link.model, period=PERIOD)
    assert observer.update(0, readings) is not None
    assert observer.update(PERIOD_NS // 4, readings) is None
    assert not observer.due(PERIOD_NS // 4) and observer.due(PERIOD_NS)
    assert observer.update(5 * PERIOD_NS, readings).stamp_ns == 5 * PERIOD_NS
    assert observer.restarts == 0


def test_it_begins_anew_when_time_was_set_back_or_stood_still_long(link):
    q, readings = still(link)
    observer = StateObserver(link.model, period=PERIOD)
    observer.update(10**9, readings)
    for count, stamp_ns in enumerate((10**6, 10**12), 1):
        estimate = observer.update(stamp_ns, readings)
        assert estimate.stamp_ns == stamp_ns and observer.restarts == count
        assert np.allclose(estimate.q, q)


def test_it_waits_for_the_positions_of_all_joints(arm):
    q, readings = still(arm)
    observer = StateObserver(arm.model, period=PERIOD)
    half = readings.joint_position.copy()
    half[2] = np.nan
    assert observer.update(0, replace(readings, joint_position=half)) is None
    assert observer.update(0, replace(readings, joint_position=None)) is None
    assert observer.update(0, readings) is not None


@pytest.mark.parametrize('wrong', [1e8, 1e200])
def test_absurd_readings_end_in_an_error_and_a_new_beginning(link, wrong):
    q, readings = still(link)
    observer = StateObserver(link.model, period=PERIOD)
    for k in range(10):
        observer.update(k * PERIOD_NS, readings)
    with pytest.raises(ControlError):
        observer.update(10 * PERIOD_NS, replace(readings, strain=readings.strain + wrong))
    estimate = observer.update(11 * PERIOD_NS, readings)
    assert observer.restarts == 1 and np.allclose(estimate.q, q)


def test_a_joint_that_jumps_is_followed_by_a_new_beginning(arm):
    """As after a gap in which the controller has moved on; a linear correction would diverge."""
    q, readings = still(arm)
    observer = StateObserver(arm.model, period=PERIOD)
    tau = arm.model.statics(q[:4])[1]
    for k in range(10):
        observer.update(k * PERIOD_NS, readings, tau)
    for jump in (0.2, 3.0, -2.0):
        moved = readings.joint_position + jump
        estimate = observer.update(observer.stamp_ns + PERIOD_NS, Measurements(moved), tau)
        assert np.allclose(estimate.q[:4], moved) and np.isfinite(observer.covariance).all()
    assert observer.restarts == 3


def test_without_encoders_a_held_effort_does_not_let_the_arm_fall(arm):
    q, readings = still(arm)
    observer, (_, tau) = StateObserver(arm.model, period=PERIOD), arm.model.statics(q[:4])
    for k in range(100):
        observer.update(k * PERIOD_NS, readings, 0.9 * tau if k == 99 else tau)
    for k in range(100, 200):
        estimate = observer.update(k * PERIOD_NS, Measurements(), tau)
    assert np.abs(estimate.q - q)[:4].max() < 0.02


def test_efforts_may_come_and_go(link):
    off, _, observer = link.observe()
    for k, readings in enumerate(link.readings):
        known = k // 100 % 2 == 0
        estimate = observer.update(int(10**10 + link.stamps[k]), readings,
                                   link.run.effort[max(k - 1, 0)] if known else None)
        assert observer.knows_effort == known
        assert k < 50 or np.linalg.norm(link.tip(estimate.q) - link.tip(link.run.q[k])) < 5e-4
    assert observer.restarts == 1       # time stood still
