"""Textbook beams: frequencies, deflections, beam-columns, in every mode basis.

A uniform cantilever, E I 30 N m2, G J 40 N m2, 1.5 kg/m, 2 m long. A basis of n shapes is a Ritz
approximation: its frequencies and its buckling load come from above, its deflections from below,
and no further shape makes them worse, if the shapes contain those of n - 1. Pinned bases are held
at the root: the speed of the root's section is zero.
"""
from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.linalg import eigh, null_space
from scipy.optimize import brentq
from test_beams import Ritz, clamped_clamped, powers, roots_near, sines
from test_beams import clamped_free as modes_of

from flex_description import load_robot
from flex_dynamics import Model

LENGTH, EI, GJ, RHO_A, RHO_IP = 2.0, 30.0, 40.0, 1.5, 0.02
COUNTS = range(1, 9)
ROOTS = np.array([brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (k - 0.5) * np.pi - 0.4,
                         (k - 0.5) * np.pi + 0.4, xtol=1e-15) for k in range(1, 9)])
FREQUENCY = (ROOTS[0] / LENGTH) ** 2 * np.sqrt(EI / RHO_A)
BUCKLING = np.pi**2 * EI / (4.0 * LENGTH**2)
TWIST = np.pi / (2.0 * LENGTH) * np.sqrt(GJ / RHO_IP)
# Error allowed with 8 shapes: first frequency, tip deflection, tip rotation, buckling load, and
# deflection of a beam-column at half its buckling load. Powers of x, and the static shapes first,
# carry an end load at once. Modes of the cantilever have no moment at the tip: the rest of their
# series is claimed below. Pinned shapes have none at the root: what they miss falls as 1 / n.
EXACT, STATIC_FIRST = 5 * (1e-9,), (1e-5, 1e-9, 1e-9, 1e-5, 1e-5)
CANTILEVER, PINNED = (1e-9, 1e-4, 3e-3, 2e-4, 3e-4), 5 * (1.0 / 8.0,)
BASES = {'craig-bampton': STATIC_FIRST, 'polynomial': EXACT, 'expression': EXACT,
         'clamped-free': CANTILEVER, 'clamped-mass': CANTILEVER, 'fe': CANTILEVER,
         'file': CANTILEVER, 'pinned-free': PINNED, 'pinned-pinned': PINNED}
WHAT = ('first frequency', 'tip deflection F L^3 / 3 E I', 'tip rotation F L^2 / 2 E I',
        'buckling load pi^2 E I / 4 L^2', 'deflection at half the buckling load')


def clamped_free(x: np.ndarray, root: float) -> np.ndarray:
    """Mode of a cantilever, from the textbook's cosh and sinh."""
    share = (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))
    s = root * x / LENGTH
    return np.cosh(s) - np.cos(s) - share * (np.sinh(s) - np.sin(s))


@pytest.fixture(scope='module')
def table(tmp_path_factory) -> Path:
    """The modes as a table, for basis `file`."""
    path = tmp_path_factory.mktemp('modes') / 'modes.csv'
    x = np.linspace(0.0, LENGTH, 401)
    columns = np.column_stack([x, *(clamped_free(x, root) for root in ROOTS)])
    names = ','.join(['x', *(f'v{k}' for k in COUNTS)])
    np.savetxt(path, columns, delimiter=',', header=names, comments='', fmt='%.17g')
    return path


def beam(basis: str, bending: int, twist: int = 0, table: Path | None = None) -> Model:
    """The cantilever along x, bending along y; pinned bases on a joint about z."""
    area, second = 1.0, RHO_IP / RHO_A / 2.0 if twist else 1e-12
    words = f'basis="{basis}" bending_y="{bending}" bending_z="0" twist="{twist}" tip_mass="0"'
    if basis == 'file':
        words += f' file="{table}"'
    if basis == 'expression':
        formulas = '; '.join(f'(x/L)^{k + 2}' for k in range(bending))
        lines = '; '.join(f'(x/L)^{k + 1}' for k in range(twist))
        words += f' expression_y="{formulas}"' * bool(bending)
        words += f' expression_twist="{lines}"' * bool(twist)
    joint = 'continuous' if basis.startswith('pinned') else 'fixed'
    return Model(load_robot(f"""<robot name="one_beam">
      <link name="base"/><link name="beam"/><link name="tip"/>
      <joint name="joint1" type="{joint}"><parent link="base"/><child link="beam"/>
        <axis xyz="0 0 1"/><limit effort="1e6" velocity="1e3"/></joint>
      <joint name="end" type="fixed"><parent link="beam"/><child link="tip"/>
        <origin xyz="{LENGTH} 0 0"/></joint>
      <flexible link="beam"><beam length="{LENGTH}">
          <section A="{area}" Iy="{second}" Iz="{second}" J="{second}"/>
          <material E="{EI / second}" G="{GJ / second}" density="{RHO_A / area}"/>
        </beam><modes {words}/></flexible><gravity xyz="0 0 0"/></robot>"""))


def clamped_motions(model: Model) -> np.ndarray:
    """Columns: directions in which the root's section does not turn."""
    return null_space(model.input_matrix().T) if model.n_joints else np.eye(model.n)


def stiffness_by_load(model: Model) -> np.ndarray:
    """What a unit compression at the tip takes from the stiffness at rest: d(J' w)/dq."""
    h, force = 1e-4, np.array([-1.0, 0.0, 0.0])
    return np.array([(model.jacobian(h * e, 'tip')[:3] - model.jacobian(-h * e, 'tip')[:3]).T
                     @ force for e in np.eye(model.n)]).T / (2.0 * h)


def beam_column(compression: float) -> float:
    """Tip deflection (m) by a unit lateral force under an axial one (N; tension is negative)."""
    k = np.sqrt(abs(compression) / EI)
    slope = np.tan(k * LENGTH) if compression > 0 else np.tanh(k * LENGTH)
    return (slope / k - LENGTH) / compression


def errors(model: Model) -> np.ndarray:
    """Shares (5,) by which WHAT is missed, positive as a Ritz approximation has them."""
    free = clamped_motions(model)
    return missed(*(free.T @ matrix @ free for matrix in (
        model.mass_matrix(np.zeros(model.n)), model.stiffness_matrix(),
        stiffness_by_load(model))), *(model.jacobian(np.zeros(model.n), 'tip') @ free)[[1, 5]])


def missed(mass, stiffness, load, push, turn) -> np.ndarray:
    """The same, of matrices (n, n) and of deflection and rotation of the tip by amplitude (n,)."""
    bent = np.linalg.solve(stiffness, push)
    column = push @ np.linalg.solve(stiffness - BUCKLING / 2.0 * load, push)
    return np.array([
        np.sqrt(eigh(stiffness, mass, eigvals_only=True)[0]) / FREQUENCY - 1.0,
        1.0 - push @ bent / (LENGTH**3 / (3.0 * EI)),
        1.0 - turn @ bent / (LENGTH**2 / (2.0 * EI)),
        1.0 / eigh(load, stiffness, eigvals_only=True)[-1] / BUCKLING - 1.0,
        1.0 - column / beam_column(BUCKLING / 2.0)])


def held(shapes):
    """Shapes of a pinned root, turned back so that its section stands still."""
    def turned(x, d):
        slope = shapes(np.zeros(1), 1)
        return shapes(x, d) - slope * (x if d == 0 else float(d == 1))
    return turned


def pinned_free(count: int):
    roots = np.array(roots_near((np.arange(count) + 1.25) * np.pi,
                                lambda b: np.sin(b) - np.cos(b) * np.tanh(b)))[:, None]

    def shapes(x, d):
        s = roots * x / LENGTH
        odd = (np.sinh if d % 2 == 0 else np.cosh)(s)
        return (roots / LENGTH) ** d * (np.sin(s + d * np.pi / 2.0)
                                        + np.sin(roots) / np.sinh(roots) * odd)
    return shapes


def by_integrals(*shapes) -> np.ndarray:
    """Errors (5,) of the Ritz approximation by the textbook's integrals over these shapes."""
    ritz, end = Ritz(*shapes), np.array([LENGTH])
    push, turn = (np.concatenate([shape(end, d) for shape in shapes])[:, 0] for d in (0, 1))
    return missed(RHO_A * ritz.mass, EI * ritz.bend, ritz.slope, push, turn)


# What 8 shapes of each basis can give.
WITNESSES = {'craig-bampton': (powers(2, 3), clamped_clamped(6)), 'polynomial': (powers(2, 9),),
             **dict.fromkeys(('clamped-free', 'clamped-mass', 'fe', 'file'), (modes_of(8),)),
             'pinned-pinned': (held(sines(8)),), 'pinned-free': (held(pinned_free(8)),)}


@lru_cache
def converging(basis: str, table: Path | None) -> np.ndarray:
    """Errors (8, 5) over the number of shapes."""
    return np.array([errors(beam(basis, count, table=table)) for count in COUNTS])


@pytest.mark.parametrize('basis', BASES)
def test_bending(claims, basis, table):
    found = converging(basis, table)
    for what, share, most in zip(WHAT, found[-1], BASES[basis]):
        claims.bound('textbook', f'{basis}, 8 shapes: error of the {what}', abs(share), most)
    if basis in WITNESSES:
        claims.value('Ritz', f'{basis}, 8 shapes: these five errors, by the integrals of the '
                     'textbook over the same shapes', by_integrals(*WITNESSES[basis]), found[-1],
                     1e-8, note='what is missed is what these shapes must miss')
    # The rotation of the tip is no Ritz value: not the deflection under its own load.
    ritz = found[:, [0, 1, 3, 4]]
    claims.bound('Ritz', f'{basis}: most that a further shape makes an error larger',
                 max(float((b - a).max()) for a, b in pairwise(ritz)), 1e-9)
    claims.bound('Ritz', f'{basis}: most on the wrong side of the exact value',
                 float(-ritz.min()), 1e-8)


def test_roots_of_a_cantilever(claims, table):
    """beta L of the first four frequencies, in the bases that are its modes."""
    for basis in ('clamped-free', 'clamped-mass', 'fe', 'file'):
        model = beam(basis, 8, table=table)
        found = np.sqrt(model.frequencies(np.zeros(8))[0][:4] / np.sqrt(EI / RHO_A)) * LENGTH
        claims.value('textbook', f'{basis}: beta L of four frequencies',
                     [1.875104, 4.694091, 7.854757, 10.995541], found, 6e-7,
                     note='six decimals are given, the third cut')


@pytest.mark.parametrize('basis', ['clamped-free', 'clamped-mass', 'fe', 'file'])
def test_what_is_missed_is_the_rest_of_the_series(claims, basis, table):
    """Modes of the cantilever: of F L^3 / 3 E I mode k takes the share 12 / (beta_k L)^4."""
    expected = 1.0 - np.cumsum(12.0 / ROOTS**4)
    claims.value('textbook', f'{basis}: share missed of the tip deflection, 1 to 8 modes',
                 expected, converging(basis, table)[:, 1], 1e-6)


def test_what_sines_miss_is_the_rest_of_their_series(claims):
    """The moment F (L - x) in sines: sine k holds 6 / (k pi)^2 of its energy."""
    expected = 1.0 - np.cumsum(6.0 / (np.pi * np.arange(1, 9)) ** 2)
    claims.value('textbook', 'pinned-pinned: share missed of the tip deflection, 1 to 8 sines',
                 expected, converging('pinned-pinned', None)[:, 1], 1e-6,
                 note='a motor on a pinned root drives such a link: Lin and Lewis')


def test_tension_stiffens(claims, table):
    for basis in BASES:
        model = beam(basis, 8, table=table)
        free = clamped_motions(model)
        push = model.jacobian(np.zeros(model.n), 'tip')[1] @ free
        pulled = free.T @ (model.stiffness_matrix() + BUCKLING * stiffness_by_load(model)) @ free
        claims.value('textbook', f'{basis}, 8 shapes: tip deflection by 1 N under a tension of '
                     'the buckling load', beam_column(-BUCKLING),
                     push @ np.linalg.solve(pulled, push), BASES[basis][4],
                     relative=True, unit='m')


def test_first_order_neither_softens_nor_stiffens(claims):
    model = Model(beam('craig-bampton', 3).robot, 'first')
    claims.bound('own', 'craig-bampton, order first: stiffness by an axial load (it has no '
                 'foreshortening)', float(np.abs(stiffness_by_load(model)).max()), 1e-9)


def test_twist(claims, table):
    """First frequency pi/2 sqrt(G J / rho Ip) / L and T L / G J."""
    for basis, frequency, turn in (('craig-bampton', 1e-4, 1e-9), ('polynomial', 1e-9, 1e-9),
                                   ('expression', 1e-9, 1e-9), ('clamped-free', 1e-9, 6e-2),
                                   ('fe', 1e-9, 6e-2)):
        model = beam(basis, 0, 8)
        zero = np.zeros(model.n)
        claims.value('textbook', f'{basis}, 8 shapes: first frequency of twist', TWIST,
                     model.frequencies(zero)[0][0], frequency, relative=True, unit='rad/s')
        row = model.jacobian(zero, 'tip')[3]
        found = row @ np.linalg.solve(model.stiffness_matrix(), row)
        claims.value('textbook', f'{basis}, 8 shapes: tip twist T L / G J', LENGTH / GJ, found,
                     turn, relative=True, unit='rad')
        if turn > 1e-3:
            odd = 2.0 * np.arange(1, 9) - 1.0
            claims.value('textbook', f'{basis}: that share missed, 1 - sum 8 / (pi (2k - 1))^2',
                         1.0 - (8.0 / (np.pi * odd) ** 2).sum(), 1.0 - found * GJ / LENGTH, 1e-9,
                         note='a free end has no torque: such modes carry one slowly')


def test_figure(claims, table):
    figure, axes = plt.subplots(1, len(WHAT), figsize=(16, 3.4), sharey=True)
    for axis, (column, what) in zip(axes, enumerate(WHAT)):
        for number, basis in enumerate(BASES):       # thinner over thicker: many are the same
            axis.semilogy(COUNTS, np.maximum(np.abs(converging(basis, table)[:, column]), 1e-13),
                          lw=9.0 - number, marker='.', label=basis)
        axis.set(title=what.split(' F ')[0].split(' pi')[0], xlabel='shapes')
    axes[0].set_ylabel('error, share')
    axes[-1].legend(fontsize=7, loc='upper left', bbox_to_anchor=(1, 1))
    claims.figure('Convergence over the number of shapes, a cantilever in every basis', figure)
