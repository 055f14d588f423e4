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
"""Many trials at once: compiled loops and worker processes give what `run_trial` gives."""
from dataclasses import replace

import numpy as np
import pytest

from flex_control import (
    PD,
    ControlError,
    MinimumJerk,
    Noise,
    SetPoints,
    Trajectory,
    control_schedule,
    make_controller,
    run_trial,
    run_trials,
)
from flex_control.batch.control_schedule import has_affine_law, why_not_compiled
from flex_control.trajectories.base import Feedforward
from flex_description import load_robot
from flex_dynamics import (
    DynamicsError,
    Model,
    ReadingNoise,
    Wrench,
    simulate_many,
    with_parameters,
)

DURATION = 0.08


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm')).with_payload('payload', 'tool', 1.0)


MOVE = MinimumJerk([0.0, 0.5, 1.0, 0.5], [0.3, 0.7, 0.9, 0.6], 0.6)
PUSH = Wrench('tool', force=[0.0, 2.0, -3.0])
MASSES = [0.5, 1.0, 1.5]
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=7)


@pytest.mark.parametrize('name, gains, motion', [
    ('pd', {}, MOVE), ('pd', {'tip_compensation': True, 'feedforward': False}, MOVE),
    ('lqr', {}, MOVE), ('lqr', {'period': 1e-3, 'pose_step': 1e-4}, MOVE),
    ('lqr', {}, SetPoints([0.0, 0.02], [[0.0, 0.5, 1.0, 0.5], [0.3, 0.5, 1.0, 0.5]])),
    ('lqg', {}, MOVE), ('lqg', {'period': 1e-3, 'pose_step': 1e-4, 'gyro': 0.0}, MOVE)])
def test_compiled_loops_are_those_of_run_trial(arm, name, gains, motion):
    """With gauges, an IMU and their noise, a push, and payloads that the controller does not know.
    """
    given = {'period': 1e-3, 'step': 5e-4}
    many = [run_trials(name, arm, motion, DURATION, gains=gains, noise=NOISE,
                       parameters={'payload.mass': MASSES}, wrenches=[PUSH], workers=workers,
                       **given) for workers in (1, 2)]
    assert np.array_equal(many[0].q, many[1].q) and np.array_equal(many[0].tip, many[1].tip)
    assert many[0].reasons == ('', '', '')
    for run, mass in enumerate(MASSES):
        alone = run_trial(make_controller(name, arm, gains), motion, DURATION,
                          plant=with_parameters(arm, {'payload.mass': mass}),
                          loads=lambda time: LOADS, noise=replace(NOISE, seed=NOISE.seed + run),
                          **given)
        here = many[0].trial(run)
        for what, size in (('q', 1e-11), ('v', 1e-8), ('effort', 1e-7), ('wanted', 0.0),
                           ('tip', 1e-11)):
            expected = getattr(alone, what)
            assert getattr(here, what) == pytest.approx(
                expected, rel=0.0, abs=size * max(1.0, np.abs(expected).max())), what


LOADS = [PUSH]


class Planned(Trajectory):
    """Rest, as a motion that was planned with its deflection."""

    start = end = 0.0

    def sample(self, time):
        elastic = Feedforward(*np.zeros((3, 12)), *np.zeros((2, 4)))
        return replace(MOVE.sample(0.0), feedforward=elastic)


def test_what_a_compiled_filter_cannot_do_is_left_to_processes_or_refused(arm):
    controller = make_controller('lqg', arm)
    table = control_schedule(controller, MOVE, 0.01)
    assert not why_not_compiled(controller, MOVE)
    assert 'planned' in why_not_compiled(controller, Planned())
    with pytest.raises(ControlError, match='planned'):
        control_schedule(controller, Planned(), 0.01)
    with pytest.raises(DynamicsError, match='deviations, one a reading, found 1'):
        simulate_many(arm, 0.01, control=table, noise=ReadingNoise([1e-3]), step=5e-4)
    with pytest.raises(DynamicsError, match='reads sensors'):
        simulate_many(arm, 0.01, noise=ReadingNoise([1e-3]))
    bare = Model(replace(arm.robot, imus=()))
    with pytest.raises(DynamicsError, match='other gauges or IMUs'):
        simulate_many(bare, 0.01, control=table, step=5e-4)
    with pytest.raises(ControlError, match='tables of at most .* GB'):
        run_trials('lqg', arm, 1000 * [MOVE], 1e4, every=100_000)


def test_other_controllers_run_in_worker_processes(arm):
    for name, workers in (('pid', 2), ('computed_torque', 1)):
        many = run_trials(name, arm, MOVE, 0.01, parameters={'payload.mass': MASSES[:2]},
                          workers=workers, every=2)
        assert many.reasons == ('', '')
        for run in range(2):
            alone = run_trial(make_controller(name, arm), MOVE, 0.01,
                              plant=with_parameters(arm, {'payload.mass': MASSES[run]}))
            assert np.array_equal(many.q[run], alone.q[::2])


def test_a_failing_trial_is_a_result(arm):
    push = Wrench('tool', force=[0.0, 0.0, 1e12])
    for name in ('pd', 'pid'):
        many = run_trials(name, arm, MOVE, 0.01, workers=1, runs=2,
                          wrenches=lambda run: [push] if run else None)
        assert not many.reasons[0] and 'the motion' in many.reasons[1]
        assert np.isfinite(many.q[0]).all() and np.isnan(many.q[1, -1]).all()


def test_a_law_of_a_subclass_is_not_taken_for_that_of_its_base(arm):
    class Other(PD):
        def update(self, time, period):
            return 2.0 * super().update(time, period)

    assert has_affine_law(PD(arm)) and not has_affine_law(Other(arm))
    for controller in (Other(arm), make_controller('pid', arm)):
        with pytest.raises(ControlError, match='worker processes'):
            control_schedule(controller, MOVE, 0.01)


def test_bad_input_is_refused(arm):
    for given, kind, message in (
            ({'every': 7}, ControlError, 'every'),
            ({'parameters': {'payload.mas': 1.0}}, DynamicsError, "did you mean 'payload.mass'"),
            ({'gains': {'kp': -1.0}}, ControlError, 'kp'),
            ({'trajectory': [MOVE, 3]}, ControlError, 'trajectory 1'),
            ({'runs': 10**9}, DynamicsError, 'GB')):
        arguments = {'trajectory': MOVE, **given}
        with pytest.raises(kind, match=message):
            run_trials('pd', arm, arguments.pop('trajectory'), 0.01, **arguments)
