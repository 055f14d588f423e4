"""What must hold of every mutant: of its error, of its robot, and of what it costs and prints."""
from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from flex_description import Robot, RobotError
from flex_description.commands.summary import summary
from flex_description.robot import Limits

LONGEST = 1400              # characters of a message, path included
MEMORY = 1536 * 2**20       # bytes more than at the start
# Words that say that something else went wrong than the message claims.
SUSPECT = re.compile(r'MemoryError|Traceback|object at 0x|NoneType|KeyError|IndexError|'
                     r'AssertionError|AttributeError|has no attribute \'_|not subscriptable')
PLACE = re.compile(r'(<string>|overlay|/)')


class Hang(BaseException):
    """Raised by the alarm; not an Exception, so that no handler of the loader catches it."""


def check_message(error: RobotError) -> None:
    """Of one printable line, of bounded length, that begins with a place."""
    text = str(error)
    assert text.isprintable(), f'control characters in the message: {text!r}'
    assert len(text) <= LONGEST, f'a message of {len(text)} characters'
    assert PLACE.match(text), f'no place in the message: {text}'
    assert not SUSPECT.search(text), f'a message about our own code: {text}'


def check_finite(record: object) -> None:
    """No number of a record that is not finite, but for limits that are not given."""
    for item in fields(record):  # type: ignore[arg-type]
        inner = getattr(record, item.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if isinstance(part, (float, np.ndarray)) and not isinstance(record, Limits):
                assert np.all(np.isfinite(part)), f'{type(record).__name__}.{item.name}: {part}'
            elif is_dataclass(part):
                check_finite(part)
    if isinstance(record, Limits):
        assert not any(np.isnan(getattr(record, item.name)) for item in fields(record))


def check_figures(robot: Robot) -> None:
    """Beams and shapes have finite values everywhere, and `describe` can print them."""
    for link in robot.links:
        beam = link.flexible
        if beam is None:
            continue
        x = np.linspace(0.0, beam.length, 17)
        for shape in (beam.bend_y, beam.bend_z, beam.twist):
            for derivative in range(3):
                assert np.all(np.isfinite(shape(x, derivative))), f'{link.name}: shapes'
        at = beam.properties(x)
        for item in fields(at):
            assert np.all(np.isfinite(getattr(at, item.name))), f'{link.name}: {item.name}'
    json.dumps(summary(robot), allow_nan=False)


def check_model(robot: Robot) -> str:
    """Model is built with a finite mass matrix, or refuses."""
    from flex_dynamics import Model
    from flex_dynamics.errors import DynamicsError
    try:
        model = Model(robot)
        still = np.zeros(model.n)
        assert np.all(np.isfinite(model.mass_matrix(still))), 'mass matrix'
        assert np.all(np.isfinite(model.gravity_force(still))), 'gravity force'
    except (DynamicsError, RobotError) as error:
        assert str(error).isprintable() and len(str(error)) < LONGEST
        return 'model refused'
    return 'model built'


def where(error: BaseException) -> str:
    """File and line of our own code that an exception came through last."""
    place, trace = '?', error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if 'flex_' in str(path.parent) and 'site-packages' not in str(path):
            place = f'{path.name}:{trace.tb_lineno}'
        trace = trace.tb_next
    return place


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass
class Printed:
    """What came out on standard output and error, of C libraries too, and as Python warnings."""

    file: TextIO
    warnings: list[warnings.WarningMessage]

    def clear(self) -> None:
        os.ftruncate(self.file.fileno(), 0)
        self.warnings.clear()

    def text(self) -> str:
        if self.warnings:
            return f'a warning: {self.warnings[0].message}'
        self.file.flush()
        if not os.fstat(self.file.fileno()).st_size:
            return ''
        return repr(os.pread(self.file.fileno(), 300, 0))


@contextlib.contextmanager
def guarded() -> Iterator[Printed]:
    """Bound time and memory, and catch what is printed."""
    def alarm(*_: object) -> None:
        raise Hang('takes too long')

    handlers = {kind: signal.signal(kind, alarm) for kind in (signal.SIGPROF, signal.SIGALRM)}
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    sys.stdout.flush()
    sys.stderr.flush()
    out, err = os.dup(1), os.dup(2)
    with (tempfile.TemporaryFile('a+') as file,
          warnings.catch_warnings(record=True) as caught):
        warnings.simplefilter('always')
        number = file.fileno()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = file
        os.dup2(number, 1)
        os.dup2(number, 2)
        try:
            yield Printed(file, caught)
        finally:
            sys.stdout, sys.stderr = streams
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.close(out)
            os.close(err)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            for kind, handler in handlers.items():
                signal.signal(kind, handler)
