"""Steps of the set-up: each runs only if what it reads has changed, with its output in a log.

Each step leaves a stamp that holds a hash of what it read. Needs nothing but Python's own library.
"""
from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / 'build' / 'setup'
RUNNING: set[subprocess.Popen[str]] = set()
ENDED = threading.Event()      # by an error or by the user: what runs is stopped, nothing starts

# What pip and apt-get say where there is no network, or no way through it.
NO_NETWORK = re.compile(
    r'Temporary failure in name resolution|Temporary failure resolving|Name or service not known|'
    r'No address associated with hostname|Network is unreachable|No route to host|'
    r'Connection refused|Connection timed out|ConnectTimeoutError|ReadTimeoutError|'
    r'NameResolutionError|NewConnectionError|ProxyError|Cannot connect to proxy|Could not resolve')


class SetupError(Exception):
    """Something that the user has to put right; the text says how."""


def digest(paths: Iterable[Path], *also: object) -> str:
    """Hash of files (name and content) and of whatever else decides a step's result."""
    total = hashlib.sha256(repr(also).encode())
    for path in sorted(paths):
        total.update(os.fsencode(path) + b'\0' + path.read_bytes())
    return total.hexdigest()


def step(name: str, key: str, action: Callable[[], None]) -> bool:
    """Run `action` unless it was done for the same `key`; true if it ran."""
    stamp = STATE / f'{name}.stamp'
    if stamp.exists() and stamp.read_text() == key:
        return False
    stamp.unlink(missing_ok=True)
    action()
    stamp.write_text(key)
    return True


def run(name: str, command: list[str], env: dict[str, str],
        show: Callable[[str], str | None]) -> None:
    """Run `command` with its output in a log; print what `show` makes of a line, if anything."""
    log = STATE / f'{name}.log'
    with log.open('w', encoding='utf-8') as out, subprocess.Popen(
            command, cwd=ROOT, env=env, encoding='utf-8', errors='replace',
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        RUNNING.add(process)
        if ENDED.is_set():
            process.terminate()
        try:
            for line in process.stdout:
                out.write(line)
                said = show(line)
                if said:
                    print(f'  {said}', flush=True)
        except KeyboardInterrupt:
            process.terminate()      # a terminal tells it too, `kill` does not
            raise
        finally:
            RUNNING.discard(process)
    if process.returncode:
        text = log.read_text(encoding='utf-8')
        if found := NO_NETWORK.search(text):
            raise SetupError(f'no network: packages could not be downloaded ({found[0]}). Connect '
                             'this machine, or name a proxy (https_proxy) or a mirror '
                             '(PIP_INDEX_URL), and run it again; all of the output is in '
                             f'{log.relative_to(ROOT)}')
        tail = '\n'.join(text.splitlines()[-25:])
        raise SetupError(f'{tail}\n{name} failed (exit code {process.returncode}); '
                         f'all of its output is in {log.relative_to(ROOT)}')


def together(*actions: Callable[[], None]) -> None:
    """Run actions that do not depend on each other at once; an error of one ends all of them."""
    with ThreadPoolExecutor(len(actions)) as pool:
        try:
            for done in as_completed([pool.submit(action) for action in actions]):
                done.result()
        except BaseException:
            ENDED.set()
            for process in list(RUNNING):
                process.terminate()
            raise
