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
"""The right of way on its core for a node that keeps to the wall clock (SCHED_FIFO).

A simulator at 1 kHz that has to wait for its turn behind other processes is late by whole periods,
however little it has to do. ros2_control asks for the same, by a parameter of the same name.
"""
from __future__ import annotations

import os
from typing import Any

OVERLOAD = 10      # times in a row that time slips


class RealTimeThread:
    """Gives the thread that calls `keep` its priority. One that cannot keep up gives it back:
    it would take a whole core from those who drive the robot, and be late all the same."""

    def __init__(self, priority: int, logger: Any) -> None:
        """priority: 1 to 99; 0: none is asked for."""
        self._priority, self._logger = priority, logger
        self._asked = self._has = False
        self.text = 'as any process'

    def keep(self, slips: int) -> None:
        """Call it once a period; slips: how often in a row time has slipped."""
        if self._has and slips >= OVERLOAD:
            # The flag may not be taken away without the rights of root.
            os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
            self._has, self.text = False, 'as any process: it cannot keep up'
            self._logger.warning(f'time slips: scheduled as any process, no longer with priority '
                                 f'{self._priority}')
        elif not self._asked:
            self._asked = True
            self._ask()

    def _ask(self) -> None:
        if not self._priority:
            return
        try:
            # Threads that this one may start later are to be as any other.
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK,
                                  os.sched_param(self._priority))
        except (OSError, AttributeError) as error:        # the latter: not on Linux
            why = error.strerror if isinstance(error, OSError) else 'not known to this system'
            self.text = f'as any process: {why}'
            self._logger.info(f'no real-time priority (thread_priority {self._priority}): {why}; '
                              'on a busy machine more periods are late')
            return
        self._has, self.text = True, f'SCHED_FIFO {self._priority}'
