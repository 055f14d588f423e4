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
"""LQG: the arm held and moved with what its sensors say, sampled at 1 kHz."""
import numpy as np
import pytest

from flex_control import PD, ControlError, MinimumJerk, Reference, SetPoints
from flex_control.controllers.lqg import LQG
from flex_control.estimators.measurements import Measurements
from flex_control.trial import Noise, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

POSE = np.array([0.0, 0.5, 1.0, 0.5])
GAINS = {'kp': [4000.0, 12000.0, 6000.0, 400.0], 'kd': [800.0, 2400.0, 900.0, 40.0]}
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def pushed(controller, force, until=np.inf, seconds=1.2, drives=0.0):
    """Error of the tip (k,), m, when a force acts from 0.1 s on."""
    load = [Wrench('tool', force=np.array(force))]
    result = run_trial(controller, SetPoints([0.0], [POSE]), seconds, step=1e-3, noise=NOISE,
                       drive_damping=drives,
                       loads=lambda time: load if 0.1 <= time < until else None)
    return np.linalg.norm(result.tip - result.tip[0], axis=1)


def rms(error):
    return np.sqrt(np.mean(error**2))


def test_tip_error_after_a_push_is_a_fifth_of_pd(arm):
    """20 N sideways for 0.1 s; PD has its speed gains in the drives, where they are stable, LQG
    has efforts alone."""
    pd = pushed(PD(arm, GAINS), [0.0, 20.0, 0.0], 0.2, drives=GAINS['kd'])
    lqg = pushed(LQG(arm), [0.0, 20.0, 0.0], 0.2)
    assert rms(lqg[200:]) < rms(pd[200:]) / 5.0


def test_a_constant_push_leaves_no_offset(arm):
    """20 N upwards, no drives, no damping; PD gives way by 41 mm."""
    error = pushed(LQG(arm), [0.0, 0.0, 20.0], seconds=2.0)
    assert error.max() < 0.02
    assert rms(error[-200:]) < 5e-4


def test_a_fast_motion_is_followed(arm):
    """Estimated all the way, through some twenty linear models."""
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04], 1.5, start=0.1)
    controller = LQG(arm)
    result = run_trial(controller, motion, 2.2, step=1e-3, noise=NOISE)
    assert np.abs(result.joint_error()).max() < 1e-2
    assert result.vibration(2.0, 2.2) < 5e-4
    assert np.abs(controller.estimator.q - result.q[-1]).max() < 5e-4


def test_two_runs_are_the_same_to_the_last_bit(arm):
    motion = MinimumJerk(POSE, POSE + 0.1, 0.5)
    one, other = (run_trial(LQG(arm), motion, 0.2, step=1e-3, noise=NOISE) for _ in range(2))
    assert np.array_equal(one.q, other.q)


def test_a_long_gap_makes_it_begin_anew(arm):
    controller = LQG(arm)
    q, tau = arm.statics(POSE)
    controller.reference, controller.q = Reference.at_rest(POSE), q
    for time in (0.0, 0.001, 0.002, 5.0, 5.001):
        controller.measurements = Measurements(q[:4], np.zeros(4))
        effort = controller.update(time, {0.0: 0.0, 5.0: 4.998}.get(time, 0.001))
    assert np.allclose(effort, tau, atol=1.0)


def test_readings_that_no_robot_gives_are_told_and_got_over(arm):
    controller = LQG(arm, {'period': 0.001})
    q, tau = arm.statics(POSE)
    controller.reference, controller.q = Reference.at_rest(POSE), q
    good = Measurements(q[:4], np.zeros(4))
    for readings in (good, good, Measurements(1e15 * np.ones(4), np.zeros(4))):
        controller.measurements = readings
        if readings is good:
            controller.update(0.0, 0.001)
        else:
            with pytest.raises(ControlError, match='the readings contradict the model'):
                controller.update(0.0, 0.001)
    controller.measurements = good
    controller.update(0.0, 0.001)
    assert np.allclose(controller.update(0.0, 0.001), tau, atol=1.0)


def test_without_sensors_encoders_do(arm):
    controller = LQG(arm, {'period': 0.001})
    controller.q = arm.statics(POSE)[0]
    controller.reference = Reference.at_rest(POSE)
    controller.update(0.0, 0.0)
    controller.update(0.001, 0.001)
    assert controller.estimator.nis[1] == 8


def test_what_does_not_show_is_refused(arm):
    controller = LQG(arm, {'encoder': 0.0, 'period': 0.001})
    controller.reference, controller.q = Reference.at_rest(POSE), arm.statics(POSE)[0]
    with pytest.raises(ControlError, match='joint1 does not show in any sensor'):
        controller.update(0.0, 0.001)
