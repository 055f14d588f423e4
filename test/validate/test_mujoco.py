"""MuJoCo as a witness: the 4-joint arm with its beams cut into rigid segments on springs.

A lumped arm nears the beams with the square of the segments' length, so the difference to flex
must fall to a quarter where segments are halved, down to what the mode truncation leaves.
"""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from manoeuvre import TIMES, run_flex, sampled, tip_error, tips_of  # noqa: E402
from mujoco_arm import run, segmented_arm  # noqa: E402

SOURCE = 'Cibicik arm, MuJoCo'
OUR_ERROR = 5.7e-5         # m, root mean square, against converged beams (test_exudyn.py)
STEP = 6.25e-5      # s; stiff dampers act on light ends there


def test_manoeuvre(claims):
    robot = load_robot('cibicik_arm')
    model = Model(robot)
    tips = tips_of(model, run_flex(model, 0.001))
    found, lumped = {}, {}
    for segments in (4, 8):
        lumped[segments] = sampled(*run(segmented_arm(robot, segments, STEP)))
        found[segments] = tip_error(lumped[segments], tips)
    claims.bound(SOURCE, 'distance of the tips over 6 s, 8 segments a link',
                 1e3 * found[8][0], 1.5, unit='mm',
                 note='the lumped arm is 1.2 mm from converged nonlinear beams, flex 0.24 mm')
    claims.bound(SOURCE, 'the same, root mean square', 1e3 * found[8][1], 0.3, unit='mm')
    claims.value(SOURCE, 'root mean square with 4 segments by that with 8: lumping is of second '
                 'order', 4.0, found[4][1] / found[8][1], 3.0 * OUR_ERROR / found[8][1],
                 note='allowed: our own truncation, 0.057 mm, may add to both or take from both')
    figure, axes = plt.subplots(figsize=(7, 3))
    for segments, theirs in lumped.items():
        axes.plot(TIMES, 1e3 * np.linalg.norm(theirs - tips, axis=1), label=f'{segments} segments')
    axes.set(xlabel='s', ylabel='mm', title='Distance of the tips, MuJoCo and flex')
    axes.legend()
    claims.figure('The 4-joint arm in its manoeuvre, lumped in MuJoCo', figure)
