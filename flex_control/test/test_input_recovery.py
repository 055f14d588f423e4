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
"""Hysteresis of lost inputs, by the stamps of states."""
from flex_control.loop.input_recovery import InputRecovery

MS = 10**6


def test_inputs_are_back_after_the_time_without_a_loss():
    recovery = InputRecovery(0.2)
    assert [recovery.good(at * MS) for at in (1000, 1100, 1199, 1200, 1300)] == [
        False, False, False, True, True]


def test_a_loss_in_between_begins_anew():
    recovery = InputRecovery(0.2)
    assert not recovery.good(1000 * MS)
    recovery.lost()
    assert not recovery.good(1190 * MS) and not recovery.good(1389 * MS)
    assert recovery.good(1390 * MS)


def test_inputs_that_come_and_go_are_never_back():
    recovery = InputRecovery(0.2)
    for at in range(0, 5000, 2):
        if at % 100:
            assert not recovery.good(at * MS)
        else:
            recovery.lost()


def test_a_gap_in_wall_time_is_no_loss_and_time_set_back_begins_anew():
    recovery = InputRecovery(0.2)
    assert not recovery.good(1000 * MS) and recovery.good(9000 * MS)
    assert not recovery.good(0) and recovery.good(200 * MS)


def test_none():
    assert InputRecovery(0.0).good(5)
