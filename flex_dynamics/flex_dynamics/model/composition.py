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
"""What a model is made of: its arrays, its backend and one scratch memory a thread."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from flex_description import Inertia, Robot, Support
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.build.assemble import Assembly, AttachedPayload, assemble
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.damping import damping_of_beams, set_damping
from flex_dynamics.checks import LARGEST
from flex_dynamics.errors import DynamicsError
from flex_dynamics.immutable import Frozen, Gravity
from flex_dynamics.model.backends.base import Backend
from flex_dynamics.model.backends.constrained import support_poses
from flex_dynamics.model.coordinates import (
    Coordinates,
    Followers,
    JointLimits,
    coordinates,
    followers,
    joint_limits,
)
from flex_dynamics.model.data import Data, ThreadData
from flex_dynamics.papers.eigenvectors import inertia_fault

Same = TypeVar('Same', bound='ComposedModel')


class ComposedModel(Frozen):
    """An assembly, a backend and the matrices that never change; frozen once composed."""

    def __init__(self, assembly: Assembly, backend: Backend,
                 damping_blocks: dict[str, Array] | None = None) -> None:
        """damping_blocks: those of a model of the same robot; None: calculate them."""
        self._compose(assembly, backend, damping_blocks)

    def _compose(self, assembly: Assembly, backend: Backend,
                 damping_blocks: dict[str, Array] | None) -> None:
        self._assembly, self._backend = assembly, backend
        self._threads = ThreadData(assembly, backend)
        self._names, self._n = assembly.names, len(assembly.names)
        if damping_blocks is None:
            mass = backend.mass_matrix(np.zeros(self._n), self._threads.data)
            damping_blocks = damping_of_beams(assembly, mass)
        self._link_damping = damping_blocks
        set_damping(assembly, damping_blocks)
        self._stiffness, self._damping, self._inputs = backend.constant_matrices()
        self._coordinates, self._joint_limits = coordinates(assembly), joint_limits(assembly)
        self._followers = followers(assembly)
        self._protect()
        self._lock()

    def _protect(self) -> None:
        """Make read-only what methods hand out without a copy."""
        for matrix in (self._stiffness, self._damping, self._inputs):
            matrix.setflags(write=False)

    def _rebuilt(self: Same, assembly: Assembly) -> Same:
        model = object.__new__(type(self))
        model._compose(assembly, self._backend.rebuilt(assembly), self._link_damping)
        return model

    def __getstate__(self) -> dict[str, Any]:
        """Neither scratch memory nor views are copied or pickled."""
        own = ('_threads', '_coordinates', '_joint_limits', '_followers')
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Not by setattr: a copy is locked already.
        self.__dict__.update(state)
        self.__dict__.update(_threads=ThreadData(self._assembly, self._backend),
                             _coordinates=coordinates(self._assembly),
                             _joint_limits=joint_limits(self._assembly),
                             _followers=followers(self._assembly))
        self._protect()

    def __dir__(self) -> list[str]:
        """What users call; the private parts are in vars()."""
        return [name for name in dir(type(self)) if not name.startswith('_')]

    # What it is a model of ------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The description that the model was built from."""
        return self._assembly.robot

    @property
    def order(self) -> str:
        """'linear', 'first' or 'second': which terms of the deflections it has."""
        return self._assembly.order

    @property
    def n(self) -> int:
        """Number of coordinates: joints, motors and amplitudes."""
        return self._n

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates, the first of all; joint efforts have as many."""
        return self._assembly.packed.n_joints

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all coordinates (n): 'joint2', 'joint2/motor', 'link2/bend_y/1' ..."""
        return self._names

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates (n_joints); a floating base has six, 'base/x' ..."""
        return self._names[:self.n_joints]

    @property
    def followers(self) -> Followers:
        """Joints that follow others (<mimic>): they have no coordinate and no motor."""
        return self._followers

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints' rows (m): 'pin/x', 'left_wheel/roll' ...; none for a tree."""
        return tuple(self._assembly.constraints.names)

    @property
    def joint_limits(self) -> JointLimits:
        """lower, upper, velocity and effort of the joint coordinates, (n_joints,) each."""
        return self._joint_limits

    @property
    def coordinates(self) -> Coordinates:
        """Places in q by joint, motor and flexible link: `coordinates.links['link2'].bend_y`."""
        return self._coordinates

    @property
    def gravity(self) -> Array:
        """Gravity (3,) m/s2 in the root's frame, a read-only copy; see with_gravity."""
        return Gravity.of(self._assembly.gravity)

    @property
    def payloads(self) -> Mapping[str, AttachedPayload]:
        """What with_payload has attached, by name."""
        return MappingProxyType(dict(self._assembly.payloads))

    @property
    def link_damping(self) -> Mapping[str, Array]:
        """Damping (modes, modes) of the amplitudes of each flexible link, by its name."""
        return MappingProxyType(self._link_damping)

    @property
    def assembly(self) -> Assembly:
        """The arrays that the kernels read, for those who call kernels themselves."""
        return self._assembly

    @property
    def backend(self) -> Backend:
        """What calculates the terms: recursive, linear or exported (model/backends)."""
        return self._backend

    def create_data(self) -> Data:
        """Scratch memory for one thread, to be given to methods as `data`."""
        return Data(self._assembly, self._backend)

    def _scratch(self, data: Data | None) -> Data:
        if data is None:
            return self._threads.data
        if not isinstance(data, Data) or data.assembly is not self._assembly:
            found = 'one of another model' if isinstance(data, Data) else checks.shown(data)
            raise DynamicsError(f'data: expected the Data of this model, found {found}; '
                                'model.create_data() gives one')
        return data

    # Gravity, payloads and sections ---------------------------------------------------------

    def with_gravity(self: Same, gravity: ArrayLike) -> Same:
        """A model of the same robot under another gravity (3,), m/s2 in the root's frame.

        Payloads stay attached; mode shapes, their integrals and the damping are shared with this
        model. Its `robot` has the new gravity, too.
        """
        vector = checks.finite(gravity, 'gravity', (3,)).copy()
        vector.setflags(write=False)
        return self._rebuilt(self._assembly.with_gravity(vector))

    def with_payload(self: Same, name: str, frame: str, mass: float,
                     centre: ArrayLike = (0.0, 0.0, 0.0), tensor: ArrayLike | None = None,
                     x: float | None = None) -> Same:
        """A model that carries one rigid body more, under `name`; a known name is moved.

        mass kg, centre (3,) m and tensor (3, 3) kg m2 about it in the frame's axes; x: m along the
        beam of a flexible link. Mode shapes, their integrals and the damping stay as they are.
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
        self._assembly.locate(frame, x)
        payload = AttachedPayload(frame, Inertia(mass, centre, tensor),
                                  None if x is None else float(x))
        return self._rebuilt(self._assembly.changed(
            payloads={**self._assembly.payloads, name: payload}, extra_sections=()))

    def without_payload(self: Same, name: str) -> Same:
        """A model without the payload `name`."""
        payloads = self._assembly.payloads
        if not isinstance(name, str) or name not in payloads:
            known = ', '.join(payloads) or 'none'
            raise DynamicsError(f'payload {checks.shown(name)} is not attached; attached: {known}')
        return self._rebuilt(self._assembly.changed(
            payloads={k: p for k, p in payloads.items() if k != name}, extra_sections=()))

    def with_sections_at(self: Same, points: Sequence[tuple[str, float | None]]) -> Same:
        """This model if every (frame, x) is fixed in a node; else one with nodes there too."""
        wanted = []
        tree = self._assembly.tree
        for frame, x in checks.places(points, 'points'):
            node, station, _ = self._assembly.locate(frame, x)
            if station is not None and not tree.has_section(node, station):
                wanted.append((tree.nodes[node].flexible_link.link, station))
        if not wanted:
            return self
        return self._rebuilt(self._assembly.changed(
            extra_sections=(*self._assembly.extra_sections, *wanted)))

    def with_supports(self: Same, q: ArrayLike, active: Iterable[str]) -> Same:
        """A model in which the supports named in `active`, and no others, hold their points.

        A support that was not active is fixed where it is at positions q (n,), one that was stays
        where it is. Speeds then jump, as in an inelastic impact: admissible_speeds.
        """
        q = checks.position(self, q)
        names = checks.names(active, 'active', [one.name for one in self.robot.supports],
                             'supports')
        if not self.robot.supports:
            return self
        ends = support_poses(self._backend, q, self._threads.data) if names else {}
        supports = []
        for support in self.robot.supports:
            on = support.name in names
            at = ends[support.name] if on and not support.active else support.at
            supports.append(replace(support, active=on, at=at))
        return self._rebuilt(self._assembly.changed(
            robot=replace(self.robot, supports=tuple(supports))))

    def with_supports_of(self: Same, supports: tuple[Support, ...]) -> Same:
        """This model with these supports, as another model of the same robot has them."""
        names = [one.name for one in self.robot.supports]
        if not isinstance(supports, tuple) or [
                one.name if isinstance(one, Support) else None for one in supports] != names:
            raise DynamicsError(f'supports: expected robot.supports of a model of the same robot '
                                f'({", ".join(names) or "it has none"}), found '
                                f'{checks.shown(supports)}')
        return self._rebuilt(self._assembly.changed(
            robot=replace(self.robot, supports=supports)))

    def carrier(self, frame: str, x: float | None = None) -> tuple[int, Array]:
        """Node (-1: the world) in which a frame is fixed, and its pose (4, 4) there."""
        return self._assembly.carrier(frame, x)

    def beam(self, link: str) -> BeamFields:
        """Deformation fields of a flexible link."""
        return self._assembly.beam(link)[1]

    def finite_vector(self, value: Any, name: str, length: int, most: float = LARGEST) -> Array:
        """value as a float array of this length, every number finite and at most `most`; else
        DynamicsError. It is not copied if it is such an array already."""
        return checks.vector(value, name, length, self._names, most)


def recomposed(model: Same, robot: Robot, beams: dict[Any, Any],
               payloads: Mapping[str, AttachedPayload]) -> Same:
    """A model of a changed robot with the same coordinates: other masses, springs, dampers.

    beams: integrals of the mode shapes that still hold, as `assembly.beams` has them; those that
    are missing are calculated. Damping is calculated anew, without payloads, as Model(robot) does.
    """
    bare = assemble(robot, model.order, beams=beams)
    changed = object.__new__(type(model))
    changed._compose(bare, model.backend.rebuilt(bare), None)
    return changed._rebuilt(bare.changed(payloads=payloads)) if payloads else changed


def reloaded(model: Same, robot: Robot, payloads: Mapping[str, AttachedPayload]) -> Same:
    """A model of the same links and joints with other payloads, or another gravity of the robot.
    """
    return model._rebuilt(model.assembly.changed(robot=robot, payloads=payloads,
                                                 extra_sections=()))
