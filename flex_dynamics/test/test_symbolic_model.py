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
"""A SymbolicModel in a Model's place; derive's refusals."""
from __future__ import annotations

import re

import numpy as np
import pytest
from symbolic_robots import derived, one_link

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation, simulate
from flex_dynamics.symbolic import Payload, SymbolicModel, derive
from flex_dynamics.symbolic.size_advice import first_joints


@pytest.fixture(scope='module')
def pair() -> tuple[SymbolicModel, Model]:
    equations = derived('lin_lewis_rfr', 'lagrange', 'second')
    return SymbolicModel(equations, 'numpy'), Model(load_robot('lin_lewis_rfr'))


Q, V, TAU = np.array([0.3, -0.4, 0.8, 0.01]), np.array([0.5, 0.2, -0.7, 0.05]), [1.0, -2.0, 0.5]


def test_terms_and_dynamics(pair):
    symbolic, numeric = pair
    assert isinstance(symbolic, Model) and symbolic.names == numeric.names
    for found, expected in zip(symbolic.terms(Q, V), numeric.terms(Q, V)):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    a = numeric.forward_dynamics(Q, V, TAU)
    assert symbolic.forward_dynamics(Q, V, TAU) == pytest.approx(a, rel=1e-9)
    assert symbolic.inverse_dynamics(Q, V, a) == pytest.approx(
        numeric.inverse_dynamics(Q, V, a), abs=1e-9)
    wrench = {'payload': np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.3])}
    assert symbolic.forward_dynamics(Q, V, TAU, wrench) == pytest.approx(
        numeric.forward_dynamics(Q, V, TAU, wrench), rel=1e-9)


def test_analysis_and_frames(pair):
    symbolic, numeric = pair
    assert symbolic.energy(Q, V) == pytest.approx(numeric.energy(Q, V), rel=1e-12)
    assert symbolic.frequencies(Q)[0] == pytest.approx(numeric.frequencies(Q)[0], abs=1e-4)
    for found, expected in zip(symbolic.linearize(Q, V, TAU), numeric.linearize(Q, V, TAU)):
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-8 * np.abs(expected).max())
    wrench = {'payload': np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])}
    for found, expected in zip(symbolic.statics(Q[:3], wrench), numeric.statics(Q[:3], wrench)):
        assert found == pytest.approx(expected, abs=1e-8)
    assert symbolic.pose(Q, 'payload') == pytest.approx(numeric.pose(Q, 'payload'))


# How each public call of a Model is made; a new one has to be added here.
CALLS = {
    'beam': ('link2',), 'carrier': ('payload',), 'finite_vector': (Q, 'q', 4),
    'bias_force': (Q, V), 'coriolis_matrix': (Q, V), 'mass_and_coriolis': (Q, V),
    'passive_force': (Q, V), 'terms': (Q, V), 'energy': (Q, V), 'mass_matrix': (Q,),
    'gravity_force': (Q,), 'input_matrix': (Q,), 'stiffness_matrix': (), 'damping_matrix': (),
    'forward_dynamics': (Q, V, TAU), 'inverse_dynamics': (Q, V, V), 'linearize': (Q, V, TAU),
    'frequencies': (Q, 'locked'), 'statics': (Q[:3],), 'first_moment': (Q,),
    'curvature': (Q, 'link2', 0.3), 'pose': (Q, 'link2', 0.3), 'jacobian': (Q, 'payload'),
    'jacobian_rate': (Q, V, 'payload'), 'with_payload': ('tool', 'payload', 1.0),
    'with_gravity': ([1.0, -2.0, 3.0],), 'without_payload': ('none',),
    'with_sections_at': ([('link2', 0.3)],), 'create_data': (),
    'frame_motion': (Q, V, 'payload'), 'sections': ('link2', [0.1, 0.3]),
    # Of a tree: no rows, no reactions, all directions free.
    'constraint_error': (Q,), 'constraint_jacobian': (Q,), 'constraint_jacobian_rate': (Q, V),
    'constraint_independence': (Q,), 'close': (Q,), 'admissible_speeds': (Q, V),
    'constrained_dynamics': (Q, V, TAU), 'reactions': (Q, V, TAU), 'independent_joints': (Q,),
    'free_directions': (Q,), 'constrained_inverse_dynamics': (Q, V, [0.1], ['joint1']),
    'with_supports': (Q, []), 'with_supports_of': ((),),
    'forward_dynamics_derivatives': (Q, V, TAU), 'inverse_dynamics_derivatives': (Q, V, V),
    'gravity_force_derivative': (Q,), 'pose_derivative': (Q, 'payload'),
    'jacobian_derivative': (Q, 'payload')}


def test_every_call_of_a_model_is_there(pair):
    assert set(CALLS) == {name for name in dir(Model) if not name.startswith('_')
                          and callable(getattr(Model, name))}


@pytest.mark.parametrize('name', CALLS)
def test_every_call_gives_what_the_model_gives(pair, name):
    """Arrays alike; where a Model comes back, one that is derived anew; refusals word by word."""
    found, expected = (_outcome(model, name) for model in pair)
    assert type(found) is (SymbolicModel if type(expected) is Model else type(expected))
    if isinstance(expected, Model):
        found, expected = found.terms(Q, V), expected.terms(Q, V)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, (int, float, np.ndarray)):
            assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-5)
        elif isinstance(theirs, str):
            assert ours == theirs


def _outcome(model: Model, name: str):
    try:
        return getattr(model, name)(*CALLS[name])
    except DynamicsError as refusal:
        return str(refusal)


def test_the_fixed_step_simulation_steps_in_the_numeric_core(pair):
    """The same robot, hence the same motion; order linear has no such core, and says so."""
    runs = [Simulation(model, 1e-3, q=Q, v=V) for model in pair]
    for run in runs:
        run.advance(50, TAU)
    assert np.abs(runs[1].q - Q).max() > 1e-3 and runs[0].q == pytest.approx(runs[1].q, abs=1e-12)
    with pytest.raises(DynamicsError, match="order 'linear' has no recursion"):
        Simulation(SymbolicModel(derived('lin_lewis_rfr', 'dual_screw'), 'numpy'))


def test_it_can_be_integrated(pair):
    symbolic, numeric = pair
    runs = [simulate(model, 0.3, v=V, step=0.05, method='adaptive') for model in pair]
    assert np.abs(runs[1].q[-1] - runs[1].q[0]).max() > 0.05
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-8)


def test_payload_derives_anew(pair):
    symbolic, numeric = pair
    loaded = symbolic.with_payload('tool', 'payload', 2.0)
    expected = numeric.with_payload('tool', 'payload', 2.0)
    assert loaded.mass_matrix(Q) == pytest.approx(expected.mass_matrix(Q), rel=1e-9)
    assert loaded.mass_matrix(Q)[0, 0] > symbolic.mass_matrix(Q)[0, 0] + 1.0
    back = loaded.without_payload('tool')
    assert back.mass_matrix(Q) == pytest.approx(symbolic.mass_matrix(Q), rel=1e-12)


def test_linear_order_gives_out_with_a_sentence():
    model = SymbolicModel(derived('cibicik_arm_paper', 'dual_screw'), 'numpy')
    q = np.zeros(model.n)
    q[1:4], q[model.names.index('link2/bend_z/1')] = 1.07, 0.09
    with pytest.raises(DynamicsError, match='not positive definite'):
        model.forward_dynamics(q, np.zeros(model.n), np.zeros(4))
    with pytest.raises(DynamicsError, match='finite'):
        model.mass_matrix(np.full(model.n, np.nan))


def test_modes_are_the_first_ones():
    robot = load_robot('lin_lewis_one_link')
    equations = derive(robot, modes=3)
    assert equations.names == ('joint1', 'link1/bend_y/1', 'link1/bend_y/2', 'link1/bend_y/3')
    same = derive(robot, modes={'link1': (3, 0, 0)})
    q = np.array([0.1, 0.01, -0.02, 0.03])
    whole = Model(one_link('pinned-pinned', 3), 'first')
    for found in (equations, same):
        assert found.function()(q, q)[0] == pytest.approx(whole.mass_matrix(q), abs=1e-8)
    assert derive(robot, modes=99).n == 16


@pytest.mark.parametrize('arguments, words', [
    ({'method': 'newton'}, 'method: expected one of lagrange'),
    ({'order': 'third'}, 'order: expected first or second'),
    ({'method': 'dual_screw', 'order': 'second'}, 'order: expected linear'),
    ({'modes': {'nobody': 1}}, 'not a flexible link of lin_lewis_rfr; flexible links: link2'),
    ({'modes': {'link2': (2, 0, 0)}}, 'modes of .link2.: expected .* found'),
    ({'modes': 0}, 'at least one shape'),
    ({'modes': -1}, 'modes of .link2.'),
    ({'method': 'elastic_joint'}, "expected rigid links, found the flexible link 'link2'"),
    ({'payload': Payload('payload', -1.0)}, 'positive mass'),
    ({'payload': Payload('nobody', 1.0)}, 'unknown frame'),
    ({'payload': Payload('payload', 1.0, tensor=np.diag([1.0, 1.0, 5.0]))},
     'sum of the other two')])
def test_refusals_are_sentences(arguments, words):
    with pytest.raises(DynamicsError, match=words):
        derive(load_robot('lin_lewis_rfr'), **arguments)


def test_a_robot_too_large_is_refused_with_the_size_that_works():
    robot = load_robot('canadarm_paper')
    whole = derive(robot)
    one = derive(robot, modes=1)
    between = (one.operations + whole.operations) // 2
    with pytest.raises(DynamicsError, match=rf'modes=1 works.* {one.n} coordinates') as refusal:
        derive(robot, most_operations=between)
    assert f'{whole.n} coordinates' in str(refusal.value)
    assert derive(robot, modes=1, most_operations=between).n == one.n
    arm = load_robot('cibicik_arm_paper')
    linear = derive(arm, 'dual_screw', modes=1)
    with pytest.raises(DynamicsError, match="method 'dual_screw' works"):
        derive(arm, modes=1, most_operations=len(linear.tape.lines))


def test_a_rigid_robot_too_large_is_told_how_many_joints_work():
    robot = load_robot('ur5')
    with pytest.raises(DynamicsError, match=r"up to joint '\w+' works: \d coord") as refusal:
        derive(robot, 'elastic_joint', most_operations=1500)
    last = re.search(r"joint '(\w+)'", str(refusal.value))[1]
    works = 1 + [joint.name for joint in robot.joints].index(last)
    assert derive(first_joints(robot, works), 'elastic_joint', most_operations=1500).n > 1
    with pytest.raises(DynamicsError, match='operations'):
        derive(first_joints(robot, works + 1), 'elastic_joint', most_operations=1500)
    with pytest.raises(DynamicsError, match='not even its first joint'):
        derive(robot, most_operations=1)


def test_progress_is_told():
    told = []
    derive(load_robot('lin_lewis_rfr'), progress=lambda stage, part: told.append((stage, part)))
    assert [stage for stage, _ in told if stage != 'links'][-1] == 'done'
    assert all(0.0 <= part <= 1.0 for _, part in told)
