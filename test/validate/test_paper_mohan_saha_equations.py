"""Mohan and Saha, equations: table 1, operations counted, the recursion as printed and corrected.

Operations are counted twice: of denoc.py beside these tests, the corrected recursion written out
in plain numbers as the paper counts it; and of the kernel that really runs, its own source on
numbers that count (kernel_operations.py).
"""
from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from counting import counted
from denoc import Beam, forward_dynamics
from kernel_operations import Interpreter, counted_forward_dynamics

from flex_description import load_robot
from flex_dynamics import Model

LINKS = ('link1', 'link2', 'link3')
TABLE = 'Mohan-Saha table 1'


@pytest.fixture(scope='module')
def arm() -> Model:
    return Model(load_robot('canadarm_paper'), 'first')


def table_1(n: int, m: int) -> dict[str, tuple[Fraction, Fraction]]:
    """Multiplications and additions, A_3c corrected to end in + 251 m / 3."""
    h, third, half, sixth = 1 + 2 * m, Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)
    Mm3 = sixth * h**3 + (2 * m + 15 * half) * h**2 + (2 * m**2 + 15 * m + 100 * third) * h
    Am3 = sixth * h**3 + half * h**2 + (6 * m**2 + 27 * m + 82 * third) * h
    m4 = (2 * m**2 + 13 * m + 27) * h
    cube = (sixth * h**3 + h**2 * (1 - m * half) + h * (m**2 * half - 2 * m) - sixth * m**3 + m**2)
    M2c = -3 * half * h**2 + h * (3 * m + 33 * half) - 3 * half * m**2 - 15 * half * m + 12
    A2c = -3 * half * h**2 + h * (3 * m + 13) - 3 * half * m**2 - 17 * half * m + 9
    tail = sixth * m**3 + 53 * sixth * m**2
    M3c = 5 * h**2 - h * (10 * m + 109 * sixth) + tail + 233 * third * m + 246
    A3c = 5 * h**2 - h * (10 * m + 85 * sixth) + tail + 251 * third * m + 228
    return {
        'proposed': ((2 * m**2 + 180 * m + 299 + Mm3) * n - (124 * m + 229 + m4),
                     (6 * m**2 + 122 * m + 220 + Am3) * n - (94 * m + 192 + m4)),
        'Jain and Rodriguez': (Fraction((13 * m**2 + 298 * m + 673) * n),
                               Fraction((14 * m**2 + 225 * m + 537) * n)),
        'Cyril': (cube * n**3 + M2c * n**2 + M3c * n - 123,
                  cube * n**3 + A2c * n**2 + A3c * n - 102)}


def test_operations_of_table_1(claims):
    for name, printed in (('proposed', (9874, 7699)), ('Jain and Rodriguez', (10568, 8344)),
                          ('Cyril', (13990, 12683))):
        claims.value(f'{TABLE}, rows M1 to M3', f'{name}, n = 8, m = 2: products, sums',
                     printed, [float(x) for x in table_1(8, 2)[name]], 0.5,
                     note='A_3c ends + 251 m / 3, printed - 251 m / 6, which would give 10675'
                     if name == 'Cyril' else '')


def beam_of(model: Model, link: str, spatial: bool = False) -> Beam:
    """Integrals of a uniform link's shapes by quadrature."""
    flexible = model.beam(link).flexible
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, end = 0.5 * flexible.length * (nodes + 1.0), np.array([flexible.length])
    properties, phi = flexible.properties(x), flexible.bend_y(x)
    mass = 0.5 * flexible.length * weights * properties.mass_per_length
    bend = 0.5 * flexible.length * weights * properties.bending_stiffness_z
    return Beam(flexible.length, float(mass.sum()), phi @ mass, (phi * x) @ mass, phi**2 @ mass,
                flexible.bend_y(x, 2)**2 @ bend, flexible.bend_y(end)[:, 0],
                flexible.bend_y(end, 1)[:, 0], spatial)


def thinned(model: Model, share: float) -> Model:
    """The same arm with a share of the rotary inertia of its sections, as stiff as before."""
    urdf = model.robot.urdf
    for name, value in (('"1e-09"', 1e-9), ('J="2e-09"', 2e-9)):
        assert name in urdf
        urdf = urdf.replace(name, name.split('"')[0] + f'"{value * share:g}"')
    assert 'E="100000000000000.0"' in urdf
    return Model(load_robot(urdf.replace('E="100000000000000.0"', f'E="{1e14 / share:g}"')),
                 'first')


def states(bend: float = 0.01, rate: float = 0.01):
    """Five random q, v (9,) and tau (3,); amplitudes and their speeds of these sizes."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = rng.normal(size=(2, 9))
        q[3:], v[3:] = bend * q[3:], rate * v[3:]
        yield q, v, 100.0 * rng.normal(size=3)


def off_the_model(model: Model, printed: str = '', **sizes: float) -> float:
    """Largest relative difference of the recursion's accelerations at 5 states."""
    beams, worst = [beam_of(model, link) for link in LINKS], 0.0
    for q, v, tau in states(**sizes):
        turning, bending = forward_dynamics(beams, q[:3], q[3:].reshape(3, 2), v[:3],
                                            v[3:].reshape(3, 2), tau, printed)
        expected = model.forward_dynamics(q, v, tau)
        found = np.array([*turning, *np.concatenate(bending)], dtype=float)
        worst = max(worst, np.abs(found - expected).max() / np.abs(expected).max())
    return float(worst)


def test_corrected_recursion(claims, arm):
    """Row M6."""
    worst = off_the_model(arm)
    claims.bound('row M6', 'recursion (36) to (42), corrected, against the model, 5 states, '
                 'relative', worst, 1e-5, note='the model has rotary inertia of sections, '
                 'Iz / A = 1e-7 m2, which the paper leaves out: see the next claims')
    claims.value('own', 'the same with a hundredth of the rotary inertia: ratio', 100.0,
                 worst / off_the_model(thinned(arm, 1e-2)), 5.0)
    claims.bound('own', 'the same with a millionth of it', off_the_model(thinned(arm, 1e-6)),
                 2e-6 * worst + 1e-12,
                 note='allowed: two millionths of what was off, and rounding')


def test_misprints(claims, arm):
    """As printed each fails; with all corrected it is right (the claims before)."""
    fast = {'bend': 1e-4, 'rate': 1.0}       # where speeds and not springs accelerate
    for equation, right in (('(20a)', '-dV/dq'), ('(24b)', '2 du/dt'), ('(33)', '+ gamma')):
        off, left = off_the_model(arm, equation, **fast), off_the_model(arm, **fast)
        claims.fact(f'Mohan-Saha {equation}', f'accelerations with {equation} as printed, 5 fast '
                    'states', 'fails', f'off by {100.0 * off:.3g} %', off > 0.01,
                    note=f'right: {right}')
        claims.bound(f'Mohan-Saha {equation}', 'the same, corrected, relative', left, 1e-5,
                     note='rotary inertia, as for row M6')
    for printed in (False, True):
        worst = 0.0
        for q, v, tau in states():
            expected = arm.forward_dynamics(q, v, tau)
            off = np.abs(by_factors(arm, q, v, tau, printed) - expected).max()
            worst = max(worst, float(off / np.abs(expected).max()))
        if printed:
            claims.fact('Mohan-Saha (39)', 'accelerations with P eta of the link itself, as '
                        'printed', 'fails', f'off by {100.0 * worst:.3g} %', worst > 0.01,
                        note="phi^ and eta then define each other; as P' Psi = 1, solved for "
                             'phi^ this takes half of it')
        else:
            claims.bound('Mohan-Saha (39)', 'accelerations by (34) to (42) with eta-bar, 5 '
                         'states, relative', worst, 1e-9,
                         note="a block U D U' of our M; right: eta-bar, of the links beyond")


def by_factors(model: Model, q, v, tau, printed: bool) -> np.ndarray:
    """Accelerations (9,) by (34), (35) and the steps A to C, each link a block of three."""
    blocks = [[i, 3 + 2 * i, 4 + 2 * i] for i in range(3)]
    order = np.concatenate(blocks)
    M = model.mass_matrix(q)[np.ix_(order, order)]
    phi = (model.input_matrix() @ tau - model.bias_force(q, v)
           - model.stiffness_matrix() @ q)[order].reshape(3, 3)
    U, D = np.eye(9), np.zeros((3, 3, 3))
    for j in range(2, -1, -1):
        at = slice(3 * j, 3 * j + 3)
        D[j] = M[at, at]
        U[:3 * j, at] = np.linalg.solve(D[j], M[at, :3 * j]).T
        M[:3 * j, :3 * j] -= U[:3 * j, at] @ D[j] @ U[:3 * j, at].T
    hat = phi.copy()
    for i in range(1, -1, -1):
        hat[i] -= U[3 * i:3 * i + 3, 3 * i + 3:] @ hat[i + 1:].ravel()      # P' eta-bar
        if printed:
            hat[i] *= 0.5
    tilde = np.concatenate([np.linalg.solve(d, h) for d, h in zip(D, hat)])
    found = np.empty(9)
    found[order] = np.linalg.solve(U.T, tilde)
    return found


def chain(n: int, order: str) -> Model:
    """n uniform links on joints about parallel axes, two modes in either plane."""
    parts = ['<robot name="chain"><link name="link0"/>']
    for i in range(1, n + 1):
        parts.append(f"""<link name="link{i}"/><joint name="joint{i}" type="continuous">
          <parent link="link{i - 1}"/><child link="link{i}"/><axis xyz="0 0 1"/>
          <origin xyz="{float(i > 1)} 0 0"/></joint><flexible link="link{i}"><beam length="1">
          <section A="1e-3" Iy="1e-8" Iz="1e-8" J="2e-8"/>
          <material E="7e10" G="2.6e10" density="2700"/></beam>
          <modes basis="clamped-free" bending_y="2" bending_z="2" twist="0"/></flexible>""")
    return Model(load_robot('\n'.join([*parts, '</robot>'])), order)


def counted_kernel(n: int, order: str) -> tuple[Interpreter, float]:
    """Operations of one call, and the largest relative difference from the compiled kernel."""
    model, rng = chain(n, order), np.random.default_rng(2)
    # Bends so small that the coefficients of every rotation are summed as series.
    q, v = rng.normal(size=(2, model.n)) * np.repeat([1.0, 0.001], [n, model.n - n])
    tau = rng.normal(size=n)
    found, run = counted_forward_dynamics(
        model, q, v, model.input_matrix() @ tau + model.passive_force(q, v))
    expected = model.forward_dynamics(q, v, tau)
    return run, float(np.abs(found - expected).max() / np.abs(expected).max())


def products_and_sums(counts: Counter) -> list[int]:
    return [counts['multiplications'] + counts['divisions'], counts['additions']]


def test_operations_counted(claims, arm):
    """Our own counts beside table 1."""
    rng = np.random.default_rng(1)
    for n in (3, 8):
        counts: Counter = Counter()
        angles, bends, speeds, rates, tau = (
            counted(rng.normal(size=(n, width)) * size, counts)
            for width, size in ((1, 1.0), (4, 0.01), (1, 1.0), (4, 0.1), (1, 1.0)))
        forward_dynamics(n * [beam_of(arm, 'link1', True)], angles[:, 0], bends, speeds[:, 0],
                         rates, tau[:, 0])
        theirs = [float(x) for x in table_1(n, 2)['proposed']]
        ours = products_and_sums(counts)
        claims.fact(f'{TABLE}, own count', f'the recursion written out, n = {n}, m = 2 in both '
                    'planes: products, sums', f'{theirs[0]:.0f}, {theirs[1]:.0f} as printed',
                    f'{ours[0]}, {ours[1]} counted', bool(np.all(np.less(ours, theirs))),
                    note='denoc.py, counted while it runs; nothing for known zeros; joints about '
                         'parallel axes, where the paper has any twist angle')


@pytest.mark.parametrize('order', ['first', 'second'])
def test_operations_of_the_kernel(claims, order):
    runs = {n: counted_kernel(n, order) for n in (2, 3, 4, 6, 7, 8)}
    claims.bound('own', f'order {order}: accelerations of the counted kernel against the compiled '
                 'one, relative', max(off for _, off in runs.values()), 1e-9)
    done = {n: np.array(products_and_sums(run.counts)) for n, (run, _) in runs.items()}
    for n, before, more in ((3, 2, 4), (8, 7, 6)):
        run, _ = runs[n]
        theirs, vectors = table_1(n, 2)['proposed'], run.counts['vector instructions']
        shares = ', '.join(f'{100 * run.stages[name] / run.operations():.0f} % {words}'
                           for name, words in (('kinematics', 'poses and sections'),
                                               ('own_inertia', 'bodies'),
                                               ('solve_sweeps', 'elimination and sweeps')))
        claims.value(f'{TABLE}, own count', f'the kernel, order {order}, n = {n}, m = 2 in both '
                     f'planes: products, sums, by those of {before} and {more} links: of O(n)',
                     done[before] + (n - before) * (done[more] - done[before]) / (more - before),
                     done[n], 0.0, note=(
                         f'printed: {float(theirs[0]):.0f}, {float(theirs[1]):.0f}. The kernel '
                         f'takes {run.operations() / float(sum(theirs)):.1f} times as many: all '
                         'that is executed is counted, zeros of padded rows too, and it sums over '
                         'Gauss sections, with rotary inertia and rotations that the paper leaves '
                         f'out. {vectors} instructions do four at once, so all are in '
                         f'{run.operations() - 3 * vectors}: {shares}'))
