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
"""Another controller or other gains: efforts go on where they were."""
import numpy as np
import pytest

from flex_control import ControlError, Controller, ControlLoop, Parameter
from flex_control.loop.bumpless_transfer import BumplessTransfer
from flex_description import load_robot
from flex_dynamics import Model


class Push(Controller):
    PARAMETERS = (Parameter('effort', 1.0, 'on every joint', 'N m', -10.0, 10.0),)

    def update(self, time, period):
        return np.full(self.model.n_joints, self.parameters['effort'] + time)


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


def run(loop, begin, end):
    """Efforts of joint 1, a ms apart."""
    model = loop.model
    return np.array([loop.step(tick * 1e-3, np.zeros(model.n), np.zeros(model.n))[0]
                     for tick in range(begin, end)])


@pytest.mark.parametrize('change', [
    lambda loop: loop.set_controller(Push(loop.model, {'effort': 9.0})),
    lambda loop: loop.set_parameters({'effort': 9.0}),
])
def test_efforts_stay_continuous(link, change):
    loop = ControlLoop(link, Push(link), switch_time=0.1)
    before = run(loop, 0, 50)
    change(loop)
    after = run(loop, 50, 200)
    assert abs(after[0] - before[-1]) < 1e-12
    # 1.5 times the mean slope is the steepest of the cubic; the control law itself rises by 1 a s
    assert np.abs(np.diff(after)).max() < 1.5 * 8.0 * 1e-3 / 0.1 + 2e-3
    assert np.allclose(after[100:], 9.0 + np.arange(150, 200) * 1e-3, atol=1e-12)


def test_a_second_change_goes_on_from_the_middle_of_the_first(link):
    loop = ControlLoop(link, Push(link), switch_time=0.1)
    run(loop, 0, 10)
    loop.set_parameters({'effort': 9.0})
    middle = run(loop, 10, 60)[-1]
    loop.set_parameters({'effort': -9.0})
    assert abs(run(loop, 60, 61)[0] - middle) < 1e-12


def test_delayed_updates_do_not_cause_a_jump():
    """States half a second apart, several times the switch time: it takes eight updates."""
    transfer = BumplessTransfer(1, 0.1)
    transfer.apply(0.0, np.zeros(1))
    transfer.start()
    efforts = [transfer.apply(0.01 + 0.5 * tick, np.full(1, 100.0))[0] for tick in range(12)]
    assert efforts[0] == 0.0 and efforts[-1] == 100.0
    assert np.diff(efforts).min() >= 0.0 and np.diff(efforts).max() < 20.0


def test_no_transfer_at_the_start_nor_after_a_reset(link):
    loop = ControlLoop(link, Push(link))
    loop.set_parameters({'effort': 2.0})
    assert run(loop, 0, 1)[0] == 2.0
    loop.set_parameters({'effort': 5.0})
    loop.reset()
    assert run(loop, 0, 1)[0] == 5.0


def test_a_change_that_the_controller_refuses_changes_nothing(link):
    class Picky(Push):
        def parameters_changed(self):
            if self.parameters['effort'] > 5.0:
                raise ControlError('too much for this robot')
            self.derived = 2.0 * self.parameters['effort']

    loop = ControlLoop(link, Picky(link, {'effort': 3.0}))
    with pytest.raises(ControlError, match='too much'):
        loop.set_parameters({'effort': 6.0})
    assert loop.controller.parameters['effort'] == 3.0 and loop.controller.derived == 6.0


def test_a_switch_time_of_zero_is_a_jump():
    transfer = BumplessTransfer(1, 0.0)
    transfer.apply(0.0, np.array([1.0]))
    transfer.start()
    assert transfer.apply(0.1, np.array([4.0]))[0] == 4.0


def test_the_old_name_of_the_switch_time_still_works(link):
    with pytest.warns(DeprecationWarning, match='fade is now switch_time'):
        old = ControlLoop(link, Push(link), fade=0.5)
    new = ControlLoop(link, Push(link), switch_time=0.5)
    for loop in (old, new):
        run(loop, 0, 10)
        loop.set_parameters({'effort': 9.0})
    assert np.array_equal(run(old, 10, 200), run(new, 10, 200))
