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
"""Trials: what a controller sees, what acts on the robot, and the figures of a run."""
import numpy as np
import pytest

from flex_control import PD, ControlError, Controller, SetPoints
from flex_control.trial import Noise, TrialResult, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

STAY = SetPoints([0.0], [[0.2]])


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


class Spy(Controller):
    """Pushes with 100 N m and writes down what it sees."""

    def reset(self):
        self.seen = []

    def update(self, time, period):
        self.seen = [*getattr(self, 'seen', []), (time, period, self.q, self.v, self.measurements)]
        return np.full(self.model.n_joints, 100.0)


def test_a_controller_sees_what_it_declares_and_efforts_are_cut_to_the_limit(link):
    start = link.statics([0.2])[0]
    start[1:] = 0.01
    spy = Spy(link)
    result = run_trial(spy, STAY, 0.01, start=start, tip='payload')
    assert len(spy.seen) == len(result.time) == 10
    assert not any(q[1:].any() or v[1:].any() for _, _, q, v, _ in spy.seen)
    assert [period for _, period, *_ in spy.seen] == pytest.approx([0.0] + [1e-3] * 9)
    assert (result.effort == link.robot.joints[0].limits.effort).all()
    assert np.abs(result.q[:, 1:]).min() > 0.0


def test_sensors_are_read_with_noise_of_a_seed():
    class Reads(Spy):
        needs_measurements = True

    arm = Model(load_robot('cibicik_arm'))
    stay = SetPoints([0.0], [[0.0, 0.5, 1.0, 0.5]])
    runs = []
    for seed in (1, 1, 2):
        spy = Reads(arm)
        run_trial(spy, stay, 0.004, step=1e-3, noise=Noise(1e-4, 1e-3, 1e-6, 1e-3, 0.1, seed))
        runs.append([m.strain for *_, m in spy.seen])
    assert np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[0], runs[2])
    first = spy.seen[0][4]
    assert first.joint_position == pytest.approx([0.0, 0.5, 1.0, 0.5], abs=6e-4)
    assert first.gyro.shape == first.acceleration.shape == (1, 3)


def test_drives_act_within_the_step_and_the_controller_gives_the_rest(link):
    """However the law is shared between controller and drives, the robot does the same."""
    gains = {'kp': 5.0, 'kd': 1.0, 'static_compensation': False}
    start = link.statics([0.25])[0]
    ends = [run_trial(PD(link, gains), STAY, 0.3, start=start, tip='payload', period=2.5e-4,
                      step=1.25e-4, drive_stiffness=share * 5.0, drive_damping=1.0).q[-1, 0]
            for share in (0.0, 0.5)]
    assert ends[0] == pytest.approx(ends[1], abs=2e-4) and abs(ends[0] - 0.25) > 5e-3


def test_loads_act_from_their_time_on(link):
    push = [Wrench('payload', [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])]
    result = run_trial(PD(link), STAY, 0.1, tip='payload',
                       loads=lambda time: push if time >= 0.05 else None)
    moved = np.linalg.norm(result.tip - result.tip[0], axis=1)
    assert moved[:50].max() < 1e-9 and moved[-1] > 1e-5


def test_figures_of_a_known_run():
    time = np.arange(0.0, 3.0, 1e-3)
    tip = np.zeros((len(time), 3))
    tip[:, 0] = np.exp(-4.0 * time)
    flat = np.zeros((len(time), 1))
    result = TrialResult(time, flat, flat, flat, flat + 0.1, tip)
    assert result.settling_time(0.5, 0.01) == pytest.approx(np.log(100.0) / 4.0 - 0.5, abs=5e-3)
    assert result.settling_time(0.0, 1e-9) == np.inf
    assert result.vibration(0.0, 1e-3) == pytest.approx((1.0 - np.exp(-4e-3)) / 2.0)
    assert (result.joint_error() == 0.1).all()


def test_a_period_that_is_no_multiple_of_the_step_is_refused(link):
    with pytest.raises(ControlError, match='period: expected a multiple of the step'):
        run_trial(PD(link), STAY, 1.0, period=1e-3, step=3e-4)
