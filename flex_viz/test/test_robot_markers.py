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
"""Markers of a bent robot: stable names, the right places and colours, and fast."""
import gc
import time
from collections import Counter

import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from visualization_msgs.msg import Marker as RosMarker
from visualization_msgs.msg import MarkerArray

from flex_description import load_robot
from flex_description.math import quaternion_from_rotation
from flex_dynamics import DynamicsError, Model
from flex_ros.cdr import encoding
from flex_viz.geometry.colours import FINE, ColourRange, rgb, rounded_up, value_text
from flex_viz.geometry.tip_path import TipPath
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.rviz import marker as marker_types
from flex_viz.rviz.marker_bytes import marker_array
from flex_viz.rviz.robot_markers import Options, RobotMarkers

PUSH = AppliedWrench('tool', np.array([0.0, 20.0, 0.0]), np.zeros(3))
COLLADA = """<robot name="painted"><link name="base"><visual><geometry>
    <mesh filename="package://nowhere/base.dae"/></geometry>{}</visual></link>
    <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
    </robot>"""


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def bent(arm):
    return arm.statics([0.3, 0.5, 1.0, 0.5])[0]


def names(markers):
    return [(marker.ns, marker.id) for marker in markers]


def of(markers, ns):
    return [marker for marker in markers if marker.ns == ns]


def test_constants_are_those_of_ros():
    for name, there in (('ARROW', 'ARROW'), ('CUBE', 'CUBE'), ('SPHERE', 'SPHERE'),
                        ('CYLINDER', 'CYLINDER'), ('LINE_STRIP', 'LINE_STRIP'),
                        ('LINE_LIST', 'LINE_LIST'), ('SPHERE_LIST', 'SPHERE_LIST'),
                        ('TEXT', 'TEXT_VIEW_FACING'), ('MESH', 'MESH_RESOURCE'),
                        ('TRIANGLES', 'TRIANGLE_LIST'), ('ADD', 'ADD'), ('DELETE', 'DELETE'),
                        ('DELETE_ALL', 'DELETEALL')):
        assert getattr(marker_types, name) == getattr(RosMarker, there), name


def test_bytes_are_those_of_rclpy(arm, bent):
    drawing = RobotMarkers(arm)
    markers = [*drawing.at(0.1, bent, [PUSH]),
               marker_types.Marker('µ', 3, marker_types.MESH, mesh='package://a/b.dae',
                                   text='x' * 7, colour=(0.0, 0.0, 0.0, 0.0))]
    data = marker_array(markers, 'base', 1_500_000_000, 1.25)
    message = deserialize_message(data, MarkerArray)
    again = serialize_message(message)
    assert len(again) == len(data)
    # What rclpy leaves between two fields is any byte; ours is zero. A byte is between two
    # fields when the message is the same whatever it holds.
    other = [k for k, (ours, theirs) in enumerate(zip(data, again, strict=True)) if ours != theirs]
    assert not any(data[k] for k in other)
    filled = bytearray(data)
    for k in other:
        filled[k] = 0xff
    assert deserialize_message(bytes(filled), MarkerArray) == message
    assert deserialize_message(again, MarkerArray) == message
    for there, here in zip(message.markers, markers, strict=True):
        assert (there.ns, there.id, there.type) == (here.ns, here.id, here.type)
        assert (there.text, there.mesh_resource, there.action) == (here.text, here.mesh,
                                                                  here.action)
        assert there.header.frame_id == 'base' and there.header.stamp.nanosec == 500_000_000
        assert there.lifetime.sec == 1 and there.lifetime.nanosec == 250_000_000
        found = np.array([(p.x, p.y, p.z) for p in there.points]).reshape(-1, 3)
        assert np.array_equal(found, here.points)
        shade = np.array([(c.r, c.g, c.b, c.a) for c in there.colors]).reshape(-1, 4)
        assert np.allclose(shade, here.colours, atol=1e-7)
        position, turn = there.pose.position, there.pose.orientation
        assert np.allclose((position.x, position.y, position.z), here.position)
        assert np.allclose((turn.x, turn.y, turn.z, turn.w), here.orientation)
    assert [one.mesh_use_embedded_materials for one in message.markers[-2:]] == [False, True]


def test_names_stay_and_are_unique(arm, bent):
    drawing = RobotMarkers(arm)
    first = names(drawing.at(0.0, bent))
    assert max(Counter(first).values()) == 1
    assert first == names(drawing.at(0.1, 0.5 * bent)) == names(drawing.at(0.2, 0.0 * bent))


def test_bent_links_are_whole_triangles_at_the_sections(arm, bent):
    link2, link3 = of(RobotMarkers(arm).at(0.0, bent), 'bent')
    for marker, name, length in ((link2, 'link2', 2.0), (link3, 'link3', 1.8)):
        assert marker.type == marker_types.TRIANGLES and len(marker.points) % 3 == 0
        assert len(marker.colours) == len(marker.points)
        tip = arm.pose(bent, name, length)[:3, 3]
        assert np.linalg.norm(marker.points - tip, axis=1).min() < 0.04
    ghost = of(RobotMarkers(arm).at(0.0, bent), 'straight')[1]
    flat = bent.copy()
    flat[arm.n_joints:] = 0.0
    straight = arm.pose(flat, 'link3')
    assert np.allclose(ghost.position, straight[:3, 3]) and 0 < len(ghost.points) < 200
    assert ghost.orientation == pytest.approx(quaternion_from_rotation(straight[:3, :3]))
    ends = ghost.points @ straight[:3, :3].T + straight[:3, 3]
    assert np.linalg.norm(ends - arm.pose(flat, 'link3', 1.8)[:3, 3], axis=1).min() < 0.04
    assert np.abs(ends.max(axis=0) - link3.points.max(axis=0)).max() > 0.01


def test_exaggeration_moves_the_links_and_leaves_the_colours(arm, bent):
    once = of(RobotMarkers(arm).at(0.0, bent), 'bent')[0]
    many = of(RobotMarkers(arm, Options(exaggeration=5.0)).at(0.0, bent), 'bent')[0]
    none = of(RobotMarkers(arm, Options(exaggeration=0.0)).at(0.0, bent), 'bent')[0]
    assert np.array_equal(once.colours, many.colours)
    sag = [np.abs(marker.points - none.points).max() for marker in (once, many)]
    assert 4.0 < sag[1] / sag[0] < 6.0


def test_colours_tell_tension_from_compression(arm, bent):
    marker = of(RobotMarkers(arm).at(0.0, bent), 'bent')[0]
    red = marker.colours[:, 0] - marker.colours[:, 2]
    assert red.max() > 0.1 and red.min() < -0.1
    low, middle, high, beyond = rgb(np.array([-1.0, 0.0, 1.0, 9.0]), 1.0, 'strain')
    assert low[2] > low[0] + 0.4 and high[0] > high[2] + 0.4 and np.ptp(middle) < 0.01
    assert np.array_equal(high, beyond)


def test_the_range_goes_in_round_steps_and_remembers_for_a_while():
    span = ColourRange('strain')
    assert [span.top(value) for value in (0.0, 3e-4, 1e-4, 6e-4)] == pytest.approx(
        [1e-6, 3e-4, 3e-4, 6e-4])
    tops = [span.top(1e-4, time_) for time_ in np.arange(0.0, 40.0, 0.1)]
    assert np.unique(tops) == pytest.approx([1e-4, 6e-4])
    assert 10.0 <= np.argmin(tops) * 0.1 <= 21.0 and np.all(np.diff(tops) <= 0.0)
    assert span.top(3.1e-6, 5.0) == pytest.approx(4e-6)        # the clock was set back
    assert span.top(3.1e-6, 500.0) == pytest.approx(4e-6)      # nothing was seen for long
    assert ColourRange('deflection', 0.2).top(7.0) == 0.2
    assert [rounded_up(value) for value in (1.0, 1.01, 3.0, 9.0)] == pytest.approx(
        [1.0, 2.0, 5.0, 10.0])
    assert value_text(2e-4, 'strain') == '200 µm/m' and value_text(0.05, 'deflection') == '50 mm'


def test_the_legend_tells_the_range(arm, bent):
    texts = [marker.text for marker in of(RobotMarkers(arm).at(0.0, bent), 'legend')[1:]]
    largest = max(np.abs(skin.strain(bent)).max()
                  for skin in RobotMarkers(arm).robot.skins.values())
    top = 1e6 * rounded_up(largest, FINE)
    assert texts == [f'{-top:.4g} um/m', f'{top:.4g} um/m', 'strain']      # RViz has no µ
    by = Options(coloured_by='deflection', exaggeration=2.0)
    texts = [marker.text for marker in of(RobotMarkers(arm, by).at(0.0, bent), 'legend')]
    assert texts[1] == '0 mm' and 'drawn 2 times' in texts[3]
    hidden = of(RobotMarkers(arm, Options(coloured_by='none')).at(0.0, bent), 'legend')
    assert all(marker.action == marker_types.DELETE for marker in hidden)


def test_the_path_is_the_tips_and_ends_when_the_clock_jumps_back(arm, bent):
    drawing = RobotMarkers(arm, Options(path=1.0))
    for time_ in (0.0, 0.4, 0.8, 1.2):
        path, = of(drawing.at(time_, (1.0 + 0.1 * time_) * bent), 'tip')
    assert len(path.points) == 3
    assert np.allclose(path.points[-1], arm.pose(1.12 * bent, 'tool')[:3, 3])
    path, = of(drawing.at(0.1, bent), 'tip')
    assert len(path.points) == 2 and np.array_equal(*path.points)


def test_arrows_come_and_go(arm, bent):
    drawing = RobotMarkers(arm)
    assert of(drawing.at(0.0, bent), 'wrenches') == []
    moment, force, words = of(drawing.at(0.1, bent, [PUSH]), 'wrenches')
    pose = arm.pose(bent, 'tool')
    assert force.type == marker_types.ARROW and moment.action == marker_types.DELETE
    assert np.allclose(force.points[1], pose[:3, 3])
    way = force.points[1] - force.points[0]
    assert np.allclose(way / np.linalg.norm(way), pose[:3, 1])
    assert words.text == '20 N'
    gone = of(drawing.at(0.2, bent), 'wrenches')
    assert sorted(names(gone)) == sorted(names((force, moment, words)))
    assert all(marker.action == marker_types.DELETE for marker in gone)
    assert of(drawing.at(0.3, bent), 'wrenches') == []


def test_rigid_links_are_at_their_true_poses(arm, bent):
    *_, last = of(RobotMarkers(arm).at(0.0, bent), 'rigid')
    centre = (arm.pose(bent, 'link4') @ (0.12, 0.0, 0.0, 1.0))[:3]
    assert last.type == marker_types.CYLINDER and np.allclose(last.position, centre)


def test_quaternions_of_every_branch():
    for axis in np.vstack((np.eye(3), -np.eye(3), np.ones(3))):
        for angle in (0.0, 0.3, np.pi / 2, 3.1, np.pi):
            x, y, z, w = quaternion_from_rotation(
                _turn(axis / np.linalg.norm(axis), angle)[:3, :3])
            again = np.array([(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                              (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                              (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))])
            assert np.allclose(again, _turn(axis / np.linalg.norm(axis), angle)[:3, :3])


def _turn(axis, angle):
    x, y, z = axis
    cross = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    pose = np.eye(4)
    pose[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return pose


def test_an_unknown_tip_is_refused(arm):
    with pytest.raises(DynamicsError, match="unknown frame 'tol'.*did you mean 'tool'"):
        RobotMarkers(arm, Options(tip='tol'))


@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree', 'canadarm', 'lab_link', 'ur5'])
@pytest.mark.parametrize('options', [Options(), Options(
    'deflection', ghost=False, path=0.0, gauges=False, legend=False, exaggeration=30.0)])
def test_rviz_takes_the_markers_of_every_robot_without_a_warning(name, options):
    """What its displays reject, warn of or draw badly, as read in their sources (Jazzy)."""
    model = Model(load_robot(name))
    drawing = RobotMarkers(model, options)
    push = AppliedWrench(drawing.tip, np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 1.0]))
    rest = np.zeros(model.n)
    for at, (q, pushes) in enumerate(((rest, ()), (rest + 1e-3, (push,)), (rest, ()))):
        markers = drawing.at(0.1 * at, q, pushes)
        message = deserialize_message(marker_array(markers, 'base', at, 1.0), MarkerArray)
        assert max(Counter((one.ns, one.id) for one in message.markers).values()) == 1
        for one in message.markers:
            assert one.action in (RosMarker.ADD, RosMarker.DELETE) and not one.frame_locked
            if one.action == RosMarker.ADD:
                _suits_rviz(one)


def _suits_rviz(one):
    turn, scale, count = one.pose.orientation, one.scale, len(one.points)
    numbers = [turn.x, turn.y, turn.z, turn.w, scale.x, scale.y, scale.z, one.pose.position.x,
               one.pose.position.y, one.pose.position.z]
    numbers += [value for point in one.points for value in (point.x, point.y, point.z)]
    assert np.isfinite(numbers).all() and np.linalg.norm(numbers[:4]) == pytest.approx(1.0)
    assert len(one.colors) in (0, count) and all(colour.a == 1.0 for colour in one.colors)
    assert one.mesh_resource or one.color.a > 0.0
    if one.type == RosMarker.TEXT_VIEW_FACING:
        # Blank texts end RViz; spaces are 1.3 m wide without scale.x; a byte is a letter.
        assert one.text.strip() and one.text.isascii()
        assert 0.0 < scale.x < scale.z
    elif one.type in (RosMarker.LINE_STRIP, RosMarker.LINE_LIST):
        assert scale.x > 0.0 and count >= 2
        assert one.type == RosMarker.LINE_STRIP or count % 2 == 0
    else:
        assert scale.x > 0.0 and scale.y > 0.0 and scale.z > 0.0
    assert one.type != RosMarker.TRIANGLE_LIST or count > 0 and count % 3 == 0
    assert one.type != RosMarker.ARROW or count == 2
    assert one.type != RosMarker.MESH_RESOURCE or '://' in one.mesh_resource


def test_the_materials_of_a_collada_file_are_its_own_unless_the_urdf_paints_it():
    red = '<material name="m"><color rgba="1 0 0 1"/></material>'
    for colour, own in (('', True), (red, False)):
        model = Model(load_robot(COLLADA.format(colour)))
        mesh, = of(RobotMarkers(model).at(0.0, np.zeros(model.n)), 'rigid')
        data = marker_array([mesh], 'base', 0, 1.0)
        message, = deserialize_message(data, MarkerArray).markers
        assert message.mesh_use_embedded_materials == own and (message.color.a == 0.0) == own


def test_a_picture_costs_little(arm, bent):
    """15 % of a core at 30 pictures a second is 5 ms each; the node around it takes some."""
    drawing = RobotMarkers(arm)
    best = np.inf
    for at in range(60):
        began = time.process_time()
        marker_array(drawing.at(0.033 * at, bent), 'base', at, 1.0)
        best = min(best, time.process_time() - began)
    assert best < 4e-3


def test_a_thinned_way_keeps_its_newest_point_and_the_gaps_between_the_others():
    way = TipPath(1.0, 0.1)
    for at in range(61):
        points = way.add(at / 30.0, np.array([at / 30.0, 0.0, 0.0]))
    times = points[:, 0]
    assert times[-1] == 2.0 and times[0] >= 1.0 - 1e-9
    assert np.diff(times)[:-1].min() > 0.1 - 1e-9 and 9 <= len(times) <= 12
    assert way.add(2.0, np.ones(3)) is not None and len(way.add(2.0, np.ones(3))) == len(times)


@pytest.mark.parametrize('size', [1e3, 1e6, 1e9])
def test_an_exaggerated_state_of_largest_amplitudes_is_drawn(arm, size):
    """States up to 1e9 pass the checks of a node; no factor may take them beyond the model's."""
    markers = RobotMarkers(arm, Options(exaggeration=1e3)).at(0.1, np.full(arm.n, size))
    assert markers and serialize_message(deserialize_message(
        marker_array(markers, 'world', 0, 1.0), MarkerArray))


def test_pictures_leave_nothing_behind(arm, bent):
    """Of many ranges of the colours, and of texts that differ from picture to picture."""
    drawing = RobotMarkers(arm, Options(gauges=True))

    def draw(at):
        q = np.concatenate((bent[:4], bent[4:] * 10.0 ** (0.1 * at - 6.0)))
        marker_array(drawing.at(1000.0 * at, q, [PUSH]), 'base', 0, 1.0)

    def left():
        gc.collect()      # isinstance asks what a weak proxy is for, which may be gone
        return (encoding.text.cache_info().currsize,
                sum(issubclass(type(one), marker_types.Marker) for one in gc.get_objects()))

    draw(0)
    before = left()
    for at in range(100):
        draw(at)
    assert left() == before
