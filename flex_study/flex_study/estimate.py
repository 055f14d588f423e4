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
"""What a study will take: number of runs, time and disk space, from a run that is timed."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flex_study.runs import run_batch
from flex_study.study import Study

BLOCK = 4096        # bytes that a file takes at least
REASON = 16         # bytes of a run's reason, on average


@dataclass(frozen=True)
class Estimate:
    """runs; batches; seconds of one core for all runs; bytes on disk."""

    runs: int
    batches: int
    seconds: float
    size: int

    def on(self, cores: int) -> float:
        """Seconds on so many cores, if none waits."""
        return max(self.seconds / cores, self.seconds / self.batches)

    def text(self, cores: int) -> str:
        return (f'{self.runs} runs in {self.batches} batches, about {_duration(self.on(cores))} '
                f'on {cores} core{"s" if cores > 1 else ""} ({_duration(self.seconds)} on one), '
                f'{self.size / 1e6:.1f} MB on disk')


def _duration(seconds: float) -> str:
    for size, unit in ((3600.0, 'h'), (60.0, 'min')):
        if seconds >= 2.0 * size:
            return f'{seconds / size:.1f} {unit}'
    return f'{seconds:.1f} s'


def estimate(study: Study, progress: Callable[[str], None] | None = None) -> Estimate:
    """Time two batches for each controller: of one run, and of two, so that what a batch costs is
    told from what a run costs. progress: is told what is being timed."""
    say = progress or (lambda text: None)
    table = study.table()
    total = len(next(iter(table.values())))
    batches = -(-total // study.batch)
    names = table.get('controller', np.full(total, ''))
    seconds = 0.0
    say('loading kernels and one run')
    run_batch(study.text, [0])          # compiles and loads what is needed
    kinds = list(dict.fromkeys(names.tolist()))
    for number, name in enumerate(kinds):
        say(f'timing {name or "runs"} ({number + 1} of {len(kinds)})')
        at = np.flatnonzero(names == name)
        one = _timed(study, at[:1].tolist())
        two = _timed(study, at[:2].tolist()) if len(at) > 1 else one
        run = max(two - one, 0.1 * one) if len(at) > 1 else one
        seconds += len(at) * run + -(-len(at) // study.batch) * max(one - run, 0.0)
    variables = len(study.outputs) + 2
    size = (total * (8 * (len(study.outputs) + len(table)) + 1 + REASON)
            + batches * variables * BLOCK)
    return Estimate(total, batches, seconds, size)


def _timed(study: Study, runs: list[int]) -> float:
    begin = time.perf_counter()
    run_batch(study.text, runs)
    return time.perf_counter() - begin
