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
"""Random beams as elements of a URDF: sections, materials, mode bases, lumped masses, damping."""
from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from flex_description.robot import Inertia

SHAPES = ('circle', 'hollow_circle', 'rectangle', 'hollow_rectangle', 'i', 'given')
EXPRESSIONS = {'y': ('x^2*(3*L-x)/(2*L^3)', '1-cos(2*pi*x/L)', 'x^2*cos(3*pi*x/L)/L^2'),
               'z': ('1-cos(pi*x/(2*L))', 'x^2*(4*x-3*L)/L^3', 'sin(2*pi*x/L)^2*exp(-x/L)'),
               'twist': ('sin(pi*x/(2*L))', 'x*(3*L-4*x)/L^2', 'sinh(x/L)*cos(3*pi*x/L)')}


def numbers(values) -> str:
    return ' '.join(repr(float(value)) for value in np.atleast_1d(values))


def origin(pose: np.ndarray) -> str:
    rpy = Rotation.from_matrix(pose[:3, :3]).as_euler('xyz')
    return f'<origin xyz="{numbers(pose[:3, 3])}" rpy="{numbers(rpy)}"/>'


def random_pose(rng, size: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def random_body(rng, mass: float, size: float) -> Inertia:
    """A body of some points: its tensor is one that a body can have."""
    points = rng.normal(size=(6, 3)) * size
    arms = points - points.mean(axis=0)
    tensor = mass / 6.0 * sum(d @ d * np.eye(3) - np.outer(d, d) for d in arms)
    return Inertia(mass, points.mean(axis=0), tensor)


def tensor_words(tensor: np.ndarray) -> str:
    return ' '.join(f'{name}="{float(tensor[i, j])!r}"' for name, i, j in (
        ('ixx', 0, 0), ('iyy', 1, 1), ('izz', 2, 2), ('ixy', 0, 1), ('ixz', 0, 2), ('iyz', 1, 2)))


class BeamWriter:
    """The state of a robot that is being written, and the beams of it."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.seed, self.folder = np.random.default_rng(seed), seed, folder
        self.parts = [f'<robot name="tree{seed}">']
        self.links: dict[str, float | None] = {}          # length of the beam
        self.origins: dict[str, np.ndarray] = {}          # beam in link
        self.beams = 0

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def _beam(self, name: str, basis: str) -> None:
        rng = self.rng
        length = float(rng.uniform(0.6, 2.0))
        pose = random_pose(rng, 0.1) if self.chance(0.5) else np.eye(4)
        self.links[name], self.origins[name], self.beams = length, pose, self.beams + 1
        size = float(rng.uniform(0.03, 0.08))                    # about the radius of gyration
        mass = float(rng.uniform(0.5, 3.0))                      # kg/m
        kind = rng.choice(['uniform', 'tapered', 'piecewise'], p=[0.4, 0.3, 0.3])
        if kind == 'piecewise':
            cut = np.sort(rng.uniform(0.2, 0.8, int(rng.integers(1, 3)))) * length
            lengths = np.diff(np.concatenate(([0.0], cut, [length])))
            body = ''.join(f'<segment length="{float(part)!r}">'
                           + self._stuff(size * rng.uniform(0.7, 1.3), mass, self.chance(0.4))
                           + '</segment>' for part in lengths)
            length = float(np.sum(lengths))
            self.links[name] = length
        else:
            body = self._stuff(size, mass, kind == 'tapered')
        masses = ''.join(self._mass(length) for _ in range(max(0, int(rng.integers(-1, 3)))))
        self.parts.append(
            f'<flexible link="{name}"><beam length="{length!r}">{origin(pose)}{body}</beam>'
            f'{masses}{self._modes(name, basis, length)}{self._damping()}</flexible>')

    def _stuff(self, size: float, mass: float, tapered: bool) -> str:
        """Section and material: E Iz, E Iy and G J for which beams bend visibly."""
        rng = self.rng
        shape = str(rng.choice(SHAPES))
        words = []
        for scale in (1.0, rng.uniform(0.6, 0.95))[:1 + tapered]:
            r = 2.0 * size * scale
            words.append({
                'circle': f'radius="{r!r}"',
                'hollow_circle': f'outer_radius="{r!r}" inner_radius="{0.8 * r!r}"',
                'rectangle': f'width="{1.6 * r!r}" height="{2.1 * r!r}"',
                'hollow_rectangle': f'width="{1.7 * r!r}" height="{1.2 * r!r}" '
                                    f'thickness="{0.2 * r!r}"',
                'i': f'width="{1.2 * r!r}" height="{2.0 * r!r}" web_thickness="{0.2 * r!r}" '
                     f'flange_thickness="{0.25 * r!r}"',
                'given': f'A="{r * r!r}" Iy="{0.3 * r**4!r}" Iz="{0.2 * r**4!r}" '
                         f'J="{0.4 * r**4!r}"'}[shape])
        r = 2.0 * size
        area = {'circle': 3.1, 'hollow_circle': 1.1, 'rectangle': 3.4, 'hollow_rectangle': 1.0,
                'i': 0.9, 'given': 1.0}[shape] * r * r
        bending, twisting = 10.0 ** rng.uniform(1.0, 2.5), 10.0 ** rng.uniform(-0.5, 1.0)
        return ''.join(f'<section shape="{shape}" {word}/>' for word in words) + (
            f'<material E="{bending / (0.3 * r**4)!r}" G="{twisting / (0.4 * r**4)!r}" '
            f'density="{mass / area!r}"/>')

    def _mass(self, length: float) -> str:
        body = random_body(self.rng, self.rng.uniform(0.1, 0.5), 0.05)
        x = length * (1.0 if self.chance(0.3) else self.rng.uniform(0.1, 1.0))
        return (f'<mass x="{x!r}" mass="{body.mass!r}" xyz="{numbers(body.centre)}" '
                f'{tensor_words(body.tensor)}/>')

    def _modes(self, name: str, basis: str, length: float) -> str:
        rng = self.rng
        y, z, twist = (int(count) for count in rng.integers(0, 4, 3))
        if not y + z + twist:
            y, z, twist = 2, 2, 1
        extra = ''
        if basis == 'expression':
            extra = ' '.join(f'expression_{kind}="{";".join(EXPRESSIONS[kind][:count])}"'
                             for kind, count in (('y', y), ('z', z), ('twist', twist)) if count)
        elif basis == 'file':
            extra = f'file="{self._table(name, length)}"'
        return (f'<modes basis="{basis}" bending_y="{y}" bending_z="{z}" twist="{twist}" '
                f'{extra}/>')

    def _table(self, name: str, length: float) -> Path:
        """Shapes as a finite-element program would export them: smooth, clamped, no formula."""
        s = np.linspace(0.0, 1.0, int(self.rng.integers(60, 120)))
        columns = {'x': s * length}
        for k in (1, 2, 3):
            a, b, c = self.rng.uniform(0.8, 1.2, 3)
            columns[f'v{k}'] = a * (1.0 - np.cos((k - 0.5) * np.pi * s)) + 0.1 * b * s**3
            columns[f'w{k}'] = b * s**2 * np.cos((k - 1.0) * c * np.pi * s)
            columns[f'twist{k}'] = np.sin((k - 0.5) * a * np.pi * s)
        path = self.folder / f'tree{self.seed}_{name}.npz'
        np.savez(path, **columns)
        return path

    def _damping(self) -> str:
        rng = self.rng
        return ('', f'<damping ratio="{numbers(rng.uniform(0.0, 0.1, 2))}"/>',
                f'<damping ratio_bending_y="{rng.uniform(0, 0.1)!r}" '
                f'ratio_twist="{numbers(rng.uniform(0, 0.1, 3))}"/>',
                f'<damping alpha="{rng.uniform(0, 1)!r}" beta="{rng.uniform(0, 1e-3)!r}"/>',
                )[int(rng.integers(4))]
