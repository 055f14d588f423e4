# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""Numbers of the papers' robots, recomputed independently of this package."""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, simulate

# Cibicik and Egeland, 16 coordinates, start pose: Hz.
START = np.array([0.0, np.pi / 6, 2.0 * np.pi / 3, np.pi / 6])
LOCKED = [3.960, 4.294, 8.221, 8.483, 47.86, 47.95, 71.62, 86.29, 226.2, 306.4, 910.0, 1064.0]
FREE = [7.441, 35.27, 44.97, 55.07, 59.39, 162.1, 193.9, 226.2, 255.5, 322.5, 916.9, 1064.0]
HELD = [1.51, 1.91, 2.56, 7.52, 14.6, 38.4]
STIFFNESS = np.array([4000.0, 12000.0, 6000.0, 400.0])
TARGET = np.array([np.pi / 4, *3 * [np.pi / 3]])


@pytest.fixture(scope='module')
def paper_arm():
    return Model(load_robot('cibicik_arm_paper'))


def test_frequencies_of_the_four_joint_arm(paper_arm):
    q = np.zeros(paper_arm.n)
    q[:4] = START
    hertz = 2.0 * np.pi
    locked = paper_arm.frequencies(q, 'locked')[0] / hertz
    free = paper_arm.frequencies(q)[0] / hertz
    held = paper_arm.frequencies(q, joint_stiffness=STIFFNESS)[0] / hertz
    # within half a digit of the numbers above, as test/validate claims one by one
    assert locked == pytest.approx(LOCKED, rel=3e-4)
    assert free[:4].max() < 1e-4
    assert free[4:] == pytest.approx(FREE, rel=4.1e-4)
    assert held[:6] == pytest.approx(HELD, rel=2.3e-3)


def at_rest(model) -> np.ndarray:
    """Equilibrium of the drooping arm under its servo, by iteration over the droop."""
    joints = TARGET.copy()
    for _ in range(40):
        q, effort = model.statics(joints)
        joints = TARGET - effort / STIFFNESS
    return q


def test_four_joint_arm_at_rest():
    """Against converged nonlinear beams: sag of both links and droop of the joints."""
    model = Model(load_robot('cibicik_arm'))
    q = at_rest(model)
    # Joint 1 carries no weight. The digits that are given allow half of the last.
    assert q[:4] == pytest.approx([np.pi / 4, 1.08531, 1.06795, 1.04639], abs=5e-6)
    for link, length, sag in (('link2', 2.0, 17.38e-3), ('link3', 1.8, 3.01e-3)):
        root, tip = model.pose(q, link), model.pose(q, link, length)
        straight = root[:3, 3] + length * root[:3, 0]
        assert np.linalg.norm(tip[:3, 3] - straight) == pytest.approx(sag, abs=5e-6)


def test_four_joint_arm_of_the_paper_droops_alike(paper_arm):
    assert at_rest(paper_arm)[:4] == pytest.approx([np.pi / 4, 1.08531, 1.06796, 1.04640],
                                                   abs=5e-6)


RATES, PERIODS = np.array([0.075, 0.05, 0.1]), np.array([10.0, 5.0, 5.0])


def cycloid(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(44) of Mohan and Saha: angles, speeds, accelerations."""
    turn = np.pi / PERIODS
    return (RATES * (t - np.sin(turn * t) / turn), RATES * (1.0 - np.cos(turn * t)),
            RATES * turn * np.sin(turn * t))


@pytest.fixture(scope='module')
def rigid_efforts():
    """Inverse dynamics of the rigid arm, whose coordinates are the flexible one's joints."""
    model = Model(load_robot('canadarm_paper'))

    def efforts(t):
        angle, speed, acceleration = (np.concatenate((part, np.zeros(model.n - 3)))
                                      for part in cycloid(t))
        return model.inverse_dynamics(angle, speed, acceleration)[:3]
    return efforts


def deflections_of(model, run) -> np.ndarray:
    """Ends of the three links (k, 3), m, off their roots' axes."""
    columns = []
    for link, length in (('link1', 6.0), ('link2', 7.0), ('link3', 2.0)):
        shapes = model.beam(link).flexible.bend_y(np.array([length]))[:, 0]
        own = [k for k, n in enumerate(model.names) if n.startswith(link + '/')]
        columns.append(run.q[:, own] @ shapes)
    return np.array(columns).T


# The digits given, and 5e-6 rad that change from steps of 1 ms to 0.5 ms. Second orders differ by
# products that they keep, a share of (b / L)^2 = (0.155 / 6)^2 of the 0.035 rad.
@pytest.mark.parametrize('order, errors, tolerance', [
    ('first', [0.02121, 0.03496, 0.01226], 1e-5), ('second', [0.02121, 0.03476, 0.01246], 3e-5)])
def test_canadarm_under_rigid_efforts(rigid_efforts, order, errors, tolerance):
    """Row M4."""
    model = Model(load_robot('canadarm_paper'), order)
    # Held over a step, so taken in its middle.
    run = simulate(model, 10.0, tau=lambda t, q, v: rigid_efforts(t + 5e-4), step=1e-3)
    wanted = np.array([cycloid(t)[0] for t in run.time])
    assert np.abs(run.q[:, :3] - wanted).max(axis=0) == pytest.approx(errors, abs=tolerance)
    if order == 'first':
        for found, expected, digit in zip(np.abs(deflections_of(model, run)).max(axis=0),
                                          (0.1528, 0.0897, 0.00061), (1e-4, 1e-4, 1e-5)):
            assert found == pytest.approx(expected, abs=0.5 * digit)


def test_canadarm_against_converged_beams(rigid_efforts):
    """Six shapes a link, by Exudyn's 8 ANCF elements a link (test/validate/test_exudyn.py).

    Deflections are means over 50 ms: above 20 Hz undamped vibrations ride on them, 0.018 of the
    0.6 mm of link 3, whose phase at the peak no program here agrees on with another.
    """
    urdf = load_robot('canadarm').urdf.replace('bending_y="3"', 'bending_y="6"')
    model = Model(load_robot(urdf))
    run = simulate(model, 10.0, tau=lambda t, q, v: rigid_efforts(t + 5e-4), step=1e-3)
    # Five digits; three shapes are 2.2e-4 rad off, four 2.5e-5, six 1e-5.
    assert run.q[-1, :3] == pytest.approx([0.75180, 0.50188, 0.99433], abs=1.5e-5)
    mean = [np.abs(np.convolve(y, np.ones(50) / 50, 'valid')).max()
            for y in deflections_of(model, run).T]
    # Exudyn's move by 0.1 % from 4 elements a link to 8.
    assert mean == pytest.approx([0.154860, 0.090370, 0.00060751], rel=1e-3)


def test_links_of_de_luca_and_siciliano():
    """Clamped frequencies of either link: 0.4797, 1.7966 and 2.1783, 15.9145 Hz."""
    model = Model(load_robot('de_luca_siciliano'))
    q = np.zeros(model.n)
    q[1] = np.pi / 2.0                     # link 2 across: no coupling of its mass and inertia
    mass, stiffness = model.mass_matrix(q), model.stiffness_matrix()
    for link, expected in (('link1', [0.4797, 1.7966]), ('link2', [2.1783, 15.9145])):
        k = [i for i, name in enumerate(model.names) if name.startswith(link + '/')]
        block = np.linalg.solve(mass[np.ix_(k, k)], stiffness[np.ix_(k, k)])
        hertz = np.sqrt(np.sort(np.linalg.eigvals(block).real)) / (2.0 * np.pi)
        # Link 1 is modelled with the second link's inertia at 90 degrees, as they did.
        assert hertz == pytest.approx(expected, rel=1e-4)


def test_truncated_mass_matrix_of_the_paper_gives_out():
    """Row C2: order `linear` says where its M stops being positive definite."""
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    q = np.zeros(model.n)
    q[1:4], q[model.names.index('link2/bend_z/1')] = 1.07, 0.09
    with pytest.raises(DynamicsError, match='not positive definite'):
        model.forward_dynamics(q, np.zeros(model.n), np.zeros(4))
