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
"""Says that a kernel is being compiled, about how long that takes, and how long it took.

Numba compiles at the first use on a machine, for seconds, and keeps the result in its cache. A
program that stands still without a word looks as if it hung; so the message comes at once. It goes
to the logger `flex_dynamics` if that takes messages of level INFO, else to stderr. FLEX_QUIET=1 in
the environment keeps stderr free of it. With a warm cache nothing is compiled and nothing is said.
"""
from __future__ import annotations

import logging
import os
import sys
import time
from contextlib import suppress
from typing import Any

from numba.core import event

LOGGER = logging.getLogger('flex_dynamics')
QUIET = 'FLEX_QUIET'
PACKAGES = ('flex_dynamics', 'flex_control')
# Seconds on an idle machine that does the work of _slowness in WORK_SECONDS: alone, and after
# others in the same process, which have compiled a part of it already.
WORK_SECONDS = 0.004
SECONDS = {
    'accelerations': (8.0, 7.5), 'mass_and_coriolis': (8.0, 6.0), 'advance': (20.0, 16.0),
    'controlled_run': (24.0, 20.0), 'driven_period': (22.0, 18.0),
    'linear_terms': (6.0, 5.5), 'frame_motion': (4.0, 1.5),
    'inverse_dynamics': (5.0, 1.5), 'first_moment': (3.0, 0.6), 'node_poses': (3.0, 0.3),
    'constrained_accelerations': (19.0, 18.0), 'constraint_terms': (4.0, 3.0),
    'state_derivatives': (22.0, 16.0), 'jacobian_derivative': (6.0, 3.0),
    'constraint_derivatives': (6.0, 5.0), 'linear_derivatives': (12.0, 11.0),
    'estimated_run': (16.0, 10.0),
}
SHORT = (0.6, 0.4)      # any other kernel


def _slowness() -> float:
    """How many times as long as there things take on this machine, as busy as it is."""
    start = time.process_time()
    counts: dict[int, int] = {}
    for k in range(60000):
        counts[k % 1000] = counts.get(k % 1000, 0) + k
    spent = time.process_time() - start
    return spent / WORK_SECONDS * max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0)


class CompileMessages(event.Listener):          # type: ignore[misc]
    """Hears of every function that numba compiles; those within another one are its parts."""

    def __init__(self) -> None:
        self._depth = 0
        self._done = 0
        self._name = ''
        self._expected = self._start = self._shown = 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            function = getattr(event.data.get('dispatcher'), 'py_func', None)
            if (getattr(function, '__module__', '') or '').split('.')[0] not in PACKAGES:
                return
            self._begin(getattr(function, '__name__', ''))
        self._depth += 1

    def on_end(self, event: Any) -> None:
        if self._depth == 0:
            return
        self._depth -= 1
        spent = time.perf_counter() - self._start
        if self._depth:
            if spent > self._shown + 0.5:
                self._shown = spent
                _progress(f'{self._title()}: {spent:.0f} of about {self._expected:.0f} s')
            return
        self._done += 1
        # (event.is_failed of numba 0.57 to 0.68 says the contrary.)
        good = tuple(event.data['args']) in event.data['dispatcher'].overloads
        _say(f'kernel {self._name} ' + (f'compiled in {spent:.1f} s' if good
                                        else 'was not compiled: see the error'), last=True)

    def _title(self) -> str:
        return f'compiling kernel {self._name} for this machine, once'

    def _begin(self, name: str) -> None:
        alone, later = SECONDS.get(name, SHORT)
        seconds = (later if self._done else alone) * _slowness()
        self._name, self._expected = name, max(seconds, 1.0)
        self._start, self._shown = time.perf_counter(), 0.0
        _say(f'{self._title()}: about {self._expected:.0f} s', last=False)


def _to_logger() -> bool:
    return LOGGER.isEnabledFor(logging.INFO) and LOGGER.hasHandlers()


def _on_terminal() -> bool:
    return (not _to_logger() and os.environ.get(QUIET, '0') in ('', '0')
            and sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty())


def _say(text: str, last: bool) -> None:
    """A message; on a terminal what comes after it is written over it, unless it is the last."""
    if _to_logger():
        LOGGER.info(text)
    elif _on_terminal():
        _progress(text, '\n' if last else '')
    elif os.environ.get(QUIET, '0') in ('', '0') and sys.stderr is not None:
        # A program must not fail because nobody reads what it says.
        with suppress(OSError, ValueError):
            print(f'flex_dynamics: {text}', file=sys.stderr, flush=True)


def _progress(text: str, end: str = '') -> None:
    """The present line of a terminal anew; nothing elsewhere."""
    if _on_terminal():
        with suppress(OSError, ValueError):
            print(f'\r\x1b[Kflex_dynamics: {text}', end=end, file=sys.stderr, flush=True)


event.register('numba:compile', CompileMessages())
