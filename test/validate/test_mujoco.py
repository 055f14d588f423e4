"""MuJoCo as a witness: the 4-joint arm with its beams cut into rigid segments on springs.

A lumped arm nears the beams with the square of its segments' length, and MuJoCo's motion nears the
true one with its step. So arms of 4, 6 and 8 segments a link and a run with half the step have a
limit, which is found without flex: the beams as MuJoCo has them. Flex must be as near to it as to
Exudyn's beams.
"""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.optimize import brentq

from flex_description import load_robot
from flex_dynamics import Model

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from manoeuvre import TIMES, run_flex, sampled, tip_error, tips_of  # noqa: E402
from mujoco_arm import run, segmented_arm  # noqa: E402

SOURCE = 'Cibicik arm, MuJoCo'
STEP = 6.25e-5      # s; stiff dampers act on light ends there
MOST, MOST_RMS = 0.5, 0.1            # mm, what test_exudyn.py allows against its beams
OUR_ERROR, OUR_RMS = 0.24, 0.057     # mm, what it finds


def ratio(order: float) -> float:
    """Of what 4 and 6 segments differ by to what 6 and 8 do, if lumping is of this order."""
    return (4.0**-order - 6.0**-order) / (6.0**-order - 8.0**-order)


def millimetres(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    largest, rms = tip_error(one, other)
    return 1e3 * largest, 1e3 * rms


def test_manoeuvre(claims):
    robot = load_robot('cibicik_arm')
    model = Model(robot)
    tips = tips_of(model, run_flex(model, 0.001))
    lumped = {count: sampled(*run(segmented_arm(robot, count, STEP))) for count in (4, 6, 8)}
    found = millimetres(lumped[4], lumped[6])[1] / millimetres(lumped[6], lumped[8])[1]
    claims.value(SOURCE, 'order of lumping, from 4, 6 and 8 segments a link', 2.0,
                 brentq(lambda order: ratio(order) - found, 0.5, 6.0), 0.1,
                 note='of MuJoCo alone: rms distance of the tips')
    # First order of the step: what half of it changes, twice; it is that of any segments.
    halved = sampled(*run(segmented_arm(robot, 4, STEP / 2.0)))
    limit = (64.0 * lumped[8] - 36.0 * lumped[6]) / 28.0 + 2.0 * (halved - lumped[4])
    largest, rms = millimetres(tips, limit)
    note = 'allowed: what is allowed against the beams of Exudyn, mode truncation'
    claims.bound(SOURCE, 'distance of the tip from the limit of short segments and short steps, '
                 '6 s', largest, MOST, unit='mm', note=note)
    claims.bound(SOURCE, 'the same, root mean square', rms, MOST_RMS, unit='mm', note=note)
    for what, expected, ours, near in zip(
            ('largest', 'rms'), (1.2, 0.20), millimetres(lumped[8], tips),
            (OUR_ERROR + 0.05, OUR_RMS + 0.005)):
        claims.value(SOURCE, f'{what} distance of 8 segments a link from flex', expected, ours,
                     near, unit='mm', note='expected: measured from converged nonlinear beams; '
                     'flex is itself that far from them, and half a digit')
    figure, axes = plt.subplots(figsize=(7, 3))
    for words, theirs in (*((f'{count} segments', lumped[count]) for count in lumped),
                          ('their limit', limit)):
        axes.semilogy(TIMES[1:], 1e3 * np.linalg.norm(theirs - tips, axis=1)[1:], lw=1,
                      label=words)
    axes.set(xlabel='s', ylabel='mm', title='Distance of the tips, MuJoCo and flex')
    axes.legend(fontsize=8)
    claims.figure('The 4-joint arm in its manoeuvre, lumped in MuJoCo', figure)
    plt.close(figure)
