"""Closed loops and rolling: closed forms, benchmark mechanisms, and equations derived by hand.

Chaplygin's sleigh and the disc have solutions in closed form. The row of four-bars and Bricard's
mechanism are A02 and A04 of the IFToMM library; they start as it says, and their energy is
constant. The platform's equations were derived by hand, with multipliers, in plain numpy below.
"""
from __future__ import annotations

import time

import numpy as np
import pytest
from constrained_machines import (
    PLATFORM,
    bricard,
    disc,
    flexible_four_bar,
    four_bars,
    platform,
    sleigh,
    slider_crank,
    thin_four_bar,
)

from flex_dynamics import Model, Simulation, simulate
from flex_dynamics.papers.constrained_motion import PseudoVelocities

KEPT = 1e-10


def run(model: Model, duration: float, step: float, q=None, v=None):
    """Largest errors of positions, of speeds and of the energy (a share), and coordinates each
    0.1 s."""
    simulation = Simulation(model, step, q, v)
    before = sum(model.energy(simulation.q, simulation.v))
    scale = max(abs(before), 1.0)
    worst, states = np.zeros(3), []
    for _ in range(round(duration / 0.1)):
        simulation.advance(round(0.1 / step))
        q, v = simulation.q, simulation.v
        worst = np.maximum(worst, [np.abs(model.constraint_error(q)).max(),
                                   np.abs(model.constraint_jacobian(q) @ v).max(),
                                   abs(sum(model.energy(q, v)) - before) / scale])
        states.append(q.copy())
    return worst, np.array(states)


def claim_constraints(claims, source: str, what: str, worst) -> None:
    claims.bound(source, f'{what}: constraints of positions', worst[0], KEPT, unit='m or rad')
    claims.bound(source, f'{what}: constraints of speeds', worst[1], KEPT, unit='m/s or rad/s')


def claim_kept(claims, source: str, what: str, worst) -> None:
    claim_constraints(claims, source, what, worst)
    claims.bound(source, f'{what}: change of energy by its value', worst[2], 1e-6)


def test_chaplygin_sleigh(claims):
    mass, inertia, a, rate, start = 2.0, 0.5, 0.3, 1.2, -1.0
    model = Model(sleigh(mass, inertia, a))
    k = np.sqrt(mass * a * a / (inertia + mass * a * a))
    first = [a * rate / k * np.tanh(k * rate * start), 0.0, rate / np.cosh(k * rate * start)]
    result = simulate(model, 5.0, v=first, step=2e-4, output_step=0.05, progress=False)
    t, heading = result.time + start, result.q[:, 2]
    forward = np.cos(heading) * result.v[:, 0] + np.sin(heading) * result.v[:, 1]
    claims.value('closed form', 'Chaplygin sleigh, 5 s: angular velocity, sech',
                 rate / np.cosh(k * rate * t), result.v[:, 2], 1e-7, unit='rad/s')
    claims.value('closed form', 'Chaplygin sleigh, 5 s: forward speed, tanh',
                 a * rate / k * np.tanh(k * rate * t), forward, 1e-7, unit='m/s')
    energies = [sum(model.energy(q, v)) for q, v in zip(result.q, result.v, strict=True)]
    claims.bound('closed form', 'Chaplygin sleigh: change of energy', float(np.ptp(energies)),
                 1e-10, unit='J')


def test_rolling_disc(claims):
    m, r, g = 2.0, 0.3, 9.81
    model = Model(disc(m, r))
    straight = simulate(model, 5.0, v=[0.6, 0, 0, 0, 2.0, 0], output_step=0.1, progress=False)
    claims.value('closed form', 'disc rolls straight at 0.6 m/s for 5 s: path',
                 0.6 * straight.time, straight.q[:, 0], 1e-9, unit='m')
    lean, turn = 0.3, 1.5
    across, along = 0.25 * m * r * r, 0.5 * m * r * r
    spin = np.sin(lean) * (m * g * r - across * turn**2 * np.cos(lean)) / (
        turn * np.cos(lean) * (along + m * r * r))
    q, up = np.zeros(6), np.array([0.0, 0.0, 1.0])
    q[2:4] = r * (np.cos(lean) - 1.0), -lean
    motion = model.frame_motion(q, np.zeros(6), 'disc')
    axis = motion.pose[:3, 1]
    upward = up - (up @ axis) * axis
    omega = turn * upward + spin * axis
    speed = np.cross(omega, r * upward / np.linalg.norm(upward))
    v = np.linalg.solve(motion.jacobian, np.concatenate((speed, omega)))
    result = simulate(model, 5.0, q=q, v=v, step=2e-4, output_step=0.1, progress=False)
    axes = np.array([model.pose(state, 'disc')[:3, 1] for state in result.q])
    claims.bound('closed form', 'disc in steady precession, 5 s: change of its lean',
                 float(np.abs(np.arcsin(axes[:, 2]) + lean).max()), 1e-5, unit='rad')
    turned = np.unwrap(np.arctan2(axes[:, 1], axes[:, 0]))
    claims.value('closed form', 'disc in steady precession: angle turned in 5 s', 5.0 * turn,
                 turned[-1] - turned[0], 1e-5, unit='rad')


@pytest.mark.parametrize(('count', 'kind', 'duration', 'step'), [
    (2, 'revolute', 10.0, 1e-3), (40, 'ball', 20.0, 2e-3)])
def test_row_of_four_bars(claims, count, kind, duration, step):
    model = Model(four_bars(count, kind))
    v = np.array([-1.0 if name.startswith('pin') else 1.0 for name in model.names])
    began = time.process_time()
    worst, states = run(model, duration, step, v=v)
    spent = time.process_time() - began
    what = f'{count} four-bars for {duration:g} s, through their singular position'
    claim_kept(claims, 'IFToMM A02', what, worst)
    cranks = states[:, [model.names.index(f'pin{k}') for k in range(count + 1)]]
    claims.bound('IFToMM A02', f'{count} four-bars: largest angle between cranks',
                 float(np.ptp(cranks, axis=1).max()), 1e-6, unit='rad',
                 note=f'{model.n} coordinates, {len(model.constraint_names)} rows, {spent:.1f} s '
                 'of processor time')


def test_bricard(claims):
    model = Model(bricard())
    found = model.constraint_independence(np.zeros(model.n))
    claims.value('IFToMM A04', "Bricard's mechanism: degrees of freedom (Gruebler counts 0)", 1,
                 found.freedom, 0)
    worst, states = run(model, 10.0, 1e-3)
    claim_kept(claims, 'IFToMM A04', "Bricard's mechanism for 10 s", worst)
    claims.bound('IFToMM A04', "Bricard's mechanism: the first, third and fifth joint turn alike",
                 float(np.ptp(states[:, ::2], axis=1).max()), 1e-9, unit='rad')


def test_energy_of_a_flexible_four_bar(claims):
    model = Model(flexible_four_bar())
    q = model.close(np.zeros(model.n)).q
    v = model.admissible_speeds(q, np.where(np.arange(model.n) == 0, 5.0, 0.0))
    worst, states = run(model, 60.0, 5e-4, q, v)
    claim_kept(claims, 'energy', 'undamped flexible four-bar for 60 s', worst)
    claims.fact('energy', 'undamped flexible four-bar: its crank turns', 'more than 6 rad',
                f'{np.ptp(states[:, 0]):.1f} rad', bool(np.ptp(states[:, 0]) > 6.0))


def wobbling_disc():
    """A disc that leans, rolls and turns as no steady motion does."""
    model, q = Model(disc(2.0, 0.3)), np.zeros(6)
    q[2:4] = 0.3 * (np.cos(0.3) - 1.0), -0.3
    return model, q, model.admissible_speeds(q, np.array([1.2, 0.0, 0.0, 0.4, 4.0, 0.8]))


def spinning(robot, speed: float):
    """A mechanism whose first joint starts at a speed (rad/s)."""
    model = Model(robot)
    q = model.close(np.zeros(model.n)).q
    return model, q, model.admissible_speeds(q, np.where(np.arange(model.n) == 0, speed, 0.0))


@pytest.mark.parametrize(('what', 'start', 'step'), [
    ('wobbling disc', wobbling_disc, 1e-3),
    ('slider-crank with a flexible rod', lambda: spinning(slider_crank(2), 8.0), 5e-4),
    ('four-bar with a thin coupler', lambda: spinning(thin_four_bar(3), 0.0), 5e-4)])
def test_energy_of_other_machines(claims, what, start, step):
    model, q, v = start()
    worst, states = run(model, 60.0, step, q, v)
    claim_kept(claims, 'energy', f'undamped {what} for 60 s', worst)
    claims.fact('energy', f'{what}: it moves', 'more than 1 m or rad',
                f'{np.ptp(states, axis=0).max():.1f}', bool(np.ptp(states, axis=0).max() > 1.0))


def test_constraints_of_a_flexible_four_bar_for_an_hour(claims):
    """Undamped, so that nothing calms it: it turns and rings for the whole hour. Its energy errs
    by up to 5e-6, which comes and goes from step to step: 4.9e-6, 5.1e-6, 4.6e-6 and 4.6e-6 in the
    quarters of the hour, sampled each second. With the 0.5 ms of the claim above it is 3e-8."""
    model = Model(flexible_four_bar())
    q = model.close(np.zeros(model.n)).q
    v = model.admissible_speeds(q, np.where(np.arange(model.n) == 0, 5.0, 0.0))
    worst, states = run(model, 3600.0, 2e-3, q, v)
    claim_constraints(claims, 'one hour', 'undamped flexible four-bar, steps of 2 ms', worst)
    last = np.ptp(states[-600:, 0])
    claims.fact('one hour', 'the crank turns in the last minute', 'more than 6 rad',
                f'{last:.1f} rad', bool(last > 6.0))


def by_hand(q, v, tau):
    """Accelerations of the platform (x, y, heading, right, left wheel) and multipliers, from
    Lagrange's equations with the three constraints: no sideslip, no slip of either wheel."""
    p = PLATFORM
    s, c, w = np.sin(q[2]), np.cos(q[2]), v[2]
    total, md = p['mass'] + 2 * p['wheel'], p['mass'] * p['ahead']
    inertia = (p['inertia'] + md * p['ahead'] + 2 * p['wheel'] * p['half']**2
               + 2 * p['diameter'])
    M = np.diag([total, total, inertia, p['spin'], p['spin']])
    M[0, 2] = M[2, 0] = -md * s
    M[1, 2] = M[2, 1] = md * c
    bias = np.array([-md * c * w * w, -md * s * w * w, 0.0, 0.0, 0.0])
    r, b = p['radius'], p['half']
    A = np.array([[-s, c, 0, 0, 0], [c, s, b, -r, 0], [c, s, -b, 0, -r]])
    A_rate = w * np.array([[-c, -s, 0, 0, 0], [-s, c, 0, 0, 0], [-s, c, 0, 0, 0]])
    force = np.array([0, 0, 0, *tau])
    system = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
    found = np.linalg.solve(system, np.concatenate((force - bias, -A_rate @ v)))
    return found[:5], found[5:], (M, bias, force, A, A_rate)


def test_platform(claims):
    model = Model(platform())
    worst, pseudo_worst, side_worst = 0.0, 0.0, 0.0
    rng = np.random.default_rng(3)
    for _ in range(20):
        q = rng.uniform(-3, 3, 5)
        v = model.admissible_speeds(q, rng.uniform(-3, 3, 5))
        tau = rng.uniform(-5, 5, 2)
        expected, multipliers, (M, bias, force, A, A_rate) = by_hand(q, v, tau)
        found = model.forward_dynamics(q, v, [0, 0, 0, *tau])
        worst = max(worst, np.abs(found - expected).max() / (1.0 + np.abs(expected).max()))
        # Mladenova: forward speed and yaw rate as pseudo-velocities.
        s, c, w = np.sin(q[2]), np.cos(q[2]), v[2]
        A1 = np.array([[c, s, 0, 0, 0], [0, 0, 1, 0, 0]])
        A1_rate = w * np.array([[-s, c, 0, 0, 0], [0, 0, 0, 0, 0]])
        pseudo = PseudoVelocities(A1, A, A1_rate, A_rate)
        a = pseudo.acceleration(A1 @ v, pseudo.motion(M, bias, force, A1 @ v))
        pseudo_worst = max(pseudo_worst, np.abs(a - found).max() / (1.0 + np.abs(a).max()))
        # Both wheels together carry what the multiplier of sideslip says.
        reactions = model.reactions(q, v, [0, 0, 0, *tau])
        side = sum(reactions[f'{name}_wheel'].second[:2] for name in ('right', 'left'))
        side_worst = max(side_worst, abs(side @ [-s, c] - multipliers[0])
                         / (1.0 + abs(multipliers[0])))
    claims.bound('by hand', 'platform, 20 states: accelerations', worst, 1e-9)
    claims.bound('by hand', 'platform, 20 states: side force of the wheels', side_worst, 1e-9)
    claims.bound('Mladenova (245)-(249)', 'platform in forward speed and yaw rate: accelerations',
                 pseudo_worst, 1e-9)
    # Constant torque on both wheels: it speeds up straight ahead.
    result = simulate(model, 5.0, tau=[0, 0, 0, 0.3, 0.3], output_step=0.1, progress=False)
    p = PLATFORM
    inertia = (p['mass'] + 2 * p['wheel'] + 2 * p['spin'] / p['radius']**2)
    expected = 0.5 * (0.6 / p['radius'] / inertia) * result.time**2
    claims.value('by hand', 'platform driven by equal torques for 5 s: path', expected,
                 result.q[:, 0], 1e-9, unit='m')
