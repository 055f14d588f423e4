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
"""The simulator's decisions: which periods run, under which command, and who may give it.

Free running, periods are due by the wall clock. When the commands of a driver that answers states
stop, time first waits for it: on a busy machine it may not have been scheduled. Then, and at once
for any other driver, a fail-safe acts. In lockstep a period runs when the command that answers its
state has come. An independent driver, such as ros2_control, sends commands when it likes: time
passes from the start, its commands act from when they come, whatever clock stamped them, and its
silence is normal. While paused, periods run only as far as steps were granted. Wall times (s, of
any steady clock) are arguments: nothing here sleeps, and nothing knows ROS.
"""
from __future__ import annotations

from collections.abc import Callable

from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.command_owner import CommandOwner, SecondDriver
from flex_dynamics.simulation.pacing import Pacing, Timing

OTHER_CLOCK = 10**10   # ns between a stamp and simulated time that no delay explains
LONGEST_LOOK = 0.2     # s; a longer time between two looks was a stall of the simulator itself


class SimulatorStateMachine:
    """tick counts the periods since time zero; a state is stamped with the tick's time.

    playing: simulated time passes. granted: periods that may still run while paused. failure: why
    the motion could not go on, until a reset. started: time may pass; before the first command it
    may not, if the robot has motors and the timing says so. answered: the command of the present
    state has come (lockstep). fail_safe: it acts in place of a command; fail_safes: how often it
    began to. slips, slipped: how often, and for how long (s of wall time), time waited for the
    driver, free running. silence: who is waited for, once lockstep has waited for too long.
    other_clock: an independent driver stamps its commands by another clock than simulated time.
    """

    def __init__(self, timing: Timing, has_motors: bool, owner: CommandOwner, now: float) -> None:
        self.timing, self.owner = timing, owner
        self.pacing = Pacing(timing.period, timing.real_time_factor)
        self._has_motors = has_motors
        self.tick = self.command_tick = self.granted = 0
        self.playing = not timing.start_paused
        self.started = self._starts_alone
        self.answered = self.fail_safe = False
        self.failure = self.silence = ''
        self.rejected, self.rejection = 0, ''
        self.other_clock = False
        self.fail_safes = self.slips = 0
        self.slipped = 0.0
        self._waits_since = now
        self._answers_all = False            # the driver answers every state, or says so
        self._looked: float | None = None    # at the driver for which time waits
        self._slipping = 0.0                 # s of wall time, in this wait

    @property
    def stamp_ns(self) -> int:
        """Simulated time, ns."""
        return self.timing.stamp_ns(self.tick)

    @property
    def moving(self) -> bool:
        """Whether simulated time may pass."""
        return not self.failure and (self.playing or self.granted > 0)

    @property
    def _starts_alone(self) -> bool:
        """Whether time may pass before the first command, which a robot without motors never
        gets."""
        return self.timing.independent or not (self.timing.wait_for_command and self._has_motors)

    # Requests -------------------------------------------------------------------------------

    def play(self, playing: bool, now: float) -> str:
        """Go on, or pause. Returns why granted steps ended early, if some were left."""
        ended = self._end_steps('it was set to playing' if playing else 'it was paused')
        self.playing = playing
        self._wait_from(now)
        self.pacing.restart()
        return ended

    def grant(self, periods: int, now: float) -> None:
        """Let so many periods run although paused, the first of them at once."""
        self.granted = periods
        self.started = True          # who asks for steps does not wait for a command
        self._wait_from(now)
        self.pacing.restart(due=1)

    def reset(self, state: bool, clock: bool, now: float) -> None:
        """The plant is back at its start (state), time at zero (clock), or both."""
        if state:
            self.failure = ''
            self.started = self._starts_alone
        if clock:
            self.tick = 0
        if state or clock:
            self.owner.release()
        self.command_tick = self.tick
        self.answered = self.fail_safe = False
        self._expect_nobody()
        self._wait_from(now)
        self.pacing.restart()

    def end_steps(self) -> str:
        """Before a reset. Returns why granted steps ended early, if some were left."""
        return self._end_steps('it was reset')

    def _end_steps(self, why: str) -> str:
        left, self.granted = self.granted, 0
        return f'{why} with {left} steps left' if left else ''

    # Periods --------------------------------------------------------------------------------

    def periods_due(self, now: float) -> int:
        """Free running: how many periods to run now."""
        if not (self.moving and self.started):
            self.pacing.restart()
            return 0
        due = self.pacing.due(now)
        return due if self.playing else min(due, self.granted)

    def slips_for(self, present: Callable[[], bool], now: float) -> bool:
        """Free running, before a period: whether time has to wait for the driver, whose last
        command is older than slip_delay and two periods: if it answers every state and is
        `present`, for slip_timeout at most."""
        begins, passed = self._looked is None, 0.0
        if self._looked is not None:
            passed = min(now - self._looked, LONGEST_LOOK)
            self.slipped += passed
        self._looked = None
        self._slipping = 0.0 if begins else self._slipping + passed
        late = self._age > max(self.timing.slip_delay, 2.0 * self.timing.period)
        if not late or self.fail_safe or self.timing.independent or not self._answers_all:
            return False
        if self._slipping >= self.timing.slip_timeout or not present():
            self._answers_all = False        # until its next command
            return False
        self.slips += begins
        self._looked = now
        self.pacing.restart(due=1)           # as soon as the command is there
        return True

    def _expect_nobody(self) -> None:
        self._answers_all, self._looked, self._slipping = False, None, 0.0

    @property
    def _age(self) -> float:
        """Of the last command, simulated s."""
        return (self.tick - self.command_tick) * self.timing.period

    def watch_commands(self) -> bool:
        """Free running, before a period: let the fail-safe act if commands are too old. Returns
        whether it begins to act."""
        late = self._age > self.timing.command_timeout and self.tick > 0 and self._has_motors
        begins = late and not self.fail_safe
        self._act(late)
        return begins

    def _act(self, fail_safe: bool) -> None:
        self.fail_safes += fail_safe and not self.fail_safe
        self.fail_safe = fail_safe

    @property
    def no_effort(self) -> bool:
        """Whether the motors give no effort in the next period: the fail-safe `zero`."""
        return self.fail_safe and not self.timing.hold_on_silence

    def period_ran(self, now: float) -> bool:
        """Count a period. Returns whether it was the last of the granted steps."""
        self.tick += 1
        self._wait_from(now)
        if self.playing:
            return False
        self.granted -= 1
        return not self.granted

    def fail(self, why: str) -> None:
        """The motion cannot go on: paused until a reset."""
        self.failure, self.playing, self.granted = why, False, 0

    def waits_too_long(self, now: float) -> bool:
        """Lockstep: whether the wait for a command has just become too long to be silent about;
        the caller finds out who is waited for and sets `silence`."""
        return (self.timing.lockstep and self.moving and not self.silence
                and now - self._waits_since > self.timing.lockstep_timeout)

    def _wait_from(self, now: float) -> None:
        self._waits_since, self.silence = now, ''

    # Commands -------------------------------------------------------------------------------

    def receive(self, stamp_ns: int, number: int, now: float, accept: Callable[[], None],
                answers_all: bool = False) -> CommandError | None:
        """A command with its stamp and its publisher's sequence number; `accept` hands it to the
        plant, or raises CommandError. answers_all: the driver says that it answers every state.
        Returns why it was rejected, if it was."""
        if self.timing.lockstep and self.is_copy(stamp_ns):
            return None
        tick = None
        try:
            self.owner.admit(number, now)
            tick = self.answered_tick(stamp_ns)
            accept()
        except CommandError as error:
            self.reject(str(error))
            if tick is not None:         # bad, not late: time does not wait for a better one
                self._answers_all = False
            last_chance = self.timing.lockstep and stamp_ns == self.stamp_ns
            if last_chance and not isinstance(error, SecondDriver):
                # This state gets no other command: the fail-safe is its answer.
                self._answer(self.tick, fail_safe=True)
            return error
        self._answers_all = answers_all and stamp_ns == self.timing.stamp_ns(tick)
        self._answer(tick, fail_safe=False)
        return None

    def receive_direct(self, accept: Callable[[], None]) -> CommandError | None:
        """The same for the command of a controller in this process, which answers the present
        state."""
        problem = None
        try:
            accept()
        except CommandError as error:
            self.reject(str(error))
            problem = error
        self._answer(self.tick, fail_safe=problem is not None)
        return problem

    def reject(self, why: str) -> None:
        """Count a command that does not act."""
        self.rejected += 1
        self.rejection = why

    def _answer(self, tick: int, fail_safe: bool) -> None:
        self._act(fail_safe)
        self.started = self.answered = True
        self.command_tick = tick

    def is_copy(self, stamp_ns: int) -> bool:
        """Whether a command is the answer, come again, to a state that was sent twice
        (lockstep)."""
        if stamp_ns == self.stamp_ns:
            return self.answered
        return stamp_ns == self.timing.stamp_ns(max(self.tick - 1, 0))

    def answered_tick(self, stamp_ns: int) -> int:
        """The period whose state a command answers; CommandError if the command comes too late,
        too early or out of order."""
        timing, now = self.timing, self.stamp_ns
        if timing.lockstep:
            if stamp_ns != now:
                raise CommandError(f'header.stamp: expected that of the last state, {now} ns, '
                                   f'found {stamp_ns} ns')
            return self.tick
        if timing.independent:
            self.other_clock = self.other_clock or stamp_ns != 0 and (
                abs(stamp_ns - now) > OTHER_CLOCK)
            return self.tick
        if stamp_ns == 0:            # sent by hand, without a stamp
            return self.tick
        answered = round(stamp_ns * 1e-9 / timing.period)
        if answered > self.tick:
            raise CommandError(f'header.stamp: {stamp_ns} ns is after the present, {now} ns')
        if (self.tick - answered) * timing.period > timing.command_timeout:
            raise CommandError(f'header.stamp: {stamp_ns} ns is more than '
                               f'{timing.command_timeout:g} s old')
        if answered < self.command_tick:
            raise CommandError(f'header.stamp: {stamp_ns} ns is before that of the command before')
        return answered
