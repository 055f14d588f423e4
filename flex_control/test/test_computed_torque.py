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
"""Computed torque and feedback linearisation: linear errors on the exact model, and refusals."""
import numpy as np
import pytest

from flex_control import PD, ControlError, MinimumJerk, Reference, SetPoints, controller_class
from flex_control.controllers.computed_torque import ComputedTorque
from flex_control.controllers.feedback_linearization import FeedbackLinearization
from flex_control.controllers.sampled_loop import sampled_loop, sampling_problem
from flex_control.design.gains import first_frequency
from flex_control.design.zero_dynamics import zeros
from flex_control.shaping import Shaped, Shaper
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model

HERE, THERE = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.8, 1.0, 1.0, 1.0])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


def test_they_are_installed_under_their_names():
    assert controller_class('computed_torque') is ComputedTorque
    assert controller_class('feedback_linearization') is FeedbackLinearization


@pytest.mark.parametrize('damping', [0.0, 0.2])
@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree', 'ur5'])
def test_feedback_linearization_gives_linear_errors_on_the_exact_model(name, damping):
    """a_j = a_d + 2 z w e' + w^2 e + 2 d w_1 M_jj^-1 M_je v_e, at any state of joints and
    links."""
    model = Model(load_robot(name))
    joints = model.n_joints
    controller = FeedbackLinearization(model, {'bandwidth': 7.0, 'damping_ratio': 0.6,
                                               'vibration_damping': damping})
    first = first_frequency(model) if model.n > joints else 0.0
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v = rng.normal(size=(2, model.n)) * 0.5
        q[joints:] *= 0.02
        v[joints:] *= 0.02
        wanted = Reference(*rng.normal(size=(3, joints)))
        controller.q, controller.v, controller.reference = q, v, wanted
        controller.terms = model.terms(q, v)
        a = model.forward_dynamics(q, v, controller.update(0.0, 0.0))
        law = (wanted.acceleration + 2 * 0.6 * 7.0 * (wanted.velocity - v[:joints])
               + 49.0 * (wanted.position - q[:joints]))
        M = controller.terms.M
        law += 2.0 * damping * first * np.linalg.solve(M[:joints, :joints],
                                                       M[:joints, joints:] @ v[joints:])
        assert np.allclose(a[:joints], law, rtol=1e-7, atol=1e-7 * np.abs(law).max())


def test_feedback_linearization_on_a_sampled_robot(link):
    """Errors at the start die as e'' + 2 w e' + w^2 e = 0 says, while the link rings."""
    controller = FeedbackLinearization(link, {'bandwidth': 8.0, 'vibration_damping': 0.0})
    start = link.statics([0.2])[0]
    result = run_trial(controller, MinimumJerk([0.0], [0.5], 0.5, 0.2), 0.6, start=start,
                       period=2e-4, step=1e-4, tip='payload')
    t = result.time
    assert np.abs(-result.joint_error()[:, 0] - 0.2 * (1.0 + 8.0 * t) * np.exp(-8.0 * t)
                  ).max() < 1e-3


def test_feedback_linearization_damps_the_vibration_of_a_link(link):
    """The undamped link rings on with locked joints; by the motion of its joint it comes to
    rest."""
    left = []
    for damping in (0.0, 0.2):
        controller = FeedbackLinearization(link, {'vibration_damping': damping})
        result = run_trial(controller, MinimumJerk([0.0], [0.5], 1.0, 0.1), 5.0, tip='payload')
        left.append(result.vibration(4.0, 5.0))
    assert left[1] < 0.2 * left[0]


def test_computed_torque_is_the_inverse_dynamics_of_a_link_that_bends(link):
    """On the exact model, from rest, the feedback has next to nothing to do."""
    controller = ComputedTorque(link, {'model_damping': 0.0})
    result = run_trial(controller, MinimumJerk([0.0], [1.0], 0.8, 0.1), 1.2, tip='payload')
    assert np.abs(result.joint_error()).max() < 1e-3
    assert result.vibration(1.0, 1.2) > 0.1              # m: the tip swings while the joint stays


def test_shaped_computed_torque_leaves_little_of_the_vibration_of_plain_pd(arm):
    """Same arrival; the manoeuvre's second move. The whole table: make bench."""
    gains = {'kp': [4000.0, 12000, 6000, 400], 'kd': [800.0, 2400, 900, 40],
             'static_compensation': False}
    shaper = Shaper(arm, 'zvd')
    delay = Shaped(MinimumJerk(HERE, THERE, 1.0), shaper).delay
    shaped = Shaped(MinimumJerk(HERE, THERE, 1.0 - delay), shaper)
    assert shaped.end == pytest.approx(1.0, abs=1e-3)
    plain = run_trial(PD(arm, gains), MinimumJerk(HERE, THERE, 1.0), 2.5, step=1e-3)
    better = run_trial(ComputedTorque(arm), shaped, 2.5, step=1e-3)
    assert better.vibration(1.5, 2.5) < 0.05 * plain.vibration(1.5, 2.5)


def test_zeros_of_the_published_link():
    """Lin and Lewis 4.2, pinned-pinned: a zero in the right half-plane; clamped: none."""
    pinned = Model(load_robot('lin_lewis_one_link'))
    assert zeros(pinned).real.max() > 50.0
    clamped = Model(load_robot('lab_link'))
    assert zeros(clamped).real.max() < 1e-6


@pytest.mark.parametrize('kind', [ComputedTorque, FeedbackLinearization])
@pytest.mark.parametrize('robot, words', [
    ('lin_lewis_one_link', 'pinned basis of link1.*run away.*Lin and Lewis 4.2'),
    ('mladenova_arm', 'elastic joint joint1.*use elastic_joint'),
])
def test_robots_that_cannot_be_linearised_are_refused(kind, robot, words):
    with pytest.raises(ControlError, match=words):
        kind(Model(load_robot(robot)))


def test_terms_that_did_not_come_are_told(arm):
    with pytest.raises(ControlError, match='expected terms of the model'):
        FeedbackLinearization(arm).update(0.0, 1e-3)


@pytest.mark.parametrize('given, words', [
    ({'bandwidth': 0.0}, 'bandwidth: expected 0.01 to'),
    ({'bandwidth': [1.0, 2.0]}, 'bandwidth: expected 1 or 4 numbers'),
    ({'damping_ratio': float('nan')}, 'damping_ratio: expected 0 to 10'),
    ({'model_damping': -1.0}, 'model_damping: expected 0 to 10'),
    ({'kp': 1.0}, "unknown parameter 'kp'"),
])
def test_bad_parameters_are_refused(arm, given, words):
    with pytest.raises(ControlError, match=words):
        ComputedTorque(arm, given)


def test_speed_gains_over_a_sampled_loop_are_told_to_go_into_the_drives(arm):
    controller = ComputedTorque(arm)
    words = sampling_problem(controller, THERE, 1e-3)
    assert 'every 1 ms is unstable' in words and 'let the drives damp' in words
    controller.set_drives(*controller.drive_gains())
    assert sampling_problem(controller, THERE, 1e-3) == ''


def test_feedback_linearization_needs_a_fast_loop_or_drives_that_damp(arm):
    controller = FeedbackLinearization(arm)
    assert 'let the drives damp' in sampling_problem(controller, THERE, 1e-3)
    assert sampling_problem(controller, THERE, 5e-4) == ''
    with pytest.raises(ControlError, match=r'let the drives damp.*update every 0.5 ms \(state'):
        run_trial(controller, SetPoints([0.0], [THERE]), 0.1, drive_damping=0.0)
    controller.set_drives(*controller.drive_gains())
    for period in (5e-4, 1e-3, 2e-3, 4e-3):
        assert sampling_problem(controller, THERE, period) == ''


@pytest.mark.parametrize('period, step, most', [(4e-3, 1e-3, 0.03), (2e-3, 1e-3, 0.1),
                                                (2e-3, 2.5e-4, 5e-3), (1e-3, 1e-3, 1e-3)])
def test_feedback_linearization_follows_at_the_rates_of_the_nodes(arm, period, step, most):
    """At 500 Hz with coarse steps the integrator lets the light wrist ring on its drive."""
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04], 1.2, start=0.1)
    controller = FeedbackLinearization(arm, {'bandwidth': 0.4 * first_frequency(arm),
                                             'vibration_damping': 0.0})
    result = run_trial(controller, motion, 2.4, period=period, step=step)
    error = np.abs(result.joint_error())
    assert error.max() < most
    assert error[result.between(2.3, 2.4)].max() < 2e-3


def test_poles_of_a_slowly_sampled_joint_are_those_of_the_textbook():
    """A rigid joint of inertia J under u = -kp q - kd v, held for T: poles of the 2 x 2 loop."""
    model = Model(load_robot('ur5'))
    controller = PD(model, {'kp': 300.0, 'kd': 30.0, 'static_compensation': False})
    joints, period = np.array([0.0, -1.0, 1.2, 0.3, 0.5, 0.0]), 1e-3
    q, tau = model.statics(joints)
    A, B = model.linearize(q, np.zeros(6), tau)
    n = 6
    Ad, Bd, term = np.eye(2 * n), np.zeros((2 * n, n)), np.eye(2 * n)
    for k in range(1, 20):                       # series of the exponential
        Bd += term @ B * period / k
        term = term @ A * period / k
        Ad += term
    wanted = np.linalg.eigvals(Ad - Bd @ np.hstack((300.0 * np.eye(n), 30.0 * np.eye(n))))
    found = sampled_loop(controller, joints, period)
    assert np.abs(found.poles).max() == pytest.approx(np.abs(wanted).max(), rel=1e-6)
    assert not found.stable                      # the wrist is far too light for these gains


@pytest.mark.parametrize('kind', [ComputedTorque, PD])
def test_drives_that_damp_more_than_asked_do_no_harm(arm, kind):
    controller = kind(arm)
    stiffness, damping = controller.drive_gains()
    controller.set_drives(stiffness, 2.0 * damping)
    assert sampled_loop(controller, THERE, 2e-3).stable
