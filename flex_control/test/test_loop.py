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
"""The loop that both nodes run: order of time, restarts, and what it refuses to send."""
import numpy as np
import pytest

from flex_control import ControlError, Controller, ControlLoop, SetPoints, make_controller
from flex_description import load_robot
from flex_dynamics import Model


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


class Spy(Controller):
    """Answers what it is told to, and keeps what it was given."""

    needs_terms = True
    answer = 0.0

    def reset(self):
        self.resets = getattr(self, 'resets', 0) + 1

    def update(self, time, period):
        self.given = time, period, self.reference.position.copy(), self.terms, self.measurements
        return np.full(self.model.n_joints, self.answer)


def state(model, joint=0.0):
    q = np.zeros(model.n)
    q[:model.n_joints] = joint
    return q, np.zeros(model.n)


def test_the_first_position_is_held_and_periods_follow_from_the_times(link):
    loop = ControlLoop(link, Spy(link))
    loop.step(1.0, *state(link, 0.3))
    assert loop.controller.given[:2] == (1.0, 0.0)
    loop.step(1.25, *state(link, 0.4))
    assert loop.controller.given[:2] == (1.25, 0.25)
    assert (loop.controller.given[2] == 0.3).all()


def test_time_set_back_restarts_loop_and_trajectory(link):
    first = SetPoints([0.0, 1.0], [[0.1], [0.2]])
    loop = ControlLoop(link, Spy(link), first)
    loop.step(2.0, *state(link))
    loop.set_trajectory(SetPoints([0.0], [[0.7]]))
    loop.step(3.0, *state(link))
    assert loop.controller.given[2] == 0.7
    loop.step(0.0, *state(link))
    assert loop.controller.resets == 1
    assert loop.controller.given[1:3] == (0.0, 0.1)


def test_terms_come_from_the_caller_or_from_the_model(link):
    loop = ControlLoop(link, Spy(link))
    q, v = state(link, 0.2)
    loop.step(0.0, q, v)
    np.testing.assert_array_equal(loop.controller.given[3].M, link.mass_matrix(q))
    given, sensors = link.terms(q, v), object()
    loop.step(0.1, q, v, given, sensors)
    assert loop.controller.given[3] is given and loop.controller.given[4] is sensors


def test_what_is_no_effort_is_refused_and_the_loop_goes_on(link):
    loop = ControlLoop(link, Spy(link))
    loop.controller.answer = np.nan
    with pytest.raises(ControlError, match='Spy: expected 1 finite efforts, found'):
        loop.step(0.0, *state(link))
    loop.controller.answer = 2.0
    assert loop.step(0.5, *state(link)) == 2.0
    assert loop.controller.given[1] == 0.5
    with pytest.raises(ControlError, match='q: expected finite numbers'):
        loop.step(1.0, *state(link, np.nan))


def test_it_is_the_controller_alone(link):
    loop = ControlLoop(link, make_controller('pd', link))
    other = make_controller('pd', link)
    q, v = state(link, 0.2)
    loop.step(0.0, q, v)
    q, v = state(link, 0.25)
    efforts = loop.step(0.001, q, v)
    other.q, other.v, other.reference = q, v, loop.controller.reference
    np.testing.assert_array_equal(efforts, other.update(0.001, 0.001))


class Plans(Spy):
    """Counts what it works ahead, and fails when it is told to."""

    done, fails = 0, False

    def ahead(self):
        self.done += 1
        if self.fails:
            raise ControlError('no plan')


def test_work_ahead_is_done_once_after_each_update_by_the_caller_or_with_the_next_step(link):
    for helped in (True, False):
        loop = ControlLoop(link, Plans(link))
        counts = []
        for k in range(3):
            loop.step(0.1 * k, *state(link))
            if helped:
                loop.work_ahead()
                loop.work_ahead()
            counts.append(loop.controller.done)
        assert counts == ([1, 2, 3] if helped else [0, 1, 2])


def test_work_ahead_that_fails_is_told_by_the_next_step(link):
    loop = ControlLoop(link, Plans(link))
    loop.controller.fails = True
    loop.step(0.0, *state(link))
    loop.work_ahead()
    with pytest.raises(ControlError, match='no plan'):
        loop.step(0.1, *state(link))
    loop.controller.fails = False
    loop.step(0.2, *state(link))
