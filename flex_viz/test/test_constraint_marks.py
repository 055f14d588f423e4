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
"""Loops, wheels, supports and their reactions are drawn where they are."""
from functools import cache

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.geometry.constraint_marks import ConstraintMarks, ReactionForce
from flex_viz.geometry.coordinates import tip_frame
from flex_viz.rviz.marker import ADD, DELETE
from flex_viz.rviz.robot_markers import Options, RobotMarkers


@cache
def model(name):
    return Model(load_robot(name))


def turned(name, **joints):
    robot = model(name)
    q = np.zeros(robot.n)
    for joint, value in joints.items():
        q[robot.names.index(joint)] = value
    return q


def test_a_pin_is_where_the_loop_closes():
    robot, q = model('flexible_four_bar'), turned('flexible_four_bar', crank_joint=0.5)
    q = robot.close(q, reach=1.0, held=['crank_joint']).q
    marks = ConstraintMarks(robot)
    pose, = marks.at(q)
    assert pose[:3, 3] == pytest.approx(robot.pose(q, 'coupler/tip')[:3, 3], abs=1e-9)
    assert np.abs(pose[:3, 2]) == pytest.approx([0, 0, 1])      # along its axis
    assert marks.visuals[0].kind == 'cylinder'


def test_a_wheel_touches_the_ground_below_its_centre():
    robot = model('mobile_arm')
    q = turned('mobile_arm', left_wheel_joint=1.2, **{'base/rz': 0.7, 'base/x': 2.0})
    marks = ConstraintMarks(robot)
    for name, point in marks.points(q).items():
        assert point[2] == pytest.approx(0.0, abs=1e-12)
        if name == 'left_wheel':
            assert point[:2] == pytest.approx(robot.pose(q, 'left_wheel')[:2, 3])
    # Its links have visuals: points on the ground only.
    assert [visual.kind for visual in marks.visuals] == ['sphere'] * 4


def test_reactions_push_feet_from_below_and_pins_from_the_pin():
    robot, q = model('planar_biped'), np.zeros(model('planar_biped').n)
    marks = ConstraintMarks(robot)
    pose = robot.pose(q, 'left_foot')
    force = ReactionForce('left_foot', 'left_foot', pose[:3, :3].T @ [0.0, 0.0, 300.0])
    (_, line), = marks.arrows(q, [force])
    assert line[1] == pytest.approx(pose[:3, 3]) and line[0][2] < -0.05
    assert force.text() == '300 N'
    crane = model('cylinder_crane')
    pull = ReactionForce('lift_eye', 'main_boom', np.array([0.0, 0.0, 25e3]))
    marks = ConstraintMarks(crane)
    (_, line), = marks.arrows(np.zeros(crane.n), [pull])
    assert line[0] == pytest.approx(crane.pose(np.zeros(crane.n), 'lift_rod')[:3, 3])
    assert pull.text() == '25 kN'
    # A constraint that another robot has, and a force of zero, are not drawn.
    assert marks.arrows(np.zeros(crane.n), [force, ReactionForce('lift_eye', 'main_boom',
                                                                 np.zeros(3))]) == []


def test_the_tip_of_a_crane_is_its_load():
    assert tip_frame(model('cylinder_crane')) == 'load'
    assert tip_frame(model('slider_crank')) == 'rod/tip'
    assert tip_frame(model('mobile_arm')) == 'tool'


@pytest.mark.parametrize('name', ['flexible_four_bar', 'slider_crank', 'cylinder_crane',
                                  'mobile_arm', 'planar_biped'])
def test_markers_come_and_go(name):
    robot = model(name)
    drawing, q = RobotMarkers(robot), np.zeros(robot.n)
    constraint = robot.robot.constraints[0]
    frame = next(link.name for link in robot.robot.links[1:])
    force = ReactionForce(constraint.name, frame, np.array([1.0, 2.0, 3.0]))

    def found(namespace, action, *reactions):
        return [one for one in drawing.at(0.0, q, (), reactions)
                if (one.ns, one.action) == (namespace, action)]

    assert len(found('constraints', ADD)) == len(ConstraintMarks(robot).visuals) > 0
    assert len(found('reactions', ADD, force)) == 2
    assert len(found('reactions', DELETE)) == 2 and not found('reactions', DELETE)
    drawing.options = Options(constraints=False, reactions=False)
    assert not found('constraints', ADD) and not found('reactions', ADD, force)


def test_every_kind_of_loop_has_a_mark():
    def robot(loop):
        link = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
                'ixy="0" ixz="0" iyz="0"/></inertial></link>')
        joint = ('<joint name="{0}" type="floating"><parent link="w"/><child link="{1}"/>'
                 '</joint>')
        return Model(load_robot('<robot name="r"><link name="w"/>' + link.format('a')
                                + joint.format('j', 'a') + loop + '</robot>'))

    ends = '<first frame="w"/><second frame="a"/></loop>'
    for words, kind in (('type="ball"', 'sphere'), ('type="weld"', 'box'),
                        ('type="prismatic" axis="1 0 0"', 'cylinder'),
                        ('type="universal" axis="1 0 0" axis2="0 1 0"', 'sphere')):
        marks = ConstraintMarks(robot(f'<loop name="l" {words}>' + ends))
        assert marks.visuals[0].kind == kind and np.isfinite(marks.at(np.zeros(6))).all()
    rod = ConstraintMarks(robot('<loop name="l" type="distance" length="2">' + ends))
    pose, = rod.at(np.array([0.0, 2.0, 0, 0, 0, 0]))
    assert pose[:3, 3] == pytest.approx([0, 1, 0]) and pose[:3, 2] == pytest.approx([0, 1, 0])
    wheel = ConstraintMarks(robot('<wheel name="l" frame="a" xyz="0 0 0.3" radius="0.3"/>'))
    assert [visual.kind for visual in wheel.visuals] == ['cylinder', 'sphere']
