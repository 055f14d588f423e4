"""How the memory of the nodes of a soak is measured, and what growth is called a leak.

Two quantities of each node are looked at (MB):

- resident pages (/proc), which is what a user sees. They hold free blocks between those in use, so
  that they drift by megabytes though nothing is lost;
- bytes in use, which malloc has given out and not got back (probe/sitecustomize.py). They do not
  see fragmentation.
"""
from __future__ import annotations

import os
from pathlib import Path

import numpy as np

PROBE = Path(__file__).parent / 'probe'
SETTLED = 0.3          # of the time, after which memory must not grow
PARTS = 6              # of the second half
TELLING = 900.0        # s of a second half from which on growth can be told from noise
Sizes = list[tuple[float, float]]      # time (s), memory (MB)


def probed_environment(folder: Path) -> dict[str, str]:
    """The environment of a node that writes its bytes in use to `folder`."""
    path = os.pathsep.join(filter(None, (str(PROBE), os.environ.get('PYTHONPATH', ''))))
    return {**os.environ, 'PYTHONPATH': path, 'SOAK_MEMORY': str(folder),
            'PYTHONMALLOC': 'malloc', 'GLIBC_TUNABLES': 'glibc.malloc.tcache_count=0'}


def resident(pid: int) -> float:
    """Resident memory (MB); nan if the process has ended."""
    try:
        pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    except OSError:
        return float('nan')
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def in_use(file: Path, began: float) -> Sizes:
    """What a probe has written from the time `began` (s, monotonic) on; times are after that."""
    if not file.exists():
        return []
    lines = [line.split() for line in file.read_text().splitlines()]
    return [(float(line[0]) - began, int(line[1]) / 2**20) for line in lines
            if len(line) == 2 and float(line[0]) >= began]


def within(sizes: Sizes, spans: list[tuple[float, float]]) -> Sizes:
    """Those that were taken in one of the spans of time, from and to (s)."""
    return [(at, size) for at, size in sizes if any(begin <= at <= end for begin, end in spans)]


def growth(sizes: Sizes) -> float:
    """MB by the line through what comes after SETTLED of the time."""
    times, values = np.array(sizes).T
    late = times >= times[0] + SETTLED * (times[-1] - times[0])
    if late.sum() < 3:
        return 0.0
    slope = float(np.polyfit(times[late], values[late], 1)[0])
    return slope * float(times[late][-1] - times[late][0])


def steady_growth(sizes: Sizes, telling: float = TELLING) -> float:
    """MB/s over the second half; nan if that is shorter than `telling` (s).

    It is the median of the slopes between the medians of PARTS of it, two at a time (Theil-Sen):
    a message that is just being handled, or a part that is out of line, does not count.
    """
    times, values = np.array(sizes).T if sizes else np.zeros((2, 1))
    half = times >= 0.5 * (times[0] + times[-1])
    times, values = times[half], values[half]
    if times[-1] - times[0] < telling or len(times) < 2 * PARTS:
        return float('nan')
    at, of = (np.array([np.median(part) for part in np.array_split(one, PARTS)])
              for one in (times, values))
    first, second = np.triu_indices(PARTS, 1)
    return float(np.median((of[second] - of[first]) / (at[second] - at[first])))


def at_shares(sizes: Sizes) -> str:
    """The memory (MB) when it has settled, at the half, at three quarters and at the end."""
    times, values = np.array(sizes).T
    shares = np.array([SETTLED, 0.5, 0.75, 1.0])
    found = values[np.searchsorted(times, shares * times[-1]).clip(max=len(times) - 1)]
    return ' '.join(f'{value:7.2f}' for value in found)
