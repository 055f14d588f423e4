"""A robot as the arrays of the kernels: construction, payloads, and where frames are."""
from __future__ import annotations

import difflib
from typing import Any, TypeVar

import numpy as np

from flex_description.robot import Inertia, Robot
from flex_dynamics.algebra.eigenvectors import inertia_fault
from flex_dynamics.build import constant_matrices
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.damping import elastic_damping
from flex_dynamics.build.pack import Packed, pack
from flex_dynamics.build.tree import build_tree, translation
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels import layout
from flex_dynamics.kernels.body_blocks import blocks_length
from flex_dynamics.kernels.handle import make_handle
from flex_dynamics.kernels.workspace import workspace_length
from flex_dynamics.linear_order import LinearOrder

ORDERS = ('linear', 'first', 'second')
FLOAT = np.dtype(np.float64)
Same = TypeVar('Same', bound='Assembly')


class Assembly:
    """What a Model is made of; frozen after construction."""

    def __init__(self, robot: Robot, order: str = 'second') -> None:
        if order not in ORDERS:
            raise DynamicsError(f'order: expected one of {", ".join(ORDERS)}, found {order!r}')
        self.robot = robot
        self.order = order
        self._beams: dict = {}
        self._payloads: dict[str, tuple[str, Inertia, float | None]] = {}
        self._extra_sections: tuple[tuple[str, float], ...] = ()
        self._build()
        self._damping_blocks = self._damping_of_beams()
        self._freeze()

    def mass_matrix(self, q) -> np.ndarray:
        raise TypeError('an Assembly has no equations of motion: use Model')

    def _build(self) -> None:
        self._tree = build_tree(self.robot)
        for frame, inertia, x in self._payloads.values():
            node, section, offset = self._carrier(frame, x)
            if section is not None:
                node = self._tree.section(node, section)
            if node >= 0:
                self._tree.nodes[node].add_inertia(inertia, offset)
        for link, station in self._extra_sections:
            self._tree.section(self._tree.places[link].node, station)
        if not self._tree.nodes:
            raise DynamicsError(f'robot {self.robot.name}: expected at least one joint or '
                                'flexible link, found none: nothing can move')
        packed = pack(self._tree, self.order, self._beams)
        self._packed: Packed = packed
        self.names = packed.names
        self.n = len(packed.names)
        self.n_joints = packed.n_joints
        self.gravity = np.array(self.robot.gravity, dtype=float)
        self._arrays = (packed.table, packed.body, packed.coef, packed.size)
        length = workspace_length(packed.size) + 2 * self.n
        self._work = np.zeros(length)
        self._more_work = np.zeros(blocks_length(packed.size))
        self._set_handle()
        most, nodes = int(packed.size[2]), len(self._tree.nodes)
        self._frame_work = (np.zeros((most, layout.ROW)), np.zeros((most, layout.ROW)),
                            np.zeros((nodes + 2, 3, 3)), np.zeros((nodes + 2, 3)))
        self._sections: dict[tuple[int, float], np.ndarray] = {}
        self._linear = (LinearOrder(self._tree, packed, self.gravity, self._beams)
                        if self.order == 'linear' else None)

    def _set_handle(self) -> None:
        self._handle = make_handle(*self._arrays, self._work, self._more_work, self.gravity,
                                   self.n_joints)

    def __setstate__(self, state: dict) -> None:
        """A copied or unpickled model has arrays of its own, at other addresses."""
        self.__dict__.update(state)
        self._set_handle()

    def _freeze(self) -> None:
        """Put the damping in and keep the matrices that never change."""
        for i, node in enumerate(self._tree.nodes):
            if node.beam is not None:
                constant_matrices.elastic_block(self._packed, self._packed.table[i],
                                                layout.DAMPING)[:] = (
                    self._damping_blocks[node.beam.link])
        self._stiffness = constant_matrices.stiffness_matrix(self._packed)
        self._damping = constant_matrices.damping_matrix(self._packed)
        self._inputs = constant_matrices.input_matrix(self._packed)
        for matrix in (self._stiffness, self._damping, self._inputs):
            matrix.setflags(write=False)

    def _damping_of_beams(self) -> dict[str, np.ndarray]:
        """Damping block of every beam; modal ratios need the mass matrix, so this follows _build.
        """
        mass = self.mass_matrix(np.zeros(self.n))
        blocks = {}
        for i, node in enumerate(self._tree.nodes):
            if node.beam is not None:
                row = self._packed.table[i]
                own = slice(row[layout.ELASTIC], row[layout.ELASTIC] + row[layout.MODES])
                stiffness = constant_matrices.elastic_block(self._packed, row, layout.STIFFNESS)
                blocks[node.beam.link] = elastic_damping(node.beam, mass[own, own], stiffness)
        return blocks

    # Payloads -------------------------------------------------------------------------------

    def with_payload(self: Same, name: str, frame: str, mass: float, centre=(0.0, 0.0, 0.0),
                     tensor=None, x: float | None = None) -> Same:
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
        if not (np.isfinite(centre).all() and np.isfinite(tensor).all()):
            raise DynamicsError(f'payload {name}: expected finite numbers for centre and tensor')
        fault = inertia_fault(tensor)
        if fault:
            raise DynamicsError(f'payload {name}: {fault}')
        self._carrier(frame, x)
        return self._changed({**self._payloads, name: (frame, Inertia(mass, centre, tensor), x)})

    def without_payload(self: Same, name: str) -> Same:
        """A model without the payload `name`."""
        if name not in self._payloads:
            known = ', '.join(self._payloads) or 'none'
            raise DynamicsError(f'payload {name!r} is not attached; attached: {known}')
        return self._changed({k: p for k, p in self._payloads.items() if k != name})

    def with_sections_at(self: Same, points: list[tuple[str, float | None]]) -> Same:
        """This model if every (frame, x) is fixed in a node; else one with nodes there too."""
        wanted = []
        for frame, x in points:
            node, station, _ = self._carrier(frame, x)
            if station is not None and not self._tree.has_section(node, station):
                wanted.append((self._tree.nodes[node].flexible_link.link, station))
        return self._changed(self._payloads, (*self._extra_sections, *wanted)) if wanted else self

    def carrier(self, frame: str, x: float | None = None) -> tuple[int, np.ndarray]:
        """Node (-1: the world) in which a frame is fixed, and its pose (4, 4) there."""
        node, station, offset = self._carrier(frame, x)
        if station is not None:
            node = self._tree.section(node, station)
        return node, offset

    def _changed(self: Same, payloads: dict, extra_sections: tuple = ()) -> Same:
        model = object.__new__(type(self))
        self._hand_on(model)
        model._payloads, model._extra_sections = payloads, extra_sections
        model._build()
        model._damping_blocks = self._damping_blocks
        model._freeze()
        return model

    def _hand_on(self, model: Any) -> None:
        """Give a new model what a payload does not change."""
        model.robot, model.order, model._beams = self.robot, self.order, self._beams

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
        station = float(section if section is not None else 0.0)
        return place.node, station, np.linalg.inv(translation(station)) @ place.pose @ pose

    # Checks at the door ---------------------------------------------------------------------

    def _vector(self, value, name: str, length: int) -> np.ndarray:
        """value as a float array of this length that kernels take; its numbers are not looked at.
        """
        if (value.__class__ is not np.ndarray or value.dtype is not FLOAT
                or not value.flags.carray):
            try:
                value = np.array(value, dtype=np.float64)
            except (TypeError, ValueError):
                raise DynamicsError(
                    f'{name}: expected {length} numbers, found {value!r}') from None
        if value.shape != (length,):
            raise DynamicsError(f'{name}: expected shape ({length},), found {value.shape}')
        return value

    def _complain_of_state(self, **vectors: np.ndarray) -> None:
        """Raise if a number of these is not finite or too large to calculate with."""
        for name, vector in vectors.items():
            bad = np.flatnonzero(~np.isfinite(vector))
            if bad.size:
                raise DynamicsError(f'{name}: expected finite numbers, found {vector[bad[0]]} for '
                                    f'{self.names[bad[0]]}')
            if np.abs(vector).max(initial=0.0) > 1e100:
                raise DynamicsError(f'{name}: expected numbers below 1e100, found '
                                    f'{np.abs(vector).max():.3g}')

    def finite_vector(self, value, name: str, length: int) -> np.ndarray:
        """value as a float array of this length, every number finite; else DynamicsError."""
        vector = self._vector(value, name, length)
        if not np.abs(vector).sum() <= 1e100:      # NaN and infinity too
            self._complain_of_state(**{name: vector})
        return vector

    def _check_pivot(self, status: int) -> None:
        """Turn a kernel's status into an error: 1 + a coordinate without inertia."""
        if status > 0:
            raise DynamicsError(
                f'mass matrix not positive definite at coordinate {self.names[status - 1]}: it '
                'moves no mass; give the links behind it an inertia')

    def beam(self, link: str) -> BeamFields:
        """Deformation fields of a flexible link."""
        for node, fields in self._packed.fields.items():
            if self._tree.nodes[node].flexible_link.link == link:
                return fields
        known = ', '.join(f.flexible.link for f in self._packed.fields.values()) or 'none'
        raise DynamicsError(f'{link!r} is not a flexible link; flexible links: {known}')

