"""The numeric model of a flexible robot: one object, every term of its equations of motion.

    M(q) a + C(q, v) v + D v + K q + g(q) = B(q) tau + external
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_dynamics import checks
from flex_dynamics.build.pack_fields import pack_section
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.base.finite import BAD_INPUT
from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS, prepare
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.composite_mass_matrix import mass_and_coriolis
from flex_dynamics.kernels.tree.first_moment import first_moment
from flex_dynamics.kernels.tree.frames import frame_motion
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_dynamics
from flex_dynamics.kernels.tree.state_dynamics import accelerations
from flex_dynamics.model import analysis, linearization
from flex_dynamics.model.assembly import Assembly
from flex_dynamics.model.loads import Loads, generalised_force

NO_FORCE = np.zeros(0)
MODEL_ADVICE = 'Model(load_robot(...)) gives one'


class Terms(NamedTuple):
    """Terms of the equations of motion at one state; K, D and B are read-only."""

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    D: np.ndarray
    g: np.ndarray
    B: np.ndarray


class Model(Assembly):
    """Equations of motion of a robot; frozen: with_gravity and with_payload give new models.

    order: 'second' (default) with foreshortening, 'first' without, 'linear' as Cibicik and
    Egeland. Coordinates: all joints in tree order, then motors of elastic joints, then elastic
    amplitudes link by link; `names` says which. A floating base counts as six joint coordinates
    (position, then rotation vector), a planar one as three. Arrays that methods return are new
    unless said to be read-only; a Model may be shared between threads.

    Arguments are real, finite numbers, positions up to 1e9 and others up to 1e15; everything else,
    such as complex or masked numbers, text, bools or another shape, is a DynamicsError.
    """

    def _build(self) -> None:
        prepare(accelerations, HANDLE, *5 * [NUMBERS])
        prepare(mass_and_coriolis, HANDLE, NUMBERS, NUMBERS, MATRIX, MATRIX, NUMBERS)
        super()._build()

    # Terms of the equations of motion -------------------------------------------------------

    def mass_matrix(self, q) -> np.ndarray:
        """M (n, n), symmetric positive definite."""
        if self._linear is not None:
            return self._linear.mass_matrix(self._position(q))
        return self._matrices(q, np.zeros(self.n))[0]

    def coriolis_matrix(self, q, v) -> np.ndarray:
        """C (n, n) with dM/dt - 2 C skew-symmetric."""
        return self.mass_and_coriolis(q, v)[1]

    def mass_and_coriolis(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """M and C together, for less than the sum of both."""
        return self._matrices(q, v)[:2]

    def terms(self, q, v) -> Terms:
        """M, C, K, D, g and B at a state, in one call."""
        mass, coriolis, weight = self._matrices(q, v)
        return Terms(mass, coriolis, self._stiffness, self._damping, weight, self._inputs)

    def _matrices(self, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q, v = self._state(q, v)
        if self._linear is not None:
            return *self._linear.mass_and_coriolis(q, v), self.gravity_force(q)
        n = self.n
        mass, coriolis, weight = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        mass_and_coriolis(self._handle, q, v, mass, coriolis, weight)
        return mass, coriolis, weight

    def stiffness_matrix(self) -> np.ndarray:
        """K (n, n), constant and read-only: beams and springs of elastic joints."""
        return self._stiffness

    def damping_matrix(self) -> np.ndarray:
        """D (n, n), constant and read-only: modal or Rayleigh damping, dampers and viscous joint
        friction."""
        return self._damping

    def input_matrix(self, q=None) -> np.ndarray:
        """B (n, n_joints), read-only: efforts of the joints as generalised forces.

        The effort of an elastic joint is the motor's torque times the gear ratio; on a pinned
        basis the motor also bends the link, phi'(0) (Lin and Lewis). Constant: q may be left out.
        """
        if q is not None:
            self._position(q)
        return self._inputs

    def gravity_force(self, q) -> np.ndarray:
        """g (n,) on the left side of the equation of motion."""
        return self.bias_force(q, np.zeros(self.n))

    def bias_force(self, q, v) -> np.ndarray:
        """C v + g (n,), without springs and dampers."""
        q, v = self._state(q, v)
        return self._inertial_force(q, v, np.zeros(self.n))

    def _inertial_force(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """M a + C v + g (n,) of vectors that have been checked, positive definite M or not."""
        if self._linear is not None:
            mass, coriolis, force = self._linear.terms(q, v)
            return mass @ a + coriolis @ v + force
        force = np.empty(self.n)
        inverse_dynamics(*self._arrays, self._work, self._gravity, q, v, a, force)
        return force

    def passive_force(self, q, v) -> np.ndarray:
        """-K q - D v and Coulomb friction (n,): what springs, dampers and joints do by themselves.
        """
        return self._passive_force(*self._state(q, v))

    def _passive_force(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        force = np.empty(self.n)
        applied_forces(*self._arrays[:3], q, v, np.zeros(self.n_joints), force)
        return force

    def forward_dynamics(self, q, v, tau, wrenches: Loads | None = None) -> np.ndarray:
        """Accelerations (n,) by the O(n) recursion. tau (n_joints,): joint efforts."""
        if self._linear is not None or wrenches is not None:
            return self._loaded_forward_dynamics(q, v, tau, wrenches)
        acceleration, status = np.empty(self.n), BAD_INPUT
        # Masked arrays are arrays to numba, which would not see the mask.
        if q.__class__ is v.__class__ is tau.__class__ is np.ndarray:
            try:
                status = accelerations(self._handle, q, v, tau, NO_FORCE, acceleration)
            except Exception:      # numba's, of several kinds, about arrays of other types
                status = BAD_INPUT
        if status:
            # Not arrays as the kernel takes them, or not numbers: make them so, or say why not.
            return self._loaded_forward_dynamics(q, v, tau, None)
        return acceleration

    def _loaded_forward_dynamics(self, q, v, tau, wrenches: Loads | None) -> np.ndarray:
        q, v = self._state(q, v)
        tau = self.finite_vector(tau, 'tau', self.n_joints)
        external = NO_FORCE if wrenches is None else generalised_force(self, q, wrenches)
        acceleration = np.empty(self.n)
        if self._linear is not None:
            applied_forces(*self._arrays[:3], q, v, tau, acceleration)
            force = acceleration if wrenches is None else acceleration + external
            return self._linear.forward_dynamics(q, v, force)
        self._check_pivot(accelerations(self._handle, q, v, tau, external, acceleration), q)
        return acceleration

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """Generalised force (n,) that causes the accelerations a: M a + C v + D v + K q + g, and
        Coulomb friction where the robot has it."""
        q, v = self._state(q, v)
        a = self.finite_vector(a, 'a', self.n)
        force = (self._inertial_force(q, v, a) if self._linear is None
                 else self._linear.inverse_dynamics(q, v, a))
        return force - self._passive_force(q, v)

    # Frames ---------------------------------------------------------------------------------

    def _motion(self, q, v, frame: str, x: float | None):
        q, v = self._state(q, v)
        node, station, offset = self._carrier(frame, x)
        section = NO_FORCE
        if station is not None:
            key = (node, station)
            if key not in self._sections:
                self._sections[key] = pack_section(self._packed.fields[node], station)
            section = self._sections[key]
        pose, jacobian, rate = np.empty((4, 4)), np.empty((6, self.n)), np.empty((6, self.n))
        frame_motion(*self._arrays, self._work, q, v, node, section,
                     np.ascontiguousarray(offset), *self._frame_work, pose, jacobian, rate)
        return pose, jacobian, rate

    def pose(self, q, frame: str, x: float | None = None) -> np.ndarray:
        """Pose (4, 4) in the world of a link, a frame, or the section at x (m) of a beam."""
        return self._motion(q, np.zeros(self.n), frame, x)[0]

    def jacobian(self, q, frame: str, x: float | None = None) -> np.ndarray:
        """Jacobian (6, n), linear rows first, then angular, world axes."""
        return self._motion(q, np.zeros(self.n), frame, x)[1]

    def jacobian_rate(self, q, v, frame: str, x: float | None = None) -> np.ndarray:
        """Time derivative (6, n) of the Jacobian at speeds v."""
        return self._motion(q, v, frame, x)[2]

    def curvature(self, q, link: str, x: float) -> np.ndarray:
        """(twist rate, curvature about y, about z) in 1/m at x of a beam: alpha', -w'', v''."""
        q = self._position(q)
        fields = self.beam(link)
        x = checks.station(x, link, fields.flexible.length)
        node = next(i for i, f in self._packed.fields.items() if f is fields)
        start = self._packed.table[node, layout.ELASTIC]
        return fields.rotation_first(np.array([x]), 1)[0] @ q[start:start + fields.n_modes]

    def first_moment(self, q) -> tuple[float, np.ndarray]:
        """Moving mass (kg) and the sum of mass times position (3,) in the world."""
        moment = np.empty(3)
        q = self._position(q)
        return first_moment(*self._arrays, self._work, q, *self._frame_work[2:], moment), moment

    # Analysis -------------------------------------------------------------------------------

    def energy(self, q, v) -> tuple[float, float, float]:
        """Kinetic, strain and gravity energy, J."""
        return analysis.energy(self, q, v)

    def linearize(self, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
        """A (2n, 2n), B (2n, n_joints) of d(q, v)/dt about a state q, v (n,), tau (n_joints,)."""
        return linearization.linearize(self, q, v, tau)

    def frequencies(self, q, joints: str = 'free', joint_stiffness=None):
        """Undamped frequencies (rad/s, rising) and shapes (n, count) at q."""
        return analysis.frequencies(self, q, joints, joint_stiffness)

    def statics(self, q_joints, wrenches: Loads | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Equilibrium with deflection: q (n,) and the efforts tau (n_joints,) that hold it."""
        return analysis.statics(self, q_joints, wrenches)
