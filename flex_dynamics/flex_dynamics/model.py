"""The numeric model of a flexible robot: one object, every term of its equations of motion.

    M(q) a + C(q, v) v + D v + K q + g(q) = B(q) tau + external
"""
from __future__ import annotations

import numpy as np

from flex_description.robot import Inertia, Robot
from flex_dynamics import analysis
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.damping import elastic_damping
from flex_dynamics.build.pack import Packed, pack
from flex_dynamics.build.pack_fields import pack_section
from flex_dynamics.build.tree import build_tree, translation
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels import layout
from flex_dynamics.kernels.applied_forces import applied_forces
from flex_dynamics.kernels.composite_mass_matrix import (
    coriolis_workspace_length,
    mass_and_coriolis,
)
from flex_dynamics.kernels.first_moment import first_moment
from flex_dynamics.kernels.frames import frame_motion
from flex_dynamics.kernels.inverse_dynamics import inverse_dynamics
from flex_dynamics.kernels.state_dynamics import accelerations
from flex_dynamics.kernels.workspace import workspace_length
from flex_dynamics.linear_order import LinearOrder
from flex_dynamics.loads import Loads, generalised_force

ORDERS = ('linear', 'first', 'second')
NO_FORCE = np.zeros(0)


class Model:
    """Equations of motion of a robot; frozen after construction.

    order: 'second' (default) with foreshortening, 'first' without, 'linear' as Cibicik and
    Egeland. Coordinates: all joints in tree order, then motors of elastic joints, then elastic
    amplitudes link by link; `names` says which. A floating base counts as six joint coordinates
    (position, then rotation vector), a planar one as three.
    """

    def __init__(self, robot: Robot, order: str = 'second') -> None:
        if order not in ORDERS:
            raise DynamicsError(f'order: expected one of {", ".join(ORDERS)}, found {order!r}')
        self.robot = robot
        self.order = order
        self._beams: dict = {}
        self._payloads: dict[str, tuple[str, Inertia, float | None]] = {}
        self._extra_sections: tuple[tuple[str, float], ...] = ()
        self._build()
        self._add_damping()

    def _build(self) -> None:
        self._tree = build_tree(self.robot)
        for name, (frame, inertia, x) in self._payloads.items():
            node, section, offset = self._carrier(frame, x)
            if section is not None:
                node = self._tree.section(node, section)
            if node >= 0:
                self._tree.nodes[node].add_inertia(inertia, offset)
        for link, station in self._extra_sections:
            self._tree.section(self._tree.places[link].node, station)
        if not self._tree.nodes:
            raise DynamicsError(f'robot {self.robot.name}: expected at least one joint or flexible '
                                'link, found none: nothing can move')
        packed = pack(self._tree, self.order, self._beams)
        self._packed: Packed = packed
        self.names = packed.names
        self.n = len(packed.names)
        self.n_joints = packed.n_joints
        self.gravity = np.array(self.robot.gravity, dtype=float)
        self._arrays = (packed.table, packed.body, packed.coef, packed.size)
        length = workspace_length(packed.size) + 2 * self.n
        self._work = np.zeros(length)
        self._more_work = np.zeros(coriolis_workspace_length(packed.size))
        most, nodes = int(packed.size[2]), len(self._tree.nodes)
        self._frame_work = (np.zeros((most, 6)), np.zeros((most, 6)),
                            np.zeros((nodes + 2, 3, 3)), np.zeros((nodes + 2, 3)))
        self._sections: dict[tuple[int, float], np.ndarray] = {}
        self._linear = (LinearOrder(self._tree, packed, self.gravity, self._beams)
                        if self.order == 'linear' else None)

    def _add_damping(self) -> None:
        """Modal damping needs the mass matrix, so it comes after the build."""
        mass = self.mass_matrix(np.zeros(self.n))
        for i, node in enumerate(self._tree.nodes):
            if node.beam is not None and node.beam.n_modes:
                row = self._packed.table[i]
                start, modes = row[layout.ELASTIC], row[layout.MODES]
                block = slice(start, start + modes)
                stiffness = self._coefficients(row[layout.STIFFNESS], modes)
                damping = elastic_damping(node.beam, mass[block, block], stiffness)
                self._coefficients(row[layout.DAMPING], modes)[:] = damping
        self._damping_blocks = {
            node.beam.link: self._coefficients(self._packed.table[i, layout.DAMPING],
                                               self._packed.table[i, layout.MODES]).copy()
            for i, node in enumerate(self._tree.nodes) if node.beam is not None}

    def _coefficients(self, at: int, modes: int) -> np.ndarray:
        return self._packed.coef[at:at + modes * modes].reshape(modes, modes)

    # Payloads -------------------------------------------------------------------------------

    def with_payload(self, name: str, frame: str, mass: float, centre=(0.0, 0.0, 0.0),
                     tensor=None, x: float | None = None) -> Model:
        """A model that carries one rigid body more, under `name`; a known name is moved.

        mass kg, centre (3,) m and tensor (3, 3) kg m2 about it in the frame's axes. Mode shapes,
        their integrals and the damping stay as they are.
        """
        tensor = np.zeros((3, 3)) if tensor is None else np.asarray(tensor, dtype=float)
        centre = np.asarray(centre, dtype=float)
        if not (np.isfinite(mass) and mass > 0.0):
            raise DynamicsError(f'payload {name}: expected a positive mass in kg, found {mass}')
        if centre.shape != (3,) or tensor.shape != (3, 3):
            raise DynamicsError(f'payload {name}: expected centre (3,) and tensor (3, 3), found '
                                f'{centre.shape} and {tensor.shape}')
        self._carrier(frame, x)
        return self._changed({**self._payloads, name: (frame, Inertia(mass, centre, tensor), x)})

    def without_payload(self, name: str) -> Model:
        """A model without the payload `name`."""
        if name not in self._payloads:
            known = ', '.join(self._payloads) or 'none'
            raise DynamicsError(f'payload {name!r} is not attached; attached: {known}')
        return self._changed({k: p for k, p in self._payloads.items() if k != name})

    def with_sections_at(self, points: list[tuple[str, float | None]]) -> Model:
        """This model if every (frame, x) is fixed in a node; else one with nodes there too."""
        wanted = []
        for frame, x in points:
            node, station, _ = self._carrier(frame, x)
            if station is not None and not self._tree.has_section(node, station):
                wanted.append((self._tree.nodes[node].beam.link, station))
        return self._changed(self._payloads, (*self._extra_sections, *wanted)) if wanted else self

    def carrier(self, frame: str, x: float | None = None) -> tuple[int, np.ndarray]:
        """Node (-1: the world) in which a frame is fixed, and its origin (3,) there."""
        node, station, offset = self._carrier(frame, x)
        if station is not None:
            node = self._tree.section(node, station)
        return node, offset[:3, 3]

    def _changed(self, payloads: dict, extra_sections: tuple = ()) -> Model:
        model = object.__new__(Model)
        model.robot, model.order = self.robot, self.order
        model._beams, model._payloads = self._beams, payloads
        model._extra_sections = extra_sections
        model._build()
        for i, node in enumerate(model._tree.nodes):
            if node.beam is not None:
                row = model._packed.table[i]
                model._coefficients(row[layout.DAMPING], row[layout.MODES])[:] = (
                    self._damping_blocks[node.beam.link])
        model._damping_blocks = self._damping_blocks
        return model

    # Checks at the door ---------------------------------------------------------------------

    def _vector(self, value, name: str, length: int) -> np.ndarray:
        vector = np.ascontiguousarray(value, dtype=np.float64)
        if vector.shape != (length,):
            raise DynamicsError(f'{name}: expected shape ({length},), found {vector.shape}')
        total = vector.dot(vector)
        if not total < np.inf:
            self._complain_of_values(vector, name)
        return vector

    def _complain_of_values(self, vector: np.ndarray, name: str) -> None:
        bad = np.flatnonzero(~np.isfinite(vector))
        if bad.size:
            raise DynamicsError(f'{name}: expected finite numbers, found {vector[bad[0]]} for '
                                f'{self.names[bad[0]]}')
        raise DynamicsError(f'{name}: its size, {np.abs(vector).max():.3g}, is beyond all physics')

    def _check_pivot(self, status: int) -> None:
        if status:
            raise DynamicsError(
                f'mass matrix not positive definite at coordinate {self.names[status - 1]}: it '
                'moves no mass; give the links behind it an inertia')

    def beam(self, link: str) -> BeamFields:
        """Deformation fields of a flexible link."""
        for node, fields in self._packed.fields.items():
            if self._tree.nodes[node].beam.link == link:
                return fields
        known = ', '.join(self._tree.nodes[i].beam.link for i in self._packed.fields) or 'none'
        raise DynamicsError(f'{link!r} is not a flexible link; flexible links: {known}')

    # Terms of the equations of motion -------------------------------------------------------

    def mass_matrix(self, q) -> np.ndarray:
        """M (n, n), symmetric positive definite."""
        q = self._vector(q, 'q', self.n)
        if self._linear is not None:
            return self._linear.mass_matrix(q)
        mass = np.empty((self.n, self.n))
        mass_and_coriolis(*self._arrays, self._work, self._more_work, q, q, False, mass, mass)
        return mass

    def coriolis_matrix(self, q, v) -> np.ndarray:
        """C (n, n) with dM/dt - 2 C skew-symmetric."""
        return self.mass_and_coriolis(q, v)[1]

    def mass_and_coriolis(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """M and C together, for less than the sum of both."""
        q, v = self._vector(q, 'q', self.n), self._vector(v, 'v', self.n)
        if self._linear is not None:
            return self._linear.mass_and_coriolis(q, v)
        mass, coriolis = np.empty((self.n, self.n)), np.empty((self.n, self.n))
        mass_and_coriolis(*self._arrays, self._work, self._more_work, q, v, True, mass, coriolis)
        return mass, coriolis

    def stiffness_matrix(self) -> np.ndarray:
        """K (n, n), constant: beams and springs of elastic joints."""
        return self._block_matrix(layout.STIFFNESS, layout.SPRING)

    def damping_matrix(self) -> np.ndarray:
        """D (n, n), constant: modal or Rayleigh damping, dampers and viscous joint friction."""
        damping = self._block_matrix(layout.DAMPING, layout.DAMPER)
        inputs = self.input_matrix()
        for i, row in enumerate(self._packed.table):
            viscous = self._packed.body[i, layout.VISCOUS]
            if row[layout.DOF] == 1 and viscous:
                column = inputs[:, row[layout.Q]] if row[layout.MOTOR] < 0 else np.eye(self.n)[
                    row[layout.Q]]
                damping += viscous * np.outer(column, column)
        return damping

    def _block_matrix(self, block_column: int, joint_column: int) -> np.ndarray:
        out = np.zeros((self.n, self.n))
        for i, row in enumerate(self._packed.table):
            start, modes = row[layout.ELASTIC], row[layout.MODES]
            out[start:start + modes, start:start + modes] = self._coefficients(
                row[block_column], modes)
            if row[layout.MOTOR] >= 0:
                stretch = np.zeros(self.n)
                stretch[row[layout.Q]] = -1.0
                stretch[row[layout.MOTOR]] = 1.0 / self._packed.body[i, layout.GEAR]
                out += self._packed.body[i, joint_column] * np.outer(stretch, stretch)
        return out

    def input_matrix(self, q=None) -> np.ndarray:
        """B (n, n_joints): efforts of the joints as generalised forces.

        The effort of an elastic joint is the motor's torque times the gear ratio; on a pinned
        basis the motor also bends the link, phi'(0) (Lin and Lewis). Constant: q may be left out.
        """
        inputs = np.zeros((self.n, self.n_joints))
        for i, row in enumerate(self._packed.table):
            at, motor = row[layout.Q], row[layout.MOTOR]
            for m in range(row[layout.DOF]):
                inputs[at + m, at + m] = 1.0
            if motor >= 0:
                inputs[at, at] = 0.0
                inputs[motor, at] = 1.0 / self._packed.body[i, layout.GEAR]
            elif row[layout.PINNED] >= 0:
                start, modes = row[layout.ELASTIC], row[layout.MODES]
                turn = self._packed.coef[row[layout.PINNED]:row[layout.PINNED] + modes]
                inputs[start:start + modes, at] = turn
        return inputs

    def gravity_force(self, q) -> np.ndarray:
        """g (n,) on the left side of the equation of motion."""
        zero = np.zeros(self.n)
        return self.inverse_dynamics(q, zero, zero) - self._spring_force(q, zero)

    def bias_force(self, q, v) -> np.ndarray:
        """C v + g (n,), without springs and dampers."""
        q, v = self._vector(q, 'q', self.n), self._vector(v, 'v', self.n)
        if self._linear is not None:
            return self._linear.inverse_dynamics(q, v, np.zeros(self.n))
        force = np.empty(self.n)
        inverse_dynamics(*self._arrays, self._work, self.gravity, q, v, np.zeros(self.n), force)
        return force

    def _spring_force(self, q, v) -> np.ndarray:
        return self.stiffness_matrix() @ q + self.damping_matrix() @ v

    def forward_dynamics(self, q, v, tau, wrenches: Loads | None = None) -> np.ndarray:
        """Accelerations (n,) by the O(n) recursion. tau (n_joints,): joint efforts."""
        q, v = self._vector(q, 'q', self.n), self._vector(v, 'v', self.n)
        tau = self._vector(tau, 'tau', self.n_joints)
        external = NO_FORCE if wrenches is None else generalised_force(self, q, wrenches)
        acceleration = np.empty(self.n)
        if self._linear is not None:
            applied_forces(*self._arrays[:3], q, v, tau, acceleration)
            force = acceleration if wrenches is None else acceleration + external
            return self._linear.forward_dynamics(q, v, force)
        self._check_pivot(accelerations(*self._arrays, self._work, self.gravity, q, v, tau,
                                        external, acceleration))
        return acceleration

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """Generalised force (n,) M a + C v + D v + K q + g that causes the accelerations a."""
        q, v = self._vector(q, 'q', self.n), self._vector(v, 'v', self.n)
        a = self._vector(a, 'a', self.n)
        if self._linear is not None:
            return self._linear.inverse_dynamics(q, v, a) + self._spring_force(q, v)
        force = np.empty(self.n)
        inverse_dynamics(*self._arrays, self._work, self.gravity, q, v, a, force)
        return force + self._spring_force(q, v)

    # Frames ---------------------------------------------------------------------------------

    def _carrier(self, frame: str, x: float | None) -> tuple[int, float | None, np.ndarray]:
        """Node, station on its beam (None if the frame is fixed in the node) and offset pose."""
        frames = {f.name: f for f in self.robot.frames}
        places = self._tree.places
        if frame in places:
            place, pose, section = places[frame], np.eye(4), None
        elif frame in frames:
            place, pose = places[frames[frame].link], frames[frame].pose
            section = frames[frame].section_x
        else:
            import difflib
            near = difflib.get_close_matches(frame, [*places, *frames], 1)
            hint = f'; did you mean {near[0]!r}?' if near else ''
            raise DynamicsError(f'unknown frame {frame!r}: expected a link or frame of '
                                f'{self.robot.name}{hint}')
        beam = self._tree.nodes[place.node].beam if place.node >= 0 else None
        if x is None and (section is None or beam is None):
            return place.node, None, place.pose @ pose
        if beam is None:
            raise DynamicsError(f'{frame!r} is not on a flexible link: leave x out')
        if x is not None:
            if not 0.0 <= x <= beam.length:
                raise DynamicsError(f'x on {frame!r}: expected 0 to {beam.length:g} m along the '
                                    f'beam, found {x}')
            return place.node, float(x), np.eye(4)
        offset = np.linalg.inv(translation(section)) @ place.pose @ pose
        return place.node, float(section), offset

    def _motion(self, q, v, frame: str, x: float | None):
        q, v = self._vector(q, 'q', self.n), self._vector(v, 'v', self.n)
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
        q = self._vector(q, 'q', self.n)
        fields = self.beam(link)
        if not 0.0 <= x <= fields.flexible.length:
            raise DynamicsError(f'x on {link!r}: expected 0 to {fields.flexible.length:g} m along '
                                f'the beam, found {x}')
        node = next(i for i, f in self._packed.fields.items() if f is fields)
        start = self._packed.table[node, layout.ELASTIC]
        return fields.rotation_first(np.array([x]), 1)[0] @ q[start:start + fields.n_modes]

    def first_moment(self, q) -> tuple[float, np.ndarray]:
        """Moving mass (kg) and the sum of mass times position (3,) in the world."""
        moment = np.empty(3)
        q = self._vector(q, 'q', self.n)
        return first_moment(*self._arrays, self._work, q, *self._frame_work[2:], moment), moment

    # Analysis -------------------------------------------------------------------------------

    def energy(self, q, v) -> tuple[float, float, float]:
        """Kinetic, strain and gravity energy, J."""
        return analysis.energy(self, q, v)

    def linearize(self, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
        """A (2n, 2n), B (2n, n_joints) of the state (q, v) about a point."""
        return analysis.linearize(self, q, v, tau)

    def frequencies(self, q, joints: str = 'free', joint_stiffness=None):
        """Undamped frequencies (rad/s, rising) and shapes (n, count) at q."""
        return analysis.frequencies(self, q, joints, joint_stiffness)

    def statics(self, q_joints, wrenches: Loads | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Equilibrium with deflection: q (n,) and the efforts tau (n_joints,) that hold it."""
        return analysis.statics(self, q_joints, wrenches)
