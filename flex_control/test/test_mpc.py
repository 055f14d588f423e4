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
"""mpc: limits kept along motions and where they cannot be, from noisy sensors at 200 Hz."""
import numpy as np
import pytest

from flex_control import (
    LQG,
    MPC,
    ControlError,
    MinimumJerk,
    Noise,
    SetPoints,
    run_trial,
)
from flex_control.design.limited_outputs import limited_outputs
from flex_control.design.lqr_design import lqr_gains
from flex_control.design.prediction import predict
from flex_control.design.rest_model import rest_model
from flex_control.design.soft_program import SoftProgram
from flex_control.incremental import finish
from flex_control.reference.fibre_strain import FibreStrain
from flex_description import load_robot
from flex_dynamics import Model

PERIOD = 5e-3
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
START = np.array([0.0, 0.52, 2.09, 0.52])
STEP = SetPoints([0.0, 0.2], [START, START + [0.78, 0.0, 0.0, 0.0]])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def trial(controller, trajectory, seconds, **more):
    return run_trial(controller, trajectory, seconds, period=PERIOD, step=1e-3, noise=NOISE,
                     **more)


def strains(model, result):
    fibres = FibreStrain(model)
    return np.array([fibres.largest(q)[0] for q in result.q])


@pytest.fixture(scope='module')
def free_peak(arm):
    """Largest strain of lqg's step."""
    return strains(arm, trial(LQG(arm), STEP, 1.2)).max()


@pytest.mark.parametrize('share, step_time', [(0.6, 0.0), (0.75, 0.8)])
def test_a_step_keeps_its_strain_below_a_share_of_that_of_lqg(arm, free_peak, share, step_time):
    """With the step stretched, and by the program alone (the time that lqg takes)."""
    controller = MPC(arm, {'strain_limit': share * free_peak, 'step_time': step_time})
    result = trial(controller, STEP, 2.2)
    assert strains(arm, result).max() <= share * free_peak
    assert controller.trouble() == ''
    assert np.abs(result.joint_error()[-20:]).max() < 2e-3
    assert (controller.solved > 20) == bool(step_time)


def test_without_a_limit_in_reach_it_is_lqg(arm):
    move = MinimumJerk(START, START + 0.1, 0.8)
    one, other = (trial(kind(arm, {'period': PERIOD}), move, 0.4) for kind in (LQG, MPC))
    # but for the rate at which new gains take over
    assert np.abs(one.q - other.q).max() < 2e-3


def test_a_limit_below_what_gravity_takes_is_softened_and_told(arm, free_peak):
    controller = MPC(arm, {'strain_limit': 0.35 * free_peak})
    result = trial(controller, STEP, 1.0)
    assert controller.softened > 10
    assert 'were softened: strain of link2' in controller.trouble()
    assert strains(arm, result).max() < 0.6 * free_peak
    assert result.joint_error()[-1, 0] < 0.77                   # it goes on
    assert controller.figures()['solutions with softened limits'] == controller.softened


def test_speed_and_effort_limits_are_kept(arm):
    """A move of 1 rad in 1 s, which would take 1.9 rad/s."""
    move = MinimumJerk(START, START + [1.0, 0.0, 0.0, 0.0], 1.0, start=0.1)
    limits = {'velocity_limit': 1.5, 'effort_limit': [350.0, 1e4, 1e4, 1e3]}
    controller = MPC(arm, limits)
    result = trial(controller, move, 2.2)
    assert np.abs(result.v[:, 0]).max() < 1.5
    assert np.abs(result.effort[:, 0]).max() < 1.02 * 350.0     # between samples drives add some
    assert np.abs(result.joint_error()[-20:]).max() < 5e-3


def test_an_unknown_payload_is_borne(arm, free_peak):
    controller = MPC(arm, {'strain_limit': free_peak})
    loaded = arm.with_payload('unknown', 'tool', 2.0)
    result = trial(controller, STEP, 2.5, plant=loaded, start=START)
    assert np.abs(result.joint_error()[-20:, 0]).max() < 5e-3
    assert strains(loaded, result).max() < 1.1 * free_peak


def test_the_prediction_is_that_of_the_linear_loop(arm):
    """Free and forced responses against the sampled regulator, period by period."""
    limited = limited_outputs(arm, np.full(4, 1e3), np.full(4, 2.0), 0.1, 1e-3, 'gauges')
    controller = LQG(arm, {'period': PERIOD})
    q = arm.statics(START)[0]
    rest = finish(rest_model(arm, q, np.zeros(4), controller.drive_gains()[1]))
    gains = finish(lqr_gains(arm, rest, controller.weights(), PERIOD))
    made = finish(predict(rest, gains, limited, 1.0, PERIOD, np.zeros(4),
                          controller.drive_gains()[1]))
    random = np.random.default_rng(3)
    x = made.state(1e-3 * random.standard_normal(arm.n), 1e-2 * random.standard_normal(arm.n),
                   1e-4 * random.standard_normal(4), random.standard_normal(4))
    a = random.standard_normal(made.forced.shape[2])
    wanted = made.free(x, np.zeros((len(made.grid.steps), arm.n))) + made.forced @ a
    loop, found, cost, step = gains.sampled, [], 0.0, 0
    for until in np.cumsum(made.grid.steps):
        while step < until:
            c = made.change(a, step)
            x = loop.F @ x + loop.G @ (c - loop.gain @ x)
            cost, step = cost + c @ loop.weight @ c, step + 1
        found.append(x)
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert np.isclose(cost, a @ a)


def test_a_program_without_solution_gives_way_evenly():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    found = SoftProgram().solve(rows, np.array([1.5, 2.5, 1.2]), np.zeros(3, dtype=int),
                                np.zeros(3))
    excess = rows @ found.x + [1.5, 2.5, 1.2] - 1.0
    assert np.allclose(excess[:2], 1.0, atol=1e-4)          # (1.5 + 2.5) / 2 - 1
    assert excess[2] < 1.0 + 1e-4


@pytest.mark.parametrize('given, why', [
    ({'strain_at': 'ends'}, 'strain_at: expected gauges or links'),
    ({'strain_limit': -1.0}, 'strain_limit: expected 0 to 1'),
    ({'horizon': float('nan')}, 'horizon'),
    ({'effort_limit': [1.0, 2.0]}, 'effort_limit: expected 1 or 4 numbers')])
def test_bad_parameters_are_refused(arm, given, why):
    with pytest.raises(ControlError, match=why):
        MPC(arm, given)


@pytest.mark.parametrize('robot, given, why', [
    ('lin_lewis_rfr', {}, 'mpc: expected links that bend by at most'),
    ('ur5', {'strain_limit': 1e-3}, 'expected flexible links whose sections'),
    ('ur5', {'strain_limit': 1e-3, 'strain_at': 'gauges'}, 'expected strain gauges'),
    ('ur5', {'deflection_limit': 5.0}, 'deflection_limit: expected flexible links')])
def test_robots_that_it_is_not_for_are_refused(robot, given, why):
    with pytest.raises(ControlError, match=why):
        MPC(Model(load_robot(robot)), given)
