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
"""Statics, frequencies, linear models and inverse dynamics on the constraints."""
from __future__ import annotations

import numpy as np
import pytest
from constrained_robots import arm, four_bar, joint, link, robot, state

from flex_dynamics import DynamicsError, Model, simulate


def portal():
    """A beam of 2 m, clamped at its left end, its right end in a ball joint of the ground."""
    return robot('<link name="ground"/>', '<link name="beam"/>',
                 joint('root', 'ground', 'beam', axis='0 1 0'),
                 '<flexible link="beam"><beam length="2"><section shape="rectangle" width="0.04" '
                 'height="0.04"/><material name="steel"/></beam><modes bending_y="4" '
                 'bending_z="7" twist="1"/></flexible>',
                 '<loop name="prop" type="distance" length="5"><first frame="ground" '
                 'xyz="2 0 5"/><second frame="beam/tip"/></loop>')


def test_propped_beam_has_the_frequencies_of_the_textbook():
    """Clamped and propped: beta L = 3.9266, 7.0686; across, it is clamped and free: 1.8751."""
    model = Model(portal())
    found = model.frequencies(np.zeros(model.n), held=['root'])[0]
    material = model.robot.links[1].flexible.properties(np.array([1.0]))
    rate = np.sqrt(material.bending_stiffness_z[0] / material.mass_per_length[0]) / 4.0
    for number in (1.8751, 3.9266, 4.6941, 7.0686):
        assert np.abs(found / (rate * number**2) - 1.0).min() < 5e-3
    # Two planes: free across the rod, propped along it.
    assert len(found) == model.n - 2


def test_propped_beam_sags_as_the_textbook_says():
    """Uniform load w: the prop carries 3/8 w L, the largest sag is w L^4 / (185 E I)."""
    model = Model(portal())
    q, tau = model.statics(np.zeros(1), held=['root'])
    material = model.robot.links[1].flexible.properties(np.array([1.0]))
    weight = float(material.mass_per_length[0]) * 9.81
    reaction = model.reactions(q, np.zeros(model.n), tau)['prop']
    assert reaction.second[2] == pytest.approx(0.375 * weight * 2.0, rel=2e-3)
    assert tau[0] == pytest.approx(-weight * 4.0 / 8.0, rel=5e-3)
    sag = min(model.pose(q, 'beam', x)[2, 3] for x in np.linspace(0, 2, 81))
    assert sag == pytest.approx(-weight * 16.0 / (184.6 * material.bending_stiffness_y[0]),
                                rel=1e-2)
    assert np.abs(model.forward_dynamics(q, np.zeros(model.n), tau)).max() < 1e-5
    # Rigid, the prop alone would hold it: then the root is free, and each end has half.
    assert model.independent_joints(q) == ()
    q, tau = model.statics(np.zeros(1))
    reaction = model.reactions(q, np.zeros(model.n), tau)['prop']
    assert tau[0] == 0.0 and reaction.second[2] == pytest.approx(weight, rel=2e-3)


@pytest.mark.parametrize('flexible', ['', 'crank', 'coupler', 'rocker'])
def test_statics_is_at_rest(flexible):
    model = Model(four_bar(flexible=flexible))
    q0 = np.array([0.5, 0.0, 0.0])       # of the others a first guess
    assert model.independent_joints(np.zeros(model.n)) == ('crank_joint',)
    q, tau = model.statics(q0)
    assert q[0] == 0.5 and not tau[1:].any() and abs(tau[0]) > 1.0
    assert np.abs(model.constraint_error(q)).max() < 1e-12
    assert np.abs(model.forward_dynamics(q, np.zeros(model.n), tau)).max() < 1e-5
    result = simulate(model, 0.05, q=q, tau=tau)
    assert np.abs(result.q - q).max() < 1e-7
    # Held at the rocker instead.
    q, tau = model.statics([0.5, 0.0, 0.2], held=['rocker_joint'])
    assert not tau[:2].any() and q[2] == 0.2
    assert np.abs(model.forward_dynamics(q, np.zeros(model.n), tau)).max() < 1e-5


def test_virtual_work_gives_the_static_effort():
    """tau dq_crank = weight times the rise of the centres, along the one free direction."""
    model = Model(four_bar())
    q, tau = model.statics([0.5, 0.0, 0.0])
    direction = model.free_directions(q)
    assert direction.shape == (3, 1)
    step, energies = 1e-4, []
    for sign in (1, -1):
        at = model.close(q + sign * step * direction[:, 0], held=['crank_joint']).q
        energies.append(model.energy(at, np.zeros(3))[2])
    power = (energies[0] - energies[1]) / (2 * step)
    assert tau[0] * direction[0, 0] == pytest.approx(power, rel=1e-6)


def test_no_equilibrium_is_told():
    model = Model(four_bar())
    with pytest.raises(DynamicsError, match='held: expected names of joint coordinates'):
        model.statics(np.zeros(3), held=['crank'])
    free = Model(robot('<link name="ground"/>', link('one'), joint('slide', 'ground', 'one',
                                                                 axis='0 0 1', kind='prismatic')))
    with pytest.raises(DynamicsError, match='expected an equilibrium with no joint held'):
        free.statics([0.0], held=[])


@pytest.mark.parametrize('kind', ['rigid', 'coupler', 'arm'])
def test_linear_model_is_the_derivative_of_the_motion(kind):
    model = Model({'rigid': four_bar, 'coupler': lambda: four_bar(flexible='coupler'),
                   'arm': lambda: arm('revolute')}[kind]())
    q, v = state(model, 2)
    tau = np.random.default_rng(1).uniform(-3, 3, model.n_joints)
    A, B = model.linearize(q, v, tau)
    n, rng = model.n, np.random.default_rng(3)
    size = 1.0 + np.abs(A).max()
    for _ in range(3):
        by_q, by_v = rng.normal(size=(2, n))
        by_tau = rng.normal(size=model.n_joints)
        by_q[model.n_joints:] *= 1e-2
        h = 1e-5
        slope = (model.forward_dynamics(q + h * by_q, v + h * by_v, tau + h * by_tau)
                 - model.forward_dynamics(q - h * by_q, v - h * by_v, tau - h * by_tau)) / (2 * h)
        expected = A[n:, :n] @ by_q + A[n:, n:] @ by_v + B[n:] @ by_tau
        assert np.abs(slope - expected).max() < 1e-6 * size


def test_linear_model_oscillates_at_the_frequencies():
    """Undamped, without gravity and at rest: poles on the manifold are +-i omega."""
    model = Model(four_bar(flexible='coupler')).with_gravity([0, 0, 0])
    q, still = model.close(np.zeros(model.n)).q, np.zeros(model.n)
    A, _ = model.linearize(q, still, np.zeros(3))
    free = model.free_directions(q)
    n, M = model.n, model.mass_matrix(q)
    squares = -np.linalg.eigvals(free.T @ M @ A[n:, :n] @ free)
    found = np.sort(np.sqrt(np.maximum(squares.real, 0.0)))
    assert np.allclose(found, model.frequencies(q)[0], rtol=1e-6, atol=1e-3)
    shapes = model.frequencies(q)[1]
    assert np.abs(model.constraint_jacobian(q) @ shapes).max() < 1e-9
    assert np.allclose(shapes.T @ M @ shapes, np.eye(shapes.shape[1]), atol=1e-9)


def test_inverse_dynamics_drives_the_crank():
    for flexible in ('', 'coupler'):
        model = Model(four_bar(flexible=flexible))
        q, v = state(model, 5)
        found = model.constrained_inverse_dynamics(q, v, [3.0], ['crank_joint'])
        assert not found.tau[1:].any() and found.acceleration[0] == pytest.approx(3.0)
        assert np.allclose(model.forward_dynamics(q, v, found.tau), found.acceleration,
                           rtol=1e-7, atol=1e-6)
    rigid = Model(four_bar())
    q, v = state(rigid, 5)
    with pytest.raises(DynamicsError, match='independent'):
        rigid.constrained_inverse_dynamics(q, v, [3.0, -5.0], ['crank_joint', 'rocker_joint'])
    free = Model(arm())
    a = np.ones(7)
    q, v = np.zeros(free.n), np.zeros(free.n)
    found = free.constrained_inverse_dynamics(q, v, a, free.joint_names)
    assert np.allclose(free.forward_dynamics(q, v, found.tau)[:7], a)


def test_cylinder_carries_a_boom():
    """A crane with one cylinder: its static force from the moments about the boom's pin."""
    model = Model(crane())
    assert set(model.independent_joints(np.zeros(model.n))) == {'boom_pin'}
    q, tau = model.statics(np.zeros(3), held=['piston'])
    # Boom of 4 m and 40 kg, horizontal; cylinder from (1, -1) to (1, 0): its force is upright.
    assert tau[list(model.joint_names).index('piston')] == pytest.approx(40.0 * 9.81 * 2.0,
                                                                         rel=0.03)
    locked = model.frequencies(q, held=['piston'])[0]
    assert 1.0 < locked[0] < 1e3 and len(locked) == model.constraint_independence(q).freedom - 1


def crane():
    """Boom of 4 m on a pin; a cylinder under it, upright, barrel and rod of little mass."""
    up = '0 -1.5707963267948966 0'
    small = (1e-4, 1e-3, 1e-3)
    return robot('<link name="ground"/>', '<link name="boom"/>', link('barrel', 0.1, '0.2 0 0',
                                                                       small),
                 link('rod', 0.1, '0 0 0', small),
                 joint('boom_pin', 'ground', 'boom'), joint('barrel_pin', 'ground', 'barrel',
                                                            '1 0 -1', rpy=up),
                 joint('piston', 'barrel', 'rod', '0.5 0 0', '1 0 0', 'prismatic'),
                 '<flexible link="boom"><beam length="4"><section shape="rectangle" width="0.06" '
                 'height="0.06"/><material E="70e9" G="26e9" density="2777.78"/></beam><modes '
                 'bending_y="1" bending_z="3" twist="1"/></flexible>',
                 '<loop name="eye" type="revolute" axis="0 1 0"><first frame="boom" x="1"/>'
                 '<second frame="rod" xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/></loop>')
