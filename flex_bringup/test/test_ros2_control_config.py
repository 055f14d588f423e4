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
"""config/ros2_control.yaml: names are those of the UR5's tag, gains move and hold the arm."""
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from flex_bringup.launch_arguments import ArgumentError
from flex_bringup.ros2_control import check_controllers, check_hardware, write_controllers
from flex_description import bundled_robots, load_robot
from flex_dynamics import Model, largest_joint_inertia
from flex_dynamics.simulation.plant import Drives, Plant

FILE = Path(__file__).resolve().parents[1] / 'config' / 'ros2_control.yaml'
CONTENT = yaml.safe_load(FILE.read_text(encoding='utf-8'))
UR5 = load_robot('ur5')
JOINTS = [joint.name for joint in UR5.joints if joint.type != 'fixed']
BROADCASTER, POSITION, EFFORT = ('joint_state_broadcaster', 'joint_trajectory_controller',
                                 'effort_trajectory_controller')
START = np.array([0.0, -1.2, 1.6, -1.9708, -1.5708, 0.0])
UPDATE = 1.0 / CONTENT['controller_manager']['ros__parameters']['update_rate']      # s
STEP = 0.001            # s
DRIVE_BANDWIDTH = yaml.safe_load((FILE.parent / 'default.yaml').read_text())[
    '/**/simulator']['ros__parameters']['drive.bandwidth']


def parameters(name):
    return CONTENT[name]['ros__parameters']


def test_names_and_types():
    assert check_controllers(str(FILE), UR5, (BROADCASTER, POSITION), (POSITION, EFFORT)) == [
        BROADCASTER, POSITION, EFFORT]
    types = parameters('controller_manager')
    assert types[BROADCASTER]['type'] == 'joint_state_broadcaster/JointStateBroadcaster'
    for name, interface in ((POSITION, 'position'), (EFFORT, 'effort')):
        assert types[name]['type'] == 'joint_trajectory_controller/JointTrajectoryController'
        own = parameters(name)
        assert own['joints'] == JOINTS and own['command_interfaces'] == [interface]
        assert set(own['state_interfaces']) == {'position', 'velocity'}
        named = {key for key in own['constraints'] if isinstance(own['constraints'][key], dict)}
        assert named == set(JOINTS)
    assert parameters(BROADCASTER)['joints'] == JOINTS
    assert set(parameters(EFFORT)['gains']) == set(JOINTS)


def test_a_position_controller_starts_from_where_the_robot_is():
    """Else it sends the robot, activated after another controller, to its own last command."""
    own = CONTENT['joint_trajectory_controller']['ros__parameters']
    assert own['set_last_command_interface_value_as_state_on_activation'] is False
    gains = CONTENT['effort_trajectory_controller']['ros__parameters']['gains']
    assert {one['antiwindup_strategy'] for one in gains.values()} == {'none'}


def test_gains_are_what_the_comment_says():
    inertia = largest_joint_inertia(Model(UR5))
    for joint, moment in zip(JOINTS, inertia):
        own = parameters(EFFORT)['gains'][joint]
        assert own['p'] == pytest.approx(225.0 * moment, rel=0.01)
        assert own['i'] == pytest.approx(4.0 * own['p'], rel=0.01)
        assert own['ff_velocity_scale'] == pytest.approx(DRIVE_BANDWIDTH * moment, rel=0.01)
        assert own['i_clamp'] == next(one.limits.effort for one in UR5.joints if one.name == joint)


class TrajectoryController:
    """The control law of joint_trajectory_controller with the gains of the file."""

    def __init__(self):
        gains = parameters(EFFORT)['gains']
        self.p, self.i, self.clamp, self.feed = (
            np.array([gains[joint][key] for joint in JOINTS])
            for key in ('p', 'i', 'i_clamp', 'ff_velocity_scale'))
        self.integral = np.zeros(len(JOINTS))

    def update(self, wanted, speed, position):
        error = wanted - position
        self.integral = np.clip(self.integral + self.i * error * UPDATE, -self.clamp, self.clamp)
        return self.p * error + self.integral + self.feed * speed


@pytest.mark.parametrize('overlay, late', [(None, 1), ('ur5_flexible', 1), ('ur5_flexible', 2)])
def test_efforts_move_the_arm_and_hold_it(overlay, late):
    """Commands act `late` updates after their state, as over topics on a busy machine: 20 ms."""
    model = Model(load_robot('ur5', overlay))
    plant = Plant(model, STEP, 1, Drives(np.zeros(6), DRIVE_BANDWIDTH * largest_joint_inertia(
        model)), START, True, True, holds_start=True)
    plant.commands.partial = True
    controller, sent = TrajectoryController(), []
    change, duration = np.array([1.0, 0.4, -0.6, 0.5, 0.7, -0.8]), 3.0
    for update in range(round(8.0 / UPDATE)):
        u = min(update * UPDATE / duration, 1.0)
        wanted = START + change * (10 * u**3 - 15 * u**4 + 6 * u**5)
        speed = change * 30.0 * u**2 * (1.0 - u)**2 / duration
        sent.append(controller.update(wanted, speed, plant.q[:6]))
        if len(sent) > late:
            # What the hardware sends: NaN for the interfaces that nobody has claimed.
            nothing = np.full(6, np.nan)
            plant.commands.accept(JOINTS, sent.pop(0), nothing, nothing)
        for _ in range(round(UPDATE / STEP)):
            plant.advance()
    tolerance = [parameters(EFFORT)['constraints'][joint]['goal'] for joint in JOINTS]
    assert (np.abs(plant.q[:6] - wanted) < 0.1 * np.array(tolerance)).all()
    assert np.abs(plant.v[:6]).max() < 0.1 * parameters(EFFORT)['constraints'][
        'stopped_velocity_tolerance']


@pytest.mark.parametrize('name', sorted(bundled_robots()))
def test_every_bundled_robot_has_its_hardware_and_controllers(name):
    robot = load_robot(name)
    assert check_hardware(robot) == ('robot_joint_states', 'robot_joint_commands')
    path = Path(write_controllers(robot))
    try:
        assert check_controllers(str(path), robot, (BROADCASTER, POSITION), (EFFORT,)) == [
            BROADCASTER, POSITION, EFFORT]
        written = yaml.safe_load(path.read_text())
    finally:
        path.unlink()
    own = written[EFFORT]['ros__parameters']
    moving = [joint.name for joint in robot.joints
              if joint.type not in ('fixed', 'planar', 'floating') and not joint.passive]
    assert own['joints'] == list(own['gains']) == moving
    assert all(gain['p'] > 0.0 and np.isfinite(gain['i_clamp']) for gain in own['gains'].values())
    if name == 'ur5':
        assert written == CONTENT


@pytest.mark.parametrize('pattern, by, message', [
    ('JointStateTopicSystem', 'Other', 'expected one <ros2_control> tag .*found joint_state'),
    ('<ros2_control.*</ros2_control>', '', 'found no tag; write the tag by <xacro'),
    ('robot_joint_states', '/joint_states', "joint_state_broadcaster's, found '/joint_states'"),
    ('robot_joint_states', 'a b', "expected the name of a topic, found 'a b'"),
    ('robot_joint_states', 'robot_joint_commands', 'expected two topics'),
    ('<state_interface name="effort"/>', '', 'joint shoulder_pan_joint: .*found no effort')])
def test_hardware_that_would_fail_is_told_in_one_line(pattern, by, message):
    robot = load_robot(re.sub(pattern, by, UR5.urdf, count=1, flags=re.DOTALL))
    with pytest.raises(ArgumentError, match=message) as caught:
        check_hardware(robot)
    assert '\n' not in str(caught.value)


def test_topics_that_the_tag_leaves_out_are_those_of_the_hardware():
    text = re.sub('<param name="joint_.*?</param>', '', UR5.urdf)
    assert check_hardware(load_robot(text)) == ('/robot_joint_states', '/robot_joint_commands')


@pytest.mark.parametrize('pattern, by, message', [
    ('\njoint_state_broadcaster:', '\nbroadcaster:', 'expected the controller joint_state_broadc'),
    ('elbow_joint,', 'elbow,', "joints: expected joints of ur5, found 'elbow'; did you mean"),
    (r'command_interfaces: \[position\]', 'command_interfaces: [jerk]', 'commands the jerk of'),
    ('      type: joint_state_b', '      kind: joint_state_b', 'joint_state_broadcaster: type'),
    ('controller_manager:', ': [', 'controllers_file: .*while parsing')])
def test_controllers_that_do_not_fit_are_told_in_one_line(tmp_path, pattern, by, message):
    path = tmp_path / 'own.yaml'
    text = FILE.read_text()
    path.write_text(re.sub(pattern, by, text, count=1))
    assert path.read_text() != text
    with pytest.raises(ArgumentError, match=message) as caught:
        check_controllers(str(path), UR5, (BROADCASTER, POSITION), (POSITION, EFFORT))
    assert '\n' not in str(caught.value)
    with pytest.raises(ArgumentError, match='controllers_file: .*found no file'):
        check_controllers(str(tmp_path / 'none.yaml'), UR5, (BROADCASTER,), ())
