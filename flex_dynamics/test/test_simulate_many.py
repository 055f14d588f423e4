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
"""Many runs at once: each is what `simulate` gives, in any number of threads."""
import pickle
import subprocess
import sys

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import (
    DynamicsError,
    Model,
    Servo,
    ServoTargets,
    Wrench,
    simulate,
    simulate_many,
    with_parameters,
)

RUNS, STEP, OUTPUT, OUTPUTS = 5, 1e-3, 5e-3, 8
DURATION = OUTPUTS * OUTPUT


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm')).with_payload('payload', 'tool', 1.5)


@pytest.fixture(scope='module')
def cases(arm):
    random = np.random.default_rng(5)
    q, v = np.zeros((RUNS, arm.n)), 0.1 * random.standard_normal((RUNS, arm.n))
    q[:, :arm.n_joints] = random.uniform(-1.0, 1.0, (RUNS, arm.n_joints))
    return {'q': q, 'v': v, 'tau': 20.0 * random.standard_normal((RUNS, OUTPUTS, arm.n_joints)),
            'parameters': {'payload.mass': random.uniform(0.5, 3.0, RUNS),
                           'link2.bending_stiffness_y': random.uniform(2e3, 4e3, RUNS)},
            'step': STEP, 'output_step': OUTPUT}


def test_runs_are_those_of_simulate_for_any_number_of_threads(arm, cases):
    many = [simulate_many(arm, DURATION, threads=threads, frames=('tool',), **cases)
            for threads in (1, 2, 5)]
    for other in many[1:]:
        for name in ('q', 'v', 'tau'):
            assert np.array_equal(getattr(many[0], name), getattr(other, name)), name
        assert np.array_equal(many[0].positions['tool'], other.positions['tool'])
    assert many[0].ok.all() and len(many[0]) == RUNS
    for run in range(RUNS):
        model = with_parameters(arm, {path: values[run]
                                      for path, values in cases['parameters'].items()})
        torque = cases['tau'][run]
        alone = simulate(model, DURATION, cases['q'][run], cases['v'][run],
                         lambda t, *_, torque=torque: torque[min(round(t / OUTPUT), OUTPUTS - 1)],
                         step=STEP, output_step=OUTPUT)
        here = many[0].run(run)
        assert np.array_equal(here.time, alone.time)
        for name in ('q', 'v', 'tau'):
            assert np.array_equal(getattr(here, name), getattr(alone, name)), name
        assert many[0].positions['tool'][run, -1] == pytest.approx(
            model.pose(alone.q[-1], 'tool')[:3, 3], abs=1e-14)
    assert np.array_equal(many[0].of('joint1'), many[0].q[:, :, 0])
    # runs differ, and from the second step on by what was varied
    assert len({row.tobytes() for row in many[0].q[:, -1]}) == RUNS


def test_set_points_wrenches_and_models_vary(arm):
    targets = np.array([[0.1, 0.2, 0.3, 0.4], [0.0, -0.2, 0.1, 0.0]])
    gains = np.full(4, 900.0), np.full(4, 60.0)
    models = [arm, with_parameters(arm, {'gravity.z': -1.62})]
    push = Wrench('tool', force=[5.0, 0.0, -10.0])
    result = simulate_many(models, DURATION, servo=ServoTargets(*gains, targets), step=STEP,
                           output_step=OUTPUT, wrenches=lambda run: [push] if run else None)
    for run, (model, target) in enumerate(zip(models, targets, strict=True)):
        alone = simulate(model, DURATION, servo=Servo(*gains, lambda t, to=target: to), step=STEP,
                         output_step=OUTPUT, wrenches=[push] if run else None)
        assert np.array_equal(result.q[run], alone.q)
    rest = simulate_many(arm, DURATION, rest=targets, step=STEP, output_step=OUTPUT)
    assert np.array_equal(rest.q[1, 0], arm.statics(targets[1])[0])


def test_a_diverging_run_is_a_result_and_leaves_the_others_alone(arm, cases):
    given = {**cases, 'tau': cases['tau'].copy()}
    given['tau'][2, 3:] = 1e14
    result = simulate_many(arm, DURATION, threads=2, **given)
    good = simulate_many(arm, DURATION, threads=1, **cases)
    assert [bool(reason) for reason in result.reasons] == [False, False, True, False, False]
    assert 'joint' in result.reasons[2] and 'step' in result.reasons[2]
    with pytest.raises(DynamicsError) as alone:
        simulate(with_parameters(arm, {path: values[2]
                                       for path, values in cases['parameters'].items()}),
                 DURATION, cases['q'][2], cases['v'][2],
                 lambda t, *_: given['tau'][2, min(round(t / OUTPUT), OUTPUTS - 1)], step=STEP,
                 output_step=OUTPUT)
    assert str(alone.value) == result.reasons[2]
    assert result.counts[2] == 4 and np.isnan(result.q[2, 4:]).all()
    assert len(result.run(2).time) == 4
    others = [0, 1, 3, 4]
    assert np.array_equal(result.q[others], good.q[others])
    # the thread that met it goes on with a fresh robot
    alone_again = simulate_many(arm, DURATION, threads=1, **given)
    assert np.array_equal(alone_again.q[others], good.q[others])


@pytest.mark.parametrize('given, message', [
    ({'q': np.zeros(3)}, r'q: expected shape \(\d+,\)'),
    ({'tau': np.full((2, 4), np.nan)}, 'tau of run 0: expected finite numbers.*joint1'),
    ({'tau': np.zeros((2, 3, 4))}, 'one row an output step'),
    ({'q': np.zeros((2, 20)), 'tau': np.zeros((3, 4))}, 'shape|expected 2 runs'),
    ({'parameters': {'link2.bending_stifness_y': 1.0}},
     "did you mean 'link2.bending_stiffness_y'"),
    ({'parameters': {'payload.mass': [1.0, -1.0]}}, 'payload.mass: expected a positive number'),
    ({'parameters': {'payload.mass': [1.0, 'x']}}, 'payload.mass: expected'),
    ({'parameters': [1.0]}, 'values by path'),
    ({'runs': 10**8}, 'GB of 100000000 runs'),
    ({'frames': ('toool',)}, "did you mean 'tool'"),
    ({'threads': 0}, 'threads'),
    ({'rest': np.zeros(4), 'q': None, 'runs': 0}, 'runs'),
])
def test_bad_input_is_refused_before_the_first_run(arm, given, message, monkeypatch):
    def started(*arguments):
        raise AssertionError('a run was started')

    monkeypatch.setattr(
        'flex_dynamics.simulation.batch.simulate_many._in_threads', started)
    with pytest.raises(DynamicsError, match=message):
        simulate_many(arm, DURATION, step=STEP, output_step=OUTPUT, **given)


def test_models_of_other_coordinates_and_linear_ones_are_refused(arm):
    other = Model(load_robot('lab_link'))
    with pytest.raises(DynamicsError, match='model 1: expected the coordinates of model 0'):
        simulate_many([arm, other], DURATION)
    with pytest.raises(DynamicsError, match='linear'):
        simulate_many(Model(other.robot, 'linear'), DURATION)


def test_threads_of_a_fresh_process_do_not_prepare_kernels_at_once():
    # In a process that has simulated nothing yet; run 1 diverges, which needs one kernel more.
    script = ('import numpy as np\n'
              'from flex_description import load_robot\n'
              'from flex_dynamics import Model, simulate_many\n'
              'model = Model(load_robot("lab_link"))\n'
              'result = simulate_many(model, 0.05, tau=[[0.0], [1e14], [0.0], [1e14]], '
              'threads=4, frames=("payload",))\n'
              'print([bool(reason) for reason in result.reasons])\n')
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.stdout.strip() == '[False, True, False, True]', done.stderr


def test_progress_is_reported(arm):
    seen = []
    simulate_many(arm, DURATION, runs=3, progress=lambda done, runs: seen.append((done, runs)))
    assert seen[-1] == (3, 3)


def test_a_result_can_be_pickled(arm):
    result = simulate_many(arm, DURATION, runs=2)
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.q, result.q) and again.reasons == result.reasons
