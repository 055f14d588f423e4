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
"""Elastic joints, alone and under flexible links; joint friction."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from small_robots import EIZ, LENGTH, RHO_A, beam_robot, body_robot

from flex_description import load_robot
from flex_dynamics import Model, Simulation, simulate


def test_two_inertias_on_a_spring():
    """sqrt(K (1/I + 1/(N^2 Im))): a link of 0.1 kg m2, and the rotor as the gear shows it."""
    gear, rotor, spring = 20.0, 5e-4, 80.0
    model = Model(body_robot(outside=f'<flexible_joint joint="joint1" stiffness="{spring}" '
                             f'motor_inertia="{rotor}" gear_ratio="{gear}"/>'))
    assert model.names == ('joint1', 'joint1/motor')
    found, _ = model.frequencies(np.zeros(2))
    expected = np.sqrt(spring * (1.0 / 0.1 + 1.0 / (gear**2 * rotor)))
    assert found == pytest.approx([0.0, expected], rel=1e-12, abs=1e-5)


def test_effort_is_the_motor_s_torque_times_the_gear_ratio():
    """In equilibrium the link feels the effort, and the motor winds the spring up."""
    gear, spring = 20.0, 80.0
    model = Model(body_robot(gravity='0 -9.81 0', centre='0.3 0 0', outside=f'<flexible_joint '
                             f'joint="joint1" stiffness="{spring}" motor_inertia="1e-3" '
                             f'gear_ratio="{gear}"/>'))
    q, tau = model.statics([0.4])
    weight = 2.0 * 9.81 * 0.3 * np.cos(0.4)
    assert tau == pytest.approx([weight], rel=1e-10)
    assert q[1] / gear - q[0] == pytest.approx(weight / spring, rel=1e-10)
    assert model.forward_dynamics(q, np.zeros(2), tau) == pytest.approx([0.0, 0.0], abs=1e-8)


def test_vibration_of_two_inertias_in_time():
    model = Model(load_robot('mladenova_arm'))
    rate = np.sqrt(50.0 * (3.0 + 1.0 / 0.02))
    # The mode in which the centre of both inertias rests; gravity is slow beside it.
    q = np.array([0.02, -1.0 / 3.0]) * 1e-3
    run = simulate(model, 0.5, q=q, step=1e-4)
    crossings = run.time[1:][np.diff(np.sign(run.q[:, 1])) != 0]
    assert np.pi / np.diff(crossings).mean() == pytest.approx(rate, rel=2e-3)


def characteristic(rate: float, spring: float, rotor: float) -> float:
    """Determinant of a free-ended beam whose root is held by a spring and a free rotor.

    The rotor gives the root the torque k w2 J / (k - w2 J) times its slope: - E I v'' = that v'.
    """
    b = (rate**2 * RHO_A / EIZ) ** 0.25
    torque = spring * rate**2 * rotor / (spring - rate**2 * rotor)
    c, s, ch, sh = np.cos(b * LENGTH), np.sin(b * LENGTH), np.cosh(b * LENGTH), np.sinh(b * LENGTH)
    # v = A (cosh - cos) + B sinh + C sin has v(0) = 0; v''(0) = 2 b^2 A, v'(0) = b (B + C).
    return np.linalg.det([[2.0 * EIZ * b, torque, torque], [ch + c, sh, -s], [sh - s, ch, -c]])


def test_elastic_joint_under_a_flexible_link():
    spring, rotor = 60.0, 0.4
    model = Model(beam_robot(
        'basis="craig-bampton" bending_y="8" bending_z="0" twist="0"', joint='continuous',
        outside=f'<flexible_joint joint="joint1" stiffness="{spring}" motor_inertia="{rotor}" '
                'gear_ratio="1"/>'))
    grid = np.concatenate((np.linspace(1.0, np.sqrt(spring / rotor) - 1e-6, 400),
                           np.linspace(np.sqrt(spring / rotor) + 1e-6, 90.0, 2000)))
    values = [characteristic(rate, spring, rotor) for rate in grid]
    roots = [brentq(characteristic, grid[k], grid[k + 1], args=(spring, rotor))
             for k in range(len(grid) - 1)
             if values[k] * values[k + 1] < 0.0 and grid[k + 1] - grid[k] > 1e-5]
    found, _ = model.frequencies(np.zeros(model.n))
    assert found[0] < 1e-3
    assert found[1:4] == pytest.approx(roots[:3], rel=1e-3)


def test_coulomb_friction_stops_a_wheel_in_time():
    """Speed falls by t c / I: 2 rad/s in 0.5 s with 0.4 N m; then it stays at rest."""
    model = Model(body_robot(dynamics='<dynamics friction="0.4"/>'))
    simulation = Simulation(model, 1e-3, v=[2.0])
    simulation.advance(250)
    assert simulation.v == pytest.approx([1.0], rel=1e-3)
    simulation.advance(500)
    assert abs(simulation.v[0]) < 1e-3
    rest = simulation.q[0]
    simulation.advance(1000, [0.0])
    assert rest == pytest.approx(0.5, abs=2e-3)
    assert simulation.q[0] == pytest.approx(rest, abs=1e-4)
    a = model.forward_dynamics([0.0], [1.0], [0.0])
    assert a == pytest.approx([-4.0], rel=1e-9)


def test_viscous_friction_slows_a_wheel_exponentially():
    model = Model(body_robot(dynamics='<dynamics damping="0.3"/>'))
    run = simulate(model, 1.0, v=[2.0])
    assert run.v[-1, 0] == pytest.approx(2.0 * np.exp(-3.0), rel=1e-5)
    assert model.damping_matrix() == pytest.approx(0.3)
