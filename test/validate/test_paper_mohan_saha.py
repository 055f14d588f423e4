"""Mohan and Saha: Canadarm of section 7, recursion against Cholesky for 60 s.

A. Mohan and S. K. Saha, "A Computationally Efficient and Numerically Stable Simulation Algorithm
for Serial Robots with Flexible Links". The paper has figures only; expected numbers were computed
independently of this package.
"""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.linalg.lapack import dposv
from test_papers import PERIODS, RATES, cycloid

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

STEP, END, EVERY = 1e-3, 60.0, 20        # s, s, samples 20 ms apart
TIP = {'link1': 6.0, 'link2': 7.0, 'link3': 2.0}


@pytest.fixture(scope='module')
def arm() -> Model:
    return Model(load_robot('canadarm_paper'), 'first')


def rigid_torques(model: Model, times: np.ndarray) -> np.ndarray:
    """Efforts (k, 3) of the rigid arm on the trajectory (44)."""
    rows = (tuple(np.concatenate((part, np.zeros(model.n - 3))) for part in cycloid(t))
            for t in times)
    return np.array([model.inverse_dynamics(*row)[:3] for row in rows])


def by_recursion(model: Model, q, v, tau) -> np.ndarray:
    return model.forward_dynamics(q, v, tau)


def by_cholesky(model: Model, q, v, tau) -> np.ndarray:
    """The generalised inertia matrix, factorised; phi as the recursion's."""
    force = model.input_matrix() @ tau - model.bias_force(q, v) - model.stiffness_matrix() @ q
    return dposv(model.mass_matrix(q), force)[1]


@pytest.fixture(scope='module')
def runs(arm) -> dict[str, dict[str, np.ndarray]]:
    """Both algorithms by the same Runge-Kutta steps; work is integrated along."""
    torques = rigid_torques(arm, np.arange(2 * round(END / STEP) + 1) * 0.5 * STEP)
    return {name: _run(arm, solve, torques) for name, solve in (
        ('recursive', by_recursion), ('Cholesky', by_cholesky))}


def _run(model: Model, solve, torques: np.ndarray) -> dict[str, np.ndarray]:
    n, h = model.n, STEP
    x = np.zeros(2 * n + 1)

    def rate(x, tau):
        out = np.empty(2 * n + 1)
        out[:n], out[n:2 * n] = x[n:2 * n], solve(model, x[:n], x[n:2 * n], tau)
        out[2 * n] = tau @ x[n:n + 3]
        return out

    states, accelerations = [x], [solve(model, x[:n], x[n:2 * n], torques[0])]
    for k in range(round(END / h)):
        first, middle, last = torques[2 * k:2 * k + 3]
        a = rate(x, first)
        b = rate(x + 0.5 * h * a, middle)
        c = rate(x + 0.5 * h * b, middle)
        x = x + h / 6.0 * (a + 2.0 * (b + c) + rate(x + h * c, last))
        if (k + 1) % EVERY == 0:
            states.append(x)
            accelerations.append(solve(model, x[:n], x[n:2 * n], last))
    found = np.array(states)
    time = np.arange(len(found)) * EVERY * h
    return {'time': time, 'q': found[:, :n], 'v': found[:, n:2 * n], 'work': found[:, -1],
            'a': np.array(accelerations), 'tau': torques[::2 * EVERY][:len(found)]}


def test_canadarm(claims, arm, runs):
    """Row M4: figures 4 and 5."""
    run, early = runs['recursive'], runs['recursive']['time'] <= 10.0
    time = run['time'][early]
    wanted = np.array([cycloid(t)[0] for t in time])
    off = np.abs(run['q'][early, :3] - wanted)
    claims.value('Mohan-Saha 7.1, row M4', 'largest |theta - theta_d|',
                 [0.02121, 0.03496, 0.01226], off.max(axis=0), 5e-6, unit='rad',
                 note='with pi / T as printed; 2 pi / T would give 0.0432, 0.0719, 0.0266')
    claims.value('Mohan-Saha 7.1, row M4', 'at', [3.03, 3.03, 6.64], time[off.argmax(axis=0)],
                 EVERY * STEP, unit='s')
    tips = {}
    for (link, length), expected, digit in zip(TIP.items(), (0.1528, 0.0897, 0.00061),
                                               (5e-5, 5e-5, 5e-6)):
        columns = [k for k, name in enumerate(arm.names) if name.startswith(link + '/')]
        shapes = arm.beam(link).flexible.bend_y(np.array([length]))[:, 0]
        tips[link] = run['q'][early][:, columns] @ shapes
        claims.value('Mohan-Saha 7.1, row M4', f'largest tip deflection of {link}', expected,
                     np.abs(tips[link]).max(), digit, unit='m')
    figure, axes = plt.subplots(3, 3, figsize=(12, 7), sharex=True)
    rates = np.array([cycloid(t)[1] for t in time])
    for k, (link, row) in enumerate(zip(TIP, axes.T)):
        for axis, ours, theirs, words in ((row[0], run['q'], wanted, 'rad'),
                                          (row[1], run['v'], rates, 'rad/s')):
            axis.plot(time, ours[early, k], label='flex')
            axis.plot(time, theirs[:, k], '--', label='desired')
            axis.set(title=f'joint {k + 1}, {words}')
        row[2].plot(time, tips[link])
        row[2].set(title=f'tip of {link}, m', xlabel='s')
    axes[0, 0].legend()
    claims.figure('Mohan and Saha, figures 4 and 5: Canadarm under rigid efforts', figure)
    plt.close(figure)


def test_second_order(claims):
    model = Model(load_robot('canadarm_paper'))
    run = _simulated(model, 5e-4, 10.0)
    wanted = np.array([cycloid(t)[0] for t in run['time']])
    share = (0.155 / 6.0) ** 2
    claims.value('row M4', 'largest |theta - theta_d|, order second', [0.02121, 0.03476, 0.01246],
                 np.abs(run['q'][:, :3] - wanted).max(axis=0), 5e-6 + share * 0.0348, unit='rad',
                 note='second orders differ in the products that they keep: allowed is (b / L)^2 '
                      'of it, b the 0.155 m by which link 1 bends, and half a digit')


def test_trajectory_with_2_pi(claims):
    """(44) read as the usual cycloid."""
    model = Model(load_robot('canadarm_paper'), 'first')
    step = 1e-3
    times = (np.arange(10_000) + 0.5) * step

    def wanted(t: float) -> tuple[np.ndarray, ...]:
        turn = 2.0 * np.pi / PERIODS
        return (RATES * (t - np.sin(turn * t) / turn), RATES * (1.0 - np.cos(turn * t)),
                RATES * turn * np.sin(turn * t))

    simulation, off = Simulation(model, step), np.zeros(3)
    for k, t in enumerate(times):
        rows = (np.concatenate((part, np.zeros(model.n - 3))) for part in wanted(t))
        simulation.advance(1, model.inverse_dynamics(*rows)[:3])
        off = np.maximum(off, np.abs(simulation.q[:3] - wanted((k + 1) * step)[0]))
    claims.value('row M4', 'largest |theta - theta_d| with 2 pi / T in (44)',
                 [0.0432, 0.0719, 0.0266], off, 5e-5, unit='rad', note='as printed, with pi / T, '
                 'joint 1 still moves at 10 s, by 0.15 rad/s')


def test_shape_as_printed(claims):
    """(43) with zeta = m~ x / a, which they do not define."""
    for root in (1.8751040687, 4.6940911330):
        share = (np.sin(root) + np.sinh(root)) / (np.cos(root) + np.cosh(root))

        def shape(z, d, sign, share=share):
            """d-th derivative; sign + as printed."""
            turned = z + d * np.pi / 2.0
            even, odd = (np.cosh, np.sinh) if d % 2 == 0 else (np.sinh, np.cosh)
            return np.sin(turned) + sign * odd(z) - share * (np.cos(turned) + sign * even(z))

        what = f'm~ = {root:.4f}'
        claims.fact('Mohan-Saha (43)', f'{what}, as printed: shape at the root and at the tip',
                    'printed: 0 at the root', f'{shape(0.0, 0, 1.0):.3g} and '
                    f'{abs(shape(root, 0, 1.0)):.1g}', abs(shape(0.0, 0, 1.0)) > 1.0,
                    note='clamped at the far end')
        claims.bound('Mohan-Saha (43)', f'{what}, (sin - sinh) - sigma (cos - cosh): shape and '
                     'slope at the root, moment and shear at the tip', max(
                         abs(shape(0.0, 0, -1.0)), abs(shape(0.0, 1, -1.0)),
                         abs(shape(root, 2, -1.0)), abs(shape(root, 3, -1.0))), 1e-8,
                     note='as it is read here')


def _simulated(model: Model, step: float, end: float) -> dict[str, np.ndarray]:
    count = round(end / step)
    torques = rigid_torques(model, (np.arange(count) + 0.5) * step)
    simulation, states = Simulation(model, step), [np.zeros(model.n)]
    for tau in torques:
        simulation.advance(1, tau)
        states.append(simulation.q.copy())
    return {'time': np.arange(count + 1) * step, 'q': np.array(states)}


def test_stability(claims, arm, runs):
    """Row M5: 7.2 says that Cholesky fails after 5 s."""
    n, one, other = arm.n, runs['recursive'], runs['Cholesky']
    time, stiffness = one['time'], arm.stiffness_matrix()
    for name, run in runs.items():
        energy = np.array([sum(arm.energy(q, v)) for q, v in zip(run['q'], run['v'])])
        run['off'] = np.abs(energy - run['work'])
        claims.bound('Mohan-Saha 7.2, row M5', f'{name}: |energy - work| over 60 s, share of the '
                     'largest energy', run['off'].max() / energy.max(), 1e-8,
                     note='an error of the integrator, the same for both, see the next claims')
        residual = max(np.abs(
            arm.mass_matrix(q) @ a + arm.bias_force(q, v) + stiffness @ q
            - arm.input_matrix() @ tau).max() / max(1.0, np.abs(stiffness @ q).max())
            for q, v, a, tau in zip(run['q'][::50], run['v'][::50], run['a'][::50],
                                    run['tau'][::50]))
        claims.bound('own', f'{name}: residual of the equation of motion, share of the largest '
                     'force', residual, 1e-12)
    difference = np.abs(one['q'] - other['q']).max(axis=1)
    claims.bound('Mohan-Saha 7.2, row M5', 'coordinates, Cholesky by recursive, 10 s',
                 difference[time <= 10.0].max(), 4e-12, unit='rad, m')
    claims.bound('own', 'the same, 60 s', difference.max(), 1e-9, unit='rad, m',
                 note='rounding, grown by the motion')
    claims.bound('own', 'difference of |energy - work|', np.abs(one['off'] - other['off']).max(),
                 1e-8, unit='J')
    claims.fact('Mohan-Saha 7.2, row M5', 'non-recursive algorithm after 5 s',
                'printed: unstable', 'stable for 60 s', bool(np.isfinite(other['q']).all()
                                                            and difference.max() < 1e-9),
                note='not reproduced: both algorithms are as good; M of 9 coordinates has a '
                     f'condition number of {np.linalg.cond(arm.mass_matrix(np.zeros(n))):.1e}')
    _stability_figures(claims, runs)


def _stability_figures(claims, runs) -> None:
    figure, axes = plt.subplots(1, 4, figsize=(15, 3.2))
    for (name, run), line in zip(runs.items(), ('-', '--')):
        early = run['time'] <= 10.0
        time = run['time'][early]
        wanted = np.array([cycloid(t) for t in time])
        axes[0].plot(time, run['q'][early, 0] - wanted[:, 0, 0], line, label=name)
        power = np.einsum('ki,ki->k', run['tau'], run['v'][:, :3])[early]
        axes[1].plot(time, power, line, label=name)
        axes[2].plot(time, run['a'][early, 0], line, label=name)
        axes[3].semilogy(run['time'], np.maximum(run['off'], 1e-16), line, label=name)
    desired = np.einsum('ki,ki->k', run['tau'][early], wanted[:, 1])
    axes[1].plot(time, desired, ':', label='desired')
    for axis, title in zip(axes, ('joint 1 - desired, rad', 'power, W', 'acceleration 1, rad/s2',
                                  '|energy - work|, J')):
        axis.set(title=title, xlabel='s')
        axis.legend(fontsize=7)
    claims.figure('Mohan and Saha, figures 6, 7 and 8, and the energy balance over 60 s', figure)
    plt.close(figure)
