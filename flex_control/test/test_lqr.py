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
"""The linear quadratic regulator on the simulated arm, sampled, without a drive's help."""
import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, Reference, SetPoints, make_controller
from flex_control.controllers.lqr import LQR
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.trial import Noise, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

POSE = np.array([0.0, 0.5, 1.0, 0.5])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def test_the_reference_at_rest_is_the_equilibrium(arm):
    wanted = DeflectedReference(arm)
    for pose in (POSE, POSE + 0.3):
        wanted.move_to(Reference.at_rest(pose), 1e-3)
        q, tau = arm.statics(pose)
        assert np.allclose(wanted.q, q, atol=1e-9)
        assert np.allclose(wanted.effort, tau, atol=1e-5)
        assert not wanted.v.any()


def test_the_reference_in_motion_balances_inertia_too(arm):
    motion, wanted = MinimumJerk(POSE, POSE + 0.5, 1.0), DeflectedReference(arm)
    for tick in range(400):
        before = wanted.q.copy()
        wanted.move_to(motion.sample(1e-3 * tick), 1e-3)
    want = motion.sample(1e-3 * 399)
    v = np.r_[want.velocity, np.zeros(16)]
    a = np.r_[want.acceleration, np.zeros(16)]
    left = arm.inverse_dynamics(wanted.q, v, a) - arm.input_matrix() @ wanted.effort
    assert np.abs(left).max() < 1e-3 * np.abs(wanted.effort).max()
    assert np.allclose(wanted.v, (wanted.q - before) / 1e-3, atol=1e-2)


def test_a_constant_push_leaves_no_offset(arm):
    push = [Wrench('tool', force=np.array([0.0, 20.0, 20.0]))]
    result = run_trial(LQR(arm), SetPoints([0.0], [POSE]), 2.5,
                       loads=lambda time: push if time > 0.1 else None)
    error = np.linalg.norm(result.tip - result.tip[0], axis=1)
    assert 2e-3 < error.max() < 2e-2
    assert error[-1] < 3e-4


@pytest.mark.parametrize('step', [1e-3, 2.5e-4])
def test_a_fast_motion_ends_without_vibration(arm, step):
    """No damping in the arm, no drive: what the integrator makes of fast modes does not matter."""
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04], 1.5, start=0.1)
    result = run_trial(LQR(arm), motion, 2.6, step=step)
    assert result.vibration(2.2, 2.6) < 3e-4
    assert np.abs(result.joint_error()).max() < 5e-3
    # between the jumps of jerk at both ends, gains that change do not make the efforts jump
    assert np.abs(np.diff(result.effort[120:1580], axis=0)).max() < 2.0


def test_two_runs_are_the_same_to_the_last_bit(arm):
    motion = MinimumJerk(POSE, POSE + 0.2, 0.3)
    one, other = (run_trial(LQR(arm), motion, 0.4) for _ in range(2))
    assert np.array_equal(one.q, other.q)


def test_the_period_is_learned_or_given(arm):
    controller = LQR(arm)
    controller.reference = Reference.at_rest(POSE)
    controller.q = arm.statics(POSE)[0] + 1e-3
    first = controller.update(0.0, 0.0)
    assert np.allclose(first, arm.statics(POSE)[1], atol=1e-4)
    learned = controller.update(0.002, 0.002)
    given = LQR(arm, {'period': 0.002})
    given.reference, given.q = controller.reference, controller.q
    given.update(0.0, 0.0)
    given.reset()
    assert np.array_equal(learned, given.update(0.002, 0.002))


def test_drives_that_hold_already_leave_less_to_do(arm):
    efforts = []
    for stiffness in (0.0, 1e5):
        controller = LQR(arm, {'period': 0.001})
        controller.set_drives(np.full(4, stiffness), np.full(4, 100.0))
        controller.reference = Reference.at_rest(POSE)
        controller.q = arm.statics(POSE)[0].copy()
        controller.q[0] += 0.01
        efforts.append(abs(controller.update(0.0, 0.001)[0]))
    assert efforts[1] < 0.5 * efforts[0]


def test_what_no_joint_can_reach_is_left_alone():
    """The strip's vertical bending has nothing to do with a motor about the vertical."""
    overlay = {'flexible': {'link1': {'damping': {'ratio': 0.0}}}}
    model = Model(load_robot('lab_link', overlay))
    controller = LQR(model, {'period': 0.001})
    controller.reference = Reference.at_rest([0.0])
    controller.q = model.statics([0.0])[0].copy()
    before = controller.update(0.0, 0.001)
    controller.q[model.names.index('link1/bend_z/1')] += 0.01
    assert np.abs(controller.update(0.001, 0.001) - before).max() < 1e-6


@pytest.mark.parametrize('name', ['lqr', 'lqg'])
def test_the_upright_arm_is_held_and_leaves_its_pose(arm, name):
    """Sideways bending is out of reach there, and inertia about the vertical is next to none."""
    motion = MinimumJerk(np.zeros(4), [0.5, 0.6, 0.8, 0.5], 1.5, start=0.2)
    result = run_trial(make_controller(name, arm), motion, 2.2, period=2e-3, step=1e-3,
                       noise=Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1))
    assert np.abs(result.joint_error()).max() < 0.05
    assert np.abs(result.joint_error()[-50:]).max() < 2e-3


@pytest.mark.parametrize('given, words', [
    ({'tip_error': -1.0}, 'tip_error: expected 0 to'),
    ({'effort': [1.0, 2.0]}, 'effort: expected 1 or 4 numbers'),
    ({'integral_time': float('nan')}, 'integral_time: expected 0 to'),
])
def test_bad_weights_are_refused(arm, given, words):
    with pytest.raises(ControlError, match=words):
        LQR(arm, given)
