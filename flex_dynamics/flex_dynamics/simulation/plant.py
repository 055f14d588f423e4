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
"""The simulated robot with its drives, command limits, stops, payloads and wrenches."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import types

from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base.handle import HANDLE, MATRIX
from flex_dynamics.kernels.first_call import AtFirstCall
from flex_dynamics.kernels.stepping import controlled_run as schedules
from flex_dynamics.kernels.stepping import driven_period as rows
from flex_dynamics.kernels.stepping import estimated_run as estimated
from flex_dynamics.kernels.stepping.driven_period import driven_period
from flex_dynamics.kernels.stepping.implicit_midpoint import SETTINGS
from flex_dynamics.model.backends.recursive import FORWARD_DYNAMICS
from flex_dynamics.model.constraints.reactions import Reaction
from flex_dynamics.model.loads import Wrench
from flex_dynamics.model.model import Model
from flex_dynamics.simulation.command_limits import CommandLimits, driven_places
from flex_dynamics.simulation.joint_stops import JointStops
from flex_dynamics.simulation.position_drives import PositionDrives
from flex_dynamics.simulation.simulation import ADVANCE, MOST_SWEEPS, Simulation

if TYPE_CHECKING:
    from flex_dynamics.simulation.batch.observer import ObserverRun

TOLERANCE = 1e-7     # of a step's sweeps: 1e-7 rad in a manoeuvre, at two thirds of the time
DRIVEN_PERIOD = AtFirstCall(driven_period, types.int64, HANDLE, HANDLE, MATRIX, MATRIX, MATRIX,
                            *SETTINGS, types.boolean)
CONTROLLED_RUN = AtFirstCall(schedules.controlled_run, *schedules.SIGNATURE)
ESTIMATED_RUN = AtFirstCall(estimated.estimated_run, *estimated.SIGNATURE)


@dataclass(frozen=True)
class Drives:
    """Inner loops of the joint drives: stiffness and damping, each (n_joints,).

    A drive closes its loop far faster than ROS does, so it acts inside the integrator's step:
    effort + stiffness (position - q) + damping (velocity - v), with the position and velocity
    that the command names. Without rotor inertia a flexible arm answers a joint torque within
    tens of microseconds: damping that comes over a topic at 1 kHz would make it unstable.
    """

    stiffness: Array
    damping: Array


class Plant:
    """A simulation that moves by whole output periods and always has a good state.

    model: the robot. step (s) and steps: inner steps of a period, and how many. start_joints
    (n_joints,): where it starts, with the links bent by gravity if `deflected`, else straight, or
    positions (n,) of all coordinates. stops: whether joints meet a stiff stop at their limits.
    limits: whether drives keep to the limits of effort, position and speed, and a base that floats
    or slides has no drive; without limits every joint coordinate follows `commands`, as `simulate`
    needs it. tolerance: of the sweeps of a step (see Simulation). holds_start: the drives hold the
    start pose until the first command. wrenches: pushes from outside in the axes of their frames,
    (frame, x or None, force and moment (6,)); loads in world axes are those of
    `simulation.set_loads`.

    >>> plant = Plant(model, 0.001, 2, Drives(gains, dampings), start, deflected=True)
    >>> plant.commands.accept(['joint1'], effort=[5.0])
    >>> plant.advance()
    """

    def __init__(self, model: Model, step: float, steps: int, drives: Drives,
                 start_joints: Array, deflected: bool, stops: bool = True, limits: bool = True,
                 tolerance: float = TOLERANCE, holds_start: bool = False) -> None:
        ADVANCE.prepare()
        DRIVEN_PERIOD.prepare()
        self.steps = steps
        self._motors = np.zeros((rows.MOTOR_ROWS, model.n_joints))
        self._motors[rows.LOWER], self._motors[rows.UPPER] = -np.inf, np.inf
        self._kept, self._command = np.zeros((3, model.n)), np.zeros(model.n_joints)
        self.commands = CommandLimits(model, self._motors)
        self._position_drives = PositionDrives(model, self._motors, self.commands)
        self._holds_start = holds_start
        self._driven = np.zeros(model.n_joints)
        self._driven[driven_places(model)] = 1.0
        if not limits:
            self._driven[:] = 1.0
            self._motors[rows.LEAST:rows.MOST] = -np.inf
            self._motors[rows.MOST:rows.FASTEST + 1] = np.inf
        self.stops = JointStops(model, self._motors) if stops else None
        self.drives = drives
        self.wrenches: Sequence[tuple[str, float | None, Array]] = ()
        self._pushed = False         # by wrenches, in the last period
        self.saturated = 0           # periods in which a drive was at its limit
        self._start_joints, self._deflected = start_joints, deflected
        self._payloads: list[str] = []
        self._supports = model.robot.supports
        # Joints as their motors see them; nothing if these are the joint coordinates themselves.
        inputs = np.array(model.input_matrix())
        self._seen = (np.zeros((0, 0)) if (inputs == np.eye(*inputs.shape)).all()
                      else np.ascontiguousarray(inputs.T))
        self.simulation = Simulation(model, step, q=self._start(model)[0], tolerance=tolerance)
        self.reset()

    @property
    def model(self) -> Model:
        """The model that moves, with the payloads that it carries."""
        return self.simulation.model

    @property
    def q(self) -> Array:
        return self.simulation.q

    @property
    def v(self) -> Array:
        return self.simulation.v

    @property
    def applied(self) -> Array:
        """What the motors give at the present state, (n_joints,)."""
        applied: Array = self._motors[rows.APPLIED].copy()
        return applied

    @property
    def drives(self) -> Drives:
        """The loops that were given; joints that are commanded by position or velocity alone have
        loops of their own where these have no stiffness (PositionDrives)."""
        return Drives(self._drives.stiffness.copy(), self._drives.damping.copy())

    @drives.setter
    def drives(self, drives: Drives) -> None:
        # A base that floats or slides has no drive, whatever gains come with those of the joints.
        self._drives = Drives(self._driven * drives.stiffness, self._driven * drives.damping)
        self._motors[rows.DRIVE_STIFFNESS] = self._drives.stiffness
        self._motors[rows.DRIVE_DAMPING] = self._drives.damping
        self._set_apart = False      # whether rows of the drives differ from these

    @property
    def payloads(self) -> list[str]:
        """Names of what is attached."""
        return list(self._payloads)

    def _start(self, model: Model) -> tuple[Array, Array]:
        """Positions (n,) at the start, and the efforts (n_joints,) that keep it there."""
        if self._deflected or self._holds_start:
            bent, efforts = model.statics(self._start_joints)
            if self._deflected:
                return bent, efforts
        else:
            efforts = np.zeros(model.n_joints)
        start = np.zeros(model.n)
        start[:len(self._start_joints)] = self._start_joints
        return start, efforts

    def reset(self) -> None:
        """Back to the start, at rest, with no command and no push, on the first supports."""
        if self.model.robot.supports is not self._supports:
            self.change_model(self.model.with_supports_of(self._supports))
        start, efforts = self._start(self.model)
        self.simulation.set_state(start, np.zeros(self.model.n))
        self.simulation.time = 0.0
        self.commands.reset()
        self._position_drives.release()
        if self._holds_start:
            self.commands.hold(self.joints()[0], efforts)
        if self.stops:
            self.stops.release()
        self.wrenches = ()
        self._motors[rows.APPLIED] = 0.0
        self._moved = False

    def attach(self, name: str, frame: str, x: float | None, mass: float, centre: Array,
               tensor: Array) -> None:
        """Carry a payload from now on; it comes with the speed of its frame."""
        if name in self._payloads:
            raise DynamicsError(f'payload {name!r} is attached already: detach it first, or give '
                                'another name')
        self.simulation.set_model(self.model.with_payload(name, frame, mass, centre, tensor, x))
        self._payloads.append(name)

    def detach(self, name: str) -> None:
        """Let go of a payload; the rest keeps its speed."""
        self.simulation.set_model(self.model.without_payload(name))
        self._payloads.remove(name)

    def set_support(self, name: str, active: bool) -> None:
        """Fix the point of a support where it is now, or free it; `reset` undoes it."""
        names = [support.name for support in self.model.robot.supports]
        if name not in names:
            raise DynamicsError(f'support: expected one of {", ".join(names) or "none"}, found '
                                f'{name!r}')
        on = {one.name for one in self.model.robot.supports if one.active} - {name}
        self.change_model(self.model.with_supports(self.q, on | ({name} if active else set())))
        self.simulation.set_state(self.q.copy(), self.v.copy())

    def change_model(self, model: Model) -> None:
        """Go on with another model of the same robot that carries the same payloads, such as one
        of other stiffness, damping or friction: positions and speeds stay, and strain energy jumps
        by what the springs hold more or less."""
        self.simulation.set_model(model)
        self._position_drives.change_model(model)

    def advance(self, safe: bool = False) -> None:
        """One output period under the last command, or (safe) under no effort and the drives'
        damping alone. DynamicsError if the motion diverges; the state stays the last good one.
        """
        if self.wrenches or self._pushed:
            self._push()
        if safe:
            self._position_drives.release()
        if safe or not (self._set_apart or self.commands.followed.any()):
            self._run(self.steps, safe)
            return
        # Targets must move from step to step: a joint without inertia of its own follows them at
        # once, and the midpoint rule would turn a jump of its speed into an oscillation.
        self._set_apart = bool(self.commands.followed.any())
        for _ in range(self.steps):
            self._position_drives.advance(self.simulation.step, self._drives.stiffness,
                                          self._drives.damping, *self.joints())
            self._run(1, safe)

    def _run(self, steps: int, safe: bool) -> None:
        """So many inner steps under what the rows of the motors say."""
        simulation = self.simulation
        status, sweeps, limited = driven_period(
            ADVANCE.address, simulation.stepped_handle, simulation.handle, self._motors,
            self._seen, self._kept, simulation.step, steps, simulation.tolerance, MOST_SWEEPS,
            simulation.balance, safe)
        self.saturated += limited
        self._moved = True
        if not status:
            simulation.count_steps(steps, 0, sweeps)
            return
        begun = simulation.time
        try:
            simulation.restart(*self._kept)
            simulation.stop_at_failure(self._motors[rows.ACTING], steps, status)
        finally:
            simulation.set_state(self._kept[0], self._kept[1])
            simulation.time = begun

    def run_schedule(self, schedule: Array, memory: Array, first: int, last: int, every: int,
                     limited: bool, q: Array, v: Array, effort: Array) -> tuple[int, str]:
        """Periods `first` to `last` - 1 of a schedule (its handle) in one kernel call.

        memory: of the control law; every, limited, q, v, effort: see kernels/stepping/
        controlled_run.py. Returns how many periods have been done since the schedule began, and
        why not all were; the state is then that after the last good step.
        """
        simulation = self.simulation
        status, done, sweeps, cuts = CONTROLLED_RUN.call(
            ADVANCE.address, simulation.stepped_handle, simulation.handle, self._motors,
            self._seen, self._kept, schedule, memory, self._command, first, last, every, limited,
            q, v, effort, simulation.step, self.steps, simulation.tolerance, MOST_SWEEPS,
            simulation.balance)
        return self._after_schedule(status, done, first, sweeps, cuts)

    def _after_schedule(self, status: int, done: int, first: int, sweeps: int,
                        cuts: int) -> tuple[int, str]:
        """Take note of what a kernel did; periods done, and why not all were."""
        simulation = self.simulation
        self.saturated += cuts
        self._moved = True
        simulation.count_steps(self.steps * (done - first), 0, sweeps)
        if not status:
            return done, ''
        if status == estimated.LEFT:
            return done, ('Kalman filter: the estimate has left all bounds at '
                          f'{simulation.time:.6g} s: the readings contradict the model')
        if status < 0:
            return done, ('the control law asks for efforts that are not finite at '
                          f'{simulation.time:.6g} s')
        try:
            simulation.restart(*self._kept)
            simulation.stop_at_failure(self._motors[rows.ACTING], self.steps, status)
        except DynamicsError as error:
            return done, str(error)
        return done, f'a step failed at {simulation.time:.6g} s'

    def run_estimated(self, schedule: Array, observer: ObserverRun, memory: Array, first: int,
                      last: int, every: int, q: Array, v: Array,
                      effort: Array) -> tuple[int, str]:
        """`run_schedule` under a law of the state that a filter estimates.

        Returns before `last`, without a reason, where the filter waits for its first state.
        """
        simulation = self.simulation
        addresses = np.array([DRIVEN_PERIOD.address, ADVANCE.address, FORWARD_DYNAMICS.address])
        status, done, sweeps, cuts, observer.begun = ESTIMATED_RUN.call(
            addresses, simulation.stepped_handle, simulation.handle, self._motors, self._seen,
            self._kept, schedule, observer.handle, memory, self._command, observer.begun, first,
            last, every, q, v, effort, simulation.step, self.steps, simulation.tolerance,
            MOST_SWEEPS, simulation.balance)
        if status == estimated.BEGINS:
            status = 0
        return self._after_schedule(status, done, first, sweeps, cuts)

    def acceleration(self) -> Array:
        """Accelerations (n,) at the present state; zero until something has moved."""
        if not self._moved:
            return np.zeros(self.model.n)
        return self.model.forward_dynamics(self.q, self.v, self._efforts(), self.simulation.loads)

    def reactions(self) -> dict[str, Reaction]:
        """Reactions of loops, wheels and supports at the present state, by name."""
        efforts = self._efforts() if self._moved else self._start(self.model)[1]
        return self.model.reactions(self.q, self.v, efforts, self.simulation.loads)

    def _efforts(self) -> Array:
        """Efforts (n_joints,) of motors, drives and stops at the present state."""
        stiffness, damping, target, rate = self.simulation.servo
        position, velocity = self.joints()
        effort: Array = (self._motors[rows.ACTING] + stiffness * (target - position)
                         + damping * (rate - velocity))
        return effort

    def joints(self) -> tuple[Array, Array]:
        """Positions and speeds (n_joints,) of the joints as their motors see them: of an elastic
        joint the motor's, behind the gear."""
        if self._seen.size:
            return self._seen @ self.q, self._seen @ self.v
        joints = self.model.n_joints
        return self.q[:joints], self.v[:joints]

    def _push(self) -> None:
        """Hand the wrenches over in world axes, in which they are constant for one period."""
        self._pushed = bool(self.wrenches)
        if not self.wrenches:
            self.simulation.set_loads(None)
            return
        loads = []
        for frame, x, wrench in self.wrenches:
            axes = self.model.pose(self.q, frame, x)[:3, :3]
            loads.append(Wrench(frame, axes @ wrench[:3], axes @ wrench[3:], x))
        self.simulation.set_loads(loads)
