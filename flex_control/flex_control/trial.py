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
"""A controller tried on a simulated robot without ROS: sampled, held, disturbed, written down."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers import Controller
from flex_control.errors import ControlError
from flex_control.estimators.measurements import Measurements
from flex_control.loop import ControlLoop
from flex_control.trajectories import Trajectory
from flex_dynamics import Loads, Model, ReadingNoise, Sensors, Wrench
from flex_dynamics.simulation.command_limits import driven_places
from flex_dynamics.simulation.plant import Drives, Plant


@dataclass(frozen=True)
class Noise:
    """Standard deviations of white noise on every reading, and the seed that it is drawn with."""

    joint_position: float = 0.0     # rad or m
    joint_velocity: float = 0.0     # rad/s or m/s
    strain: float = 0.0             # m/m
    gyro: float = 0.0               # rad/s
    acceleration: float = 0.0       # m/s2
    seed: int = 0

    def of_readings(self, model: Model) -> ReadingNoise:
        """The same for `simulate_many`, whose first run has this seed."""
        sensors, joints = Sensors(model), model.n_joints
        counts = (joints, joints, len(sensors.gauge_names), *2 * (3 * len(sensors.imu_frames),))
        return ReadingNoise(np.repeat((self.joint_position, self.joint_velocity, self.strain,
                                       self.gyro, self.acceleration), counts), self.seed)


@dataclass(frozen=True)
class TrialResult:
    """What happened at each sample: time (k,), q and v (k, n), effort (k, n_joints) that acts on
    the joints from then on (drives included), wanted (k, n_joints) positions, tip (k, 3) in the
    world, m."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    wanted: np.ndarray
    tip: np.ndarray

    def between(self, start: float, end: float) -> slice:
        """Samples from start to end (s)."""
        return slice(*np.searchsorted(self.time, (start - 1e-9, end + 1e-9)))

    def joint_error(self) -> np.ndarray:
        """Wanted less true joint positions (k, n_joints)."""
        error: np.ndarray = self.wanted - self.q[:, :self.wanted.shape[1]]
        return error

    def vibration(self, start: float, end: float) -> float:
        """Largest distance (m) of the tip from its mean place between start and end (s)."""
        tip = self.tip[self.between(start, end)]
        return float(np.linalg.norm(tip - tip.mean(axis=0), axis=1).max())

    def settling_time(self, after: float, band: float) -> float:
        """Time (s) from `after` until the tip stays within `band` (m) of where it is on average
        in the last second; infinite if it leaves the band in that second."""
        rest = self.tip[self.between(self.time[-1] - 1.0, self.time[-1])].mean(axis=0)
        outside = np.linalg.norm(self.tip - rest, axis=1) > band
        last = self.time[outside][-1] if outside.any() else -np.inf
        return float(np.inf if last > self.time[-1] - 1.0 else max(last - after, 0.0))


def run_trial(controller: Controller, trajectory: Trajectory, duration: float, *,
              plant: Model | None = None, start: ArrayLike | None = None,
              period: float = 1e-3, step: float = 5e-4,
              drive_stiffness: ArrayLike | None = None, drive_damping: ArrayLike | None = None,
              loads: Callable[[float], Loads | None] | None = None, noise: Noise | None = None,
              tip: str = 'tool') -> TrialResult:
    """Run a controller for `duration` (s), sampled every `period` (s), its efforts held between.

    plant: the robot as it is; left out: the controller's own model. start: joint positions
    (n_joints,) in static equilibrium, or all coordinates (n,); left out: where the trajectory
    begins. step (s): of the integrator. The drives' gains act within it, about the reference;
    left out they are what the controller asks for, and the controller is told of them.
    loads(time): external loads from that time on. A controller without `needs_elastic_state` sees
    zeros for elastic coordinates, one with `needs_measurements` gets readings of the plant's
    sensors with `noise`. Commands and motors are held to the robot's limits, as in the simulator
    node. ControlError or DynamicsError if the loop fails.
    """
    model = controller.model
    plant = model if plant is None else plant
    inner = round(period / step)
    if inner < 1 or abs(inner * step - period) > 1e-9 * period:
        raise ControlError(f'period: expected a multiple of the step {step:g} s, found '
                           f'{period:g} s')
    joints = model.n_joints
    driven = np.array(driven_places(plant), dtype=int)     # a floating base has no motors
    stiffness, damping = (np.broadcast_to(np.asarray(own if given is None else given, dtype=float),
                                          joints)
                          for given, own in zip((drive_stiffness, drive_damping),
                                                controller.drive_gains()))
    controller.set_drives(stiffness.copy(), damping.copy())
    if start is None:
        start = trajectory.sample(0.0).position
    begin = np.asarray(start, dtype=float)
    at_rest = len(begin) == joints
    robot = Plant(plant, step, inner, Drives(stiffness, damping), begin, at_rest, stops=False)
    if not at_rest:
        robot.simulation.set_state(begin, np.zeros(plant.n))
    loop = ControlLoop(model, controller, trajectory)
    sensors = SensorReader(robot, noise or Noise()) if controller.needs_measurements else None
    count = round(duration / period)
    time = period * np.arange(count)
    q, v = np.zeros((count, plant.n)), np.zeros((count, plant.n))
    effort, wanted = np.zeros((count, joints)), np.zeros((count, joints))
    acting: Loads | None = None
    for k in range(count):
        q[k], v[k] = robot.q, robot.v
        if loads is not None and (now := loads(time[k])) is not acting:
            robot.simulation.set_loads(now)
            acting = now
        seen = q[k].copy(), v[k].copy()
        if not controller.needs_elastic_state:
            seen[0][joints:] = 0.0
            seen[1][joints:] = 0.0
        readings = None if sensors is None else sensors.read()
        command = loop.step(time[k], *seen, measurements=readings)
        target = controller.reference
        wanted[k] = target.position
        robot.commands.accept_all(command[driven], target.position[driven],
                                  target.velocity[driven])
        position, velocity = robot.joints()
        effort[k] = (robot.commands.effort + stiffness * (robot.commands.position - position)
                     + damping * (robot.commands.velocity - velocity))
        effort[k][np.isnan(effort[k])] = 0.0       # a base without drives
        if controller.thrust is not None:
            robot.simulation.set_loads(_with_thrust(plant, q[k], acting, *controller.thrust))
        robot.advance()
    tips = np.array([plant.pose(row, tip)[:3, 3] for row in q])
    return TrialResult(time, q, v, effort, wanted, tips)


def _with_thrust(plant: Model, q: np.ndarray, acting: Loads | None, link: str,
                 thrust: np.ndarray) -> Loads:
    """The loads that act, and that of thrusters (6,) in the axes of their link, which keeps its
    direction in the world over a period."""
    if isinstance(acting, Mapping):
        raise ControlError('loads: expected wrenches beside thrusters, found forces by coordinate')
    axes = plant.pose(q, link)[:3, :3]
    return [*(acting or ()), Wrench(link, axes @ thrust[:3], axes @ thrust[3:])]


class SensorReader:
    """Readings of the plant's sensors, with noise of a fixed seed."""

    def __init__(self, plant: Plant, noise: Noise) -> None:
        self._plant, self._noise = plant, noise
        self._sensors = Sensors(plant.model)
        self._random = np.random.default_rng(noise.seed)

    def read(self) -> Measurements:
        """Readings at the present state."""
        noise, plant, joints = self._noise, self._plant, self._plant.model.n_joints
        imus = self._sensors.imu(plant.q, plant.v, plant.acceleration())
        return Measurements(
            self._with(plant.q[:joints], noise.joint_position),
            self._with(plant.v[:joints], noise.joint_velocity),
            self._with(self._sensors.strain(plant.q), noise.strain),
            self._with(np.array([imu.gyro for imu in imus]).reshape(-1, 3), noise.gyro),
            self._with(np.array([imu.acceleration for imu in imus]).reshape(-1, 3),
                       noise.acceleration))

    def _with(self, exact: np.ndarray, deviation: float) -> np.ndarray:
        return exact + deviation * self._random.standard_normal(exact.shape)
