"""The 4-joint arm of Cibicik and Egeland in Pinocchio, its beams cut into rigid segments.

A beam of `segments` elements bends and twists at their middles, each a joint of three coordinates
(rotations about z, y, x) with springs E Iz / h, E Iy / h, G J / h; with 8 elements the arm has
2 x 8 x 3 + 4 = 52 coordinates. This is how a flexible arm is put into a rigid-body library.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from flex_description.robot import FlexibleLink, Robot

JOINTS: dict[str, Callable[[], list]] = {
    'three revolute joints': lambda: [pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX()],
    'ball joint': lambda: [pin.JointModelSpherical()],
    'ball joint, Euler angles': lambda: [pin.JointModelSphericalZYX()],
}


@dataclass(frozen=True)
class SegmentedArm:
    """A Pinocchio model, its springs (nv,) N m/rad and where the actuated joints are in v."""

    model: pin.Model
    stiffness: np.ndarray
    actuated: np.ndarray
    tip: int


def segmented_arm(robot: Robot, segments: int = 8,
                  joint_kind: str = 'three revolute joints') -> SegmentedArm:
    """Cut every flexible link of a chain of revolute joints about z into rigid segments."""
    model = pin.Model()
    model.gravity.linear = robot.gravity
    links = {link.name: link for link in robot.links}
    at, place = 0, pin.SE3.Identity()
    springs: list[tuple[int, np.ndarray]] = []
    actuated = []
    for joint in robot.joints:
        # `place` is the end of the parent's beam; a joint on a rigid parent starts at its origin.
        place = pin.SE3.Identity() if place is None else place
        origin = pin.SE3(joint.origin)
        if joint.section_x is not None:
            origin.translation -= np.array([joint.section_x, 0.0, 0.0])
        place = place * origin
        if joint.type == 'fixed':
            continue
        at = model.addJoint(at, pin.JointModelRZ(), place, joint.name)
        actuated.append(model.joints[at].idx_v)
        link = links[joint.child]
        if link.inertia is not None:
            body = pin.Inertia(link.inertia.mass, link.inertia.centre, link.inertia.tensor)
            model.appendBodyToJoint(at, body, pin.SE3.Identity())
        place = pin.SE3.Identity()
        if link.flexible is not None:
            at, place = _add_beam(model, at, link.flexible, segments, joint_kind, springs)
    tip = model.addFrame(pin.Frame('tip', at, 0, place, pin.FrameType.OP_FRAME))
    stiffness = np.zeros(model.nv)
    for index, values in springs:
        stiffness[index:index + 3] = values
    return SegmentedArm(model, stiffness, np.array(actuated), tip)


def _add_beam(model, at: int, beam: FlexibleLink, segments: int, joint_kind: str, springs):
    """Segments of a beam that starts at joint `at`; returns the last joint and the beam's end."""
    h = beam.length / segments
    model.appendBodyToJoint(at, _rod(beam, 0.0, h / 2), pin.SE3.Identity())
    place = pin.SE3(np.eye(3), np.array([h / 2, 0.0, 0.0]))
    for k in range(segments):
        p = beam.properties(np.array([(k + 0.5) * h]))
        values = np.array([p.bending_stiffness_z[0], p.bending_stiffness_y[0],
                           p.torsion_stiffness[0]]) / h
        if joint_kind == 'ball joint':
            values = values[::-1]
        start = model.nv
        for i, part in enumerate(JOINTS[joint_kind]()):
            at = model.addJoint(at, part, place, f'{beam.link}/{k}/{i}')
            place = pin.SE3.Identity()
        springs.append((start, values))
        piece = h / 2 if k == segments - 1 else h
        x = (k + 0.5) * h
        model.appendBodyToJoint(at, _rod(beam, x, x + piece), pin.SE3.Identity())
        place = pin.SE3(np.eye(3), np.array([piece, 0.0, 0.0]))
    return at, place


def _rod(beam: FlexibleLink, start: float, end: float) -> pin.Inertia:
    """Inertia of the piece of a beam from start to end (m), in the frame of its start."""
    length = end - start
    p = beam.properties(np.array([(start + end) / 2]))
    mass = p.mass_per_length[0] * length
    slender = mass * length ** 2 / 12
    y, z = p.inertia_y[0] * length, p.inertia_z[0] * length
    return pin.Inertia(mass, np.array([length / 2, 0.0, 0.0]),
                       np.diag([y + z, slender + y, slender + z]))
