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
"""The MoveIt configurations of the UR5 and the Panda: each file fits the robot and the others."""
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from link_capsules import LinkCapsules

from flex_bringup.launch_arguments import ArgumentError
from flex_bringup.moveit_config import check_srdf, read_moveit_config
from flex_description import RobotError, load_robot, read_group_states, read_pose
from flex_dynamics import Model

MOVEIT = Path(__file__).resolve().parents[1] / 'config' / 'moveit'
GROUPS = {'ur5': 'arm', 'panda': 'panda_arm'}
ROBOTS = {name: load_robot(name) for name in GROUPS}
both = pytest.mark.parametrize('name', GROUPS)


def srdf(name):
    return ElementTree.parse(MOVEIT / name / f'{name}.srdf').getroot()


def moving(name):
    return [joint for joint in ROBOTS[name].joints if joint.type != 'fixed']


def content(path):
    return yaml.safe_load(path.read_text(encoding='utf-8'))


@both
def test_the_group_moves_all_joints_from_the_base_to_the_tip(name):
    groups, warnings = check_srdf(srdf(name), ROBOTS[name], 'srdf')
    assert warnings == []
    assert groups == {GROUPS[name]: {joint.name for joint in moving(name)}}
    chain, = srdf(name).findall('group/chain')
    assert chain.get('base_link') == ROBOTS[name].links[0].name
    children = {joint.child for joint in ROBOTS[name].joints}
    parents = {joint.parent for joint in ROBOTS[name].joints}
    assert chain.get('tip_link') in children - parents


@both
def test_group_states_name_all_joints_within_their_limits(name):
    states = read_group_states(ROBOTS[name], MOVEIT / name / f'{name}.srdf')
    assert 'home' in states and len(srdf(name).findall('group_state')) >= 3
    for state, positions in states.items():
        assert set(positions) == {joint.name for joint in moving(name)}
        read_pose(ROBOTS[name], state, states)          # RobotError beyond a limit


@both
def test_collision_pairs(name):
    """Neighbours touch; pairs that are never checked never meet; others are free somewhere; and
    all group states are free of collisions."""
    capsules = LinkCapsules(name)
    disabled = {frozenset((one.get('link1'), one.get('link2'))): one.get('reason')
                for one in srdf(name).findall('disable_collisions')}
    assert len(disabled) == len(srdf(name).findall('disable_collisions'))
    assert {pair for pair, why in disabled.items() if why == 'Adjacent'} == {
        pair for pair in capsules.adjacent if pair <= set(capsules.shapes)}
    assert set(disabled.values()) == {'Adjacent', 'Never'} and set(disabled) <= set(capsules.pairs)
    rng = np.random.default_rng(6)
    least = dict.fromkeys(capsules.pairs, np.inf)
    most = dict.fromkeys(capsules.pairs, -np.inf)
    for _ in range(1000):
        for pair, clear in capsules.clearances(capsules.random_joints(rng)).items():
            least[pair], most[pair] = min(least[pair], clear), max(most[pair], clear)
    assert [pair for pair, why in disabled.items() if why == 'Never' and least[pair] <= 0.0] == []
    checked = [pair for pair in capsules.pairs if pair not in disabled]
    assert [pair for pair in checked if most[pair] <= 0.0] == []
    for state in srdf(name).findall('group_state'):
        where = {one.get('name'): float(one.get('value')) for one in state.findall('joint')}
        clear = capsules.clearances(np.array([where[joint.name] for joint in moving(name)]))
        assert min(clear[pair] for pair in checked) > 0.0, state.get('name')


@both
def test_joint_limits_have_accelerations_that_the_motors_reach(name):
    limits = content(MOVEIT / name / 'joint_limits.yaml')['joint_limits']
    assert list(limits) == [joint.name for joint in moving(name)]
    for joint in moving(name):
        own = limits[joint.name]
        assert own['has_velocity_limits'] is own['has_acceleration_limits'] is True
        assert 0.0 < own['max_velocity'] <= joint.limits.velocity
        assert 0.0 < own['max_acceleration'] < np.inf
    model = Model(ROBOTS[name])
    efforts = np.array([joint.limits.effort for joint in moving(name)])
    rates = np.array([limits[joint.name]['max_acceleration'] for joint in moving(name)])
    for state in ('home', 'upright'):
        where = read_pose(ROBOTS[name], state, read_group_states(
            ROBOTS[name], MOVEIT / name / f'{name}.srdf'))
        for sign in (1.0, -1.0):
            torque = model.inverse_dynamics(np.array(list(where.values())),
                                            np.zeros(model.n), sign * rates)
            assert (np.abs(torque) < efforts).all(), state


@both
def test_controllers_kinematics_and_pipelines_name_what_there_is(name):
    """The action is that of the control node, as sim.launch.py starts it."""
    config = read_moveit_config(MOVEIT / name, ROBOTS[name])
    manager = config.parameters['moveit_simple_controller_manager']
    controller, = manager['controller_names']
    launch = (MOVEIT.parents[1] / 'launch' / 'sim.launch.py').read_text()
    assert f"executable='control', name='{controller}'" in launch
    action = Path(MOVEIT.parents[2], 'flex_control/flex_control/nodes/trajectory_action.py')
    assert f"'~/{manager[controller]['action_ns']}'" in action.read_text()
    assert manager[controller]['type'] == 'FollowJointTrajectory'
    assert manager[controller]['joints'] == [joint.name for joint in moving(name)]
    # What the file says is what move_group gets: nothing had to be replaced.
    given = content(MOVEIT / name / 'moveit_controllers.yaml')
    assert {key: config.parameters[key] for key in given} == given and config.warnings == []
    assert config.parameters['trajectory_execution']['allowed_start_tolerance'] == 0.01
    assert set(config.parameters['robot_description_kinematics']) == {GROUPS[name]}
    for pipeline in config.parameters['planning_pipelines']:
        own = config.parameters[pipeline]
        assert own['planning_plugins'] and own['request_adapters'] and own['response_adapters']
    assert 'default_planning_response_adapters/AddTimeOptimalParameterization' in (
        config.parameters['ompl']['response_adapters'])
    assert config.parameters['ompl'][GROUPS[name]]['planner_configs'] == list(
        config.parameters['ompl']['planner_configs']) == ['RRTConnect', 'RRTstar']
    planning = config.parameters['robot_description_planning']
    assert set(planning) >= {'joint_limits', 'cartesian_limits'}
    assert config.parameters['robot_description_semantic'].endswith('</robot>\n')
    assert set(config.display) < set(config.parameters)


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(MOVEIT / 'ur5', tmp_path / 'own')
    return tmp_path / 'own'


def test_a_configuration_of_the_setup_assistant_works_unchanged(folder):
    """Its controllers have other names and types: the control node takes their joints over."""
    given = content(folder / 'moveit_controllers.yaml')
    joints = given['moveit_simple_controller_manager'].pop('control')['joints']
    given['moveit_simple_controller_manager'] = {
        'controller_names': ['arm_controller', 'wrist_controller', 'hand'],
        'arm_controller': {'type': 'FollowJointTrajectory', 'action_ns': 'x',
                           'joints': joints[:4]},
        'wrist_controller': {'type': 'FollowJointTrajectory', 'joints': joints[4:]},
        'hand': {'type': 'GripperCommand', 'joints': ['finger']}}
    (folder / 'moveit_controllers.yaml').write_text(yaml.safe_dump(given))
    (folder / 'ompl_planning.yaml').write_text('planning_plugins: [mine]')
    config = read_moveit_config(folder, ROBOTS['ur5'])
    assert config.parameters['moveit_simple_controller_manager'] == {
        'controller_names': ['control'],
        'control': {'type': 'FollowJointTrajectory', 'action_ns': 'follow_joint_trajectory',
                    'default': True, 'joints': joints}}
    warning, = config.warnings
    assert 'hand is left out' in warning
    assert config.parameters['ompl'] == {'planning_plugins': ['mine']}


@pytest.mark.parametrize('file, pattern, by, message', [
    ('ur5.srdf', 'tip_link="tool0"', 'tip_link="tool"', '<chain> link: expected a link'),
    ('ur5.srdf', 'base_link="base_link" tip_link="tool0"',
     'base_link="tool0" tip_link="base_link"',
     "expected a tip_link below 'tool0'"),
    ('ur5.srdf', 'group="arm"', 'group="leg"', "group: expected a group of ur5, found 'leg'"),
    ('ur5.srdf', '<joint name="elbow_joint"', '<joint name="elbow"', 'name: expected a joint'),
    ('ur5.srdf', 'name="ur5"', 'name="ur10"', "expected the SRDF of 'ur5', found that of 'ur10'"),
    ('ur5.srdf', '</robot>', '', 'ur5.srdf'),
    ('ur5.srdf', '<group name="arm">', '<group name="arm"><group name="arm"/>', 'contains itself'),
    ('kinematics.yaml', 'arm:', 'leg:', "expected groups of ur5.srdf, found 'leg'"),
    ('joint_limits.yaml', 'elbow_joint', 'elbow', "found 'elbow'; did you mean"),
    ('joint_limits.yaml', 'max_velocity: 3.1416', 'max_velocity: -1', 'a positive number'),
    ('joint_limits.yaml', 'max_acceleration: 5.0', 'max_acceleration: fast', "found 'fast'"),
    ('joint_limits.yaml', 'joint_limits:', 'limits:', 'expected joint_limits with one entry'),
    ('moveit_controllers.yaml', '- elbow_joint', '- elbow', 'expected joints of ur5'),
    ('moveit_controllers.yaml', 'type: Follow', 'type: Lead', 'FollowJointTrajectory and its'),
    ('moveit_controllers.yaml', r'\[control\]', '[control, hand]', 'of the controller hand'),
    ('moveit_controllers.yaml', 'moveit', '[moveit', 'found .*while parsing')])
def test_what_does_not_fit_is_told_in_one_line(folder, file, pattern, by, message):
    text = (folder / file).read_text()
    changed = re.sub(pattern, by, text, count=1)
    assert changed != text
    (folder / file).write_text(changed)
    with pytest.raises((ArgumentError, RobotError), match=message) as caught:
        read_moveit_config(folder, ROBOTS['ur5'])
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('file, pattern, by, message', [
    ('ur5.srdf', 'link2="shoulder_link"', 'link2="shoulder"', "found 'shoulder'; did you mean"),
    ('ur5.srdf', 'value="1.6"', 'value="9"', 'group_state arm/home: .*elbow_joint.*found 9'),
    ('joint_limits.yaml', 'max_velocity: 3.1416', 'max_velocity: 4', 'at most 3.1416.*found 4')])
def test_what_moveit_can_live_with_is_a_warning(folder, file, pattern, by, message):
    """Published configurations have poses beyond the limits, and links that a variant lacks."""
    text = (folder / file).read_text()
    (folder / file).write_text(re.sub(pattern, by, text, count=1))
    config = read_moveit_config(folder, ROBOTS['ur5'])
    warning, = config.warnings
    assert re.search(message, warning) and '\n' not in warning
    assert ('home' in config.states) == ('home' not in warning)


@pytest.mark.parametrize('file', ['ur5.srdf', 'kinematics.yaml', 'joint_limits.yaml',
                                  'moveit_controllers.yaml'])
def test_a_missing_file_is_named(folder, file):
    (folder / file).unlink()
    with pytest.raises(ArgumentError, match=re.escape(file.replace('ur5', ''))):
        read_moveit_config(folder, ROBOTS['ur5'])
    with pytest.raises(ArgumentError, match='expected a folder'):
        read_moveit_config(folder / 'none', ROBOTS['ur5'])
