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
"""Zeros and phase: Lin and Lewis 4.2, and what textbooks know."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_robots import beam_robot
from symbolic_robots import derived, one_link, rigid_flexible

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.symbolic import SymbolicModel, zero_dynamics


def test_clamped_free_joint_output_is_marginal():
    """Printed: +-j76.98, +-j1.0914; recomputed +-j76.954, +-j1.09144."""
    found = zero_dynamics(Model(one_link('clamped-free', 2)))
    assert found.phase == 'marginally stable zeros' and found.minimum_phase
    assert not found.zeros.real.any()
    assert np.sort(found.zeros.imag) == pytest.approx([-76.954, -1.09144, 1.09144, 76.954],
                                                      rel=2e-5)
    assert 'joint1: marginally stable zeros' in str(found) and '+j1.0914' in str(found)


def test_pinned_pinned_joint_output_is_non_minimum_phase():
    """Recomputed +-56.424, +-163.961; the printed ones have a slip of a factor two."""
    found = zero_dynamics(Model(one_link('pinned-pinned', 2)))
    assert found.phase == 'non-minimum phase' and not found.minimum_phase
    assert np.sort(found.zeros.real) == pytest.approx([-163.961, -56.424, 56.424, 163.961],
                                                      rel=2e-5)
    assert not found.zeros.imag.any() and 'must grow' in str(found)


def test_poles_are_the_fifteen_eigenvalues():
    """Squares of the printed frequencies, joint free; the rigid motion has two zero poles."""
    found = zero_dynamics(Model(one_link('pinned-pinned', 15)))
    squares = np.sort(np.abs(found.poles)**2)[2::2]
    printed = [2320.6445, 3.7037e4, 1.8741e5, 5.9221e5, 1.4457e6, 2.9977e6, 5.5535e6, 9.4738e6,
               1.5175e7, 2.3129e7, 3.3863e7, 4.7960e7, 6.6058e7, 8.8851e7, 1.1709e8]
    assert squares == pytest.approx(printed, rel=5e-5)


@pytest.mark.parametrize('basis, phase', [('pinned-pinned', 'non-minimum phase'),
                                          ('clamped-free', 'marginally stable zeros')])
def test_two_links_in_space_have_the_same_phases(basis, phase):
    """Lin and Lewis 4.3: azimuth and elevation, gravity left out as in the paper."""
    model = Model(replace(rigid_flexible(basis), gravity=np.zeros(3)))
    assert zero_dynamics(model, q=[0.2, 0.4]).phase == phase


def test_tip_of_a_flexible_link_is_non_minimum_phase():
    """A hub and a beam: the tip moves against the torque first."""
    model = Model(beam_robot('basis="clamped-free" bending_y="3" bending_z="0" twist="0"',
                             joint='continuous'))
    tip = zero_dynamics(model, 'tip', frame='tip')
    assert tip.outputs == ('tip/y',) and tip.phase == 'non-minimum phase'
    assert zero_dynamics(model).minimum_phase
    row = np.zeros((1, model.n))
    row[0, 0] = 1.0
    assert zero_dynamics(model, row).zeros == pytest.approx(zero_dynamics(model).zeros)
    same = zero_dynamics(model, 'tip', frame='beam', x=2.0)
    assert same.zeros == pytest.approx(tip.zeros, rel=1e-9)


def test_damping_moves_the_zeros_to_the_left():
    robot = beam_robot('basis="clamped-free" bending_y="2" bending_z="0" twist="0"',
                       joint='continuous', inside='<damping ratio="0.02"/>')
    found = zero_dynamics(Model(robot))
    assert found.phase == 'minimum phase' and found.zeros.real.max() < 0.0
    locked = Model(robot).frequencies(np.zeros(3), 'locked')[0]
    assert np.abs(found.zeros[::2]) == pytest.approx(locked, rel=1e-3)
    assert zero_dynamics(Model(robot), damping=False).phase == 'marginally stable zeros'


def test_elastic_joint_has_no_zeros_at_its_link():
    found = zero_dynamics(Model(load_robot('mladenova_arm')))
    assert len(found.zeros) == 0 and len(found.poles) == 4
    assert str(found) == 'output joint1: minimum phase (no zeros)'


def test_a_symbolic_model_has_the_same_zeros():
    numeric = zero_dynamics(Model(load_robot('lin_lewis_rfr'), 'first'), q=[0.1, 0.7, -0.5])
    symbolic = SymbolicModel(derived('lin_lewis_rfr', 'lagrange'), 'numpy')
    assert zero_dynamics(symbolic, q=[0.1, 0.7, -0.5]).zeros == pytest.approx(numeric.zeros,
                                                                             rel=1e-7)


def test_what_is_no_output_is_refused():
    model = Model(load_robot('lin_lewis_rfr'))
    for arguments, words in [(('elbow',), "expected 'joints', 'tip' or rows"),
                             ((np.zeros((2, 4)),), 'expected 3 rows of 4'),
                             ((np.zeros((3, 4)),), 'do not depend on one another'),
                             (('tip',), 'choose another pose')]:
        with pytest.raises(DynamicsError, match=words):
            zero_dynamics(model, *arguments)
    with pytest.raises(DynamicsError, match='axes: expected 3'):
        zero_dynamics(model, 'tip', q=[0.1, 0.5, 0.5], axes=[0, 1])
