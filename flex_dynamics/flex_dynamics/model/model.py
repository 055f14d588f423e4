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
"""The numeric model of a flexible robot: one object, every term of its equations of motion.

    M(q) a + C(q, v) v + D v + K q + g(q) = B(q) tau + external
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from flex_description import Robot
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.build.assemble import ORDERS, assemble
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.first_moment import first_moment
from flex_dynamics.kernels.tree.frames import frame_motion
from flex_dynamics.model import analysis
from flex_dynamics.model.backends import create_backend
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.composition import ComposedModel
from flex_dynamics.model.constraints import held_joints
from flex_dynamics.model.constraints.closing import Closing, admissible_speeds, close
from flex_dynamics.model.constraints.held_joints import DriveEfforts
from flex_dynamics.model.constraints.reactions import (
    ConstrainedAcceleration,
    Reaction,
    reactions,
    solve,
)
from flex_dynamics.model.constraints.terms import Independence, independence, terms
from flex_dynamics.model.data import Data
from flex_dynamics.model.derivatives import linearization
from flex_dynamics.model.derivatives import state_derivatives as derivatives
from flex_dynamics.model.derivatives.state_derivatives import (
    ForwardDerivatives,
    InverseDerivatives,
)
from flex_dynamics.model.loads import Loads, generalised_force
from flex_dynamics.model.places import place
from flex_dynamics.model.sections import BeamSections

MODEL_ADVICE = 'Model(load_robot(...)) gives one'


class Terms(NamedTuple):
    """Terms of the equations of motion at one state; K, D and B are read-only."""

    M: Array
    C: Array
    K: Array
    D: Array
    g: Array
    B: Array


class FrameMotion(NamedTuple):
    """Where a frame is and how it moves: pose (4, 4) in the world; jacobian and its time
    derivative (6, n), linear rows first, then angular, world axes."""

    pose: Array
    jacobian: Array
    jacobian_rate: Array


class Model(ComposedModel):
    """Equations of motion of a robot; frozen: with_gravity and with_payload give new models.

    Coordinates: all joints in tree order but those that follow others (<mimic>, see
    `followers`), then motors of elastic joints, then elastic amplitudes
    link by link; `names` and `coordinates` say which. A floating base counts as six joint
    coordinates (position, then rotation vector), a planar one as three. Units are SI, angles in
    rad; poses and Jacobians are in the world, which is the frame of the root link.

    A Model holds no scratch memory and may be shared between threads, which then run in parallel.
    Each thread has a Data of its own; one from `create_data` may be given as `data` instead.
    Arrays that methods return are new unless said to be read-only.

    Arguments are real, finite numbers, positions up to 1e9 and others up to 1e15; everything else,
    such as complex or masked numbers, text, bools or another shape, is a DynamicsError.

    Parameters
    ----------
    robot : Robot
        What load_robot gives.
    order : str
        'second' (default) with foreshortening, 'first' without it, 'linear' as Cibicik and
        Egeland.

    Examples
    --------
    >>> model = Model(load_robot('lab_link'))
    >>> q, v, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
    >>> model.forward_dynamics(q, v, tau).shape == (model.n,)
    True
    """

    def __init__(self, robot: Robot, order: str = 'second') -> None:
        checks.instance(robot, 'robot', Robot, f'load_robot({robot!r}) gives one' if isinstance(
            robot, str) else 'load_robot gives one')
        assembly = assemble(robot, checks.choice(order, 'order', ORDERS))
        super().__init__(assembly, create_backend(assembly))

    # Terms of the equations of motion -------------------------------------------------------

    def mass_matrix(self, q: ArrayLike, data: Data | None = None) -> Array:
        """M (n, n), symmetric positive definite."""
        return self._backend.mass_matrix(checks.position(self, q), self._scratch(data))

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, data: Data | None = None) -> Array:
        """C (n, n) with dM/dt - 2 C skew-symmetric."""
        return self.mass_and_coriolis(q, v, data)[1]

    def mass_and_coriolis(self, q: ArrayLike, v: ArrayLike,
                          data: Data | None = None) -> tuple[Array, Array]:
        """M and C (n, n) together, for less than the sum of both."""
        mass, coriolis, _ = self._backend.matrices(*checks.state(self, q, v), self._scratch(data))
        return mass, coriolis

    def terms(self, q: ArrayLike, v: ArrayLike, data: Data | None = None) -> Terms:
        """M, C, K, D, g and B at a state, in one call."""
        mass, coriolis, weight = self._backend.matrices(*checks.state(self, q, v),
                                                        self._scratch(data))
        return Terms(mass, coriolis, self._stiffness, self._damping, weight, self._inputs)

    def stiffness_matrix(self) -> Array:
        """K (n, n), constant and read-only: beams and springs of elastic joints."""
        return self._stiffness

    def damping_matrix(self) -> Array:
        """D (n, n), constant and read-only: modal or Rayleigh damping, dampers and viscous joint
        friction."""
        return self._damping

    def input_matrix(self, q: ArrayLike | None = None) -> Array:
        """B (n, n_joints), read-only: efforts of the joints as generalised forces.

        The effort of an elastic joint is the motor's torque times the gear ratio; on a pinned
        basis the motor also bends the link, phi'(0) (Lin and Lewis). Constant: q may be left out.
        """
        if q is not None:
            checks.position(self, q)
        return self._inputs

    def gravity_force(self, q: ArrayLike, data: Data | None = None) -> Array:
        """g (n,) on the left side of the equation of motion."""
        return self.bias_force(q, np.zeros(self._n), data)

    def bias_force(self, q: ArrayLike, v: ArrayLike, data: Data | None = None) -> Array:
        """C v + g (n,), without springs and dampers."""
        return self._backend.inertial_force(*checks.state(self, q, v), np.zeros(self._n),
                                            self._scratch(data))

    def passive_force(self, q: ArrayLike, v: ArrayLike) -> Array:
        """-K q - D v and Coulomb friction (n,): what springs, dampers and joints do by themselves.
        """
        q, v = checks.state(self, q, v)
        force = np.empty(self._n)
        applied_forces(*self._assembly.arrays[:3], q, v, np.zeros(self.n_joints), force)
        return force

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                         wrenches: Loads | None = None, data: Data | None = None) -> Array:
        """Accelerations (n,) by the O(n) recursion.

        q, v (n,): positions and speeds; tau (n_joints,): joint efforts, N m or N; wrenches: loads
        from outside, such as {'tool': force and moment (6,) in world axes}.
        """
        scratch = self._threads.data if data is None else self._scratch(data)
        # Masked arrays are arrays to numba, which would not see the mask.
        if (wrenches is None and q.__class__ is np.ndarray and v.__class__ is np.ndarray
                and tau.__class__ is np.ndarray):
            quick = self._backend.quick_forward_dynamics(q, v, tau, scratch)
            if quick is not None:
                return quick
        # Not arrays as the kernel takes them, or not numbers: make them so, or say why not.
        q, v = checks.state(self, q, v)
        tau = self.finite_vector(tau, 'tau', self.n_joints)
        external = (NO_FORCE if wrenches is None
                    else generalised_force(self, q, wrenches, scratch))
        return self._backend.forward_dynamics(q, v, tau, external, scratch)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                         data: Data | None = None) -> Array:
        """Generalised force (n,) that causes the accelerations a (n,): M a + C v + D v + K q + g,
        and Coulomb friction where the robot has it."""
        q, v = checks.state(self, q, v)
        a = self.finite_vector(a, 'a', self._n)
        force = self._backend.inverse_dynamics(q, v, a, self._scratch(data))
        return force - self.passive_force(q, v)

    # Derivatives ----------------------------------------------------------------------------

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                                     wrenches: Loads | None = None,
                                     data: Data | None = None) -> ForwardDerivatives:
        """Exact derivatives of forward_dynamics.

        Parameters
        ----------
        q, v : array-like, shape (n,)
            Positions and speeds.
        tau : array-like, shape (n_joints,)
            Joint efforts.
        wrenches : loads, optional
            Loads from outside, as forward_dynamics takes them; they keep their world axes.
        data : Data, optional
            Scratch memory; by default that of the thread.

        Returns
        -------
        by_q : array, shape (n, n)
        by_v : array, shape (n, n)
        by_tau : array, shape (n, n_joints)
            Entry [i, j] is the derivative of acceleration i by entry j of q, v or tau.

        Examples
        --------
        >>> by_q, by_v, by_tau = model.forward_dynamics_derivatives(q, v, tau)
        >>> by_q.shape == by_v.shape == (model.n, model.n)
        True
        """
        return derivatives.forward_dynamics(self, q, v, tau, wrenches, self._scratch(data))[1]

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                                     data: Data | None = None) -> InverseDerivatives:
        """Exact derivatives of inverse_dynamics by q, by v and by a, (n, n) each; that by a is
        the mass matrix."""
        return derivatives.inverse_dynamics(self, q, v, a, self._scratch(data))

    def gravity_force_derivative(self, q: ArrayLike, data: Data | None = None) -> Array:
        """dg/dq (n, n): what gravity adds to the stiffness at q."""
        return derivatives.gravity_force(self, q, self._scratch(data))

    def pose_derivative(self, q: ArrayLike, frame: str, x: float | None = None,
                        data: Data | None = None) -> Array:
        """(n, 4, 4): entry [j] is the derivative by q[j] of what `pose` gives."""
        return derivatives.pose(self, q, frame, x, self._scratch(data))

    def jacobian_derivative(self, q: ArrayLike, frame: str, x: float | None = None,
                            data: Data | None = None) -> Array:
        """(6, n, n): entry [:, m, j] is the derivative by q[j] of column m of the Jacobian.

        Times v from the right it is jacobian_rate, with w (6,) from the left the derivative of the
        generalised force of a wrench w in world axes.
        """
        return derivatives.jacobian(self, q, frame, x, self._scratch(data))

    # Frames ---------------------------------------------------------------------------------

    def frame_motion(self, q: ArrayLike, v: ArrayLike, frame: str, x: float | None = None,
                     data: Data | None = None) -> FrameMotion:
        """Pose, Jacobian and its rate of a link, a frame, or the section at x (m) of a beam, at q
        and v (n,), in one call."""
        q, v = checks.state(self, q, v)
        scratch = self._scratch(data)
        node, section, offset = place(self._assembly, frame, x, scratch)
        pose, jacobian, rate = np.empty((4, 4)), np.empty((6, self._n)), np.empty((6, self._n))
        frame_motion(*self._assembly.arrays, scratch.work, q, v, node, section, offset,
                     *scratch.frame_work, pose, jacobian, rate)
        return FrameMotion(pose, jacobian, rate)

    def pose(self, q: ArrayLike, frame: str, x: float | None = None,
             data: Data | None = None) -> Array:
        """Pose (4, 4) in the world of a link, a frame, or the section at x (m) of a beam."""
        return self.frame_motion(q, np.zeros(self._n), frame, x, data).pose

    def jacobian(self, q: ArrayLike, frame: str, x: float | None = None,
                 data: Data | None = None) -> Array:
        """Jacobian (6, n), linear rows first, then angular, world axes."""
        return self.frame_motion(q, np.zeros(self._n), frame, x, data).jacobian

    def jacobian_rate(self, q: ArrayLike, v: ArrayLike, frame: str, x: float | None = None,
                      data: Data | None = None) -> Array:
        """Time derivative (6, n) of the Jacobian at speeds v."""
        return self.frame_motion(q, v, frame, x, data).jacobian_rate

    def sections(self, link: str, stations: ArrayLike) -> BeamSections:
        """Sections of a flexible link at stations (k,) m along its beam, for many states: where
        they are in the beam's frame, how they are turned and how the beam is curved there."""
        return BeamSections(self, link, stations)

    def curvature(self, q: ArrayLike, link: str, x: float) -> Array:
        """(twist rate, curvature about y, about z) in 1/m at x of a beam: alpha', -w'', v''."""
        q = checks.position(self, q)
        node, fields = self._assembly.beam(link)
        x = checks.station(x, link, fields.flexible.length)
        start = self._assembly.packed.table[node, layout.ELASTIC]
        per_amplitude: Array = fields.rotation_first(np.array([x]), 1)[0]
        return per_amplitude @ q[start:start + fields.n_modes]

    def first_moment(self, q: ArrayLike, data: Data | None = None) -> tuple[float, Array]:
        """Moving mass (kg) and the sum of mass times position (3,) in the world."""
        moment = np.empty(3)
        q, scratch = checks.position(self, q), self._scratch(data)
        return first_moment(*self._assembly.arrays, scratch.work, q, *scratch.frame_work[2:],
                            moment), moment

    # Loops, wheels and supports -------------------------------------------------------------

    def constraint_error(self, q: ArrayLike, data: Data | None = None) -> Array:
        """By how much positions miss the constraints (m,): m, or the sine of an angle; zero for
        rows that are equations of speeds alone (rolling), and for supports that are not active."""
        error: Array = terms(self, q, np.zeros(self._n), self._scratch(data)).error.copy()
        return error

    def constraint_jacobian(self, q: ArrayLike, data: Data | None = None) -> Array:
        """A (m, n): the constraints are A(q) v = 0, rows named by constraint_names."""
        jacobian: Array = terms(self, q, np.zeros(self._n), self._scratch(data)).A.copy()
        return jacobian

    def constraint_jacobian_rate(self, q: ArrayLike, v: ArrayLike,
                                 data: Data | None = None) -> Array:
        """Time derivative (m, n) of the constraint Jacobian at speeds v."""
        rate: Array = terms(self, q, v, self._scratch(data)).A_rate.copy()
        return rate

    def constraint_independence(self, q: ArrayLike, data: Data | None = None) -> Independence:
        """Number of independent constraints at q, the names of redundant ones, the degrees of
        freedom, and how far from a singular position it is."""
        return independence(self, q, self._scratch(data))

    def close(self, q: ArrayLike, reach: float = 0.02, held: Iterable[str] = (),
              data: Data | None = None) -> Closing:
        """The closed position nearest to q (n,), and by how much q missed.

        reach: m, or rad of angles, beyond which it is an error. held: names of coordinates that
        stay as they are. Joints move rather than beams bend.
        """
        return close(self, q, reach, held, self._scratch(data))

    def admissible_speeds(self, q: ArrayLike, v: ArrayLike, data: Data | None = None) -> Array:
        """The speeds (n,) that the constraints allow nearest to v in the metric of M: those after
        an inelastic impact."""
        return admissible_speeds(self, q, v, self._scratch(data))

    def constrained_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                             wrenches: Loads | None = None,
                             data: Data | None = None) -> ConstrainedAcceleration:
        """forward_dynamics with the multipliers (m,): M a + C v + ... = B tau + A' multipliers."""
        return solve(self, q, v, tau, wrenches, self._scratch(data))[0]

    def reactions(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                  wrenches: Loads | None = None,
                  data: Data | None = None) -> dict[str, Reaction]:
        """Reactions of all constraints at a state, by name: wrenches on the frames they join."""
        return reactions(self, q, v, tau, wrenches, self._scratch(data))

    def independent_joints(self, q: ArrayLike, data: Data | None = None) -> tuple[str, ...]:
        """Names of joint coordinates that determine the others at q, if links were rigid: the
        first in tree order, passive ones and a moving base last."""
        return held_joints.independent_joints(self, q, self._scratch(data))

    def free_directions(self, q: ArrayLike, held: Iterable[str] = (),
                        data: Data | None = None) -> Array:
        """A basis (n, freedom) of the speeds that the constraints allow while the coordinates in
        `held` stand still; N' M N = 1."""
        return held_joints.free_directions(self, q, held, self._scratch(data))

    def constrained_inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a_held: ArrayLike,
                                     held: Iterable[str],
                                     data: Data | None = None) -> DriveEfforts:
        """Efforts of the joints in `held` that give them the accelerations a_held (as many); no
        other joint has an effort, and all other coordinates follow."""
        return held_joints.inverse_dynamics(self, q, v, a_held, held, self._scratch(data))

    # Analysis -------------------------------------------------------------------------------

    def energy(self, q: ArrayLike, v: ArrayLike,
               data: Data | None = None) -> tuple[float, float, float]:
        """Kinetic, strain and gravity energy, J; gravity is zero at the world's origin."""
        return analysis.energy(self, q, v, data)

    def linearize(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                  data: Data | None = None) -> tuple[Array, Array]:
        """Linear model of d(q, v)/dt about any state.

        Parameters
        ----------
        q, v : array-like, shape (n,)
            Positions and speeds.
        tau : array-like, shape (n_joints,)
            Joint efforts.
        data : Data, optional
            Scratch memory; by default that of the thread.

        Returns
        -------
        A : array, shape (2n, 2n)
        B : array, shape (2n, n_joints)

        Examples
        --------
        >>> A, B = model.linearize(q, v, tau)
        >>> A.shape == (2 * model.n, 2 * model.n) and B.shape == (2 * model.n, model.n_joints)
        True
        """
        return linearization.linearize(self, q, v, tau, self._scratch(data))

    def frequencies(self, q: ArrayLike, joints: str = 'free',
                    joint_stiffness: ArrayLike | None = None,
                    data: Data | None = None,
                    held: Iterable[str] | None = None, loaded: bool = False,
                    wrenches: Loads | None = None) -> tuple[Array, Array]:
        """Undamped natural frequencies and mode shapes of M and K at q, on the constraints if
        there are some.

        Parameters
        ----------
        q : array-like, shape (n,)
            Positions.
        joints : str
            'free' leaves the rigid motions in as zero frequencies; 'locked' holds the joints
            (motors stay free), of a robot with constraints the independent ones.
        joint_stiffness : array-like, shape (n_joints,), optional
            Springs on the joints, N m/rad or N/m, as a PD loop has.
        data : Data, optional
            Scratch memory; by default that of the thread.
        held : names of coordinates, optional
            Those that stand still, whatever `joints` says.
        loaded : bool
            Add the geometric stiffness of gravity at q, that of payloads included: a mast that
            carries a mass is softer, a hanging one stiffer. q should be an equilibrium then, as
            `statics` gives it. Motions that would fall have the frequency zero.
        wrenches : loads, optional
            Loads from outside whose geometric stiffness counts as well; they imply `loaded`.

        Returns
        -------
        frequencies : array, shape (count,)
            rad/s, rising; divided by 2 pi they are the Hz that `describe` and the nodes print.
        shapes : array, shape (n, count)
            Columns, mass-normalised.

        Examples
        --------
        >>> frequencies, shapes = model.frequencies(q, joints='locked')
        >>> shapes.shape == (model.n, len(frequencies))
        True
        """
        return analysis.frequencies(self, q, joints, joint_stiffness, held, loaded, wrenches,
                                    self._scratch(data))

    def statics(self, q_joints: ArrayLike, wrenches: Loads | None = None,
                data: Data | None = None,
                held: Iterable[str] | None = None) -> tuple[Array, Array]:
        """Equilibrium with deflection at given joint positions.

        Of a robot with constraints the independent joints are held, and the others follow.

        Parameters
        ----------
        q_joints : array-like, shape (n_joints,)
            Joint positions, which are held.
        wrenches : loads, optional
            Loads from outside, as forward_dynamics takes them.
        data : Data, optional
            Scratch memory; by default that of the thread.
        held : names of joint coordinates, optional
            Those that are held and have an effort; the others move until they are at rest.

        Returns
        -------
        q : array, shape (n,)
            All positions: motors and amplitudes as gravity and loads bend them.
        tau : array, shape (n_joints,)
            Joint efforts that hold it.

        Examples
        --------
        >>> q, tau = model.statics(np.zeros(model.n_joints))
        >>> bool(np.abs(model.forward_dynamics(q, np.zeros(model.n), tau)).max() < 1e-6)
        True
        """
        return analysis.statics(self, q_joints, wrenches, held, self._scratch(data))
