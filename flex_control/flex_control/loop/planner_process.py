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
"""A process that plans motions of the tip, so that no period of the control loop waits for it.

A plan takes seconds of calculation, most of it in Python: a thread would take Python's lock from
the loop all the time. The process has a lower priority than the loop. It begins with the first
request, as it takes a second or two, and is ended with a plan that nobody wants any more.
"""
from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import dataclass

from flex_control.errors import ControlError
from flex_control.loop.tip_planning import TipPlan, TipRequest, plan_tip_motion
from flex_control.trajectories import MotionLimits
from flex_dynamics import DynamicsError, Model

NICE = 5             # lower priority than the loop
PATIENCE = 2.0       # s for the process to end by itself
LONGEST_PLAN = 300.0  # s of calculation, after which a plan is given up


@dataclass(frozen=True)
class Setting:
    """What all plans of a process have in common; slack: share of a limit of rates."""

    model: Model
    limits: MotionLimits
    slack: float


class PlannerProcess:
    """Plans one motion at a time, in a process of its own."""

    def __init__(self, setting: Setting) -> None:
        self._setting = pickle.dumps(setting)
        self._process: subprocess.Popen[bytes] | None = None
        self._busy: Future[TipPlan] | None = None

    @property
    def busy(self) -> bool:
        """Whether a plan is being made."""
        return self._busy is not None and not self._busy.done()

    def plan(self, request: TipRequest) -> Future[TipPlan]:
        """Begin to plan: a plan, or the ControlError with which it is refused, will be there."""
        if self.busy:
            self.cancel()
        setting = b''
        if self._process is None or self._process.poll() is not None:
            self._process, setting = _begun(), self._setting
        self._busy = Future()
        threading.Thread(target=_ask, args=(self._process, setting, request, self._busy),
                         daemon=True).start()
        return self._busy

    def cancel(self) -> None:
        """Leave off the plan that is being made."""
        if self._busy is not None and not self._busy.done():
            self._end()

    def close(self) -> None:
        """End the process."""
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        # Reaped beside the loop, which must not wait for it.
        threading.Thread(target=process.wait, args=(PATIENCE,), daemon=True).start()


def _begun() -> subprocess.Popen[bytes]:
    """The process, whose first input is to be the setting."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, '-m', __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=paths, OMP_NUM_THREADS='1'))


def _ask(process: subprocess.Popen[bytes], setting: bytes, request: TipRequest,
         answer: Future[TipPlan]) -> None:
    """Send a request to the process, and wait for its answer."""
    assert process.stdin is not None and process.stdout is not None
    late = threading.Event()

    def give_up() -> None:
        late.set()
        process.kill()
    timer = threading.Timer(LONGEST_PLAN, give_up)
    timer.daemon = True
    timer.start()
    try:
        process.stdin.write(setting)
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        found: TipPlan | ControlError = pickle.load(process.stdout)
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        found = ControlError(f'no plan was found within {LONGEST_PLAN:g} s: divide the path into '
                             'shorter ones, or give fewer poses' if late.is_set() else
                             'the process that plans has ended before the plan was made')
    timer.cancel()
    if isinstance(found, ControlError):
        answer.set_exception(found)
    else:
        answer.set_result(found)


def main() -> None:
    """Answer requests from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # of the terminal: the node ends us
    os.nice(NICE)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)                                       # what is printed is no answer
    setting = pickle.load(requests)
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        found: TipPlan | ControlError
        try:
            found = plan_tip_motion(setting.model, request, setting.limits, setting.slack)
        except (ControlError, DynamicsError, ArithmeticError, ValueError) as error:
            found = ControlError(str(error))
        try:
            pickle.dump(found, answers)
            answers.flush()
        except BrokenPipeError:                         # the node is gone
            return


if __name__ == '__main__':
    main()
