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
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import descriptions_data as data_mutators
import descriptions_mutators as mutators
import yaml
from descriptions_checks import (
    MEMORY,
    Printed,
    check_figures,
    check_finite,
    check_message,
    check_model,
    guarded,
    megabytes,
    where,
)
from descriptions_seeds import helper_files, seeds

from flex_description import Robot, RobotError, load_robot

SLOWEST = 40.0              # seconds of processor time of one mutant: 30 are allowed to a xacro
EXAMINED, MODELLED = 5, 50      # one of so many mutants that load is looked at more closely
KINDS = {'small': 76, 'bundled': 4, 'xacro': 3, 'overlay': 6, 'table': 4, 'text': 7}


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
                text = data_mutators.mutate_text(rng, text)
            if text.lstrip('\ufeff \t\r\n').startswith('<'):
                return Case('text', partial(load_robot, text), ['text'],
                            {'robot.urdf': _bytes(text)})
        data = data_mutators.mutate_bytes(rng, _bytes(text))
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
            tree, what = data_mutators.mutate_yaml(rng, tree)
            done.append(what)
        if isinstance(tree, dict) and rng.random() < 0.6:
            return Case('overlay', partial(load_robot, urdf, tree), done,
                        {'robot.urdf': _bytes(urdf), 'overlay.yaml': repr(tree).encode()})
        text = yaml.safe_dump(tree, sort_keys=False)
        if rng.random() < 0.5:
            text = data_mutators.mutate_text(rng, text)
        path = self.folder / 'overlay.yaml'
        path.write_bytes(_bytes(text))
        return Case('overlay', partial(load_robot, urdf, path), done,
                    {'robot.urdf': _bytes(urdf), 'overlay.yaml': _bytes(text)})

    def _table(self, rng: random.Random) -> Case:
        suffix = rng.choice(['csv', 'npz'])
        columns, what = data_mutators.mutate_table(rng, self.seeds.table)
        data = data_mutators.table_bytes(rng, columns, f'.{suffix}')
        if rng.random() < 0.3:
            data = data_mutators.mutate_bytes(rng, data)
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


def run(count: int, seed: int, *, first: int = 0, models: bool = True,
        fuzzer: Fuzzer | None = None, say: Callable[[str], None] | None = None) -> Result:
    """Check `count` mutants from number `first` on."""
    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = fuzzer or Fuzzer(seed, Path(folder))
        if models:
            check_model(load_robot(fuzzer.seeds.small[0]))   # compiled before memory is bounded
        start = megabytes()
        with guarded() as printed:
            for number in range(first, first + count):
                found = len(result.failures)
                _check(fuzzer, number, models, printed, result)
                if say is not None and len(result.failures) > found:
                    say(result.failures[-1])
                if say is not None and (number + 1 - first) % 10_000 == 0:
                    say(f'{number + 1 - first} mutants, {len(result.failures)} findings, '
                        f'{megabytes():.0f} MB')
        result.megabytes = megabytes() - start
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
        if number % EXAMINED == 0:
            check_figures(robot)
            result.outcomes['examined'] += 1
        if models and number % MODELLED == 0:
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
        wrong = f'{type(error).__name__} at {where(error)}: {str(error)[:300]}'
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
    folder = Path('mutant').resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case = Fuzzer(seed, folder).case(number)
    for name, data in case.files.items():
        (folder / name).write_bytes(data)
    print(f'{case.kind}: {"; ".join(case.done)}; files in {folder}')
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
    print(f'seed {options.seed}, mutants {options.first} to {options.first + options.count - 1}')
    print(report(result))
    return 1 if result.failures else 0


if __name__ == '__main__':
    sys.exit(main())
