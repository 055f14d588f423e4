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
"""The inertia that joints carry, and the tip load that `auto` makes of it."""
import numpy as np
import pytest

from flex_description import Inertia, Joint, RobotError, load_robot
from flex_description.carried_inertia import carried_inertia
from flex_description.math import pose, rotation_from_rpy
from flex_description.reading.flexible import modes

ARM = """<robot name="r"><link name="base"/><link name="arm"/>
<link name="hand"><inertial><origin xyz="0.2 0 0.1"/><mass value="3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="wrist" type="continuous"><parent link="arm"/><child link="hand"/>
<origin xyz="{x} 0 0"/></joint>
<flexible link="arm"><beam length="1"><section shape="circle" radius="0.02"/>
<material name="aluminium"/></beam>{parts}</flexible></robot>"""


def joint(name, parent, child, xyz, rpy=(0, 0, 0)):
    origin = pose(rotation_from_rpy(np.array(rpy, float)), np.array(xyz, float))
    return Joint(name, 'fixed', parent, child, origin, np.array([1.0, 0, 0]))


def test_two_balls_on_a_turned_chain():
    ball = Inertia(2.0, np.array([0.5, 0, 0]), 0.1 * np.eye(3))
    joints = [joint('j1', 'a', 'b', (1, 0, 0), (0, 0, np.pi / 2)),
              joint('j2', 'b', 'c', (1, 0, 0))]
    body = carried_inertia(joints, {'a': None, 'b': ball, 'c': ball})['j1']
    # in frame a: balls at (1, 0.5) and (1, 1.5)
    assert body.mass == 4 and np.allclose(body.centre, [1, 1, 0])
    assert np.allclose(body.tensor, np.diag([0.2 + 4 * 0.25, 0.2, 0.2 + 4 * 0.25]))


def test_massless_branch_carries_nothing():
    joints = [joint('j', 'a', 'b', (0, 0, 0))]
    assert carried_inertia(joints, {'a': None, 'b': None}) == {'j': None}


def tip_of(monkeypatch, x=1.0, parts=''):
    """The tip load and the inner masses that reach the mode shapes."""
    seen = {}
    build = modes.build_shapes

    def watch(basis, counts, beam, tip, masses, options):
        seen.update(tip=tip, masses=masses)
        return build(basis, counts, beam, tip, masses, options)
    monkeypatch.setattr(modes, 'build_shapes', watch)
    load_robot(ARM.format(x=x, parts=parts))
    return seen['tip'], seen['masses']


def test_auto_sums_hand_and_lumped_mass(monkeypatch):
    tip, masses = tip_of(monkeypatch, parts='<mass x="1" mass="1" ixx="0.3" iyy="0.3" izz="0.3"/>'
                         '<modes basis="clamped-mass"/>')
    assert masses == () and tip.mass == 4 and tip.offset == pytest.approx(3 * 0.2 / 4)
    assert tip.inertia_x == pytest.approx(0.1 + 3 * 0.1**2 + 0.3)
    assert tip.inertia_y == pytest.approx(0.2 + 3 * (0.2**2 + 0.1**2) + 0.3)
    assert tip.inertia_z == pytest.approx(0.15 + 3 * 0.2**2 + 0.3)


def test_a_hand_halfway_is_no_tip_load(monkeypatch):
    tip, masses = tip_of(monkeypatch, x=0.4, parts='<modes basis="fe"/>')
    assert tip.mass == 0 and masses[0].x == pytest.approx(0.4)
    assert masses[0].centre == pytest.approx([0.2, 0, 0.1])


def test_given_tip(monkeypatch):
    tip, _ = tip_of(monkeypatch, parts='<modes basis="clamped-mass" tip_mass="5" tip_offset="0.1" '
                    'tip_inertia="1 2 3"/>')
    assert (tip.mass, tip.offset) == (5, 0.1)
    assert (tip.inertia_x, tip.inertia_y, tip.inertia_z) == (1, 2, 3)
    tip, _ = tip_of(monkeypatch, parts='<modes basis="fe" tip_mass="5" tip_offset="0.1"/>')
    assert (tip.inertia_x, tip.inertia_y) == pytest.approx((0, 0.05))


def test_impossible_tip():
    with pytest.raises(RobotError, match='expected at least mass'):
        load_robot(ARM.format(x=1, parts='<modes tip_mass="5" tip_offset="1" tip_inertia="1"/>'))


GHOSTS = """<robot name="hand"><link name="base"/>
<link name="palm"><inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<link name="finger"/><link name="tip"/><link name="nail"/><link name="eye"/>
<joint name="wrist" type="continuous"><parent link="base"/><child link="palm"/></joint>
<joint name="knuckle" type="continuous"><parent link="palm"/><child link="finger"/></joint>
<joint name="end" type="prismatic"><parent link="finger"/><child link="tip"/>
 <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="glue" type="fixed"><parent link="tip"/><child link="nail"/></joint>
<joint name="look" type="fixed"><parent link="palm"/><child link="eye"/></joint></robot>"""


def test_joints_that_move_no_mass_get_a_small_one_and_a_warning():
    """The farthest link that moves: what is fixed needs none, nor what carries it."""
    robot = load_robot(GHOSTS)
    masses = {link.name: link.inertia and link.inertia.mass for link in robot.links}
    assert masses == {'base': None, 'palm': 2.0, 'finger': None, 'tip': 1e-3, 'nail': None,
                      'eye': None}
    warning, = robot.warnings
    assert 'nothing that these joints move has mass' in warning
    assert 'end (link "tip"); each link is given 0.001 kg and 1e-06 kg m2' in warning


def test_a_robot_without_any_mass_is_left_as_it_is():
    text = '<inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0"\n ' \
           'ixz="0" iyz="0"/></inertial>'
    assert text in GHOSTS
    robot = load_robot(GHOSTS.replace(text, ''))
    assert all(link.inertia is None for link in robot.links) and robot.warnings == ()
