"""Symbolic derivation of the 4-joint arm: dual screws, the chain rule, exported code."""
from __future__ import annotations

import resource
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
from flex_dynamics.symbolic.expressions.tape import Tape
from flex_dynamics.symbolic.methods.dual_screw import projection
from flex_dynamics.symbolic.methods.problem import Problem

SECTION = 'Symbolic model of the 4-joint arm, 16 coordinates'
LIMIT = 120                               # s of processor time for the slow way
NONLINEAR = Path(__file__).with_name('nonlinear_first.py')


class SympyScalars:
    """Stands in a tape's place, so that the same derivation calculates in sympy's expressions."""

    sin, cos = staticmethod(sympy.sin), staticmethod(sympy.cos)

    @staticmethod
    def symbol(name: str) -> sympy.Symbol:
        return sympy.Symbol(name, real=True)


def measure(report: Report) -> None:
    robot = load_robot('cibicik_arm_paper')
    model = Model(robot, 'linear')
    whole = shortest({'whole': partial(derive, robot, 'dual_screw')})['whole']
    report.add(SECTION, Row('M, C, g by dual screws', f'{whole:.1f} s', 'at most 60 s',
                            whole <= 60.0))
    for arithmetic, scalars in (('sympy', SympyScalars), ('the tape', Tape)):
        problem = Problem(model, scalars())
        motions: list = []
        closed = _seconds(lambda p=problem, m=motions: m.extend(_projections(p)))
        chain = _seconds(lambda p=problem, m=motions: _chain_rule(p, m))
        report.add(SECTION, Row(f'projection matrices and their rates in closed form, in '
                                f'{arithmetic}', f'{closed:.2f} s'))
        report.add(SECTION, Row('the same rates by differentiation and the chain rule',
                                f'{chain:.2f} s'))
        report.add(SECTION, Row('chain rule / closed form (the paper, in Matlab: 181 s / 11 s)',
                                f'{chain / closed:.1f}'))
        if arithmetic == 'sympy':
            _nonlinear_first(report, closed)
    _exported(report, robot, model)


def _seconds(call) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _projections(problem: Problem) -> list:
    motions: list = []
    for body in problem.bodies:
        motions.append(projection(problem, body, motions))
    return motions


def _chain_rule(problem: Problem, motions: list) -> list:
    """d/dt of every line's elements, as the sum over q of its derivative times the speed."""
    derivative = (problem.tape.derivative if isinstance(problem.tape, Tape)
                  else lambda x, q: sympy.sympify(x).diff(q))
    return [sum(derivative(x, q) * v for q, v in zip(problem.q, problem.v))
            for motion in motions for line in motion.lines.values()
            for x in (*line.real, *line.dual)]


def _nonlinear_first(report: Report, closed: float) -> None:
    """Nonlinear positions, differentiated, linearised at the end: in a process of its own, which
    the system ends at the limit."""
    ended = subprocess.run(
        [sys.executable, str(NONLINEAR)], stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)))
    steps = [line for line in ended.stdout.split('\n') if line]
    what = 'the same from nonlinear positions, linearised at the end, in sympy'
    if steps and steps[-1].startswith('done'):
        seconds = float(steps[-1].split()[1])
        report.add(SECTION, Row(what, f'{seconds:.0f} s, {seconds / closed:.0f} times as long'))
        return
    reached = f'last step: {steps[-1]} s' if steps else 'not one step'
    report.add(SECTION, Row(what, f'given up after {LIMIT} s, more than {LIMIT / closed:.0f} '
                            f'times as long; {reached}'))


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
                         'terms': partial(recursive.terms, q, v),
                         'core': partial(recursive.forward_dynamics, q, v, np.ones(4))})
    for name, what in (('c', 'exported C function: M, C, g'), ('linear', "Model, order 'linear': "
                                                               'M, C, g'),
                       ('terms', 'recursive core: M, C, g'),
                       ('core', 'recursive core: forward dynamics')):
        report.add(SECTION, Row(what, f'{times[name] * 1e6:.1f} us'))
    ratio = times['c'] / times['core']
    report.add(SECTION, Row('exported C function / recursive core', f'{ratio:.2f}', 'at most 3',
                            ratio <= 3.0))
