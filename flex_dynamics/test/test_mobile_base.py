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
"""Platforms: twists to wheels and back, with two wheels and as a car."""
from functools import cache

import numpy as np
import pytest
from constrained_robots import joint, link, robot

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.mobile_base import MobileBase, WheelOdometry, has_mobile_base
from flex_dynamics.simulation.plant import Drives, Plant
from flex_dynamics.simulation.twist_driver import TwistDriver, TwistLimits

RADIUS, SEPARATION = 0.1, 0.5
BASE, TRACK, WHEEL = 1.2, 0.8, 0.2      # of the car, m


@cache
def platform(base='floating'):
    return Model(load_robot('mobile_arm', arguments={'base': base}))


@cache
def car():
    """base_link in the middle of the rear axle, rear wheels driven, front wheels steered.

    The right front wheel slides: two that roll would block each other by the slightest error of
    their angles.
    """
    flat = (0.02, 0.04, 0.02)
    parts = ['<link name="odom"/>', link('base_link', 50.0, f'{BASE / 2} 0 0.3', (3, 9, 10)),
             joint('base', 'odom', 'base_link', kind='planar', axis='0 0 1')]
    for side, y in (('left', TRACK / 2), ('right', -TRACK / 2)):
        parts += [
            link(f'{side}_rear', 2.0, '0 0 0', flat),
            joint(f'{side}_rear_joint', 'base_link', f'{side}_rear', f'0 {y} {WHEEL}'),
            f'<wheel name="{side}_rear" frame="{side}_rear" radius="{WHEEL}"/>',
            link(f'{side}_knuckle', 1.0, '0 0 0', (0.01, 0.01, 0.01)),
            f'<joint name="{side}_steering" type="revolute"><parent link="base_link"/><child '
            f'link="{side}_knuckle"/><origin xyz="{BASE} {y} {WHEEL}"/><axis xyz="0 0 1"/>'
            '<limit lower="-0.7" upper="0.7" effort="100" velocity="5"/></joint>',
            link(f'{side}_front', 2.0, '0 0 0', flat),
            joint(f'{side}_front_joint', f'{side}_knuckle', f'{side}_front'),
            f'<passive_joint name="{side}_front_joint"/>',
            f'<wheel name="{side}_front" frame="{side}_front" radius="{WHEEL}" type="'
            f'{"rolling" if side == "left" else "castor"}"/>']
    return Model(robot(*parts, name='car'))


def place(model, **angles):
    q = np.zeros(model.n)
    for name, angle in angles.items():
        q[model.names.index(name)] = angle
    return q


@pytest.mark.parametrize('kind', ['floating', 'planar'])
def test_two_wheels_have_the_textbook_formula(kind):
    base = MobileBase(platform(kind))
    assert (base.link, base.root) == ('base_link', 'odom')
    assert base.wheels == ('left_wheel_joint', 'right_wheel_joint') and base.steering == ()
    q = np.zeros(platform(kind).n)
    found = base.command([0.4, 0.0, 0.8], q)
    assert found.speeds == pytest.approx({
        'left_wheel_joint': (0.4 - 0.8 * SEPARATION / 2) / RADIUS,
        'right_wheel_joint': (0.4 + 0.8 * SEPARATION / 2) / RADIUS})
    assert found.twist == pytest.approx([0.4, 0.0, 0.8], abs=1e-12)
    rates = np.zeros(platform(kind).n_joints)
    for name, speed in found.speeds.items():
        rates[platform(kind).joint_names.index(name)] = speed
    assert base.twist(q, rates) == pytest.approx([0.4, 0.0, 0.8], abs=1e-12)


def test_sideways_is_not_possible_and_limits_keep_the_path():
    base, q = MobileBase(platform()), np.zeros(platform().n)
    assert base.command([0.3, 5.0, 0.2], q).twist == pytest.approx([0.3, 0.0, 0.2], abs=1e-9)
    fast = base.command([6.0, 0.0, 2.0], q)
    assert max(map(abs, fast.speeds.values())) == pytest.approx(15.0)       # rad/s, their limit
    assert fast.twist[2] / fast.twist[0] == pytest.approx(2.0 / 6.0)


@pytest.mark.parametrize('speed, turn', [(1.0, 0.4), (1.0, -0.5), (-0.8, 0.3), (2.0, 0.0)])
def test_a_car_steers_as_ackermann_says(speed, turn):
    """tan(angle) = wheelbase / (radius of the path -+ half of the track)."""
    base = MobileBase(car())
    assert set(base.wheels) == {'left_rear_joint', 'right_rear_joint'}
    assert set(base.steering) == {'left_steering', 'right_steering'}
    angles = base.command([speed, 0.0, turn], np.zeros(car().n)).angles
    for side, y in (('left', TRACK / 2), ('right', -TRACK / 2)):
        assert np.tan(angles[f'{side}_steering']) == pytest.approx(
            turn * BASE / (speed - turn * y))
    found = base.command([speed, 0.0, turn], place(car(), **angles))
    assert found.twist == pytest.approx([speed, 0.0, turn], abs=1e-9)
    for side, y in (('left', TRACK / 2), ('right', -TRACK / 2)):
        assert found.speeds[f'{side}_rear_joint'] == pytest.approx((speed - turn * y) / WHEEL)
    rates = np.zeros(car().n_joints)
    for name, rate in found.speeds.items():
        rates[car().joint_names.index(name)] = rate
    assert base.twist(place(car(), **angles), rates) == pytest.approx([speed, 0.0, turn],
                                                                       abs=1e-9)


def test_a_car_does_not_turn_on_the_spot():
    base, q = MobileBase(car()), np.zeros(car().n)
    found = base.command([0.0, 0.0, 1.0], q)
    assert found.twist == pytest.approx(np.zeros(3), abs=1e-9)
    assert all(abs(angle) <= 0.7 for angle in found.angles.values())
    still = base.command([0.0, 0.0, 0.0], place(car(), left_steering=0.2))
    assert still.angles['left_steering'] == 0.2


def drive(model, way, seconds):
    """True and wheel odometry's pose after driving by twist(time) for so long."""
    base, zero = MobileBase(model), np.zeros(model.n_joints)
    plant = Plant(model, 0.005, 2, Drives(zero, zero), zero, True, holds_start=True)
    odometry = WheelOdometry(base, plant.q)
    for k in range(round(seconds / 0.01)):
        command = base.command(way(0.01 * k), plant.q)
        plant.commands.accept(list(command.speeds), (), (), list(command.speeds.values()))
        if command.angles:
            plant.commands.accept(list(command.angles), (), list(command.angles.values()))
        plant.advance()
        odometry.update(plant.q, 0.01)
    return plant, base, odometry


def test_odometry_of_an_s_is_the_true_pose():
    """Half a turn to the left and one to the right, 0.5 m of radius: back in the first heading."""
    def s(time):
        return [0.5, 0.0, 1.0 if time < np.pi else -1.0]

    plant, base, odometry = drive(platform('planar'), s, 2 * np.pi)
    true = base.true_pose(plant.q)
    assert odometry.pose == pytest.approx(true, abs=1e-5)
    assert odometry.twist == pytest.approx(base.true_twist(plant.q, plant.v), abs=1e-3)
    # Wheels lag a little behind the command: the circle is followed within that.
    assert true[:2] == pytest.approx([0.0, 2.0], abs=0.05)


def test_a_car_drives_a_bend():
    plant, base, odometry = drive(car(), lambda time: [1.0, 0.0, 0.4], 3.0)
    true = base.true_pose(plant.q)
    assert odometry.pose == pytest.approx(true, abs=2e-3)
    assert base.true_twist(plant.q, plant.v) == pytest.approx([1.0, 0.0, 0.4], abs=5e-3)


@pytest.mark.parametrize('name, words', [
    ('ur5', 'expected a planar or floating base'),
    ('planar_biped', 'expected a rolling <wheel> on a joint with a motor')])
def test_what_is_no_platform_says_why(name, words):
    model = Model(load_robot(name))
    assert not has_mobile_base(model)
    with pytest.raises(DynamicsError, match=words):
        MobileBase(model)


def test_twists_are_limited_and_end():
    driver = TwistDriver(TwistLimits(speed=1.0, acceleration=2.0), timeout=0.5)
    assert driver.twist(0.0, 0.1) is None
    driver.accept([4.0, 0.0, 2.0], 0.0)
    assert driver.twist(0.1, 0.1) == pytest.approx([0.2, 0.0, 0.5])     # half of the path's turn
    for k in range(2, 6):
        last = driver.twist(0.1 * k, 0.1)
    assert last == pytest.approx([1.0, 0.0, 0.5])
    # After the timeout it brakes, says zero once, and then leaves the wheels alone.
    later = []
    while (twist := driver.twist(0.6 + 0.1 * len(later), 0.1)) is not None:
        later.append(twist[0])
    assert later == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0]) and driver.stops == 1
    assert not driver.engaged


@pytest.mark.parametrize('twist, words', [
    ([np.nan, 0.0, 0.0], 'linear.x: expected a finite number, found nan'),
    ([0.0, 0.0, -np.inf], 'angular.z: expected a finite number, found -inf'),
    ([0.0, 1e300, 0.0], r'linear.y: expected at most 1e\+09, found 1e\+300')])
def test_bad_twists_change_nothing(twist, words):
    driver = TwistDriver(TwistLimits(), timeout=0.5)
    driver.accept([0.3, 0.0, 0.1], 0.0)
    with pytest.raises(CommandError, match=words):
        driver.accept(twist, 0.1)
    assert driver.twist(0.2, 0.01) == pytest.approx([0.3, 0.0, 0.1])
