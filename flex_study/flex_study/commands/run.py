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
"""`ros2 run flex_study run study.yaml`: run, stop, resume and report a study."""
from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from pathlib import Path

import numpy as np

from flex_study.cluster import run_study
from flex_study.errors import StudyError
from flex_study.estimate import estimate
from flex_study.report import write_report
from flex_study.runs import run_batch
from flex_study.store import FILE, Store, needed
from flex_study.study import Study, bundled_studies, read_study


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, run the study, return the exit code."""
    parser = argparse.ArgumentParser(prog='run', description='Run a study: many simulations of a '
                                     'robot, on all cores or on a Dask cluster.')
    parser.add_argument('study', help='YAML file, or one of: ' + ', '.join(bundled_studies()))
    parser.add_argument('--output', type=Path, help='folder of the results (default: '
                        'results/studies/NAME); a study that was stopped goes on there')
    parser.add_argument('--scheduler', default='', metavar='ADDRESS',
                        help='of a Dask cluster, such as tcp://host:8786 (default: a cluster on '
                        'this machine)')
    parser.add_argument('--workers', type=int, default=0, metavar='N',
                        help='processes on this machine (default: one for each processor)')
    parser.add_argument('--in-process', action='store_true',
                        help='without Dask, one batch after the other')
    parser.add_argument('--dry-run', action='store_true',
                        help='print the number of runs, the time and the disk space, and end')
    parser.add_argument('--only', type=int, metavar='RUN',
                        help='repeat one run alone, print its outputs, and compare with the '
                        'results if they are there')
    given = parser.parse_args(arguments)
    try:
        study = read_study(given.study)
        folder = given.output or Path('results', 'studies', study.name)
        if given.dry_run:
            print(estimate(study, _say).text(given.workers or len(os.sched_getaffinity(0))))
            return 0
        if given.only is not None:
            return _repeat(study, folder, given.only)
        return _run(study, folder, given)
    except StudyError as error:
        print(f'run: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        print(f'run: {error.strerror or error}: {error.filename or ""}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nrun: stopped; the results so far are kept, and the same command goes on from '
              'there', file=sys.stderr)
        return 130


def _say(text: str) -> None:
    print(f'run: {text}', file=sys.stderr, flush=True)


def _run(study: Study, folder: Path, given: argparse.Namespace) -> int:
    begin, first = time.monotonic(), [-1]

    def progress(done: int, runs: int) -> None:
        if first[0] < 0:
            first[0] = done
            if done:
                print(f'{done} of {runs} runs are there already', flush=True)
            return
        passed = time.monotonic() - begin
        left = passed * (runs - done) / max(done - first[0], 1)
        end = '\n' if done == runs or not sys.stdout.isatty() else ''
        print(f'\r{done} of {runs} runs, {left:.0f} s left   ', end=end, flush=True)

    store = run_study(study, folder, given.scheduler, given.workers, given.in_process, progress)
    data = store.dataset()
    command = f'ros2 run flex_study run {shlex.quote(given.study)}'
    if given.output:
        command += f' --output {shlex.quote(str(given.output))}'
    page = write_report(study, data, folder, command)
    failed = int((data['status'].values == 2).sum())
    print(f'{store.runs} runs, {failed} failed, {time.monotonic() - begin:.1f} s\n'
          f'results: {store.path}\nreport: {page}')
    return 0


def _repeat(study: Study, folder: Path, run: int) -> int:
    """One run alone; exit code 2 if it is not, bit for bit, what the results have."""
    total = len(next(iter(study.table().values())))
    if not 0 <= run < total:
        raise StudyError(f'--only: expected a run from 0 to {total - 1}, found {run}')
    for path, values in study.table().items():
        print(f'{path} = {values[run]}')
    rows = run_batch(study.text, [run])
    for name in study.outputs:
        print(f'{name} = {rows[name][0]!r}')
    if rows['reason'][0]:
        print(f'failed: {rows["reason"][0]}')
    if not (folder / FILE).exists():
        return 0
    needed('xarray')
    data = Store(folder, study).dataset()
    if int(data['status'].values[run]) == 0:
        return 0
    same = str(data['reason'].values[run]) == rows['reason'][0] and all(
        np.array_equal(np.float64(rows[name][0]).tobytes(),
                       np.float64(data[name].values[run]).tobytes())
        or (np.isnan(rows[name][0]) and np.isnan(data[name].values[run]))
        for name in study.outputs)
    print('the same as in the results, bit for bit' if same else
          'not the same as in the results: another machine, or other versions?')
    return 0 if same else 2


if __name__ == '__main__':
    sys.exit(main())
