"""Symbolic derivation of the 4-joint arm: dual screws, plain differentiation, exported code."""
from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import sympy
from report import Report, Row
from timing import interleaved, shortest

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.symbolic import derive
from flex_dynamics.symbolic.dual_screw import projection
from flex_dynamics.symbolic.problem import Problem
from flex_dynamics.symbolic.tape import Tape

SECTION = 'Symbolic model of the 4-joint arm, 16 coordinates'
PLAIN_LIMIT = 300.0                       # s by the clock for plain differentiation
PLAIN = Path(__file__).with_name('plain_differentiation.py')


class SympyScalars:
    """Stands in a tape's place, so that the same derivation calculates in sympy's expressions."""

    sin, cos = staticmethod(sympy.sin), staticmethod(sympy.cos)

    @staticmethod
    def symbol(name: str) -> sympy.Symbol:
        return sympy.Symbol(name, real=True)


def measure(report: Report) -> None:
    robot = load_robot('cibicik_arm_paper')
    model = Model(robot, 'linear')
    times = shortest({'whole': partial(derive, robot, 'dual_screw'),
                      'tape': lambda: _projections(Problem(model, Tape())),
                      'sympy': lambda: _projections(Problem(model, SympyScalars()))})
    report.add(SECTION, Row('M, C, g by dual screws', f'{times["whole"]:.1f} s', 'at most 60 s',
                            times['whole'] <= 60.0))
    report.add(SECTION, Row('projection matrices and rates, dual screws, on a tape',
                            f'{times["tape"]:.2f} s'))
    report.add(SECTION, Row('the same, in sympy (the paper, in its program: 11 s)',
                            f'{times["sympy"]:.1f} s'))
    _plain(report, times['sympy'])
    _exported(report, robot, model)


def _projections(problem: Problem) -> list:
    motions: list = []
    for body in problem.bodies:
        motions.append(projection(problem, body, motions))
    return motions


def _plain(report: Report, by_screws: float) -> None:
    """Plain differentiation in a process of its own, which is ended at the limit."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, str(PLAIN)], stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ))
    try:
        out, _ = process.communicate(timeout=PLAIN_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    lines = out.split('\n')
    what = 'the same by plain differentiation, in sympy (the paper: 181 s)'
    done = [line for line in lines if line.startswith('done')]
    if done:
        seconds = float(done[0].split()[1])
        report.add(SECTION, Row(what, f'{seconds:.0f} s'))
        report.add(SECTION, Row('plain / dual screws', f'{seconds / by_screws:.0f}'))
        return
    steps = [line for line in lines if line]
    reached = steps[-1] if steps else 'nothing'
    spent = time.monotonic() - start
    report.add(SECTION, Row(what, f'not done in {spent:.0f} s: {reached}'))
    report.add(SECTION, Row('plain / dual screws', f'more than {spent / by_screws:.0f}'))


def _exported(report: Report, robot, model: Model) -> None:
    equations = derive(robot, 'dual_screw')
    start = time.monotonic()
    function = equations.function('c')
    report.add(SECTION, Row(f'C code of {equations.operations} operations, compiled',
                            f'{time.monotonic() - start:.1f} s'))
    recursive = Model(robot)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=model.n) * 0.3, rng.normal(size=model.n) * 0.1
    q[model.n_joints:] *= 0.003
    times = interleaved({'c': partial(function, q, v),
                         'linear': partial(model.terms, q, v),
                         'core': partial(recursive.forward_dynamics, q, v, np.ones(4))})
    for name, what in (('c', 'exported C function: M, C, g'), ('linear', "Model, order 'linear': "
                                                               'M, C, g'),
                       ('core', 'recursive core: forward dynamics')):
        report.add(SECTION, Row(what, f'{times[name] * 1e6:.1f} us'))
    ratio = times['c'] / times['core']
    report.add(SECTION, Row('exported C function / recursive core', f'{ratio:.2f}', 'at most 3',
                            ratio <= 3.0))
