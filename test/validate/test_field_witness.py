"""Exact field: 200 random trees against Lagrange's equations of the displacement field.

The expected numbers come from an implementation that shares no code with flex_dynamics: plain
numpy, complex steps, section rotations that are exact exponentials
(`flex_dynamics/test/field_witness.py`). The trees have every mode basis, tapered and piecewise
beams, lumped masses, payloads, branches in the middle of beams, prismatic and elastic joints,
fixed, floating and planar bases. They are bent by 0.2 % to 20 % of their length and twisted by up
to 0.5 rad. Errors are shares: of M by sqrt(M_ii M_jj), of forces by sqrt(M_ii) and the largest,
of accelerations by 1/sqrt(M_ii) and the largest. The condition number is the plain one of M, in SI
units. Orders `first` and `second`; order `linear` at zero deflection.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from field_comparison import MOST, QUANTITIES, WELL, Comparison
from matplotlib.figure import Figure
from random_trees import features, random_tree

from flex_description.shapes import BASES

TREES, CHUNK = 200, 10
ORDERS = ('first', 'second', 'linear')
SOURCE = 'field'


@pytest.fixture(scope='module')
def tables(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp('tables')


@dataclass(frozen=True)
class Row:
    """Errors of one tree in one order, and what is allowed."""

    seed: int
    order: str
    share: float
    condition: float
    scaled_condition: float
    errors: dict[str, float]
    allowed: dict[str, float]
    features: set[str]

    @classmethod
    def of(cls, found: Comparison) -> Row:
        return cls(found.tree.seed, found.order, found.tree.share, found.condition,
                   found.scaled_condition, found.errors,
                   {what: found.allowed(what) for what in found.errors},
                   features(found.tree))


ROWS: dict[int, list[Row]] = {}


def chunk(number: int, tables: Path) -> list[Row]:
    """Compared once, in the test of this chunk or where all are wanted."""
    if number not in ROWS:
        trees = [random_tree(seed, tables) for seed in range(number * CHUNK, (number + 1) * CHUNK)]
        ROWS[number] = [Row.of(Comparison(tree, order)) for tree in trees for order in ORDERS]
    return ROWS[number]


@pytest.mark.parametrize('number', range(TREES // CHUNK))
def test_trees(claims, tables, number):
    rows = chunk(number, tables)
    worst, row, what = max(((row.errors[what] / row.allowed[what], row, what) for row in rows
                            for what in row.errors), key=lambda found: found[0])
    wrong = sorted({row.seed for row in rows
                    if any(not row.errors[what] <= row.allowed[what] for what in row.errors)})
    claims.bound(SOURCE, f'seeds {number * CHUNK} to {(number + 1) * CHUNK - 1}: largest error by '
                 f'what is allowed ({what}, seed {row.seed}, order {row.order})', worst, 1.0,
                 note=f'bent by {row.share:.1%}, condition {row.condition:.1e}'
                 + f'; seeds {wrong} fail' * bool(wrong))


def distribution(values: list[float]) -> tuple[float, float, float]:
    return tuple(np.percentile(values, [50, 95, 100]))


def test_distribution_of_errors(claims, tables, capsys):
    rows = [row for number in range(TREES // CHUNK) for row in chunk(number, tables)]
    assert len(rows) == TREES * len(ORDERS)
    lines = ['', f'{"errors":30s} {"rows":>5s} {"median":>9s} {"95 %":>9s} {"largest":>9s}  seed']
    figure = Figure(figsize=(9, 6))
    axes = figure.subplots()
    for name, orders in (('first, second', ORDERS[:2]), ('linear', ORDERS[2:])):
        for k, what in enumerate(QUANTITIES):
            found = [row for row in rows if row.order in orders and what in row.errors]
            well = [row for row in found if what != 'accelerations' or row.condition <= WELL]
            bad = [row for row in found if row not in well]
            for part, title in ((well, what), (bad, f'{what}, condition above {WELL:.0e}')):
                if not part:
                    continue
                errors = [row.errors[what] for row in part]
                median, most, largest = distribution(errors)
                worst = max(part, key=lambda row, what=what: row.errors[what])
                lines.append(f'{title[:30]:30s} {len(part):5d} {median:9.1e} {most:9.1e} '
                             f'{largest:9.1e}  {worst.seed} {worst.order}')
                by = max(row.errors[what] / row.allowed[what] for row in part) * MOST
                claims.bound(
                    SOURCE, f'{title}, order {name}', by if part is bad else largest, MOST,
                    note=f'{len(part)} rows: median {median:.1e}, 95 % {most:.1e}, largest '
                    f'{largest:.1e} (seed {worst.seed}, order {worst.order})'
                    + '; compared: error times 1e6 by condition number' * (part is bad))
            if name != 'linear':
                errors = np.sort([row.errors[what] for row in found])
                axes.semilogx(np.maximum(errors, 1e-17), np.arange(1, len(errors) + 1)
                              / len(errors), f'C{k % 8}', label=what, ls=('-', '--', ':')[k // 8])
    axes.axvline(MOST, color='k', lw=0.8)
    axes.set(xlabel='error (share)', ylabel='share of trees and orders below it', ylim=(0, 1))
    axes.legend(fontsize=7, ncols=2)
    claims.figure(f'Errors of {TREES} random trees, orders first and second', figure)
    with capsys.disabled():
        print('\n'.join(lines))


def test_conditions_of_the_trees(claims, tables):
    """What the distribution is about: most trees are within the claim of accelerations."""
    rows = [row for number in range(TREES // CHUNK) for row in chunk(number, tables)
            if row.order == 'second']
    median, most, largest = distribution([row.condition for row in rows])
    scaled = distribution([row.scaled_condition for row in rows])
    within = sum(row.condition <= WELL for row in rows)
    claims.fact(SOURCE, f'trees with a condition number of M up to {WELL:.0e}', 'most',
                f'{within} of {len(rows)}', within >= 0.75 * len(rows),
                note=f'median {median:.1e}, 95 % {most:.1e}, largest {largest:.1e}; scaled to a '
                f'unit diagonal {scaled[0]:.1e}, {scaled[1]:.1e}, {scaled[2]:.1e}')


def test_what_the_trees_have(claims, tables):
    """Every feature is in many trees, each basis in a fifth of them."""
    rows = [row for number in range(TREES // CHUNK) for row in chunk(number, tables)
            if row.order == 'second']
    counts = Counter(feature for row in rows for feature in row.features)
    for basis in BASES:
        assert counts[f'basis {basis}'] >= TREES / 5
    rare = [feature for feature, count in counts.items() if count < TREES / 20]
    claims.fact(SOURCE, f'features of {TREES} trees', f'each in {TREES // 20} trees or more',
                ', '.join(f'{feature} {counts[feature]}' for feature in sorted(counts)),
                not rare and len(counts) >= 30)
