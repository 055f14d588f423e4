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
"""Payloads taken up, moved and put down equal models that were built with them."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_robots import random_inertia, random_state

from flex_description import load_robot
from flex_description.robot import LumpedMass
from flex_dynamics import Model, Simulation


@pytest.fixture(scope='module')
def robot():
    return load_robot('cibicik_arm')


@pytest.fixture(scope='module')
def body():
    return random_inertia(np.random.default_rng(2))


def with_link(robot, name, **changes):
    return replace(robot, links=tuple(replace(link, **changes) if link.name == name else link
                                      for link in robot.links))


def same(one, other) -> None:
    q, v = random_state(np.random.default_rng(0), one)
    tau = np.arange(one.n_joints) * 10.0
    np.testing.assert_allclose(one.mass_matrix(q), other.mass_matrix(q), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(one.coriolis_matrix(q, v), other.coriolis_matrix(q, v), rtol=1e-9,
                               atol=1e-9)
    np.testing.assert_allclose(one.gravity_force(q), other.gravity_force(q), rtol=1e-10, atol=1e-9)
    a = one.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, other.forward_dynamics(q, v, tau), rtol=0,
                               atol=1e-9 * np.abs(a).max())
    assert (one.damping_matrix() == other.damping_matrix()).all()


def test_in_a_tool(robot, body):
    carrying = Model(robot).with_payload('box', 'tool', body.mass, body.centre, body.tensor)
    same(carrying, Model(with_link(robot, 'tool', inertia=body)))


def test_on_a_beam(robot, body):
    beam = next(link.flexible for link in robot.links if link.name == 'link2')
    lump = LumpedMass(0.7, body.mass, body.centre, body.tensor)
    built = with_link(robot, 'link2', flexible=replace(beam, masses=(*beam.masses, lump)))
    carrying = Model(robot).with_payload('box', 'link2', body.mass, body.centre, body.tensor, 0.7)
    same(carrying, Model(built))


def test_moved_and_put_down(robot, body):
    model = Model(robot)
    carrying = model.with_payload('box', 'link3', body.mass, body.centre, body.tensor, x=0.4)
    moved = carrying.with_payload('box', 'tool', body.mass, body.centre, body.tensor)
    same(moved, model.with_payload('box', 'tool', body.mass, body.centre, body.tensor))
    same(moved.without_payload('box'), model)
    two = moved.with_payload('bag', 'link4', 1.0)
    assert two.first_moment(np.zeros(model.n))[0] == pytest.approx(
        model.first_moment(np.zeros(model.n))[0] + body.mass + 1.0)


def test_taken_up_while_it_moves(robot):
    """The state goes on where it was; what follows is what a model with the payload does."""
    model = Model(robot)
    start, _ = model.statics([0.0, 2.5, 0.2, 0.1])
    simulation = Simulation(model, q=start)
    simulation.advance(100)
    carrying = model.with_payload('box', 'tool', 3.0)
    other = Simulation(carrying, q=simulation.q.copy(), v=simulation.v.copy())
    simulation.set_model(carrying)
    simulation.advance(100)
    other.advance(100)
    assert simulation.q == pytest.approx(other.q, abs=1e-9)
    bare = Simulation(model, q=start)
    bare.advance(200)
    assert np.abs(bare.q - simulation.q).max() > 1e-5


@pytest.mark.parametrize('order', ['first', 'second', 'linear'])
def test_a_payload_in_the_frame_of_a_flexible_link_counts(order):
    """About the joint, which is the origin of that frame: m r^2."""
    model, q = Model(load_robot('lab_link'), order), np.zeros(6)
    heavy = model.with_payload('load', 'link1', 2.0, (0.5, 0.1, 0.0))
    gained = (heavy.mass_matrix(q) - model.mass_matrix(q))[0, 0]
    assert gained == pytest.approx(2.0 * (0.5**2 + 0.1**2), rel=1e-9)
