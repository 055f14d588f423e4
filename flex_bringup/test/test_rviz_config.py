"""The RViz configuration: displays, topics and words that RViz and our nodes know."""
from pathlib import Path

import numpy as np
import pytest
import yaml

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.frames import Frames
from flex_viz.pushes import Push
from flex_viz.reach import rviz_config
from flex_viz.robot_markers import RobotMarkers

RVIZ = Path(__file__).parents[1] / 'rviz'
NAMES = ('small_robot.rviz', 'robot.rviz', 'large_robot.rviz')
# Property names and words of Jazzy's displays; another one is ignored without a word.
KNOWN = {
    'rviz_default_plugins/Grid': {'Cell Size', 'Color', 'Alpha', 'Plane Cell Count'},
    'rviz_default_plugins/MarkerArray': {'Topic', 'Namespaces'},
    'rviz_default_plugins/RobotModel': {'Description Source', 'Description Topic', 'TF Prefix'},
    'rviz_default_plugins/TF': {'Marker Scale', 'Show Names', 'Show Axes', 'Show Arrows'}}
TOPIC = {'Value': None, 'Depth': None, 'History Policy': {'Keep Last', 'Keep All'},
         'Reliability Policy': {'Reliable', 'Best Effort'},
         'Durability Policy': {'Volatile', 'Transient Local'}}


def read(name):
    return yaml.safe_load((RVIZ / name).read_text(encoding='utf-8'))['Visualization Manager']


@pytest.fixture(scope='module', params=NAMES)
def displays(request):
    return {display['Class']: display for display in read(request.param)['Displays']}


def test_configurations_differ_in_size_only_and_suit_the_robots():
    configs = [read(name) for name in NAMES]
    sizes = [(config['Displays'][0].pop('Cell Size'), config['Displays'][3].pop('Marker Scale'),
              config['Views']['Current'].pop('Distance'),
              config['Views']['Current']['Focal Point'].pop('Z')) for config in configs]
    assert configs[0] == configs[1] == configs[2]
    assert all(low < high for some in zip(*sizes) for low, high in zip(some, some[1:]))
    for robot, name in (('lab_link', NAMES[0]), ('ur5', NAMES[0]), ('cibicik_arm', NAMES[1]),
                        ('canadarm', NAMES[2])):
        assert rviz_config(load_robot(robot)) == name


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
    push = Push(drawing._tip, np.ones(3), np.ones(3))
    drawn = {marker.ns for marker in drawing.at(0.0, np.zeros(model.n), [push])}
    assert displays['rviz_default_plugins/MarkerArray']['Namespaces'] == {
        name: True for name in sorted(drawn | {'rigid', 'mode'})}


@pytest.mark.parametrize('name', ['cibicik_arm', 'canadarm', 'flexible_tree', 'ur5'])
def test_robot_model_finds_a_frame_for_every_link(name):
    model = Model(load_robot(name))
    frames = Frames(model)
    children = {child for _, child in frames.fixed.pairs + frames.moving.pairs}
    links = [link.name for link in model.robot.links]
    assert set(links[1:]) <= children and links[0] not in children
