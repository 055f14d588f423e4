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
"""Payloads and pushes on the simulator's plant, and the accelerations that its IMUs feel."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation, Wrench
from flex_dynamics.simulation.plant import Drives, Plant

JOINTS = ['joint1', 'joint2', 'joint3', 'joint4']
POSE = np.array([0.3, 0.5, 1.0, 0.5])
DAMPING = np.array([800.0, 2400.0, 900.0, 40.0])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture
def plant(arm):
    return Plant(arm, 0.001, 2, Drives(np.zeros(4), DAMPING), POSE, True)


def run(one, periods):
    for _ in range(periods):
        one.advance()


def test_a_payload_changes_the_motion_and_not_the_speed(arm, plant):
    plant.commands.accept(JOINTS, arm.statics(POSE)[1] + [0.0, 300.0, 0.0, 0.0])
    run(plant, 20)
    q, v = plant.q.copy(), plant.v.copy()
    centre, tensor = np.array([0.1, 0.0, 0.0]), 0.02 * np.eye(3)
    plant.attach('box', 'tool', None, 5.0, centre, tensor)
    assert (plant.q == q).all() and (plant.v == v).all() and plant.payloads == ['box']
    heavy = arm.with_payload('box', 'tool', 5.0, centre, tensor)
    witness = Simulation(heavy, 0.001, q=q, v=v, tolerance=plant.simulation.tolerance)
    witness.set_servo(np.zeros(4), DAMPING, np.zeros(4), np.zeros(4))
    run(plant, 10)
    witness.advance(20, plant.commands.effort)
    assert np.allclose(plant.q, witness.q, rtol=0.0, atol=1e-12)
    v = plant.v.copy()
    plant.detach('box')
    assert (plant.v == v).all() and plant.payloads == []
    with pytest.raises(DynamicsError, match="'box' is not attached"):
        plant.detach('box')


def test_a_second_payload_of_one_name_is_refused(plant):
    plant.attach('box', 'tool', None, 1.0, np.zeros(3), np.zeros((3, 3)))
    with pytest.raises(DynamicsError, match='attached already'):
        plant.attach('box', 'link2', 1.0, 1.0, np.zeros(3), np.zeros((3, 3)))
    plant.attach('other', 'link2', 1.0, 1.0, np.zeros(3), np.zeros((3, 3)))
    assert plant.payloads == ['box', 'other']


def test_a_reset_starts_in_equilibrium_with_the_payload(arm, plant):
    plant.attach('box', 'tool', None, 5.0, np.zeros(3), np.zeros((3, 3)))
    run(plant, 3)
    plant.reset()
    assert np.allclose(plant.q, arm.with_payload('box', 'tool', 5.0).statics(POSE)[0], atol=1e-12)
    assert not plant.v.any() and not plant.acceleration().any()


def test_a_push_turns_with_its_frame(arm):
    # Held by its drives, the arm settles where the wrench, turned with the tool, is in balance.
    drives = Drives(np.full(4, 2e4), DAMPING)
    one = Plant(arm, 0.001, 4, drives, POSE, True)
    one.commands.accept(JOINTS, arm.statics(POSE)[1], position=POSE)
    push = np.array([20.0, 150.0, 40.0, 3.0, 0.0, 2.0])
    one.wrenches = [('tool', None, push)]
    run(one, 1500)
    axes = arm.pose(one.q, 'tool')[:3, :3]
    load = [Wrench('tool', axes @ push[:3], axes @ push[3:])]
    wanted = arm.statics(one.q[:4], load)[0]
    bare = arm.statics(one.q[:4])[0]
    assert np.abs(wanted - bare).max() > 0.01
    assert np.abs(one.q - wanted).max() < 0.02 * np.abs(wanted - bare).max()
    one.wrenches = ()
    run(one, 1500)
    assert np.abs(one.q - arm.statics(one.q[:4])[0]).max() < 0.02 * np.abs(wanted - bare).max()


def test_a_push_on_the_middle_of_a_beam(arm, plant):
    plant.commands.accept(JOINTS, arm.statics(POSE)[1])
    plant.wrenches = [('link2', 1.0, np.array([0.0, 50.0, 0.0, 0.0, 0.0, 0.0]))]
    run(plant, 2)
    axes = arm.pose(plant.q, 'link2', 1.0)[:3, :3]
    found, = plant.simulation.loads
    assert found.x == 1.0 and np.allclose(found.force, axes[:, 1] * 50.0, atol=0.1)
    assert np.abs(plant.v).max() > 0.01


def test_a_push_that_throws_the_arm_away_is_named_and_leaves_the_last_good_state(plant):
    q = plant.q.copy()
    for force, words in ((1e14, r'with a push on tool \(SI units\); check'),
                         (1e100, 'load on tool: expected numbers of at most 1e')):
        plant.wrenches = [('tool', None, np.array([0.0, force, 0.0, 0.0, 0.0, 0.0]))]
        with pytest.raises(DynamicsError, match=words):
            plant.advance()
    assert (plant.q == q).all() and np.isfinite(plant.v).all()


def test_accelerations_are_the_rates_of_the_speeds(arm, plant):
    plant.steps, plant.simulation.step = 1, 1e-5
    plant.commands.accept(JOINTS, arm.statics(POSE)[1] + [50.0, 100.0, -80.0, 5.0],
                          velocity=[0.1] * 4)
    plant.wrenches = [('tool', None, np.array([5.0, 10.0, 0.0, 0.0, 1.0, 0.0]))]
    run(plant, 30)
    before, a, v = plant.acceleration(), [], plant.v.copy()
    run(plant, 1)
    a = 0.5 * (before + plant.acceleration())
    assert np.allclose((plant.v - v) / 1e-5, a, rtol=2e-3, atol=2e-3 * np.abs(a).max())
