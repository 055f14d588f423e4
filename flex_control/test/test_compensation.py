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
"""PID's integral, the tip put where it was asked for, and what an unknown load does."""
import numpy as np
import pytest

from flex_control import PD, ControlError, MinimumJerk, Reference, SetPoints, controller_class
from flex_control.controllers.pid import PID
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

POSE = np.array([0.8, 1.0, 1.0, 1.0])
GAINS = {'kp': [4000.0, 12000, 6000, 400], 'kd': [800.0, 2400, 900, 40]}
TIP = {**GAINS, 'tip_compensation': True, 'tip_frame': 'tool'}


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def loaded(arm):
    return arm.with_payload('load', 'tool', 2.0)


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


def asked(model, joints):
    q = np.zeros(model.n)
    q[:model.n_joints] = joints
    return model.pose(q, 'tool')[:3, 3]


def test_pid_is_installed_under_its_name():
    assert controller_class('pid') is PID


def test_static_load_gives_the_equilibrium_too(loaded):
    q, efforts = StaticLoad(loaded).equilibrium(POSE)
    wanted = loaded.statics(POSE)
    assert np.allclose(q, wanted[0], atol=1e-8) and np.allclose(efforts, wanted[1], atol=1e-3)


def test_the_sagging_tip_is_where_the_straight_arm_has_it(loaded):
    compensation = TipCompensation(loaded, 'tool')
    for joints in (POSE, POSE + 0.01, np.array([0.0, 0.5, 2.0, 0.5])):
        for _ in range(10):            # in motion it takes a few updates
            correction = compensation.correction(joints)
        q, _ = loaded.statics(joints + correction)
        assert np.linalg.norm(loaded.pose(q, 'tool')[:3, 3] - asked(loaded, joints)) < 1e-5
        assert 1e-3 < np.abs(correction).max() < 0.05


def test_an_arm_that_cannot_reach_stays_near(loaded):
    """Stretched out, the sagging tip cannot get to where the straight one is: no runaway."""
    correction = TipCompensation(loaded, 'tool').correction(np.zeros(4))
    assert np.isfinite(correction).all() and np.abs(correction).max() <= 0.5


def test_the_corrected_reference_has_the_corrections_speed(arm):
    compensation = TipCompensation(arm, 'tool')
    motion, period = MinimumJerk(POSE - 0.3, POSE, 1.0), 1e-3
    places = [compensation.reference(motion.sample(t), period)
              for t in np.arange(0.4, 0.45, period)]
    moved = (places[-1].position - places[-2].position) / period
    assert np.allclose(places[-1].velocity, moved, atol=5e-3)
    step = compensation.reference(Reference.at_rest(POSE + 0.5), period)
    assert not step.velocity.any()


def test_a_known_load_leaves_half_a_millimetre_at_most_and_an_unknown_one_more(arm, loaded):
    stay = SetPoints([0.0], [POSE])
    rest = {}
    for name, kind, model in (('known', PD, loaded), ('unknown', PD, arm), ('pid', PID, arm)):
        parameters = TIP if kind is PD else {**TIP, 'ki': [8000.0, 24000, 12000, 800]}
        result = run_trial(kind(model, parameters), stay, 2.5, plant=loaded, step=1e-3)
        rest[name] = np.linalg.norm(result.tip[-200:].mean(axis=0) - asked(arm, POSE))
    assert rest['known'] < 0.5e-3
    assert rest['unknown'] > 10e-3
    assert rest['pid'] < 0.5 * rest['unknown']       # the joints come back, the links still sag


def test_pid_leaves_no_joint_error_under_a_constant_push(link):
    push = [Wrench('payload', [0.0, 2.0, 0.0], [0.0, 0.0, 0.0])]
    stay = SetPoints([0.0], [[0.4]])
    errors = {}
    for kind in (PD, PID):
        controller = kind(link, {'kp': 30.0, 'kd': 6.0, **({'ki': 60.0} if kind is PID else {})})
        result = run_trial(controller, stay, 3.0, tip='payload', step=1e-3,
                           loads=lambda time: push)
        errors[kind] = np.abs(result.joint_error()[-200:].mean())
    assert errors[PD] > 0.02
    assert errors[PID] < 0.05 * errors[PD]


def test_the_integral_does_not_wind_up_at_the_effort_limit(link):
    limit = link.robot.joints[0].limits.effort
    controller = PID(link, {'kp': 1000.0, 'kd': 1.0, 'ki': 1000.0})
    controller.q, controller.v = np.zeros(link.n), np.zeros(link.n)
    controller.reference = Reference.at_rest([3.0])
    for _ in range(1000):
        saturated = controller.update(0.0, 1e-3)[0]
    assert saturated > limit
    controller.reference = Reference.at_rest([0.0])
    assert controller.update(0.0, 1e-3)[0] == pytest.approx(0.0, abs=1e-9)


def test_the_integral_keeps_to_its_own_limit_and_is_forgotten_at_reset(link):
    controller = PID(link, {'kp': 0.0, 'kd': 0.0, 'ki': 10.0, 'integral_limit': 0.5,
                            'static_compensation': False})
    controller.reference = Reference.at_rest([1.0])
    for _ in range(200):
        effort = controller.update(0.0, 0.01)
    assert effort[0] == pytest.approx(0.5)
    controller.reset()
    controller.reference = Reference.at_rest([0.0])
    assert controller.update(0.0, 0.01)[0] == 0.0


@pytest.mark.parametrize('given, words', [
    ({'ki': -1.0}, 'ki: expected 0 to'),
    ({'integral_limit': [1.0, 2.0, 3.0]}, 'integral_limit: expected 1 or 4 numbers'),
    ({'tip_frame': 3.0}, 'tip_frame: expected a text'),
    ({'tip_frame': 'tolo'}, "tip_frame: unknown frame 'tolo'.*did you mean 'tool'"),
])
def test_bad_parameters_are_refused(arm, given, words):
    with pytest.raises(ControlError, match=words):
        PID(arm, given)


def test_a_frame_that_is_not_there_changes_nothing(arm):
    controller = PD(arm, TIP)
    with pytest.raises(ControlError, match='tip_frame'):
        controller.set_parameters({'tip_frame': 'tolo', 'kp': 1.0})
    assert controller.parameters['tip_frame'] == 'tool'
    assert controller.kp.tolist() == GAINS['kp']
