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
"""Many robots that move on together, step by step, and what their sensors read."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from flex_control import PD
from flex_description import load_robot
from flex_dynamics import (
    DynamicsError,
    Model,
    Poses,
    Sensors,
    ServoTargets,
    Wrench,
    simulate_many,
)
from flex_study.environments.tasks import Array, Episode, Places, Task, task_of
from flex_study.errors import StudyError

MOST_SPEED = 1.0         # rad/s or m/s of the set-points, if the robot has no lower limit
STRAIN_UNIT = 1e-3       # strains are observed in thousandths
ACTION_COST = 1e-3       # of the square of an action, m
REACHED = 0.01           # m


@dataclass(frozen=True)
class SensorNoise:
    """Standard deviations of white noise on every reading of an observation."""

    joint_position: float = 1e-5    # rad or m
    joint_velocity: float = 1e-2    # rad/s or m/s
    strain: float = 1e-6            # m/m
    gyro: float = 2e-3              # rad/s
    acceleration: float = 5e-2      # m/s2


class FleetStep(NamedTuple):
    """After one step: observations (count, m), rewards (count,), failed (count,): the simulation
    diverged; over (count,): the episode's time is up; errors (count,) of the tips, m."""

    observations: Array
    rewards: Array
    failed: Array
    over: Array
    errors: Array


class Fleet(Places):
    """`count` copies of a robot, each in an episode of its own.

    An action in [-1, 1] a joint is the speed of the drives' set-points as a share of `speed`. The
    drives hold their set-points with the gains of the controller pd and carry the weight of the
    robot as if its links were rigid. An observation has what sensors give: joint positions and
    speeds, the drives' set-points, strains (in 1e-3), gyros, accelerometers, all with noise; then
    the goal of the tip and its speed. The reward is minus the distance (m) of the true tip from
    the goal, less a thousandth of the action's square.

    Parameters
    ----------
    robot : str or Model
        What load_robot takes, or a model.
    task : Task or str
        reach, hold or track.
    count : int
        How many.
    tip : str, optional
        Frame or link that has the task; default: `tool`, else the last link.
    start : array-like, shape (n_joints,), optional
        Joint positions at the start, in static equilibrium; default: the middle of the limits
        nearest to zero.
    noise : SensorNoise, optional
        Of the sensors.
    period, step : float
        s between actions, and of the integrator.
    threads : int, optional
        Default: one for each processor.

    Examples
    --------
    >>> fleet = Fleet('lab_link', 'reach', 4)
    >>> fleet.reset(range(4), [np.random.default_rng(k) for k in range(4)]).shape
    (4, 18)
    """

    def __init__(self, robot: str | Model, task: Task | str, count: int, *, tip: str = '',
                 start: ArrayLike | None = None, noise: SensorNoise | None = None,
                 period: float = 0.02, step: float = 1e-3, threads: int | None = None) -> None:
        self.model = robot if isinstance(robot, Model) else Model(load_robot(robot))
        self.task, self.noise = task_of(task), noise or SensorNoise()
        model, joints = self.model, self.model.n_joints
        if model.robot.constraints:
            raise StudyError('robot: expected a tree, found loops, wheels or supports')
        self._inner = round(period / step) if step > 0.0 else 0
        if self._inner < 1 or abs(self._inner * step - period) > 1e-9 * period:
            raise StudyError(f'period: expected a multiple of the step {step:g} s, found '
                             f'{period:g} s')
        self.period, self.step_size, self.threads = period, step, threads
        self.count = count
        self.steps = max(1, round(self.task.seconds / period))
        limits = model.joint_limits
        self._lower, self._upper = limits.lower, limits.upper
        self.speed = np.minimum(np.where(limits.velocity > 0.0, limits.velocity, MOST_SPEED),
                                MOST_SPEED)
        nearest = np.clip(np.zeros(joints), limits.lower, limits.upper)
        self.start = nearest if start is None else np.array(start, dtype=float)
        self._rest = model.statics(self.start)[0]       # DynamicsError if start is not one
        frames = [frame.name for frame in model.robot.frames]
        self.tip = tip or ('tool' if 'tool' in frames else model.robot.links[-1].name)
        self._poses = Poses(model, [(self.tip, None)])
        self._sensors = Sensors(model)
        pd = PD(model)
        self._gains = np.array((pd.kp, pd.kd))
        self.q, self.v = np.tile(self._rest, (count, 1)), np.zeros((count, model.n))
        self._target = np.tile(self.start, (count, 1))
        self._rate = np.zeros((count, joints))
        self._at = np.zeros(count, dtype=int)
        self._random = [np.random.default_rng(k) for k in range(count)]
        none = np.zeros(3)
        self._episodes = [Episode(none, none) for _ in range(count)]

    # What tasks ask -------------------------------------------------------------------------

    def tip_at(self, joints: Array) -> Array:
        q = np.zeros(self.model.n)
        q[:len(joints)] = joints
        place: Array = self.model.pose(q, self.tip)[:3, 3]
        return place

    def joints_near(self, random: np.random.Generator, way: float) -> Array:
        near: Array = np.clip(self.start + random.uniform(-way, way, len(self.start)),
                              self._lower, self._upper)
        return near

    # Observations ---------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """What the numbers of an observation are, with units."""
        model, axes = self.model, 'xyz'
        imus = self._sensors.imu_names
        return [*(f'position of {name}' for name in model.joint_names),
                *(f'speed of {name}' for name in model.joint_names),
                *(f'set-point of {name}' for name in model.joint_names),
                *(f'strain of {name}, 1e-3' for name in self._sensors.gauge_names),
                *(f'gyro of {name}, {axis}, rad/s' for name in imus for axis in axes),
                *(f'acceleration of {name}, {axis}, m/s2' for name in imus for axis in axes),
                *(f'goal, {axis}, m' for axis in axes),
                *(f'speed of the goal, {axis}, m/s' for axis in axes)]

    def observe(self, row: int) -> Array:
        """What one robot's sensors read now, and its goal."""
        model, noise, random = self.model, self.noise, self._random[row]
        joints, q, v = model.n_joints, self.q[row], self.v[row]
        readings = [q[:joints], v[:joints], self._target[row],
                    self._sensors.strain(q) / STRAIN_UNIT]
        deviations = [noise.joint_position, noise.joint_velocity, 0.0, noise.strain / STRAIN_UNIT]
        if self._sensors.imu_names:
            force = self._episodes[row].push(self._time(row))
            a = model.forward_dynamics(q, v, self._effort(row), [Wrench(self.tip, force)]
                                       if force.any() else None)
            imus = self._sensors.imu(q, v, a)
            readings += [np.concatenate([one.gyro for one in imus]),
                         np.concatenate([one.acceleration for one in imus])]
            deviations += [noise.gyro, noise.acceleration]
        noisy = [one + deviation * random.standard_normal(len(one))
                 for one, deviation in zip(readings, deviations)]
        return np.concatenate([*noisy, *self._episodes[row].goal(self._time(row))])

    def _time(self, row: int) -> float:
        return float(self._at[row]) * self.period

    def _weight(self) -> Array:
        """Efforts (count, n_joints) that carry the robots at their set-points."""
        joints, q = self.model.n_joints, np.zeros(self.model.n)
        weights = np.zeros((self.count, joints))
        for row in range(self.count):
            q[:joints] = self._target[row]
            weights[row] = self.model.gravity_force(q)[:joints]
        return weights

    def _effort(self, row: int) -> Array:
        joints, q = self.model.n_joints, np.zeros(self.model.n)
        q[:joints] = self._target[row]
        effort: Array = (self.model.gravity_force(q)[:joints]
                         + self._gains[0] * (self._target[row] - self.q[row, :joints])
                         + self._gains[1] * (self._rate[row] - self.v[row, :joints]))
        return effort

    # Episodes -------------------------------------------------------------------------------

    def reset(self, rows: Sequence[int], random: Sequence[np.random.Generator]) -> Array:
        """Begin new episodes of some robots, each drawn with its generator; their observations."""
        for row, generator in zip(rows, random, strict=True):
            self.q[row], self.v[row] = self._rest, 0.0
            self._target[row], self._rate[row], self._at[row] = self.start, 0.0, 0
            self._random[row] = generator
            self._episodes[row] = self.task.episode(self, generator)
        return np.array([self.observe(row) for row in rows])

    def step(self, actions: ArrayLike, idle: Sequence[int] = ()) -> FleetStep:
        """One period of all robots under actions (count, n_joints) in [-1, 1]; rows of `idle`
        are not observed (zeros), so that their random numbers stay those of a robot alone."""
        given = np.asarray(actions, dtype=float)
        if given.shape != self._target.shape or not np.isfinite(given).all():
            raise StudyError(f'action: expected {self._target.shape[1]} finite numbers a robot, '
                             f'found shape {given.shape}' if given.shape != self._target.shape
                             else 'action: expected finite numbers, found NaN or infinity')
        action = np.clip(given, -1.0, 1.0)
        ahead = np.clip(self._target + self.period * self.speed * action, self._lower, self._upper)
        self._rate = (ahead - self._target) / self.period
        share = (np.arange(self._inner) + 0.5) / self._inner
        position = self._target[:, None] + share[:, None] * (ahead - self._target)[:, None]
        velocity = np.repeat(self._rate[:, None], self._inner, axis=1)
        pushes = [episode.push(self._time(row)) for row, episode in enumerate(self._episodes)]
        pushed = any(force.any() for force in pushes)
        result = simulate_many(
            self.model, self.period, q=self.q, v=self.v, tau=self._weight(),
            servo=ServoTargets(self._gains[0], self._gains[1], position, velocity),
            wrenches=(lambda row: [Wrench(self.tip, pushes[row])]) if pushed else None,
            step=self.step_size, output_step=self.step_size, threads=self.threads, progress=False)
        failed = ~result.ok
        self._target = ahead
        self._at += 1
        self.q, self.v = result.q[:, -1].copy(), result.v[:, -1].copy()
        self.q[failed], self.v[failed] = self._rest, 0.0        # until it is reset
        errors = np.array([np.linalg.norm(
            self._poses.at(self.q[row])[0, :3, 3] - episode.goal(self._time(row))[0])
            for row, episode in enumerate(self._episodes)])
        rewards = -errors - ACTION_COST * (action**2).sum(axis=1)
        rewards[failed] -= 1.0
        observations = np.array([np.zeros(len(self.names)) if row in idle else self.observe(row)
                                 for row in range(self.count)])
        return FleetStep(observations, rewards, failed, self._at >= self.steps, errors)


def checked_fleet(robot: str | Model, task: Task | str, count: int, **given: object) -> Fleet:
    """A Fleet; StudyError in place of errors of the robot and of its start."""
    try:
        return Fleet(robot, task, count, **given)      # type: ignore[arg-type]
    except DynamicsError as error:
        raise StudyError(str(error)) from None
