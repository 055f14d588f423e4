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
"""<stiffness>: what follows from it, and errors."""
import numpy as np
import pytest

from flex_description import RobotError, load_robot
from flex_description.fit.stiffness import end_stiffness
from flex_description.link_modes import link_modes, loads_of

ARM = """<robot name="arm"><link name="base"/><link name="upper">{inertial}</link>
<link name="hand"><inertial><origin xyz="0 0.1 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/></joint>
<joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/>
<origin xyz="1.2 0 0"/></joint></robot>"""
INERTIAL = """<inertial><origin xyz="0.6 0 0"/><mass value="6"/>
<inertia ixx="0.02" iyy="0.8" izz="0.8" ixy="0" ixz="0" iyz="0"/></inertial>"""
BAR = {'shape': 'rectangle', 'width': 0.04, 'height': 0.02}


def robot_of(stiffness, material='titanium', inertial=INERTIAL, **parts):
    beam = {'to': 'wrist', 'section': BAR}
    if material is not None:
        beam['material'] = material
    link = {'beam': beam, **({} if stiffness is None else {'stiffness': stiffness}), **parts}
    return load_robot(ARM.format(inertial=inertial), {'flexible': {'upper': link}})


def at_end(*arguments, **parts):
    return end_stiffness(robot_of(*arguments, **parts).links[1].flexible)


def test_what_is_not_given_follows():
    y, z, twist = at_end(None)
    assert at_end({'tip': 5e3}) == pytest.approx([5e3, 5e3, twist * 5e3 / np.sqrt(y * z)])
    # only twist: bending is that of the material
    assert at_end({'twist': 700}) == pytest.approx([y, z, 700])
    # G as a number stays
    assert at_end({'tip': [5e3, 6e3]}, {'G': 1e9}) == pytest.approx([5e3, 6e3, twist / 44])
    # all directions scale together with the frequency
    new = at_end({'frequency': 8, 'carried': 'included'})
    assert np.array(new) / [y, z, twist] == pytest.approx(3 * [new[0] / y])


def test_no_material_is_needed_where_mass_and_stiffness_are_known():
    y, z, twist = at_end({'tip': 5e3}, None)
    assert (y, z) == pytest.approx((5e3, 5e3))
    named = at_end({'tip': 5e3}, 'steel')
    assert twist == pytest.approx(named[2], rel=0.02)       # Poisson's ratio 0.3


@pytest.mark.parametrize('carried', ['included', 'excluded'])
def test_frequency(carried):
    robot = robot_of({'frequency': 8, 'carried': carried})
    loads = loads_of(robot)['upper'] if carried == 'included' else ()
    assert link_modes(robot.links[1].flexible, loads)[0].frequency == pytest.approx(8)
    assert robot.links[1].flexible.fit.stiffness == (
        f'first frequency 8 Hz, what the link carries {carried}')


def test_xml_says_the_same():
    xml = ARM.format(inertial=INERTIAL).replace('</robot>', """<flexible link="upper" mass="keep">
        <beam to="wrist"><section shape="rectangle" width="0.04" height="0.02"/></beam>
        <stiffness load="10" deflection="0.002 0.004" twist="900"/></flexible></robot>""")
    ours = end_stiffness(load_robot(xml).links[1].flexible)
    assert ours == pytest.approx(at_end({'load': 10, 'deflection': [0.002, 0.004], 'twist': 900},
                                        None))
    assert ours == pytest.approx([5e3, 2.5e3, 900])


STEEL = {'E': 210e9, 'G': 80e9, 'density': 7850}
BAD = {
    'E_too': ({'tip': 5e3}, STEEL, '<material> E: expected either E or found both'),
    'G_too': ({'twist': 5e3}, STEEL, '<material> G: expected either G or found both'),
    'E_missing': ({'twist': 5e3}, {'density': 7850}, '<material> E: expected a positive (Pa)'),
    'two': ({'tip': 5e3, 'frequency': 3, 'carried': 'included'}, 'steel',
            'expected one of tip, deflection, frequency found "tip" and "frequency"'),
    'two_twists': ({'twist': 5e3, 'torque': 3, 'rotation': 1}, 'steel',
                   'expected one of twist, rotation found'),
    'load_alone': ({'load': 5}, 'steel', 'load: expected together with "deflection"'),
    'deflection_alone': ({'deflection': 5}, 'steel', 'together with "load" found it alone'),
    'rotation_alone': ({'rotation': 5}, 'steel', 'together with "torque"'),
    'say_which': ({'frequency': 5}, 'steel', 'expected together with "carried" included excluded'),
    'which': ({'frequency': 5, 'carried': 'yes'}, 'steel', 'one of excluded, included found'),
    'carried_alone': ({'tip': 5, 'carried': 'included'}, 'steel', 'together with "frequency"'),
    'empty': ({}, 'steel', '<stiffness>: expected tip, load found none'),
    'negative': ({'tip': -5}, 'steel', 'tip: expected one positive number (N/m) found "-5"'),
    'three': ({'tip': [1, 2, 3]}, 'steel', 'tip: expected one positive number, or two found'),
    'nan': ({'twist': float('nan')}, 'steel', 'twist: expected a positive number (N m/rad)'),
    'word': ({'tip': 'soft'}, 'steel', 'tip: expected numbers found "soft"'),
    'unknown': ({'tips': 3}, 'steel', 'found "tips" did you mean "tip"'),
    'above_twist': ({'frequency': 1e5, 'carried': 'included', 'twist': 900}, 'steel',
                    'frequency: expected a frequency below Hz twist alone found "100000.0"'),
}


@pytest.mark.parametrize('case', BAD)
def test_bad(case):
    stiffness, material, words = BAD[case]
    with pytest.raises(RobotError) as caught:
        robot_of(stiffness, material)
    message = str(caught.value)
    assert '<flexible link="upper">' in message and '\n' not in message
    assert not [word for word in words.split() if word not in message], message


def test_bad_in_place():
    with pytest.raises(RobotError, match='stiffness: expected an element'):
        robot_of(5e3)
    with pytest.raises(RobotError, match='material: expected <material>, found none'):
        robot_of({'tip': 5e3}, None, mass='beam')
    with pytest.raises(RobotError, match='density: expected'):
        robot_of({'tip': 5e3}, {'G': 1e9}, mass='beam')
    with pytest.raises(RobotError, match='clamped at the root'):
        robot_of({'frequency': 5, 'carried': 'included'}, modes={'basis': 'pinned-free'})
    with pytest.raises(RobotError, match='bending shapes'):
        robot_of({'frequency': 5, 'carried': 'included', 'twist': 900},
                 modes={'bending_y': 0, 'bending_z': 0, 'twist': 1})
