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
"""Derivatives of the dynamics and of frames, against complex steps of jet_witness.py.

Errors are relative to the largest entry of their row (test_linearize.off).
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from jet_witness import Witness, complex_steps
from mimic_witness import gripper
from random_robots import random_robot, random_state
from small_robots import EIZ, LENGTH, RHO_A, beam_robot, body_robot
from test_linearize import off

from flex_description import load_robot
from flex_dynamics import DistributedLoad, DynamicsError, Model, Wrench

EXACT = 1e-10


def rough(robot):
    """The same robot with Coulomb friction on every joint."""
    return replace(robot, joints=tuple(replace(joint, friction=0.4) for joint in robot.joints))


CASES = {
    'arm, second': lambda: Model(load_robot('cibicik_arm_paper')),
    'arm, first': lambda: Model(load_robot('cibicik_arm_paper'), 'first'),
    'branched': lambda: Model(load_robot('flexible_tree')),
    'floating base': lambda: Model(random_robot(4, base='floating')),
    'planar base': lambda: Model(random_robot(5, base='planar')),
    'elastic joints': lambda: Model(random_robot(21, links=3)),
    'rough elastic joint': lambda: Model(rough(body_robot(
        outside='<flexible_joint joint="joint1" stiffness="80" motor_inertia="5e-4" '
        'damping="0.1" gear_ratio="20"/>'))),
    'rough pinned beam': lambda: Model(rough(beam_robot(
        'basis="pinned-free" bending_y="2" bending_z="1" twist="1"', joint='continuous'))),
    'followers': lambda: Model(load_robot(gripper())),
    'payload': lambda: Model(load_robot('lab_link')).with_payload(
        'load', 'link1', 0.7, (0.02, 0.1, -0.03), np.diag([0.01, 0.02, 0.015]), x=0.4),
}


def state(model: Model, seed: int = 0):
    rng = np.random.default_rng(seed)
    q, v = random_state(rng, model)
    return q, 0.02 * v if 'joint1' in model.names else v, rng.normal(size=model.n)


@pytest.mark.parametrize('case', CASES)
def test_inverse_dynamics(case):
    model = CASES[case]()
    witness, (q, v, a) = Witness(model), state(model)
    expected = witness.inverse_dynamics(q, v, a).real
    assert np.abs(model.inverse_dynamics(q, v, a) - expected).max() < 1e-12 * max(
        1.0, np.abs(expected).max())
    steps = complex_steps(witness.inverse_dynamics, q, v, a)
    for found, exact in zip(model.inverse_dynamics_derivatives(q, v, a), steps, strict=True):
        assert off(found, exact) < EXACT


@pytest.mark.parametrize('seed', range(4))
def test_random_robots(seed):
    """Of all bases and two orders, with elastic joints, friction and a payload."""
    base = ('fixed', 'floating', 'planar')[seed % 3]
    robot = rough(random_robot(100 + seed, links=2, base=base))
    model = Model(robot, ('second', 'first')[seed % 2]).with_payload(
        'load', robot.links[-1].name, 0.8, (0.1, -0.05, 0.02), np.diag([0.01, 0.02, 0.015]))
    witness, (q, v, a) = Witness(model), state(model, seed)
    steps = complex_steps(witness.inverse_dynamics, q, v, a)
    for found, exact in zip(model.inverse_dynamics_derivatives(q, v, a), steps, strict=True):
        assert off(found, exact) < EXACT


@pytest.mark.parametrize('basis', ('clamped-free', 'clamped-mass', 'pinned-pinned', 'polynomial'))
def test_mode_bases(basis):
    model = Model(beam_robot(f'basis="{basis}" bending_y="2" bending_z="1" twist="1"',
                             joint='continuous'))
    witness, (q, v, a) = Witness(model), state(model)
    steps = complex_steps(witness.inverse_dynamics, q, v, a)
    for found, exact in zip(model.inverse_dynamics_derivatives(q, v, a), steps, strict=True):
        assert off(found, exact) < EXACT


@pytest.mark.parametrize('case', CASES)
def test_forward_dynamics_undoes_inverse_dynamics(case):
    """I(q, v, a(q, v, tau)) = B tau, differentiated."""
    model = CASES[case]()
    q, v, _ = state(model, 1)
    tau = np.random.default_rng(2).normal(size=model.n_joints)
    by_q, by_v, by_tau = model.forward_dynamics_derivatives(q, v, tau)
    inverse = model.inverse_dynamics_derivatives(q, v, model.forward_dynamics(q, v, tau))
    scale = 1.0 / np.sqrt(np.diag(inverse.by_a))
    mass = inverse.by_a * scale[:, None]
    assert off(-mass @ by_q, inverse.by_q * scale[:, None]) < EXACT
    assert off(-mass @ by_v, inverse.by_v * scale[:, None]) < EXACT
    inputs = model.input_matrix() * scale[:, None]
    assert np.abs(mass @ by_tau - inputs).max() < EXACT * np.abs(inputs).max()


def test_forward_dynamics_with_loads():
    """Against complex steps of a solution with the witness's own mass matrix."""
    model = Model(load_robot('lab_link'))
    witness, (q, v, _), n = Witness(model), state(model, 3), model.n
    tau, still = np.array([1.5]), np.zeros(n)
    load = Wrench('link1', (3.0, -2.0, 1.0), (0.5, 0.2, -0.3), 0.7)
    scale = 1.0 / np.sqrt(np.diag(model.mass_matrix(q)))

    def accelerations(q, v):
        push = witness.jacobian(q, load.frame, load.x)[1].T @ np.concatenate(
            (load.force, load.moment))
        force = model.input_matrix() @ tau + push - witness.inverse_dynamics(q, v, still)
        mass = scale[:, None] * witness.mass_matrix(q) * scale
        return scale * np.linalg.solve(mass, scale * force)

    expected = complex_steps(accelerations, q, v)
    found = model.forward_dynamics_derivatives(q, v, tau, [load])
    assert off(found.by_q, expected[0]) < EXACT
    assert off(found.by_v, expected[1]) < EXACT


@pytest.mark.parametrize('case', ['branched', 'floating base', 'planar base', 'followers'])
def test_frames(case):
    model = CASES[case]()
    witness, (q, v, _) = Witness(model), state(model)
    places = [(link.name, None if link.flexible is None else 0.6 * link.flexible.length)
              for link in model.robot.links[1:]]
    for frame, x in places:
        exact, = complex_steps(lambda y, at=(frame, x): witness.jacobian(y, *at)[1], q)
        found = model.jacobian_derivative(q, frame, x)
        assert np.abs(found - exact).max() < EXACT
        assert np.abs(found @ v - model.jacobian_rate(q, v, frame, x)).max() < EXACT
        exact, = complex_steps(lambda y, at=(frame, x): witness.jacobian(y, *at)[0], q)
        assert np.abs(model.pose_derivative(q, frame, x) - np.moveaxis(exact, 2, 0)).max() < EXACT


def test_gravity_force():
    model = Model(load_robot('cibicik_arm_paper'))
    q, still = state(model)[0], np.zeros(model.n)
    found = model.gravity_force_derivative(q)
    exact = model.inverse_dynamics_derivatives(q, still, still).by_q - model.stiffness_matrix()
    np.testing.assert_allclose(found, exact, atol=1e-12 * np.abs(exact).max())
    # Gravity has a potential.
    assert np.abs(found - found.T).max() < 1e-12 * np.abs(found).max()


@pytest.mark.parametrize('loads', [
    None, {'link1': [0, 2.0, -3.0, 0.1, 0, 0]}, [DistributedLoad('link1', (0.0, 1.0, -2.0))]])
def test_statics_is_at_rest(loads):
    model = Model(load_robot('lab_link'))
    q, tau = model.statics([0.3], loads)
    a = model.forward_dynamics(q, np.zeros(model.n), tau, loads)
    size = np.abs(np.linalg.solve(model.mass_matrix(q), model.gravity_force(q))).max()
    assert np.abs(a).max() < 1e-10 * size
    assert np.abs(q[model.n_joints:]).max() > 1e-4


def test_statics_with_large_deflections():
    """A link so soft that Newton's method takes more than its first step."""
    robot = load_robot('lab_link')
    model = Model(robot).with_gravity(np.asarray(robot.gravity) * 8.0 + [0.0, 20.0, 0.0])
    q, tau = model.statics([0.3])
    left = (model.inverse_dynamics(q, np.zeros(model.n), np.zeros(model.n))
            - model.input_matrix() @ tau)
    assert np.abs(left).max() < 1e-10 * np.abs(tau).max()


def mast(gravity: float) -> Model:
    """The textbook beam, clamped, with 0.5 kg on its end; gravity along the beam, m/s2."""
    return Model(beam_robot(gravity=f'{gravity} 0 0')).with_payload('mass', 'tip', 0.5)


@pytest.mark.parametrize('gravity', [-1.0, 1.0])
def test_frequencies_of_a_loaded_mast(gravity):
    """(w / w0)^2 = 1 - P / P_critical but for the mode's shape, P_critical = pi^2 E I / (4 L^2);
    the beam's own weight counts with 0.315 (2.467 / 7.837)."""
    model, plain = mast(gravity), mast(0.0).frequencies(np.zeros(8))[0][0]
    critical = np.pi**2 * EIZ / (4.0 * LENGTH**2)
    q = model.statics(np.zeros(0))[0]
    assert model.frequencies(q)[0][0] == pytest.approx(plain, rel=1e-6)
    shift = (model.frequencies(q, loaded=True)[0][0] / plain)**2 - 1.0
    assert shift == pytest.approx(gravity * (0.5 + 0.315 * RHO_A * LENGTH) / critical, rel=0.05)
    # The same pull as a load.
    light = mast(0.0)
    pull = [Wrench('tip', (0.5 * gravity, 0.0, 0.0)),
            DistributedLoad('beam', (RHO_A * gravity, 0.0, 0.0))]
    np.testing.assert_allclose(light.frequencies(q, wrenches=pull)[0],
                               model.frequencies(q, loaded=True)[0], rtol=1e-6)


def test_loaded_frequencies_are_those_of_the_linear_model():
    model = Model(load_robot('cibicik_arm_paper')).with_payload('load', 'link4', 20.0)
    q, tau = model.statics([0.3, -0.5, 0.8, 0.2])
    springs = np.full(model.n_joints, 2e5)
    A, B = model.linearize(q, np.zeros(model.n), tau)
    stiffness = A[model.n:, :model.n] - B[model.n:] @ (springs[:, None] * model.input_matrix().T)
    exact = np.sqrt(np.sort(np.linalg.eigvals(-stiffness).real))
    found = model.frequencies(q, joint_stiffness=springs, loaded=True)[0]
    np.testing.assert_allclose(found, exact, rtol=1e-7)
    unloaded = model.frequencies(q, joint_stiffness=springs)[0]
    assert np.abs(found / unloaded - 1.0).max() > 1e-3


def test_threads_have_scratch_memory_of_their_own():
    model = Model(load_robot('flexible_tree'))
    q, v, a = state(model)
    one, two = model.create_data(), model.create_data()
    first = model.inverse_dynamics_derivatives(q, v, a, one)
    model.inverse_dynamics_derivatives(0.5 * q, v, a, two)
    again = model.inverse_dynamics_derivatives(q, v, a, one)
    for x, y in zip(first, again, strict=True):
        assert (x == y).all()


def test_bad_input_is_named():
    model = Model(load_robot('lab_link'))
    q, v, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
    with pytest.raises(DynamicsError, match='tau'):
        model.forward_dynamics_derivatives(q, v, [np.nan])
    with pytest.raises(DynamicsError, match='a'):
        model.inverse_dynamics_derivatives(q, v, np.full(model.n, 1e16))
    with pytest.raises(DynamicsError, match='q'):
        model.gravity_force_derivative(q[1:])
    with pytest.raises(DynamicsError, match='unknown frame'):
        model.jacobian_derivative(q, 'nowhere')
    with pytest.raises(DynamicsError, match='load'):
        model.forward_dynamics_derivatives(q, v, tau, {'link1': [1.0]})
