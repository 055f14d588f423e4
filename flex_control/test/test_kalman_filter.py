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
"""The Kalman filter: right covariances (NEES, NIS), right motion, sensors that come and go."""
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from flex_control import ControlError, Reference
from flex_control.design.lqr_design import longest_reach
from flex_control.estimators import FilterNoise, FlexibleStateFilter, KalmanFilter
from flex_control.estimators.measurements import Measurements
from flex_description import load_robot
from flex_dynamics import Model, Sensors, Simulation, Wrench

PERIOD = 1e-3


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


@pytest.fixture(scope='module')
def arm():
    damping = {'damping': {'ratio': 0.01}}
    return Model(load_robot('cibicik_arm', {'flexible': {'link2': damping, 'link3': damping}}))


def test_filter_is_the_least_squares_estimate():
    """Of a constant: the filter's mean and covariance are those of all readings at once."""
    rng = np.random.default_rng(1)
    prior, rows = np.diag([4.0, 9.0]), rng.normal(size=(6, 2))
    variance, readings = rng.uniform(0.5, 2.0, 6), rng.normal(size=6)
    own = KalmanFilter(np.zeros(2), prior)
    for k in (0, 2, 4):
        at = slice(k, k + 2)
        own.predict(own.x, np.eye(2), np.zeros((2, 2)))
        own.correct(readings[at] - rows[at] @ own.x, rows[at], variance[at])
    covariance = np.linalg.inv(np.linalg.inv(prior) + rows.T @ np.diag(1.0 / variance) @ rows)
    assert np.allclose(own.P, covariance)
    assert np.allclose(own.x, covariance @ rows.T @ (readings / variance))


@pytest.mark.parametrize('name, pose, frame', [
    ('lab_link', [0.3], 'payload'), ('cibicik_arm', [0.0, 0.5, 1.0, 0.5], 'tool')])
def test_prediction_is_the_motion_of_the_model(name, pose, frame):
    """Over a period, after a change of every coordinate, an effort and a push."""
    model = Model(load_robot(name))
    n, (q, tau) = model.n, model.statics(pose)
    own = FlexibleStateFilter(model, FilterNoise(), PERIOD)
    own.begin(q)
    rng = np.random.default_rng(2)
    change = 1e-4 * own._made.from_scaled @ rng.standard_normal(2 * n)
    push, effort = np.array([0.1, -0.2, 0.3]), tau + 0.1
    own.set_state(q + change[:n], change[n:])
    own._filter.x[-3:] = push
    simulation = Simulation(model, PERIOD / 200, q=q + change[:n], v=change[n:])
    simulation.set_loads([Wrench(frame, push)])
    simulation.advance(200, effort)
    own.predict(effort, Reference.at_rest(pose), PERIOD)
    moved = own._made.to_scaled @ np.r_[simulation.q - q - change[:n], simulation.v - change[n:]]
    off = own._made.to_scaled @ np.r_[simulation.q - own.q, simulation.v - own.v]
    assert np.abs(off).max() < 2e-3 * np.abs(moved).max()


def run(model, pose, noise, seed, steps, frame, told=None, every=()):
    """NEES and NIS (steps,) of a filter beside a noisy robot; `every`: (reading, steps apart)."""
    rng, joints, inner = np.random.default_rng(seed), model.n_joints, 10
    own = FlexibleStateFilter(model, told or noise, PERIOD)
    q, tau = model.statics(pose)
    own.begin(q)
    own._filter.P *= 0.01                              # a start that the linear model describes
    start = np.linalg.cholesky(own._filter.P) @ rng.standard_normal(len(own._filter.x))
    state, push = own._made.from_scaled @ start[:-3], start[-3:]
    simulation = Simulation(model, PERIOD / inner, q=q + state[:model.n], v=state[model.n:])
    sensors, wanted = Sensors(model), Reference.at_rest(pose)
    stays = np.exp(-PERIOD / noise.push_time)
    nees, nis, counts = np.zeros((3, steps))
    for k in range(steps):
        simulation.set_loads([Wrench(frame, push)])
        for _ in range(inner):
            wrong = noise.effort / np.sqrt(PERIOD / inner) * rng.standard_normal(joints)
            simulation.advance(1, tau + wrong)
            simulation.v += np.sqrt(2.0 * noise.power * PERIOD / inner) * (
                own._made.rest.shapes @ rng.standard_normal(model.n))
        push = stays * push + noise.push * np.sqrt(1.0 - stays**2) * rng.standard_normal(3)
        a = model.forward_dynamics(simulation.q, simulation.v, tau, [Wrench(frame, push)])
        imu = sensors.imu(simulation.q, simulation.v, a)[0]
        exact = {'joint_position': simulation.q[:joints], 'joint_velocity': simulation.v[:joints],
                 'strain': sensors.strain(simulation.q), 'gyro': imu.gyro[None],
                 'acceleration': imu.acceleration[None]}
        readings = {name: value + getattr(noise, name) * rng.standard_normal(value.shape)
                    for name, value in exact.items()}
        for name, apart in every:
            if k % apart:
                readings[name] = None
        own.predict(tau, wanted, PERIOD)
        own.correct(Measurements(**readings), tau, wanted)
        nees[k] = own.nees(simulation.q, simulation.v, push)
        nis[k], counts[k] = own.nis
    return nees, nis, counts


def averages(model, pose, noise, frame, runs, steps, **options):
    """Mean NEES at the end and sum of the NIS of all steps, each with the bounds of its 99.9 %
    interval: (value, lower, upper)."""
    done = [run(model, pose, noise, seed, steps, frame, **options) for seed in range(runs)]
    freedom = 2 * model.n + 3
    ends = np.mean([nees[-1] for nees, _, _ in done])
    total = sum(nis.sum() for _, nis, _ in done)
    count = sum(counts.sum() for _, _, counts in done)
    return ((ends, *(chi2.ppf(p, runs * freedom) / runs for p in (0.0005, 0.9995))),
            (total, *(chi2.ppf(p, count) for p in (0.0005, 0.9995))))


LINK_NOISE = FilterNoise(effort=0.005, power=1e-7, push=0.1)


def test_the_filter_is_consistent(link):
    for value, lower, upper in averages(link, [0.3], LINK_NOISE, 'payload', 10, 60):
        assert lower < value < upper


def test_the_filter_of_the_arm_is_consistent(arm):
    noise = FilterNoise(effort=0.01 * longest_reach(arm), power=1e-6, push=5.0)
    for value, lower, upper in averages(arm, [0.0, 0.5, 1.0, 0.5], noise, 'tool', 4, 40):
        assert lower < value < upper


def test_it_stays_consistent_with_slow_and_missing_sensors(link):
    every = (('acceleration', 5), ('gyro', 5), ('strain', 3), ('joint_velocity', 1000))
    for value, lower, upper in averages(link, [0.3], LINK_NOISE, 'payload', 10, 60, every=every):
        assert lower < value < upper


@pytest.mark.parametrize('lie', [{'strain': 2e-7}, {'gyro': 4e-4},
                                 {'acceleration': 1e-2}])
def test_noise_that_is_misstated_shows(link, lie):
    """Readings five times as noisy as the filter is told: innovations are too large."""
    told = replace(LINK_NOISE, **lie)
    _, (value, _, upper) = averages(link, [0.3], LINK_NOISE, 'payload', 4, 40, told=told)
    assert value > 1.2 * upper


def test_what_is_estimated_has_the_units_it_should(link):
    """Encoders bound the joint's uncertainty, gauges the deflection's, in rad and in strain."""
    own = FlexibleStateFilter(link, LINK_NOISE, PERIOD)
    q, tau = link.statics([0.3])
    own.begin(q)
    wanted, sensors = Reference.at_rest([0.3]), Sensors(link)
    level = Measurements(q[:1], np.zeros(1), sensors.strain(q),
                         np.zeros((1, 3)), np.array([[0.0, 0.0, 9.81]]))
    for _ in range(50):
        own.predict(tau, wanted, PERIOD)
        own.correct(level, tau, wanted)
    covariance = own.covariance
    assert np.sqrt(covariance[0, 0]) < LINK_NOISE.joint_position
    spread = sensors.strain_matrix() @ covariance[:link.n, :link.n] @ sensors.strain_matrix().T
    assert (np.sqrt(np.diag(spread)) < LINK_NOISE.strain).all()
    assert np.abs(own.q - q).max() < 1e-5


def test_missed_updates_are_bridged_and_long_gaps_told(link):
    q, tau = link.statics([0.3])
    one, other = FlexibleStateFilter(link), FlexibleStateFilter(link)
    wanted = Reference.at_rest([0.3])
    for own in (one, other):
        own.begin(q)
        own.set_state(q + 1e-3, np.zeros(link.n))
    one.predict(tau, wanted, 3 * PERIOD)
    for _ in range(3):
        other.predict(tau, wanted, PERIOD)
    assert np.array_equal(one.q, other.q) and np.array_equal(one.covariance, other.covariance)
    with pytest.raises(ControlError, match='no update for 0.1 s'):
        one.predict(tau, wanted, 0.1)


def test_bad_readings_are_left_out_or_told(link):
    q, tau = link.statics([0.3])
    own = FlexibleStateFilter(link)
    own.begin(q)
    wanted, strain = Reference.at_rest([0.3]), Sensors(link).strain(q)
    own.correct(Measurements(strain=np.r_[np.nan, strain[1:]]), tau, wanted)
    assert own.nis[1] == 2 and np.isfinite(own.q).all()
    own.correct(Measurements(), tau, wanted)
    assert own.nis == (0.0, 0)
    with pytest.raises(ControlError, match='strain: expected 3 readings, found 1'):
        own.correct(Measurements(strain=strain[:1]), tau, wanted)


def test_what_no_sensor_shows_is_refused_by_name(arm):
    """Turning the whole arm about the vertical changes no strain and no inertial reading."""
    own = FlexibleStateFilter(arm, FilterNoise(joint_position=0.0))
    with pytest.raises(ControlError, match='joint1 does not show in any sensor'):
        own.begin(arm.statics([0.0, 0.5, 1.0, 0.5])[0])
