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
"""The ROS-free inside of the simulator node: the door for commands, the pace, the plant."""
import copy
import errno
import math
import os

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation
from flex_dynamics.model.joint_inertia import largest_joint_inertia
from flex_dynamics.simulation.command_limits import CommandError, CommandLimits
from flex_dynamics.simulation.pacing import LONGEST_LAG, Pacing
from flex_dynamics.simulation.plant import Drives, Plant
from flex_ros.real_time_thread import OVERLOAD, RealTimeThread

JOINTS = ['joint1', 'joint2', 'joint3', 'joint4']


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture
def commands(arm):
    return CommandLimits(arm)


def test_a_command_in_any_order_for_any_subset(commands):
    commands.accept(['joint3', 'joint1'], [3.0, 1.0])
    assert commands.effort.tolist() == [1.0, 0.0, 3.0, 0.0]
    commands.accept(['joint2'], [2.0], position=[0.5], velocity=[0.1])
    assert commands.effort.tolist() == [1.0, 2.0, 3.0, 0.0]
    assert commands.position[1] == 0.5 and np.isnan(commands.position[0])
    assert commands.velocity[1] == 0.1


def test_efforts_are_cut_to_the_limits_of_the_urdf(commands):
    commands.accept(JOINTS, [1e9, -1e9, 0.0, 0.0])
    assert commands.effort.tolist() == [8000.0, -16000.0, 0.0, 0.0]
    assert commands.limited == 1


@pytest.mark.parametrize('names, effort, more, words', [
    ([], [], {}, 'name: expected joint names'),
    (['elbow'], [1.0], {}, "'elbow' is no joint of this robot; joints: joint1"),
    (['link2/bend_y/1'], [1.0], {}, 'is no joint'),
    (['joint1', 'joint1'], [1.0, 1.0], {}, 'named twice'),
    (JOINTS, [1.0], {}, 'effort: expected 4 numbers'),
    (JOINTS, [], {}, 'expected effort, position or velocity, one number a name, found none'),
    (JOINTS, [1.0, np.nan, 0.0, 0.0], {}, 'found nan for joint2'),
    (JOINTS, [1.0, 0.0, 0.0, np.inf], {}, 'found inf for joint4'),
    (JOINTS, [0.0] * 4, {'velocity': [0.0]}, 'velocity: expected 4 numbers'),
    (JOINTS, [0.0] * 4, {'position': [np.nan] * 4}, 'position: expected finite'),
])
def test_bad_commands_change_nothing(commands, names, effort, more, words):
    commands.accept(JOINTS, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(CommandError, match=words):
        commands.accept(names, effort, **more)
    assert commands.effort.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize('factor', [0.3, 1.0, 7.0])
def test_who_sleeps_until_the_next_period_keeps_to_the_clock_however_late_he_wakes(factor):
    pacing = Pacing(0.002, factor)
    assert pacing.pause(100.0) == math.inf and pacing.due(100.0) == 0
    now, wall = 100.0, 0.002 / factor
    for k, late in enumerate(np.random.default_rng(1).uniform(0.0, 0.95, 1000), 1):
        pause = pacing.pause(now)
        assert pause > 0.0 and pacing.due(now + 0.99 * pause) == 0        # not before its time
        now += pause + late * wall
        assert pacing.due(now) == 1 and k <= (now - 100.0) / wall + 1e-4 < k + 1
    assert pacing.overruns == 0
    assert pacing.due(100.0 + 1005.1 * wall) == 5 and pacing.overruns == 1


def test_the_first_of_the_steps_that_are_asked_for_is_due_at_once():
    pacing = Pacing(0.002, 1.0)
    pacing.restart(due=1)
    assert pacing.due(5.0) == 1 and pacing.due(5.0015) == 0 and pacing.due(5.002) == 1
    assert pacing.overruns == 0


def test_time_slips_rather_than_races_after_a_long_stop():
    pacing = Pacing(0.002, 2.0)
    assert pacing.due(0.0) == 0
    assert pacing.due(10.0) == round(LONGEST_LAG * 2.0 / 0.002)
    assert pacing.slips == 1
    assert pacing.due(10.0012) == 1 and pacing.slips == 0


def test_who_cannot_keep_up_is_known_by_time_that_slips_again_and_again():
    pacing, now = Pacing(0.002, 1.0), 0.0
    pacing.due(now)
    for _ in range(100):
        now += 1.2 * 0.002 * max(pacing.due(now), 1)      # a period takes longer than it lasts
    assert pacing.slips > OVERLOAD


class Log(list):
    def info(self, text):
        self.append(text)

    warning = info


@pytest.fixture
def scheduler(monkeypatch):
    """What is asked of the system, which may also say no."""
    calls = []
    monkeypatch.setattr(os, 'sched_setscheduler',
                        lambda who, policy, param: calls.append((policy, param.sched_priority)))
    return calls


FIFO, ANY = (kind | os.SCHED_RESET_ON_FORK for kind in (os.SCHED_FIFO, os.SCHED_OTHER))


def test_the_thread_has_priority_until_it_cannot_keep_up(scheduler):
    log = Log()
    thread = RealTimeThread(50, log)
    assert not scheduler                             # not before the first period
    for slips in (0, 1, 0, OVERLOAD - 1):
        thread.keep(slips)
    assert scheduler == [(FIFO, 50)] and thread.text == 'SCHED_FIFO 50' and not log
    for slips in (OVERLOAD, OVERLOAD + 1, 0):
        thread.keep(slips)
    assert scheduler == [(FIFO, 50), (ANY, 0)]
    assert thread.text == 'as any process: it cannot keep up' and 'time slips' in log[0]


def test_without_the_right_to_a_priority_it_is_said_once(monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, 'Operation not permitted')
    monkeypatch.setattr(os, 'sched_setscheduler', refuse)
    log = Log()
    thread = RealTimeThread(50, log)
    for _ in range(3):
        thread.keep(0)
    assert thread.text == 'as any process: Operation not permitted'
    assert len(log) == 1 and 'thread_priority 50' in log[0]


def test_no_priority_is_asked_for_with_zero(scheduler):
    thread = RealTimeThread(0, Log())
    thread.keep(0)
    thread.keep(OVERLOAD)
    assert not scheduler and thread.text == 'as any process'


def plant(model, deflected=True, damping=0.0, **more):
    drives = Drives(np.zeros(4), np.full(4, damping))
    return Plant(model, 0.001, 2, drives, np.array([0.0, 0.5, 1.0, 0.5]), deflected, **more)


def test_a_deflected_start_is_at_rest_under_its_holding_efforts(arm):
    one = plant(arm)
    start = one.q.copy()
    one.commands.accept(JOINTS, arm.statics(start[:4])[1])
    for _ in range(20):
        one.advance()
    assert np.abs(one.q - start).max() < 1e-6
    assert not plant(arm, deflected=False).q[4:].any()


def test_drives_act_as_the_servo_of_the_simulation(arm):
    one = plant(arm, damping=500.0)
    gains = np.full(4, 500.0)
    other = Simulation(arm, 0.001, q=one.q, tolerance=one.simulation.tolerance)
    other.set_servo(np.zeros(4), gains, np.zeros(4), np.full(4, 0.1))
    one.commands.accept(JOINTS, [1.0] * 4, velocity=[0.1] * 4)
    one.advance()
    other.advance(2, [1.0] * 4)
    assert (one.q == other.q).all() and (one.v == other.v).all()
    assert np.allclose(one.applied, 1.0 + gains * (0.1 - one.v[:4]))


def test_the_fail_safe_takes_the_efforts_off(arm):
    one, other = plant(arm), plant(arm)
    one.commands.accept(JOINTS, [100.0] * 4)
    one.advance(safe=True)
    other.advance()
    assert (one.q == other.q).all() and not one.applied.any()


def test_a_plant_that_diverges_keeps_its_last_good_state(arm):
    one = plant(arm)
    one.drives = Drives(np.zeros(4), np.full(4, -1e6))       # pushes along with the motion
    with pytest.raises(DynamicsError):
        for _ in range(2000):
            good = one.q.copy()
            one.advance()
    assert np.isfinite(one.q).all() and (one.q == good).all()
    one.drives = Drives(np.zeros(4), np.zeros(4))
    one.reset()
    one.advance()
    assert np.isfinite(one.q).all()


def test_largest_inertia_is_that_of_the_stretched_arm(arm):
    stretched = np.diag(arm.mass_matrix(np.zeros(arm.n)))[:4]
    largest = largest_joint_inertia(arm)
    assert 0.8 * stretched[1] < largest[1] <= 1.001 * stretched[1]
    assert largest[0] > 5.0 * stretched[0]       # straight up the first joint turns little


def test_a_command_for_all_joints_is_taken_as_any_other(arm, commands):
    other = CommandLimits(arm)
    numbers = np.array([[1e9, 2.0], [0.5, -30.0], [3.0, 0.1], [4.0, -0.1]])
    efforts, speeds = numbers.T                         # not in one piece
    commands.accept_all(efforts, numbers[:, 1].copy(), speeds)
    other.accept(JOINTS, efforts, numbers[:, 1], speeds)
    assert (commands.targets == other.targets).all() and commands.limited == other.limited == 1
    for bad, words in ((np.array([0.0, np.nan, 0.0, 0.0]), 'found nan for joint2'),
                       (np.zeros(3), 'position: expected 4 numbers')):
        with pytest.raises(CommandError, match=words):
            commands.accept_all(np.zeros(4), bad, np.zeros(4))
    assert (commands.targets == other.targets).all()


def test_a_copy_of_a_simulation_moves_by_itself(arm):
    one = Simulation(arm, 0.001)
    other = copy.deepcopy(one)
    one.advance(10)
    assert not other.q.any() and one.q.any()
    other.advance(10)
    assert (one.q == other.q).all() and (one.v == other.v).all()
