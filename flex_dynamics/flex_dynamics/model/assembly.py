"""A robot as the arrays of the kernels: construction, payloads, and where frames are."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from flex_description import Inertia, Robot
from flex_dynamics import checks
from flex_dynamics.build import constant_matrices
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.damping import elastic_damping
from flex_dynamics.build.pack import Packed, pack
from flex_dynamics.build.tree import build_tree, translation
from flex_dynamics.checks import LARGEST, LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.immutable import Frozen, Gravity
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.base.handle import make_handle
from flex_dynamics.kernels.base.workspace import workspace_length
from flex_dynamics.kernels.tree.body_blocks import blocks_length
from flex_dynamics.model.linear_order import LinearOrder
from flex_dynamics.papers.eigenvectors import inertia_fault

ORDERS = ('linear', 'first', 'second')
Same = TypeVar('Same', bound='Assembly')


class Assembly(Frozen):
    """What a Model is made of; frozen after construction."""

    _handle: np.ndarray

    def __init__(self, robot: Robot, order: str = 'second') -> None:
        checks.instance(robot, 'robot', Robot, f'load_robot({robot!r}) gives one' if isinstance(
            robot, str) else 'load_robot gives one')
        self.robot = robot
        self.order = checks.choice(order, 'order', ORDERS)
        self._beams: dict = {}
        self._payloads: dict[str, tuple[str, Inertia, float | None]] = {}
        self._extra_sections: tuple[tuple[str, float], ...] = ()
        self._build()
        self._damping_blocks = self._damping_of_beams()
        self._freeze()
        self._lock()

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
        self._gravity = checks.finite(self.robot.gravity, 'gravity of the robot', (3,)).copy()
        self._arrays = (packed.table, packed.body, packed.coef, packed.size)
        length = workspace_length(packed.size) + 2 * self.n
        self._work = np.zeros(length)
        self._more_work = np.zeros(blocks_length(packed.size))
        self._set_handle()
        most, nodes = int(packed.size[2]), len(self._tree.nodes)
        self._frame_work = (np.zeros((most, layout.ROW)), np.zeros((most, layout.ROW)),
                            np.zeros((nodes + 2, 3, 3)), np.zeros((nodes + 2, 3)))
        self._sections: dict[tuple[int, float], np.ndarray] = {}
        self._linear = (LinearOrder(self._tree, packed, self._gravity, self._beams)
                        if self.order == 'linear' else None)

    def _set_handle(self) -> None:
        # Not by setattr: a copy is locked already.
        self.__dict__['_handle'] = make_handle(*self._arrays, self._work, self._more_work,
                                               self._gravity, self.n_joints)

    def __setstate__(self, state: dict) -> None:
        """A copied or unpickled model has arrays of its own, at other addresses."""
        self.__dict__.update(state)
        self._set_handle()
        self._protect()

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
        self._protect()

    def _protect(self) -> None:
        """Make read-only what methods hand out without a copy."""
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

    # Gravity and payloads -------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) m/s2 in the root's frame, a read-only copy; see with_gravity."""
        return Gravity.of(self._gravity)

    def with_gravity(self: Same, gravity) -> Same:
        """A model of the same robot under another gravity (3,), m/s2 in the root's frame.

        Payloads stay attached; mode shapes, their integrals and the damping are shared with this
        model. Its `robot` has the new gravity, too.
        """
        vector = checks.finite(gravity, 'gravity', (3,)).copy()
        vector.setflags(write=False)
        return self._changed(self._payloads, self._extra_sections,
                             replace(self.robot, gravity=vector))

    def with_payload(self: Same, name: str, frame: str, mass: float, centre=(0.0, 0.0, 0.0),
                     tensor=None, x: float | None = None) -> Same:
        """A model that carries one rigid body more, under `name`; a known name is moved.

        mass kg, centre (3,) m and tensor (3, 3) kg m2 about it in the frame's axes. Mode shapes,
        their integrals and the damping stay as they are.
        """
        name = checks.text(name, 'name of the payload', "a text such as 'box'")
        mass = checks.positive(mass, f'mass of payload {name}', 'a positive mass in kg')
        # Copies: the arrays of the caller may change later.
        centre = checks.finite(centre, f'centre of payload {name}', (3,)).copy()
        tensor = (np.zeros((3, 3)) if tensor is None else
                  checks.finite(tensor, f'tensor of payload {name}', (3, 3)).copy())
        fault = inertia_fault(tensor)
        if fault:
            raise DynamicsError(f'payload {name}: {fault}')
        self._carrier(frame, x)
        x = None if x is None else float(x)
        return self._changed({**self._payloads, name: (frame, Inertia(mass, centre, tensor), x)})

    def without_payload(self: Same, name: str) -> Same:
        """A model without the payload `name`."""
        if not isinstance(name, str) or name not in self._payloads:
            known = ', '.join(self._payloads) or 'none'
            raise DynamicsError(f'payload {checks.shown(name)} is not attached; attached: {known}')
        return self._changed({k: p for k, p in self._payloads.items() if k != name})

    def with_sections_at(self: Same, points: Sequence[tuple[str, float | None]]) -> Same:
        """This model if every (frame, x) is fixed in a node; else one with nodes there too."""
        wanted = []
        for frame, x in checks.places(points, 'points'):
            node, station, _ = self._carrier(frame, x)
            if station is not None and not self._tree.has_section(node, station):
                wanted.append((self._tree.nodes[node].flexible_link.link, station))
        return self._changed(self._payloads, (*self._extra_sections, *wanted)) if wanted else self

    def carrier(self, frame: str, x: float | None = None) -> tuple[int, np.ndarray]:
        """Node (-1: the world) in which a frame is fixed, and its pose (4, 4) there."""
        node, station, offset = self._carrier(frame, x)
        if station is not None:
            if not self._tree.has_section(node, station):
                raise DynamicsError(f'{frame!r} at x = {station:g} m: expected a section with a '
                                    f'node, found none there; with_sections_at([({frame!r}, '
                                    f'{station:g})]) gives a model that has one')
            node = self._tree.section(node, station)
        return node, offset

    def _changed(self: Same, payloads: dict, extra_sections: tuple = (),
                 robot: Robot | None = None) -> Same:
        model = object.__new__(type(self))
        self._hand_on(model)
        model.robot = self.robot if robot is None else robot
        model._payloads, model._extra_sections = payloads, extra_sections
        model._build()
        model._damping_blocks = self._damping_blocks
        model._freeze()
        model._lock()
        return model

    def _hand_on(self, model: Any) -> None:
        """Give a new model what payloads and gravity do not change."""
        model.order, model._beams = self.order, self._beams

    def _carrier(self, frame: str, x: float | None) -> tuple[int, float | None, np.ndarray]:
        """Node, station on its beam (None if the frame is fixed in the node) and offset pose."""
        checks.text(frame, 'frame', f'the name of a link or frame of {self.robot.name}')
        frames = {f.name: f for f in self.robot.frames}
        places = self._tree.places
        if frame in places:
            place, pose, section = places[frame], np.eye(4), None
        elif frame in frames:
            place, pose = places[frames[frame].link], frames[frame].pose
            section = frames[frame].section_x
        else:
            raise DynamicsError(f'unknown frame {frame!r}: expected a link or frame of '
                                f'{self.robot.name}'
                                f'{checks.did_you_mean(frame, [*places, *frames])}')
        beam = self._tree.nodes[place.node].beam if place.node >= 0 else None
        if x is None and (section is None or beam is None):
            return place.node, None, place.pose @ pose
        if beam is None:
            raise DynamicsError(f'{frame!r} is not on a flexible link: leave x out')
        if x is not None:
            return place.node, checks.station(x, frame, beam.length), np.eye(4)
        station = float(section if section is not None else 0.0)
        return place.node, station, np.linalg.inv(translation(station)) @ place.pose @ pose

    # Checks at the door ---------------------------------------------------------------------

    def finite_vector(self, value, name: str, length: int, most: float = LARGEST) -> np.ndarray:
        """value as a float array of this length, every number finite and at most `most`; else
        DynamicsError. It is not copied if it is such an array already."""
        return checks.vector(value, name, length, self.names, most)

    def _position(self, q) -> np.ndarray:
        return checks.vector(q, 'q', self.n, self.names, LARGEST_POSITION)

    def _state(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        return (checks.vector(q, 'q', self.n, self.names, LARGEST_POSITION),
                checks.vector(v, 'v', self.n, self.names))

    def _check_pivot(self, status: int, q: np.ndarray) -> None:
        """Turn a kernel's status at q into an error: 1 + a coordinate without inertia."""
        if status <= 0:
            return
        where = f'mass matrix not positive definite at coordinate {self.names[status - 1]}'
        if q.any() and self._moves_mass_at_rest():
            first = self._packed.first_elastic
            first = first if q[first:].any() else 0      # a joint may turn many times
            largest = first + int(np.argmax(np.abs(q[first:])))
            raise DynamicsError(
                f'{where} in this position: expected positions that the robot can take, found '
                f'{q[largest]:.3g} for {self.names[largest]}, the largest; at q = 0 every '
                'coordinate moves mass')
        raise DynamicsError(f'{where}: it moves no mass; give the links behind it an inertia')

    def _moves_mass_at_rest(self) -> bool:
        """Whether M is positive definite at q = 0, to rounding."""
        mass = self.mass_matrix(np.zeros(self.n))
        scale = np.sqrt(np.diag(mass))
        return bool((scale > 0.0).all()) and bool(
            np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] > 1e-14)

    def beam(self, link: str) -> BeamFields:
        """Deformation fields of a flexible link."""
        checks.text(link, 'link', 'the name of a flexible link')
        for node, fields in self._packed.fields.items():
            if self._tree.nodes[node].flexible_link.link == link:
                return fields
        known = ', '.join(f.flexible.link for f in self._packed.fields.values()) or 'none'
        raise DynamicsError(f'{link!r} is not a flexible link; flexible links: {known}')
