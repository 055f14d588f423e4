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
"""Packing a tree of nodes into the flat arrays of kernels/base/layout.py."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.math import exponential
from flex_dynamics.build import quadrature
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.pack_fields import pack_beam, pack_section
from flex_dynamics.build.tree import Node, NodeTree
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.base.workspace import sizes, up_to_lanes

DOFS = {layout.FIXED: 0, layout.REVOLUTE: 1, layout.PRISMATIC: 1, layout.PLANAR: 3,
        layout.FLOATING: 6, layout.ON_BEAM: 0}
BASE_NAMES = {layout.PLANAR: ('x', 'y', 'angle'),
              layout.FLOATING: ('x', 'y', 'z', 'rx', 'ry', 'rz')}


@dataclass(frozen=True)
class Packed:
    """The arrays of a model and the meaning of its coordinates."""

    table: np.ndarray
    body: np.ndarray
    coef: np.ndarray
    size: np.ndarray
    names: tuple[str, ...]
    n_joints: int
    first_motor: int
    first_elastic: int
    fields: dict[int, BeamFields]          # by node


def pack(tree: NodeTree, order: str, known_fields: dict[str, tuple] | None = None) -> Packed:
    """Number the coordinates (joints, motors, amplitudes) and fill the arrays.

    known_fields: packed beams by link name, to share between models of one robot.
    """
    table = np.zeros((len(tree.nodes), layout.TABLE_WIDTH), dtype=np.int64)
    body = np.zeros((len(tree.nodes), layout.BODY_WIDTH))
    names: list[str] = []
    for i, node in enumerate(tree.nodes):
        dof = DOFS[node.kind]
        table[i, [layout.PARENT, layout.KIND, layout.Q, layout.FULL, layout.DOF]] = (
            node.parent, node.kind, len(names), len(names), dof)
        table[i, [layout.MOTOR, layout.PINNED]] = -1
        if dof and node.mimic is None:
            names += [node.own_joint.name] if dof == 1 else [
                f'{node.own_joint.name}/{suffix}' for suffix in BASE_NAMES[node.kind]]
    n_joints = len(names)
    for i, node in enumerate(tree.nodes):
        if node.mimic is not None:
            _check_follower(node, tree)
            table[i, layout.Q] = names.index(node.mimic.joint)
        elif DOFS[node.kind] == 1 and node.own_joint.flexible is not None:
            table[i, layout.MOTOR] = len(names)
            names.append(f'{node.own_joint.name}/motor')
    first_elastic = len(names)
    table[:, layout.ELASTIC] = first_elastic
    fields: dict[int, BeamFields] = {}
    coef: list[np.ndarray] = []
    known = {} if known_fields is None else known_fields
    for i, node in enumerate(tree.nodes):
        if node.beam is not None:
            fields[i] = _pack_beam_row(node, table[i], names, coef, order, known)
    phi_row = 0
    for i, node in enumerate(tree.nodes):
        _fill_body(node, body[i])
        if node.kind == layout.ON_BEAM:
            beam = fields[node.parent]
            table[i, layout.SECTION] = sum(map(len, coef))
            table[i, layout.PHI_ROW] = phi_row
            phi_row += up_to_lanes(beam.n_modes)
            coef.append(pack_section(beam, node.section_x))
    followers = [i for i, node in enumerate(tree.nodes) if node.mimic is not None]
    table[followers, layout.FULL] = len(names) + np.arange(len(followers))
    flat = np.concatenate(coef) if coef else np.zeros(1)
    return Packed(table, body, flat, sizes(table), tuple(names), n_joints, n_joints,
                  first_elastic, fields)


def _pack_beam_row(node: Node, row: np.ndarray, names: list[str], coef: list[np.ndarray],
                   order: str, known: dict) -> BeamFields:
    link = node.flexible_link
    key = (link.link, order)
    if key not in known:
        fields = BeamFields(link, order)
        known[key] = (fields, pack_beam(fields), quadrature.stiffness(fields))
    fields, (particles, n_axis, n_sections), stiffness = known[key]
    row[layout.ELASTIC] = len(names)
    row[layout.MODES] = fields.n_modes
    row[[layout.MODES_Y, layout.MODES_Z, layout.MODES_X]] = fields.counts
    row[layout.N_AXIS], row[layout.N_SECTIONS] = n_axis, n_sections
    for kind, count in zip(('bend_y', 'bend_z', 'twist'), fields.counts, strict=True):
        names += [f'{link.link}/{kind}/{k + 1}' for k in range(count)]
    at = sum(map(len, coef))
    row[layout.BEAM] = at
    row[layout.STIFFNESS] = at + len(particles)
    row[layout.DAMPING] = at + len(particles) + stiffness.size
    coef += [particles, stiffness.ravel(), np.zeros(stiffness.size)]
    if link.pinned and node.joint is not None and node.joint.flexible is not None:
        raise DynamicsError(
            f'link {link.link}: a {link.basis} basis and the elastic joint {node.joint.name} both '
            'turn the root section; take a clamped basis such as craig-bampton')
    if link.pinned and node.joint is not None and node.joint.motor is not None:
        raise DynamicsError(
            f'link {link.link}: with a {link.basis} basis the motor of joint {node.joint.name} '
            'turns the root section, not the joint coordinate: give its inertia, times ratio^2, '
            'as a lumped mass at x = 0 in place of <motor>, or take a clamped basis such as '
            'craig-bampton')
    if link.pinned and node.kind == layout.REVOLUTE:
        # The motor turns the root section, not the link's frame: Lin and Lewis, pinned shapes.
        row[layout.PINNED] = sum(map(len, coef))
        coef.append(node.axis @ fields.rotation_first(np.zeros(1))[0])
    return fields


def _check_follower(node: Node, tree: NodeTree) -> None:
    """Refuse what a follower cannot be, or its leader."""
    joint, mimic = node.own_joint, node.own_joint.mimic
    assert mimic is not None
    if joint.flexible is not None:
        raise DynamicsError(
            f'joint {joint.name}: expected a rigid follower, found an elastic joint that follows '
            f'{mimic.joint} (<mimic>); take its <flexible_joint> out, or make {mimic.joint} '
            'elastic')
    leader = next(other for other in tree.nodes
                  if other.joint is not None and other.joint.name == mimic.joint
                  and DOFS[other.kind] == 1)
    for other in (node, leader):
        if other.beam is not None and other.beam.pinned:
            raise DynamicsError(
                f'joint {joint.name} follows {mimic.joint} (<mimic>): expected links with clamped '
                f'bases on both, found the {other.beam.basis} basis of link {other.beam.link}, '
                'whose joint angle is not that of its motor; take a basis such as craig-bampton')


def _rest_pose(node: Node) -> np.ndarray:
    """Pose in the parent at q = 0: a follower is off its own zero by its offset."""
    if node.mimic is None:
        return node.pose
    move = np.eye(4)
    if node.kind == layout.PRISMATIC:
        move[:3, 3] = node.mimic.offset * node.axis
    else:
        move[:3, :3] = exponential(node.mimic.offset * node.axis)
        move[:3, 3] = node.point - move[:3, :3] @ node.point
    return node.pose @ move


def _fill_body(node: Node, row: np.ndarray) -> None:
    row[layout.RATIO] = ratio = 1.0 if node.mimic is None else node.mimic.multiplier
    if DOFS[node.kind] == 1:
        joint = node.own_joint
        row[[layout.VISCOUS, layout.COULOMB]] = (ratio**2 * joint.damping,
                                                 abs(ratio) * joint.friction)
        if joint.motor is not None:
            row[layout.ARMATURE] = ratio**2 * joint.motor.reflected_inertia
    pose = _rest_pose(node)
    row[layout.ROTATION:layout.ROTATION + 9] = pose[:3, :3].ravel()
    row[layout.POSITION:layout.POSITION + 3] = pose[:3, 3]
    row[layout.AXIS:layout.AXIS + 3] = node.axis
    row[layout.POINT:layout.POINT + 3] = node.point
    screw = row[layout.SCREW:layout.SCREW + 6]
    if node.kind == layout.REVOLUTE:
        # A turn about an axis through `point` moves the origin with axis x (0 - point).
        screw[:3], screw[3:] = ratio * node.axis, ratio * np.cross(node.axis, -node.point)
    elif node.kind == layout.PRISMATIC:
        screw[3:] = ratio * node.axis
    elif node.kind == layout.PLANAR:
        row[layout.PLANE:layout.PLANE + 6] = _plane(node.axis).ravel()
    row[layout.MASS] = node.mass
    row[layout.MOMENT:layout.MOMENT + 3] = node.moment
    row[layout.INERTIA:layout.INERTIA + 9] = node.inertia.ravel()
    if node.joint is not None and node.joint.flexible is not None and DOFS[node.kind] == 1:
        spring = node.joint.flexible
        row[[layout.ROTOR, layout.GEAR, layout.SPRING, layout.DAMPER]] = (
            spring.motor_inertia, spring.gear_ratio, spring.stiffness, spring.damping)
        row[layout.ROTOR_AXIS:layout.ROTOR_AXIS + 3] = node.pose[:3, :3] @ node.axis


def _plane(axis: np.ndarray) -> np.ndarray:
    """Two unit vectors that make a right-handed set with the axis: (x, y) for axis z."""
    helper = np.eye(3)[0] if abs(axis[0]) < 0.9 else np.eye(3)[1]
    first = helper - axis * (axis @ helper)
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(axis, first)))
