"""Where many cores would be held up in a study: what a batch, a message and a write cost.

Processor times, which a busy machine does not change. The scheduler and the client are one process
here, so that both costs are counted for each of them.
"""
from __future__ import annotations

import json
import pickle
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from report import Report, Row

SECTION = 'Studies on many cores'
CORES = 10_000
TASKS = 200           # without work, with the messages of a study
WRITES = 100
BATCHES = {'vibration': list(range(20)), 'workspace': list(range(25))}


def measure(report: Report) -> None:
    if not all(find_spec(name) for name in ('distributed', 'xarray', 'zarr')):
        report.note('Dask, xarray and zarr are not installed: left out of studies on many cores.')
        return
    from flex_study import read_study, run_batch
    for name, runs in BATCHES.items():
        study = read_study(name)
        rows = run_batch(study.text, runs)         # compiles, and builds the model
        begin = time.process_time()
        rows = run_batch(study.text, runs)
        batch = time.process_time() - begin
        message, result = len(pickle.dumps((study.text, runs))), len(pickle.dumps(rows))
        task, write = _task(study.text, rows), _write(study, rows)
        disk = 8 * (len(study.outputs) + 1) * len(runs)
        for what, value in (
                (f'a batch of {len(runs)} runs', f'{batch:.2f} s'),
                ('message to a worker, message back', f'{message}, {result} bytes'),
                ('scheduler and client, a batch', f'{task * 1e3:.2f} ms'),
                ('writing a batch', f'{write * 1e3:.2f} ms, about {disk} bytes'),
                (f'batches a second on {CORES} cores', f'{CORES / batch:.0f}'),
                ('cores that keep the scheduler busy', f'{batch / task:.0f}'),
                ('cores that keep the writing process busy', f'{batch / (task + write):.0f}'),
                (f'runs a batch needs for {CORES} cores',
                 f'{len(runs) * CORES * (task + write) / batch:.0f}')):
            report.add(SECTION, Row(f'{name}: {what}', value))


def _task(text: str, rows: dict) -> float:
    """Processor time (s) of scheduler and client for one batch, without its work."""
    import distributed
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1,
                                  dashboard_address='127.0.0.1:0') as cluster, \
            distributed.Client(cluster) as client:
        client.submit(len, text, pure=False).result()
        # A function that every worker has, with messages of the size of a study's.
        begin = time.process_time()
        waiting = distributed.as_completed(
            [client.submit(json.loads, json.dumps([text, k, rows]), pure=False)
             for k in range(TASKS)])
        for future in waiting:
            future.result()
        return (time.process_time() - begin) / TASKS


def _write(study: object, rows: dict) -> float:
    """Processor time (s) that the results of one batch take until they are on disk."""
    from flex_study import Store
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), study)
        batches = store.pending()
        count = min(WRITES, len(batches))
        begin = time.process_time()
        for batch in batches[:count]:
            store.write(batch, {name: values[:len(batch)] for name, values in rows.items()})
        return (time.process_time() - begin) / count
