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
"""Pinned bases: motor, servo and friction act on the root section, joint and amplitudes alike."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_robots import beam_robot

from flex_dynamics import Model, Servo, simulate

PINNED = 'basis="pinned-pinned" bending_y="2" bending_z="0" twist="0"'


@pytest.mark.parametrize('friction', [0.0, 0.2])
def test_friction_of_a_pinned_joint_is_in_every_term(friction):
    robot = beam_robot(PINNED, joint='continuous')
    rubbing = replace(robot.joints[0], damping=0.7, friction=friction)
    model = Model(replace(robot, joints=(rubbing, *robot.joints[1:])))
    q, v = np.array([0.1, 0.02, 0.01]), np.array([1.0, 0.5, -0.3])
    a = model.forward_dynamics(q, v, [0.4])
    assert model.inverse_dynamics(q, v, a) == pytest.approx(model.input_matrix() @ [0.4],
                                                            abs=1e-9)
    if not friction:
        terms = model.terms(q, v)
        total = terms.M @ a + terms.C @ v + terms.D @ v + terms.K @ q + terms.g
        assert total == pytest.approx(terms.B @ [0.4], abs=1e-9)


def test_servo_on_a_pinned_basis_is_the_same_in_both_integrators():
    robot = beam_robot(PINNED, joint='continuous')
    rubbing = replace(robot.joints[0], damping=0.3)
    model = Model(replace(robot, joints=(rubbing, *robot.joints[1:])))
    servo = Servo(np.array([30.0]), np.array([5.0]), lambda t: np.array([0.3]))
    ours = simulate(model, 0.5, servo=servo, step=1e-4, output_step=0.1)
    reference = simulate(model, 0.5, servo=servo, step=0.1, method='adaptive')
    assert np.abs(reference.q).max() > 0.05
    assert np.abs(ours.q - reference.q).max() < 1e-4
