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
"""Arguments of the launch files: the start pose, and parameter files that cannot be used."""
from pathlib import Path

import pytest
import yaml
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument

from flex_bringup.launch_arguments import (
    ArgumentError,
    check_beside,
    check_params_file,
    driver,
    load_robot_once,
    refuse_unknown_arguments,
    start_positions,
    viewer_goals,
)
from flex_description import RobotError, load_robot
from flex_dynamics import Model
from flex_viz.browser.goals import read_goals

CONFIG = Path(__file__).resolve().parents[1] / 'config'
SRDF = """<robot name="ur5"><group name="arm"/><group_state name="ready" group="arm">
  <joint name="elbow_joint" value="1.5"/></group_state></robot>"""


def start(robot, text='', srdf='', params_file=CONFIG / 'default.yaml'):
    context = LaunchContext()
    context.launch_configurations.update(start=text, srdf=str(srdf), params_file=str(params_file))
    return start_positions(context, load_robot(robot))


def test_an_empty_start_leaves_the_parameter_alone():
    assert start('ur5') == {}


def test_numbers_and_pairs():
    assert start('cibicik_arm', '0 0.5 2 0.5') == {'start.positions': [0.0, 0.5, 2.0, 0.5]}
    assert start('cibicik_arm', 'joint3=1') == {'start.positions': [0.0, 0.0, 1.0, 0.0]}


def test_names_of_goals_and_of_group_states(tmp_path):
    path = tmp_path / 'ur5.srdf'
    path.write_text(SRDF)
    assert start('ur5', 'ready', path) == {'start.positions': [0.0, 0.0, 1.5, 0.0, 0.0, 0.0]}
    assert start('ur5', 'arm/ready', path)['start.positions'][2] == 1.5
    file = CONFIG / 'cibicik_manoeuvre.yaml'
    assert start('cibicik_arm', 'folded', params_file=file) == {
        'start.positions': [0.0, 0.5236, 2.0944, 0.5236]}
    with pytest.raises(RobotError, match='start: .* found "foldet"; .*did you mean "folded"?'):
        start('cibicik_arm', 'foldet', params_file=file)


def test_group_states_are_goals_of_the_viewer(tmp_path):
    path = tmp_path / 'arm.srdf'
    path.write_text("""<robot name="arm"><group name="all"/>
      <group_state name="bent" group="all"><joint name="joint2" value="1.25"/></group_state>
      <group_state name="far" group="all"><joint name="joint2" value="99"/></group_state>
      </robot>""")
    context = LaunchContext()
    context.launch_configurations.update(
        robot='cibicik_arm', overlay='', srdf=str(path),
        params_file=str(CONFIG / 'cibicik_manoeuvre.yaml'))
    file, = viewer_goals(context)
    goals = yaml.safe_load(Path(file).read_text())['/**/viewer']['ros__parameters']['goals']
    Path(file).unlink()
    assert goals[0] == 'folded: 0 0.5236 2.0944 0.5236'
    assert goals[4:] == ['bent: 0 1.25 0 0']
    assert set(read_goals(Model(load_robot('cibicik_arm')), goals)) == {
        'folded', 'stretched', 'turned', 'upright', 'bent'}
    context.launch_configurations['srdf'] = ''
    assert viewer_goals(context) == []


def test_a_bad_srdf_is_told_although_no_start_is_given(tmp_path):
    with pytest.raises(RobotError, match='nowhere.srdf: .*no such file'):
        start('ur5', srdf=tmp_path / 'nowhere.srdf')


@pytest.mark.parametrize('content, message', [
    (None, 'params_file: expected a YAML file with parameters of nodes, found no file: '),
    ('a: [1', 'found .*while parsing'),
    ('- 1', 'found .*: list in place of a mapping'),
    (b'\xff\xfe', "found .*: 'utf-8' codec"),
    (b' ' * (2**20 + 1), 'found more than 1 MB'),
])
def test_a_file_that_nodes_cannot_read_is_told_in_one_line(tmp_path, content, message):
    path = tmp_path / 'parameters.yaml'
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ArgumentError, match=message) as caught:
        check_params_file(str(path))
    assert '\n' not in str(caught.value)


def test_our_own_files_are_read():
    for path in CONFIG.glob('*.yaml'):
        assert check_params_file(str(path)) == yaml.safe_load(path.read_text())


def test_warnings_about_the_robot_are_left_to_a_node(tmp_path, caplog):
    path = tmp_path / 'arm.urdf'
    path.write_text('<robot name="arm"><link name="base" typ="box"/></robot>')
    context = LaunchContext()
    context.launch_configurations.update(robot=str(path), overlay='')
    assert len(load_robot_once(context).warnings) == 1
    assert caplog.records == []


def driver_of(**given):
    context = LaunchContext()
    context.launch_configurations.update({'driver': 'auto', 'control': 'true', 'sync': 'free',
                                          'in_process': 'false', **given})
    return driver(context)


def test_without_the_control_node_the_driver_is_independent():
    assert driver_of() == 'answering'
    assert driver_of(control='false') == 'independent'
    assert driver_of(control='false', driver='answering', sync='lockstep') == 'answering'


@pytest.mark.parametrize('given, words', [
    ({'control': 'false', 'sync': 'lockstep'}, 'sync: expected free with control:=false'),
    ({'driver': 'independent'}, 'did you mean control:=false'),
    ({'driver': 'independent', 'in_process': 'true'}, 'expected answering beside the control')])
def test_drivers_that_contradict_the_rest_are_refused(given, words):
    with pytest.raises(ArgumentError, match=words):
        driver_of(**given)


@pytest.mark.parametrize('package', ['flex_bringup', None])
def test_misspelt_arguments_are_refused(monkeypatch, tmp_path, package):
    file = tmp_path / 'sim.launch.py'
    file.touch()
    description = LaunchDescription([DeclareLaunchArgument('order', default_value='second'),
                                     DeclareLaunchArgument('robot', default_value='')])

    def check(*given):
        monkeypatch.setattr('sys.argv', ['ros2', 'launch', *([package] if package else []),
                                         'sim.launch.py' if package else str(file), *given])
        refuse_unknown_arguments(LaunchContext(argv=given), str(file), description)

    check('order:=first', 'robot:=a:=b', 'launch-prefix:=gdb')
    with pytest.raises(ArgumentError, match='sim.launch.py: .* found ordr; did you mean "order"'):
        check('robot:=ur5', 'ordr:=first')


@pytest.mark.parametrize('words', [['pytest'], ['ros2', 'launch', 'mine', 'sim.launch.py']])
def test_arguments_of_an_including_launch_file_are_left_to_it(monkeypatch, words):
    monkeypatch.setattr('sys.argv', words)
    refuse_unknown_arguments(LaunchContext(argv=['mine:=1']), '/there/sim.launch.py',
                             LaunchDescription([]))


def test_every_launch_file_checks_its_arguments():
    for path in (CONFIG.parent / 'launch').glob('*.launch.py'):
        assert 'checked_description(__file__, [' in path.read_text(), path.name


def beside(**given):
    context = LaunchContext()
    context.launch_configurations.update({
        'robot': '', 'robot_description_topic': 'robot_description', 'overlay': '',
        'frame_prefix': 'flex/', 'merged_description_topic': 'flex/robot_description', **given})
    check_beside(context)
    return [context.launch_configurations[name]
            for name in ('robot_source', 'description_topic', 'join_root')]


def test_beside_a_driver_the_robot_comes_from_its_topic_or_a_file():
    assert beside() == ['', 'robot_description', 'true']
    assert beside(robot='ur5', overlay='ur5_flexible', frame_prefix='') == ['ur5', '', 'false']


@pytest.mark.parametrize('given, reason', [
    ({'robot_description_topic': ''}, 'robot: expected a robot, or a topic'),
    ({'merged_description_topic': 'robot_description'}, 'expected another topic than'),
    ({'overlay': '/nowhere/arm.yaml'}, 'overlay: expected a YAML file, found none'),
    ({'robot': 'ur5', 'overlay': '/nowhere/arm.yaml'}, 'no such file'),
    ({'robot': 'canadrm'}, 'did you mean "canadarm"')])
def test_arguments_of_beside_that_cannot_be_used_are_told(given, reason):
    with pytest.raises((ArgumentError, RobotError), match=reason):
        beside(**given)
