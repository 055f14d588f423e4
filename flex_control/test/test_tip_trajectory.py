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
"""Tip tracking by stable inversion: paths, the bounded motion, and controllers that follow it."""
import numpy as np
import pytest

from flex_control import (
    CartesianLine,
    ControlError,
    InverseKinematics,
    Noise,
    TipCircle,
    TipLine,
    TipPoses,
    TipTrajectory,
    make_controller,
    run_trial,
)
from flex_description import load_robot
from flex_dynamics import Model

POSE = np.radians([0.0, 60.0, 60.0, 60.0])
STEP = 4e-3


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def line(arm):
    first = InverseKinematics(arm, 'tool').pose(POSE)[:3, 3]
    return TipLine(first, first + [0.0, 1.0, 0.0], 1.0, start=0.5)


@pytest.fixture(scope='module')
def motion(arm, line):
    return TipTrajectory(arm, 'tool', line, POSE, step=STEP)


def tip_errors(result, path):
    return np.array([np.linalg.norm(tip - path.sample(time).position)
                     for time, tip in zip(result.time, result.tip)])


# Paths --------------------------------------------------------------------------------------

@pytest.mark.parametrize('path', [
    TipLine([0.0, 0.0, 0.0], [1.0, 2.0, 0.5], 1.3, start=0.2),
    TipCircle([1.0, 0.0, 0.3], [0.7, 0.0, 0.3], [0.0, 0.0, 2.0], 2.0),
    TipPoses([0.0, 0.5, 1.5], [[0.0, 0.0, 0.0], [0.3, 0.1, 0.0], [0.2, 0.4, 0.1]])])
def test_rates_are_derivatives_of_positions(path):
    h = 1e-5
    for time in np.linspace(path.start + 0.01, path.end - 0.01, 7):
        at, before, after = (path.sample(time + shift) for shift in (0.0, -h, h))
        assert (after.position - before.position) / (2 * h) == pytest.approx(at.velocity, abs=1e-7)
        assert (after.velocity - before.velocity) / (2 * h) == pytest.approx(at.acceleration,
                                                                             abs=1e-6)
    for time in (path.start - 1.0, path.end + 1.0):
        assert not path.sample(time).velocity.any() and not path.sample(time).acceleration.any()


def test_a_circle_keeps_its_radius_and_closes():
    circle = TipCircle([1.0, 0.0, 0.0], [0.7, 0.0, 0.0], [0.0, 1.0, 0.0], 2.0)
    radii = [np.linalg.norm(circle.sample(time).position - [0.7, 0.0, 0.0])
             for time in np.linspace(0.0, 2.0, 11)]
    assert radii == pytest.approx([0.3] * 11, abs=1e-12)
    assert circle.sample(2.0).position == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert circle.sample(0.1).position[2] < 0.0      # right-handed about y


@pytest.mark.parametrize('bad, match', [
    (lambda: TipLine([0, 0], [1, 0, 0], 1.0), 'first: expected three finite numbers'),
    (lambda: TipLine([0, 0, 0], [1, 0, np.nan], 1.0), 'last: expected three finite numbers'),
    (lambda: TipLine([0, 0, 0], [1, 0, 0], 0.0), 'duration: expected a positive time'),
    (lambda: TipCircle([1, 0, 0], [0, 0, 0], [0, 0, 0], 1.0), 'a normal that is not zero'),
    (lambda: TipCircle([1, 0, 1], [0, 0, 0], [0, 0, 1], 1.0), 'in the plane'),
    (lambda: TipPoses([0.0], [[0, 0, 0]]), 'at least two rows'),
])
def test_bad_paths_are_refused(bad, match):
    with pytest.raises(ControlError, match=match):
        bad()


# The bounded motion -------------------------------------------------------------------------

def test_the_motion_keeps_the_tip_on_the_path_and_the_equations_of_motion(arm, line, motion):
    for time in np.linspace(motion.start, motion.end, 9)[1:-1]:
        at = motion.sample(time)
        elastic = at.feedforward
        q = np.concatenate((at.position, elastic.position))
        v = np.concatenate((at.velocity, elastic.velocity))
        a = np.concatenate((at.acceleration, elastic.acceleration))
        assert arm.pose(q, 'tool')[:3, 3] == pytest.approx(line.sample(time).position, abs=2e-6)
        force = arm.inverse_dynamics(q, v, a)
        # No effort acts on elastic coordinates; between knots the spline is not exact.
        assert np.abs(force[4:]).max() < 0.02 * np.abs(force).max()
        assert force[:4] == pytest.approx(elastic.effort, abs=0.02 * np.abs(elastic.effort).max())


def test_it_begins_before_the_path_as_unstable_zeros_ask_for(arm, line, motion):
    unstable = motion.zeros[motion.zeros.real > 1e-4 * np.abs(motion.zeros)]
    assert len(unstable) > 0
    assert motion.preview == pytest.approx(-np.log(1e-4) / unstable.real.min())
    assert motion.start == pytest.approx(line.start - motion.preview)
    rest, begin = motion.sample(motion.start - 1.0), motion.sample(motion.start)
    assert np.abs(rest.position - begin.position).max() < 1e-4
    assert np.abs(motion.sample(motion.path_start).velocity).max() > 1e-3
    assert motion.tip_error < 5e-5


def test_without_preview_it_starts_with_the_path_and_says_what_that_costs(arm, line, motion):
    causal = TipTrajectory(arm, 'tool', line, POSE, preview=0.0, step=STEP)
    assert causal.start >= line.start - STEP
    assert motion.tip_error < 0.01 * causal.tip_error < 0.01 * 0.03


def test_a_rigid_robot_has_no_internal_dynamics():
    model = Model(load_robot('panda'))
    first = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.5])
    pose = InverseKinematics(model, 'panda_link8').pose(first)
    path = TipPoses([0.0, 1.0], [pose[:3, 3], pose[:3, 3] + 0.1], [pose[:3, :3]] * 2)
    motion = TipTrajectory(model, 'panda_link8', path, first)
    assert motion.preview == 0.0 and motion.tip_error < 1e-6
    end = model.pose(motion.sample(1.0).position, 'panda_link8')
    assert end[:3, :3] == pytest.approx(pose[:3, :3], abs=1e-6)


# Controllers --------------------------------------------------------------------------------

@pytest.mark.parametrize('name, most', [('computed_torque', 5e-5), ('pd', 5e-5), ('lqr', 1e-4),
                                        ('lqg', 1e-3)])
def test_controllers_keep_the_tip_on_the_line(arm, line, motion, name, most):
    noise = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
    result = run_trial(make_controller(name, arm), motion, 1.7, period=2e-3, step=1e-3,
                       noise=noise)
    assert tip_errors(result, line).max() < most


def test_a_line_through_poses_at_rest_is_far_worse(arm, line):
    """What the tests above would give if the elastic motion were left out."""
    resting = CartesianLine(arm, 'tool', POSE, line.sample(2.0).position, 1.0, start=0.5)
    result = run_trial(make_controller('lqr', arm), resting, 1.7, period=2e-3, step=1e-3)
    assert tip_errors(result, line).max() > 0.02


# Refused ------------------------------------------------------------------------------------

@pytest.mark.parametrize('given, match', [
    ({'preview': -1.0}, 'preview: expected'), ({'preview': np.nan}, 'preview: expected'),
    ({'step': 0.0}, 'step: expected'), ({'first': [0.0, 1.0]}, 'first: expected 4'),
    ({'path': TipLine([0, 0, 9], [1, 0, 9], 1.0)}, 'out of reach')])
def test_bad_arguments_are_refused(arm, line, given, match):
    arguments = {'path': line, 'first': POSE, **given}
    with pytest.raises(ControlError, match=match):
        TipTrajectory(arm, 'tool', **arguments)


@pytest.mark.parametrize('robot, match', [
    ('mladenova_arm', 'expected stiff joints'), ('lin_lewis_one_link', 'pinned')])
def test_robots_that_it_is_not_for_are_refused(robot, match):
    model = Model(load_robot(robot))
    with pytest.raises(ControlError, match=match):
        TipTrajectory(model, model.robot.links[-1].name, TipLine([0, 0, 0], [1, 0, 0], 1.0),
                      np.zeros(model.n_joints))


def test_more_directions_than_joints_are_refused():
    model = Model(load_robot('lab_link'))
    frame = model.robot.links[-1].name
    kinematics = InverseKinematics(model, frame)
    ends = [kinematics.pose([angle])[:3, 3] for angle in (0.0, 0.3, 0.6)]
    with pytest.raises(ControlError, match='out of reach|expected at least 2 joints'):
        TipTrajectory(model, frame, TipPoses([0.0, 0.5, 1.0], ends), [0.0])
