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
"""Large robots, and robots made by chance."""
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flex_description import RobotError, load_robot

LINK = ('<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link>\n')
JOINT = ('<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/>'
         '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
         '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>\n')
BEAM = ('<flexible link="l{0}"><beam length="1"><section shape="circle" radius="0.02"/>'
        '<material name="steel"/></beam><modes bending_y="1" bending_z="1" twist="1"/>'
        '</flexible>\n')


def chain(count, flexible=0):
    return ('<robot name="chain">' + ''.join(LINK.format(i) for i in range(count))
            + ''.join(JOINT.format(i, i - 1) for i in range(1, count))
            + ''.join(BEAM.format(i) for i in range(flexible)) + '</robot>')


def seconds(work):
    start = time.process_time()  # other work on the machine does not count
    work()
    return time.process_time() - start


def test_a_thousand_links_load_in_under_two_seconds():
    text = chain(1000, flexible=100)
    robot = load_robot(text)
    assert len(robot.joints) == 999 and robot.joints[-1].name == 'j999'
    assert min(seconds(lambda: load_robot(text)) for _ in range(3)) < 2.0


def test_the_four_joint_robot_loads_in_under_50_ms():
    load_robot('cibicik_arm')
    assert min(seconds(lambda: load_robot('cibicik_arm')) for _ in range(5)) < 0.05


JUNK = st.sampled_from([
    '', ' ', 'nan', '-1', '0', '1e308', '1e-320', '-inf', 'l0', 'j1', '1 2', '0 0 0', '1 2 3 4',
    '\x85', '&lt;', 'x', '21', 'auto', '1e4', 'clamped-mass', 'pinned-free'])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_spoilt_attributes_never_end_in_another_exception(data):
    """Whatever stands in up to three attributes: a robot, or one line."""
    text = chain(3, flexible=2).replace(
        '<modes ', '<mass x="0.5" mass="1"/><damping ratio="0.01"/><gauge name="g" x="0.5"/>'
        '<modes basis="fe" tip_mass="1" tip_inertia="0.1" tip_offset="0.1" ', 1)
    for _ in range(data.draw(st.integers(1, 3))):
        pieces = text.split('"')
        number = data.draw(st.integers(0, len(pieces) // 2 - 1)) * 2 + 1
        pieces[number] = data.draw(JUNK)
        text = '"'.join(pieces)
    try:
        load_robot(text)
    except RobotError as error:
        assert str(error).startswith('<string>:') and '\n' not in str(error)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_spoilt_text_never_ends_in_another_exception(data):
    text = chain(2, flexible=1)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    text = text[:start] + data.draw(st.text(max_size=5)) + text[end:]
    try:
        load_robot(text)
    except RobotError as error:
        assert '\n' not in str(error)


@pytest.mark.parametrize('value', ['1e-320', '1e308', '1e-30', '1e30'])
@pytest.mark.parametrize('basis', ['craig-bampton', 'clamped-mass', 'fe', 'pinned-free'])
def test_extreme_sizes(value, basis):
    text = chain(2, flexible=1).replace('<modes ', f'<modes basis="{basis}" ')
    for old in ('radius="0.02"', 'length="1"'):
        try:
            load_robot(text.replace(old, f'{old.split("=")[0]}="{value}"'))
        except RobotError as error:
            assert '\n' not in str(error)
