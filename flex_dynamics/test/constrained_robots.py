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
"""Small robots with loops, wheels and supports, written as URDF."""
from __future__ import annotations

import numpy as np

from flex_description import load_robot
from flex_description.math import quaternion_from_rotation


def link(name: str, mass: float = 1.0, centre: str = '0.5 0 0',
         moments: tuple[float, float, float] = (1e-3, 1 / 12, 1 / 12)) -> str:
    return (f'<link name="{name}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
            f'<inertia ixx="{moments[0]!r}" iyy="{moments[1]!r}" izz="{moments[2]!r}" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')


def joint(name: str, parent: str, child: str, xyz: str = '0 0 0', axis: str = '0 1 0',
          kind: str = 'continuous', rpy: str = '0 0 0') -> str:
    limit = '<limit lower="-9" upper="9" effort="1e6" velocity="1e6"/>' if kind in (
        'revolute', 'prismatic') else ''
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>')


def beam(name: str, length: float = 1.0, modes: str = 'bending_y="2" bending_z="2" twist="1"',
         damping: float = 0.0) -> str:
    return (f'<flexible link="{name}"><beam length="{length}"><section shape="rectangle" '
            'width="0.02" height="0.01"/><material name="aluminium"/></beam>'
            f'<modes {modes}/>'
            + (f'<damping ratio="{damping}"/>' if damping else '') + '</flexible>')


def robot(*parts: str, name: str = 'machine'):
    return load_robot(f'<robot name="{name}">' + ''.join(parts) + '</robot>', log_warnings=False)


def four_bar(kind: str = 'revolute', flexible: str = '', damping: float = 0.0):
    """Crank of 0.5 m, rocker of 1 m, both upright at q = 0, 1.3 m apart, the coupler between them.

    In the plane x, z; the crank can turn all the way round. flexible: the link that is a beam.
    """
    length, up = float(np.hypot(1.3, 0.5)), -0.5 * np.pi
    lengths = {'crank': 0.5, 'coupler': length, 'rocker': 1.0}
    axis = ' axis="0 1 0"' if kind == 'revolute' else ''
    links = [f'<link name="{name}"/>' if name == flexible else
             link(name, one, f'{one / 2} 0 0', (1e-3, one**3 / 12, one**3 / 12))
             for name, one in lengths.items()]
    return robot(
        '<link name="ground"/>', *links,
        joint('crank_joint', 'ground', 'crank', rpy=f'0 {up} 0'),
        joint('coupler_joint', 'crank', 'coupler', '0.5 0 0',
              rpy=f'0 {-np.arctan2(0.5, 1.3) - up} 0'),
        joint('rocker_joint', 'ground', 'rocker', '1.3 0 0', rpy=f'0 {up} 0'),
        f'<loop name="pin" type="{kind}"{axis}><first frame="coupler" xyz="{length!r} 0 0"/>'
        '<second frame="rocker" xyz="1 0 0"/></loop>',
        beam(flexible, lengths[flexible], damping=damping) if flexible else '')


LOOPS = {'revolute': 'axis="0.6 0 0.8"', 'prismatic': 'axis="0 0.6 0.8"', 'ball': '',
         'universal': 'axis="1 0 0" axis2="0 1 0"', 'weld': '', 'distance': 'length="0.7"'}


def arm(kind: str = '', flexible: bool = True, extra: str = ''):
    """An arm of seven joints whose tool a loop of this kind joins to the base; closed at q = 0."""
    parts = ['<link name="base"/>']
    axes, before = ['0 0 1', '0 1 0', '1 0 0', '0 1 0', '0 0 1', '0 1 0', '1 0 0'], 'base'
    for k, axis in enumerate(axes):
        name = 'tool' if k == 6 else f'link{k + 1}'
        bends = flexible and k in (1, 3)
        parts += [f'<link name="{name}"/>' if bends else
                  link(name, 1.0 + 0.1 * k, '0.2 0.02 0.01', (0.01, 0.02, 0.03)),
                  joint(f'joint{k + 1}', before, name, '0.4 0 0' if k else '0 0 0.5', axis,
                        rpy=f'0.1 {0.3 * k} 0.2')]
        if bends:
            parts.append(beam(name, 0.4, 'bending_y="1" bending_z="1" twist="1"'))
        before = name
    free = robot(*parts)
    if not kind:
        return free
    from flex_dynamics import Model
    home = Model(free).pose(np.zeros(Model(free).n), 'tool')
    if kind == 'distance':
        home[0, 3] += 0.7
    quaternion = ' '.join(map(repr, map(float, quaternion_from_rotation(home[:3, :3]))))
    place = f'xyz="{" ".join(map(repr, home[:3, 3].tolist()))}" quat_xyzw="{quaternion}"'
    return robot(*parts, f'<loop name="closure" type="{kind}" {LOOPS[kind]}>'
                 f'<first frame="base" {place}/><second frame="tool"/></loop>', extra)


def state(model, seed: int, elastic: float = 0.01):
    """A random closed position and speeds that the constraints allow."""
    rng = np.random.default_rng(seed)
    q, v = elastic * rng.uniform(-1, 1, model.n), elastic * rng.uniform(-1, 1, model.n)
    q[:model.n_joints] = 0.3 * rng.uniform(-1, 1, model.n_joints)
    v[:model.n_joints] = rng.uniform(-1, 1, model.n_joints)
    q = model.close(q, reach=2.0).q
    return q, model.admissible_speeds(q, v)
