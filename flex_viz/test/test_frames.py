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
"""Frames and outlines: where the model says, deflection included."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_description.math import quaternion_from_rotation
from flex_dynamics import DynamicsError, Model
from flex_viz.geometry.frames import Frames, Point, read_point
from flex_viz.geometry.outline import outline, reach
from flex_viz.rviz.transform_bytes import TransformBytes


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def edges_of(edges, q):
    """Parent and pose by child."""
    return {child: (parent, pose) for (parent, child), pose in zip(edges.pairs, edges.at(q))}


@pytest.fixture(scope='module')
def bent(arm):
    return arm.statics([0.3, 0.5, 1.0, 0.5])[0]


def test_the_transforms_lead_to_every_link_and_tip(arm, bent):
    frames = Frames(arm)
    edges = {**edges_of(frames.fixed, bent), **edges_of(frames.moving, bent)}
    names = {link.name for link in arm.robot.links} | {'link2/tip', 'link3/tip'}
    assert set(edges) == names - {'base'}
    for name in edges:
        pose, at = np.eye(4), name
        while at != 'base':
            parent, own = edges[at]
            pose, at = own @ pose, parent
        assert np.allclose(pose, arm.pose(bent, name), atol=1e-12), name


def test_only_what_never_moves_is_static(arm):
    assert Frames(arm).fixed.pairs == [('link4', 'tool')]


def test_a_tip_frame_sags_in_its_link(arm, bent):
    _, tip = edges_of(Frames(arm).moving, bent)['link2/tip']
    assert 1e-3 < np.linalg.norm(tip[1:3, 3]) < 0.1


def test_asked_for_points_are_on_the_bent_beam(arm, bent):
    frames = Frames(arm, [read_point('link2@0.5'), read_point('elbow = link3@ 1.8')])
    found = edges_of(frames.moving, bent)
    for name, link, x in (('link2@0.5', 'link2', 0.5), ('elbow', 'link3', 1.8)):
        parent, pose = found[name]
        assert parent == link
        assert np.allclose(arm.pose(bent, link) @ pose, arm.pose(bent, link, x), atol=1e-12)


@pytest.mark.parametrize('text, said', [
    ('link2', 'LINK@X'), ('link2@', 'LINK@X'), ('a=b=link2@1', 'LINK@X'), ('link2@e', 'LINK@X'),
    ('link2@9', '0 to 2 m'), ('link9@1', 'unknown frame'), ('link1@0.1', 'not on a flexible'),
    ('tool=link2@1', 'expected a new name')])
def test_bad_points_are_refused_in_a_sentence(arm, text, said):
    with pytest.raises(DynamicsError, match=said):
        Frames(arm, [read_point(text)])


def test_points_of_one_name_are_refused(arm):
    with pytest.raises(DynamicsError, match='expected a new name'):
        Frames(arm, [Point('a', 'link2', 0.5), Point('a', 'link3', 0.5)])


@pytest.mark.parametrize('order', ['linear', 'first', 'second'])
def test_a_tree_of_flexible_links_in_every_order(order):
    model = Model(load_robot('flexible_tree'), order)
    q = 0.1 * np.random.default_rng(3).standard_normal(model.n)
    for child, (parent, pose) in edges_of(Frames(model).moving, q).items():
        assert np.allclose(model.pose(q, parent) @ pose, model.pose(q, child), atol=1e-12)


def test_the_bytes_of_transforms_are_those_of_the_message(arm, bent):
    serialization = pytest.importorskip('rclpy.serialization')
    from builtin_interfaces.msg import Time
    from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
    from std_msgs.msg import Header
    from tf2_msgs.msg import TFMessage
    edges = Frames(arm, [read_point('a=link2@0.5'), read_point('a_longer_name=link3@1')]).moving
    packed = TransformBytes(edges.pairs)
    for time, q in ((0, np.zeros(arm.n)), (12_345_678_901, bent)):
        poses = edges.at(q)
        message = TFMessage(transforms=[TransformStamped(
            header=Header(stamp=Time(sec=time // 10**9, nanosec=time % 10**9), frame_id=parent),
            child_frame_id=child, transform=Transform(
                translation=Vector3(**dict(zip('xyz', pose[:3, 3].tolist()))),
                rotation=Quaternion(**dict(zip('xyzw', quaternion_from_rotation(pose[:3, :3]))))))
            for (parent, child), pose in zip(edges.pairs, poses)])
        written = packed.at(time, poses)
        assert serialization.deserialize_message(written, TFMessage) == message
        assert len(written) == len(serialization.serialize_message(message))


def test_outlines_meet_at_the_joints_and_grow_with_exaggeration(arm, bent):
    lines = outline(arm, bent)
    assert np.allclose(lines['link2'][0], arm.pose(bent, 'link2')[:3, 3])
    assert np.allclose(lines['link2'][-1], lines['link3'][0])
    straight = outline(arm, bent, 0.0)['link2']
    chord = straight[-1] - straight[0]
    assert np.allclose(np.cross(straight - straight[0], chord), 0.0, atol=1e-12)
    sag = [np.linalg.norm(outline(arm, bent, factor)['link2'][-1] - straight[-1])
           for factor in (1.0, 2.0)]
    assert sag[0] > 1e-3 and sag[1] == pytest.approx(2.0 * sag[0], rel=0.02)


def test_reach_is_that_of_the_longest_chain():
    """Many short branches, as of a hand, do not add up."""
    links, joints = ['<link name="base"/>'], []
    for at in range(10):
        mass = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                'iyz="0"/></inertial>')
        links += [f'<link name="a{at}">{mass}</link>', f'<link name="b{at}"/>']
        joints += [f'<joint name="j{at}" type="continuous"><parent link="base"/>'
                   f'<child link="a{at}"/><origin xyz="0.3 0 0"/></joint>',
                   f'<joint name="k{at}" type="fixed"><parent link="a{at}"/>'
                   f'<child link="b{at}"/><origin xyz="0 0.2 0"/></joint>']
    robot = load_robot(f'<robot name="hand">{"".join(links + joints)}</robot>')
    assert reach(robot) == pytest.approx(0.5)
