"""A fixed sample of the mutants of `make nightly`; and what is wrong with a mutant is seen."""
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from flex_description import RobotError, load_robot

sys.path.insert(0, str(Path(__file__).resolve().parent / 'fuzz'))

import descriptions  # noqa: E402

COUNT, SEED = 500, 16


@pytest.fixture(scope='module')
def fuzzer(tmp_path_factory):
    return descriptions.Fuzzer(SEED, tmp_path_factory.mktemp('mutants'))


def test_a_sample_of_mutants_ends_in_a_robot_or_in_one_line(fuzzer):
    result = descriptions.run(COUNT, SEED, fuzzer=fuzzer)
    assert result.failures == []
    assert result.count == COUNT and set(result.mutants) == set(descriptions.KINDS)
    # both ends are reached: a fuzzer whose mutants are all refused tests only the first check
    assert result.outcomes['loaded'] > COUNT / 20 and result.outcomes['refused'] > COUNT / 4
    assert result.outcomes['examined'] and result.outcomes['model built']
    assert f'{COUNT} mutants: ' in descriptions.report(result)


def test_a_mutant_is_made_from_seed_and_number_alone(fuzzer, tmp_path):
    again = descriptions.Fuzzer(SEED, tmp_path)
    for number in (5, 7, 2, 7):
        assert fuzzer.case(number).files == again.case(number).files
    again.seed += 1
    assert [fuzzer.case(k).files for k in range(9)] != [again.case(k).files for k in range(9)]


GOOD = partial(load_robot, 'spin_up_beam')


def fail(error):
    raise error


def bad_number():
    robot = GOOD()
    return replace(robot, gravity=np.array([0.0, 0.0, np.nan]))


def bad_length():
    robot = GOOD()
    links = tuple(replace(link, flexible=replace(link.flexible, length=float('inf')))
                  if link.flexible else link for link in robot.links)
    return replace(robot, links=links)


@pytest.mark.parametrize(('load', 'words'), [
    (lambda: fail(TypeError('x')), 'TypeError'),
    (lambda: fail(np.linalg.LinAlgError('x')), 'LinAlgError'),
    (lambda: fail(RobotError('expected a, found b')), 'no place'),
    (lambda: fail(RobotError('MemoryError()', '/a', 3)), 'about our own code'),
    (lambda: print('Unknown tag') or GOOD(), 'printed'),
    (lambda: sys.stderr.write('x') and GOOD(), 'printed'),
    (lambda: np.array([1.0]) / np.zeros(1) is None or GOOD(), 'printed'),   # a RuntimeWarning
    (bad_number, 'Robot.gravity'), (bad_length, 'FlexibleLink.length'),
    (lambda: bytearray(3 * 2**30), 'MemoryError'),
    (lambda: [None for _ in iter(time.process_time, -1.0)], 'Hang')])
def test_what_is_wrong_is_seen(monkeypatch, fuzzer, load, words):
    monkeypatch.setattr(descriptions, 'SLOWEST', 0.5)
    monkeypatch.setattr(fuzzer, 'case', lambda number: descriptions.Case('small', load, [], {}))
    result = descriptions.run(1, 1, fuzzer=fuzzer, models=False)
    assert len(result.failures) == 1 and words in result.failures[0], result.failures
