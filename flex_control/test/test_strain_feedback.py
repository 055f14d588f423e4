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
"""Strain feedback: modes by gauges, filters, and the loop closed with the simulator."""
import dataclasses

import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, Reference, SetPoints, make_controller
from flex_control.controllers.vibration.strain_feedback import MOST_MISSED, StrainFeedback
from flex_control.design.rest_model import rest_model
from flex_control.design.strain_design import position_filter, rate_filter
from flex_control.design.strain_modes import in_order_of, strain_modes
from flex_control.estimators.measurements import Measurements
from flex_control.incremental import finish
from flex_control.trial import Noise, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Sensors, Wrench

PERIOD = 2e-3
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
POSE = np.array([0.0, 0.5, 1.0, 0.5])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


def modes_at(model, joints, kp):
    rest = finish(rest_model(model, model.statics(joints)[0], np.zeros(model.n_joints),
                             np.zeros(model.n_joints)))
    strain = Sensors(model).strain_matrix()
    return rest, strain, strain_modes(rest, strain, kp, np.ones(model.n_joints), 400.0)


def test_gauges_read_the_amplitudes_of_modes_and_efforts_act_on_them(arm):
    kp = np.array([4000.0, 12000.0, 6000.0, 400.0])
    rest, strain, modes = modes_at(arm, POSE, kp)
    count = len(modes.frequencies)
    assert 2 <= count <= len(strain)
    assert np.allclose(modes.reader @ strain @ modes.shapes, np.eye(count), atol=1e-8)
    own = np.diag(modes.shapes.T @ rest.B @ modes.drive)
    assert (own > 0.0).all() and (own <= 1.0).all() and own.max() > 0.95
    # they are modes of the arm on the springs of its joints
    K = rest.K + (rest.B * kp) @ rest.B.T
    assert np.allclose(modes.shapes.T @ K @ modes.shapes, np.diag(modes.frequencies**2),
                       atol=1e-6 * modes.frequencies.max()**2)


def test_modes_keep_their_order_and_sign_along_a_motion(arm):
    kp = np.array([4000.0, 12000.0, 6000.0, 400.0])
    before = modes_at(arm, POSE, kp)[2]
    rest, _, modes = modes_at(arm, POSE + 0.02, kp)
    flipped = modes._replace(shapes=-modes.shapes, reader=-modes.reader, drive=-modes.drive)
    same = in_order_of(flipped, before, rest.M)
    assert np.allclose(same.frequencies, before.frequencies, rtol=0.1)
    assert (np.sum(same.drive * before.drive, axis=0) > 0.0).all()


@pytest.mark.parametrize('make', [rate_filter, position_filter])
def test_a_filter_damps_its_mode(make):
    """p'' + w^2 p = f, sampled: the energy of the mode decays, at any frequency below a twentieth
    of the sampling rate."""
    for w in (3.0, 30.0, 120.0):
        filters = make(np.array([w]), 0.2, 1e-3)
        c, s = np.cos(w * 1e-3), np.sin(w * 1e-3)
        held = np.array([[c, s / w], [-w * s, c]])
        push = np.array([(1.0 - c) / w**2, s / w])
        size = 2 + len(filters.A)
        loop = np.zeros((size, size))
        loop[:2, :2] = held + np.outer(push, [filters.D[0, 0], 0.0])
        loop[:2, 2:] = push[:, None] @ filters.C
        loop[2:, :1], loop[2:, 2:] = filters.B, filters.A
        found = np.linalg.eigvals(loop)
        near = found[np.argmin(np.abs(np.abs(np.log(found)) / 1e-3 - w))]
        assert -np.log(near).real / 1e-3 > 0.03 * w
        assert np.abs(found).max() < 1.0


def test_a_constant_strain_has_no_effort_in_the_end():
    """A payload that the model does not know of bends the link for good."""
    filters = position_filter(np.array([8.0]), 0.5, 1e-3)
    still = np.linalg.solve(np.eye(3) - filters.A, filters.B @ [1.0])
    assert abs(filters.C @ still + filters.D @ [1.0]) < 1e-9 * 0.5 * 8.0**2


@pytest.mark.parametrize('method, share', [('position', 0.8), ('rate', 0.95)])
def test_a_push_leaves_less_vibration_than_pd(link, method, share):
    push = [Wrench('payload', force=np.array([0.0, 0.5, 0.0]))]
    controller = StrainFeedback(link, {'method': method})
    assert controller.gain > 0.0 and controller.warning() == ''
    alone = make_controller('pd', link, {'bandwidth': controller.bandwidth})
    assert np.allclose(alone.kp, controller.kp) and np.allclose(alone.kd, controller.kd)
    left = []
    for one in (controller, alone):
        result = run_trial(one, SetPoints([0.0], [[0.2]]), 2.0, period=PERIOD, step=1e-3,
                           noise=NOISE, tip='payload',
                           loads=lambda t: push if 0.1 <= t < 0.2 else None)
        left.append(result.vibration(0.8, 2.0))
    assert left[0] < share * left[1]


def test_the_arm_arrives_and_rests_through_many_poses(arm):
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04], 1.5, start=0.1)
    result = run_trial(StrainFeedback(arm), motion, 3.2, period=PERIOD, step=1e-3, noise=NOISE)
    assert np.abs(result.joint_error()).max() < 0.01
    assert result.vibration(2.8, 3.2) < 1e-3


def test_two_runs_are_the_same_to_the_last_bit(link):
    motion = MinimumJerk([0.1], [0.4], 0.3)
    one, other = (run_trial(StrainFeedback(link), motion, 0.4, noise=NOISE, tip='payload')
                  for _ in range(2))
    assert np.array_equal(one.q, other.q)


def test_robots_without_gauges_or_flexible_links_are_refused(link):
    robot = link.robot
    blind = dataclasses.replace(robot, links=tuple(
        one if one.flexible is None else dataclasses.replace(
            one, flexible=dataclasses.replace(one.flexible, gauges=())) for one in robot.links))
    with pytest.raises(ControlError, match='expected strain gauges, found none in robot lab_link'):
        make_controller('strain_feedback', Model(blind))
    neutral = dataclasses.replace(robot, links=tuple(
        one if one.flexible is None else dataclasses.replace(one, flexible=dataclasses.replace(
            one.flexible, gauges=tuple(dataclasses.replace(gauge, y=0.0, z=0.0)
                                       for gauge in one.flexible.gauges)))
        for one in robot.links))
    with pytest.raises(ControlError, match='gauge1 and all others .* on the axis of their beam'):
        make_controller('strain_feedback', Model(neutral))
    with pytest.raises(ControlError, match='found .* of robot cylinder_crane'):
        make_controller('strain_feedback', Model(load_robot('cylinder_crane')))
    with pytest.raises(ControlError, match="expected one of rate, position, found 'both'"):
        make_controller('strain_feedback', link, {'method': 'both'})


def test_gauges_that_fall_silent_are_an_error_after_a_while(link):
    controller = StrainFeedback(link)
    controller.reference, controller.q = Reference.at_rest([0.1]), link.statics([0.1])[0]
    controller.update(0.0, 0.0)
    with pytest.raises(ControlError, match='expected readings of strain gauges, found none'):
        controller.update(0.002, PERIOD)
    strain = Sensors(link).strain(controller.q)
    controller.measurements = Measurements(strain=strain)
    controller.update(0.004, PERIOD)
    controller.measurements = Measurements()
    for _ in range(MOST_MISSED):
        controller.update(0.006, PERIOD)
    with pytest.raises(ControlError, match='is the topic strain_gauges published'):
        controller.update(0.008, PERIOD)
