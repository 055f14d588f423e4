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
"""Attitude in vector-parameters, and Newton's and Euler's equations in screws."""
from __future__ import annotations

import numpy as np
import pytest

from flex_dynamics.papers import vector_parameters as vp
from flex_dynamics.papers.attitude import attitude_rates, body_momentum, rate_matrix
from flex_dynamics.papers.newton_euler_screws import force_screw, generalized_inertia

RNG = np.random.default_rng(8)
CASES = [RNG.normal(size=(6, 3)) for _ in range(20)]


def tensor(rows):
    return rows.T @ rows + np.eye(3)


@pytest.mark.parametrize('rows', CASES)
def test_rates_are_those_of_momentum_energy_and_rotation(rows):
    x, c, moment = rows[:3]
    inertia = tensor(rows[3:])
    omega = np.linalg.solve(inertia, x)
    x_rate, c_rate = attitude_rates(inertia, x, c, moment)
    # The momentum in the fixed frame changes by the moment, the energy by its power.
    assert x_rate + np.cross(omega, x) == pytest.approx(moment)
    assert omega @ x_rate == pytest.approx(omega @ moment)
    assert vp.angular_velocity(c, c_rate) == pytest.approx(vp.rotation(c) @ omega)
    assert body_momentum(inertia, c, c_rate) == pytest.approx(x)
    assert rate_matrix(c) @ omega == pytest.approx(vp.parameter_rate(c, omega))


@pytest.mark.parametrize('rows', CASES)
def test_a_screw_of_force_is_what_particles_need(rows):
    places, (V, omega, a) = rows[:3], rows[3:]
    alpha, masses = places[0] - V, np.array([0.5, 1.0, 2.0])
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places))
    phi = generalized_inertia(masses.sum(), masses @ places / masses.sum(), inertia)
    forces = masses[:, None] * (a + np.cross(alpha, places)
                                + np.cross(omega, np.cross(omega, places)))
    found = force_screw(phi, np.concatenate((V, omega)),
                        np.concatenate((a - np.cross(omega, V), alpha)))
    assert found == pytest.approx(np.concatenate((forces.sum(0),
                                                  np.cross(places, forces).sum(0))))
