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
"""Hamel's equations: against the numeric model, against (231) by differences, and the sleigh's."""
from __future__ import annotations

import numpy as np
import pytest
import sympy
from constrained_robots import beam, four_bar, joint, link, robot, state

from flex_dynamics import DynamicsError, Model
from flex_dynamics.papers.constrained_motion import PseudoVelocities
from flex_dynamics.symbolic import derive, derive_hamel
from flex_dynamics.symbolic.command import main
from flex_dynamics.symbolic.methods.hamel import TERMS

WORLD = '<link name="world"/>'


def sleigh():
    return robot(WORLD, link('sleigh', 2.0, '0.3 0 0', (0.5, 0.5, 0.5)),
                 joint('base', 'world', 'sleigh', axis='0 0 1', kind='planar'),
                 '<wheel name="edge" type="knife_edge" frame="sleigh"/>', name='sleigh')


def platform(arm: str = ''):
    parts = [WORLD, link('body', 20.0, '0.12 0 0', (1.0, 1.0, 1.3)),
             joint('base', 'world', 'body', '0 0 0.1', '0 0 1', 'planar')]
    for name, side in (('right', -0.25), ('left', 0.25)):
        parts += [link(name, 1.5, '0 0 0', (0.004, 0.0075, 0.004)),
                  joint(f'{name}_joint', 'body', name, f'0 {side} 0'),
                  f'<wheel name="{name}_wheel" frame="{name}" radius="0.1"/>']
    return robot(*parts, arm)


def disc():
    return robot(WORLD, link('disc', 2.0, '0 0 0', (0.045, 0.09, 0.045)),
                 joint('base', 'world', 'disc', '0 0 0.3', kind='floating'),
                 '<wheel name="rim" frame="disc" radius="0.3"/>')


def carried():
    """A platform with a flexible arm."""
    return platform('<link name="arm"/>' + joint('arm_joint', 'body', 'arm', '0 0 0.3')
                    + beam('arm', 0.6, 'bending_y="0" bending_z="1" twist="0"'))


def slider_crank():
    """The crank is upright at q = 0; the rod is a beam."""
    up, reach = -0.5 * np.pi, float(np.sqrt(0.8**2 - 0.3**2))
    return robot('<link name="ground"/>', link('crank', 0.5, '0.15 0 0', (1e-3, 4e-3, 4e-3)),
                 '<link name="rod"/>', link('slider', 0.7, '0 0 0', (1e-3, 1e-3, 1e-3)),
                 joint('crank_joint', 'ground', 'crank', rpy=f'0 {up} 0'),
                 joint('rod_joint', 'crank', 'rod', '0.3 0 0',
                       rpy=f'0 {np.arcsin(0.3 / 0.8) - up} 0'),
                 joint('slide', 'ground', 'slider', f'{reach} 0 0', '1 0 0', 'prismatic'),
                 beam('rod', 0.8, 'bending_y="0" bending_z="1" twist="0"'),
                 '<loop name="pin" type="ball"><first frame="rod/tip"/><second frame="slider"/>'
                 '</loop>')


MACHINES = {
    'sleigh': (sleigh, None), 'sleigh by rates': (sleigh, ['base/x', 'base/angle']),
    'platform': (platform, None), 'platform by wheels': (platform, ['right_joint', 'left_joint']),
    'platform with a flexible arm': (carried, None), 'disc': (disc, None),
    'four-bar': (four_bar, None), 'four-bar by its rocker': (four_bar, ['rocker_joint']),
    'slider-crank, flexible rod': (slider_crank, None),
    'two legs': (lambda: robot(WORLD, link('trunk'), joint('base', 'world', 'trunk', '0 0 1',
                                                           '0 1 0', 'planar'),
                               link('leg'), joint('hip', 'trunk', 'leg'),
                               '<support name="foot" frame="leg" xyz="1 0 0"/>'), None),
    'tree': (lambda: robot(WORLD, link('body', 2.0, '0.1 0.2 0', (0.3, 0.4, 0.5)),
                           joint('base', 'world', 'body', kind='floating')), None),
}


@pytest.fixture(scope='module')
def equations():
    known = {}

    def of(name: str):
        if name not in known:
            build, pseudo = MACHINES[name]
            known[name] = derive_hamel(build(), pseudo)
        return known[name]

    return of


@pytest.mark.parametrize('name', MACHINES)
def test_motion_and_reactions_are_the_numeric_models(equations, name):
    found = equations(name)
    model, terms = found.model, found.function('numpy')
    for seed in range(3):
        q, v = state(model, seed)
        tau = np.random.default_rng(seed).uniform(-3.0, 3.0, model.n_joints)
        p = terms(q, np.zeros(found.freedom)).A1 @ v
        motion = found.motion(q, p, tau)
        numeric = model.constrained_dynamics(q, v, tau)
        reaction = model.constraint_jacobian(q).T @ numeric.multipliers
        np.testing.assert_allclose(motion.v, v, atol=1e-12)
        np.testing.assert_allclose(motion.acceleration, numeric.acceleration, rtol=1e-9,
                                   atol=1e-9 * max(1.0, np.abs(numeric.acceleration).max()))
        np.testing.assert_allclose(motion.reaction, reaction, rtol=1e-9,
                                   atol=1e-9 * max(1.0, np.abs(reaction).max()))


@pytest.mark.parametrize('name', [name for name in MACHINES if name != 'tree'])
def test_matrices_and_gamma_are_those_of_the_paper(equations, name):
    found = equations(name)
    model, n, m, terms = found.model, found.n, found.freedom, found.function('numpy')
    q, v = state(model, 5)
    here = terms(q, np.zeros(m))
    A, B = np.vstack((here.A1, here.A2)), np.hstack((here.B1, here.B2))
    np.testing.assert_allclose(A @ B, np.eye(n), atol=1e-11)
    rows = [model.constraint_names.index(row) for row in found.constraint_names]
    np.testing.assert_allclose(here.A2, model.constraint_jacobian(q)[rows], atol=1e-12)
    slopes = np.empty((n, n, n))                                # da_is/dq_l
    for other in range(n):
        step = 1e-5 * np.eye(n)[other]
        up, down = (terms(q + sign * step, np.zeros(m)) for sign in (1, -1))
        slopes[:, :, other] = (np.vstack((up.A1, up.A2)) - np.vstack((down.A1, down.A2))) / 2e-5
    curl = slopes - slopes.transpose(0, 2, 1)
    gamma = np.einsum('sk,lj,isl->kij', B, B[:, :m], curl)      # (231)
    np.testing.assert_allclose(here.gamma, gamma, atol=1e-6 * max(1.0, np.abs(gamma).max()))
    # (246): accelerations by A1d and A2d
    p = here.A1 @ v
    rate = np.einsum('isl,l->is', slopes, v)
    pseudo = PseudoVelocities(here.A1, here.A2, rate[:m], rate[m:])
    np.testing.assert_allclose(terms(q, p).turning, pseudo.acceleration(p, np.zeros(m)),
                               atol=1e-6)


def test_reactions_with_the_printed_sign_fail(equations):
    """(236) prints R_k = P_k + ...; -P_k is right."""
    found = equations('four-bar')
    model, m = found.model, found.freedom
    q, v = state(model, 1)
    tau = np.array([2.0, 0.0, 0.0])
    terms = found.function('numpy')(q, v[:1])
    motion = found.motion(q, v[:1], tau)
    P = terms.B2.T @ (found.B_numbers @ tau) - terms.g[m:]
    printed = P + terms.H[m:] @ motion.rate + terms.c[m:]
    np.testing.assert_allclose(motion.multipliers, printed - 2.0 * P, atol=1e-12)
    assert np.abs(printed - motion.multipliers).max() > 1.0


def test_sleigh_by_symbols_has_the_textbooks_equations():
    """m du/dt = m a w^2, (I + m a^2) dw/dt = -m a u w, and the force across the edge."""
    found = derive_hamel(sleigh(), symbols=True)
    assert found.pseudo_names == ('sleigh:vx', 'sleigh:wz')
    m, a, inertia = (sympy.Symbol(name, real=True)
                     for name in ('m_sleigh', 'cx_sleigh', 'Izz_sleigh'))
    u, w = found.p
    H, c, gamma = (found.expression(name) for name in ('H', 'c', 'gamma'))
    expected = ([m, 0, 0], [0, inertia + m * a**2, m * a])
    for column in range(2):
        for row in range(3):
            assert sympy.expand(H[row, column] - expected[column][row]) == 0
    for row, term in enumerate((-m * a * w**2, m * a * u * w, m * u * w)):
        assert sympy.expand(c[row] - term) == 0
    # the couples that do not commute: only these coefficients are not zero
    shown = {place: float(gamma[place]) for place in np.ndindex(gamma.shape) if gamma[place] != 0}
    assert shown == {(0, 2, 1): -1.0, (1, 2, 0): 1.0, (2, 0, 1): 1.0}
    assert found.operations < 30


def test_rows_that_are_gradients_have_no_gamma(equations):
    gamma = equations('four-bar').on_tape.gamma
    assert all(x == 0.0 for x in gamma.ravel())


@pytest.mark.parametrize('name', ['sleigh', 'slider-crank, flexible rod'])
def test_exports_agree(equations, name):
    found = equations(name)
    q, v = state(found.model, 2)
    p = found.function('numpy')(q, np.zeros(found.freedom)).A1 @ v
    python, c = found.function('numpy')(q, p), found.function('c')(q, p)
    for term in TERMS:
        np.testing.assert_allclose(getattr(c, term), getattr(python, term), rtol=1e-12,
                                   atol=1e-12)
    space: dict = {}
    exec(found.text('python'), space)
    motion = found.motion(q, p, np.ones(found.model.n_joints))
    for ours, exported in zip((motion.v, motion.acceleration, motion.rate, motion.multipliers),
                              space['motion'](q, p, np.ones(found.model.n_joints)), strict=True):
        np.testing.assert_allclose(exported, ours, atol=1e-12)
    assert r'\dot\pi_{1}' in found.text('latex')
    assert '"pseudo_velocities"' in found.text('json')


def test_payloads_come_along():
    model = Model(four_bar(), 'first').with_payload('load', 'rocker', 2.0, [0.5, 0, 0])
    found = derive_hamel(model)
    q, v = state(model, 3)
    motion = found.motion(q, v[:1], np.zeros(3))
    np.testing.assert_allclose(motion.acceleration, model.forward_dynamics(q, v, np.zeros(3)),
                               rtol=1e-9)


@pytest.mark.parametrize(('change', 'words'), [
    ({'pseudo': ['nothing']}, 'expected a coordinate'),
    ({'pseudo': ['ground:vx', 'crank_joint']}, 'expected 1, the degrees of freedom'),
    ({'pseudo': ['ground:vx']}, 'which the constraints join'),
    ({'pseudo': ['nowhere:vx']}, "'nowhere'"),
    ({'pseudo': 'crank_joint'}, 'expected a list'),
    ({'pose': [0.0, np.nan, 0.0]}, 'pose'),
    ({'pose': [0.0, 1.0, 0.0]}, 'met at the start'),
    ({'order': 'linear'}, "found 'linear'"),
    ({'most_operations': 0}, 'positive number'),
    ({'most_operations': 60}, 'allow more operations'),
])
def test_what_cannot_be_derived_is_said(change, words):
    with pytest.raises(DynamicsError, match=words):
        derive_hamel(four_bar(), **change)


def test_too_large_systems_are_refused_with_the_number_of_shapes_that_works():
    with pytest.raises(DynamicsError, match='modes=1 works: 6 coordinates'):
        derive_hamel(four_bar('ball', 'coupler'), most_operations=6000)


def test_a_dead_centre_is_said():
    """The rocker's speed says nothing of the crank's where crank and coupler are in line."""
    found = derive_hamel(four_bar(), ['rocker_joint'])
    coupler = float(0.5 * np.pi - np.arctan2(0.5, 1.3))       # of q = 0, against the crank
    q = found.model.close([0.4, -coupler, 0.0], reach=2.0, held=['coupler_joint']).q
    assert abs(np.sin(q[1] + coupler)) < 1e-12
    with pytest.raises(DynamicsError, match='dead centre'):
        found.motion(q, [1.0], np.zeros(3))


def test_derive_names_the_method_for_constraints():
    with pytest.raises(DynamicsError, match='derive_hamel'):
        derive(four_bar())


def test_command(tmp_path, capsys):
    file = tmp_path / 'sleigh.urdf'
    file.write_text('<robot name="sleigh">' + WORLD + link('sleigh', 2.0, '0.3 0 0')
                    + joint('base', 'world', 'sleigh', axis='0 0 1', kind='planar')
                    + '<wheel name="edge" type="knife_edge" frame="sleigh"/></robot>')
    assert main([str(file)]) == 0
    out = capsys.readouterr()
    assert 'gamma[1,3,2] = -1.0' in out.out and 'edge/side' in out.err
    assert main([str(file), '--method', 'hamel', '--pseudo', 'base/x', 'base/angle', '--format',
                 'c']) == 0
    assert 'void terms(' in capsys.readouterr().out
    assert main([str(file), '--simplify', '1']) == 1
    assert main([str(file), '--method', 'lagrange']) == 1
    error = capsys.readouterr().err
    assert 'derive_hamel' in error and 'Traceback' not in error
