"""The benchmark: speed and accuracy against other programs, as ratios of one run.

    python test/bench/run.py [PART ...]

The parts are those of PARTS; without arguments all run. The table is printed and written to
results/bench.md, a plot of the growth to results/bench_growth.png. A missed target is shown with a
profile; the exit code is 0 when all parts ran.
"""
from __future__ import annotations

import sys
import time
from pathlib import Path

import accuracy
import any_robot
import batches
import calls
import constraints
import controllers
import derivatives
import growth
import memory
import ros_graph
import study_capacity
import symbolic
import time_optimal
import tip_tracking
from report import Report

RESULTS = Path(__file__).resolve().parents[2] / 'results'
PARTS = {
    'calls': calls.measure,
    'derivatives': derivatives.measure,
    'manoeuvre': lambda report: accuracy.measure(report, RESULTS),
    'growth': lambda report: growth.measure(report, RESULTS),
    'memory': memory.measure,
    'batches': batches.measure,
    'study_capacity': study_capacity.measure,
    'ros': ros_graph.measure,
    'constraints': constraints.measure,
    'symbolic': symbolic.measure,
    'controllers': lambda report: controllers.measure(report, RESULTS),
    'tip_tracking': lambda report: tip_tracking.measure(report, RESULTS),
    'time_optimal': lambda report: time_optimal.measure(report, RESULTS),
    'any_robot': lambda report: any_robot.measure(report, RESULTS),
}


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        print(f'unknown part {unknown[0]!r}: expected one of {", ".join(PARTS)}', file=sys.stderr)
        return 2
    report = Report()
    chosen = wanted or list(PARTS)
    for i, name in enumerate(chosen):
        print(f'[{i + 1}/{len(chosen)}] {name}', flush=True)
        start = time.monotonic()
        PARTS[name](report)
        print(f'  {time.monotonic() - start:.0f} s', flush=True)
    report.write(RESULTS / 'bench.md')
    print(f'\n{report.markdown()}')
    missed = report.missed()
    print(f'{len(missed)} targets missed: ' + '; '.join(row.what for row in missed) if missed
          else 'all targets met')
    print(f'table: {RESULTS / "bench.md"}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
