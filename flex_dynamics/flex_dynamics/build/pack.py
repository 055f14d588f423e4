"""Packing a tree of nodes into the flat arrays of kernels/base/layout.py."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        table[i, [layout.PARENT, layout.KIND, layout.Q, layout.DOF]] = (
            node.parent, node.kind, len(names), dof)
        table[i, [layout.MOTOR, layout.PINNED]] = -1
        if dof:
            names += [node.own_joint.name] if dof == 1 else [
                f'{node.own_joint.name}/{suffix}' for suffix in BASE_NAMES[node.kind]]
    n_joints = len(names)
    for i, node in enumerate(tree.nodes):
        if DOFS[node.kind] == 1 and node.own_joint.flexible is not None:
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
    if link.pinned and node.kind == layout.REVOLUTE:
        # The motor turns the root section, not the link's frame: Lin and Lewis, pinned shapes.
        row[layout.PINNED] = sum(map(len, coef))
        coef.append(node.axis @ fields.rotation_first(np.zeros(1))[0])
    return fields


def _fill_body(node: Node, row: np.ndarray) -> None:
    if DOFS[node.kind] == 1:
        row[[layout.VISCOUS, layout.COULOMB]] = node.own_joint.damping, node.own_joint.friction
    row[layout.ROTATION:layout.ROTATION + 9] = node.pose[:3, :3].ravel()
    row[layout.POSITION:layout.POSITION + 3] = node.pose[:3, 3]
    row[layout.AXIS:layout.AXIS + 3] = node.axis
    row[layout.POINT:layout.POINT + 3] = node.point
    screw = row[layout.SCREW:layout.SCREW + 6]
    if node.kind == layout.REVOLUTE:
        # A turn about an axis through `point` moves the origin with axis x (0 - point).
        screw[:3], screw[3:] = node.axis, np.cross(node.axis, -node.point)
    elif node.kind == layout.PRISMATIC:
        screw[3:] = node.axis
    elif node.kind == layout.PLANAR:
        row[layout.PLANE:layout.PLANE + 6] = _plane(node.axis).ravel()
    row[layout.MASS] = node.mass
    row[layout.MOMENT:layout.MOMENT + 3] = node.moment
    row[layout.INERTIA:layout.INERTIA + 9] = node.inertia.ravel()
    if node.joint is not None and node.joint.flexible is not None and DOFS[node.kind] == 1:
        joint = node.joint.flexible
        row[[layout.ROTOR, layout.GEAR, layout.SPRING, layout.DAMPER]] = (
            joint.motor_inertia, joint.gear_ratio, joint.stiffness, joint.damping)
        row[layout.ROTOR_AXIS:layout.ROTOR_AXIS + 3] = node.pose[:3, :3] @ node.axis


def _plane(axis: np.ndarray) -> np.ndarray:
    """Two unit vectors that make a right-handed set with the axis: (x, y) for axis z."""
    helper = np.eye(3)[0] if abs(axis[0]) < 0.9 else np.eye(3)[1]
    first = helper - axis * (axis @ helper)
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(axis, first)))
