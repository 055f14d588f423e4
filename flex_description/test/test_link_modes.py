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
"""Frequencies of single links against textbooks."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_description.link_modes import link_modes, loads_of

# A slender beam: rotary inertia, which textbooks leave out, lowers its frequencies by up to 8e-5.
BEAM = """<robot name="r"><link name="base"/><link name="arm"/><link name="hand">{hand}</link>
<joint name="a" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="h" type="fixed"><parent link="arm"/><child link="hand"/><origin xyz="2 0 0"/></joint>
<flexible link="arm"><beam length="2"><section shape="rectangle" width="0.01" height="0.005"/>
<material name="steel"/></beam>{parts}</flexible></robot>"""
HAND = """<inertial><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/>
</inertial>"""
E, RHO, G, W, H, L = 210e9, 7850.0, 80.8e9, 0.01, 0.005, 2.0


def modes_of(hand='', parts=''):
    robot = load_robot(BEAM.format(hand=hand, parts=parts))
    return link_modes(robot.links[1].flexible, loads_of(robot)['arm'])


def frequencies(modes, kind):
    return [mode.frequency for mode in modes if mode.kind == kind]


def test_cantilever():
    modes = modes_of(parts='<modes basis="clamped-free" bending_y="4" bending_z="4" twist="3"/>')
    roots = np.array([1.87510407, 4.69409113, 7.85475744])
    slope = np.array([4.64778, 32.41740, 77.29889])      # L^2 int phi'^2 / int phi^2
    for kind, size in (('bend_y', W), ('bend_z', H)):
        textbook = (roots / L)**2 * np.sqrt(E * size**2 / (12 * RHO)) / (2 * np.pi)
        rotary = 1 - size**2 / 24 * slope / L**2
        # What is left is of second order in the rotary inertia.
        assert frequencies(modes, kind)[:3] == pytest.approx(textbook * rotary, rel=1e-7)
    flexible = load_robot(BEAM.format(hand='', parts='')).links[1].flexible
    at = flexible.properties(np.zeros(1))
    speed = np.sqrt(at.torsion_stiffness[0] / (at.inertia_y[0] + at.inertia_z[0]))
    assert frequencies(modes, 'twist') == pytest.approx(
        [(2 * k + 1) * speed / (4 * L) for k in range(3)])
    assert all(mode.share == pytest.approx(1.0) for mode in modes)


def test_every_basis_agrees_on_the_first_mode():
    first = {basis: frequencies(modes_of(HAND.format(mass=2, i=0.01), f'<modes basis="{basis}" '
                                'bending_y="6" bending_z="6" twist="6"/>'), 'bend_z')[0]
             for basis in ('craig-bampton', 'clamped-mass', 'clamped-free', 'fe', 'polynomial')}
    assert first['clamped-mass'] == pytest.approx(first['craig-bampton'], rel=1e-6)
    assert first['fe'] == pytest.approx(first['craig-bampton'], rel=1e-6)
    assert first['polynomial'] == pytest.approx(first['craig-bampton'], rel=1e-5)
    # Cantilever modes know nothing of the load: Rayleigh's bound from above, but near.
    assert 0 < first['clamped-free'] / first['craig-bampton'] - 1 < 0.01


def test_heavy_tip_on_a_light_beam_is_a_mass_on_a_spring():
    modes = modes_of(HAND.format(mass=1000, i=1e-3))
    mass = 1000 + 33 / 140 * RHO * W * H * L
    for kind, second in (('bend_y', H * W**3 / 12), ('bend_z', W * H**3 / 12)):
        spring = 3 * E * second / L**3
        hertz = np.sqrt(spring / mass) / (2 * np.pi)
        assert frequencies(modes, kind)[0] == pytest.approx(hertz, rel=1e-4)


def test_an_eccentric_tip_couples_bending_and_twist():
    hand = HAND.format(mass=2, i=0.01).replace('<mass', '<origin xyz="0 0.3 0"/><mass')
    assert min(mode.share for mode in modes_of(hand)) < 0.99
    assert min(mode.share for mode in modes_of(HAND.format(mass=2, i=0.01))) > 0.999999
