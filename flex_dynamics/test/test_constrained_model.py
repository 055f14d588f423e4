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
"""Constraints of a model: Jacobians, forward dynamics, reactions, closing, redundant rows."""
from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from constrained_robots import LOOPS, arm, four_bar, joint, link, robot, state
from scipy.spatial.transform import Rotation

from flex_dynamics import DynamicsError, Model, Wrench
from flex_dynamics.papers.constrained_motion import PseudoVelocities
from flex_dynamics.symbolic import derive

WHEELS = ('<wheel name="rim" frame="disc" axis="0 1 0" radius="0.3"/>',
          '<wheel name="edge" type="knife_edge" frame="disc" xyz="0.1 0 -0.3"/>',
          '<wheel name="foot" type="castor" frame="disc" xyz="0 0.2 0" radius="0.2"/>',
          '<support name="stand" frame="disc" xyz="0 0 -0.3"/>',
          '<support name="plate" type="flat" frame="disc"/>')


def disc(*constraints: str):
    """A disc that flies, 0.3 m above the ground, its axis along y."""
    return robot('<link name="world"/>', link('disc', 2.0, '0 0 0', (0.045, 0.09, 0.045)),
                 joint('base', 'world', 'disc', '0 0 0.3', kind='floating'), *constraints)


SPRINGS = ''.join(f'<flexible_joint joint="joint{k}" stiffness="300" damping="0.5" '
                  f'motor_inertia="2e-4" gear_ratio="40"/>' for k in (1, 3, 6))


def machines():
    yield from (arm(kind) for kind in LOOPS)
    yield arm('ball', extra=SPRINGS)
    yield from (four_bar(flexible=name) for name in ('', 'crank', 'coupler', 'rocker'))
    yield from (disc(one) for one in WHEELS)
    yield disc(*WHEELS[:2])


@pytest.fixture(scope='module')
def models():
    return [Model(one) for one in machines()]


def text(values):
    return ' '.join(repr(float(value)) for value in values)


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    scale = np.where(np.arange(model.n) < model.n_joints, 0.5, 0.02)
    return scale * rng.uniform(-1, 1, model.n), scale * rng.uniform(-1, 1, model.n)


def difference(function, q, direction, step=1e-4):
    """Derivative along a direction, of fourth order."""
    def across(step):
        return (function(q + step * direction) - function(q - step * direction)) / (2.0 * step)

    return (4.0 * across(step) - across(2.0 * step)) / 3.0


def test_jacobian_is_the_derivative_of_the_error(models):
    for model in models:
        q, _ = random_state(model, 1)
        A, holonomic = model.constraint_jacobian(q), model.assembly.constraints.holonomic
        for j, unit in enumerate(np.eye(model.n)):
            slope = difference(model.constraint_error, q, unit)
            assert np.abs(slope - A[:, j])[holonomic].max(initial=0.0) < 1e-9, model.robot


def test_jacobian_rate_is_its_derivative(models):
    for model in models:
        q, v = random_state(model, 2)
        slope = difference(model.constraint_jacobian, q, v)
        assert np.abs(slope - model.constraint_jacobian_rate(q, v)).max() < 1e-9


def test_rows_have_names(models):
    for model in models:
        assert len(model.constraint_names) == len(model.constraint_error(np.zeros(model.n)))
    assert Model(disc(WHEELS[0])).constraint_names == ('rim/height', 'rim/roll', 'rim/side')
    assert Model(arm()).constraint_names == ()


def test_dynamics_solve_the_whole_system(models):
    """Against M, A and all forces in one dense system, in the least-squares sense."""
    for model in models:
        q, v = state(model, 3)
        tau = np.random.default_rng(3).uniform(-5, 5, model.n_joints)
        load = {model.robot.links[-1].name: [3.0, -2.0, 1.0, 0.3, 0.2, -0.1]}
        A, B = model.constraint_jacobian(q), model.constraint_jacobian_rate(q, v)
        force = (model.input_matrix() @ tau - model.inverse_dynamics(q, v, np.zeros(model.n))
                 + model.jacobian(q, *load).T @ load[model.robot.links[-1].name])
        M = model.mass_matrix(q)
        scale = 1.0 / np.sqrt(np.diag(M))
        dense = np.block([[M * np.outer(scale, scale), -(A * scale).T],
                          [A * scale, np.zeros((len(A), len(A)))]])
        expected = np.linalg.lstsq(dense, np.concatenate((scale * force, -B @ v)), rcond=1e-11)[0]
        found = model.constrained_dynamics(q, v, tau, load)
        acceleration = scale * expected[:model.n]
        assert np.abs(found.acceleration - acceleration).max() < 1e-9 * (
            1.0 + np.abs(acceleration).max())
        assert np.abs(found.multipliers - expected[model.n:]).max() < 1e-8 * (
            1.0 + np.abs(expected[model.n:]).max())
        assert np.array_equal(found.acceleration, model.forward_dynamics(q, v, tau, load))
        # The equation of motion, and what the constraints say of accelerations.
        left = model.inverse_dynamics(q, v, found.acceleration) - A.T @ found.multipliers
        assert np.abs(left - force - model.inverse_dynamics(
            q, v, np.zeros(model.n))).max() < 1e-8 * (1.0 + np.abs(force).max())
        assert np.abs(A @ found.acceleration + B @ v).max() < 1e-9 * (1.0 + np.abs(B @ v).max())


@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.0), (0.3, 0.5, 0.7)])
def test_rows_along_which_nothing_moves_have_no_multiplier(turn):
    """A planar base with castors in its plane, upright and askew: rounding is no motion."""
    normal = Rotation.from_euler('xyz', turn).as_matrix()[:, 2]
    castors = [f'<wheel name="castor{k}" type="castor" frame="plate" xyz="{xy} -0.1" normal='
               f'"{text(normal)}"/>' for k, xy in enumerate(('0.3 0', '0 0.2', '-0.1 -0.4'))]
    model = Model(robot('<link name="world"/>', link('plate', 2.0, '0.1 0.05 0', (0.1, 0.1, 0.2)),
                        joint('base', 'world', 'plate', text(0.1 * normal), '0 0 1', 'planar',
                              rpy=text(turn)), *castors))
    q, v = np.array([0.3, -0.2, 0.7]), np.array([0.4, 0.1, 1.3])
    found = model.constrained_dynamics(q, v, np.array([1.0, 2.0, 0.3]))
    free = Model(dataclasses.replace(model.robot, wheels=()))
    assert found.rank == 0 and np.abs(found.multipliers).max() < 1e-12
    assert np.abs(found.acceleration - free.forward_dynamics(q, v, [1.0, 2.0, 0.3])).max() < 1e-12


def test_reactions_are_wrenches_on_the_frames(models):
    """The tree without constraints, loaded with the reactions, accelerates in the same way."""
    for model in models:
        q, v = state(model, 4)
        tau = np.random.default_rng(4).uniform(-5, 5, model.n_joints)
        arrays = model.assembly.constraints
        found = model.reactions(q, v, tau)
        force = model.input_matrix() @ tau
        for part in arrays.parts:
            reaction = found[part.record.name]
            places = ([part.record.first, part.record.second]
                      if hasattr(part.record, 'first') else
                      [None, getattr(part.record, 'centre', getattr(part.record, 'point', None))])
            for place, wrench in zip(places, (reaction.first, reaction.second), strict=True):
                if place is None:
                    continue
                point = (model.pose(q, place.frame, place.x) @ place.pose)[:3, 3]
                origin = model.pose(q, place.frame, place.x)[:3, 3]
                moved = wrench.copy()
                moved[3:] += np.cross(point - origin, wrench[:3])
                force = force + model.jacobian(q, place.frame, place.x).T @ moved
        a = np.linalg.solve(model.mass_matrix(q),
                            force - model.inverse_dynamics(q, v, np.zeros(model.n)))
        expected = model.forward_dynamics(q, v, tau)
        assert np.abs(a - expected).max() < 1e-8 * (1.0 + np.abs(expected).max())


def test_weight_of_a_disc_is_its_reaction():
    model = Model(disc(WHEELS[0]))
    found = model.reactions(np.zeros(6), np.zeros(6), np.zeros(6))['rim']
    assert found.frames == ('', 'disc')
    assert found.second == pytest.approx([0, 0, 2.0 * 9.81, 0, 0, 0], abs=1e-12)
    assert found.first == pytest.approx([0, 0, -2.0 * 9.81, 0, 0, 0], abs=1e-12)


def test_closing_moves_joints_and_reports_the_distance():
    model = Model(four_bar(flexible='coupler'))
    q = np.zeros(model.n)
    q[0] += 0.004
    found = model.close(q, held=['crank_joint'])
    assert found.distance == pytest.approx(1.3 * 0.004, rel=1e-2) and found.angle < 1e-9
    assert found.worst in model.constraint_names
    assert np.abs(model.constraint_error(found.q)).max() < 1e-12
    assert found.q[0] == q[0] and np.abs(found.q[model.n_joints:]).max() < 1e-4
    with pytest.raises(DynamicsError, match=r"loop 'pin': expected a constraint that is met.* m"):
        model.close(q + 0.5 * (np.arange(model.n) == 1))
    with pytest.raises(DynamicsError, match="held: .*did you mean 'crank_joint'"):
        model.close(q, held=['crank_jiont'])
    with pytest.raises(DynamicsError, match='reach'):
        model.close(q, reach=-1.0)


FLAT_WHEEL = '<wheel name="w" frame="body" axis="0 0 1" radius="0.1"/>'
UPRIGHT_EDGE = '<wheel name="w" type="knife_edge" frame="body" axis="0 0 1"/>'
COINCIDING = ('<loop name="rod" type="distance" length="0.01"><first frame="body"/>'
              '<second frame="world"/></loop>')


@pytest.mark.parametrize(('constraint', 'words'), [
    (FLAT_WHEEL, "wheel 'w': expected a wheel that stands on the ground"),
    (UPRIGHT_EDGE, "wheel 'w': expected a knife edge that points along the ground"),
    (COINCIDING, "loop 'rod': expected points 0.01 m apart, found 0 m"),
])
def test_constraints_without_a_direction_are_named(constraint, words):
    model = Model(robot('<link name="world"/>', link('body'), joint(
        'base', 'world', 'body', axis='0 0 1', kind='planar'), constraint))
    with pytest.raises(DynamicsError, match=words):
        model.close(np.zeros(model.n))


def test_contradicting_constraints_are_named():
    model = Model(disc('<support name="stand" frame="disc" at="0 0 0.3"/>',
                       '<support name="other" frame="disc" xyz="0.1 0 0" at="0.11 0 0.3"/>'))
    with pytest.raises(DynamicsError, match='expected constraints that can be met together'):
        model.close(np.zeros(6))


def test_wheel_off_the_ground_is_named():
    model = Model(disc('<wheel name="rim" frame="disc" axis="0 1 0" radius="0.25"/>'))
    with pytest.raises(DynamicsError, match=r"wheel 'rim': .*found 0.05 m \(rim/height\)"):
        model.close(np.zeros(6))


def test_admissible_speeds_lose_the_least_energy(models):
    for model in models:
        q, v = random_state(model, 5)
        q = model.close(q, reach=5.0).q
        found = model.admissible_speeds(q, v)
        A, M = model.constraint_jacobian(q), model.mass_matrix(q)
        assert np.abs(A @ found).max() < 1e-12 * (1.0 + np.abs(found).max())
        assert abs(found @ M @ (v - found)) < 1e-9 * (v @ M @ v)


def test_redundant_rows_are_named():
    model = Model(four_bar())
    found = model.constraint_independence(np.zeros(3))
    assert (found.rank, found.freedom) == (2, 1)
    assert set(found.redundant) == {'pin/y', 'pin/turn_1', 'pin/turn_2'}
    ball = Model(four_bar('ball')).constraint_independence(np.zeros(3))
    assert (ball.rank, ball.redundant) == (2, ('pin/y',))
    flexible = Model(four_bar(flexible='coupler')).constraint_independence(np.zeros(8))
    assert (flexible.rank, flexible.redundant, flexible.freedom) == (5, (), 3)


def test_redundant_supports_share_the_load():
    """Four feet under a plate: least squares gives each a quarter of the weight."""
    feet = [f'<support name="foot{k}" frame="disc" xyz="{x} {y} 0"/>'
            for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)))]
    model = Model(disc(*feet))
    assert model.constraint_independence(np.zeros(6)).rank == 6
    assert len(model.constraint_independence(np.zeros(6)).redundant) == 6
    found = model.reactions(np.zeros(6), np.zeros(6), np.zeros(6))
    for reaction in found.values():
        assert reaction.second[:3] == pytest.approx([0, 0, 0.25 * 2.0 * 9.81], abs=1e-9)


def test_singular_position_has_no_margin():
    """Crank, coupler and the line to the rocker's pin stretched: the loop's rows are dependent."""
    parts = ['<link name="ground"/>', link('one'), link('two'),
             joint('joint1', 'ground', 'one'), joint('joint2', 'one', 'two', '1 0 0')]
    model = Model(robot(*parts, '<loop name="rod" type="distance" length="1.999"><first '
                        'frame="ground"/><second frame="two" xyz="1 0 0"/></loop>'))
    bent = model.close([0.0, 0.05]).q
    assert model.constraint_independence(bent).rank == 1
    straight = Model(robot(*parts, '<loop name="rod" type="distance" length="2"><first '
                           'frame="ground"/><second frame="two" xyz="1 0 0"/></loop>'))
    found = straight.constraint_independence([0.0, 0.0])
    assert found.rank == 0 and found.redundant == ('rod/distance',)
    assert np.isfinite(straight.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 2.0])).all()


def test_supports_are_switched():
    model = Model(disc(*WHEELS[3:]))
    q = np.array([0.1, 0.2, 0.05, 0.1, 0.2, 0.3])
    free = model.with_supports(q, [])
    assert np.allclose(free.forward_dynamics(q, np.zeros(6), np.zeros(6))[:3], [0, 0, -9.81])
    assert not free.constraint_jacobian(q).any() and not free.constraint_error(q).any()
    held = free.with_supports(q, ['plate'])
    assert np.abs(held.constraint_error(q)).max() < 1e-15
    assert np.abs(held.forward_dynamics(q, np.zeros(6), np.zeros(6))).max() < 1e-12
    assert held.constraint_independence(q).rank == 6
    standing = held.with_supports(q, 'stand')
    assert standing.constraint_independence(q).rank == 3
    with pytest.raises(DynamicsError, match="active: .*found 'stnd'; did you mean 'stand'"):
        model.with_supports(q, ['stnd'])


def test_models_with_payload_gravity_and_copies_keep_their_constraints():
    model = Model(four_bar(flexible='coupler'))
    q, v = state(model, 6)
    tau = np.ones(3)
    loaded = model.with_payload('box', 'coupler', 2.0, x=0.5)
    assert loaded.constraint_names == model.constraint_names
    assert not np.allclose(loaded.forward_dynamics(q, v, tau), model.forward_dynamics(q, v, tau))
    assert np.allclose(loaded.without_payload('box').forward_dynamics(q, v, tau),
                       model.forward_dynamics(q, v, tau), rtol=1e-12, atol=1e-9)
    sections = model.with_sections_at([('coupler', 0.3)])
    assert np.allclose(sections.forward_dynamics(q, v, tau), model.forward_dynamics(q, v, tau),
                       rtol=1e-10, atol=1e-8)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.forward_dynamics(q, v, tau), model.forward_dynamics(q, v, tau))
    flying = model.with_gravity([0, 0, 0])
    assert np.abs(flying.forward_dynamics(model.close(np.zeros(8)).q, np.zeros(8),
                                          np.zeros(3))).max() < 1e-6


@pytest.mark.parametrize('seed', range(3))
def test_mladenova_motion_and_reactions(seed):
    """(239)-(250) and Theorem 5, on an arm with a loop and flexible links."""
    model = Model(arm('revolute'))
    q, v = state(model, seed)
    tau = np.random.default_rng(seed).uniform(-5, 5, model.n_joints)
    A2, A2_rate = model.constraint_jacobian(q), model.constraint_jacobian_rate(q, v)
    A1 = np.random.default_rng(seed + 9).normal(size=(model.n - len(A2), model.n))
    pseudo = PseudoVelocities(A1, A2, np.zeros_like(A1), A2_rate)
    H, Q = model.mass_matrix(q), model.input_matrix() @ tau
    h = model.inverse_dynamics(q, v, np.zeros(model.n))
    speeds = A1 @ v
    assert np.abs(pseudo.velocity(speeds) - v).max() < 1e-10
    assert np.abs(A1 @ pseudo.B1 - np.eye(len(A1))).max() < 1e-9
    assert np.abs(A2 @ pseudo.B1).max() < 1e-9
    a = pseudo.acceleration(speeds, pseudo.motion(H, h, Q, speeds))
    found = model.constrained_dynamics(q, v, tau)
    size = 1.0 + np.abs(a).max()
    assert np.abs(a - found.acceleration).max() < 1e-7 * size
    assert np.abs(pseudo.multipliers(H, h, Q, a) - found.multipliers).max() < 1e-7 * size
    D = pseudo.reactions(H, h, Q, a)
    assert np.abs(D - A2.T @ found.multipliers).max() < 1e-7 * size
    assert np.abs(pseudo.compatibility(H, h, Q, D, speeds)).max() < 1e-6 * size
    off = pseudo.compatibility(H, h, Q, D + A2.T @ np.ones(len(A2)), speeds)
    assert np.abs(off).max() > 1e-3
    with pytest.raises(DynamicsError, match='independent'):
        PseudoVelocities(A1[1:], A2, A1[1:], A2_rate)


def test_what_has_no_constraints_yet_refuses_them():
    rigid = four_bar()
    words = "found loop 'pin'"
    for call in (lambda: Model(rigid, 'linear'), lambda: derive(rigid)):
        with pytest.raises(DynamicsError, match=words):
            call()


def test_a_tree_has_no_constraints():
    model = Model(arm())
    q, v = random_state(model, 7)
    tau = np.ones(model.n_joints)
    assert model.constraint_error(q).shape == (0,) and model.close(q).distance == 0.0
    assert model.constraint_jacobian(q).shape == (0, model.n)
    assert np.array_equal(model.close(q).q, q) and np.array_equal(model.admissible_speeds(q, v), v)
    assert model.constraint_independence(q).freedom == model.n
    found = model.constrained_dynamics(q, v, tau)
    assert np.array_equal(found.acceleration, model.forward_dynamics(q, v, tau))
    assert found.multipliers.shape == (0,) and model.reactions(q, v, tau) == {}
    assert model.with_supports(q, []) is model


def test_bad_numbers_are_refused():
    model = Model(four_bar())
    for call in (lambda: model.constraint_error([0, np.nan, 0]),
                 lambda: model.constraint_jacobian(np.zeros(2)),
                 lambda: model.constraint_jacobian_rate(np.zeros(3), ['a', 'b', 'c']),
                 lambda: model.close([np.inf, 0, 0]),
                 lambda: model.admissible_speeds(np.zeros(3), [1e99, 0, 0]),
                 lambda: model.constrained_dynamics(np.zeros(3), np.zeros(3), [np.nan] * 3),
                 lambda: model.reactions(np.zeros(3), np.zeros(3), np.zeros(3),
                                         [Wrench('nowhere')])):
        with pytest.raises(DynamicsError):
            call()
