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
"""Stiffness as users know it: the model shows the value that was stated, and the mass kept."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.02 -0.01 0.31"/><mass value="12.93"/>
<inertia ixx="0.45" iyy="0.43" izz="0.06" ixy="0.001" ixz="0.002" iyz="-0.001"/></inertial></link>
<link name="hand">{hand}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="300" velocity="3"/></joint>
<joint name="wrist" type="{kind}"><parent link="upper"/><child link="hand"/>
<origin xyz="0 0 0.6"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="90" velocity="3"/>
</joint><gravity xyz="0 0 0"/></robot>"""
HAND = """<inertial><origin xyz="{offset} 0 0.1"/><mass value="4"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
CENTRED = HAND.format(offset=0.0)
TUBE = {'shape': 'hollow_rectangle', 'width': 0.1, 'height': 0.08, 'thickness': 0.003}
TAPER = {'sections': [{'shape': 'circle', 'radius': 0.04}, {'shape': 'circle', 'radius': 0.02}]}


def model_of(stiffness, *, beam=None, hand=CENTRED, kind='fixed', **parts):
    beam = {'to': 'wrist', **(beam or {'section': TUBE})}
    return Model(load_robot(ARM.format(hand=hand, kind=kind), {'flexible': {'upper': {
        'beam': beam, 'stiffness': stiffness, **parts}}}))


def first_frequency(model):
    """Hz, with the joints locked."""
    return model.frequencies(np.zeros(model.n), joints='locked')[0][0] / (2 * np.pi)


def deflection(model, axis, force=1e-3):
    """Of the tip along an axis of the beam, m/N: a small load, so that nothing is geometric."""
    tip = model.robot.frames[0]
    direction = tip.pose[:3, axis]
    q, _ = model.statics(np.zeros(model.n_joints), {tip.name: np.r_[force * direction,
                                                                    np.zeros(3)]})
    return direction @ (model.pose(q, tip.name)[:3, 3] - tip.pose[:3, 3]) / force


def rotation(model, torque=1e-3):
    tip = model.robot.frames[0]
    axis = tip.pose[:3, 0]
    q, _ = model.statics(np.zeros(model.n_joints), {tip.name: np.r_[np.zeros(3), torque * axis]})
    turned = tip.pose[:3, :3].T @ model.pose(q, tip.name)[:3, :3]
    return turned[2, 1] / torque


@pytest.mark.parametrize('beam', [{'section': TUBE}, TAPER,
                                  {'section': TUBE, 'material': 'steel'}])
def test_tip_stiffness(beam):
    model = model_of({'tip': [2e5, 3e5], 'twist': 4e4}, beam=beam)
    assert 1 / deflection(model, 1) == pytest.approx(2e5, rel=1e-7)
    assert 1 / deflection(model, 2) == pytest.approx(3e5, rel=1e-7)
    assert 1 / rotation(model) == pytest.approx(4e4, rel=1e-7)


def test_deflection_under_a_load():
    model = model_of({'load': 50, 'deflection': 4e-4, 'torque': 10, 'rotation': 2e-3})
    assert 50 * deflection(model, 1) == pytest.approx(4e-4, rel=1e-7)
    assert 50 * deflection(model, 2) == pytest.approx(4e-4, rel=1e-7)
    assert 10 * rotation(model) == pytest.approx(2e-3, rel=1e-7)


def test_a_link_that_carries_nothing_shows_its_tip_stiffness_too():
    urdf = """<robot name="rod"><link name="base"/><link name="rod"/><joint name="j" type="fixed">
        <parent link="base"/><child link="rod"/></joint><gravity xyz="0 0 0"/></robot>"""
    model = Model(load_robot(urdf, {'flexible': {'rod': {
        'beam': {'length': 1.0, 'section': TUBE, 'material': 'carbon'},
        'stiffness': {'tip': 1e4}}}}))
    assert 1 / deflection(model, 1) == pytest.approx(1e4, rel=1e-7)


@pytest.mark.parametrize('offset', [0.0, 0.15])
@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-mass', 'fe', 'clamped-free'])
def test_first_frequency_with_what_the_link_carries(basis, offset):
    model = model_of({'frequency': 23.0, 'carried': 'included'}, hand=HAND.format(offset=offset),
                     modes={'basis': basis})
    assert first_frequency(model) == pytest.approx(23.0, rel=1e-9)


def test_first_frequency_with_a_joint_of_the_hand_locked():
    model = model_of({'frequency': 23.0, 'carried': 'included'}, kind='revolute')
    assert first_frequency(model) == pytest.approx(23.0, rel=1e-9)


def test_first_frequency_of_the_link_alone():
    given = {'frequency': 180.0, 'carried': 'excluded'}
    assert first_frequency(model_of(given)) < 120.0
    assert first_frequency(model_of(given, hand='')) == pytest.approx(180.0, rel=1e-9)


@pytest.mark.parametrize('offset', [0.0, 0.15])
def test_first_frequency_beside_a_given_twist(offset):
    """An eccentric hand couples bending and twist, whose stiffness stays."""
    model = model_of({'frequency': 23.0, 'carried': 'included', 'twist': 2e4},
                     hand=HAND.format(offset=offset))
    assert first_frequency(model) == pytest.approx(23.0, rel=1e-9)
    assert 1 / rotation(model) == pytest.approx(2e4, rel=1e-7)


def test_the_joint_feels_the_inertia_of_the_rigid_link():
    """With the beam undeformed, and whatever its share of the mass."""
    urdf = ARM.format(hand=HAND.format(offset=0.1), kind='revolute')
    rigid = Model(load_robot(urdf))
    for beam in ({'to': 'wrist', 'section': TUBE, 'material': 'steel'},
                 {'to': 'wrist', 'section': TUBE, 'material': {'name': 'steel', 'density': 900}}):
        model = Model(load_robot(urdf, {'flexible': {'upper': {'beam': beam}}}))
        for joints in ([0.0, 0.0], [0.4, -0.9]):
            q = np.r_[joints, np.zeros(model.n - 2)]
            assert model.mass_matrix(q)[:2, :2] == pytest.approx(
                rigid.mass_matrix(joints), rel=1e-12)
