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
"""Predicted readings, their sensitivities, the filter along a run, and Fisher information."""
from functools import partial

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_identification import (
    IdentificationError,
    Inputs,
    Noise,
    ParameterSet,
    Prior,
    fisher_information,
    linearize,
    simulated,
)
from flex_identification.prediction.filtered_run import Start, filter_run, smooth_run
from flex_identification.prediction.linearized_run import model_with

CHANNELS = ('position/joint1', 'velocity/joint1', 'strain/link1/gauge1', 'gyro/tip_imu/z',
            'acceleration/tip_imu/y', 'tip/payload/x')
PATHS = ('link1.bending_stiffness_z', 'link1.damping', 'joint1.damping', 'joint1.friction',
         'payload.mass', 'strain/link1/gauge1.gain', 'strain/link1/gauge1.bias')
TIME = 0.002 * np.arange(120)
INPUTS = Inputs(TIME, 1.5 * np.sign(np.sin(40.0 * TIME))[:, None] + 0.3)


@pytest.fixture(scope='module')
def model():
    return Model(load_robot('lab_link'))


@pytest.fixture(scope='module')
def chosen(model):
    return ParameterSet.of(model, PATHS)


@pytest.fixture(scope='module')
def run(model, chosen):
    """z, nominal states that are near a motion, and what is linear about them."""
    z = chosen.start()
    z[chosen.paths.index('joint1.friction')] = 0.3
    states = simulated(model_with(model, chosen, z), INPUTS, np.zeros(model.n),
                       np.zeros(model.n))
    states = states + 1e-4 * np.random.default_rng(1).normal(size=states.shape)
    return z, states, about(model, chosen, z, states)


def about(model, chosen, z, states, channels=CHANNELS, inputs=INPUTS):
    n = model.n
    return linearize(model, chosen, z, inputs, states[:, :n], states[:, n:], channels)


def slope(function, size):
    return (function(size) - function(-size)) / (2.0 * size)


def test_steps_are_differentiated_by_the_state(model, chosen, run):
    z, states, found = run
    way = np.random.default_rng(2).normal(size=states.shape)

    def after(size):
        moved = states + size * way
        return about(model, chosen, z, moved).d + moved[1:]

    expected = slope(after, 1e-7)
    linear = np.einsum('kij,kj->ki', found.F, way[:-1])
    assert np.abs(linear - expected).max() < 1e-5 * np.abs(expected).max()


def test_readings_are_differentiated_by_the_state(model, chosen, run):
    z, states, found = run
    way = np.random.default_rng(3).normal(size=states.shape)
    expected = slope(lambda size: about(model, chosen, z, states + size * way).predicted, 1e-7)
    linear = np.einsum('kij,kj->ki', found.H, way)
    # Of accelerations the change of centripetal terms by q is left out.
    tolerance = np.where([name.startswith('acceleration') for name in CHANNELS], 0.02, 1e-5)
    assert (np.abs(linear - expected).max(axis=0)
            < tolerance * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize('path', PATHS)
def test_sensitivities_are_exact(model, chosen, run, path):
    z, states, found = run
    k = chosen.paths.index(path)
    change = np.zeros(len(z))
    change[k] = 1.0
    for of, exact in (('d', found.G[:, :, k]), ('predicted', found.J[:, :, k])):
        expected = slope(lambda size, of=of: getattr(
            about(model, chosen, z + size * change, states), of), 1e-4)
        assert np.abs(exact - expected).max() <= 1e-4 * np.abs(expected).max()


def test_a_delay_shows_the_reading_of_an_earlier_state(model, run):
    """Against the motion at a fifth of the period."""
    fine = 0.0004 * np.arange(500)
    inputs = Inputs(fine, np.repeat(np.sin(20.0 * fine[::5]), 5)[:, None])
    states = simulated(model, inputs, np.zeros(model.n), np.zeros(model.n), 4e-4)
    coarse = Inputs(fine[::5], inputs.effort[::5])
    for delay in (0.0012, -0.0008, 0.0052):
        chosen = ParameterSet.of(model, ['position/joint1.delay'])
        found = about(model, chosen, np.array([delay / 1e-3]), states[::5], CHANNELS[:1], coarse)
        rows = np.flatnonzero(found.source[:, 0] >= 0)[3:-3]
        sample = found.source[rows, 0]
        expected = states[5 * sample - round(delay / 4e-4), 0]
        np.testing.assert_allclose(found.predicted[rows, 0], expected, atol=1e-6)


def dense(run, start, nominal, noise):
    """Mean (N m,) of all readings less the predicted ones, their slope by z, their covariance,
    the slope of readings by all that is unknown, and what is unknown to all states."""
    N, m, s = run.H.shape
    joints = run.B.shape[2]
    states = [np.hstack((np.eye(s), np.zeros((s, joints * (N - 1)))))]
    means, slopes = [start.mean - nominal], [np.zeros((s, run.J.shape[2]))]
    for k in range(N - 1):
        states.append(run.F[k] @ states[-1])
        states[-1][:, s + joints * k:s + joints * (k + 1)] += run.B[k]
        means.append(run.F[k] @ means[-1] + run.d[k])
        slopes.append(run.F[k] @ slopes[-1] + run.G[k])
    unknown = np.zeros((s + joints * (N - 1),) * 2)
    unknown[:s, :s] = start.covariance
    unknown[s:, s:] = np.kron(np.eye(N - 1), np.diag(noise.effort**2))
    rows = np.concatenate([run.H[k] @ states[k] for k in range(N)])
    mean = np.concatenate([run.H[k] @ means[k] for k in range(N)])
    slope = np.concatenate([run.H[k] @ slopes[k] + run.J[k] for k in range(N)])
    covariance = rows @ unknown @ rows.T + np.diag(np.tile(noise.readings**2, N))
    return mean, slope, covariance, rows @ unknown, np.array(states), np.array(means)


def test_the_filter_is_the_gaussian_it_stands_for(model, chosen, run):
    """Likelihood, information and smoothed states, against matrices of the whole run."""
    _, states, lines = run
    keep = slice(0, 25)
    lines = lines._replace(F=lines.F[:24], d=lines.d[:24], G=lines.G[:24], B=lines.B[:24],
                           **{name: getattr(lines, name)[keep] for name in
                              ('predicted', 'H', 'J', 'source')})
    s = states.shape[1]
    start = Start(states[0] + 1e-3, np.diag(np.linspace(1e-4, 1e-2, s)))
    noise = Noise(np.array([0.05]), np.array([1e-3, 1e-2, 1e-5, 1e-2, 0.1, 1e-3]))
    readings = lines.predicted + noise.readings * np.random.default_rng(4).normal(
        size=lines.predicted.shape)
    found = filter_run(lines, readings, noise, start, states[0])
    mean, slopes, covariance, cross, to_states, means = dense(lines, start, states[0], noise)
    errors = (readings - lines.predicted).ravel() - mean
    solved = np.linalg.solve(covariance, errors)
    expected = errors @ solved + np.linalg.slogdet(covariance)[1]
    assert abs(found.cost - expected) < 1e-6 * abs(expected)
    np.testing.assert_allclose(found.information, slopes.T @ np.linalg.solve(covariance, slopes),
                               rtol=1e-6, atol=1e-6 * np.abs(found.information).max())
    np.testing.assert_allclose(found.gradient, slopes.T @ solved, rtol=1e-5,
                               atol=1e-6 * np.abs(found.gradient).max())
    change = 1e-3 * np.ones(len(slopes.T))
    unknown = cross.T @ np.linalg.solve(covariance, errors - slopes @ change)
    expected = means + to_states @ unknown
    moved = np.zeros((s, len(change)))
    for k in range(25):
        expected[k] += moved @ change
        if k < 24:
            moved = lines.F[k] @ moved + lines.G[k]
    deviations = smooth_run(lines, readings, change, noise, start, states[0])
    assert np.abs(deviations - expected).max() < 1e-6 * np.abs(expected).max()


def test_missing_readings_are_left_out(model, run):
    _, states, lines = run
    start = Start(states[0], 1e-4 * np.eye(states.shape[1]))
    noise = Noise(np.array([0.05]), np.array([1e-3, 1e-2, 1e-5, 1e-2, 0.1, 1e-3]))
    readings = lines.predicted.copy()
    readings[10:20, 2] = np.nan
    found = filter_run(lines, readings, noise, start, states[0])
    assert np.isnan(found.errors[10:20, 2]).all() and np.isfinite(found.errors[20:]).all()


def told(model, paths, channels=CHANNELS[:3], **given):
    noise = {'position': 1e-5, 'velocity': 1e-2, 'strain': 1e-6, 'gyro': 1e-3,
             'acceleration': 0.05, 'tip': 1e-4}
    chosen = ParameterSet.of(model, paths, **given)
    rest = model.statics(np.zeros(1))[0]
    return fisher_information(model, chosen, INPUTS, rest, 0.0 * rest, channels, Noise(
        np.array([0.02]), np.array([noise[name.partition('/')[0]] for name in channels])))


def test_what_a_planar_run_cannot_tell_is_named(model):
    found = told(model, ['link1.bending_stiffness_z', 'link1.bending_stiffness_y'])
    only, = found.null_directions()
    assert only.left_out == 'link1.bending_stiffness_y'
    assert 'link1.bending_stiffness_y is hardly told by these data' in only.text
    assert found.relative_errors()['link1.bending_stiffness_z'] < 0.01


def test_what_cannot_be_separated_is_named(model):
    """A gain and a bending stiffness seen by one gauge in one slow bend."""
    paths = ['strain/link1/gauge1.gain', 'link1.bending_stiffness_z', 'link1.mass_per_length',
             'payload.mass']
    found = told(model, paths, ('strain/link1/gauge1',))
    directions = found.null_directions(0.001)
    assert directions and any(len(one.paths) > 1 for one in directions)
    assert 'cannot be separated' in next(one.text for one in directions if len(one.paths) > 1)
    prior = told(model, paths, ('strain/link1/gauge1',), priors={
        path: Prior(value, 1e-4 * value) for path, value in found.parameters.values(
            found.z).items()})
    assert prior.null_directions(0.001) == []


def test_ties_move_parameters_together(model):
    chosen = ParameterSet.of(model, ['link1.bending_stiffness_z'],
                             ties={'link1.bending_stiffness_z': ['link1.bending_stiffness_y']})
    values = chosen.values(chosen.start() + np.log(2.0))
    assert values['link1.bending_stiffness_y'] == pytest.approx(2.0 * 2240.0)
    assert values['link1.bending_stiffness_z'] == pytest.approx(2.0 * 5.6)


@pytest.mark.parametrize(('make', 'message'), [
    (partial(ParameterSet.of, paths=['link1.bending_stifness_z']), 'did you mean'),
    (partial(ParameterSet.of, paths=['effort/joint1.bias']), 'found effort/joint1'),
    (partial(ParameterSet.of, paths=['joint1.damping'], bounds={'joint1.damping': (1.0, 2.0)}),
     'expected bounds about its start 0.02'),
    (partial(ParameterSet.of, paths=['joint1.damping'], priors={'joint1.frction': Prior(1, 1)}),
     'priors: expected paths of the fit'),
    (partial(ParameterSet.of, paths=['joint1.damping'],
             ties={'joint1.damping': ['joint1.damping']}), 'ties: joint1.damping'),
])
def test_bad_parameters_are_refused(model, make, message):
    with pytest.raises(IdentificationError, match=message):
        make(model)
