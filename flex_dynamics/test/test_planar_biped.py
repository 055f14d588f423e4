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
"""Mladenova's planar biped: its equations, and all phases against the constrained Model."""
from __future__ import annotations

import numpy as np
import pytest
from biped_machine import FEET, biped_robot, efforts, to_model

from flex_dynamics import DynamicsError, Model
from flex_dynamics.papers.biped_gait import Walk, bump, leg_angles, motion, smooth, state
from flex_dynamics.papers.planar_biped import (
    PHASES,
    Biped,
    bias,
    foot,
    foot_rate,
    mass_matrix,
    semi_inverse,
    standing,
)

BIPED, WALK = Biped(), Walk()
STANDS = {'swing': (), 'single': FEET[:1], 'double': FEET}


@pytest.fixture(scope='module')
def model():
    return Model(biped_robot(BIPED))


def test_equations_are_those_of_the_tree(model):
    T = to_model(model)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.uniform(-1.0, 1.0, (2, 7))
        np.testing.assert_allclose(T.T @ model.mass_matrix(T @ q) @ T, mass_matrix(BIPED, q),
                                   atol=1e-12)
        np.testing.assert_allclose(T.T @ model.bias_force(T @ q, T @ v), bias(BIPED, q, v),
                                   atol=1e-10)
        printed = mass_matrix(BIPED, q, printed=True)
        assert np.abs(printed - printed.T).max() > 1e-2


@pytest.mark.parametrize('phase', PHASES)
def test_phases_are_the_constrained_models(model, phase):
    T = to_model(model)
    t = 0.06 if phase == 'double' else 0.4
    q, v, legs = state(BIPED, WALK, t, np.array([0.1, -0.4]))
    found = semi_inverse(BIPED, phase, q, v, legs, 0.3)
    supported = model.with_supports(T @ q, STANDS[phase])
    tau = efforts(model, found.knee, found.hip)
    numeric = supported.constrained_dynamics(T @ q, T @ v, tau)
    np.testing.assert_allclose(numeric.acceleration, T @ found.acceleration, atol=1e-9)
    forces = supported.reactions(T @ q, T @ v, tau)
    for i, name in enumerate(FEET):
        np.testing.assert_allclose(forces[name].second[[0, 2]], found.reaction[i], atol=1e-8)
    np.testing.assert_allclose(found.acceleration[3:], legs, atol=1e-11)
    if phase == 'double':
        np.testing.assert_allclose(found.reaction[0], 0.3 * found.reaction.sum(axis=0), atol=1e-9)
    if phase == 'swing':
        assert not found.reaction.any()


def test_feet_and_their_rates():
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1.0, 1.0, (2, 7))
    for leg in range(2):
        places = [foot(BIPED, q + step * v, leg)[0] for step in (1e-4, -1e-4, 0.0)]
        np.testing.assert_allclose((places[0] - places[1]) / 2e-4, foot(BIPED, q, leg)[1] @ v,
                                   atol=1e-7)
        second = (places[0] + places[1] - 2.0 * places[2]) / 1e-8
        np.testing.assert_allclose(second, foot_rate(BIPED, q, v, leg), atol=1e-5)
    q, v = standing(BIPED, q, v, [0.3, 0.1])
    place, J = foot(BIPED, q, 0)
    np.testing.assert_allclose(place, [0.3, 0.1], atol=1e-15)
    np.testing.assert_allclose(J @ v, 0.0, atol=1e-15)


def test_gait_keeps_the_standing_feet_and_is_smooth():
    for t in np.linspace(0.0, WALK.period, 13):
        q, v, legs = state(BIPED, WALK, t, np.zeros(2))
        place, J = foot(BIPED, q, 0)
        np.testing.assert_allclose(place, 0.0, atol=1e-14)
        np.testing.assert_allclose(J @ v, 0.0, atol=1e-13)
        acceleration = J[:, 3:] @ legs + foot_rate(BIPED, q, v, 0)
        np.testing.assert_allclose(acceleration, 0.0, atol=1e-12)
    start, end = state(BIPED, WALK, 0.0, np.zeros(2)), state(BIPED, WALK, WALK.period, np.zeros(2))
    for before, after in zip(start, end, strict=True):      # legs change roles
        np.testing.assert_allclose(before[-4:], np.roll(after[-4:], 2), atol=1e-12)
    for shape in (smooth, bump):
        x = np.linspace(0.1, 0.9, 5)
        for k in range(2):
            slope = [(shape(y + 1e-5)[k] - shape(y - 1e-5)[k]) / 2e-5 for y in x]
            np.testing.assert_allclose(slope, [shape(y)[k + 1] for y in x], atol=1e-6)


def test_reactions_are_continuous_where_phases_change():
    trunk = np.array([0.05, 0.2])
    one, two = (motion(BIPED, WALK, WALK.double, trunk, phase) for phase in ('single', 'double'))
    np.testing.assert_allclose(one.reaction, two.reaction, atol=1e-8)
    # At the start of a step the rear foot carries all, as at the end of the step before.
    start = motion(BIPED, WALK, 0.0, trunk, 'double')
    end = motion(BIPED, WALK, WALK.period, trunk, 'single')
    np.testing.assert_allclose(start.reaction[::-1], end.reaction, atol=1e-8)


def test_bad_input_is_said():
    with pytest.raises(DynamicsError, match="found 'hop'"):
        semi_inverse(BIPED, 'hop', np.zeros(7), np.zeros(7), np.zeros(4))
    with pytest.raises(DynamicsError, match='steps shorter'):
        leg_angles(BIPED, np.array([0.0, -0.9]), np.zeros(2), np.zeros(2))
