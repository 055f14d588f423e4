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
"""Who drives the robot: one node at a time, the first to command it.

ROS does not tell a subscriber whose message it has, but it numbers the messages of each
publisher: the numbers of a second one run apart from those of the first.
"""
from __future__ import annotations

from collections.abc import Callable

from flex_dynamics.simulation.command_limits import CommandError

GAP = 1000        # more lost messages in a row are none of the same publisher
FRESH = 0.5       # s for which a list of publishers is good


class SecondDriver(CommandError):
    """A command of a node that does not drive the robot."""


class CommandOwner:
    """Admits the commands of one publisher until it has been silent for `patience` (s).

    publishers: full names of the nodes that publish commands now, slow to ask. Times are those of
    a steady wall clock, s. A node that was killed and came back under its name is the same one.
    """

    def __init__(self, publishers: Callable[[], list[str]], patience: float) -> None:
        self._publishers, self._patience = publishers, patience
        self._names: list[str] = []
        self._asked = -FRESH
        self.release()

    def release(self) -> None:
        """Nobody drives: the next to command does."""
        self._number: int | None = None       # of the owner's last command
        self._other: int | None = None        # of the last command of anyone else
        self._heard = 0.0
        self._name = ''

    def driver(self, now: float) -> str:
        """Full name of the node that drives, or drove last; empty if none has, or as long as it
        may be any of several: one that died is listed until its lease ends."""
        active = self._number is not None and now - self._heard <= self._patience
        if active and not self._name and len(self._nodes(now)) == 1:
            self._name, = self._names
        return self._name

    def admit(self, number: int, now: float) -> None:
        """Take note of a command with its publisher's number; CommandError if it is not to act."""
        if self._number is None or now - self._heard > self._patience:
            self._take(number, now)
            return
        own = number - self._number
        other = GAP if self._other is None else number - self._other
        if 0 < own < GAP and (own < other or other <= 0):
            self._number, self._heard = number, now
            return
        names = self._nodes(now)
        if len(names) < 2:
            self._take(number, now)            # the same node, started again
            return
        if 0 < own == other:
            self._number = self._other = number
            raise CommandError(f'{" and ".join(names)} both command the robot, and their commands '
                               'cannot be told apart: stop all but one')
        self._other = number
        rest = [name for name in names if name != self._name]
        raise SecondDriver(f'{self._name or "another node"} drives the robot: commands of '
                           f'{", ".join(rest)} are refused until it has been silent for '
                           f'{self._patience:g} s')

    def _take(self, number: int, now: float) -> None:
        names = self._nodes(now)
        alone = len(names) == 1
        # The one that was silent may come back: its numbers are now those of another.
        self._number, self._other, self._heard = number, None if alone else self._number, now
        self._name = names[0] if alone else ''

    def _nodes(self, now: float) -> list[str]:
        if now - self._asked >= FRESH:
            self._names, self._asked = sorted(set(self._publishers())), now
        return self._names
