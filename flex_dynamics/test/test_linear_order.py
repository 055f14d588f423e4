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
"""Order `linear`: the paper's matrices, their limits and the point where M gives out."""
from __future__ import annotations

import dual_screws
import numpy as np
import pytest
from random_robots import random_robot, random_state

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation, Wrench

BASES = ('fixed', 'floating', 'planar')
TREES = [random_robot(seed, base=BASES[seed % 3]) for seed in (0, 1, 2, 3, 9, 11)]
NAMED = [load_robot(name) for name in ('cibicik_arm_paper', 'canadarm', 'flexible_tree',
                                       'lin_lewis_one_link', 'mladenova_arm')]


def name_of(robot) -> str:
    return robot.name


def split(model, q) -> tuple[np.ndarray, np.ndarray]:
    """q with its elastic part apart."""
    rigid = q.copy()
    rigid[model.coordinates.elastic] = 0
    return rigid, q - rigid


def slope(function) -> np.ndarray:
    """d function(s) / ds at s = 0, by fourth-order differences."""
    h = 1e-3
    return (8.0 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12.0 * h)


def unchecked_terms(model, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, C and g, whether or not M is positive definite."""
    return model.backend.terms(q, v, model.create_data())


def close(found, expected, tolerance) -> bool:
    return np.abs(found - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-3)


@pytest.fixture(scope='module')
def arm() -> Model:
    return model_of(NAMED[0], 'linear')


MODELS: dict[tuple[str, str], Model] = {}


def model_of(robot, order: str) -> Model:
    """Models are frozen, so that all tests may share one."""
    if (robot.name, order) not in MODELS:
        MODELS[robot.name, order] = Model(robot, order)
    return MODELS[robot.name, order]


def linear(robot, elastic=0.003) -> tuple[Model, np.ndarray, np.ndarray]:
    """The linear model of a robot and a state of small deflections."""
    model = model_of(robot, 'linear')
    return model, *random_state(np.random.default_rng(3), model, elastic)


@pytest.mark.parametrize('robot', NAMED + TREES, ids=name_of)
def test_without_deflection_all_orders_agree(robot):
    model, q, v = linear(robot)
    second = model_of(robot, 'second')
    (q, _), (v, _) = split(model, q), split(model, v)
    assert close(model.mass_matrix(q), second.mass_matrix(q), 1e-9)
    assert close(model.bias_force(q, v), second.bias_force(q, v), 1e-9)


@pytest.mark.parametrize('robot', NAMED + TREES, ids=name_of)
def test_mass_and_gravity_are_linear_in_the_elastic_coordinates(robot):
    model, q, _ = linear(robot)
    rigid, bent = split(model, q)
    for term in (model.mass_matrix, model.gravity_force):
        rest = term(rigid)
        assert close(term(rigid + 2.0 * bent) - rest, 2.0 * (term(q) - rest), 1e-10)


@pytest.mark.parametrize('robot', NAMED + TREES, ids=name_of)
def test_rate_of_mass_matrix_less_twice_c_is_skew(robot):
    model, q, v = linear(robot)
    mass, coriolis = model.mass_and_coriolis(q, v)
    rate = slope(lambda s: unchecked_terms(model, q + s * v, v)[0])
    skew = rate - 2.0 * coriolis
    assert close(mass, mass.T, 1e-13)
    assert np.abs(skew + skew.T).max() < 1e-9 * max(1.0, np.abs(coriolis).max())


@pytest.mark.parametrize('robot', NAMED + TREES, ids=name_of)
def test_joints_feel_what_order_first_has_to_first_order(robot):
    """Joint columns of P are right to first order; only elastic rows know which omega it is."""
    model, q, v = linear(robot, 0.02)
    first = model_of(robot, 'first')
    (rigid, bent), (still, bending) = split(model, q), split(model, v)
    joints = slice(0, model.n_joints)
    expected = slope(lambda s: first.mass_matrix(rigid + s * bent))
    found = slope(lambda s: unchecked_terms(model, rigid + s * bent, v)[0])
    assert close(found[joints, joints], expected[joints, joints], 1e-8)
    expected = slope(lambda s: first.bias_force(rigid + s * bent, still + s * bending))
    found = slope(lambda s: model.bias_force(rigid + s * bent, still + s * bending))
    assert close(found[joints], expected[joints], 1e-8)


@pytest.mark.parametrize('name', ['de_luca_siciliano', 'lin_lewis_rfr', 'lin_lewis_one_link',
                                  'rest_to_rest_link'])
def test_planar_motion_has_the_first_order_part_of_order_first(name):
    """In a plane theta' is the angular velocity of a rotation, so both truncations are one."""
    model, q, v = linear(load_robot(name), 0.02)
    first = model_of(model.robot, 'first')
    (rigid, bent), (still, bending) = split(model, q), split(model, v)
    expected = slope(lambda s: first.mass_matrix(rigid + s * bent))
    assert close(unchecked_terms(model, rigid + bent, v)[0] - model.mass_matrix(rigid), expected,
                 1e-8)
    expected = slope(lambda s: first.bias_force(rigid + s * bent, still + s * bending))
    assert close(slope(lambda s: model.bias_force(rigid + s * bent, still + s * bending)),
                 expected, 1e-8)


@pytest.mark.parametrize('name', ['cibicik_arm_paper', 'de_luca_siciliano'])
def test_joint_rows_are_those_of_the_lagrangian_of_the_truncated_mass(name):
    """Elastic rows are not: the second-order part of M has a first-order gradient, which (112)
    keeps, as order `first` does, and a Lagrangian of the truncated M loses."""
    model, q, v = linear(load_robot(name), 0.02)
    (rigid, bent), (still, bending) = split(model, q), split(model, v)

    def lagrange(q, v):
        def mass(p):
            return unchecked_terms(model, p, v)[0]
        gradient = np.array([slope(lambda s, axis=axis: v @ mass(q + s * axis) @ v)
                             for axis in np.eye(model.n)[:model.n_joints]])
        return (slope(lambda s: mass(q + s * v)) @ v)[:model.n_joints] - 0.5 * gradient

    def found(q, v):
        return (model.coriolis_matrix(q, v) @ v)[:model.n_joints]

    assert close(found(rigid, still), lagrange(rigid, still), 1e-8)
    assert close(slope(lambda s: found(rigid + s * bent, still + s * bending)),
                 slope(lambda s: lagrange(rigid + s * bent, still + s * bending)), 1e-6)


def test_spatial_arm_is_the_paper_s(arm):
    """M and g to rounding, C v to first order, against dual matrices as printed."""
    q, v = random_state(np.random.default_rng(7), arm, 0.003)
    mass, _, gravity = unchecked_terms(arm, q, v)
    assert close(mass, dual_screws.mass_matrix(arm, q), 1e-12)
    assert close(gravity, dual_screws.gravity_force(arm, q), 1e-12)
    (rigid, bent), (still, bending) = split(arm, q), split(arm, v)

    def force(s):
        speed = still + s * bending
        return arm.coriolis_matrix(rigid + s * bent, speed) @ speed

    def printed(s):
        return dual_screws.coriolis_force(arm, rigid + s * bent, still + s * bending)

    assert close(force(0.0), printed(0.0), 1e-8)
    assert close(slope(force), slope(printed), 1e-6)


@pytest.mark.parametrize('robot', NAMED + TREES, ids=name_of)
def test_forward_undoes_inverse(robot):
    model, q, v = linear(robot)
    rng = np.random.default_rng(1)
    tau = rng.normal(size=model.n_joints)
    load = [Wrench(robot.links[-1].name, rng.normal(size=3), rng.normal(size=3))]
    a = model.forward_dynamics(q, v, tau, load)
    wrench = np.concatenate((load[0].force, load[0].moment))
    force = model.input_matrix(q) @ tau + model.jacobian(q, load[0].frame).T @ wrench
    left = model.inverse_dynamics(q, v, a)
    assert np.abs(left - force).max() < 1e-8 * max(1.0, np.abs(left).max())


def test_payload_changes_the_mass(arm):
    carrying = arm.with_payload('box', 'link4', 2.0)
    second = Model(arm.robot).with_payload('box', 'link4', 2.0)
    q = np.zeros(arm.n)
    q[:4] = 0.3, 0.5, 0.7, 0.9
    assert close(carrying.mass_matrix(q), second.mass_matrix(q), 1e-9)


def largest_definite(mass, q, coordinate) -> float:
    """Amplitude of a coordinate up to which mass(q) is positive definite, by bisection."""
    low, high = 0.0, 0.3
    for _ in range(20):
        q = q.copy()
        q[coordinate] = 0.5 * (low + high)
        if np.linalg.eigvalsh(mass(q))[0] > 0.0:
            low = q[coordinate]
        else:
            high = q[coordinate]
    return low


def test_where_the_truncated_mass_gives_out_the_call_says_so(arm):
    bend = arm.names.index('link2/bend_z/1')
    q = np.zeros(arm.n)
    q[:4] = 0.0, 1.0853, 1.0680, 1.0464
    limit = largest_definite(lambda p: unchecked_terms(arm, p, p)[0], q, bend)
    assert limit == pytest.approx(0.0417, abs=5e-4)
    q[bend] = 0.99 * limit
    assert np.isfinite(arm.forward_dynamics(q, np.zeros(arm.n), np.zeros(4))).all()
    q[bend] = 1.01 * limit
    zero = np.zeros(arm.n)
    for call in (lambda: arm.forward_dynamics(q, zero, np.zeros(4)), lambda: arm.mass_matrix(q),
                 lambda: arm.mass_and_coriolis(q, zero), lambda: arm.frequencies(q),
                 lambda: arm.energy(q, zero), lambda: arm.linearize(q, zero, np.zeros(4)),
                 lambda: arm.inverse_dynamics(q, zero, np.ones(arm.n))):
        with pytest.raises(DynamicsError, match="not positive definite.*link2/bend_z/1.*'second'"):
            call()
    assert np.isfinite(Model(arm.robot).forward_dynamics(q, zero, np.zeros(4))).all()


def test_step_of_the_first_joint_bends_link_2_beyond_the_linear_order(arm):
    """The manoeuvre from 3 s on: the paper's M gives out after 7 ms, at 0.041; M truncated from
    order `first`, whose theta' is that of a rotation, after 15.5 ms, at 0.07."""
    first = model_of(arm.robot, 'first')
    kp, kd = np.array([4000, 12000, 6000, 400.0]), np.array([800, 2400, 900, 40.0])
    target = np.array([0.0, *3 * [np.pi / 3]])
    joints = target.copy()
    for _ in range(30):                               # PD alone droops under gravity
        q, tau = first.statics(joints)
        joints = target - tau / kp
    simulation = Simulation(first, 2.5e-4, q)
    simulation.set_servo(kp, kd, np.array([np.pi / 4, *target[1:]]))

    def truncated(p):
        rigid, bent = split(first, p)
        return first.mass_matrix(rigid) + slope(lambda s: first.mass_matrix(rigid + s * bent))

    lost: dict[str, tuple[float, float]] = {}
    while len(lost) < 2 and simulation.time < 0.03:
        simulation.advance(1)
        bend = abs(simulation.q[first.names.index('link2/bend_z/1')])
        for name, mass in (('paper', lambda p: unchecked_terms(arm, p, p)[0]),
                           ('first', truncated)):
            if name not in lost and np.linalg.eigvalsh(mass(simulation.q))[0] <= 0.0:
                lost[name] = simulation.time, bend
    assert lost['paper'] == pytest.approx((0.0071, 0.041), rel=0.05)
    assert lost['first'] == pytest.approx((0.0155, 0.069), rel=0.05)
    with pytest.raises(DynamicsError, match='link2/bend_z/1'):
        arm.forward_dynamics(simulation.q, simulation.v, np.zeros(4))


def test_massless_coordinate_is_not_blamed_on_deflection():
    text = """<robot name="ghost"><link name="base"/><link name="arm"/>
      <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
      <axis xyz="0 0 1"/></joint></robot>"""
    with pytest.raises(DynamicsError, match='hinge: it moves no mass'):
        Model(load_robot(text), 'linear').mass_matrix(np.zeros(1))
