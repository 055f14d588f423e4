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
"""An elastic prismatic joint: its motor turns (spindle, rack, rope), its gear is in rad/m.

By hand: a column turns about z; a carriage slides along z at a distance R, driven by a spindle.

    T = 1/2 (Ip + Jc + mc R2) th'2 + 1/2 mc p'2 + 1/2 Im (th' + m')2
    V = 1/2 K (m / N - p)2 + mc g p
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from field_witness import Witness
from random_robots import random_robot, random_state

from flex_description import load_robot
from flex_description.robot import FlexibleJoint
from flex_dynamics import Model, Simulation, simulate
from flex_dynamics.symbolic import derive

IP, JC, MC, R = 0.8, 0.05, 3.0, 0.4
K, D, IM, N, G = 4e4, 25.0, 2e-4, 300.0, 9.81
TURNING = IP + JC + MC * R**2          # of column and carriage about z


def robot(gravity=G, damping=D, axis='0 0 1'):
    return load_robot(f"""<robot name="column">
      <link name="base"/>
      <link name="column"><inertial><mass value="5"/>
        <inertia ixx="1" iyy="1" izz="{IP}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="carriage"><inertial><mass value="{MC}"/>
        <inertia ixx="0.1" iyy="0.1" izz="{JC}" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="turn" type="continuous"><parent link="base"/><child link="column"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="lift" type="prismatic"><parent link="column"/><child link="carriage"/>
        <origin xyz="{R} 0 0"/><axis xyz="{axis}"/>
        <limit lower="-2" upper="2" effort="1e4" velocity="9"/></joint>
      <flexible_joint joint="lift" stiffness="{K}" damping="{damping}" motor_inertia="{IM}"
        gear_ratio="{N}"/>
      <gravity xyz="0 0 {-gravity}"/></robot>""")


@pytest.fixture(scope='module')
def column() -> Model:
    return Model(robot())


def by_hand(q, v, tau) -> np.ndarray:
    """Accelerations of turn, lift and motor, from T and V above."""
    _, p, m = q
    _, speed, spin = v
    spring = K * (m / N - p) + D * (spin / N - speed)
    on_motor = (tau[1] - spring) / N
    # TURNING th'' + Im (th'' + m'') = tau0,  Im (th'' + m'') = on_motor
    turn = (tau[0] - on_motor) / TURNING
    return np.array([turn, spring / MC - G, on_motor / IM - turn])


def test_accelerations_are_those_by_hand(column):
    assert column.names == ('turn', 'lift', 'lift/motor')
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.normal(size=3), rng.normal(size=3)
        tau = 100.0 * rng.normal(size=2)
        expected = by_hand(q, v, tau)
        np.testing.assert_allclose(column.forward_dynamics(q, v, tau), expected, rtol=1e-11)
        force = column.inverse_dynamics(q, v, expected)
        np.testing.assert_allclose(force, [tau[0], 0.0, tau[1] / N], rtol=1e-9, atol=1e-9)


def test_terms(column):
    terms = column.terms(np.array([0.7, 0.1, 40.0]), np.zeros(3))
    np.testing.assert_allclose(terms.M, [[TURNING + IM, 0.0, IM], [0.0, MC, 0.0], [IM, 0.0, IM]],
                               rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(terms.K, [[0.0, 0.0, 0.0], [0.0, K, -K / N],
                                         [0.0, -K / N, K / N**2]], rtol=1e-14)
    np.testing.assert_allclose(terms.B, [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0 / N]], rtol=1e-14)
    np.testing.assert_allclose(terms.g, [0.0, MC * G, 0.0], atol=1e-12)


def test_reflected_mass(column):
    """Stiff spring: 18 kg of rotor beside 3 kg; frequency sqrt(K (1/mc + 1/(Im N2)))."""
    reflected = IM * N**2
    assert reflected == pytest.approx(18.0)
    effort = 50.0
    # Both move alike: sum of forces by the sum of masses, the column held.
    held = Model(replace(robot(0.0), joints=tuple(
        replace(joint, type='fixed') if joint.name == 'turn' else joint
        for joint in robot(0.0).joints)))
    together = np.array([1.0, N]) @ held.mass_matrix(np.zeros(2)) @ np.array([1.0, N])
    assert together == pytest.approx(MC + reflected, rel=1e-12)
    assert held.frequencies(np.zeros(2))[0][1] == pytest.approx(
        np.sqrt(K * (1.0 / MC + 1.0 / reflected)), rel=1e-12)
    run = simulate(held.with_gravity([0.0, 0.0, 0.0]), 0.5, tau=[effort], step=1e-4)
    assert run.of('lift')[-1] == pytest.approx(0.5 * effort / (MC + reflected) * 0.25, rel=1e-3)


def test_equilibrium_carries_the_weight(column):
    """The effort is the weight in N; the motor has wound the spring up, in rad."""
    q, tau = column.statics([0.3, 0.2])
    assert tau == pytest.approx([0.0, MC * G], abs=1e-9)
    assert q[2] / N - q[1] == pytest.approx(MC * G / K, rel=1e-9)
    assert q[2] == pytest.approx(N * 0.2, rel=0.01)                # rad, not m


def test_spinning_the_spindle_up_turns_the_column_back():
    """Angular momentum about z, (Ip + Jc + mc R2) th' + Im (th' + m'), and energy stay."""
    model = Model(robot(damping=0.0))
    start = np.array([0.0, 0.05, 0.0])               # spring stretched by 50 mm
    simulation = Simulation(model, 1e-4, start, np.array([0.4, 0.0, -30.0]))
    first = sum(model.energy(simulation.q, simulation.v))

    def momentum():
        turn, _, spin = simulation.v
        return TURNING * turn + IM * (turn + spin)

    begin, least, most = momentum(), np.inf, -np.inf
    for _ in range(50):
        simulation.advance(20)
        least, most = min(least, simulation.v[0]), max(most, simulation.v[0])
        assert momentum() == pytest.approx(begin, rel=1e-9)
        assert sum(model.energy(simulation.q, simulation.v)) == pytest.approx(first, rel=1e-6)
    assert most - least > 1e-2                       # rad/s: the column does turn to and fro


def test_power_of_the_effort_is_what_the_energy_grows_by():
    model = Model(robot(damping=0.0))
    effort = np.array([0.0, 400.0])
    run = simulate(model, 0.1, tau=effort, step=1e-5, output_step=1e-3)
    start, end = (sum(model.energy(run.q[k], run.v[k])) for k in (0, -1))
    work = effort[1] * (run.of('lift/motor')[-1] - run.of('lift/motor')[0]) / N
    assert end - start == pytest.approx(work, rel=1e-6)
    assert work > 1.0


def test_radial_spindle_does_not_feel_the_turn():
    """Along x the column's turn about z is none about the spindle's axis."""
    model = Model(robot(axis='1 0 0'))
    mass = model.mass_matrix(np.array([0.5, 0.1, 3.0]))
    assert mass[2, 2] == pytest.approx(IM) and abs(mass[0, 2]) < 1e-15


def elastic_slides(seed: int):
    """A random tree of rigid links whose prismatic joints all have a spindle."""
    tree = random_robot(seed, links=6, base='floating', flexible=False)
    spindle = FlexibleJoint(2e4, 3e-3, 5.0, 120.0)
    return replace(tree, joints=tuple(
        replace(joint, flexible=spindle) if joint.type == 'prismatic' else joint
        for joint in tree.joints))


@pytest.mark.parametrize('seed', [0, 1, 2, 3])
def test_trees_agree_with_an_independent_witness(seed):
    tree = elastic_slides(seed)
    model = Model(tree)
    q, v = random_state(np.random.default_rng(seed), model)
    expected = Witness(tree).terms(q, v)
    mass = expected.M
    scale = np.sqrt(np.diag(mass))
    np.testing.assert_allclose(model.mass_matrix(q) / np.outer(scale, scale),
                               mass / np.outer(scale, scale), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(model.coriolis_matrix(q, v) @ v / scale,
                               expected.velocity_force / scale, rtol=0.0, atol=1e-7)
    # The axis of a spindle turns with its carrier: the motor's row is coupled.
    spindles = [model.names.index(f'{joint.name}/motor') for joint in tree.joints
                if joint.type == 'prismatic' and joint.parent != 'world']
    assert spindles and all(np.count_nonzero(np.abs(mass[k]) > 1e-9) > 1 for k in spindles)


def test_symbolic_equations_are_the_same(column):
    equations = derive(robot(), 'lagrange')
    q, v = np.array([0.7, 0.1, 40.0]), np.array([0.3, -0.5, 20.0])
    M, C, g = equations.function()(q, v)
    terms = column.terms(q, v)
    np.testing.assert_allclose(M, terms.M, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(C @ v + g, terms.C @ v + terms.g, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(equations.K_numbers, terms.K, rtol=1e-12)
    np.testing.assert_allclose(equations.B_numbers, terms.B, rtol=1e-12)
