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
"""Joints that are commanded by position or velocity, as ros2_control does it."""
import re

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model, largest_joint_inertia
from flex_dynamics.simulation.command_limits import CommandError, CommandLimits
from flex_dynamics.simulation.plant import Drives, Plant
from flex_dynamics.simulation.position_drives import BANDWIDTH

PERIOD = 0.002
BENT = np.array([0.3, 0.9, 0.8, 0.5])
JOINTS = [f'joint{k}' for k in range(1, 5)]
NAN = np.nan
TAG = """<ros2_control name="arm" type="system">
  <joint name="joint1"><command_interface name="position"/></joint>
  <joint name="joint2"><command_interface name="position"/>
    <command_interface name="effort"/></joint>
  <joint name="joint3"><command_interface name="velocity"/></joint>
  <joint name="joint4"><state_interface name="position"/></joint>
</ros2_control>"""


@pytest.fixture(scope='module')
def arm():
    """Without the tag that the bundled robot has."""
    urdf = load_robot('cibicik_arm').urdf
    return Model(load_robot(re.sub('<ros2_control.*</ros2_control>', '', urdf, flags=re.DOTALL)))


@pytest.fixture(scope='module')
def tagged(arm):
    return Model(load_robot(arm.robot.urdf.replace('</robot>', f'{TAG}</robot>')))


def plant_of(model, start, **options):
    joints = model.n_joints
    plant = Plant(model, 0.5 * PERIOD, 2, Drives(np.zeros(joints), np.zeros(joints)), start,
                  deflected=True, **options)
    plant.commands.partial = True
    return plant


def minimum_jerk(share):
    share = min(share, 1.0)
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def test_the_start_pose_is_held_under_gravity(arm):
    plant = plant_of(arm, BENT, holds_start=True)
    for _ in range(500):
        plant.advance()
    assert np.abs(plant.q[:4] - BENT).max() < 2e-3
    assert np.abs(plant.v[:4]).max() < 2e-3
    plant.reset()
    assert np.array_equal(plant.q[:4], BENT) and plant.commands.followed.all()


def test_without_holding_it_the_arm_falls(arm):
    plant = plant_of(arm, BENT)
    for _ in range(100):
        plant.advance()
    assert np.abs(plant.q[:4] - BENT).max() > 0.02


@pytest.mark.parametrize('robot, duration', [('cibicik_arm', 2.0), ('lab_link', 1.0),
                                             ('canadarm', 30.0), ('ur5', 1.0)])
def test_positions_at_100_hertz_are_followed(robot, duration):
    """By 0.3 rad, from the sag of the start; the links may ring, the joints do not."""
    model = Model(load_robot(robot))
    start = np.zeros(model.n_joints)
    plant = plant_of(model, start, holds_start=True)
    names, off = list(model.joint_names), []
    for k in range(round((duration + 1.0) / PERIOD)):
        if k % 5 == 0:
            wanted = start + 0.3 * minimum_jerk(k * PERIOD / duration)
            plant.commands.accept(names, [], position=wanted)
        plant.advance()
        off.append(np.abs(plant.joints()[0] - wanted).max())
    # The filter lags by 2 / SMOOTHING = 20 ms; speeds are up to 1.9 * 0.3 / duration.
    assert max(off) < 0.03 * 1.9 * 0.3 / duration + 0.01
    assert max(off[-100:]) < 5e-3


def test_a_velocity_is_followed_and_its_position_does_not_sag(arm):
    plant = plant_of(arm, BENT, holds_start=True)
    plant.commands.accept(['joint2'], [], (), [0.1])
    for _ in range(1000):
        plant.advance()
    assert plant.q[1] == pytest.approx(BENT[1] + 0.2, abs=5e-3)
    plant.commands.accept(['joint2'], [], (), [0.0])
    for _ in range(500):
        plant.advance()
    there = plant.q[1]
    for _ in range(500):
        plant.advance()
    assert plant.q[1] == pytest.approx(there, abs=1e-3)


def test_a_velocity_that_the_motor_cannot_reach_leaves_no_debt(arm):
    plant = plant_of(arm, BENT, holds_start=True)
    plant.commands.accept(['joint1'], [], (), [10.0])
    for _ in range(50):
        plant.advance()
    plant.commands.accept(['joint1'], [], (), [0.0])
    positions = []
    for _ in range(1500):
        plant.advance()
        positions.append(plant.q[0])
    # It brakes within 0.36 rad; to where the integral would have run it were 0.50. The long arm
    # still swings, so it is the mean that stands.
    early, late = np.mean(positions[250:750]), np.mean(positions[1000:])
    assert early == pytest.approx(late, abs=0.01)
    assert late - positions[0] < 0.42


def test_efforts_and_positions_change_places_without_a_jump(arm):
    plant = plant_of(arm, BENT)
    _, efforts = arm.statics(BENT)
    plant.commands.accept(JOINTS, efforts)
    plant.advance()
    before = plant.applied
    plant.commands.accept(JOINTS, [], position=plant.joints()[0].copy())
    plant.advance()
    assert np.abs(plant.applied - before).max() < 0.02 * np.abs(efforts).max()
    plant.commands.accept(JOINTS, efforts)
    assert not plant.commands.followed.any() and np.isnan(plant.commands.position).all()
    plant.advance()
    assert np.allclose(plant.applied, efforts)


def test_gains_that_were_given_are_used(arm):
    plant = plant_of(arm, np.zeros(4))
    plant.drives = Drives(np.array([5000.0, 0.0, 0.0, 0.0]), np.full(4, 10.0))
    plant.commands.accept(JOINTS, [], position=np.zeros(4))
    plant.advance()
    stiffness, damping = plant.simulation.servo[:2]
    inertia = largest_joint_inertia(arm)
    assert np.allclose(stiffness, [5000.0, *(BANDWIDTH**2 * inertia[1:])])
    assert np.allclose(damping, [10.0, *np.maximum(10.0, 2.0 * BANDWIDTH * inertia[1:])])
    assert np.array_equal(plant.drives.stiffness, [5000.0, 0.0, 0.0, 0.0])
    plant.commands.accept(JOINTS, np.zeros(4))
    plant.advance()
    assert not plant.simulation.servo[0].any() and (plant.simulation.servo[1] == 10.0).all()


def test_nan_means_not_commanded(arm):
    commands = CommandLimits(arm, partial=True)
    commands.accept(JOINTS, [1.0, NAN, NAN, NAN], [NAN, 0.2, NAN, NAN], [NAN, NAN, 0.3, NAN])
    assert commands.effort.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert commands.followed.tolist() == [False, True, True, False]
    assert commands.by_velocity.tolist() == [False, False, True, False]
    assert commands.wanted[0, 1] == 0.2 and commands.wanted[1, 2] == 0.3
    commands.accept(JOINTS, [NAN] * 4)      # no controller is active: all stays
    assert commands.effort[0] == 1.0 and commands.followed.tolist() == [False, True, True, False]
    commands.accept(['joint2'], [3.0])
    assert commands.effort[1] == 3.0 and not commands.followed[1]
    assert np.isnan(commands.position[1])


def test_nan_is_refused_of_a_controller_that_answers_states(arm):
    commands = CommandLimits(arm)
    with pytest.raises(CommandError, match='position: expected finite numbers, found nan'):
        commands.accept(JOINTS, [0.0] * 4, [NAN] * 4)


@pytest.mark.parametrize('beside', [
    {'position': [0.3] * 4}, {'velocity': [0.3] * 4},
    {'position': [0.3] * 4, 'velocity': [0.0] * 4}])
def test_zeros_that_an_effort_controller_left_do_not_let_the_arm_fall(arm, beside):
    commands = CommandLimits(arm, partial=True)
    commands.accept(JOINTS, [1.0, 2.0, 3.0, 4.0])
    commands.accept(JOINTS, [0.0] * 4, **beside)
    assert commands.followed.all()
    commands.accept(JOINTS, [0.0, 5.0, 0.0, 0.0], **beside)      # one of them is an effort
    assert commands.followed.tolist() == [True, False, True, True]
    commands.accept(JOINTS, [0.0] * 4)                           # alone, zero is an effort
    assert not commands.followed.any() and not commands.effort.any()
    answering = CommandLimits(arm)
    answering.accept(JOINTS, [0.0] * 4, [0.3] * 4)
    assert not answering.followed.any()


def test_short_arrays_are_assigned_by_the_tag(tagged):
    commands = CommandLimits(tagged, partial=True)
    commands.accept(JOINTS, [5.0], [0.1, 0.2], [0.4])
    assert commands.followed.tolist() == [True, False, True, False]
    assert commands.wanted[0, 0] == 0.1 and commands.effort[1] == 5.0
    assert commands.position[1] == 0.2 and commands.wanted[1, 2] == 0.4
    commands.accept(['joint3', 'joint1'], [], [0.7], [0.5])      # in the order of the names
    assert commands.wanted[0, 0] == 0.7 and commands.wanted[1, 2] == 0.5


@pytest.mark.parametrize('names, effort, position, words', [
    (JOINTS, [1.0, 2.0], [], r'effort: expected 4 .* found 2; .* lists the command interface '
                             r'effort for 1 of them: joint2'),
    (['joint1', 'joint4'], [1.0], [], 'for 0 of them: none'),
    (JOINTS, [], [0.1, np.inf, 0.0, 0.0], 'expected finite numbers, found inf for joint2'),
    (JOINTS, [], [0.1, 1e10, 0.0, 0.0], 'position: expected at most 1e.09, found 1e.10 for'),
])
def test_what_cannot_be_assigned_is_refused(tagged, names, effort, position, words):
    commands = CommandLimits(tagged, partial=True)
    with pytest.raises(CommandError, match=words):
        commands.accept(names, effort, position)
    assert not commands.followed.any() and not commands.effort.any()


def test_short_arrays_without_a_tag_are_refused(arm):
    with pytest.raises(CommandError, match='<ros2_control> tag of the robot description, which'):
        CommandLimits(arm, partial=True).accept(JOINTS, [], [0.1, 0.2])


def test_positions_are_cut_to_the_limits(arm):
    commands = CommandLimits(arm, partial=True)
    commands.accept(['joint1'], [], [100.0])
    assert commands.wanted[0, 0] == arm.joint_limits.upper[0] and commands.limited == 1


@pytest.mark.parametrize('steps', [1, 2])
def test_speeds_do_not_alternate_at_the_speed_limit(steps):
    model = Model(load_robot('ur5', 'ur5_flexible.yaml'))
    fastest, elbow = model.joint_limits.velocity[2], 2
    plant = Plant(model, 0.001, steps, Drives(np.zeros(6), np.zeros(6)),
                  np.array([0.0, -1.2, 1.5, -1.5, -1.5, 0.0]), deflected=True, holds_start=True)
    plant.commands.partial = True
    before, speeds, moved = plant.q[elbow], [], []
    for _ in range(300):
        plant.commands.accept(['elbow_joint'], [], velocity=[-10.0])
        plant.advance()
        speeds.append(plant.v[elbow])
        moved.append((plant.q[elbow] - before) / (0.001 * steps))
        before = plant.q[elbow]
    assert plant.saturated > 100                      # it would go faster
    assert -1.1 * fastest < np.mean(moved[100:]) < -0.98 * fastest
    assert np.abs(speeds).max() < 1.1 * fastest
    assert np.abs(np.subtract(speeds, moved)).max() < 0.5


def test_an_effort_does_not_drive_a_joint_beyond_its_speed_limit(arm):
    plant = plant_of(arm, BENT)
    fastest, moved = arm.joint_limits.velocity[0], [BENT[0]]
    while moved[-1] < 3.0:                            # where its stop is near
        plant.commands.accept(JOINTS, [min(50.0 * len(moved), 8e3), 0.0, 0.0, 0.0])
        plant.advance()
        moved.append(plant.q[0])
    speed = (moved[-1] - moved[-20]) / (19 * PERIOD)
    assert 0.9 * fastest < speed < 1.1 * fastest
