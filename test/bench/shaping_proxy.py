"""Residual vibration of a simulated UR10 behind the shaping proxy, for each shaper.

    python3 test/bench/shaping_proxy.py

The robot is that of the index package example-robot-data with overlays/ur10.yaml, its first
frequency about 6 Hz. Its own controller is stiff: the drives follow the points that the proxy
passes on, interpolated as joint_trajectory_controller does. Five moves of 1 s with constant
acceleration, speed and deceleration, from pose to pose; the vibration is that of the tool in the
0.6 s after the last point. The table goes into flex_control/doc/shaping_proxy.md.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from any_robot import PUBLISHED, shipped_robots

from flex_control import ControlError, MotionLimits, Reference, Splines, Trajectory
from flex_control.loop.motion_shaper import MotionShaper, ShaperSettings
from flex_control.loop.trajectory_reader import TrajectoryReader
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_dynamics import DynamicsError, Model, largest_joint_inertia
from flex_dynamics.simulation.plant import Drives, Plant

MOVE = 1.0                       # s
START = 0.2                      # s, at which a move begins
BANDWIDTH = 2.0 * np.pi * 40.0   # rad/s, of the drives
PERIOD, STEPS = 1e-3, 2          # s between targets of the drives; inner steps
WATCHED = 0.6                    # s after the last point
PAYLOAD = 5.0                    # kg at the tool
TIP = 'tool0'
POSES = np.array([[0.0, -1.2, 1.2, -1.5, -1.5, 0.0], [1.0, -1.0, 1.6, -0.8, -1.5, 0.0],
                  [0.5, -0.4, 0.4, -1.0, -1.5, 0.5], [0.0, -1.57, 2.2, -2.0, -1.5, 0.0],
                  [1.2, -0.6, 0.9, -1.0, -1.5, 0.0]])
WAYS = (('none', 1, 'motion'), ('zv', 1, 'motion'), ('zv', 3, 'motion'), ('zvd', 1, 'motion'),
        ('zvd', 2, 'motion'), ('zvd', 3, 'motion'), ('zvd', 3, 'goal'), ('ei', 3, 'motion'),
        ('zvdd', 3, 'motion'))


@dataclass(frozen=True)
class Figures:
    """Of one way to shape, over all moves: vibration (k,) m, delay (k,) s, largest speed and
    acceleration (k,) by those of the motion before shaping."""

    vibration: np.ndarray
    delay: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray


def ur10() -> Model:
    """The robot; DynamicsError if example-robot-data is not installed."""
    shipped_robots()
    return next(case for case in PUBLISHED if case.name.startswith('UR10')).model()


def planned(model: Model, first: np.ndarray, last: np.ndarray) -> TrajectoryPoints:
    """A trapezoid of speed, sampled as a planner samples it."""
    third, steps = MOVE / 3.0, np.linspace(0.0, MOVE, 61)
    peak = 1.0 / (MOVE - third)
    rate = np.minimum(np.minimum(steps, MOVE - steps) / third, 1.0) * peak
    bend = np.select([steps < third, steps > MOVE - third], [1.0, -1.0], 0.0) * peak / third
    ramp = np.minimum(np.minimum(steps, MOVE - steps), third)
    share = np.where(steps < 0.5 * MOVE, 0.5 * peak / third * ramp**2
                     + peak * np.maximum(steps - third, 0.0),
                     1.0 - 0.5 * peak / third * ramp**2
                     - peak * np.maximum(MOVE - steps - third, 0.0))
    way = last - first
    return TrajectoryPoints(model.joint_names, 0.0, steps, first + share[:, None] * way,
                            rate[:, None] * way, bend[:, None] * way, None)


def vibration(model: Model, first: np.ndarray, motion: Trajectory, end: float) -> float:
    """Largest distance (m) of the tool from its mean place after `end` (s)."""
    inertia = largest_joint_inertia(model)
    plant = Plant(model, PERIOD / STEPS, STEPS, Drives(
        BANDWIDTH**2 * inertia, 1.4 * BANDWIDTH * inertia), first, True, stops=False, limits=False)
    holding, tips = model.statics(first)[1], []
    for at in range(round((end + WATCHED) / PERIOD)):
        wanted = motion.sample(at * PERIOD + 0.5 * PERIOD)
        plant.commands.accept_all(holding, wanted.position, wanted.velocity)
        plant.advance()
        if (at + 1) * PERIOD > end:
            tips.append(model.pose(plant.q, TIP)[:3, 3])
    away = np.array(tips) - np.mean(tips, axis=0)
    return float(np.linalg.norm(away, axis=1).max())


def measure(model: Model, plant: Model, name: str, modes: int, where: str) -> Figures:
    """All moves, shaped for `model` and done by the robot `plant`."""
    limits = MotionLimits.of(model.robot, model.joint_names)
    shaper = MotionShaper(model, TrajectoryReader(model.joint_names, limits, partial=True),
                          ShaperSettings(name, modes, where))
    rows = []
    for first, last in zip(POSES, np.roll(POSES, -1, axis=0)):
        points = planned(model, first, last)
        goal = shaper.shape(points, START, Reference.at_rest(first))
        motion = Splines(np.insert(goal.times, 0, START), *(
            np.vstack((begin, values)) for begin, values in (
                (first, goal.positions), (0.0 * first, goal.velocities),
                (0.0 * first, goal.accelerations))))
        rows.append((vibration(plant, first, motion, float(goal.times[-1])), goal.delay,
                     np.abs(goal.velocities).max() / np.abs(points.velocities).max(),
                     np.abs(goal.accelerations).max() / np.abs(points.accelerations).max()))
    return Figures(*np.array(rows).T)


def table() -> None:
    """Print the tables: the robot as the model knows it, and with a payload."""
    model = ur10()
    loaded = model.with_payload('load', TIP, PAYLOAD)
    first = [model.frequencies(model.statics(pose)[0], joints='locked')[0][0] / (2.0 * np.pi)
             for pose in POSES]
    print(f'UR10, first frequency {min(first):.1f} to {max(first):.1f} Hz at the poses\n')
    print('| shaper | modes | taken | vibration, mm | of the unshaped, % | later by, s | speed, '
          'acceleration |')
    print('|---' * 7 + '|')
    unshaped = measure(model, model, *WAYS[0]).vibration
    for name, modes, where in WAYS:
        show(name, modes, f'along the {where}' if where == 'motion' else 'at the goal',
             measure(model, model, name, modes, where), unshaped)
    print(f'\nWith {PAYLOAD:g} kg at the tool:\n')
    print('| shaper | the proxy knows the payload | vibration, mm | of the unshaped, % |')
    print('|---|---|---|---|')
    unshaped = measure(loaded, loaded, *WAYS[0]).vibration
    for name in ('zvd', 'ei'):
        for known, seen in (('yes', loaded), ('no', model)):
            found = measure(seen, loaded, name, 3, 'motion').vibration
            print(f'| `{name}` | {known} | {span(1e3 * found, 3)} | '
                  f'{span(100.0 * found / unshaped, 1)} |', flush=True)


def span(values: np.ndarray, digits: int) -> str:
    low, high = f'{values.min():.{digits}f}', f'{values.max():.{digits}f}'
    return low if low == high else f'{low} to {high}'


def show(name: str, modes: int, taken: str, found: Figures, unshaped: np.ndarray) -> None:
    modes_text, taken = ('', '') if name == 'none' else (str(modes), taken)
    print(f'| `{name}` | {modes_text} | {taken} | {span(1e3 * found.vibration, 3)} | '
          f'{span(100.0 * found.vibration / unshaped, 1)} | {span(found.delay, 2)} | '
          f'{found.speed.max():.2f}, {found.acceleration.max():.2f} |', flush=True)


if __name__ == '__main__':
    try:
        table()
    except (ControlError, DynamicsError) as error:
        sys.exit(f'error: {error}')
