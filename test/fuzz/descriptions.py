"""Fuzzer of descriptions: a mutant ends in a robot, or in one line that says what is wrong.

    python3 test/fuzz/descriptions.py --count 200000 --seed 1     # prints counts; exit code 1 if
                                                                  # it found something
    python3 test/fuzz/descriptions.py --seed 1 --only 4711        # one mutant, written to ./mutant

Every mutant is made from (seed, number) alone. Checked of each: no exception but RobotError, in
one printable line of bounded length that names a place; bounded time and memory; nothing printed;
no number in the robot that is not finite. Of a sample of the robots that load: `describe` has its
figures, and Model is built or refuses with DynamicsError.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

import descriptions_mutators as mutators
import numpy as np
import yaml
from descriptions_seeds import helper_files, seeds

from flex_description import Robot, RobotError, load_robot
from flex_description.robot import Limits
from flex_description.summary import summary

LONGEST = 1400              # characters of a message, path included
SLOWEST = 40.0              # seconds of processor time of one mutant: 30 are allowed to a xacro
MEMORY = 1536 * 2**20       # bytes more than at the start
EXAMINED, MODELLED = 8, 100     # one of so many robots that load is looked at more closely
# Words that say that something else went wrong than the message claims.
SUSPECT = re.compile(r'MemoryError|Traceback|object at 0x|NoneType|KeyError|IndexError|'
                     r'AssertionError|AttributeError|has no attribute \'_|not subscriptable')
PLACE = re.compile(r'(<string>|overlay|/)')
KINDS = {'small': 76, 'bundled': 4, 'xacro': 3, 'overlay': 6, 'table': 4, 'text': 7}


class Hang(BaseException):
    """Raised by the alarm; not an Exception, so that no handler of the loader catches it."""


@dataclass
class Case:
    """A mutant: how it is loaded, what was done to it, and its files."""

    kind: str
    load: Callable[[], Robot]
    done: list[str]
    files: dict[str, bytes]


@dataclass
class Result:
    """Counts of a run, and what it found."""

    count: int = 0
    outcomes: Counter = field(default_factory=Counter)
    seconds: Counter = field(default_factory=Counter)
    mutants: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    megabytes: float = 0.0


class Fuzzer:
    """Makes mutants by number and checks them. folder: where their files are written."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        logging.getLogger('flex_description').disabled = True
        self.seeds = seeds()
        self.small = [mutators.parse(text) for text in self.seeds.small]
        self.bundled = [mutators.parse(text) for text in self.seeds.bundled]
        self.tabled = {name: mutators.parse(text) for name, text in self.seeds.tabled.items()}
        self.xacro = {name: mutators.parse(text) for name, text in self.seeds.xacro.items()}
        self.kinds = [kind for kind, times in KINDS.items() for _ in range(times)]
        for name, text in {**self.seeds.xacro, **helper_files()}.items():
            (folder / name).write_text(text)

    def case(self, number: int) -> Case:
        """The mutant of this number."""
        rng = random.Random(f'{self.seed}:{number}')
        kind = rng.choice(self.kinds)
        return getattr(self, f'_{kind}')(rng)

    def _spoilt(self, rng: random.Random, tree: mutators.Node) -> tuple[str, list[str]]:
        tree = tree.copy()
        done = [mutators.mutate_xml(rng, tree, self.small)
                for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        return str(tree), done

    def _small(self, rng: random.Random) -> Case:
        text, done = self._spoilt(rng, rng.choice(self.small))
        return Case('small', partial(load_robot, text), done, {'robot.urdf': _bytes(text)})

    def _bundled(self, rng: random.Random) -> Case:
        text, done = self._spoilt(rng, rng.choice(self.bundled))
        return Case('bundled', partial(load_robot, text), done, {'robot.urdf': _bytes(text)})

    def _text(self, rng: random.Random) -> Case:
        text = rng.choice(self.seeds.small)
        if rng.random() < 0.5:
            for _ in range(rng.choice([1, 2, 3])):
                text = mutators.mutate_text(rng, text)
            if text.lstrip('\ufeff \t\r\n').startswith('<'):
                return Case('text', partial(load_robot, text), ['text'],
                            {'robot.urdf': _bytes(text)})
        data = mutators.mutate_bytes(rng, _bytes(text))
        return self._file('text', data, 'robot.urdf', ['bytes'])

    def _file(self, kind: str, data: bytes, name: str, done: list[str]) -> Case:
        path = self.folder / name
        path.write_bytes(data)
        return Case(kind, partial(load_robot, path), done, {name: data})

    def _xacro(self, rng: random.Random) -> Case:
        name = rng.choice(list(self.xacro))
        tree = self.xacro[name].copy()
        done = [mutators.mutate_xacro(rng, tree) if rng.random() < 0.7 else
                mutators.mutate_xml(rng, tree, self.small) for _ in range(rng.choice([1, 1, 2]))]
        tree.attributes.setdefault('xmlns:xacro', 'http://www.ros.org/wiki/xacro')
        case = self._file('xacro', _bytes(str(tree)), 'robot.xacro', [name, *done])
        if rng.random() < 0.1:
            words = {rng.choice(['basis', 'a', 'length']): rng.choice(mutators.WORDS)}
            case.load = partial(load_robot, self.folder / 'robot.xacro', None, words)
            case.done.append(f'arguments {words}'[:80])
        return case

    def _overlay(self, rng: random.Random) -> Case:
        urdf, tree = rng.choice(self.seeds.overlays)
        done = []
        for _ in range(rng.choice([1, 1, 2])):
            tree, what = mutators.mutate_yaml(rng, tree)
            done.append(what)
        if isinstance(tree, dict) and rng.random() < 0.6:
            return Case('overlay', partial(load_robot, urdf, tree), done,
                        {'robot.urdf': _bytes(urdf), 'overlay.yaml': repr(tree).encode()})
        text = yaml.safe_dump(tree, sort_keys=False)
        if rng.random() < 0.5:
            text = mutators.mutate_text(rng, text)
        path = self.folder / 'overlay.yaml'
        path.write_bytes(_bytes(text))
        return Case('overlay', partial(load_robot, urdf, path), done,
                    {'robot.urdf': _bytes(urdf), 'overlay.yaml': _bytes(text)})

    def _table(self, rng: random.Random) -> Case:
        suffix = rng.choice(['csv', 'npz'])
        columns, what = mutators.mutate_table(rng, self.seeds.table)
        data = mutators.table_bytes(rng, columns, f'.{suffix}')
        if rng.random() < 0.3:
            data = mutators.mutate_bytes(rng, data)
        (self.folder / f'modes.{suffix}').write_bytes(data)
        tree = self.tabled[suffix].copy()
        done = [what]
        if rng.random() < 0.3:
            done.append(mutators.mutate_xml(rng, tree, self.small))
        case = self._file('table', _bytes(str(tree)), 'robot.urdf', done)
        case.files[f'modes.{suffix}'] = data
        return case


def _bytes(text: str) -> bytes:
    return text.encode('utf-8', 'surrogatepass')


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


def run(count: int, seed: int, *, first: int = 0, models: bool = True,
        fuzzer: Fuzzer | None = None, say: Callable[[str], None] | None = None) -> Result:
    """Check `count` mutants from number `first` on."""
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = fuzzer or Fuzzer(seed, Path(folder))
        if models:
            check_model(load_robot(fuzzer.seeds.small[0]))   # compiled before memory is bounded
        start = _megabytes()
        with _guarded() as printed:
            for number in range(first, first + count):
                _check(fuzzer, number, models, printed, result)
                if say is not None and (number + 1 - first) % 10_000 == 0:
                    say(f'{number + 1 - first} mutants, {len(result.failures)} findings, '
                        f'{_megabytes():.0f} MB')
        result.megabytes = _megabytes() - start
    if result.megabytes > MEMORY / 2**20:
        result.failures.append(f'memory grew by {result.megabytes:.0f} MB')
    return result


def _check(fuzzer: Fuzzer, number: int, models: bool, printed: Printed, result: Result) -> None:
    """Check one mutant, and count it."""
    case = fuzzer.case(number)
    printed.clear()
    begin, outcome, wrong = time.process_time(), '', ''
    signal.setitimer(signal.ITIMER_PROF, SLOWEST)
    signal.setitimer(signal.ITIMER_REAL, 10 * SLOWEST)
    try:
        robot = case.load()
        outcome = 'loaded with warnings' if robot.warnings else 'loaded'
        check_finite(robot)
        took = time.process_time() - begin
        examined = result.outcomes['loaded'] + result.outcomes['loaded with warnings']
        if examined % EXAMINED == 0:
            check_figures(robot)
            result.outcomes['examined'] += 1
        if models and examined % MODELLED == 0:
            result.outcomes[check_model(robot)] += 1
    except RobotError as error:
        outcome, took = 'refused', time.process_time() - begin
        try:
            check_message(error)
        except AssertionError as complaint:
            wrong = str(complaint)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        took = time.process_time() - begin
        wrong = f'{type(error).__name__} at {_where(error)}: {str(error)[:300]}'
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if text := printed.text():
        wrong = wrong or f'printed {text}'
    result.count += 1
    result.outcomes[outcome or 'failed'] += 1
    result.mutants[case.kind] += 1
    result.seconds[case.kind] += took
    result.slowest = max(result.slowest, (took, number))
    if wrong:
        result.failures.append(f'seed {fuzzer.seed} mutant {number} ({case.kind}: '
                               f'{"; ".join(case.done)}): {wrong}')


def _where(error: BaseException) -> str:
    """File and line of our own code that an exception came through last."""
    place, trace = '?', error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if 'flex_' in str(path.parent) and 'site-packages' not in str(path):
            place = f'{path.name}:{trace.tb_lineno}'
        trace = trace.tb_next
    return place


def _megabytes() -> float:
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
def _guarded() -> Iterator[Printed]:
    """Bound time and memory, and catch what is printed."""
    def alarm(*_: object) -> None:
        raise Hang(f'more than {SLOWEST:g} s')

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


def report(result: Result) -> str:
    """The counts of a run."""
    lines = [f'{result.count} mutants: ' + ', '.join(
        f'{number} {name}' for name, number in sorted(result.outcomes.items()))]
    for kind, number in sorted(result.mutants.items()):
        rate = number / max(result.seconds[kind], 1e-9)
        lines.append(f'  {kind:8s} {number:8d}, {rate:6.0f} a second of processor time')
    lines.append(f'slowest: {result.slowest[0]:.2f} s (mutant {result.slowest[1]}); memory grew '
                 f'by {result.megabytes:.0f} MB; findings: {len(result.failures)}')
    return '\n'.join(lines)


def show(seed: int, number: int) -> None:
    """Write a mutant's files to ./mutant and load it, with its traceback if it has one."""
    folder = Path('mutant')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case = Fuzzer(seed, folder).case(number)
    for name, data in case.files.items():
        (folder / name).write_bytes(data)
    print(f'{case.kind}: {"; ".join(case.done)}; files in {folder.resolve()}')
    try:
        robot = case.load()
    except RobotError as error:
        print(f'refused: {error}')
        check_message(error)
        return
    print(f'loaded; warnings: {list(robot.warnings)}')
    check_finite(robot)
    check_figures(robot)
    print(check_model(robot))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=10_000, help='how many mutants')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--first', type=int, default=0, help='number of the first mutant')
    parser.add_argument('--only', type=int, metavar='NUMBER', help='show this mutant')
    parser.add_argument('--no-models', action='store_true', help='load only, build no Model')
    options = parser.parse_args()
    if options.only is not None:
        show(options.seed, options.only)
        return 0
    out = os.fdopen(os.dup(1), 'w')

    def say(text: str) -> None:
        print(text, file=out, flush=True)
    result = run(options.count, options.seed, first=options.first, models=not options.no_models,
                 say=say)
    for failure in result.failures[:200]:
        print(failure)
    print(f'seed {options.seed}, mutants {options.first} to {options.first + options.count - 1}')
    print(report(result))
    return 1 if result.failures else 0


if __name__ == '__main__':
    sys.exit(main())
