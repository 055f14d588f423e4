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
"""A plant goes on with another stiffness, damping or friction from where it is."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model, with_parameters
from flex_dynamics.simulation.plant import Drives, Plant

JOINTS = ['joint1', 'joint2', 'joint3', 'joint4']
POSE = np.array([0.3, 0.5, 1.0, 0.5])
CHANGES = {'link2.bending_stiffness_y': 3e4, 'link2.twist_stiffness': 2e4, 'link3.damping': 0.1,
           'joint2.friction': 20.0, 'joint3.damping': 15.0}


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def moving(model):
    """A plant in mid-motion."""
    plant = Plant(model, 0.001, 2, Drives(np.full(4, 2e4), np.full(4, 800.0)), POSE, True)
    plant.commands.accept(JOINTS, model.statics(POSE)[1], position=POSE + 0.1)
    run(plant, 50)
    return plant


def run(plant, periods):
    for _ in range(periods):
        plant.advance()


def test_positions_and_speeds_stay_and_energy_jumps_by_the_strain(arm):
    plant, changed = moving(arm), with_parameters(arm, CHANGES)
    q, v, time = plant.q.copy(), plant.v.copy(), plant.simulation.time
    before = arm.energy(q, v)
    plant.change_model(changed)
    assert (plant.q == q).all() and (plant.v == v).all() and plant.simulation.time == time
    after = plant.model.energy(q, v)
    jump = 0.5 * q @ (changed.stiffness_matrix() - arm.stiffness_matrix()) @ q
    assert abs(jump) > 1.0
    kinetic, strain, gravity = (b - a for a, b in zip(before, after, strict=True))
    assert strain == pytest.approx(jump, rel=1e-9)
    assert kinetic == gravity == 0.0


def test_the_motion_goes_on_as_that_of_the_changed_robot(arm):
    plant, changed = moving(arm), with_parameters(arm, CHANGES)
    q, v = plant.q.copy(), plant.v.copy()
    plant.change_model(changed)
    run(plant, 100)
    witness = Plant(changed, 0.001, 2, plant.drives, POSE, True)
    witness.commands.accept(JOINTS, arm.statics(POSE)[1], position=POSE + 0.1)
    witness.simulation.set_state(q, v)
    run(witness, 100)
    # The sweeps of a step end at 1e-7; they begin with the accelerations of the step before.
    assert np.abs(plant.q - witness.q).max() < 1e-6
    unchanged = moving(arm)
    run(unchanged, 100)
    assert np.abs(plant.q - unchanged.q).max() > 1e-3


def test_the_shapes_and_their_integrals_are_shared(arm):
    changed = with_parameters(arm, CHANGES)
    for key, (fields, packed, *_) in arm.assembly.beams.items():
        assert changed.assembly.beams[key][0] is fields
        assert changed.assembly.beams[key][1] is packed


def test_a_reset_starts_in_the_equilibrium_of_the_changed_robot(arm):
    plant, changed = moving(arm), with_parameters(arm, CHANGES)
    plant.attach('box', 'tool', None, 2.0, np.zeros(3), np.zeros((3, 3)))
    plant.change_model(with_parameters(plant.model, CHANGES))
    plant.reset()
    heavy = changed.with_payload('box', 'tool', 2.0)
    assert plant.payloads == ['box']
    assert np.abs(plant.q - heavy.statics(POSE)[0]).max() < 1e-9
