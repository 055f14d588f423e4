"""The fixed-step integrator over its step: what unresolved modes cost, and the energy balance.

The 4-joint arm is let go undeformed, so that all its modes ring, without damping, up to 1.5 kHz.
Speeds of its joints at 0.5 s of free fall, every 10 ms, against steps of 2 us.
"""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model, Simulation

SOURCE = 'Convergence'
START = np.array([0.0, np.pi / 6, 2 * np.pi / 3, np.pi / 6])
STEPS = np.array([1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5])
FINEST, END, SAMPLE = 2e-6, 0.5, 0.01


def joint_speeds(model: Model, step: float, balance: bool) -> np.ndarray:
    """(50, 4) rad/s."""
    q = np.zeros(model.n)
    q[:4] = START
    simulation = Simulation(model, step, q, balance=balance)
    speeds = []
    for _ in range(round(END / SAMPLE)):
        simulation.advance(round(SAMPLE / step))
        speeds.append(simulation.v[:4].copy())
    return np.array(speeds)


def phase_errors(model: Model, step: float) -> np.ndarray:
    """What the modes of the start may err by (modes,), rad/s: gravity, put on at once, makes a
    mode ring with phi'g / w; the midpoint rule turns it by 2 atan(w h / 2) a step, not by w h."""
    q = np.zeros(model.n)
    q[:4] = START
    frequencies, shapes = model.frequencies(q)
    rings = frequencies > 1.0
    w, shapes = frequencies[rings], shapes[:, rings]
    size = np.abs(shapes[:4]).max(axis=0) * np.abs(shapes.T @ model.gravity_force(q)) / w
    late = np.abs(w - 2.0 / step * np.arctan(0.5 * w * step)) * END
    return size * 2.0 * np.sin(0.5 * np.minimum(late, np.pi))


def test_error_over_the_step(claims):
    model = Model(load_robot('cibicik_arm'))
    reference = joint_speeds(model, FINEST, False)
    errors = {balance: np.array([np.abs(joint_speeds(model, step, balance) - reference).max()
                                 for step in STEPS]) for balance in (True, False)}
    expected = np.array([phase_errors(model, step).sum() for step in STEPS])
    figure, axis = plt.subplots(figsize=(7, 4.5))
    axis.loglog(STEPS, errors[True], 'o-', label='with the energy balance')
    axis.loglog(STEPS, errors[False], 'x--', label='without it')
    axis.loglog(STEPS, expected, ':', label='phase errors of all modes, linear theory')
    axis.loglog(STEPS, errors[True][-1] * (STEPS / STEPS[-1]) ** 2, color='0.7',
                label='second order')
    for frequency in model.frequencies(np.concatenate((START, np.zeros(model.n - 4))))[0]:
        if frequency > 1.0:
            axis.axvline(1.0 / frequency, color='0.9', zorder=0)
    axis.set(xlabel='step, s (grey: 1 / w of the modes)', ylabel='largest error, rad/s',
             title='Joint speeds in 0.5 s of free fall, undamped 4-joint arm')
    axis.set_ylim(errors[True].min() / 3.0, 3.0)
    axis.legend(fontsize=8)
    claims.figure('Error of the fixed-step integrator over its step', figure)
    plt.close(figure)
    claims.bound(SOURCE, 'share of the energy balance in the error at 1 ms',
                 abs(errors[True][0] - errors[False][0]) / errors[False][0], 1e-3)
    claims.bound(SOURCE, 'error at 1 ms', errors[True][0], 0.13, unit='rad/s',
                 note='0.01 is not reached: modes of 55 to 543 Hz, of 0.01 to 0.1 rad/s each')
    claims.bound(SOURCE, 'error at 1 ms by the phase errors of the modes', errors[True][0]
                 / expected[0], 1.0)
    claims.bound(SOURCE, 'error at 20 us', errors[True][STEPS == 2e-5][0], 0.01, unit='rad/s')
    claims.value(SOURCE, 'order below 20 us', 2.0, np.log2(errors[True][-2] / errors[True][-1]),
                 0.1)


def test_damping_takes_the_error_away(claims):
    """With one per cent of the critical damping in every mode, as real arms have and more."""
    robot = load_robot('cibicik_arm', overlay={'flexible': {
        link: {'damping': {'ratio': 0.01}} for link in ('link2', 'link3')}})
    model = Model(robot)
    reference = joint_speeds(model, FINEST * 5, False)
    error = np.abs(joint_speeds(model, 1e-3, True) - reference)
    claims.bound(SOURCE, 'damping 1 %: error at 1 ms, last tenth of a second', error[-10:].max(),
                 0.05, unit='rad/s')
