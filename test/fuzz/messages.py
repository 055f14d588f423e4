"""Fuzzes every topic, service and action of every node with mutated messages.

    python3 test/fuzz/messages.py --count 1000 --seed 1
    python3 test/fuzz/messages.py --count 1000 --scenario control --only 'topic flex_state'

The nodes run in this process, and their real callbacks get the bytes. A callback that raises, a
number that is not finite in what a node would publish, and a message that takes longer than
LONGEST_TIME are findings. The exit code is 1 if there is one. A finding is repeated by the same
seed and --only.

SIGINT and SIGTERM end the run after the message that is being handled: the table shows how many
were sent, and the exit code is that of a shell, 128 and the number of the signal.
"""
from __future__ import annotations

import argparse
import faulthandler
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from dataclasses import dataclass, field

from message_inputs import Input, Target
from message_mutations import Mutator
from message_targets import SCENARIOS, started

LONGEST_TIME = 2.0        # s of processor time for one message, with the period that follows it
HANG = 10.0               # s of processor time after which a callback is interrupted
MOST_SHOWN = 3            # findings of one input that are shown in full
SIGNALS = signal.SIGINT, signal.SIGTERM
came: list[int] = []      # numbers of signals that end the run


@dataclass
class Count:
    """What came of the messages of one input."""

    sent: int = 0
    dropped: int = 0              # by the middleware, before the node
    slowest: float = 0.0          # s of processor time
    findings: list[str] = field(default_factory=list)


def fuzz(target: Target, one: Input, name: str, count: int, seed: int) -> Count:
    """Send so many messages; those of one number are the same whatever the count is."""
    found, key = Count(), zlib.crc32(name.encode())
    for number in range(count):
        if came:
            break
        mutator = Mutator([seed, key, number])
        data = mutator.message(one.valid(mutator.rng))
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            found.dropped += not one.deliver(data)
            target.after(number)
        except Exception:
            found.findings.append(f'{name}, seed {seed}, message {number}: {data[:200].hex()}\n'
                                  f'{traceback.format_exc()}')
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        took = time.process_time() - began
        if took > LONGEST_TIME:
            found.findings.append(f'{name}, seed {seed}, message {number}: took {took:.1f} s\n')
        found.slowest = max(found.slowest, took)
        found.sent += 1
    return found


def interrupt(*_: object) -> None:
    raise TimeoutError(f'a callback did not return within {HANG:g} s of processor time')


def end(number: int, *_: object) -> None:
    """The run ends after this message; the process at once if it is told again."""
    came.append(number)
    signal.signal(number, signal.SIG_DFL)


def read_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--count', type=int, default=1000, help='messages for each input')
    parser.add_argument('--seed', type=int, default=0, help='the same seed, the same messages')
    parser.add_argument('--only', default='', help='regular expression that the names of inputs '
                        'contain, as the table shows them')
    parser.add_argument('--scenario', choices=SCENARIOS, help='start these nodes only')
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    given = read_arguments(words)
    faulthandler.enable()
    signal.signal(signal.SIGPROF, interrupt)
    for number in SIGNALS:
        signal.signal(number, end)
    warnings.simplefilter('ignore', RuntimeWarning)      # overflows, which are what is asked for
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    total = Count()
    print(f'seed {given.seed}, {given.count} messages for each input')
    print(f'{"input":62} {"sent":>8} {"dropped":>8} {"findings":>8} {"slowest ms":>10}')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)                                 # recordings that are asked for go here
        for scenario in SCENARIOS:
            if came:
                break
            if given.scenario not in (None, scenario):
                continue
            with started(scenario) as target:
                for one in target.inputs:
                    name = f'{scenario}: {one.name}'
                    if came or not re.search(given.only, name):
                        continue
                    found = fuzz(target, one, name, given.count, given.seed)
                    total.sent += found.sent
                    total.findings += found.findings
                    print(f'{name:62} {found.sent:8} {found.dropped:8} '
                          f'{len(found.findings):8} {1e3 * found.slowest:10.1f}', flush=True)
                    for text in found.findings[:MOST_SHOWN]:
                        print(text, flush=True)
        os.chdir('/')
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f'{total.sent} messages, {len(total.findings)} findings, {memory:.0f} MB at most')
    if came:
        print(f'ended by {signal.Signals(came[0]).name}')
    return 1 if total.findings else 128 + came[0] if came else 0


if __name__ == '__main__':
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)       # taking the middleware apart may hang (see flex_ros/shutdown.py)
