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
"""Steps of the reference taken softly, and the regulators that do so on the paper's set-points."""
import numpy as np
import pytest

from flex_control import MinimumJerk, Reference, SetPoints, make_controller
from flex_control.reference.soft_steps import SoftSteps
from flex_control.trial import Noise, run_trial
from flex_description import load_robot
from flex_dynamics import Model

PERIOD = 2e-3
FOLDED = np.array([0.0, 0.5236, 2.0944, 0.5236])
STRETCHED = np.array([0.0, 1.0472, 1.0472, 1.0472])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def followed(steps, trajectory, seconds, joints):
    """Positions, velocities and accelerations (k, 3, n_joints) that come out."""
    found = [steps.follow(trajectory.sample(PERIOD * k), joints, PERIOD if k else 0.0)
             for k in range(round(seconds / PERIOD))]
    return np.array([[one.position, one.velocity, one.acceleration] for one in found])


def test_a_smooth_motion_goes_through_as_it_is(arm):
    motion, steps = MinimumJerk(FOLDED, STRETCHED, 0.3), SoftSteps(arm)
    for time in np.arange(0.0, 0.4, PERIOD):
        wanted = motion.sample(time)
        assert steps.follow(wanted, FOLDED, PERIOD) is wanted


def test_a_step_becomes_a_motion_whose_derivatives_are_its_own(arm):
    path = followed(SoftSteps(arm), SetPoints([0.0, 0.1], [FOLDED, STRETCHED]), 1.5, FOLDED)
    assert np.array_equal(path[0, 0], FOLDED) and np.array_equal(path[-1, 0], STRETCHED)
    assert not path[-1, 1:].any()
    for order in (0, 1):
        slope = (path[2:, order] - path[:-2, order]) / (2.0 * PERIOD)
        size = np.abs(path[:, order + 1]).max()
        assert np.abs(slope - path[1:-1, order + 1]).max() < 0.03 * size


def test_a_step_within_a_step_goes_on_with_its_speed(arm):
    both = SetPoints([0.0, 0.1, 0.4], [FOLDED, STRETCHED, FOLDED])
    path = followed(SoftSteps(arm), both, 1.5, FOLDED)
    assert np.array_equal(path[-1, 0], FOLDED)
    assert np.abs(np.diff(path[:, 1], axis=0)).max() < 2.0 * PERIOD * np.abs(path[:, 2]).max()


def test_it_begins_where_the_robot_is(arm):
    first = SoftSteps(arm).follow(Reference.at_rest(STRETCHED), FOLDED, 0.0)
    assert np.allclose(first.position, FOLDED) and np.allclose(first.velocity, 0.0)


def test_a_heavy_arm_with_weak_motors_takes_its_time():
    arm = Model(load_robot('canadarm'))
    jump = np.full(arm.n_joints, 0.3)
    steps, start = SoftSteps(arm), np.zeros(arm.n_joints)
    steps.follow(Reference.at_rest(start), start, 0.0)
    steps.follow(Reference.at_rest(jump), start, PERIOD)
    most = np.zeros(arm.n_joints)
    for _ in range(5000):
        most = np.maximum(most, np.abs(steps.follow(Reference.at_rest(jump), start, PERIOD)
                                       .acceleration))
    inertia = np.diag(arm.mass_matrix(np.zeros(arm.n)))[:arm.n_joints]
    limits = np.array([joint.limits.effort for joint in arm.robot.joints
                       if joint.name in arm.names[:arm.n_joints]])
    assert (most * inertia < limits).all() and most.max() > 0.0


@pytest.mark.parametrize('name', ['lqr', 'lqg'])
def test_regulators_take_the_set_points_of_the_paper(arm, name):
    """At the state rate of the launch file, from a straight arm that falls into its sag."""
    wanted = SetPoints([0.0, 0.2], [FOLDED, STRETCHED])
    start = np.concatenate((FOLDED, np.zeros(arm.n - 4)))
    result = run_trial(make_controller(name, arm), wanted, 2.0, start=start, period=PERIOD,
                       step=1e-3, noise=Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1))
    assert np.abs(result.joint_error()[-50:]).max() < 2e-3
    assert np.abs(result.effort).max() < 1000.0      # the step itself would ask for 6600 N m
    assert result.vibration(1.7, 2.0) < 2e-3
