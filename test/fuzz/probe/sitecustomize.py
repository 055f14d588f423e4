"""Writes how many bytes the process has in use, every few seconds, to a file named after its pid.

soak.py puts this folder on the PYTHONPATH of the nodes, so that Python imports this module before
the program, and names the folder for the files in SOAK_MEMORY. A line is the time (s, monotonic),
the bytes in use and, if SOAK_TYPES is set, a JSON object: how many objects of which type the
garbage collector knows.

Bytes in use are those that malloc has given out and not got back, of all arenas and of blocks with
a mapping of their own. Resident pages are more: they hold free blocks too, between those in use.
soak.py sets PYTHONMALLOC=malloc, so that the objects of Python count, and switches the caches of
the threads off, whose free blocks would count as in use.
"""
import ctypes
import gc
import json
import os
import threading
import time
from collections import Counter
from pathlib import Path

PERIOD = float(os.environ.get('SOAK_PERIOD', '5.0'))      # s
FIELDS = ('arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks',
          'fordblks', 'keepcost')
TYPES_EVERY = 6         # periods


class Mallinfo2(ctypes.Structure):
    """struct mallinfo2 of malloc.h (glibc 2.33 or newer)."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def bytes_in_use() -> int:
    """What the process got from malloc and has not freed (bytes), as all its threads see it."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def counted_types() -> dict[str, int]:
    """How many objects there are of each type that the garbage collector follows."""
    counts = Counter(f'{type(one).__module__}.{type(one).__qualname__}'
                     for one in gc.get_objects())
    return dict(counts.most_common(300))


def write(file: Path, types: bool) -> None:
    """Append a line every PERIOD, until the process ends."""
    number = 0
    while True:
        time.sleep(PERIOD)
        if gc.isenabled():      # else what is in cycles is lost, and counts
            gc.collect()
        line = f'{time.monotonic():.3f} {bytes_in_use()}'
        if types and number % TYPES_EVERY == 0:
            line += ' ' + json.dumps(counted_types())
        number += 1
        with file.open('a') as out:
            out.write(line + '\n')


if folder := os.environ.get('SOAK_MEMORY'):
    threading.Thread(target=write, daemon=True, name='memory', args=(
        Path(folder, str(os.getpid())), bool(os.environ.get('SOAK_TYPES')))).start()
