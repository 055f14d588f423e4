"""Exudyn as a witness: converged nonlinear beams against our modes, on three published robots."""
from __future__ import annotations

from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation import Simulation

pytest.importorskip('exudyn', reason='Exudyn is not installed')

from accuracy import run_exudyn  # noqa: E402
from exudyn_planar import PlanarChain  # noqa: E402
from manoeuvre import TIMES, run_flex, tip_error, tips_of  # noqa: E402


def test_manoeuvre_of_the_4_joint_arm(claims):
    """Stepped set-points, stiff servos: the tip all the way, the joints at rest."""
    robot = load_robot('cibicik_arm')
    model = Model(robot)
    states = run_flex(model, 0.001)
    reference = run_exudyn(robot, 8, 0.001, 0.004, 2e-5, 0.9, 1e-4)
    assert reference is not None
    tips = tips_of(model, states)
    largest, rms = tip_error(tips, reference)
    source = 'Cibicik arm, Exudyn'
    claims.bound(source, 'distance of the tips over 6 s', 1e3 * largest, 0.5, unit='mm',
                 note=f'mode truncation: {model.n - 4} shapes here, 8 beams a link there')
    claims.bound(source, 'the same, root mean square', 1e3 * rms, 0.1, unit='mm')
    coarse = load_robot(robot.urdf.replace('bending_y="3"', 'bending_y="2"')
                        .replace('bending_z="3"', 'bending_z="2"'))
    fewer = Model(coarse)
    assert fewer.n < model.n
    theirs, _ = tip_error(tips_of(fewer, run_flex(fewer, 0.001)), reference)
    claims.fact(source, 'that is truncation: with two bending shapes a plane it grows',
                'more', f'{1e3 * theirs:.2f} mm', theirs > 1.5 * largest)
    claims.value(source, 'joints at 6 s', [0.78542, 1.08531, 1.06795, 1.04639], states[-1, :4],
                 1e-5, unit='rad', note='expected: converged nonlinear beams')
    figure, axes = plt.subplots(1, 2, figsize=(11, 3))
    for axis, name in enumerate('xyz'):
        axes[0].plot(TIMES, reference[:, axis], color='black', lw=1)
        axes[0].plot(TIMES, tips[:, axis], '--', label=name)
    axes[0].set(xlabel='s', ylabel='m', title='Tip: Exudyn (lines), flex (dashed)')
    axes[0].legend()
    axes[1].plot(TIMES, 1e3 * np.linalg.norm(tips - reference, axis=1))
    axes[1].set(xlabel='s', ylabel='mm', title='Distance')
    claims.figure('The 4-joint arm in its manoeuvre', figure)


def _at_steps(times: np.ndarray, values: np.ndarray, step: float) -> np.ndarray:
    """Values (k, m) at the ends of equal steps: Exudyn cuts one where Newton asks for it."""
    ends = np.arange(1, round(times[-1] / step) + 1) * step
    return np.stack([np.interp(ends, times, column) for column in values.T], axis=1)


def canadarm_torques(model: Model, t: float) -> np.ndarray:
    """Torques (3,) of the rigid arm for Mohan and Saha's trajectory (44)."""
    rate, period = np.array([0.075, 0.05, 0.1]), np.array([10.0, 5.0, 5.0])
    phase = np.pi * t / period
    q, v, a = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n)
    q[:3] = rate * (t - period / np.pi * np.sin(phase))
    v[:3] = rate * (1 - np.cos(phase))
    a[:3] = rate * np.pi / period * np.sin(phase)
    return model.inverse_dynamics(q, v, a)[:3]


def test_canadarm(claims):
    """Rigid inverse-dynamics torques on the flexible arm, open loop, for 10 s."""
    robot = load_robot('canadarm')
    model = Model(robot)
    step, duration = 0.005, 10.0
    simulation = Simulation(model, step)
    lengths = {'link1': 6.0, 'link2': 7.0, 'link3': 2.0}
    tips, deflections = [], []
    for k in range(round(duration / step)):
        simulation.advance(1, canadarm_torques(model, (k + 0.5) * step))
        tips.append(model.pose(simulation.q, 'tool')[:3, 3])
        deflections.append([(np.linalg.inv(model.pose(simulation.q, link))
                             @ model.pose(simulation.q, link, x))[1, 3]
                            for link, x in lengths.items()])
    chain = PlanarChain(robot, 4)
    # Exudyn asks for each torque at each iteration.
    chain.hinge(lru_cache(lambda t: canadarm_torques(model, t)))
    times, theirs = chain.run(duration, step)
    theirs = _at_steps(times, theirs, step)
    distance = np.linalg.norm(np.array(tips) - theirs, axis=1)
    source = 'Canadarm, Exudyn'
    claims.bound(source, 'distance of the tips over 10 s', 1e3 * distance.max(), 0.3, unit='mm',
                 note=f'mode truncation: {model.n - 3} shapes here, 4 ANCF elements a link there')
    claims.value(source, 'joints at 10 s', [0.75180, 0.50188, 0.99433], simulation.q[:3], 2e-4,
                 unit='rad', note='expected: converged nonlinear beams')
    largest = 1e3 * np.abs(deflections).max(axis=0)
    for link, expected, found in zip(lengths, (155.0, 90.57, 0.613), largest):
        claims.value(source, f'largest deflection of the end of {link}', expected, found, 0.01,
                     relative=True, unit='mm')
    figure, axes = plt.subplots(1, 2, figsize=(11, 3))
    time = step * np.arange(1, len(tips) + 1)
    for axis, name in enumerate('xy'):
        axes[0].plot(time, theirs[:, axis], color='black', lw=1)
        axes[0].plot(time, np.array(tips)[:, axis], '--', label=name)
    axes[0].set(xlabel='s', ylabel='m', title='Tip: Exudyn (lines), flex (dashed)')
    axes[0].legend()
    axes[1].plot(time, deflections, label=list(lengths))
    axes[1].set(xlabel='s', ylabel='m', title='Deflection of the ends of the links')
    axes[1].legend()
    claims.figure('Canadarm under the torques of the rigid arm', figure)


def hub_angle(t: float) -> float:
    """Simo and Vu-Quoc's spin-up: rad, 6 rad/s from 15 s on."""
    if t > 15.0:
        return 6.0 * t - 45.0
    return 0.4 * (t * t / 2 + (7.5 / np.pi) ** 2 * (np.cos(2 * np.pi * t / 15) - 1))


def hub_rate(t: float) -> float:
    return 6.0 if t > 15.0 else 0.4 * (t - 7.5 / np.pi * np.sin(2 * np.pi * t / 15))


def spin_up(share: float, duration: float, step: float = 0.005) -> tuple[np.ndarray, np.ndarray]:
    """y of the tip in the hub's frame, m, ours and Exudyn's, of a share of the hub's motion."""
    robot = load_robot('spin_up_beam')
    model = Model(robot)
    simulation = Simulation(model, step)
    ours = []
    for k in range(round(duration / step)):
        middle = (k + 0.5) * step
        # A servo so stiff that the hub follows to 1e-6 rad, its set-point that of mid-step.
        simulation.set_servo([1e9], [1e7], [share * hub_angle(middle)],
                             [share * hub_rate(middle)])
        simulation.advance(1)
        tip = model.pose(simulation.q, 'beam', 10.0)[:3, 3]
        ours.append(_behind(tip, share * hub_angle((k + 1) * step)))
    chain = PlanarChain(robot, 8)
    chain.turn(lambda t: share * hub_angle(t))
    times, tips = chain.run(duration, step)
    theirs = np.array([_behind(tip, share * hub_angle(t)) for t, tip in zip(times, tips)])
    return np.array(ours), _at_steps(times, theirs[:, None], step)[:, 0]


def test_spin_up_beam(claims):
    """The tip lags by 0.574 m and comes back, as centrifugal forces stiffen the beam."""
    ours, theirs = spin_up(1.0, 18.0)
    source = 'spin-up, Exudyn'
    claims.value(source, 'largest lag of the tip, converged', -0.5738, theirs.min(), 2e-4,
                 unit='m', note='Exudyn against the published value')
    claims.value(source, 'lag of the tip over 18 s', theirs, ours, 3e-3, unit='m',
                 note='third-order terms are left out, see the next claim')
    claims.value(source, 'time of the largest lag', 6.76, np.argmin(ours) * 0.005, 0.03, unit='s')
    claims.bound(source, 'lag from 16 s on', np.abs(ours[3200:]).max(), 5e-3, unit='m')
    figure, axes = plt.subplots(figsize=(7, 3))
    time = 0.005 * np.arange(1, len(ours) + 1)
    axes.plot(time, theirs, label='Exudyn, 8 ANCF elements')
    axes.plot(time, ours, '--', label='flex, order second')
    axes.set(xlabel='s', ylabel='m', title='Spin-up beam: lag of the tip')
    axes.legend()
    claims.figure('Spin-up beam: lag of the tip in the frame of the hub', figure)


def test_what_is_missing_in_the_spin_up_is_of_third_order(claims):
    """Half the motion: half the bend, and an eighth of the difference to the exact beam."""
    differences = []
    for share in (1.0, 0.5):
        ours, theirs = spin_up(share, 7.0)
        differences.append(np.abs(ours - theirs).max())
    claims.value('spin-up, Exudyn', 'difference by that of half the motion: 8 for third order',
                 8.0, differences[0] / differences[1], 2.0)


def _behind(tip: np.ndarray, angle: float) -> float:
    """y of the tip (m) in the frame of a hub at this angle: negative is behind."""
    return float(-np.sin(angle) * tip[0] + np.cos(angle) * tip[1])
