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
"""The model against the exact displacement field of random trees, in plain numpy.

A sample; `make validate` compares 200 trees and reports the distribution of the errors.
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from field_comparison import QUANTITIES, Comparison
from field_witness import Witness
from random_trees import features, random_state, random_tree
from small_robots import beam_robot

from flex_description import load_robot
from flex_description.shapes import BASES
from flex_dynamics import Model

# Small trees, with all bases, all kinds of base joint, payloads, rotors on turning carriers and
# elastic prismatic joints among them, bent by a fifth of their length or less.
SAMPLE = (8, 30, 40, 50, 75, 124, 136, 176)


@pytest.fixture(scope='module')
def trees(tmp_path_factory):
    folder = tmp_path_factory.mktemp('tables')
    return {seed: random_tree(seed, folder) for seed in SAMPLE}


def test_the_sample_has_what_it_is_meant_to_have(trees):
    found = set().union(*map(features, trees.values()))
    assert found >= {f'basis {basis}' for basis in BASES} | {
        'bent by 20.0%', 'tapered beam', 'uniform beam', 'lumped masses', 'floating joint',
        'planar joint', 'elastic prismatic joint', 'elastic revolute joint', 'branch at mid-beam',
        'payload on a beam', 'beam clamped in the world'}


@pytest.mark.parametrize('order', ['first', 'second', 'linear'])
@pytest.mark.parametrize('seed', SAMPLE)
def test_every_term_is_that_of_the_field(trees, seed, order):
    found = Comparison(trees[seed], order)
    assert set(found.errors) <= set(QUANTITIES)
    wrong = {what: error for what, error in found.errors.items()
             if not error <= found.allowed(what)}
    assert not wrong, f'seed {seed}, order {order}, n = {found.witness.n}'


def test_gauss_stations_of_the_witness_are_enough(trees):
    """Half as many again change nothing."""
    for tree in list(trees.values())[::2]:
        few, many = (Witness(tree.robot, 'second', tree.payloads, fine=fine)
                     for fine in (1.0, 1.5))
        q, v = random_state(tree, few)
        few_terms, many_terms = few.terms(q, v), many.terms(q, v)
        root = np.sqrt(np.diag(many_terms.M))
        assert np.abs((few_terms.M - many_terms.M) / np.outer(root, root)).max() < 1e-12
        force = many_terms.velocity_force / root
        assert np.abs(few_terms.velocity_force / root - force).max() < 1e-11 * np.abs(force).max()
        assert np.abs(few.K - many.K).max() < 1e-11 * np.abs(many.K).max()


def test_forces_of_the_witness_are_lagrange_s(trees):
    """C v = dM/dt v - 1/2 grad v'M v by differences, rotors on turning carriers included."""
    for seed in (8, 40):
        witness = Witness(trees[seed].robot, 'second', trees[seed].payloads)
        assert witness.rotors
        q, v = random_state(trees[seed], witness)
        found, expected = witness.terms(q, v).velocity_force, lagrange(witness, q, v)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def lagrange(witness: Witness, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    gradient = np.array([witness.slope(lambda p: v @ witness.mass_matrix(p) @ v, q, axis)
                         for axis in np.eye(witness.n)])
    return witness.mass_rate(q, v) @ v - 0.5 * gradient


@pytest.mark.parametrize('order', ['first', 'second'])
def test_a_turned_section_has_the_inertia_that_it_had(order):
    """Twist about the joint's own axis: M is constant, however far it is twisted."""
    robot = beam_robot('basis="clamped-free" bending_y="0" bending_z="0" twist="3"',
                       joint='continuous', rotary=1e-4)
    about_x = replace(robot.joints[0], axis=np.array([1.0, 0.0, 0.0]))
    model = Model(replace(robot, joints=(about_x, *robot.joints[1:])), order)
    expected = model.mass_matrix(np.zeros(model.n))
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    for twist in (0.1, 0.3, 0.5):
        found = model.mass_matrix(np.array([0.4, twist, -0.3 * twist, 0.1 * twist]))
        assert np.abs((found - expected) / size).max() < 1e-12


@pytest.mark.parametrize('order', ['first', 'second'])
def test_bending_in_a_plane_has_constant_rotary_inertia(order):
    """1/2 rho Iz (dv'/dt)^2, whatever the slope: the difference of two models that differ in
    nothing but rotary inertia is constant."""
    shapes = 'basis="clamped-free" bending_y="3" bending_z="0" twist="0"'
    thick, thin = (Model(beam_robot(shapes, rotary=rotary), order) for rotary in (2e-4, 1e-4))

    def rotary_inertia(q):
        return thick.mass_matrix(q) - thin.mass_matrix(q)

    expected = rotary_inertia(np.zeros(3))
    for bend in (0.05, 0.1, 0.2):
        found = rotary_inertia(np.array([bend, 0.2 * bend, -0.1 * bend]) * 2.0)
        assert np.abs(found - expected).max() < 1e-12 * thick.mass_matrix(np.zeros(3)).max()


@pytest.mark.parametrize('kind', ['continuous', 'prismatic'])
def test_rotor_coupling_of_mladenova(kind):
    """Section 8: a rotor on a turning link feels its carrier's turn, a(z, w) Im in M, whether its
    gear turns a joint or moves a slider."""
    text = f"""<robot name="two"><link name="base"/>
      <link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
      <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
        <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
      <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="elbow" type="{kind}"><parent link="upper"/><child link="fore"/>
        <origin xyz="0.6 0 0" rpy="0.7 0 0"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="10" velocity="10"/></joint>
      <flexible_joint joint="elbow" stiffness="100" motor_inertia="0.002" gear_ratio="50"/>
      </robot>"""
    model = Model(load_robot(text))
    q, v = np.array([0.3, -0.4, 2.0]), np.array([1.0, 3.0, -20.0])
    mass = model.mass_matrix(q)
    motor, shoulder = model.names.index('elbow/motor'), model.names.index('shoulder')
    assert mass[motor, motor] == pytest.approx(0.002, rel=1e-12)
    assert mass[motor, shoulder] == pytest.approx(0.002 * np.cos(0.7), rel=1e-12)
    terms = Witness(model.robot).terms(q, v)
    assert mass == pytest.approx(terms.M, rel=1e-12, abs=1e-15)
    assert model.coriolis_matrix(q, v) @ v == pytest.approx(terms.velocity_force, rel=1e-12,
                                                            abs=1e-14)


def test_motor_of_a_pinned_link_turns_its_root_section():
    """Work of the motor: tau times the turn of the section at x = 0, Lin and Lewis."""
    model = Model(load_robot('lin_lewis_one_link'))
    link = model.robot.links[1]
    assert link.flexible.pinned
    witness = Witness(model.robot, points=[(link.name, 0.0)])
    turn = witness.frames_at(np.zeros(model.n))[1][0, 3:]
    expected = model.robot.joints[0].axis @ turn
    assert model.input_matrix()[:, 0] == pytest.approx(expected, rel=1e-10)
    assert np.abs(expected[1:]).min() > 0.0
