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
"""Rotor inertia of ordinary joints (<motor>): in every term, order, integrator and export."""
from __future__ import annotations

import numpy as np
import pytest
from small_robots import beam_robot, body_robot
from symbolic_robots import states

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation
from flex_dynamics.symbolic import derive

ROBOTS = ('cibicik_arm', 'canadarm', 'ur5')
FLOATING = """<robot name="floating"><link name="world"/>
  <link name="hull"><inertial><mass value="40"/>
    <inertia ixx="3" iyy="4" izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="boom"/><link name="head"><inertial><origin xyz="0.1 0 0.2"/><mass value="3"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="free" type="floating"><parent link="world"/><child link="hull"/></joint>
  <joint name="hinge" type="continuous"><parent link="hull"/><child link="boom"/>
    <origin xyz="0.5 0 0.2"/><axis xyz="0 0.6 0.8"/></joint>
  <joint name="slide" type="prismatic"><parent link="boom"/><child link="head"/>
    <origin xyz="2 0 0"/><axis xyz="0.6 0 0.8"/>
    <limit lower="-1" upper="1" effort="100" velocity="9"/></joint>
  <flexible link="boom"><beam length="2"><section shape="circle" radius="0.02"/>
    <material name="aluminium"/></beam></flexible>
  <motor joint="hinge" inertia="1e-3" ratio="40"/>
  <motor joint="slide" inertia="1e-5" ratio="500"/>
  <gravity xyz="0 0 0"/></robot>"""


def with_motors(name):
    """Models of a bundled robot without and with motors, and what those add to the diagonal."""
    plain = load_robot(name)
    moving = [joint.name for joint in plain.joints if joint.type != 'fixed']
    motors = {joint: {'inertia': 1e-3 * (1 + k), 'ratio': 10.0 + 5 * k}
              for k, joint in enumerate(moving)}
    added = {joint: motor['inertia'] * motor['ratio']**2 for joint, motor in motors.items()}
    return plain, load_robot(name, {'motors': motors}), added


def random_state(model, seed=3):
    rng = np.random.default_rng(seed)
    q = 1e-3 * rng.normal(size=model.n)
    q[:model.n_joints] = rng.uniform(-1.0, 1.0, model.n_joints)
    v = 1e-2 * rng.normal(size=model.n)
    v[:model.n_joints] = rng.uniform(-1.0, 1.0, model.n_joints)
    return q, v, rng.normal(size=model.n)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('order', ['first', 'second', 'linear'])
def test_it_is_on_the_diagonal_and_nowhere_else(name, order):
    plain, driven, added = with_motors(name)
    before, after = Model(plain, order), Model(driven, order)
    armature = np.zeros(after.n)
    for joint, inertia in added.items():
        armature[after.coordinates.joint[joint]] = inertia
    assert armature.any()
    q, v, a = random_state(after)
    old, new = before.terms(q, v), after.terms(q, v)
    added_mass = new.M - old.M
    assert added_mass == pytest.approx(np.diag(armature), rel=1e-12, abs=1e-10)
    for one, other in ((old.C, new.C), (old.g, new.g), (old.K, new.K), (old.D, new.D),
                       (old.B, new.B)):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
    force = after.inverse_dynamics(q, v, a)
    assert force - before.inverse_dynamics(q, v, a) == pytest.approx(
        armature * a, rel=1e-9, abs=1e-9 * np.abs(force).max())
    kinetic = after.energy(q, v)[0] - before.energy(q, v)[0]
    assert kinetic == pytest.approx(0.5 * armature @ v**2, rel=1e-9)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('order', ['second', 'linear'])
def test_forward_dynamics_is_the_inverse(name, order):
    model = Model(with_motors(name)[1], order)
    q, v, _ = random_state(model)
    tau = np.linspace(-3.0, 5.0, model.n_joints)
    a = model.forward_dynamics(q, v, tau)
    force = model.input_matrix() @ tau
    assert model.inverse_dynamics(q, v, a) == pytest.approx(force, abs=1e-7 * np.abs(force).max())
    A, _ = model.linearize(q, v, tau)
    step = 1e-5
    for k in range(model.n_joints):
        moved = np.eye(model.n)[k] * step
        slope = (model.forward_dynamics(q, v + moved, tau)
                 - model.forward_dynamics(q, v - moved, tau)) / (2 * step)
        assert A[model.n:, model.n + k] == pytest.approx(slope, abs=1e-4 * np.abs(slope).max())


@pytest.mark.parametrize('joint, inertia', [('continuous', 0.1), ('prismatic', 2.0)])
def test_a_joint_accelerates_by_the_torque_over_both_inertias(joint, inertia):
    """Closed form, and the integrator from rest: v = tau t / (I + r^2 Im)."""
    model = Model(body_robot(joint, outside='<motor joint="joint1" inertia="1e-3" ratio="20"/>'))
    rate = 3.0 / (inertia + 0.4)
    assert model.forward_dynamics([0.2], [0.1], [3.0]) == pytest.approx([rate], rel=1e-12)
    simulation = Simulation(model, 1e-3)
    simulation.advance(100, [3.0])
    assert simulation.v == pytest.approx([rate * 0.1], rel=1e-9)
    assert simulation.q == pytest.approx([rate * 0.1**2 / 2], rel=1e-9)


def test_a_sampled_loop_that_needs_the_rotor():
    """Damping d over a topic at a period of T is stable for d T < 2 I: a bare link of 0.1 kg m2
    is too light for 300 N m s/rad at 1 kHz; with its rotor it is not."""
    speeds = {}
    for motor in ('', '<motor joint="joint1" inertia="1e-4" ratio="100"/>'):
        simulation = Simulation(Model(body_robot(outside=motor)), 1e-3, v=[0.1])
        for _ in range(15):
            simulation.advance(1, -300.0 * simulation.v)
        speeds[motor] = abs(simulation.v[0])
    bare, driven = speeds.values()
    assert bare > 1e3 and driven < 1e-3


def test_a_floating_robot_keeps_energy_and_momentum():
    model = Model(load_robot(FLOATING))
    rng = np.random.default_rng(5)
    v = np.zeros(model.n)
    v[:model.n_joints] = rng.uniform(-0.5, 0.5, model.n_joints)
    simulation = Simulation(model, 2e-3, v=v)
    momentum = []
    energy = []
    for _ in range(2):
        mass = model.mass_matrix(simulation.q)
        momentum.append((mass @ simulation.v)[:3])
        energy.append(sum(model.energy(simulation.q, simulation.v)))
        simulation.advance(250)
    assert momentum[1] == pytest.approx(momentum[0], rel=1e-11)
    # The shape has strain energy beside the kinetic one; both are kept together.
    assert energy[1] == pytest.approx(energy[0], rel=1e-9)


@pytest.mark.parametrize('name, method', [('lin_lewis_rfr', 'lagrange'), ('ur5', 'dual_screw'),
                                          ('ur5', 'elastic_joint')])
def test_symbolic_equations_and_their_c_have_it(name, method):
    robot = load_robot(name)
    joint = next(j.name for j in reversed(robot.joints) if j.type != 'fixed')
    first = next(link for link in robot.links if link.flexible is not None) if method == (
        'lagrange') else None
    if first is not None and first.flexible.pinned:
        joint = next(j.name for j in robot.joints if j.type != 'fixed' and j.child != first.name)
    driven = load_robot(name, {'motors': {joint: {'inertia': 2e-3, 'ratio': 30.0}}})
    equations = derive(driven, method)
    model = Model(driven, equations.model.order)
    k = model.names.index(joint)
    for function in (equations.function(), equations.function('c')):
        for q, v in states(equations, 2):
            found = function(q, v)
            expected = (model.backend.terms(q, v, model.create_data()) if model.order == 'linear'
                        else model.terms(q, v))
            assert found[0] == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
            assert found[0][k, k] > 1.8
            g = expected[2] if model.order == 'linear' else expected.g
            assert found[2] == pytest.approx(g, rel=1e-9, abs=1e-9)


def test_on_a_pinned_basis_it_is_refused():
    with pytest.raises(DynamicsError, match='link beam: with a pinned-free basis the motor of '
                                            'joint joint1 turns the root section.*lumped mass at '
                                            'x = 0 in place of <motor>'):
        Model(beam_robot('basis="pinned-free" bending_y="2" bending_z="0" twist="0"',
                         joint='continuous', outside='<motor joint="joint1" inertia="1"/>'))
