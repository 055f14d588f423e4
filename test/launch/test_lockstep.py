"""Lockstep: two runs with every node in a process of its own are equal to the last bit."""
import subprocess
import sys

import numpy as np

from flex_bringup.demo import evaluate, record

DURATION = 0.6      # s; the first step of the set-points is in it


def test_two_runs_are_equal_to_the_last_bit(tmp_path):
    runs = []
    for number in range(2):
        # the second run shares the machine with a process that keeps a core busy
        busy = subprocess.Popen([sys.executable, '-c', 'while True: pass']) if number else None
        try:
            recorder, wall = record(DURATION, tmp_path)
        finally:
            if busy is not None:
                busy.kill()
                busy.wait()
        runs.append(evaluate(recorder, DURATION, wall))
    first, second = runs
    assert len(first.time) == 301
    for name in ('time', 'q', 'v', 'efforts', 'commands'):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
    assert np.abs(first.v).max() > 1.0       # and it did move
