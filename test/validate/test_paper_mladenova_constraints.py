"""Mladenova, sections 6 and 10: Hamel's equations, and the planar biped in its three phases.

Hamel's equations (231), (235), (236) are derived symbolically and compared with the numeric model
with multipliers. The paper gives no masses, lengths and gait of its biped: those of a person of 70
kg are taken, steps of 0.4 m in 0.6 s, of which 0.15 s on both feet. The two conditions that
double support leaves open: the front foot carries a share of both components of the ground's
force, which rises smoothly from 0 to 1.
"""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from biped_machine import FEET, biped_robot, efforts, to_model
from constrained_machines import bricard, disc, flexible_four_bar, four_bars, platform, sleigh
from constrained_robots import state as closed_state

from flex_dynamics import Model, simulate
from flex_dynamics.papers.biped_gait import Walk, steady_trunk, step
from flex_dynamics.papers.planar_biped import Biped, foot, mass_matrix, semi_inverse
from flex_dynamics.symbolic import derive_hamel

SAME = 1e-9
STANDS = {'swing': (), 'single': FEET[:1], 'double': FEET}
MACHINES = {
    "Chaplygin's sleigh": lambda: sleigh(2.0, 0.5, 0.3), 'platform with two wheels': platform,
    'rolling disc': lambda: disc(2.0, 0.3), 'two four-bars': lambda: four_bars(2, 'revolute'),
    "Bricard's mechanism": bricard, 'four-bar with flexible coupler': flexible_four_bar}


def states(model: Model, name: str):
    """Ten states: random, or of a motion, where few positions near a random one are closed."""
    if name.startswith('Bricard'):
        result = simulate(model, 2.0, step=1e-3, output_step=0.2, progress=False)
        return list(zip(result.q[1:], result.v[1:], strict=True))
    return [closed_state(model, seed) for seed in range(10)]


@pytest.mark.parametrize('name', MACHINES)
def test_hamel(claims, name):
    equations = derive_hamel(MACHINES[name]())
    model, terms = equations.model, equations.function('numpy')
    worst = np.zeros(3)
    for seed, (q, v) in enumerate(states(model, name)):
        tau = np.random.default_rng(seed).uniform(-5.0, 5.0, model.n_joints)
        p = terms(q, np.zeros(equations.freedom)).A1 @ v
        here, found = terms(q, p), equations.motion(q, p, tau)
        numeric = model.constrained_dynamics(q, v, tau)
        reaction = model.constraint_jacobian(q).T @ numeric.multipliers
        A, B = np.vstack((here.A1, here.A2)), np.hstack((here.B1, here.B2))
        worst = np.maximum(worst, [
            np.abs(found.acceleration - numeric.acceleration).max()
            / max(1.0, np.abs(numeric.acceleration).max()),
            np.abs(found.reaction - reaction).max() / max(1.0, np.abs(reaction).max()),
            np.abs(A @ B - np.eye(model.n)).max()])
    note = (f'{model.n} coordinates, free: {", ".join(equations.pseudo_names)}; '
            f'{equations.operations} operations, derived in {equations.seconds:.1f} s')
    claims.bound('(235), (231)', f'{name}: motion against the numeric model', worst[0], SAME,
                 note=note)
    claims.bound('(236)', f'{name}: reactions against the numeric model', worst[1], SAME)
    claims.bound('(239)', f'{name}: A B - 1', worst[2], SAME)


@pytest.fixture(scope='module')
def walk():
    biped, gait = Biped(), Walk()
    return biped, gait, step(biped, gait, steady_trunk(biped, gait), 121)


def test_biped_equations(claims):
    biped, model = Biped(), Model(biped_robot(Biped()))
    T, rng = to_model(model), np.random.default_rng(0)
    worst, printed = 0.0, 0.0
    for _ in range(20):
        q = rng.uniform(-1.0, 1.0, 7)
        M = mass_matrix(biped, q)
        worst = max(worst, np.abs(T.T @ model.mass_matrix(T @ q) @ T - M).max())
        odd = mass_matrix(biped, q, printed=True)
        printed = max(printed, np.abs(odd - odd.T).max())
    claims.bound('before (399)', 'M of the seven equations against the URDF', worst, SAME,
                 unit='kg, kg m, kg m2')
    claims.fact('before (399)', 'M with the printed sign of the z equation', 'not symmetric',
                f'off by {printed:.3g} kg m', bool(printed > 0.1))


def test_biped_on_the_ground(claims, walk):
    biped, gait, path = walk
    model = Model(biped_robot(biped))
    T = to_model(model)
    worst = {phase: np.zeros(2) for phase in ('single', 'double')}
    for phase, q, v, found in zip(path.phase, path.q, path.v, path.motion, strict=True):
        supported = model.with_supports(T @ q, STANDS[phase])
        tau = efforts(model, found.knee, found.hip)
        numeric = supported.constrained_dynamics(T @ q, T @ v, tau)
        forces = supported.reactions(T @ q, T @ v, tau)
        off = max(np.abs(forces[name].second[[0, 2]] - found.reaction[i]).max()
                  for i, name in enumerate(FEET))
        worst[phase] = np.maximum(worst[phase], [
            np.abs(numeric.acceleration - T @ found.acceleration).max(), off])
    for phase, (acceleration, force) in worst.items():
        claims.bound('(399)', f'{phase} support: accelerations against the Model with supports',
                     acceleration, 1e-8, unit='m/s2, rad/s2')
        claims.bound('(399)', f'{phase} support: reactions against the Model with supports', force,
                     1e-7, unit='N')
    total = np.array([found.reaction.sum(axis=0) for found in path.motion])
    mean = np.trapezoid(total, path.time, axis=0) / gait.period
    claims.value('momentum', 'mean force of the ground over a step: 0 and the weight',
                 [0.0, biped.mass * biped.gravity], mean, 0.05, unit='N',
                 note='by the trapezoidal rule over 121 times')
    claims.fact('(399)', 'the ground pushes upwards at all times', 'more than 0',
                f'{total[:, 1].min():.0f} N', bool(total[:, 1].min() > 0.0))
    claims.bound('gait', 'trunk after a step: its angle and rate',
                 float(np.abs((path.q[-1] - path.q[0])[2]) + abs((path.v[-1] - path.v[0])[2])),
                 1e-6, unit='rad, rad/s')
    first, last = path.motion[0].reaction[::-1], path.motion[-1].reaction
    claims.value('(399)', 'reactions at the end of a step, and of the next at its start', last,
                 first, 1e-4, unit='N')
    energy = np.array([sum(model.energy(T @ q, T @ v))
                       for q, v in zip(path.q, path.v, strict=True)])
    power = [np.array([*found.knee, *found.hip]) @ np.array(
        [v[4] - v[3], v[6] - v[5], v[3] - v[2], v[5] - v[2]])
        for v, found in zip(path.v, path.motion, strict=True)]
    work = np.concatenate(([0.0], np.cumsum(0.5 * np.diff(path.time)
                                            * (np.array(power)[1:] + np.array(power)[:-1]))))
    claims.bound('energy', 'work of hips and knees minus energy, over a step',
                 float(np.abs(energy - energy[0] - work).max()), 0.05, unit='J',
                 note=f'energy changes by {np.ptp(energy):.1f} J; trapezoidal rule')
    _draw(claims, path)


def test_biped_in_the_air(claims):
    """Swing: no foot touches the ground. The legs pull up and stretch again for 0.3 s."""
    biped = Biped()
    model = Model(biped_robot(biped))
    T = to_model(model)
    count, span = 600, 0.3
    h = span / count

    def legs(t):
        turn = 2.0 * np.pi / span
        size, middle = np.array([-0.5, 0.6, -0.3, 0.5]), np.array([-0.2, 0.3, 0.1, 0.3])
        return (middle + 0.5 * size * (1 - np.cos(turn * t)), 0.5 * size * turn * np.sin(turn * t),
                0.5 * size * turn**2 * np.cos(turn * t))

    def full(t, y):
        angles, rates, accelerations = legs(t)
        return np.concatenate((y[:3], angles)), np.concatenate((y[3:], rates)), accelerations

    def rate(t, y):
        q, v, accelerations = full(t, y)
        return np.concatenate((y[3:], semi_inverse(biped, 'swing', q, v, accelerations)
                               .acceleration[:3]))

    y, worst, forces = np.array([0.0, 1.0, 0.1, 0.8, 1.5, -0.5]), 0.0, 0.0
    momenta, centres = [], []
    for k in range(count + 1):
        t = k * h
        q, v, accelerations = full(t, y)
        if k % 20 == 0:
            found = semi_inverse(biped, 'swing', q, v, accelerations)
            numeric = model.forward_dynamics(T @ q, T @ v, efforts(model, found.knee, found.hip))
            worst = max(worst, np.abs(numeric - T @ found.acceleration).max())
            forces = max(forces, np.abs(found.reaction).max())
            mass, moment = model.first_moment(T @ q)
            centres.append(moment / mass)
            p = mass_matrix(biped, q) @ v
            # about the centre of mass: angular momentum of all angles minus that of the motion
            c = centres[-1][[0, 2]] - q[:2]
            momenta.append(p[2:].sum() - (c[1] * p[0] - c[0] * p[1]))
        k1 = rate(t, y)
        k2 = rate(t + h / 2, y + h / 2 * k1)
        k3 = rate(t + h / 2, y + h / 2 * k2)
        k4 = rate(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    claims.bound('(399)', 'swing: accelerations against the Model without supports', worst, 1e-8,
                 unit='m/s2, rad/s2')
    claims.bound('(399)', 'swing: reactions', forces, 0.0, unit='N')
    claims.bound('momentum', 'swing, 0.3 s: angular momentum about the centre of mass, change',
                 float(np.ptp(momenta)), 1e-8, unit='kg m2/s')
    time = h * 20 * np.arange(len(centres))
    height = np.array(centres)[:, 2]
    fall = np.polyfit(time, height, 2)
    claims.value('momentum', 'swing: acceleration of the centre of mass', -biped.gravity,
                 2.0 * fall[0], 1e-8, unit='m/s2')


def _draw(claims, path):
    figure, (above, middle, below) = plt.subplots(3, 1, figsize=(7, 7), sharex=True)
    forces = np.array([found.reaction for found in path.motion])
    for leg, name in enumerate(('front, then standing', 'rear, then swinging')):
        for axis, direction in enumerate('xz'):
            above.plot(path.time, forces[:, leg, axis], label=f'{name}, {direction}')
        middle.plot(path.time, [found.knee[leg] for found in path.motion], label=f'knee, {name}')
        middle.plot(path.time, [found.hip[leg] for found in path.motion], '--',
                    label=f'hip, {name}')
    below.plot(path.time, path.q[:, 2], label='trunk')
    for axes, label in ((above, 'reactions, N'), (middle, 'moments, N m'), (below, 'rad')):
        axes.set_ylabel(label)
        axes.legend(fontsize='x-small')
    below.set_xlabel('s after the front foot landed')
    claims.figure('One step of the biped: both feet on the ground for 0.15 s, then one', figure)
    plt.close(figure)


def test_standing_foot_of_the_gait(claims, walk):
    biped, _, path = walk
    places = np.array([foot(biped, q, 0)[0] for q in path.q])
    claims.bound('gait', 'the standing foot moves by', float(np.abs(places).max()), 1e-12,
                 unit='m')
