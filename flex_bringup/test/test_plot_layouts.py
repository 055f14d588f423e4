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
"""Layouts of PlotJuggler and Foxglove: every topic and field in them is one that a run has."""
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import FlexState, StrainGauges

CONFIG = Path(__file__).parents[1] / 'config'
ROOT = Path(__file__).parents[2]
# Topics of sim.launch.py with the default robot, as the graph has them, without a namespace.
TOPICS = {
    '/joint_states': JointState, '/joint_commands': JointState, '/flex_state': FlexState,
    '/strain_gauges': StrainGauges, '/imu/tip_imu': Imu, '/markers': MarkerArray,
    '/control/controller_state': JointTrajectoryControllerState, '/diagnostics': DiagnosticArray,
    '/robot_description': String}
# What a source file says where the topic is made.
PUBLISHERS = {
    '/joint_states': "'joint_states'", '/joint_commands': 'JOINT_COMMANDS',
    '/flex_state': "'flex_state'", '/strain_gauges': "'strain_gauges'", '/imu/tip_imu': "f'imu/{",
    '/markers': "'markers'", '/control/controller_state': "'~/controller_state'",
    '/diagnostics': "'/diagnostics'", '/robot_description': 'String, merged'}
# Where that is not the name itself: what gives it.
NAMED = ("JOINT_COMMANDS = 'joint_commands'", "'merged_description_topic', 'robot_description'")


@pytest.fixture(scope='module')
def model():
    return Model(load_robot('cibicik_arm'))


def check_path(topic, fields, model):
    """Follow fields, such as error.positions[2], into the message of a topic."""
    message = TOPICS[topic]()
    for step in fields:
        name, _, index = step.partition('[')
        assert name in message.get_fields_and_field_types(), f'{topic}: {step}'
        message = getattr(message, name)
        if index:
            number = int(index.removesuffix(']'))
            sizes = {'/flex_state': model.n, '/strain_gauges': sum(
                len(link.flexible.gauges) for link in model.robot.links if link.flexible)}
            assert 0 <= number < sizes.get(topic, model.n_joints), f'{topic}: {step}'
    assert isinstance(message, float) or getattr(message, 'typecode', '') == 'd', (
        f'{topic}: {fields} is no number but {type(message).__name__}')


def topic_of(path):
    found = [topic for topic in TOPICS if re.match(re.escape(topic) + r'[./]', path)]
    assert len(found) == 1, path
    return found[0], path[len(found[0]) + 1:]


def test_topics_are_published_under_these_names():
    text = '\n'.join(path.read_text() for package in ('flex_dynamics', 'flex_control', 'flex_viz',
                                                      'flex_ros')
                     for path in (ROOT / package / package).rglob('*.py'))
    assert set(PUBLISHERS) == set(TOPICS)
    for words in PUBLISHERS.values():
        assert re.search(r'(create_publisher|RecordedPublisher)\(\s*[^()]*' + re.escape(words),
                         text), words
    for words in NAMED:
        assert words in text, words
    assert [imu.name for imu in load_robot('cibicik_arm').imus] == ['tip_imu']


def test_plotjuggler(model):
    root = ElementTree.parse(CONFIG / 'plotjuggler_layout.xml').getroot()
    assert root.tag == 'root' and root.find('tabbed_widget') is not None
    assert root.get('version') == '2.3.8'       # else older releases ask whether to go on
    used = set()
    for plot in root.iter('plot'):
        assert plot.findall('curve')
        for curve in plot.iter('curve'):
            topic, rest = topic_of(curve.get('name'))
            steps = rest.split('/')
            if TOPICS[topic] is JointState:        # PlotJuggler sorts them by joint
                assert steps[0] in model.joint_names
                steps = steps[1:]
            check_path(topic, steps, model)
            assert re.fullmatch('#[0-9a-f]{6}', curve.get('color'))
            used.add(topic)
    for splitter in root.iter('DockSplitter'):
        assert len(splitter) == int(splitter.get('count')) == len(
            splitter.get('sizes').split(';'))
    for plugin in root.iter('plugin'):
        assert set(plugin.find('selected_topics').get('value').split(';')) == used
    assert {'/joint_states', '/flex_state', '/joint_commands'} <= used


def panels(layout):
    return [layout] if isinstance(layout, str) else [
        *panels(layout['first']), *panels(layout['second'])]


def test_foxglove(model):
    layout = json.loads((CONFIG / 'foxglove_layout.json').read_text())
    # Every panel is shown once.
    assert sorted(panels(layout['layout'])) == sorted(layout['configById'])
    for name, panel in layout['configById'].items():
        kind = name.partition('!')[0]
        # Lichtblick, which came out of Foxglove, has another key.
        assert panel.get('foxglovePanelTitle') == panel.get('lichtblickPanelTitle')
        if kind == 'Plot':
            for path in panel['paths']:
                topic, rest = topic_of(path['value'])
                check_path(topic, rest.split('.'), model)
                number = re.search(r'\[(\d+)\]$', path['value'])
                if topic == '/flex_state' or TOPICS[topic] is JointState:
                    assert path['label'] == model.names[int(number[1])]
                assert 'header' in TOPICS[topic].get_fields_and_field_types()
                assert path['timestampMethod'] == 'headerStamp'
        elif kind == '3D':
            assert set(panel['topics']) <= set(TOPICS)
            assert panel['followTf'] == model.robot.links[0].name
        else:
            assert (kind, panel['topicToRender']) == ('DiagnosticSummary', '/diagnostics')


def test_both_are_installed():
    share = Path(get_package_share_directory('flex_bringup')) / 'config'
    for name in ('plotjuggler_layout.xml', 'foxglove_layout.json'):
        assert (share / name).read_text() == (CONFIG / name).read_text()
