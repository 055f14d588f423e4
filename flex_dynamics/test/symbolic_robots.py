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
"""The papers' examples for symbolic derivations."""
from __future__ import annotations

from functools import cache

import numpy as np

from flex_description import Robot, load_robot
from flex_dynamics.symbolic import Equations, derive

# Lin and Lewis 4.1: masses, lengths, centres and inertias of a planar arm with two rigid links.
M1, M2, L1, C1, C2, I1, I2 = 3.0, 2.0, 0.7, 0.3, 0.25, 0.11, 0.05


def rigid_two_links() -> Robot:
    """Angles from the horizontal x axis, gravity along -y."""
    def link(name: str, mass: float, centre: float, inertia: float) -> str:
        return (f'<link name="{name}"><inertial><origin xyz="{centre} 0 0"/><mass value="{mass}"/>'
                f'<inertia ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" '
                f'izz="{inertia}"/></inertial></link>')

    def joint(name: str, parent: str, child: str, x: float) -> str:
        return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
                f'<child link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>')

    return load_robot('<robot name="rigid_two_links"><link name="base"/>'
                      + link('link1', M1, C1, I1) + link('link2', M2, C2, I2)
                      + joint('joint1', 'base', 'link1', 0.0)
                      + joint('joint2', 'link1', 'link2', L1)
                      + '<gravity xyz="0 -9.81 0"/></robot>')


def rigid_flexible(basis: str) -> Robot:
    """Lin and Lewis 4.3: azimuth, then elevation of a barrel that bends in both planes; a payload
    at its tip. The paper gives no numbers."""
    return load_robot(f"""<robot name="rigid_flexible">
      <link name="base"/>
      <link name="turret"><inertial><origin xyz="0.05 0 0.1"/><mass value="8"/>
        <inertia ixx="0.2" ixy="0" ixz="0.01" iyy="0.3" iyz="0" izz="0.25"/></inertial></link>
      <link name="barrel"/><link name="muzzle"/>
      <joint name="azimuth" type="continuous"><parent link="base"/><child link="turret"/>
        <axis xyz="0 0 1"/></joint>
      <joint name="elevation" type="continuous"><parent link="turret"/><child link="barrel"/>
        <origin xyz="0.2 0 0.3"/><axis xyz="0 -1 0"/></joint>
      <joint name="end" type="fixed"><parent link="barrel"/><child link="muzzle"/>
        <origin xyz="2.0 0 0"/></joint>
      <flexible link="barrel">
        <beam length="2.0"><section A="1.2e-3" Iy="4e-7" Iz="6e-7" J="1e-6"/>
          <material E="70e9" G="26e9" density="2700"/></beam>
        <mass x="2.0" mass="1.5"/>
        <modes basis="{basis}" bending_y="2" bending_z="2" twist="0"/>
      </flexible></robot>""")


def one_link(basis: str, modes: int) -> Robot:
    return load_robot('lin_lewis_one_link', arguments={'basis': basis, 'modes': str(modes)})


@cache
def derived(name: str, method: str, order: str | None = None) -> Equations:
    """Equations of a bundled robot; frozen, so that all tests may share them."""
    return derive(load_robot(name), method, order=order)


def states(equations: Equations, count: int, elastic: float = 0.003):
    """Random q, v (n,), with deflections of millimetres."""
    rng = np.random.default_rng(5)
    first = equations.model.coordinates.elastic.start
    for _ in range(count):
        q, v = rng.uniform(-2.0, 2.0, (2, equations.n))
        q[first:] *= elastic
        v[first:] *= 10.0 * elastic
        yield q, v
