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
"""Where everything of a robot is, for complex coordinates, in plain numpy.

Poses are composed along the tree for batches of coordinates Q (b, n). Inertia is a list of world
vectors u(q) with weights m, such that T = sum 1/2 m |du/dt|^2: points of beams (rho A) and their
section axes R e_y (rho Iz) and R e_z (rho Iy), R the exact exponential; centres of bodies, and
the principal axes e of E = tr(I)/2 - I, as R e with weight e'E e.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from exact_beam import ExactBeam, exponential, turned

from flex_description.robot import FlexibleLink, Inertia, Joint, Robot

BASES = {'planar': ('x', 'y', 'angle'), 'floating': ('x', 'y', 'z', 'rx', 'ry', 'rz')}
Pose = tuple[np.ndarray, np.ndarray]             # R (b, 3, 3), p (b, 3)
Payload = tuple[str, Inertia, float | None]      # frame, body, x


def then(pose: Pose, matrix: np.ndarray) -> Pose:
    """The pose behind a constant one (4, 4)."""
    return pose[0] @ matrix[:3, :3], pose[1] + pose[0] @ matrix[:3, 3]


def shift(place) -> np.ndarray:
    """A displacement as a pose (4, 4): along x by a number, or by a vector (3,)."""
    pose = np.eye(4)
    pose[:3, 3] = place if np.ndim(place) else (place, 0.0, 0.0)
    return pose


def vee(matrix: np.ndarray) -> np.ndarray:
    """w (..., 3) of the skew-symmetric part [w] of a matrix."""
    return 0.5 * np.stack([matrix[..., i, j] - matrix[..., j, i]
                           for i, j in ((2, 1), (0, 2), (1, 0))], axis=-1)


@dataclass(frozen=True)
class Motion:
    """World vectors (b, k, 3) with weights (k,), heavy ones are points; rotors' carriers."""

    weights: np.ndarray
    heavy: np.ndarray
    vectors: np.ndarray
    rotors: np.ndarray             # (b, rotors, 3, 3)


class Kinematics:
    """points: (frame, x) whose poses and Jacobians will be asked for. fine: see ExactBeam."""

    def __init__(self, robot: Robot, order: str = 'second', payloads: Sequence[Payload] = (),
                 points: Sequence[tuple[str, float | None]] = (), fine: float = 1.0) -> None:
        self.robot, self.order, self.payloads = robot, order, tuple(payloads)
        self.points, self.fine = tuple(points), fine
        self.links = {link.name: link for link in robot.links}
        self.frames = {frame.name: frame for frame in robot.frames}
        self.beams: dict[str, ExactBeam] = {}
        carried = [(frame, x) for frame, _, x in self.payloads] + list(self.points)
        for link in robot.links:
            if link.flexible is not None:
                beam = link.flexible
                sections = [0.0, beam.length, *(mass.x for mass in beam.masses)]
                sections += [self._joint_x(joint, beam) for joint in robot.joints
                             if joint.parent == link.name]
                sections += [f.section_x for f in robot.frames if f.link == link.name]
                sections += [x for frame, x in carried if x is not None and frame == link.name]
                self.beams[link.name] = ExactBeam(beam, order, np.unique(sections), fine)
        self.rotors = [joint for joint in robot.joints
                       if joint.flexible is not None and joint.type not in ('fixed', *BASES)]
        self._name_coordinates()

    @staticmethod
    def _joint_x(joint: Joint, beam: FlexibleLink) -> float:
        return beam.length if joint.section_x is None else joint.section_x

    def _name_coordinates(self) -> None:
        names: list[str] = []
        for joint in self.robot.joints:
            if joint.type in BASES:
                names += [f'{joint.name}/{part}' for part in BASES[joint.type]]
            elif joint.type != 'fixed':
                names.append(joint.name)
        self.n_joints = len(names)
        names += [f'{joint.name}/motor' for joint in self.rotors]
        self.elastic: dict[str, slice] = {}
        for name in [self.robot.links[0].name, *(joint.child for joint in self.robot.joints)]:
            if name in self.beams:
                counts = zip(('bend_y', 'bend_z', 'twist'), self.beams[name].counts, strict=True)
                start = len(names)
                names += [f'{name}/{kind}/{k + 1}' for kind, count in counts for k in range(count)]
                self.elastic[name] = slice(start, len(names))
        self.names, self.n = tuple(names), len(names)
        self.rates = np.ones(self.n)               # radians of motion per unit, or about that
        for name, own in self.elastic.items():
            self.rates[own] = self.beams[name].sizes()

    # Kinematics of complex coordinates Q (b, n) -----------------------------------------------

    def _joint(self, joint: Joint, Q: np.ndarray) -> Pose:
        """Pose behind a joint at Q in the joint's frame."""
        still, b = np.zeros((len(Q), 3), dtype=complex), len(Q)
        unturned = np.broadcast_to(np.eye(3, dtype=complex), (b, 3, 3))
        if joint.type == 'fixed':
            return unturned, still
        if joint.type in BASES:
            at = self.names.index(f'{joint.name}/x')
            values = Q[:, at:at + len(BASES[joint.type])]
            if joint.type == 'floating':
                return exponential(values[:, 3:]), values[:, :3]
            first = np.eye(3)[0 if abs(joint.axis[0]) < 0.9 else 1]
            first = first - joint.axis * (joint.axis @ first)
            first /= np.linalg.norm(first)
            plane = np.stack((first, np.cross(joint.axis, first)))
            return exponential(values[:, 2:] * joint.axis), values[:, :2] @ plane
        value = Q[:, [self.names.index(joint.name)]]
        if joint.type == 'prismatic':
            return unturned, value * joint.axis
        cross = np.cross(joint.axis, np.eye(3), axisb=0, axisc=0)
        value = value[:, :, None]
        return np.eye(3) + np.sin(value) * cross + (1.0 - np.cos(value)) * cross @ cross, still

    def _section(self, places: dict[str, Pose], Q: np.ndarray, link: str, x: float) -> Pose:
        """Pose of a section, in beam axes."""
        at = self.beams[link].section(x)
        theta, r = self.beams[link].fields(Q[:, self.elastic[link]], slice(at, at + 1))
        R, p = then(places[link], self.beams[link].link.origin)
        return R @ exponential(theta[:, 0]), p + (R @ r[:, 0, :, None])[..., 0]

    def _places(self, Q: np.ndarray) -> tuple[dict[str, Pose], list[np.ndarray]]:
        """Poses of all links, and rotations of the frames of elastic joints."""
        unit = np.broadcast_to(np.eye(3, dtype=complex), (len(Q), 3, 3))
        places = {self.robot.links[0].name: (unit, np.zeros((len(Q), 3), dtype=complex))}
        rotors = []
        for joint in self.robot.joints:
            carrier, origin = places[joint.parent], joint.origin
            if joint.parent in self.beams:
                beam = self.beams[joint.parent].link
                x = self._joint_x(joint, beam)
                carrier = self._section(places, Q, joint.parent, x)
                origin = np.linalg.inv(beam.origin @ shift(x)) @ origin
            frame = then(carrier, origin)
            if joint in self.rotors:
                rotors.append(frame[0])
            turn, move = self._joint(joint, Q)
            places[joint.child] = (frame[0] @ turn,
                                   frame[1] + (frame[0] @ move[..., None])[..., 0])
        return places, rotors

    def _frame(self, places: dict[str, Pose], Q: np.ndarray, frame: str, x: float | None) -> Pose:
        if x is not None:
            return self._section(places, Q, frame, x)
        if frame in self.links:
            return places[frame]
        record = self.frames[frame]
        if record.section_x is None:
            return then(places[record.link], record.pose)
        back = np.linalg.inv(self.beams[record.link].link.origin @ shift(record.section_x))
        return then(self._section(places, Q, record.link, record.section_x), back @ record.pose)

    def motion(self, Q: np.ndarray) -> Motion:
        """All inertia at Q (b, n)."""
        places, rotors = self._places(Q)
        parts: list[tuple[np.ndarray, bool, np.ndarray]] = []

        def body(inertia, pose: Pose) -> None:
            parts.append((np.array([inertia.mass]), True,
                          then(pose, shift(inertia.centre))[1][:, None]))
            moments, axes = np.linalg.eigh(0.5 * np.trace(inertia.tensor) * np.eye(3)
                                           - inertia.tensor)
            parts.append((moments, False, np.swapaxes(pose[0] @ axes, 1, 2)))

        moving = set(self._moving())
        for name, link in self.links.items():
            if name in self.beams:
                beam = self.beams[name]
                theta, r = beam.fields(Q[:, self.elastic[name]], slice(beam.n_gauss))
                R, p = then(places[name], beam.link.origin)
                turn, rho = np.swapaxes(R, 1, 2), beam.properties
                parts.append((beam.weights * rho.mass_per_length, True, r @ turn + p[:, None]))
                for axis, inertia in ((1, rho.inertia_z), (2, rho.inertia_y)):
                    parts.append((beam.weights * inertia, False,
                                  turned(theta, np.eye(3)[axis]) @ turn))
                for mass in beam.link.masses:
                    body(mass, self._section(places, Q, name, mass.x))
            elif link.inertia is not None and name in moving:
                body(link.inertia, places[name])
        for frame, inertia, x in self.payloads:
            if frame in moving or frame in self.frames:
                body(inertia, self._frame(places, Q, frame, x))
        weights, heavy, vectors = zip(*parts, strict=True)
        return Motion(np.concatenate(weights),
                      np.repeat(heavy, [len(w) for w in weights]),
                      np.concatenate(vectors, axis=1),
                      np.stack(rotors, axis=1) if rotors else np.zeros((len(Q), 0, 3, 3)))

    def _moving(self) -> list[str]:
        """Links that are not fixed to the world."""
        moving = [name for name in self.links if name in self.beams]
        for joint in self.robot.joints:
            if joint.type != 'fixed' or joint.parent in moving:
                moving.append(joint.child)
        return moving

    def frame_poses(self, Q: np.ndarray) -> np.ndarray:
        """Poses (b, points, 4, 4) of the points."""
        places, _ = self._places(Q)
        out = np.zeros((len(Q), len(self.points), 4, 4), dtype=complex)
        out[..., 3, 3] = 1.0
        for k, point in enumerate(self.points):
            out[:, k, :3, :3], out[:, k, :3, 3] = self._frame(places, Q, *point)
        return out
