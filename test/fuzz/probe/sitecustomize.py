"""Writes how many bytes the process has in use, every few seconds, to a file named after its pid.

soak.py puts this folder on the PYTHONPATH of the nodes, so that Python imports this module before
the program, and names the folder for the files in SOAK_MEMORY. A line is the time (s, monotonic)
and the bytes in use.

Bytes in use are those that malloc has given out and not got back, of all arenas and of blocks with
a mapping of their own. Resident pages are more: they hold free blocks too, between those in use.
soak.py sets PYTHONMALLOC=malloc, so that the objects of Python count, and switches the caches of
the threads off, whose free blocks would count as in use.
"""
import ctypes
import gc
import os
import threading
import time
from pathlib import Path

PERIOD = float(os.environ.get('SOAK_PERIOD', '5.0'))      # s
FIELDS = ('arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks',
          'fordblks', 'keepcost')


class Mallinfo2(ctypes.Structure):
    """struct mallinfo2 of malloc.h (glibc 2.33 or newer)."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def bytes_in_use() -> int:
    """What the process got from malloc and has not freed (bytes), as all its threads see it."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def sample(file: Path) -> None:
    """Append a line."""
    if gc.isenabled():      # else what is in cycles is lost, and counts
        gc.collect()
    with file.open('a') as out:
        out.write(f'{time.monotonic():.3f} {bytes_in_use()}\n')


def write(file: Path) -> None:
    """Append a line every PERIOD, until the process ends."""
    while True:
        time.sleep(PERIOD)
        sample(file)


if folder := os.environ.get('SOAK_MEMORY'):
    threading.Thread(target=write, daemon=True, name='memory', args=(
        Path(folder, str(os.getpid())),)).start()
