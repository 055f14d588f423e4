"""Exudyn as a witness: converged nonlinear beams against our modes, on three published robots."""
from __future__ import annotations

from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from spinning_elastica import exact_lag, hub

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

pytest.importorskip('exudyn', reason='Exudyn is not installed')

import exudyn as exu  # noqa: E402
import exudyn.itemInterface as items  # noqa: E402
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


LENGTHS = {'link1': 6.0, 'link2': 7.0, 'link3': 2.0}


def bend_of(model: Model, q: np.ndarray) -> list[float]:
    """How far (m) the end of each link is off the axis of its root."""
    return [(np.linalg.inv(model.pose(q, link)) @ model.pose(q, link, x))[1, 3]
            for link, x in LENGTHS.items()]


def mean_of_50_ms(values: np.ndarray, step: float) -> np.ndarray:
    """Of the columns (k, m): without what vibrates above 20 Hz."""
    count = round(0.05 / step)
    return np.stack([np.convolve(column, np.full(count, 1.0 / count), 'valid')
                     for column in values.T], axis=1)


class BendingChain(PlanarChain):
    """A chain whose links' roots and ends are watched."""

    def __init__(self, robot, elements: int) -> None:
        super().__init__(robot, elements)
        self._watched = [[self.mbs.AddSensor(items.SensorNode(
            nodeNumber=nodes[k], outputVariableType=exu.OutputVariableType.Coordinates,
            storeInternal=True, writeToFile=False)) for k in (0, -1)] for nodes in self.nodes]

    def bends(self) -> np.ndarray:
        """As bend_of, for every step: (k, links)."""
        columns = []
        for (first, last), length in zip(self._watched, LENGTHS.values()):
            root, end = (self.mbs.GetSensorStoredData(k)[:, 1:] for k in (first, last))
            along, slope = end[:, :2] - root[:, :2] + [length, 0.0], root[:, 2:] + [1.0, 0.0]
            columns.append((slope[:, 0] * along[:, 1] - slope[:, 1] * along[:, 0])
                           / np.linalg.norm(slope, axis=1))
        return np.stack(columns, axis=1)


@lru_cache
def flex_canadarm(shapes: int, step: float, duration: float):
    """Tips (k, 3), bends (k, 3) and the last joints under the torques of the rigid arm."""
    model = Model(load_robot(load_robot('canadarm').urdf.replace(
        'bending_y="3"', f'bending_y="{shapes}"')))
    simulation, tips, bends = Simulation(model, step), [], []
    for k in range(round(duration / step)):
        simulation.advance(1, canadarm_torques(model, (k + 0.5) * step))
        tips.append(model.pose(simulation.q, 'tool')[:3, 3])
        bends.append(bend_of(model, simulation.q))
    return np.array(tips), np.array(bends), simulation.q[:3]


def exudyn_canadarm(elements: int, step: float, duration: float):
    """Tips (k, 3) and bends (k, 3) of the same, by nonlinear beams."""
    robot = load_robot('canadarm')
    model, chain = Model(robot), BendingChain(robot, elements)
    # Exudyn asks for each torque at each iteration.
    chain.hinge(lru_cache(lambda t: canadarm_torques(model, t)))
    times, tips = chain.run(duration, step)
    return _at_steps(times, tips, step), _at_steps(times, chain.bends(), step)


def test_canadarm(claims):
    """Rigid inverse-dynamics torques on the flexible arm, open loop, for 10 s."""
    step, duration, source = 0.005, 10.0, 'Canadarm, Exudyn'
    tips, bends, joints = flex_canadarm(3, step, duration)
    theirs, _ = exudyn_canadarm(4, step, duration)
    claims.bound(source, 'distance of the tips over 10 s',
                 1e3 * np.linalg.norm(tips - theirs, axis=1).max(), 0.3, unit='mm',
                 note='mode truncation: 3 shapes a link here, 4 ANCF elements a link there')
    converged = np.array([0.75180, 0.50188, 0.99433])
    finer = flex_canadarm(6, 1e-3, duration)[2]
    claims.value(source, 'joints at 10 s, 6 shapes a link, 1 ms', converged, finer, 1.5e-5,
                 unit='rad', note='expected: converged nonlinear beams, five digits')
    claims.value(source, 'joints at 10 s, 3 shapes a link, 5 ms', converged, joints, 2.5e-4,
                 unit='rad', note='truncation: 2.2e-4 rad with steps that no longer matter')
    figure, axes = plt.subplots(1, 2, figsize=(11, 3))
    time = step * np.arange(1, len(tips) + 1)
    for axis, name in enumerate('xy'):
        axes[0].plot(time, theirs[:, axis], color='black', lw=1)
        axes[0].plot(time, tips[:, axis], '--', label=name)
    axes[0].set(xlabel='s', ylabel='m', title='Tip: Exudyn (lines), flex (dashed)')
    axes[0].legend()
    axes[1].plot(time, bends, label=list(LENGTHS))
    axes[1].set(xlabel='s', ylabel='m', title='Deflection of the ends of the links')
    axes[1].legend()
    claims.figure('Canadarm under the torques of the rigid arm', figure)
    plt.close(figure)


def test_deflections_of_the_canadarm(claims):
    """Undamped vibrations above 20 Hz ride on what the links bend: 0.018 of the 0.6 mm of link 3,
    and no two runs agree on their phase at the peak. Without them the programs agree."""
    source, fine, end = 'Canadarm, Exudyn', 2e-3, 5.0
    ours = {'3 shapes, 5 ms': (flex_canadarm(3, 5e-3, end)[1], 5e-3),
            '6 shapes, 1 ms': (flex_canadarm(6, 1e-3, end)[1], 1e-3)}
    theirs = {f'{elements} elements, 2 ms': (exudyn_canadarm(elements, fine, end)[1], fine)
              for elements in (4, 8)}
    peaks = {name: 1e3 * np.abs(values).max(axis=0)
             for name, (values, _) in {**ours, **theirs}.items()}
    means = {name: 1e3 * np.abs(mean_of_50_ms(values, step)).max(axis=0)
             for name, (values, step) in {**ours, **theirs}.items()}
    moved = np.abs(means['4 elements, 2 ms'] - means['8 elements, 2 ms']) / means[
        '8 elements, 2 ms']
    claims.bound(source, 'largest deflections, means of 50 ms: Exudyn with 4 by 8 elements a link',
                 moved.max(), 2e-3, note='a share: how well they are known')
    for name, near in (('3 shapes, 5 ms', 2e-3), ('6 shapes, 1 ms', 1e-3)):
        for link, expected, found in zip(LENGTHS, means['8 elements, 2 ms'], means[name]):
            claims.value(source, f'largest deflection of {link}, mean of 50 ms, {name}', expected,
                         found, near, relative=True, unit='mm')
    for link, expected, found, near in zip(LENGTHS, (155.0, 90.57, 0.613),
                                           peaks['6 shapes, 1 ms'], (0.1, 0.1, 0.01)):
        claims.value(source, f'largest deflection of {link}, vibrations and all', expected, found,
                     near, unit='mm', note='two programs agree to 0.01 mm; found here, link 3: '
                     + ', '.join(f'{peaks[name][2]:.4f} mm ({name})' for name in peaks)
                     if link == 'link3' else 'Exudyn is known to 0.09 mm')
    figure, axes = plt.subplots(figsize=(9, 3))
    for name, (values, step) in {**ours, **theirs}.items():
        time = step * np.arange(1, len(values) + 1)
        near_peak = (time > 2.0) & (time < 4.0)
        axes.plot(time[near_peak], 1e3 * values[near_peak, 2], lw=0.7, label=name)
    axes.set(xlabel='s', ylabel='mm', title='Deflection of the end of link 3')
    axes.legend(fontsize=8)
    claims.figure('Canadarm: link 3 near its peak, Exudyn (elements) and flex (shapes)', figure)
    plt.close(figure)


def spin_up_here(step: float, count: int) -> np.ndarray:
    """y of the tip in the hub's frame, m, after each step; order second."""
    model = Model(load_robot('spin_up_beam'))
    simulation, found = Simulation(model, step), []
    for k in range(count):
        angle, speed, _ = hub((k + 0.5) * step)
        # A servo so stiff that the hub follows to 1e-6 rad, its set-point that of mid-step.
        simulation.set_servo([1e9], [1e7], [angle], [speed])
        simulation.advance(1)
        tip = model.pose(simulation.q, 'beam', 10.0)[:3, 3]
        found.append(_behind(tip, hub((k + 1) * step)[0]))
    return np.array(found)


def spin_up_there(step: float, duration: float) -> np.ndarray:
    """The same by 8 ANCF elements."""
    chain = PlanarChain(load_robot('spin_up_beam'), 8)
    chain.turn(lambda t: hub(t)[0])
    times, tips = chain.run(duration, step)
    lag = np.array([_behind(tip, hub(t)[0]) for t, tip in zip(times, tips)])
    return _at_steps(times, lag[:, None], step)[:, 0]


def test_spin_up_beam(claims):
    """The tip lags by 0.574 m and comes back, as centrifugal forces stiffen the beam."""
    source, step, duration = 'spin-up, Exudyn', 0.002, 18.0
    theirs = spin_up_there(step, duration)
    time = step * np.arange(1, len(theirs) + 1)
    ours = spin_up_here(step, len(time))
    claims.value(source, 'largest lag of the tip, converged', -0.5738, theirs.min(), 1e-4,
                 unit='m', note='Exudyn against the published value')
    for modes, near, note in (
            (8, 1.5e-4, 'it stretches there and not here; two programs agree to 0.1 mm'),
            (4, 3e-4, 'truncation: from four modes to eight it moves by 0.16 mm')):
        model = Model(load_robot('spin_up_beam', arguments={'modes': str(modes)}))
        exact = exact_lag(model, np.append(0.0, time))[1:]
        claims.value(source, f'lag of the tip over 18 s, exact bending, {modes} modes', theirs,
                     exact, near, unit='m', note=note)
    claims.value(source, 'lag of the tip over 18 s, order second, 4 modes', theirs, ours, 2.5e-3,
                 unit='m', note='allowed: the third order that is left out, 2.4 mm by the claims '
                 'of the published problem, and half a digit')
    figure, axes = plt.subplots(1, 2, figsize=(11, 3))
    axes[0].plot(time, theirs, label='Exudyn, 8 ANCF elements')
    axes[0].plot(time, ours, '--', label='flex, order second')
    axes[0].set(xlabel='s', ylabel='m', title='Spin-up beam: lag of the tip')
    for values, words in ((ours, 'order second'), (exact, 'exact bending, 4 modes')):
        axes[1].plot(time, 1e3 * (values - theirs), lw=0.8, label=words)
    axes[1].set(xlabel='s', ylabel='mm', title='What it differs by from Exudyn')
    for axis in axes:
        axis.legend(fontsize=8)
    claims.figure('Spin-up beam: lag of the tip in the frame of the hub', figure)
    plt.close(figure)


def _behind(tip: np.ndarray, angle: float) -> float:
    """y of the tip (m) in the frame of a hub at this angle: negative is behind."""
    return float(-np.sin(angle) * tip[0] + np.cos(angle) * tip[1])
