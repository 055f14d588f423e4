"""The measure of the soak for memory: what it calls a leak, and what it does not."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FUZZ = Path(__file__).parent / 'fuzz'
sys.path.insert(0, str(FUZZ))
import memory_growth  # noqa: E402
import soak  # noqa: E402
from memory_growth import growth, steady_growth  # noqa: E402

TIMES = np.arange(0.0, 3600.0, 5.0)
SETTLED = 120.0 + 2.0 * (1.0 - np.exp(-TIMES / 400.0))

FRAGMENTED = f"""
import os
import sys
sys.path.insert(0, {str(FUZZ)!r})
from sitecustomize import bytes_in_use
from memory_growth import resident
before, pages = bytes_in_use(), resident(os.getpid())
objects = [bytes(967) for _ in range(40_000)]
most = bytes_in_use() - before
kept = objects[::100]
del objects
print(before, most, bytes_in_use() - before, (resident(os.getpid()) - pages) * 2**20)
"""
# 40 objects of 1 kB are lost in each of 60 steps, after which the probe itself has written, too.
LEAKING = """
import os
import time
from pathlib import Path
from sitecustomize import sample
class Lost:
    def __init__(self):
        self.data = bytes(1000)
kept = []
folder = Path(os.environ['SOAK_MEMORY'])
for _ in range(60):
    kept += [Lost() for _ in range(40)]
    sample(folder / 'steps')
while not (folder / str(os.getpid())).exists():
    time.sleep(0.05)
"""


def bytes_a_message(sizes, seed=1):
    """An hour, 10 messages a second to each input, a sample every 5 s; one in five is taken while
    a long message is handled."""
    rng = np.random.default_rng(seed)
    handled = np.where(rng.random(len(TIMES)) < 0.2, rng.exponential(0.1, len(TIMES)), 0.0)
    return 2**20 / 10.0 * steady_growth(list(zip(TIMES, sizes + handled)))


def run_probed(folder, program):
    """What a program prints that runs with the probe."""
    environment = memory_growth.probed_environment(folder)
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                          timeout=120, env={**environment, 'SOAK_PERIOD': '0.1'})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_growth_is_that_of_the_settled_part():
    assert abs(growth([(float(t), 200.0 if t < 30 else 250.0) for t in range(100)])) < 1e-6
    assert np.isclose(growth([(float(t), 250.0 + 0.5 * t) for t in range(100)]), 0.5 * 69.0)


@pytest.mark.parametrize('size', [1024.0, 200.0, 30.0])
def test_bytes_that_are_lost_with_each_message_are_a_leak(size):
    leak = bytes_a_message(SETTLED + TIMES * 10.0 * size / 2**20)
    assert np.isclose(leak, size, rtol=0.1) and leak > soak.LEAK


def test_only_what_is_measured_in_pauses_counts():
    sizes = [(0.0, 1.0), (1.0, 9.0), (2.0, 1.5), (3.0, 9.0), (4.0, 2.0)]
    assert memory_growth.within(sizes, [(0.0, 0.5), (2.0, 2.0), (3.5, 9.0)]) == sizes[::2]
    assert memory_growth.within(sizes, []) == []


def test_what_settles_and_what_comes_and_goes_is_no_leak():
    assert bytes_a_message(SETTLED) < 0.2 * soak.LEAK
    spike = np.where((TIMES > 2000.0) & (TIMES < 2200.0), 5.0, 0.0)
    assert abs(bytes_a_message(SETTLED + spike)) < 0.2 * soak.LEAK
    assert np.isnan(steady_growth([(t, 250.0) for t in TIMES[:300]]))
    assert np.isnan(steady_growth([]))


def test_bytes_in_use_see_objects_but_not_free_blocks(tmp_path):
    """Of 40 MB in small objects every hundredth stays: the pages stay, the bytes in use go."""
    begun, most, left, pages = map(float, run_probed(tmp_path, FRAGMENTED))
    assert begun > 1e6 and 40e6 < most < 42e6
    assert 0.35e6 < left < 0.5e6 < 0.1 * pages


def test_a_leak_in_a_process_is_found(tmp_path):
    run_probed(tmp_path, LEAKING)
    sizes = [size for _, size in memory_growth.in_use(tmp_path / 'steps', 0.0)]
    assert len(sizes) == 60
    lost = 2**20 * steady_growth(list(enumerate(sizes)), telling=20.0) / 40
    assert 1000 < lost < 1300


def test_the_probe_is_silent_where_it_is_not_asked_for(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != 'SOAK_MEMORY'}
    done = subprocess.run([sys.executable, '-c', 'import threading; print(threading.enumerate())'],
                          capture_output=True, text=True, cwd=tmp_path, check=True,
                          env={**environment, 'PYTHONPATH': str(memory_growth.PROBE)})
    assert 'memory' not in done.stdout and list(tmp_path.iterdir()) == []
