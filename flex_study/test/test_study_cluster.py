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
"""Studies on a real local cluster: killed workers, a scheduler that goes away, resumed runs."""
import os
import signal
import subprocess
import sys
import threading
import time

import distributed
import numpy as np
import pytest

from flex_study import Store, StudyError, read_study, run_study

GIVEN = {
    'name': 'small', 'robot': 'lab_link',
    'vary': {'link1.bending_stiffness_z': {'low': 0.8, 'high': 1.2, 'relative': True},
             'joint1.friction': {'low': 0.0, 'high': 1e-3}},
    'sampling': {'method': 'latin_hypercube', 'runs': 15, 'seed': 3}, 'controller': 'pd',
    'manoeuvre': {'from': [0.0], 'to': [0.5], 'time': 0.2, 'duration': 0.4, 'step': 1e-3,
                  'every': 10, 'tip': 'payload'},
    'outputs': ['vibration', 'settling_time', 'first_frequency'], 'batch': 3}


@pytest.fixture(scope='module')
def study():
    return read_study(GIVEN)


@pytest.fixture(scope='module')
def expected(study, tmp_path_factory):
    """Without Dask."""
    return run_study(study, tmp_path_factory.mktemp('alone'), in_process=True).dataset()


def same(data, expected):
    assert (data['status'].values == 1).all()
    assert (data['reason'].values == '').all()
    for name in GIVEN['outputs']:
        assert data[name].values.tobytes() == expected[name].values.tobytes(), name
    for path in GIVEN['vary']:
        assert np.array_equal(data[path].values, expected[path].values)


def test_results_are_those_without_dask_and_a_killed_worker_costs_nothing_else(
        study, expected, tmp_path):
    killed = []

    def progress(done, runs):
        # the workers of the local cluster are children of nannies, which are ours
        if done >= 6 and not killed:
            worker = worker_processes()[0]
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)

    store = run_study(study, tmp_path, workers=2, progress=progress)
    assert killed
    same(store.dataset(), expected)


def worker_processes():
    """Process ids of workers of a local cluster in this process."""
    found = []
    for client in list(distributed.client._global_clients.values()):
        if client.status == 'running':
            found += client.run(os.getpid).values()
    return sorted(found)


def test_a_study_resumes_after_its_scheduler_was_stopped(study, expected, tmp_path):
    cluster = start_cluster()
    try:
        address = cluster.address
        seen = []

        def progress(done, runs):
            seen.append(done)
            if done >= 6 and cluster.scheduler.poll() is None:
                cluster.scheduler.kill()

        with pytest.raises(StudyError, match='the same command goes on|scheduler'):
            run_study(study, tmp_path, scheduler=address, progress=progress)
    finally:
        cluster.stop()
    kept = Store(tmp_path, study).dataset()['status'].values
    assert 0 < (kept == 1).sum() < len(kept)
    resumed = []
    store = run_study(study, tmp_path, in_process=True,
                      progress=lambda done, runs: resumed.append(done))
    assert resumed[0] == (kept == 1).sum()         # nothing is done twice
    same(store.dataset(), expected)


class start_cluster:      # noqa: N801 (reads as the call that it is)
    """A scheduler and a worker as processes of their own, as on a cluster."""

    def __init__(self):
        self.scheduler = subprocess.Popen(
            [sys.executable, '-m', 'distributed.cli.dask_scheduler', '--host', '127.0.0.1',
             '--port', '0', '--no-dashboard'], stderr=subprocess.PIPE, text=True)
        self.address = ''
        for line in self.scheduler.stderr:
            if 'Scheduler at:' in line:
                self.address = line.split('Scheduler at:')[1].strip()
                break
        # somebody must read what it goes on to say, or it stops when the pipe is full
        threading.Thread(target=self.scheduler.stderr.read, daemon=True).start()
        self.worker = subprocess.Popen(
            [sys.executable, '-m', 'distributed.cli.dask_worker', self.address, '--nthreads', '1',
             '--no-nanny', '--no-dashboard', '--death-timeout', '5'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with distributed.Client(self.address, timeout=30) as client:
            client.wait_for_workers(1, timeout=60)

    def stop(self):
        for process in (self.worker, self.scheduler):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def test_no_scheduler_is_said(study, tmp_path):
    begin = time.monotonic()
    with pytest.raises(StudyError, match='scheduler tcp://127.0.0.1:9'):
        run_study(study, tmp_path, scheduler='tcp://127.0.0.1:9')
    assert time.monotonic() - begin < 30.0
