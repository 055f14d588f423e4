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
"""The RViz configuration: displays, topics and words that RViz and our nodes know."""
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from flex_bringup.rviz_view import cell, write_view
from flex_description import load_robot
from flex_dynamics import Model
from flex_viz import Frames, reach
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.rviz.robot_markers import RobotMarkers

RVIZ = Path(__file__).parents[1] / 'rviz' / 'robot.rviz'
# Property names and words of Jazzy's displays; another one is ignored without a word.
KNOWN = {
    'rviz_default_plugins/Grid': {'Cell Size', 'Color', 'Alpha', 'Plane Cell Count'},
    'rviz_default_plugins/MarkerArray': {'Topic', 'Namespaces'},
    'rviz_default_plugins/RobotModel': {'Description Source', 'Description Topic', 'TF Prefix'},
    'rviz_default_plugins/TF': {'Marker Scale', 'Show Names', 'Show Axes', 'Show Arrows'}}
TOPIC = {'Value': None, 'Depth': None, 'History Policy': {'Keep Last', 'Keep All'},
         'Reliability Policy': {'Reliable', 'Best Effort'},
         'Durability Policy': {'Volatile', 'Transient Local'}}


def read(path=RVIZ):
    return yaml.safe_load(Path(path).read_text(encoding='utf-8'))


@pytest.fixture(scope='module')
def displays():
    return {one['Class']: one for one in read()['Visualization Manager']['Displays']}


@pytest.mark.parametrize('name', ['lab_link', 'ur5', 'cibicik_arm', 'canadarm'])
def test_the_view_is_fitted_to_the_robot_and_all_else_stays(name):
    robot = load_robot(name)
    path = Path(write_view(robot))
    try:
        fitted, template = read(path), read()
    finally:
        path.unlink()
    view, size = fitted['Visualization Manager']['Views']['Current'], reach(robot)
    # Upright, and stretched to any side, within the 45 degrees that RViz sees, 4 : 3.
    up, wide = view['Distance'] * math.tan(math.radians(22.5)) * np.array([1.0, 4.0 / 3.0])
    focus = [view['Focal Point'][axis] for axis in 'XYZ']
    assert focus[2] - 0.1 * size > 0.0 and size - focus[2] < up and size - focus[0] < wide
    assert view['Distance'] < 2.0 * size and view['Near Clip Distance'] < 0.02 * size
    grid, axes = (fitted['Visualization Manager']['Displays'][at] for at in (0, 3))
    assert 0.1 * size < grid['Cell Size'] <= 0.3 * size and axes['Marker Scale'] < 0.5 * size
    for config in (fitted, template):
        config['Visualization Manager'].pop('Views')
        config['Visualization Manager']['Displays'][0].pop('Cell Size')
        config['Visualization Manager']['Displays'][3].pop('Marker Scale')
    assert fitted == template


def test_a_robot_may_be_called_what_no_file_can_be():
    path = Path(write_view(replace(load_robot('lab_link'), name='arm/of two links')))
    path.unlink()
    assert path.name.startswith('arm_of_two_links_')


def test_cells_of_the_grid_are_round_numbers():
    assert [cell(most) for most in (1.0, 1.9, 2.0, 4.9, 9.9, 0.03)] == pytest.approx(
        [1.0, 1.0, 2.0, 2.0, 5.0, 0.02])


def test_panels_leave_room_for_the_picture():
    """Without a state of its docks RViz makes them as wide as they like, the view a tenth."""
    state = bytes.fromhex(read()['Window Geometry']['QMainWindow State'])
    for panel in read()['Panels']:
        assert panel['Name'].encode('utf-16-be') in state


def test_displays_have_properties_that_rviz_knows(displays):
    assert set(displays) == set(KNOWN)
    for name, display in displays.items():
        assert set(display) <= KNOWN[name] | {'Class', 'Name', 'Enabled'}, name
        assert isinstance(display['Enabled'], bool)
        for topic in (display[key] for key in ('Topic', 'Description Topic') if key in display):
            assert set(topic) <= set(TOPIC) and topic['Depth'] >= 1
            assert all(value in (TOPIC[key] or {value}) for key, value in topic.items())


def test_topics_are_relative_and_suit_the_publishers(displays):
    """Relative: under a namespace RViz is in it too. QoS as the publishers have it."""
    markers = displays['rviz_default_plugins/MarkerArray']['Topic']
    assert markers['Value'] == 'markers' and markers['Durability Policy'] == 'Volatile'
    described = displays['rviz_default_plugins/RobotModel']['Description Topic']
    assert described['Value'] == 'robot_description'
    assert described['Durability Policy'] == 'Transient Local'
    assert displays['rviz_default_plugins/MarkerArray']['Enabled']


def test_every_namespace_that_is_drawn_is_shown(displays):
    model = Model(load_robot('lab_link'))
    drawing = RobotMarkers(model)
    push = AppliedWrench(drawing.tip, np.ones(3), np.ones(3))
    drawn = {marker.ns for marker in drawing.at(0.0, np.zeros(model.n), [push])}
    assert displays['rviz_default_plugins/MarkerArray']['Namespaces'] == dict.fromkeys(
        drawn | {'rigid', 'mode'}, True)


@pytest.mark.parametrize('name', ['cibicik_arm', 'canadarm', 'flexible_tree', 'ur5'])
def test_robot_model_finds_a_frame_for_every_link(name):
    model = Model(load_robot(name))
    frames = Frames(model)
    children = {child for _, child in frames.fixed.pairs + frames.moving.pairs}
    links = [link.name for link in model.robot.links]
    assert set(links[1:]) <= children and links[0] not in children


def test_moveit_has_its_panel_beside_the_same_markers():
    """moveit.rviz differs from robot.rviz by what MoveIt draws; write_view fits it, too."""
    path = Path(write_view(load_robot('panda'), 'moveit.rviz'))
    try:
        fitted = read(path)['Visualization Manager']
    finally:
        path.unlink()
    template = read()['Visualization Manager']
    assert fitted['Displays'][1] == template['Displays'][1]          # the bent robot
    grid, _, planning = fitted['Displays']
    assert grid['Cell Size'] < 0.5
    assert planning['Class'] == 'moveit_rviz_plugin/MotionPlanning'
    assert planning['Robot Description'] == 'robot_description'
    assert {'Class': 'rviz_default_plugins/Interact'} in fitted['Tools']      # drags the goal
