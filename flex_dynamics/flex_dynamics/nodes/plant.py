"""The simulated robot behind its drives: the ROS-free inside of the simulator node."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flex_dynamics import DynamicsError, Model, Simulation, Wrench
from flex_dynamics.nodes.effort_gate import EffortGate
from flex_dynamics.nodes.joint_stops import JointStops


@dataclass(frozen=True)
class Drives:
    """Inner loops of the joint drives: stiffness and damping, each (n_joints,).

    A drive closes its loop far faster than ROS does, so it acts inside the integrator's step:
    effort + stiffness (position - q) + damping (velocity - v), with the position and velocity
    that the command names. Without rotor inertia a flexible arm answers a joint torque within
    tens of microseconds: damping that comes over a topic at 1 kHz would make it unstable.
    """

    stiffness: np.ndarray
    damping: np.ndarray


class Servo(NamedTuple):
    """What acts on the joints in one period, arrays (n_joints,)."""

    effort: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray
    position: np.ndarray
    velocity: np.ndarray

    def at(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """The effort at a state of the joints as the motors see it."""
        return (self.effort + self.stiffness * (self.position - position)
                + self.damping * (self.velocity - velocity))

    def limited(self, which: np.ndarray, effort: np.ndarray) -> Servo:
        """The same, but for the joints `which` this effort and no loop."""
        zero = np.where(which, 0.0, 1.0)
        return Servo(np.where(which, effort, self.effort), zero * self.stiffness,
                     zero * self.damping, self.position, self.velocity)

    def with_stops(self, stiffness: np.ndarray, damping: np.ndarray,
                   target: np.ndarray) -> Servo:
        """The same with springs beside it: two springs in parallel are one."""
        both, damp = self.stiffness + stiffness, self.damping + damping
        position = np.where(both > 0.0, (self.stiffness * self.position + stiffness * target)
                            / np.where(both > 0.0, both, 1.0), 0.0)
        velocity = np.where(damp > 0.0,
                            self.damping * self.velocity / np.where(damp > 0.0, damp, 1.0), 0.0)
        return Servo(self.effort, both, damp, position, velocity)


class Plant:
    """A simulation that moves by whole output periods and always has a good state.

    applied (n_joints,): what the motors give at the present state. wrenches: pushes from outside
    in the axes of their frames, (frame, x or None, force and moment (6,)).
    """

    def __init__(self, model: Model, step: float, steps: int, drives: Drives,
                 start_joints: np.ndarray, deflected: bool, stops: bool = True) -> None:
        self.drives = drives
        self.steps = steps
        self.gate = EffortGate(model.robot, model.names[:model.n_joints])
        self.stops = JointStops(model) if stops else None
        self.wrenches: Sequence[tuple[str, float | None, np.ndarray]] = ()
        self.saturated = 0           # periods in which a drive was at its limit
        self._start_joints, self._deflected = start_joints, deflected
        self._payloads: list[str] = []
        # Joints as their motors see them: None if these are the joint coordinates themselves.
        inputs = np.array(model.input_matrix())
        self._seen = (None if (inputs == np.eye(*inputs.shape)).all()
                      else np.ascontiguousarray(inputs.T))
        self.simulation = Simulation(model, step, q=self._start(model))
        self.reset()

    @property
    def model(self) -> Model:
        """The model that moves, with the payloads that it carries."""
        return self.simulation.model

    @property
    def q(self) -> np.ndarray:
        return self.simulation.q

    @property
    def v(self) -> np.ndarray:
        return self.simulation.v

    @property
    def payloads(self) -> list[str]:
        """Names of what is attached."""
        return list(self._payloads)

    def _start(self, model: Model) -> np.ndarray:
        if self._deflected:
            return model.statics(self._start_joints)[0]
        start = np.zeros(model.n)
        start[:model.n_joints] = self._start_joints
        return start

    def reset(self) -> None:
        """Back to the start, at rest, with no command and no push."""
        self.simulation.set_state(self._start(self.model), np.zeros(self.model.n))
        self.simulation.time = 0.0
        self.gate.reset()
        if self.stops:
            self.stops.release()
        self.wrenches = ()
        self.applied = np.zeros(self.model.n_joints)
        self._acting: Servo | None = None

    def attach(self, name: str, frame: str, x: float | None, mass: float, centre: np.ndarray,
               tensor: np.ndarray) -> None:
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

    def advance(self, safe: bool = False) -> None:
        """One output period under the last command, or (safe) under no effort and the drives'
        damping alone. DynamicsError if the motion diverges; the state stays the last good one.
        """
        simulation = self.simulation
        good = simulation.q.copy(), simulation.v.copy()
        time, stops = simulation.time, self.stops and (self.stops.side, self.stops.caught_at)
        try:
            self._push()
            servo = self._commanded(safe)
            before = self._joints()
            self._run(servo, before)
            applied = servo.at(*self._joints())
            low, high = self.gate.effort_range(before[1])
            mean = 0.5 * (servo.at(*before) + applied)
            beyond = (mean < low) | (mean > high)
            if np.count_nonzero(beyond):     # faster than any() on a few numbers
                # The loop of a drive asks for more than its motor has: the motor gives its most.
                self.saturated += 1
                simulation.set_state(*good)
                simulation.time = time
                if self.stops and stops:
                    self.stops.side, self.stops.caught_at = stops
                servo = servo.limited(beyond, np.clip(mean, low, high))
                self._run(servo, before)
                applied = servo.at(*self._joints())
        except DynamicsError:
            simulation.set_state(*good)
            raise
        self.applied = np.minimum(np.maximum(applied, low), high)

    def acceleration(self) -> np.ndarray:
        """Accelerations (n,) at the present state; zero until something has moved."""
        if self._acting is None:
            return np.zeros(self.model.n)
        return self.model.forward_dynamics(self.q, self.v, self._acting.at(*self._joints()),
                                           self.simulation.loads)

    def _joints(self) -> tuple[np.ndarray, np.ndarray]:
        if self._seen is None:
            joints = self.model.n_joints
            return self.q[:joints].copy(), self.v[:joints].copy()
        return self._seen @ self.q, self._seen @ self.v

    def _commanded(self, safe: bool) -> Servo:
        drives = self.drives
        if safe:
            zero = np.zeros(self.model.n_joints)
            return Servo(zero, zero, drives.damping, zero, zero)
        effort, position, velocity = self.gate.targets.copy()
        free = np.isnan(position)
        stiffness = drives.stiffness
        if np.count_nonzero(free):
            stiffness = np.where(free, 0.0, stiffness)
            position[free] = 0.0
        return Servo(effort, stiffness, drives.damping, position, velocity)

    def _run(self, servo: Servo, joints: tuple[np.ndarray, np.ndarray]) -> None:
        """One period from this state of the joints; near a stop it is looked at step by step."""
        simulation = self.simulation
        if self.stops is None or not self.stops.near(*joints, self.steps * simulation.step):
            self._step(servo, self.steps)
            return
        for _ in range(self.steps):
            springs = self.stops.catch(*self._joints(), simulation.step)
            self._step(servo.with_stops(*springs) if springs[0].any() else servo, 1)

    def _step(self, servo: Servo, steps: int) -> None:
        self._acting = servo
        self.simulation.set_servo(servo.stiffness, servo.damping, servo.position, servo.velocity)
        self.simulation.advance(steps, servo.effort)

    def _push(self) -> None:
        """Hand the wrenches over in world axes, in which they are constant for one period."""
        if not self.wrenches:
            if self.simulation.loads is not None:
                self.simulation.set_loads(None)
            return
        loads = []
        for frame, x, wrench in self.wrenches:
            axes = self.model.pose(self.q, frame, x)[:3, :3]
            loads.append(Wrench(frame, axes @ wrench[:3], axes @ wrench[3:], x))
        self.simulation.set_loads(loads)
