"""The simulated robot behind its drives: the ROS-free inside of the simulator node."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics import DynamicsError, Model, Simulation
from flex_dynamics.nodes.effort_gate import EffortGate


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


class Plant:
    """A simulation that moves by whole output periods and always has a good state."""

    def __init__(self, model: Model, step: float, steps: int, drives: Drives,
                 start_joints: np.ndarray, deflected: bool) -> None:
        self.model, self.drives = model, drives
        self.steps = steps
        self.gate = EffortGate(model.robot, model.names[:model.n_joints])
        self._start = np.zeros(model.n)
        self._start[:model.n_joints] = start_joints
        if deflected:
            self._start = model.statics(start_joints)[0]
        self.simulation = Simulation(model, step, q=self._start)
        self.applied = np.zeros(model.n_joints)

    @property
    def q(self) -> np.ndarray:
        return self.simulation.q

    @property
    def v(self) -> np.ndarray:
        return self.simulation.v

    def reset(self) -> None:
        """Back to the start, at rest, with no command."""
        self.simulation.set_state(self._start, np.zeros(self.model.n))
        self.gate.reset()
        self.applied[:] = 0.0

    def advance(self, safe: bool = False) -> None:
        """One output period under the last command, or (safe) under no effort and the drives'
        damping alone. DynamicsError if the motion diverges; the state stays the last good one."""
        joints = self.model.n_joints
        gate, drives = self.gate, self.drives
        steered = np.isfinite(gate.position) & (not safe)
        stiffness = np.where(steered, drives.stiffness, 0.0)
        position = np.where(steered, gate.position, 0.0)
        velocity = np.zeros(joints) if safe else gate.velocity
        effort = np.zeros(joints) if safe else gate.effort
        simulation = self.simulation
        good = simulation.q.copy(), simulation.v.copy()
        simulation.set_servo(stiffness, drives.damping, position, velocity)
        try:
            simulation.advance(self.steps, effort)
        except DynamicsError:
            if np.isfinite(good[0]).all() and np.isfinite(good[1]).all():
                simulation.set_state(*good)
            raise
        self.applied = (effort + stiffness * (position - simulation.q[:joints])
                        + drives.damping * (velocity - simulation.v[:joints]))
