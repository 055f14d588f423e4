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
"""The simulator's decisions, without ROS: periods, steps, lockstep, fail-safe, who drives."""
import math
from dataclasses import replace

import pytest

from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.command_owner import CommandOwner
from flex_dynamics.simulation.pacing import Timing
from flex_dynamics.simulation.simulator_state_machine import LONGEST_LOOK, SimulatorStateMachine

MS = 10**6
FREE = Timing(step=0.001, steps=2, lockstep=False, real_time_factor=1.0, command_timeout=0.1,
              slip_delay=0.01, slip_timeout=2.0, lockstep_timeout=5.0, hold_on_silence=False,
              wait_for_command=True, start_paused=False, independent=False, clock_every=5,
              thread_priority=0)
LOCKSTEP = replace(FREE, lockstep=True)
PERIOD = 0.002


def machine(timing=FREE, has_motors=True, nodes=('/control',), tick=0, command_tick=0):
    made = SimulatorStateMachine(timing, has_motors, CommandOwner(lambda: list(nodes), 1.0), 0.0)
    made.tick, made.command_tick = tick, command_tick
    return made


def good():
    """A command that the plant takes."""


def bad():
    raise CommandError('effort: expected finite numbers')


def run_due(made, now):
    """Run the periods that are due; how many."""
    due = made.periods_due(now)
    for _ in range(due):
        made.watch_commands()
        made.period_ran(now)
    return due


# Stamps of commands ---------------------------------------------------------------------------

@pytest.mark.parametrize('stamp_ns, tick', [(0, 100), (200 * MS, 100), (198 * MS, 99),
                                            (100 * MS, 50)])
def test_free_running_a_command_answers_the_state_of_its_stamp(stamp_ns, tick):
    assert machine(tick=100, command_tick=50).answered_tick(stamp_ns) == tick


@pytest.mark.parametrize('stamp_ns, last, words', [
    (202 * MS, 0, 'is after the present, 200000000 ns'),
    (98 * MS, 0, 'is more than 0.1 s old'),
    (196 * MS, 99, 'is before that of the command before'),
])
def test_free_running_commands_come_in_time_and_order(stamp_ns, last, words):
    with pytest.raises(CommandError, match=words):
        machine(tick=100, command_tick=last).answered_tick(stamp_ns)


def test_in_lockstep_only_the_present_state_is_answered():
    made = machine(LOCKSTEP, tick=100)
    assert made.answered_tick(200 * MS) == 100
    for stamp_ns in (0, 198 * MS, 202 * MS):
        with pytest.raises(CommandError, match='expected that of the last state, 200000000 ns'):
            made.answered_tick(stamp_ns)
    assert made.is_copy(198 * MS) and not made.is_copy(200 * MS) and not made.is_copy(196 * MS)
    made.answered = True
    assert made.is_copy(200 * MS)


# Free running ---------------------------------------------------------------------------------

def test_time_waits_for_the_first_good_command():
    made = machine()
    assert run_due(made, 1.0) == 0 and run_due(made, 5.0) == 0
    assert made.receive(0, 1, 5.0, bad) is not None and not made.started
    assert made.receive(0, 2, 5.0, good) is None
    assert run_due(made, 5.0) == 0          # the clock starts here
    assert run_due(made, 5.0 + PERIOD) == 1 and made.stamp_ns == 2 * MS


@pytest.mark.parametrize('timing, motors', [(replace(FREE, wait_for_command=False), True),
                                            (FREE, False)])
def test_time_that_waits_for_nobody(timing, motors):
    made = machine(timing, motors)
    run_due(made, 0.0)
    assert run_due(made, PERIOD) == 1


def test_the_fail_safe_acts_when_commands_stop_and_ends_with_the_next_one():
    made = machine()
    made.receive(0, 1, 0.0, good)
    begins = []
    for tick in range(100):
        begins.append(made.watch_commands())
        assert made.no_effort == made.fail_safe == (tick * PERIOD > FREE.command_timeout)
        made.period_ran(tick * PERIOD)
    assert begins.count(True) == 1
    assert made.receive(0, 2, 1.0, good) is None and not made.fail_safe


def test_the_fail_safe_hold_keeps_the_last_command():
    made = machine(replace(FREE, hold_on_silence=True), tick=1000)
    assert made.watch_commands() and made.fail_safe and not made.no_effort


def test_a_robot_without_motors_needs_no_command():
    made = machine(has_motors=False, tick=1000)
    assert not made.watch_commands() and not made.fail_safe


# Free running: a driver that was not scheduled ------------------------------------------------

def answered_until(tick, timing=FREE, stamps=True, says_so=True):
    """A machine whose driver has answered every state up to this one, and is late by now."""
    made = machine(timing)
    for at in range(tick + 1):
        assert made.receive(made.stamp_ns if stamps else 0, at + 1, at * PERIOD, good,
                            says_so) is None
        made.period_ran(at * PERIOD)
    for _ in range(5):                       # to 0.012 s
        assert not made.slips_for(there, made.tick * PERIOD)
        made.period_ran(made.tick * PERIOD)
    return made


def there():
    """The driver is in the graph."""
    return True


def gone():
    return False


def ends_in_the_fail_safe(made):
    """Time passes up to command_timeout; then the fail-safe acts."""
    begins = False
    while not begins:
        assert not made.slips_for(there, 20.0)
        begins = made.watch_commands()
        assert made.fail_safe == begins == (
            (made.tick - made.command_tick) * PERIOD > FREE.command_timeout)
        made.period_ran(20.0)
    return made.fail_safes == 1


@pytest.mark.parametrize('last', [0, 1, 100])
def test_time_waits_for_a_driver_that_answers_states_and_goes_on_with_its_command(last):
    made = answered_until(last)
    tick = made.tick
    for look in range(50):
        assert made.periods_due(10.0 + 0.01 * look) == (look > 0)
        assert made.slips_for(there, 10.0 + 0.01 * look)
    assert made.receive(made.stamp_ns, last + 2, 10.5, good, True) is None
    assert made.periods_due(10.5) == 1                        # the pause is not made up for
    assert not made.slips_for(there, 10.5) and not made.watch_commands()
    assert made.slips == 1 and made.slipped == pytest.approx(0.5)
    assert made.fail_safes == 0 and made.tick == tick
    made.period_ran(10.5)
    assert made.periods_due(10.5) == 0


def test_a_driver_that_does_not_come_back_leaves_the_robot_to_the_fail_safe():
    made = answered_until(100)
    looks = [made.slips_for(there, 10.0 + 0.01 * look) for look in range(210)]
    assert looks.count(True) == looks.index(False) and abs(looks.index(False) - 200) <= 1
    assert made.slipped == pytest.approx(FREE.slip_timeout, abs=0.011)
    assert ends_in_the_fail_safe(made)


def test_a_driver_that_comes_back_after_all_is_waited_for_again():
    made = answered_until(100)
    for look in range(300):
        made.slips_for(there, 10.0 + 0.01 * look)
    assert ends_in_the_fail_safe(made)
    assert made.receive(made.stamp_ns, 1000, 21.0, good, True) is None
    assert not made.fail_safe and not made.slips_for(there, 21.0)
    made.tick += 10
    assert made.slips_for(there, 21.0)


def test_a_driver_that_leaves_the_graph_is_not_waited_for():
    made = answered_until(100)
    assert not made.slips_for(gone, 10.0) and made.slips == 0 and made.slipped == 0.0
    assert ends_in_the_fail_safe(made)
    made = answered_until(100)
    assert made.slips_for(there, 10.0) and not made.slips_for(gone, 10.1)
    assert ends_in_the_fail_safe(made)


@pytest.mark.parametrize('made', [
    lambda: answered_until(100, says_so=False),        # by hand, ros2_control, any other driver
    lambda: answered_until(100, stamps=False),
    lambda: answered_until(100, replace(FREE, slip_timeout=0.0)),
], ids=['other drivers', 'commands without stamps', 'slip_timeout 0'])
def test_no_other_driver_slows_time_down(made):
    made = made()
    assert ends_in_the_fail_safe(made) and made.slips == 0 and made.slipped == 0.0


def test_a_driver_that_skips_states_on_a_busy_machine_is_still_waited_for():
    made = answered_until(10)
    for at in range(20):
        assert made.slips_for(there, 10.0 + at)
        assert made.receive(made.stamp_ns, 100 + at, 10.0 + at, good, True) is None
        for _ in range(6):
            assert not made.slips_for(there, 10.0 + at)
            made.period_ran(10.0 + at)


def test_commands_with_times_of_their_own_do_not_slow_time_down():
    made = answered_until(100)
    assert made.receive(made.stamp_ns - MS // 2, 1000, 0.3, good, True) is None
    for _ in range(10):
        made.period_ran(0.3)
    assert ends_in_the_fail_safe(made)


def test_time_does_not_wait_for_a_driver_whose_commands_are_bad():
    made = answered_until(100)
    assert made.slips_for(there, 10.0)
    assert made.receive(made.stamp_ns, 1000, 10.0, bad, True) is not None
    assert ends_in_the_fail_safe(made)


def test_a_late_command_of_a_driver_that_was_not_scheduled_does_not_end_the_wait():
    made = answered_until(100)
    made.tick += 60
    assert made.slips_for(there, 10.0)
    assert 'old' in str(made.receive(100 * 2 * MS + 2 * MS, 1000, 10.1, good, True))
    assert made.slips_for(there, 10.1)


def test_a_slow_rate_has_two_periods():
    made = machine(replace(FREE, steps=20))            # 0.02 s
    for at in range(3):
        assert made.receive(made.stamp_ns, at + 1, 0.02 * at, good, True) is None
        made.period_ran(0.02 * at)
    assert not made.slips_for(there, 1.0)
    made.period_ran(1.0)
    assert not made.slips_for(there, 1.0)
    made.period_ran(1.0)
    assert made.slips_for(there, 1.0)


def test_a_stall_of_the_simulator_itself_is_not_counted_against_the_driver():
    made = answered_until(100)
    assert made.slips_for(there, 10.0)
    assert made.slips_for(there, 60.0) and made.slipped == pytest.approx(LONGEST_LOOK)


def test_a_reset_ends_the_wait():
    made = answered_until(100)
    assert made.slips_for(there, 10.0)
    made.reset(state=True, clock=True, now=10.0)
    assert not made.slips_for(there, 10.0) and not made.watch_commands()


# Lockstep -------------------------------------------------------------------------------------

def test_lockstep_runs_one_period_for_each_command():
    made = machine(LOCKSTEP)
    for tick in range(5):
        assert made.moving and not made.answered
        assert made.receive(made.stamp_ns, tick + 1, 0.0, good) is None
        assert made.answered
        made.answered = False
        made.period_ran(0.0)
        assert made.receive(made.timing.stamp_ns(tick), tick + 2, 0.0, bad) is None   # a copy
        assert made.rejected == 0 and not made.answered


def test_in_lockstep_a_bad_command_is_answered_by_the_fail_safe():
    made = machine(LOCKSTEP)
    assert 'finite' in str(made.receive(0, 1, 0.0, bad))
    assert made.answered and made.fail_safe and made.rejected == 1
    made.answered = False
    made.period_ran(0.0)
    assert made.receive(2 * MS, 2, 0.0, good) is None and not made.fail_safe


def test_in_lockstep_a_command_for_another_state_answers_nothing():
    made = machine(LOCKSTEP, tick=10)
    assert 'header.stamp' in str(made.receive(40 * MS, 1, 0.0, good))
    assert not made.answered and not made.fail_safe


def test_a_second_node_neither_drives_nor_lets_the_fail_safe_act():
    made = machine(LOCKSTEP, nodes=('/control', '/other'))
    assert made.receive(0, 5000, 0.0, good) is None
    made.answered = False
    made.period_ran(0.0)
    problem = made.receive(2 * MS, 1, 0.1, good)
    assert 'refused until it has been silent' in str(problem)
    assert not made.answered and not made.fail_safe
    assert made.receive(2 * MS, 5001, 0.1, good) is None and made.answered


def test_a_long_wait_is_told_once():
    made = machine(LOCKSTEP)
    assert not made.waits_too_long(4.9) and made.waits_too_long(5.1)
    made.silence = 'waiting for /control'
    assert not made.waits_too_long(6.0)
    made.period_ran(7.0)
    assert made.silence == '' and not made.waits_too_long(11.9) and made.waits_too_long(12.1)
    made.play(False, 20.0)
    assert not made.waits_too_long(99.0)     # paused: nobody is waited for


# Pause, steps, reset, failure -------------------------------------------------------------------

def test_granted_steps_run_while_paused_and_no_further():
    made = machine(replace(FREE, start_paused=True))
    assert not made.moving and run_due(made, 1.0) == 0
    made.grant(3, 1.0)
    assert made.started and made.moving
    assert made.periods_due(1.0) == 1        # the first of them at once
    assert [made.period_ran(1.0) for _ in range(3)] == [False, False, True]
    assert not made.moving and made.tick == 3


def test_more_periods_are_never_due_than_were_granted():
    made = machine(replace(FREE, start_paused=True))
    made.grant(2, 0.0)
    made.periods_due(0.0)
    assert made.periods_due(0.05) <= 2


@pytest.mark.parametrize('playing, words', [(True, 'it was set to playing with 2 steps left'),
                                            (False, 'it was paused with 2 steps left')])
def test_steps_that_end_early_are_told(playing, words):
    made = machine(replace(FREE, start_paused=True))
    made.grant(3, 0.0)
    made.period_ran(0.0)
    assert made.play(playing, 0.0) == words and made.granted == 0
    assert made.playing is playing and made.play(playing, 0.0) == ''


def test_a_failure_pauses_until_the_state_is_reset():
    made = machine()
    made.receive(0, 1, 0.0, good)
    made.fail('the motion diverges')
    assert not made.moving and not made.playing
    made.play(True, 0.0)
    assert not made.moving                   # not before a reset
    made.reset(state=False, clock=True, now=0.0)
    assert not made.moving
    made.reset(state=True, clock=True, now=0.0)
    assert made.moving and not made.started and made.tick == 0


def test_a_reset_of_the_state_alone_keeps_the_time():
    made = machine(tick=100, command_tick=90)
    made.reset(state=True, clock=False, now=0.0)
    assert made.tick == made.command_tick == 100 and not made.fail_safe


def test_a_controller_in_the_process_answers_the_present_state():
    made = machine(LOCKSTEP, tick=7)
    assert made.receive_direct(good) is None
    assert made.answered and made.command_tick == 7 and not made.fail_safe
    assert made.receive_direct(bad) is not None and made.fail_safe and made.rejected == 1


INDEPENDENT = replace(FREE, independent=True, command_timeout=math.inf)


def test_time_passes_from_the_start_with_an_independent_driver():
    made = machine(INDEPENDENT)
    assert made.started and run_due(made, 0.0) == 0
    assert sum(run_due(made, 0.001 * k) for k in range(1, 101)) == 50
    assert not made.fail_safe and not made.fail_safes


def test_silence_of_an_independent_driver_is_normal_unless_a_timeout_is_set():
    for timeout, acts in ((math.inf, False), (0.5, True)):
        made = machine(replace(INDEPENDENT, command_timeout=timeout))
        for k in range(1, 11):               # it answers states for a while
            made.tick = k
            assert made.receive(made.stamp_ns, k, 0.001 * k, good) is None
        made.tick += 10_000
        assert not made.slips_for(lambda: True, 21.0)
        assert made.watch_commands() == acts and made.fail_safe == acts


@pytest.mark.parametrize('stamp_ns, other', [
    (0, False), (2 * MS, False), (40 * MS, False), (10**9, False), (1_790_000_000 * 10**9, True)])
def test_stamps_of_an_independent_driver_count_as_now(stamp_ns, other):
    made = machine(INDEPENDENT, tick=10)
    assert made.receive(stamp_ns, 1, 0.02, good) is None
    assert made.command_tick == 10 and made.other_clock == other
