"""The model against a cloud of points, composed and differentiated in plain numpy."""
from __future__ import annotations

import numpy as np
import pytest
from particle_witness import TINY, Beam, Witness
from random_robots import random_robot, random_state

from flex_description import load_robot
from flex_dynamics import Model

# Trees with beams on beams, and rotors that ride on turning carriers.
TREES = [(7, 'fixed'), (1, 'floating'), (4, 'planar')]


class Pair:
    def __init__(self, robot, order, seed) -> None:
        self.model = Model(robot, order)
        self.witness = Witness(robot, self.model.names, order)
        self.q, self.v = random_state(np.random.default_rng(seed), self.model)


@pytest.fixture(scope='module', params=[(*tree, order) for tree in TREES
                                        for order in ('first', 'second')],
                ids=lambda p: '-'.join(map(str, p)))
def pair(request) -> Pair:
    seed, base, order = request.param
    return Pair(random_robot(seed, links=4, base=base), order, seed)


def relative(found, expected) -> float:
    return np.abs(found - expected).max() / np.abs(expected).max()


def test_the_trees_have_beams_and_turning_rotors():
    robots = [random_robot(seed, links=4, base=base) for seed, base in TREES]
    assert all(any(link.flexible for link in robot.links) for robot in robots)
    carried = {joint.name for robot in robots for joint in robot.joints
               if joint.flexible is not None and joint.parent != 'world'}
    assert carried


def test_mass_matrix(pair):
    assert relative(pair.model.mass_matrix(pair.q), pair.witness.mass_matrix(pair.q)) < 1e-9


def test_gravity(pair):
    assert relative(pair.model.gravity_force(pair.q), pair.witness.gravity_force(pair.q)) < 1e-9


def test_velocity_forces(pair):
    model, v = pair.model, pair.v
    found = model.coriolis_matrix(pair.q, v) @ v
    assert relative(found, pair.witness.coriolis_force(pair.q, v)) < 1e-8


def test_sections_are_where_the_second_order_fields_put_them(pair):
    for link in pair.model.robot.links:
        if link.flexible is None:
            continue
        eta = np.array([pair.q[k] for k, name in enumerate(pair.model.names)
                        if name.startswith(link.name + '/')])
        bent = Beam(link.flexible, eta, pair.model.order)
        root = pair.model.pose(pair.q, link.name) @ link.flexible.origin
        for share in (0.2, 0.7, 1.0):
            x = share * link.flexible.length
            expected = root @ bent.section(x).real
            assert np.abs(pair.model.pose(pair.q, link.name, x) - expected).max() < 1e-12


def test_rotor_coupling_of_mladenova():
    """Section 8: a rotor on a turning link feels its carrier's turn, a(z, w) Im in M."""
    text = """<robot name="two"><link name="base"/>
      <link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
      <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
        <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
      <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
        <origin xyz="0.6 0 0" rpy="0.7 0 0"/><axis xyz="0 0 1"/></joint>
      <flexible_joint joint="elbow" stiffness="100" motor_inertia="0.002" gear_ratio="50"/>
      </robot>"""
    model = Model(load_robot(text))
    mass = model.mass_matrix(np.array([0.3, -0.4, 2.0]))
    motor, shoulder = model.names.index('elbow/motor'), model.names.index('shoulder')
    assert mass[motor, motor] == pytest.approx(0.002, rel=1e-12)
    assert mass[motor, shoulder] == pytest.approx(0.002 * np.cos(0.7), rel=1e-12)
    pair = Pair(model.robot, 'second', 3)
    pair.v *= 5.0
    assert relative(model.mass_matrix(pair.q), pair.witness.mass_matrix(pair.q)) < 1e-12
    assert relative(model.coriolis_matrix(pair.q, pair.v) @ pair.v,
                    pair.witness.coriolis_force(pair.q, pair.v)) < 1e-9


def test_motor_of_a_pinned_link_turns_its_root_section():
    """Work of the motor: tau times the turn of the section at x = 0, Lin and Lewis."""
    model = Model(load_robot('lin_lewis_one_link'))
    link = model.robot.links[1].flexible
    assert link.pinned
    expected = [1.0]
    for j in range(model.n - 1):
        eta = np.zeros(model.n - 1, dtype=complex)
        eta[j] = 1j * TINY
        expected.append(Beam(link, eta, 'second').section(0.0)[1, 0].imag / TINY)
    inputs = model.input_matrix(np.zeros(model.n))
    assert inputs[:, 0] == pytest.approx(expected, rel=1e-10)
    assert np.abs(expected[1:]).min() > 0.0
