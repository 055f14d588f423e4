"""Times of calls that are compared: interleaved, so that a busy machine disturbs all alike.

Processor time of this process, which is the time by the clock when nothing else runs here; every
call that is compared runs in one thread.
"""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(calls: Mapping[str, Callable[[], object]], rounds: int = 60,
                round_seconds: float = 0.005) -> dict[str, float]:
    """Median time in seconds of each call, over rounds in which every call has its turn.

    A turn repeats the call for about `round_seconds`, so that the clock's grain does not count.
    """
    repeats = {name: _repeats(call, round_seconds) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            samples[name].append(_mean_time(call, repeats[name]))
    return {name: statistics.median(times) for name, times in samples.items()}


def shortest(calls: Mapping[str, Callable[[], object]], rounds: int = 3) -> dict[str, float]:
    """Shortest time in seconds of each long call, in turns: a busy machine only lengthens it."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            samples[name].append(_mean_time(call, 1))
    return {name: min(times) for name, times in samples.items()}


def _repeats(call: Callable[[], object], seconds: float) -> int:
    call()
    return max(1, round(seconds / max(min(_mean_time(call, 3), _mean_time(call, 3)), 1e-8)))


def _mean_time(call: Callable[[], object], repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats
