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
"""Motion with constraints: closed forms, order, energy, and constraints kept to rounding."""
from __future__ import annotations

import logging

import numpy as np
import pytest
from constrained_robots import arm, four_bar, joint, link, robot, state

from flex_dynamics import DynamicsError, Model, Servo, Simulation, Wrench, simulate
from flex_dynamics.simulation.plant import Drives, Plant

KEPT = 1e-12        # m, rad, m/s or rad/s by which constraints may miss


def missed(model, q, v):
    return max(np.abs(model.constraint_error(q)).max(),
               np.abs(model.constraint_jacobian(q) @ v).max())


def sleigh(distance=0.3, mass=2.0, inertia=0.5):
    """Chaplygin's: a knife edge along x, the centre of mass `distance` before it."""
    return robot('<link name="world"/>', link('sleigh', mass, f'{distance} 0 0', (0.3,) * 2
                                              + (inertia,)),
                 joint('base', 'world', 'sleigh', axis='0 0 1', kind='planar'),
                 '<wheel name="edge" type="knife_edge" frame="sleigh"/>')


def disc(*constraints, radius=0.3):
    """A thin disc that flies, its axis along y, on the ground at q = 0."""
    flat = 0.25 * 2.0 * radius**2
    return robot('<link name="world"/>', link('disc', 2.0, '0 0 0', (flat, 2.0 * flat, flat)),
                 joint('base', 'world', 'disc', f'0 0 {radius}', kind='floating'),
                 f'<wheel name="rim" frame="disc" radius="{radius}"/>', *constraints)


@pytest.mark.parametrize('machine', ['rigid', 'crank', 'coupler', 'arm', 'disc'])
def test_constraints_and_energy_are_kept(machine):
    model = Model(four_bar() if machine == 'rigid' else arm('revolute') if machine == 'arm'
                  else disc() if machine == 'disc' else four_bar(flexible=machine))
    q, v = state(model, 1, elastic=0.0)
    simulation = Simulation(model, 1e-3, q, v)
    before = sum(model.energy(simulation.q, simulation.v))
    for _ in range(20):
        simulation.advance(50)
        assert missed(model, simulation.q, simulation.v) < KEPT
    after = sum(model.energy(simulation.q, simulation.v))
    assert after == pytest.approx(before, abs=1e-6 * (1.0 + abs(before)))


def test_it_is_of_second_order():
    model = Model(four_bar(flexible='coupler', damping=0.05))
    q, v = state(model, 2, elastic=0.0)
    ends = []
    for step in (2e-3, 1e-3, 5e-4):
        simulation = Simulation(model, step, q, v)
        simulation.advance(round(0.5 / step))
        ends.append(simulation.q[:3].copy())
    coarse, fine = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert 3.0 < coarse / fine < 5.5 and fine < 1e-4


def test_chaplygin_sleigh():
    """Angular velocity a hyperbolic secant of time, forward speed a hyperbolic tangent."""
    a, m, inertia = 0.3, 2.0, 0.5
    model = Model(sleigh(a, m, inertia))
    assert model.constraint_independence(np.zeros(3)).redundant == ('edge/height',)
    k = np.sqrt(m * a * a / (inertia + m * a * a))
    rate = 1.2                                    # the largest angular velocity
    # u' = a w^2 and (I + m a^2) w' = -m a u w: w = rate sech(k rate t), u = a rate/k tanh(...)
    start = -1.0
    w0, u0 = rate / np.cosh(k * rate * start), a * rate / k * np.tanh(k * rate * start)
    result = simulate(model, 4.0, q=np.zeros(3), v=[u0, 0.0, w0], step=5e-4, output_step=0.05)
    t = result.time + start
    w = rate / np.cosh(k * rate * t)
    u = a * rate / k * np.tanh(k * rate * t)
    heading = result.q[:, 2]
    forward = np.cos(heading) * result.v[:, 0] + np.sin(heading) * result.v[:, 1]
    assert np.abs(result.v[:, 2] - w).max() < 2e-7
    assert np.abs(forward - u).max() < 2e-7
    energies = [sum(model.energy(q, v)) for q, v in zip(result.q, result.v, strict=True)]
    assert np.ptp(energies) < 1e-12


def test_disc_rolls_straight():
    model = Model(disc())
    v = np.array([0.6, 0, 0, 0, 2.0, 0])
    result = simulate(model, 2.0, v=v, output_step=0.1)
    assert result.q[:, 0] == pytest.approx(0.6 * result.time, abs=1e-9)
    assert np.abs(result.q[:, 1:3]).max() < 1e-9
    assert model.reactions(result.q[-1], result.v[-1], np.zeros(6))['rim'].second[2] == (
        pytest.approx(2.0 * 9.81, rel=1e-9))


def test_disc_on_a_circle():
    """Steady precession of a thin disc (closed form).

    The disc leans by b from upright, its centre runs on a circle, and it precesses at W about the
    vertical. With the spin s about its axis (W's share included), moments I about a diameter and C
    about the axis, angular momentum about the centre gives
    s W cos b (C + m r^2) = sin b (m g r - I W^2 cos b).
    """
    r, m, g = 0.3, 2.0, 9.81
    lean, turn = 0.3, 1.5
    across, along = 0.25 * m * r * r, 0.5 * m * r * r
    spin = np.sin(lean) * (m * g * r - across * turn**2 * np.cos(lean)) / (
        turn * np.cos(lean) * (along + m * r * r))
    model = Model(disc())
    # Leaning about x (the heading) to the inside of a turn about +z: the top moves to +y.
    q = np.zeros(6)
    q[3] = -lean
    q[2] = r * (np.cos(lean) - 1.0)
    motion = model.frame_motion(q, np.zeros(6), 'disc')
    axis = motion.pose[:3, 1]
    up = np.array([0.0, 0.0, 1.0])
    upward = up - (up @ axis) * axis              # in the plane of the disc
    # W up has the component W (up.axis) along the axis, which `spin` includes.
    omega = turn * upward + spin * axis
    contact = -r * upward / np.linalg.norm(upward)
    twist = np.concatenate((-np.cross(omega, contact), omega))
    v = np.linalg.solve(motion.jacobian, twist)
    assert np.abs(model.constraint_jacobian(q) @ v).max() < 1e-12
    result = simulate(model, 3.0, q=q, v=v, step=5e-4, output_step=0.1)
    leans, turns = [], []
    for q in result.q:
        axis = model.pose(q, 'disc')[:3, 1]
        leans.append(np.arcsin(axis @ up))
        turns.append(np.arctan2(axis[1], axis[0]))
    assert np.abs(np.array(leans) - leans[0]).max() < 1e-5
    slope = np.diff(np.unwrap(turns)) / 0.1
    assert np.abs(slope - turn).max() < 1e-5


def test_a_nearly_closed_loop_is_closed_and_reported(caplog):
    model = Model(four_bar())
    with caplog.at_level(logging.WARNING, logger='flex_dynamics'):
        simulation = Simulation(model, 1e-3, q=[0.003, 0.0, 0.0])
    assert 'constraints closed at the start; they missed by 0.00' in caplog.text
    assert simulation.closing.distance > 1e-3
    assert missed(model, simulation.q, simulation.v) < KEPT
    caplog.clear()
    Simulation(model, 1e-3)
    assert caplog.text == ''
    with pytest.raises(DynamicsError, match="loop 'pin': expected a constraint that is met"):
        Simulation(model, 1e-3, q=[0.5, 0.0, 0.0])


def test_the_log_tells_once_by_how_much_a_start_missed(caplog):
    with caplog.at_level(logging.WARNING, logger='flex_dynamics'):
        simulate(Model(four_bar()), 0.01, q=[0.003, 0.0, 0.0])
    assert caplog.text.count('constraints closed at the start') == 1


def test_links_stretched_in_one_line_are_named_when_the_motion_fails():
    """No finite force holds them; the start of a chain that is as long as its span."""
    chain = robot(
        '<link name="base"/>', link('a'), link('b'), joint('first', 'base', 'a'),
        joint('second', 'a', 'b', '1 0 0'),
        '<loop name="stretched" type="ball"><first frame="b" xyz="1 0 0"/>'
        '<second frame="base" xyz="2 0 0"/></loop>')
    with pytest.raises(DynamicsError, match='singular at this position: stretched/x does not'):
        simulate(Model(chain), 0.1)


def test_a_bent_start_that_is_closed_is_taken_as_it_is(caplog):
    model = Model(four_bar(flexible='coupler'))
    q = model.statics(np.zeros(model.n_joints))[0]
    straight = np.where(np.arange(model.n) < model.n_joints, q, 0.0)
    assert np.abs(model.constraint_error(straight)).max() > 1e-6      # with links not bent
    with caplog.at_level(logging.WARNING, logger='flex_dynamics'):
        result = simulate(model, 0.002, q=q, step=1e-3, output_step=1e-3)
    assert caplog.text == '' and np.array_equal(result.q[0], q)


def test_an_impact_loses_what_the_constraint_takes():
    """A falling rod whose end is caught: the speed of the rest follows from angular momentum."""
    model = Model(robot('<link name="world"/>', link('rod'),
                        joint('base', 'world', 'rod', kind='floating'),
                        '<support name="end" frame="rod" active="false"/>'))
    simulation = Simulation(model, 1e-3, v=[0, 0, -2.0, 0, 0, 0])
    caught = model.with_supports(simulation.q, ['end'])
    simulation.set_model(caught)
    simulation.set_state(simulation.q, simulation.v)
    # About the caught end: m l/2 v = (m l^2/3) w, along y
    assert simulation.v[3:] == pytest.approx([0, 1.5 * 2.0, 0], abs=1e-9)
    simulation.advance(200)
    assert missed(caught, simulation.q, simulation.v) < KEPT
    assert caught.pose(simulation.q, 'rod')[:3, 3] == pytest.approx([0, 0, 0], abs=1e-12)


def test_drives_turn_a_crank_round():
    """A plant with a drive on the crank: the rocker swings, and all stays closed."""
    model = Model(four_bar(flexible='coupler', damping=0.02))
    plant = Plant(model, 1e-3, 5, Drives(np.array([0.0, 0, 0]), np.array([50.0, 0, 0])),
                  np.zeros(3), deflected=False)
    turned = []
    for _ in range(500):
        plant.commands.accept(['crank_joint'], effort=[0.0], velocity=[4.0])
        plant.advance()
        turned.append(plant.q[0])
    assert turned[-1] > 6.5 and missed(model, plant.q, plant.v) < KEPT
    assert np.isfinite(plant.acceleration()).all()


def test_servo_and_adaptive_agree():
    model = Model(four_bar())
    servo = Servo([300.0, 0, 0], [30.0, 0, 0], lambda t: [0.3 * t, 0.0, 0.0])
    step = simulate(model, 0.5, servo=servo, step=1e-3, output_step=1e-3)
    exact = simulate(model, 0.5, servo=servo, output_step=1e-3, method='adaptive', tolerance=1e-10)
    assert np.abs(step.q - exact.q).max() < 1e-5


def test_wrench_on_a_constrained_beam():
    """A load at a point of the coupler, where the stepped model gets a section of its own."""
    model = Model(four_bar(flexible='coupler', damping=0.05))
    loads = [Wrench('coupler', [0.0, 0.0, -20.0], x=0.4)]
    stiff = Servo([3e4, 0, 0], [300.0, 0, 0], lambda t: np.zeros(3))
    result = simulate(model, 1.0, servo=stiff, wrenches=loads, output_step=0.1)
    bare = simulate(model, 1.0, servo=stiff, output_step=0.1)
    middle = [model.pose(one.q[-1], 'coupler', 0.7)[2, 3] for one in (result, bare)]
    assert middle[0] < middle[1] - 1e-3
    assert missed(model, result.q[-1], result.v[-1]) < KEPT


def chain_of_four_bars(count):
    """IFToMM library A02: rods of 1 m and 1 kg; cranks and couplers as one chain of squares."""
    rods = [link(f'crank{k}') for k in range(count + 1)] + [link(f'bar{k}') for k in range(count)]
    up = f'0 0 {np.pi / 2}'
    parts = ['<gravity xyz="0 -9.81 0"/>', '<link name="ground"/>', *rods]
    for k in range(count + 1):
        parts.append(joint(f'pin{k}', 'ground', f'crank{k}', f'{k} 0 0', '0 0 1', rpy=up))
    for k in range(count):
        parts += [joint(f'hinge{k}', f'crank{k}', f'bar{k}', '1 0 0', '0 0 1',
                        rpy=f'0 0 {-np.pi / 2}'),
                  f'<loop name="loop{k}" type="revolute" axis="0 0 1"><first frame="bar{k}" '
                  f'xyz="1 0 0"/><second frame="crank{k + 1}" xyz="1 0 0"/></loop>']
    return robot(*parts)


def test_chain_of_two_four_bars_for_ten_seconds():
    """Through the flat position, which is singular, again and again; energy stays."""
    model = Model(chain_of_four_bars(2))
    independence = model.constraint_independence(np.zeros(5))
    assert independence.freedom == 1 and len(independence.redundant) == 6
    # The first upper pin moves at 1 m/s along x: cranks turn at -1 rad/s, bars against them.
    v = np.array([-1.0 if name.startswith('pin') else 1.0 for name in model.names])
    simulation = Simulation(model, 1e-3, v=v)
    before, angles = sum(model.energy(simulation.q, simulation.v)), []
    for _ in range(100):
        simulation.advance(100)
        assert missed(model, simulation.q, simulation.v) < 1e-10
        angles.append(simulation.q[0])
        # All cranks stay parallel: the branch of the parallelograms is not left.
        cranks = [simulation.q[model.names.index(f'pin{k}')] for k in range(3)]
        assert np.ptp(cranks) < 1e-6
    after = sum(model.energy(simulation.q, simulation.v))
    assert after == pytest.approx(before, abs=1e-6 * abs(before))
    assert np.ptp(angles) > 6.0
