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
"""Every bad question ends in a DynamicsError that says what was expected and what was found."""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import (
    DistributedLoad,
    DynamicsError,
    Model,
    Servo,
    Simulation,
    Wrench,
    simulate,
)


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('lab_link'))


def nan_at(n, k):
    q = np.zeros(n)
    q[k] = np.nan
    return q


def wide(arm):
    return np.zeros((arm.n, 1))


FORCE = np.array([0.0, 0.0, 1.0])
CASES = {
    'short q': (lambda m: m.mass_matrix(np.zeros(2)), r'q: expected shape \(6,\), found \(2,\)'),
    'matrix for q': (lambda m: m.gravity_force(wide(m)), r'expected shape \(6,\), found \(6, 1\)'),
    'words for q': (lambda m: m.mass_matrix(['a'] * 6), 'q: expected'),
    'NaN': (lambda m: m.mass_matrix(nan_at(6, 2)), 'q: expected finite numbers, found nan for '
            'link1/bend_y/2'),
    'NaN v': (lambda m: m.coriolis_matrix(np.zeros(6), nan_at(6, 0)), 'v: .* nan for joint1'),
    'NaN a': (lambda m: m.inverse_dynamics(np.zeros(6), np.zeros(6), nan_at(6, 5)), 'a: .* nan'),
    'infinity': (lambda m: m.forward_dynamics(np.full(6, np.inf), np.zeros(6), [0.0]),
                 'found inf'),
    'beyond physics': (lambda m: m.mass_matrix(np.full(6, 1e200)),
                       r'at most 1e\+09, found 1e\+200 for joint1'),
    'too many efforts': (lambda m: m.forward_dynamics(np.zeros(6), np.zeros(6), [0.0, 0.0]),
                         r'tau: expected shape \(1,\), found \(2,\)'),
    'NaN effort': (lambda m: m.forward_dynamics(np.zeros(6), np.zeros(6), [np.nan]),
                   'tau: .* nan for joint1'),
    'unknown frame': (lambda m: m.pose(np.zeros(6), 'paylod'), "'paylod'.*did you mean 'payload'"),
    'frame of no likeness': (lambda m: m.jacobian(np.zeros(6), 'xyzzy'), "unknown frame 'xyzzy'"),
    'behind the beam': (lambda m: m.pose(np.zeros(6), 'link1', 1.5), 'expected 0 to 1 m .* 1.5'),
    'before the beam': (lambda m: m.jacobian(np.zeros(6), 'link1', -0.1), 'expected 0 to 1 m'),
    'NaN on the beam': (lambda m: m.pose(np.zeros(6), 'link1', np.nan), 'expected 0 to 1 m'),
    'x on a rigid link': (lambda m: m.pose(np.zeros(6), 'base', 0.1), 'not on a flexible link'),
    'curvature of a rigid link': (lambda m: m.curvature(np.zeros(6), 'payload', 0.1),
                                  'not a flexible link; flexible links: link1'),
    'curvature off the beam': (lambda m: m.curvature(np.zeros(6), 'link1', 2.0),
                               'expected 0 to 1'),
    'which joints': (lambda m: m.frequencies(np.zeros(6), 'blocked'),
                     'expected one of free, locked'),
    'statics': (lambda m: m.statics([0.0, 1.0]), r'q_joints: expected shape \(1,\)'),
    'force of two': (lambda m: m.forward_dynamics(np.zeros(6), np.zeros(6), [0.0],
                                                  [Wrench('payload', np.zeros(2))]),
                     'load on payload: expected 3 finite numbers'),
    'wrench of three': (lambda m: m.statics([0.0], {'payload': FORCE}), 'expected 6 finite'),
    'NaN load': (lambda m: m.statics([0.0], [Wrench('payload', FORCE * np.nan)]), 'finite'),
    'load on nothing': (lambda m: m.statics([0.0], [Wrench('hand', FORCE)]), 'unknown frame'),
    'spread over a rigid link': (lambda m: m.statics([0.0], [DistributedLoad('payload', FORCE)]),
                                 'not a flexible link'),
    'weightless payload': (lambda m: m.with_payload('box', 'payload', 0.0), 'positive mass'),
    'NaN payload': (lambda m: m.with_payload('box', 'payload', np.nan), 'positive mass'),
    'payload nowhere': (lambda m: m.with_payload('box', 'hand', 1.0), "unknown frame 'hand'"),
    'flat tensor': (lambda m: m.with_payload('box', 'payload', 1.0, tensor=np.zeros(3)),
                    r'tensor of payload box: expected shape \(3, 3\), found'),
    'impossible tensor': (lambda m: m.with_payload('box', 'payload', 1.0,
                                                   tensor=np.diag([1.0, 1.0, 3.0])),
                          'sum of the other two'),
    'payload off the beam': (lambda m: m.with_payload('box', 'link1', 1.0, x=3.0),
                             'expected 0 to 1'),
    'NaN centre': (lambda m: m.with_payload('box', 'payload', 1.0, FORCE * np.nan), 'finite'),
    'payload not there': (lambda m: m.without_payload('box'), "'box' is not attached.*none"),
    'order': (lambda m: Model(m.robot, 'third'), 'order: expected one of linear, first, second'),
    'step': (lambda m: Simulation(m, 0.0), 'step: expected a positive time'),
    'NaN step': (lambda m: Simulation(m, np.nan), 'step: expected a positive time'),
    'NaN state': (lambda m: Simulation(m, q=nan_at(6, 1)), 'q: .* nan'),
    'linear order in steps': (lambda m: Simulation(Model(m.robot, 'linear')), 'adaptive'),
    'servo gains': (lambda m: Simulation(m).set_servo([1.0, 2.0], [1.0], [0.0]),
                    r'stiffness: expected shape \(1,\)'),
    'other coordinates': (lambda m: Simulation(m).set_model(Model(load_robot('mladenova_arm'))),
                          'expected 6 coordinates, found 2'),
    'method': (lambda m: simulate(m, 1.0, method='euler'), 'method: expected one of midpoint'),
    'duration': (lambda m: simulate(m, -1.0), 'duration: expected a positive time'),
    'odd output step': (lambda m: simulate(m, 1.0, step=1e-3, output_step=1.5e-3), 'multiple'),
    'zero step': (lambda m: simulate(m, 1.0, step=0.0), 'step: expected a positive'),
    'zero output step': (lambda m: simulate(m, 1.0, output_step=0.0), 'output_step: .*positive'),
    'effort function': (lambda m: simulate(m, 0.01, tau=lambda t, q, v: np.zeros(3)),
                        'tau: expected'),
    'step longer than the run': (lambda m: simulate(m, 0.1, step=1.0),
                                 'duration: expected a multiple .* such as 1 s, found 0.1 s'),
    'half a step at the end': (lambda m: simulate(m, 0.00155),
                               'such as 0.001 or 0.002 s, found 0.00155 s'),
    'half a step': (lambda m: Simulation(m).advance(1.5), 'steps: expected a whole number'),
    'steps back': (lambda m: Simulation(m).advance(-5), 'whole number of steps from 0 .* -5'),
    'name for a robot': (lambda m: Model('cibicik_arm'), r"load_robot\('cibicik_arm'\) gives one"),
    'speeds of another robot': (lambda m: m.passive_force(np.zeros(3), np.zeros(6)),
                                r'q: expected shape \(6,\), found \(3,\)'),
    'no section there': (lambda m: m.carrier('link1', 0.123), 'with_sections_at'),
    'spring gains': (lambda m: m.frequencies(np.zeros(6), joint_stiffness=[1.0, 2.0]),
                     r'joint_stiffness: expected shape \(1,\)'),
    'servo target': (lambda m: simulate(m, 0.01, servo=Servo([1.0], [1.0], lambda t: np.zeros(2))),
                     r'target at 0.0005 s: expected shape \(1,\)'),
}


@pytest.mark.parametrize('question', CASES)
def test_is_refused_in_a_sentence(arm, question):
    ask, words = CASES[question]
    with pytest.raises(DynamicsError, match=words):
        ask(arm)


def test_a_joint_that_moves_no_mass_is_named():
    robot = load_robot("""<robot name="ghost"><link name="base"/><link name="hand"/>
      <joint name="wrist" type="continuous"><parent link="base"/><child link="hand"/>
      <axis xyz="0 0 1"/></joint></robot>""")
    model = Model(robot)
    for ask in (lambda: model.forward_dynamics([0.0], [0.0], [1.0]),
                lambda: Simulation(model).advance(1), lambda: simulate(model, 0.1),
                lambda: model.frequencies([0.0]), lambda: model.linearize([0.0], [0.0], [0.0])):
        with pytest.raises(DynamicsError, match='wrist.*moves no mass'):
            ask()


def test_a_wrong_position_is_not_taken_for_a_massless_coordinate():
    model = Model(load_robot('cibicik_arm'))
    still, zero = np.zeros(model.n), np.zeros(4)
    with pytest.raises(DynamicsError, match=r'q: expected positions .* at most 1e\+09, found 1e'):
        model.forward_dynamics(still + 1e90, still, zero)
    bent = still + 1e5
    bent[0] = 1e6                                  # a joint may turn that far, a link not
    with pytest.raises(DynamicsError, match='in this position: .* found 1e.05 for link2/bend_y/1'):
        model.forward_dynamics(bent, still, zero)
    bent[4:] = 0.0
    assert np.isfinite(model.forward_dynamics(bent, still, zero)).all()


def test_a_tool_out_of_all_proportion_is_refused():
    """Its inertia leaves nothing but rounding of the beam's own; found by the fuzzer."""
    robot = load_robot("""<robot name="arm"><link name="base"/><link name="link1"/>
      <link name="tool"><inertial><origin xyz="1e14 0 0"/><mass value="2"/>
        <inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="joint1" type="continuous"><parent link="base"/><child link="link1"/></joint>
      <joint name="joint2" type="fixed"><parent link="link1"/><child link="tool"/>
        <origin xyz="1.5 0 0"/></joint>
      <flexible link="link1"><beam length="1.5"><section shape="circle" radius="0.05"/>
        <material name="steel"/></beam>
        <modes basis="expression" expression_y="x^2; x^3" expression_twist="x"/>
        <damping ratio="0.01"/></flexible></robot>""")
    with pytest.raises(DynamicsError, match="link 'link1': its modal mass .* out of proportion"):
        Model(robot)


def test_efforts_that_are_too_large_are_named():
    model = Model(load_robot('cibicik_arm'))
    with pytest.raises(DynamicsError) as refusal:
        simulate(model, 1.0, tau=np.full(4, 1e8))
    said = str(refusal.value)
    assert 'in the step of 0.001 s after 0 s' in said and 'largest speed' not in said
    assert 'largest acceleration in link' in said
    assert 'largest effort in joint1, 1e+08, beyond its limit of 8000' in said


def test_after_a_divergence_time_and_state_agree():
    """Step by step until it fails, or at once: the same state, at the same time."""
    model = Model(load_robot('lab_link'))
    runs = [Simulation(model, v=np.full(model.n, 1e-3)) for _ in range(2)]
    for run in runs:
        run.set_servo([0.0], [-5.0], [0.0])
    with pytest.raises(DynamicsError) as at_once:
        runs[0].advance(100000)
    with pytest.raises(DynamicsError) as one_by_one:
        while True:
            runs[1].advance(1)
    assert str(at_once.value) == str(one_by_one.value)
    assert runs[0].time == pytest.approx(runs[1].time) and runs[0].time > 2e-3
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].v, runs[1].v)
    assert f'after {runs[0].time:.6g} s: link1/bend_y/1 bends its beam' in str(at_once.value)


def test_no_step_is_none():
    simulation = Simulation(Model(load_robot('lab_link')), q=np.full(6, 0.01))
    simulation.advance(0)
    assert simulation.time == 0.0 and simulation.sweeps == 0
    assert (simulation.q == 0.01).all() and not simulation.v.any()


@pytest.mark.parametrize('duration, step, count', [
    (0.3, 0.1, 3), (0.7, 0.1, 7), (1.1, 0.1, 11), (0.1 * 3, 0.1, 3), (1e-3, 1e-3, 1),
    (0.3 * (1.0 + 4e-10), 0.1, 3)])
def test_rounding_is_no_odd_duration(duration, step, count):
    run = simulate(Model(load_robot('mladenova_arm')), duration, step=step)
    assert len(run.time) == count + 1 and run.time[-1] == pytest.approx(duration, rel=1e-9)


def test_loads_from_a_generator_act_all_the_time():
    """They can be read once only, and a run asks for them in every step."""
    model = Model(load_robot('lab_link'))
    loads = [Wrench('payload', np.array([0.0, 2.0, 0.0]))]
    for ask in (lambda loads: model.statics([0.3], loads)[0],
                lambda loads: simulate(model, 0.01, wrenches=loads, step=0.005,
                                       method='adaptive', tolerance=1e-6).q[-1],
                lambda loads: simulate(model, 0.01, wrenches=loads).q[-1]):
        np.testing.assert_array_equal(ask(load for load in loads), ask(loads))
        assert np.abs(ask(loads) - ask(None)).max() > 1e-7


def test_nothing_that_moves():
    with pytest.raises(DynamicsError, match='nothing can move'):
        Model(load_robot('<robot name="rock"><link name="base"/></robot>'))


def test_statics_find_an_equilibrium_or_say_that_there_is_none():
    """Under loads far beyond buckling: never numbers that are no equilibrium."""
    model = Model(load_robot('piedboeuf_arm'))
    rng, refused = np.random.default_rng(0), 0
    for _ in range(12):
        load = Wrench('endpoint', 1e3 * rng.normal(size=3))
        try:
            q, tau = model.statics([0.0], [load])
        except DynamicsError as error:
            assert 'no equilibrium' in str(error)
            refused += 1
        else:
            a = model.forward_dynamics(q, np.zeros(model.n), tau, [load])
            left = model.mass_matrix(q) @ a
            assert np.abs(left).max() < 1e-6 * np.linalg.norm(load.force)
    assert refused
