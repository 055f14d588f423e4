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
"""Time-optimal motions along a path: limits, durations and the vibration that they leave."""
import numpy as np
import pytest

from flex_control import (
    ControlError,
    JointPath,
    MinimumJerk,
    TimeOptimal,
    make_controller,
    run_trial,
)
from flex_control.reference.path_timing.bending_sensitivity import bent
from flex_description import load_robot
from flex_dynamics import Model

LIMITS = {'effort_limit': 0.3, 'velocity_limit': 3.0}


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


@pytest.fixture(scope='module')
def motion(link):
    return TimeOptimal(link, [[0.0], [0.6]], **LIMITS)


def test_the_rigid_optimum_is_bang_bang(link, motion):
    """One joint: 4 J angle / T^2 = tau, J with the link straight, T the least time."""
    q = np.zeros(link.n)
    inertia = link.mass_matrix(q)[0, 0]
    assert motion.rigid.duration == pytest.approx(2.0 * np.sqrt(0.6 * inertia / 0.3), rel=0.02)
    halves = [motion.rigid.sample(share * motion.rigid.duration).acceleration[0]
              for share in (0.1, 0.3, 0.7, 0.9)]
    assert min(halves[:2]) > 0.0 > max(halves[2:])


def test_it_takes_little_longer_and_leaves_hardly_any_vibration(link, motion):
    assert 1.0 < motion.ratio <= 1.15
    tip = link.robot.links[-1].name
    left = []
    for one in (motion.rigid, motion):
        run = run_trial(make_controller('computed_torque', link), one, one.end + 1.5,
                        period=2e-3, step=1e-3, tip=tip)
        left.append(run.vibration(one.end + 0.02, one.end + 1.5))
    assert left[1] < 0.02 * left[0]


def test_the_motion_is_a_trajectory_from_rest_to_rest(link, motion):
    for time, angle in ((motion.start, 0.0), (motion.end, 0.6)):
        at = motion.sample(time)
        assert at.position == pytest.approx([angle], abs=1e-9)
        assert not at.velocity.any() and at.feedforward is not None
    middle, step = 0.4 * motion.end, 1e-4
    ahead, behind = motion.sample(middle + step), motion.sample(middle - step)
    assert np.allclose((ahead.position - behind.position) / (2 * step),
                       motion.sample(middle).velocity, rtol=1e-5)
    assert np.abs(motion.efforts()).max() <= 0.3 * 1.002
    assert motion.coordinates().shape == (len(motion.times()), link.n)


def test_sensitivities_are_those_of_differences(link):
    """Two weights: one of position, one of acceleration; each step of 5 ms."""
    k = np.arange(40)
    base = np.array([0.2 * np.sin(0.05 * k), 0.01 * k, 0.5 * np.cos(0.2 * k)])[..., None]
    slopes = np.random.default_rng(0).standard_normal((3, 40, 1, 2))
    exact, step = bent(link, base, slopes, 5e-3), 1e-5
    for w in range(2):
        more, less = (bent(link, base + sign * step * slopes[..., w], None, 5e-3)
                      for sign in (1.0, -1.0))
        for slope, one, other in ((exact.d_end[..., w], more.end, less.end),
                                  (exact.dq[..., w], more.q, less.q),
                                  (exact.d_effort[..., w], more.effort, less.effort)):
            assert np.allclose(slope, (one - other) / (2.0 * step),
                               atol=1e-5 * np.abs(slope).max())


def test_a_path_has_no_time():
    straight = JointPath([[0.0, 0.0], [3.0, 4.0]])
    assert straight.length == pytest.approx(5.0)
    assert straight.at(2.5) == pytest.approx([1.5, 2.0])
    timed = JointPath(MinimumJerk([0.0, 0.0], [3.0, 4.0], 2.0))
    assert timed.at(2.5) == pytest.approx([1.5, 2.0], abs=1e-4)
    assert timed.at(2.5, 1) == pytest.approx([0.6, 0.8], abs=1e-3)


@pytest.mark.parametrize('path, given, why', [
    ([[0.0]], {}, 'at least two rows'),
    ([[0.0], [0.0]], {}, 'differ from one to the next'),
    ([[0.0, 1.0], [1.0, 0.0]], {}, 'expected 1 joints, found 2'),
    ([[0.0], [np.nan]], {}, 'finite joint positions'),
    ([[0.0], [0.6]], {'strain_limit': -1.0}, 'strain_limit'),
    ([[0.0], [0.6]], {'effort_limit': [1.0, 2.0]}, 'effort_limit'),
    ([[0.0], [0.6]], {'effort_limit': 0.0}, 'effort_limit')])
def test_bad_input_is_refused(link, path, given, why):
    with pytest.raises(ControlError, match=why):
        TimeOptimal(link, path, **given)


def test_gravity_beyond_a_limit_is_named():
    with pytest.raises(ControlError, match='gravity alone takes'):
        TimeOptimal(Model(load_robot('cibicik_arm')), [[0.0, 1.0, 0.5, 0.0], [0.5, 1.0, 0.5, 0.0]],
                    strain_limit=1e-5)
