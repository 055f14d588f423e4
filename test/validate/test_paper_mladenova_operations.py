"""Mladenova, operation counts: her tables 1 to 3, and our own counts beside the first.

In her table 3 the products 852 and 800 of n = 6 are printed in each other's row: the formulae
beside them say which is which.
"""
from __future__ import annotations

from collections import Counter

import numpy as np
from counting import counted, plain

from flex_dynamics.papers import vector_parameters as vp

# Table 1: multiplications, additions, transcendental functions to form B or c; totals of n joints.
TABLE_1 = {
    'Eulerian angles': ((12, 4, 6), (3, 2, 5), ((20, 10, 6), (13, 14, 5))),
    'Bryant angles': ((14, 4, 6), (5, 0, 3), ((22, 10, 6), (15, 12, 3))),
    'Eulerian parameters': ((11, 10, 0), (3, 4, 0), ((19, 16, 0), (13, 16, 0))),
    'Denavit-Hartenberg': ((6, 0, 4), (1, 0, 2), ((14, 8, 4), (11, 12, 2)))}


def test_operations_of_table_1(claims):
    for name, (matrix, vector, (per_matrix, per_vector)) in TABLE_1.items():
        apply = (8, 8 if name.startswith('Denavit') else 6, 0)
        claims.value('Mladenova table 1', f'{name}: B and B p of one joint', per_matrix,
                     np.add(matrix, apply), 0.0, note='m, a, tr. f.')
        claims.value('Mladenova table 1', f'{name}: n c + (n - 1) compositions + O(c) p, n = 6',
                     6 * np.array(per_vector) + [4, 3, 0],
                     6 * np.array(vector) + 5 * np.array([10, 12, 0]) + [14, 15, 0], 0.0,
                     note='m, a, tr. f.')
    counts: dict[str, Counter] = {name: Counter() for name in ('c1, c2', 'O(c) p', 'B p')}
    a, b, p = np.random.default_rng(1).normal(size=(3, 3))
    found = composed(*(counted(x, counts['c1, c2']) for x in (a, b)))
    turned = rotated(*(counted(x, counts['O(c) p']) for x in (a, p)))
    by_matrix = counted(vp.rotation(a), counts['B p']) @ counted(p, counts['B p'])
    claims.bound('own', 'counted (67), (65) and B p are those of the library', max(
        np.abs(plain(found) - vp.compose(a, b)).max(),
        np.abs(plain(turned) - vp.rotation(a) @ p).max(),
        np.abs(plain(by_matrix) - vp.rotation(a) @ p).max()), 1e-14)
    for name, printed, ours, note in (
            ('c1, c2', (10, 12), (12, 12), '9 products and 3 quotients; she counts 10'),
            ('O(c) p', (14, 15), (19, 15), '18 products and 1 quotient; she counts 14'),
            ('B p', (8, 6), (9, 6), 'a full matrix; hers has a zero element')):
        done = counts[name]
        claims.value('Mladenova table 1, own count', f'{name}: products and quotients, sums', ours,
                     [done['multiplications'] + done['divisions'], done['additions']], 0.0,
                     note=f'printed {printed[0]}, {printed[1]}: {note}')
    claims.fact('Mladenova 1', 'products of 6 Eulerian joints, vector-parameters by matrices',
                'reduced by more than 30 %', f'{100 * (1 - 82 / 120):.0f} % by her counts, '
                f'{100 * (1 - (6 * 3 + 5 * 12 + 19) / (6 * (12 + 9))):.0f} % by ours',
                82 / 120 < 0.7, note='by ours less is saved: quotients and scalings count')


def composed(c1, c2) -> np.ndarray:
    """(67) in 12 additions, 9 products and 3 quotients."""
    return (c1 + c2 + np.array([c1[1] * c2[2] - c1[2] * c2[1], c1[2] * c2[0] - c1[0] * c2[2],
                                c1[0] * c2[1] - c1[1] * c2[0]])) / (1.0 - c1 @ c2)


def rotated(c, p) -> np.ndarray:
    """O(c) p = p + 2 / (1 + c2) (c x p + c x (c x p))."""
    def cross(x, y):
        return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                         x[0] * y[1] - x[1] * y[0]])

    scale = 2.0 / (1.0 + c @ c)
    once = cross(c, p)
    return p + (once + cross(c, once)) * scale


def test_operations_of_table_2(claims):
    """Jacobians; formulae alone are given: products, sums, transcendental functions."""
    table = {'Waldron': ((30, -55), (15, -38), (2, -2), (24, -42), (22, -41)),
             'Ribble': ((30, -11), (18, -20), (2, 0), (24, -6), (22, -3)),
             'Renaud': ((30, -87), (15, -66), (2, -2), (24, -52), (22, -60)),
             'Paul': ((30, -25), (15, -22), (2, 0), (24, -26), (22, -26)),
             'Orin and Schrader': ((30, -18), (14, -15), (2, 0), (24, -10), (22, -12))}
    for name, rows in table.items():
        m, a, f, vm, va = (6 * slope + cut for slope, cut in rows)
        claims.fact('Mladenova table 2', f'{name}: products, sums and functions for n = 6',
                    'printed: more than 30 % less', f'{m}, {a}, {f} become {vm}, {va}, 6: '
                    f'{100 * ((vm + va + 6) / (m + a + f) - 1):+.0f} % of all',
                    vm < m and va > a and f > 6, note='by her own formulae products fall by a '
                    'fifth, functions by half, and sums grow: what is claimed of "elementary '
                    'operations" (section 1) does not follow from this table')


def test_operations_of_table_3(claims):
    """Dynamic modelling: the columns for n = 6 are the formulae at 6."""
    for name, slope, cut, printed in (
            ('Hollerbach 4x4, multiplications', 830, -592, 4388),
            ('Hollerbach 4x4, additions', 675, -464, 3586),
            ('Hollerbach 3x3, multiplications', 412, -277, 2195),
            ('Hollerbach 3x3, additions', 320, -201, 1719),
            ('Luh and Armstrong, additions', 131, -48, 738),
            ('Orin and others, additions', 101, -11, 595),
            ('Nakamura, multiplications', 133, -17, 781), ('Nakamura, additions', 106, -19, 617),
            ('vector-parameters, multiplications', 138, -53, 775),
            ('vector-parameters, additions', 143, -66, 792)):
        claims.value('Mladenova table 3', name, printed, 6 * slope + cut, 0.0)
    for name, slope, cut, right in (('Luh and Armstrong', 137, -22, 800),
                                    ('Orin and others', 150, -48, 852)):
        claims.value('Mladenova table 3', f'{name}, multiplications', right, 6 * slope + cut, 0.0,
                     note="852 and 800 are printed in each other's row")
