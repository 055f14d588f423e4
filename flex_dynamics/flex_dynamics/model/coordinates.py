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
"""Which place of q belongs to which joint, motor and mode shape, and how far joints may go."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from flex_description import Mimic
from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.kernels.base import layout


@dataclass(frozen=True)
class LinkCoordinates:
    """Places in q of the amplitudes of one flexible link: `q[places.bend_y]` are those of bending
    along the beam's y axis. A link without shapes of a kind has an empty slice."""

    link: str
    bend_y: slice
    bend_z: slice
    twist: slice

    @property
    def all(self) -> slice:
        """All amplitudes of the link: bend_y, bend_z, twist."""
        return slice(self.bend_y.start, self.twist.stop)


@dataclass(frozen=True)
class Coordinates:
    """Places in q (n,) by joint, motor and link; v, a and forces have the same places.

    joints: the joint coordinates, of all joints together. motors: those of elastic joints.
    elastic: the amplitudes of all links. joint: by joint; a floating base has six places, a planar
    one three. motor: by elastic joint. links: by flexible link, in tree order.
    """

    joints: slice
    motors: slice
    elastic: slice
    joint: Mapping[str, slice]
    motor: Mapping[str, int]
    links: Mapping[str, LinkCoordinates]


@dataclass(frozen=True)
class JointLimits:
    """Limits of the joint coordinates, (n_joints,) each, read-only; infinite where there is none,
    as for floating and planar bases. rad, rad/s and N m; of prismatic joints m, m/s and N."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class Followers:
    """Joints that follow others (<mimic>) and have no coordinate: position = multiplier *
    position of the leader + offset. Arrays (count,), read-only; `leaders` are places in q.
    leader_of: names of leaders by those of their followers."""

    names: tuple[str, ...]
    leaders: Array
    multipliers: Array
    offsets: Array
    leader_of: Mapping[str, str]

    def positions(self, q: Array) -> Array:
        """Positions (count,) rad or m at q, of which the joint coordinates are enough."""
        moved: Array = self.multipliers * q[self.leaders] + self.offsets
        return moved

    def velocities(self, v: Array) -> Array:
        """Speeds (count,) at v, of which those of the joint coordinates are enough."""
        speeds: Array = self.multipliers * v[self.leaders]
        return speeds


def followers(assembly: Assembly) -> Followers:
    """The joints of an assembly that follow others, in tree order."""
    places: list[int] = []
    mimics: dict[str, Mimic] = {}
    for node, row in zip(assembly.tree.nodes, assembly.packed.table.tolist(), strict=True):
        if node.mimic is not None:
            places.append(row[layout.Q])
            mimics[node.own_joint.name] = node.mimic
    arrays = (np.array(places, dtype=int),
              np.array([mimic.multiplier for mimic in mimics.values()]),
              np.array([mimic.offset for mimic in mimics.values()]))
    for array in arrays:
        array.setflags(write=False)
    return Followers(tuple(mimics), *arrays,
                     MappingProxyType({name: mimic.joint for name, mimic in mimics.items()}))


def coordinates(assembly: Assembly) -> Coordinates:
    """The places of an assembly's coordinates."""
    packed = assembly.packed
    joint: dict[str, slice] = {}
    motor: dict[str, int] = {}
    links: dict[str, LinkCoordinates] = {}
    for node, row in zip(assembly.tree.nodes, packed.table.tolist(), strict=True):
        if row[layout.DOF] and node.mimic is None:
            joint[node.own_joint.name] = slice(row[layout.Q], row[layout.Q] + row[layout.DOF])
        if row[layout.MOTOR] >= 0:
            motor[node.own_joint.name] = row[layout.MOTOR]
        if node.beam is not None:
            y = row[layout.ELASTIC]
            z = y + row[layout.MODES_Y]
            x = z + row[layout.MODES_Z]
            links[node.beam.link] = LinkCoordinates(
                node.beam.link, slice(y, z), slice(z, x), slice(x, x + row[layout.MODES_X]))
    return Coordinates(slice(0, packed.n_joints), slice(packed.n_joints, packed.first_elastic),
                       slice(packed.first_elastic, len(packed.names)), MappingProxyType(joint),
                       MappingProxyType(motor), MappingProxyType(links))


def joint_limits(assembly: Assembly) -> JointLimits:
    """The limits of an assembly's joint coordinates."""
    limits = np.tile([[-np.inf], [np.inf], [np.inf], [np.inf]], assembly.packed.n_joints)
    for node, row in zip(assembly.tree.nodes, assembly.packed.table, strict=True):
        if row[layout.DOF] == 1 and node.mimic is None:
            own = node.own_joint.limits
            limits[:, row[layout.Q]] = own.lower, own.upper, own.velocity, own.effort
    limits.setflags(write=False)
    return JointLimits(*limits)
