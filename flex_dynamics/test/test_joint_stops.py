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
"""Joint limits as stiff stops, and drives at their limits."""
from dataclasses import replace

import numpy as np
import pytest
from small_robots import body_robot

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.kernels.stepping.driven_period import MARGIN, SPEED_BAND
from flex_dynamics.simulation.joint_stops import STIFFNESS
from flex_dynamics.simulation.plant import Drives, Plant

STEP = 0.001


def plant(model, start, stiffness=0.0, damping=0.0, **more):
    joints = model.n_joints
    drives = Drives(np.full(joints, stiffness), np.full(joints, damping))
    return Plant(model, STEP, 2, drives, np.array(start), True, **more)


def energy(one):
    """With what the springs of the stops hold, J."""
    stops, position = one.stops, one.q[:one.model.n_joints]
    pressed = np.maximum(stops.side * (position - stops.caught_at), 0.0)
    return sum(one.model.energy(one.q, one.v)) + 0.5 * float(stops.stiffness @ pressed**2)


def test_a_body_bounces_off_its_stop_and_loses_energy():
    one = plant(Model(body_robot('revolute')), [8.9])       # the limit is 9 rad
    one.simulation.set_state([8.9], [4.0])
    furthest, energies = 0.0, [energy(one)]
    for _ in range(200):
        one.advance()
        furthest = max(furthest, one.q[0])
        energies.append(energy(one))
    assert 9.0 < furthest < 9.0 + 4.0 / STIFFNESS + 0.5 * STEP * 4.0
    assert -4.0 < one.v[0] < -0.5
    assert np.diff(energies).max() < 1e-9
    assert not one.stops.side.any()


def test_a_body_pushed_against_its_stop_comes_to_rest_there():
    one = plant(Model(body_robot('revolute')), [8.95])
    one.commands.accept(['joint1'], [50.0])
    for _ in range(500):
        one.advance()
    sag = 50.0 / one.stops.stiffness[0]
    assert abs(one.q[0] - (one.stops.caught_at[0] + sag)) < 1e-6 and abs(one.v[0]) < 1e-6
    fastest = np.sqrt(2.0 * 50.0 * 0.06 / 0.1)           # by the work of the push on 0.1 kg m2
    assert abs(one.stops.caught_at[0] - 9.0) < 0.5 * STEP * fastest
    assert one.applied[0] == 50.0          # the motor's, not the stop's
    one.commands.accept(['joint1'], [-50.0])
    for _ in range(20):
        one.advance()
    assert one.v[0] < -1.0                 # it lets go


def test_a_flexible_arm_falls_on_its_stops_and_gains_no_energy():
    one = plant(Model(load_robot('cibicik_arm')), [0.0, 2.2, 1.0, 0.5])
    energies, furthest = [energy(one)], 0.0
    for _ in range(600):
        one.advance()
        energies.append(energy(one))
        furthest = max(furthest, float((np.abs(one.q[:4]) - one.stops.upper).max()))
    assert 0.0 < furthest < 0.06            # some joint did reach its stop, at tens of rad/s
    # The integrator's own error of one swing is within this; the stops only take.
    assert max(energies) - energies[0] < 0.05
    assert energies[-1] < energies[0] - 1.0


def test_far_from_the_limits_stops_change_nothing():
    model = Model(load_robot('cibicik_arm'))
    runs = []
    for stops in (True, False):
        one = plant(model, [0.0, 0.5, 1.0, 0.5], stops=stops)
        for _ in range(50):
            one.advance()
        runs.append(np.concatenate((one.q, one.v)))
    assert (runs[0] == runs[1]).all()
    assert not one.q[0] > 3.1416 - MARGIN


def test_stop_and_drive_act_side_by_side():
    one = plant(Model(body_robot('revolute')), [8.98], stiffness=100.0, damping=5.0)
    one.commands.accept(['joint1'], [0.0], position=[8.9])
    one.commands.position[0] = 9.2               # a target that the commands would not let through
    for _ in range(1000):
        one.advance()
    stiffness, caught = one.stops.stiffness[0], one.stops.caught_at[0]
    rest = (100.0 * 9.2 + stiffness * caught) / (100.0 + stiffness)
    assert abs(one.q[0] - rest) < 1e-9
    assert abs(one.applied[0] - 100.0 * (9.2 - rest)) < 1e-6


@pytest.mark.parametrize('damping', [0.0, 200.0])
def test_a_drive_never_gives_more_than_its_limit(damping):
    robot = body_robot('revolute')
    limits = replace(robot.joints[0].limits, effort=10.0, velocity=3.0)
    robot = replace(robot, joints=(replace(robot.joints[0], limits=limits),))
    one = plant(Model(robot), [0.0], stiffness=1000.0, damping=damping)
    one.commands.accept(['joint1'], [0.0], position=[1.0])
    largest = 0.0
    for _ in range(300):
        before = one.v[0]
        one.advance()
        largest = max(largest, abs(one.applied[0]))
        most = 10.0 / 0.1 * 2 * STEP         # rad/s a period, by the inertia of 0.1 kg m2
        assert abs(one.v[0] - before) < 1.02 * most
        assert one.v[0] < (1.0 + SPEED_BAND) * 3.0       # where no effort is left
    assert largest == 10.0 and one.saturated > 0
