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
"""Runs a study: on a Dask cluster, or in this process; stopped and resumed as one likes."""
from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flex_study.errors import StudyError
from flex_study.runs import Rows, run_batch
from flex_study.store import Store, needed
from flex_study.study import Study

AHEAD = 3                # batches for each core that the scheduler knows at a time
ALLOWED_FAILURES = 5     # workers that a batch may take with it until its runs count as failed
Progress = Callable[[int, int], None]


def run_study(study: Study, folder: Path, scheduler: str = '', workers: int = 0,
              in_process: bool = False, progress: Progress | None = None) -> Store:
    """Do the runs of a study that are not done yet, and return its results.

    Parameters
    ----------
    study : Study
        What to run.
    folder : Path
        Where the results are, or will be.
    scheduler : str
        Address of a Dask scheduler, such as 'tcp://host:8786'; empty: a local cluster.
    workers : int
        Processes of the local cluster; 0: one for each processor.
    in_process : bool
        Without Dask, one batch after the other.
    progress : function (runs done, runs)
        Called after each batch.

    StudyError if the cluster cannot be reached or goes away: the same call resumes the study.
    """
    store = Store(folder, study)
    batches = store.pending()
    done = store.runs - sum(map(len, batches))
    if progress is not None:
        progress(done, store.runs)
    if not batches:
        return store
    if in_process:
        results: Iterator[tuple[list[int], Rows]] = (
            (batch, run_batch(study.text, batch)) for batch in batches)
    else:
        results = _on_cluster(study, batches, scheduler, workers)
    for batch, rows in results:
        store.write(batch, rows)
        done += len(batch)
        if progress is not None:
            progress(done, store.runs)
    return store


@contextmanager
def _client(scheduler: str, workers: int) -> Iterator[Any]:
    distributed, dask = needed('distributed'), needed('dask')
    if scheduler:
        try:
            with distributed.Client(scheduler, timeout=10) as client:
                yield client
        except (OSError, ValueError) as error:
            raise StudyError(f'scheduler {scheduler}: {error}') from None
        return
    # Processes with one thread each: a run is sequential, and models are built in Python.
    with dask.config.set({'distributed.scheduler.allowed-failures': ALLOWED_FAILURES}), \
            distributed.LocalCluster(
                n_workers=workers or len(os.sched_getaffinity(0)), threads_per_worker=1,
                dashboard_address='127.0.0.1:0', silence_logs=logging.CRITICAL) as cluster, \
            distributed.Client(cluster) as client:
        yield client


def _on_cluster(study: Study, batches: list[list[int]], scheduler: str,
                workers: int) -> Iterator[tuple[list[int], Rows]]:
    """Batches as they are done. A worker that dies costs the time of its batch: the scheduler
    gives it to another one."""
    distributed = needed('distributed')
    with _client(scheduler, workers) as client:
        cores = max(1, sum(client.ncores().values()))
        waiting = iter(batches)
        which: dict[Any, list[int]] = {}
        finished = distributed.as_completed()

        def submit(count: int) -> None:
            for _ in range(count):
                batch = next(waiting, None)
                if batch is None:
                    return
                future = client.submit(run_batch, study.text, batch, pure=False)
                which[future] = batch
                finished.add(future)

        submit(AHEAD * cores)
        while which:
            try:
                future = next(finished)
            except StopIteration:
                break
            batch = which.pop(future)
            yield batch, _rows(future, study, batch, distributed)
            submit(1)


def _rows(future: Any, study: Study, batch: list[int], distributed: Any) -> Rows:
    try:
        rows: Rows = future.result()
        return rows
    except distributed.KilledWorker as error:
        # More than once: it is the batch that ends workers, not the machine.
        reason = f'workers ended while they ran it: {" ".join(str(error).split())[:300]}'
        return {**{name: [float('nan')] * len(batch) for name in study.outputs},
                'reason': [reason] * len(batch)}
    except (ImportError, AttributeError) as error:
        raise StudyError(f'a worker cannot run the study: {error}; install the same version of '
                         'flex on all machines') from None
    except (distributed.client.FutureCancelledError, OSError, TimeoutError) as error:
        raise StudyError('the scheduler has gone away; the results so far are kept, and the same '
                         f'command goes on from there ({type(error).__name__})') from None
