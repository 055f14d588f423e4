"""Small URDFs with the features of published robots go the way of `make validate`'s walk.

Describe, suggest an overlay, simulate to a goal with the default controller, draw, report: the
same code as for every URDF of example-robot-data, which is too large for `make test`.
"""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / 'validate'))
from walk_robots import walk_one  # noqa: E402

BODY = ('<inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/><inertia ixx="{moment}" '
        'iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/></inertial>')
ARM = f"""<robot name="published"><link name="base"/>
<link name="upper_arm">{BODY.format(x=0.25, mass=2, moment=0.05)}
 <visual><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.08 0.08"/></geometry></visual></link>
<link name="forearm">{BODY.format(x=0.2, mass=1, moment=0.02)}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper_arm"/>
 <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="100" velocity="3"/></joint>
<joint name="elbow" type="revolute"><parent link="upper_arm"/><child link="forearm"/>
 <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
{{more}}</robot>"""
HINGE = ('<joint name="{name}" type="{kind}"><parent link="forearm"/><child link="{name}_link"/>'
         '<origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>{inside}</joint>')


SMALL_BODY = BODY.format(x=0.02, mass=0.1, moment=1e-4)


def hinge(name, kind, inside='', link=SMALL_BODY):
    return (f'<link name="{name}_link">{link}</link>'
            + HINGE.format(name=name, kind=kind, inside=inside))


LIMIT = '<limit lower="0" upper="0.04" effort="20" velocity="0.2"/>'
WORKS = {       # what is added, and words of the warning, if any
    'nothing': ('', None),
    'wheel that turns without end': (hinge('wheel', 'continuous'), None),
    'gripper with a mimic': (hinge('left', 'prismatic', LIMIT)
                             + hinge('right', 'prismatic', LIMIT + '<mimic joint="left"/>'), None),
    'limits that an exporter left zero': (
        hinge('last', 'revolute', '<limit lower="-1" upper="1" effort="0" velocity="0"/>'),
        'taken as unlimited'),
    'finger without mass': (hinge('finger', 'continuous', link=''), 'is given 0.001 kg'),
    'point name and dry friction': (
        hinge('finger_1.0', 'revolute', '<limit lower="-1" upper="1" effort="5" velocity="2"/>'
              '<dynamics damping="0.02" friction="0.01"/>'), None),
    'inertia that no body has': (
        hinge('camera', 'fixed', link=BODY.format(x=0, mass=0.1, moment=1e-4).replace(
            'izz="0.0001"', 'izz="0.001"')), 'expected principal moments'),
    'mesh that is not there': (
        hinge('tool', 'fixed', link='<visual><geometry><mesh filename="package://lost/tool.stl"/>'
              '</geometry></visual>'), None),
}


@pytest.mark.parametrize('feature', WORKS)
def test_works_at_the_first_try(feature, tmp_path):
    more, words = WORKS[feature]
    file = tmp_path / 'published.urdf'
    file.write_text(ARM.format(more=more))
    row = walk_one(file, tmp_path / 'report')
    assert row['verdict'] == 'works', row.get('traceback', row['outcome'])
    assert (tmp_path / 'report' / 'run.html').is_file() and row['markers']
    if words:
        assert any(words in warning and str(file) in warning for warning in row['warnings'])
    lost = [problem for problem in row['problems'] if 'package://lost' in problem]
    assert bool(lost) == ('mesh' in feature), row['problems']
    if lost:
        assert 'AMENT_PREFIX_PATH' in lost[0] and 'ROS_PACKAGE_PATH' in lost[0]


REFUSED = {     # old text, new text, words of the message
    'mass below zero': ('value="2"', 'value="-2"', 'expected a positive number (kg)'),
    'no joint': ('type="revolute"', 'type="fixed"', 'nothing can move'),
    'two roots': ('<link name="base"/>', '<link name="base"/><link name="lost"/>',
                  'expected one root link'),
    'no link': (ARM, '<robot xmlns:xacro="http://wiki.ros.org/xacro"></robot>',
                'expected at least one <link>'),
}


@pytest.mark.parametrize('fault', REFUSED)
def test_is_refused_with_what_is_wrong_in_the_file(fault, tmp_path):
    old, new, words = REFUSED[fault]
    file = tmp_path / 'published.urdf'
    assert old in ARM
    file.write_text(ARM.replace(old, new).replace('{more}', ''))
    row = walk_one(file, tmp_path / 'report')
    assert row['verdict'] == 'refused' and words in row['outcome'], row
    assert str(file) in row['outcome']


def test_an_arm_that_its_drives_cannot_hold_is_warned_of(tmp_path):
    file = tmp_path / 'published.urdf'
    file.write_text(ARM.format(more='').replace('effort="100"', 'effort="5"'))
    row = walk_one(file, tmp_path / 'report')
    assert row['verdict'] == 'warned', row
    assert 'shoulder needs 11.8 N m, has 5' in row['outcome'] and str(file) in row['outcome']
