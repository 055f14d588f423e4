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
"""Joints that follow others (<mimic>): every term is that of the free robot, reduced by hand."""
from __future__ import annotations

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from mimic_witness import Reduction, gripper, with_followers
from random_trees import random_tree
from scipy.linalg import eigvalsh

from flex_description import FlexibleJoint, load_robot
from flex_dynamics import DynamicsError, Model, Sensors, Simulation, Wrench, simulate
from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.plant import Drives, Plant
from flex_dynamics.symbolic import derive

TREES = 30         # of which about half have joints enough


def off(found, expected):
    """Largest difference by largest element, or absolute where that is below 1."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    return np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0))


def random_state(model, seed, elastic=0.02):
    rng = np.random.default_rng(seed)
    q, v, a = (elastic * rng.uniform(-1.0, 1.0, model.n) for _ in range(3))
    for vector in (q, v, a):
        vector[:model.n_joints] = rng.uniform(-1.0, 1.0, model.n_joints)
    return q, v, a, rng.uniform(-5.0, 5.0, model.n_joints)


@pytest.fixture(scope='module')
def trees(tmp_path_factory):
    """Models of random trees with followers, of both orders, with their payloads."""
    found = []
    folder = tmp_path_factory.mktemp('shapes')
    for seed in range(TREES):
        tree = random_tree(seed, folder)
        robot = with_followers(tree.robot, np.random.default_rng((seed, 7)))
        if robot is None:
            continue
        model = Model(robot, ('second', 'first')[seed % 2])
        for k, (frame, body, x) in enumerate(tree.payloads):
            model = model.with_payload(f'load{k}', frame, body.mass, body.centre, body.tensor, x)
        found.append((seed, model, Reduction(model)))
    return found


def test_there_are_trees_enough_of_every_kind(trees):
    assert len(trees) >= 12
    joints = [joint for _, model, _ in trees for joint in model.robot.joints]
    followers = [joint for joint in joints if joint.mimic is not None]
    assert {joint.type for joint in followers} == {'revolute', 'continuous', 'prismatic'}
    kinds = {joint.name: joint for joint in joints}
    assert any(kinds[joint.mimic.joint].flexible for joint in followers)
    assert any(joint.friction for joint in followers) and any(j.damping for j in followers)
    assert any(len(model.followers.names) > 1 for _, model, _ in trees)
    bases = {joint.type for _, model, _ in trees for joint in model.robot.joints[:1]}
    assert {'floating', 'planar'} <= bases
    assert any(link.flexible.pinned for _, model, _ in trees for link in model.robot.links
               if link.flexible)


def test_terms(trees):
    for seed, model, witness in trees:
        q, v, a, tau = random_state(model, seed)
        assert model.n == witness.free.n - len(model.followers.names)
        terms = model.terms(q, v)
        M, C, g = witness.terms(q, v)
        force = (M @ a + C @ v + g + witness.stiffness() @ q + witness.damping() @ v
                 + witness.friction(v))
        for found, expected in ((terms.M, M), (terms.C, C), (terms.g, g),
                                (terms.K, witness.stiffness()), (terms.D, witness.damping()),
                                (terms.B, witness.inputs()),
                                (model.inverse_dynamics(q, v, a), force)):
            assert off(found, expected) < 1e-11, seed
        kinetic, strain, gravity = model.energy(q, v)
        full, rate = witness.full(q), witness.T @ v
        assert off([kinetic, strain, gravity], witness.free.energy(full, rate)) < 1e-11
        assert off(model.first_moment(q)[1], witness.free.first_moment(full)[1]) < 1e-12


def test_forward_dynamics_under_loads(trees):
    for seed, model, witness in trees:
        q, v, _, tau = random_state(model, seed)
        frame = model.robot.links[-1].name
        wrench = np.random.default_rng(seed).uniform(-3.0, 3.0, 6)
        external = witness.free.jacobian(witness.full(q), frame).T @ wrench
        a = model.forward_dynamics(q, v, tau, {frame: wrench})
        M, _, _ = witness.terms(q, v)
        expected = witness.acceleration(q, v, tau, external)
        # Light modes accelerate by much: errors count by the force that they are worth.
        scale = np.abs(M) @ np.abs(expected)
        assert (np.abs(M @ (a - expected)) <= 1e-9 * (scale + 1.0)).all(), seed
        force = model.inverse_dynamics(q, v, a) - witness.T.T @ external
        assert (np.abs(force - model.input_matrix() @ tau) <= 1e-9 * (scale + 1.0)).all(), seed


def test_frames(trees):
    for seed, model, witness in trees:
        q, v, _, _ = random_state(model, seed)
        full, rate = witness.full(q), witness.T @ v
        for link in model.robot.links[1:]:
            x = 0.7 * link.flexible.length if link.flexible else None
            found = model.frame_motion(q, v, link.name, x)
            expected = witness.free.frame_motion(full, rate, link.name, x)
            assert off(found.pose, expected.pose) < 1e-12
            assert off(found.jacobian, expected.jacobian @ witness.T) < 1e-11
            assert off(found.jacobian_rate, expected.jacobian_rate @ witness.T) < 1e-11


def test_linear_models_frequencies_and_statics(trees):
    for seed, model, witness in trees[::4]:
        q, v, _, tau = random_state(model, seed)
        M, _, _ = witness.terms(q, v)
        rates, _ = model.frequencies(q)
        squares = eigvalsh(witness.stiffness(), M)
        assert off(rates**2, np.maximum(squares, 0.0)) < 1e-9
        A, B = model.linearize(q, v, tau)
        assert off(M @ B[model.n:], witness.inputs()) < 1e-9
        a, none = model.forward_dynamics(q, v, tau), np.zeros(witness.free.n)
        for k in range(model.n):
            # Speeds: at constant q, M da is the change of force.
            step = 1e-3 if not any(j.friction for j in model.robot.joints) else 1e-6
            moved = step * np.eye(model.n)[k]
            slope = (witness.acceleration(q, v + moved, tau, none)
                     - witness.acceleration(q, v - moved, tau, none)) / (2.0 * step)
            scale = np.abs(M) @ np.abs(slope) + 1e-2 * np.abs(M) @ np.abs(a) + 1.0
            assert (np.abs(M @ (A[model.n:, model.n + k] - slope)) <= 1e-4 * scale).all(), seed


def test_order_linear_has_followers_too(trees):
    """Its M may have given out, so its terms are compared without solving."""
    for seed, model, _ in trees[::5]:
        linear = Model(model.robot, 'linear')
        witness = Reduction(linear)
        q, v, _, _ = random_state(linear, seed, 1e-3)
        found = linear.backend.terms(q, v, linear.create_data())
        for one, other in zip(found, witness.terms(q, v)):
            assert off(one, other) < 1e-11, seed


# The gripper ----------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def model():
    return Model(load_robot(gripper()))


def test_coordinates_of_the_gripper(model):
    assert model.joint_names == ('shoulder', 'wrist', 'left_finger')
    followers = model.followers
    assert followers.names == ('right_finger', 'pad_slide')
    assert dict(followers.leader_of) == {'right_finger': 'left_finger',
                                         'pad_slide': 'left_finger'}
    q = np.array([0.1, 0.2, 0.3])
    assert followers.positions(q) == pytest.approx([-1.3 * 0.3 + 0.1,
                                                    0.05 * (-1.3 * 0.3 + 0.1) - 0.01])
    assert followers.velocities(q) == pytest.approx([-0.39, -0.0195])
    assert 'right_finger' not in model.coordinates.joint and model.backend.name == 'coupled'
    # -1 <= -1.3 q + 0.1 <= 1, and 3 rad/s of the follower are 3 / 1.3 of the leader.
    assert (model.joint_limits.lower[2], model.joint_limits.upper[2]) == pytest.approx(
        (-0.9 / 1.3, 0.7))
    assert model.joint_limits.velocity[2] == pytest.approx(3.0 / 1.3)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)),
                  model.with_gravity([0, 0, 0])):
        assert other.followers.names == followers.names


def test_statics_of_the_gripper(model):
    q, tau = model.statics([0.3, -0.2, 0.4], {'right': [0, 0, -1.0, 0, 0, 0]})
    witness = Reduction(model)
    load = witness.free.jacobian(witness.full(q), 'right').T @ [0, 0, -1.0, 0, 0, 0]
    none = np.zeros(model.n)
    M = model.mass_matrix(q)
    assert M @ witness.acceleration(q, none, tau, load) == pytest.approx(0.0 * none, abs=1e-9)


def test_imus_on_the_gripper(model):
    q, v, a, _ = random_state(model, 1, 1e-3)
    witness = Reduction(model)
    found, = Sensors(model).imu(q, v, a)
    full, = Sensors(witness.free).imu(witness.full(q), witness.T @ v, witness.T @ a)
    assert off(np.concatenate(found), np.concatenate(full)) < 1e-11


def servoed(robot, **state):
    """A simulation with servos, a load and friction at work."""
    model = Model(robot)
    joints = model.n_joints
    start = {name: np.zeros(model.n) for name in 'qv'}
    for name, values in state.items():
        start[name][:len(values)] = values
    simulation = Simulation(model, 1e-3, **start)
    simulation.set_servo(np.full(joints, 2.0), np.full(joints, 0.05), np.full(joints, 0.1),
                         np.full(joints, 0.1))
    simulation.set_loads([Wrench('left', [0.3, -0.2, 0.5], [0.01, 0.02, 0.0])])
    return simulation


@pytest.mark.parametrize('root', ['revolute', 'floating'])
def test_a_follower_with_multiplier_zero_is_fixed(root):
    """The integrator with followers against the recursion: two ways to the same motion."""
    text = gripper(root).replace('multiplier="-1.3"', 'multiplier="0"').replace(
        '<motor joint="right_finger" inertia="2e-6" ratio="30"/>', '')
    follows = load_robot(text)
    turned = [replace(joint, type='fixed', mimic=None, origin=joint.origin @ turn(axis, offset),
                      motor=None) if joint.name == name else joint
              for joint in follows.joints for name, axis, offset in (
                  ('right_finger', 'z', 0.1), ('pad_slide', 'x', 0.05 * 0.1 - 0.01))
              if name == joint.name] or None
    fixed = {joint.name: joint for joint in turned}
    still = replace(follows, joints=tuple(fixed.get(joint.name, joint)
                                          for joint in follows.joints))
    state = {'q': [0.1, -0.2], 'v': [0.3, 0.2, 0.1]}
    ours, theirs = servoed(follows, **state), servoed(still, **state)
    assert ours.model.names == theirs.model.names
    assert (ours.model.backend.name, theirs.model.backend.name) == ('coupled', 'recursive')
    for simulation in (ours, theirs):
        simulation.advance(60, np.full(simulation.model.n_joints, 0.02))
    assert ours.q == pytest.approx(theirs.q, abs=1e-7)
    assert ours.v == pytest.approx(theirs.v, abs=1e-5)


def turn(axis, value):
    pose = np.eye(4)
    if axis == 'x':
        pose[0, 3] = value
    else:
        pose[:2, :2] = [[np.cos(value), -np.sin(value)], [np.sin(value), np.cos(value)]]
    return pose


def test_the_integrator_converges_to_the_adaptive_one(model):
    """Second order: half the step, a quarter of the error."""
    tau = np.array([0.3, 0.1, 0.05])
    expected = simulate(model, 0.06, tau=tau, method='adaptive', tolerance=1e-10)
    errors = []
    for step in (2e-4, 1e-4):
        simulation = Simulation(model, step)
        simulation.advance(round(0.06 / step), tau)
        errors.append(np.abs(simulation.q - expected.q[-1])[:3].max())
    assert errors[0] < 2e-5 and errors[1] < 0.35 * errors[0]


def test_a_floating_gripper_keeps_energy_and_momentum():
    model = Model(load_robot(gripper('floating', damped='', gravity='0 0 0')))
    v = np.zeros(model.n)
    v[:model.n_joints] = np.random.default_rng(2).uniform(-0.4, 0.4, model.n_joints)
    v[model.names.index('left_finger')] = 1.5
    simulation = Simulation(model, 1e-3, v=v)
    found = []
    for _ in range(2):
        mass = model.mass_matrix(simulation.q)
        found.append([*(mass @ simulation.v)[:3], sum(model.energy(simulation.q, simulation.v))])
        simulation.advance(150)
    assert found[1] == pytest.approx(found[0], rel=1e-8)


def test_a_plant_holds_stops_and_refuses_commands_to_followers(model):
    gains = Drives(np.array([400.0, 100.0, 20.0]), np.array([40.0, 10.0, 0.5]))
    plant = Plant(model, 1e-3, 2, gains, np.array([0.0, 0.1, 0.2]), deflected=True)
    with pytest.raises(CommandError, match="name: 'right_finger' follows 'left_finger' "
                                           r'\(<mimic>\) and has no drive: command that one'):
        plant.commands.accept(['right_finger'], effort=[1.0])
    plant.commands.accept(['shoulder', 'wrist', 'left_finger'], effort=[0.0, 0.0, 0.0],
                          position=[0.0, 0.1, 0.5])
    for _ in range(300):
        plant.advance()
    assert plant.q[2] == pytest.approx(0.5, abs=0.02)
    plant.attach('box', 'right', None, 0.3, np.zeros(3), 1e-4 * np.eye(3))
    # Pressed beyond: the limit of the follower stops the leader at -0.9 / 1.3.
    plant.drives = Drives(np.array([400.0, 100.0, 0.0]), np.array([40.0, 10.0, 0.1]))
    plant.commands.reset()
    plant.commands.accept(['shoulder', 'wrist', 'left_finger'], effort=[0.0, 0.0, -0.5],
                          position=[0.0, 0.1, 0.0])
    for _ in range(400):
        plant.advance()
    assert plant.q[2] == pytest.approx(-0.9 / 1.3, abs=0.02)
    plant.detach('box')
    plant.advance()


# What is refused ------------------------------------------------------------------------------

def changed(robot, name, **fields):
    return replace(robot, joints=tuple(replace(joint, **fields) if joint.name == name else joint
                                       for joint in robot.joints))


def test_what_a_follower_cannot_be():
    robot = load_robot(gripper())
    with pytest.raises(DynamicsError, match='joint right_finger: expected a rigid follower, found '
                                            'an elastic joint that follows left_finger'):
        Model(changed(robot, 'right_finger', flexible=FlexibleJoint(10.0, 1e-3), motor=None))
    beam = ('<flexible link="left"><beam length="0.1"><section shape="circle" radius="0.002"/>'
            '<material name="steel"/></beam><modes basis="pinned-free"/></flexible>')
    text = gripper(more=beam).replace('<motor joint="left_finger" inertia="1e-6" ratio="20"/>', '')
    with pytest.raises(DynamicsError, match='expected links with clamped bases on both, found the '
                                            'pinned-free basis of link left'):
        Model(load_robot(text))
    with pytest.raises(DynamicsError, match="found 'right_finger', which follows another one "
                                            r'\(<mimic>\): symbolic equations have no followers'):
        derive(robot)


def test_a_leader_may_lead_alone_by_its_followers():
    """A leader without mass, as files of grippers have it: the followers are what it moves."""
    text = re.sub(r'<link name="left">.*?</link>', '<link name="left"/>', gripper(), flags=re.S)
    text = text.replace('<motor joint="left_finger" inertia="1e-6" ratio="20"/>', '')
    model = Model(load_robot(text))
    witness = Reduction(model)
    q, v, _, tau = random_state(model, 4, 1e-3)
    M, C, g = witness.terms(q, v)
    assert off(model.terms(q, v).M, M) < 1e-12
    a = model.forward_dynamics(q, v, tau)
    assert model.inverse_dynamics(q, v, a) == pytest.approx(model.input_matrix() @ tau, abs=1e-8)
    Simulation(model, 1e-3).advance(20)
