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
"""What a motion must keep: energy of a free swing, momentum of a free flyer."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from field_witness import Witness
from random_robots import random_robot, random_state
from small_robots import beam_robot, body_robot

from flex_description import load_robot
from flex_dynamics import Model, Simulation, Wrench, simulate


def total_energy(model, q, v) -> float:
    return sum(model.energy(q, v))


@pytest.mark.parametrize('name, joints, speeds, step, seconds', [
    ('piedboeuf_arm', [-0.6], [0.5], 1e-3, 60),
    ('cibicik_arm', [0.0, np.pi - 0.3, 0.0, 0.0], [0.2, 0.2, 0.2, 0.2], 1e-3, 60),
    # Joints turn many times over, beams bend by half their energy: without the balance a tenth is
    # lost in 20 s.
    ('cibicik_arm', [0.0, np.pi - 1.2, 0.0, 0.0], [0.2, 0.2, 0.2, 0.2], 1e-3, 60),
    ('canadarm', [0.0, 0.5, 0.5], [0.5, 0.0, 0.0], 1e-3, 6),
    ('mladenova_arm', [1.0], [0.5], 1e-3, 20)])
def test_free_swing_keeps_its_energy(name, joints, speeds, step, seconds):
    """Twist modes above 1 kHz and all: under 0.1 % of the largest kinetic energy."""
    model = Model(load_robot(name))
    assert not model.damping_matrix().any()
    q, _ = model.statics(joints)
    v = np.zeros(model.n)
    v[:model.n_joints] = speeds
    simulation = Simulation(model, step, q, v)
    start, most, worst = total_energy(model, q, v), 0.0, 0.0
    for _ in range(10 * seconds):
        simulation.advance(round(0.1 / step))
        most = max(most, model.energy(simulation.q, simulation.v)[0])
        worst = max(worst, abs(total_energy(model, simulation.q, simulation.v) - start))
    assert simulation.time == pytest.approx(seconds)
    assert worst < 1e-3 * most


def test_the_balance_of_energy_counts_the_work_of_every_force():
    """Servo, elastic joint and its damping, effort and wrench: nothing is taken for an error.

    If the work of one were left out, the balance would undo that force.
    """
    model = Model(load_robot('mladenova_arm'))
    finest = None
    for step, balance in ((2.5e-5, False), (1e-3, True), (5e-4, True)):
        simulation = Simulation(model, step, balance=balance)
        simulation.set_servo([40.0], [0.5], [0.4])
        simulation.set_loads([Wrench(model.robot.links[-1].name, np.array([0.5, 0.7, 0.0]))])
        simulation.advance(round(0.5 / step), [0.3])
        if finest is None:
            finest = simulation.q.copy()
        else:
            assert simulation.q == pytest.approx(finest, abs=2e3 * step * step)


def test_adaptive_integrator_keeps_energy_to_its_tolerance():
    model = Model(load_robot('de_luca_siciliano'))
    v = np.zeros(model.n)
    v[:2] = 2.0, -3.0
    run = simulate(model, 1.0, v=v, method='adaptive', output_step=0.1, tolerance=1e-10)
    energies = [total_energy(model, q, v) for q, v in zip(run.q, run.v)]
    assert np.ptp(energies) < 1e-8 * energies[0]


@pytest.mark.parametrize('seed, seconds', [(1, 2), (3, 2), (4, 60)])
def test_free_flyer_keeps_its_momentum(seed, seconds):
    """Linear and angular, of beams, bodies and rotors; motors and joint friction are internal."""
    robot = replace(random_robot(seed, links=4, base='floating'), gravity=np.zeros(3))
    model = Model(robot)
    witness = Witness(robot)
    rng = np.random.default_rng(seed)
    q, v = random_state(rng, model)
    effort = np.zeros(model.n_joints)
    if seconds < 60:
        effort[6:] = rng.normal(size=model.n_joints - 6)
    start = witness.terms(q, v)
    simulation = Simulation(model, 1e-3, q, v)
    simulation.advance(1000 * seconds, effort)
    end = witness.terms(simulation.q, simulation.v)
    for kept, given, size in zip((end.linear, end.angular), (start.linear, start.angular),
                                 end.sizes, strict=True):
        assert np.abs(kept - given).max() < 1e-10 * size


def test_free_flyer_keeps_momentum_and_energy_together():
    """Without friction and damping: the balance of energy touches the motion of the shape only."""
    robot = replace(random_robot(4, links=4, base='floating', elastic_joints=False),
                    gravity=np.zeros(3))
    robot = replace(robot, joints=tuple(replace(j, damping=0.0) for j in robot.joints))
    model = Model(robot)
    assert not model.damping_matrix().any()
    witness = Witness(robot)
    q, v = random_state(np.random.default_rng(4), model)
    energy, angular = total_energy(model, q, v), witness.terms(q, v).angular
    simulation = Simulation(model, 1e-3, q, v)
    for _ in range(20):
        simulation.advance(500)
        assert total_energy(model, simulation.q, simulation.v) == pytest.approx(energy, rel=1e-6)
    end = witness.terms(simulation.q, simulation.v)
    assert np.abs(end.angular - angular).max() < 1e-10 * end.sizes[1]


@pytest.mark.parametrize('base', ['floating', 'planar'])
def test_momentum_changes_by_the_impulse_of_what_acts(base):
    """Gravity, a couple and a force on a beam, an effort on the base."""
    gravity = np.array([0.3, -0.2, -1.6])
    robot = replace(random_robot(3, links=4, base=base), gravity=gravity)
    model = Model(robot)
    witness = Witness(robot)
    q, v = random_state(np.random.default_rng(3), model)
    link = next(link.name for link in robot.links if link.flexible is not None)
    couple = Wrench(link, np.zeros(3), np.array([0.4, -0.3, 0.5]), 0.2)
    force = Wrench(link, np.array([1.0, 2.0, -0.5]), np.zeros(3), 0.2)
    effort = np.zeros(model.n_joints)
    effort[:2] = 3.0, -1.0
    mass = witness.terms(q, v).mass
    joint = robot.joints[0]
    first = np.eye(3)[0]
    if base == 'planar':
        first = np.eye(3)[0 if abs(joint.axis[0]) < 0.9 else 1]
        first = first - joint.axis * (joint.axis @ first)
        first /= np.linalg.norm(first)
    axes = joint.origin[:3, :3] @ np.array([first, np.cross(joint.axis, first) if base == 'planar'
                                            else np.eye(3)[1]]).T
    free = np.eye(3) if base == 'floating' else axes @ axes.T
    about = np.eye(3) if base == 'floating' else np.eye(3) - free

    def relative(state) -> np.ndarray:
        """Angular momentum about the centre of mass."""
        terms = witness.terms(state.q, state.v)
        return terms.angular - np.cross(terms.moment / mass, terms.linear)

    for loads, tau, turns in ((None, None, np.zeros(3)), ([couple], None, couple.moment),
                              ([force], effort, None)):
        simulation = Simulation(model, 1e-3, q, v)
        simulation.set_loads(loads)
        linear, angular = witness.terms(q, v).linear, relative(simulation)
        simulation.advance(500, tau)
        pushed = mass * gravity
        for load in loads or ():
            pushed = pushed + load.force
        if tau is not None:
            pushed = pushed + axes @ effort[:2]
        found = witness.terms(simulation.q, simulation.v).linear
        assert np.abs(free @ (found - linear - 0.5 * pushed)).max() < 1e-11 * mass
        if turns is not None:
            gained = about @ (relative(simulation) - angular - 0.5 * turns)
            assert np.abs(gained).max() < 1e-10 * mass


@pytest.mark.parametrize('joint', ['floating', 'planar', 'prismatic'])
def test_free_fall(joint):
    model = Model(body_robot(joint, gravity='0.5 -9.81 0', axis='0 0 1' if joint != 'prismatic'
                             else '0 1 0', centre='0.1 0.2 0'))
    a = model.forward_dynamics(np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints))
    expected = {'floating': [0.5, -9.81, 0, 0, 0, 0], 'planar': [0.5, -9.81, 0],
                'prismatic': [-9.81]}[joint]
    assert a == pytest.approx(expected, abs=1e-12)


def test_slider_moves_by_force_over_mass():
    model = Model(body_robot('prismatic', gravity='0 0 -9.81'))
    a = model.forward_dynamics(np.zeros(1), np.zeros(1), np.array([25.0]))
    assert a == pytest.approx([25.0 / 2.0 - 9.81], rel=1e-12)


def test_tumbling_body_passes_the_half_turn():
    """The rotation vector of a floating base is kept below pi; pose and spin go on."""
    robot = body_robot('floating')
    model = Model(robot)
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    simulation = Simulation(model, 1e-3, v=v)
    simulation.advance(5000)
    assert np.linalg.norm(simulation.q[3:]) < np.pi
    pose = model.pose(simulation.q, 'body')
    assert pose[:2, 0] == pytest.approx([np.cos(10.0), np.sin(10.0)], abs=1e-6)
    spin = model.jacobian(simulation.q, 'body')[3:] @ simulation.v
    assert spin == pytest.approx([0.0, 0.0, 2.0], abs=1e-6)


def test_a_free_beam_turns_about_its_centre():
    """A floating flexible link: frequencies of the free-free beam, beta L = 4.7300."""
    robot = beam_robot('basis="craig-bampton" bending_y="6" bending_z="0" twist="0"',
                       joint='planar')
    model = Model(robot)
    found, _ = model.frequencies(np.zeros(model.n))
    assert found[:3].max() < 1e-3
    expected = (4.7300407449 / 2.0) ** 2 * np.sqrt(30.0 / 1.5)
    assert found[3] == pytest.approx(expected, rel=1e-3)
