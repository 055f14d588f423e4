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
"""How processes of one machine talk to each other, and what to do when one no longer hears.

Fast DDS talks to processes of the same machine through ports in shared memory. If a process does
not answer for a second (it was stopped, sits in a debugger, or the machine is overloaded), others
may take its port for dead, delete it and make a new one. The process, when it goes on, listens to
the deleted port for ever: it receives nothing, while all that it sends arrives. That was seen
about once in fifty stops of a dynamics node that gets 1000 states a second.

So the nodes use UDP, which costs less processor time for messages of the size of a state. Where
shared memory is used all the same (the user chose it, or ROS_AUTOMATIC_DISCOVERY_RANGE is
LOCALHOST, for which ROS makes its own choice), a watchdog looks for deleted ports after the
process was held up. A node that keeps no state starts again; the others report it on
/diagnostics.
"""
from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

CHOICE = 'FASTDDS_BUILTIN_TRANSPORTS'
PROFILES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
LISTENER = 'dds.shm.'        # name of the threads of Fast DDS that listen, before their port
LOOK = 0.5                   # s of wall time between two looks
HELD_UP = 0.8                # s of wall time after which others may take a port for dead
WATCH = 60.0                 # s of wall time in which they may delete it
TEXT = ('receives nothing: while it was held up, other processes deleted its port in shared '
        'memory ({ports}); start it again')


def choose_transport() -> None:
    """Use UDP, unless the user has chosen; call it before rclpy.init. Other middleware than Fast
    DDS does not look at it."""
    if not any(os.environ.get(name) for name in (CHOICE, *PROFILES)):
        os.environ[CHOICE] = 'UDPv4'


def deleted_ports(process: Path = Path('/proc/self')) -> list[str]:
    """The ports in shared memory to which threads of this process listen, and that are deleted;
    none where the system does not say."""
    try:
        names = [(task / 'comm').read_text().strip() for task in (process / 'task').iterdir()]
        ports = [name[len(LISTENER):] for name in names if name.startswith(LISTENER)]
        if not ports:
            return []
        gone = {line.split()[-2] for line in (process / 'maps').read_text().splitlines()
                if line.endswith('(deleted)')}
    except OSError:
        return []
    return sorted(port for port in ports
                  if any(path.endswith(f'_port{port}') for path in gone))


class PortWatch:
    """Looks, for a while after the process was held up, whether its ports are still there.

    node: has a timer and a logger. restart: whether the process may start again.
    """

    def __init__(self, node: Any, clock: Any, restart: bool) -> None:
        self._node, self._restart = node, restart
        self.problem = ''            # for diagnostics
        self._last = time.monotonic()
        self._until = 0.0
        node.create_timer(LOOK, self.look, clock=clock)

    def look(self) -> None:
        now = time.monotonic()
        if now - self._last > LOOK + HELD_UP:
            self._until = now + WATCH
        self._last = now
        if now > self._until or self.problem:
            return
        if ports := deleted_ports():
            self.problem = TEXT.format(ports=', '.join(ports))
            self._node.get_logger().error(self.problem)
            if self._restart:
                self._node.get_logger().info('this node keeps no state: it starts again')
                start_again()


WATCHES: list[PortWatch] = []      # of this process: one, once it runs


def start_again() -> None:
    """Run the program of this process anew, as the same process, with nothing open but its
    standard files.

    SIGINT and SIGTERM wait until the new program has its handlers (start.py, or end_by_signal
    where a module is run): Python takes one that comes while it starts for an error. Children
    that a program starts before that would hold them back for good; nodes start none.

    It does nothing if one of them came before: the alarm that ends the process would end the new
    program too, which knows nothing of it.
    """
    ending = signal.SIGINT, signal.SIGTERM
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ending)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os.closerange(3, 1 + max(map(int, os.listdir('/proc/self/fd'))))
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
