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
"""Default gains on every bundled robot: stable with a margin, scaled with mass, in one place."""
import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import flex_description
from flex_control import (
    ControlError,
    MinimumJerk,
    Splines,
    available_controllers,
    make_controller,
    run_trial,
    sampled_loop,
)
from flex_control.controllers import DEFAULT_CONTROLLER
from flex_control.design import lqr_design
from flex_control.design.gains import FASTEST, first_frequency, poses, shared_inertia
from flex_description import load_robot
from flex_dynamics import Model

BUNDLED = sorted((Path(flex_description.__file__).parent / 'robots').glob('*.urdf*'))
CONSTRAINED = [path.name.split('.')[0] for path in BUNDLED
               if re.search('<(loop|wheel|support) ', path.read_text())]
# Poles of all coordinates; those of closed loops are in test_constrained_control.py.
ROBOTS = [name for path in BUNDLED if (name := path.name.split('.')[0]) not in CONSTRAINED]
BRINGUP = Path(__file__).resolve().parents[2] / 'flex_bringup'
PERIOD = 2e-3       # s, as in flex_bringup/config/default.yaml

ARM = """<robot name="arm"><link name="base"/>
 <link name="slide"><inertial><mass value="{m}"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="{m}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="hand"><inertial><origin xyz="0.1 0 0"/><mass value="{h}"/>
  <inertia ixx="{h}" iyy="{h}" izz="{h}" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="root" type="{root}"><parent link="base"/><child link="slide"/>{axis}</joint>
 <joint name="shoulder" type="continuous"><parent link="slide"/><child link="upper"/>
  <axis xyz="0 1 0"/></joint>
 <joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/>
  <origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint></robot>"""
SLIDES = {'root': 'prismatic',
          'axis': '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1000" velocity="1"/>'}
FLOATS = {'root': 'floating', 'axis': ''}


def arm(mass=10.0, **root):
    return Model(load_robot(ARM.format(m=mass, i=0.01 * mass, h=0.001 * mass, **root)))


@pytest.fixture(scope='module', params=ROBOTS)
def model(request):
    return Model(load_robot(request.param))


def continuous_poles(model, controller, joints, gain):
    """Poles of pid about rest, the integral included, with all gains times `gain`."""
    n, count = model.n, model.n_joints
    q, tau = model.statics(joints)
    A, B = model.linearize(q, np.zeros(n), tau)
    size = 2 * n + count
    loop = np.zeros((size, size))
    loop[:2 * n, :2 * n] = A
    loop[2 * n:, :count] = np.eye(count)
    feedback = np.zeros((count, size))
    feedback[:, :count] = np.diag(controller.kp)
    feedback[:, n:2 * n] = controller.kd[:, None] * np.asarray(model.input_matrix()).T
    feedback[:, 2 * n:] = np.diag(controller.ki)
    loop[:2 * n] -= gain * B @ feedback
    return np.linalg.eigvals(loop)


def test_the_default_controller_is_stable_with_a_margin_on_every_robot(model):
    """Gains by 0.6 to 1.7 times as large keep it so; undamped motions out of reach may stay."""
    controller = make_controller(DEFAULT_CONTROLLER, model)
    if any(link.flexible and link.flexible.pinned for link in model.robot.links):
        assert 'pinned basis' in controller.warning()
        return
    assert controller.warning() == ''
    for joints in poses(model)[:3]:
        for gain in (0.6, 1.0, 1.7):
            found = continuous_poles(model, controller, joints, gain)
            assert found.real.max() < 1e-4, (joints, gain, found[np.argmax(found.real)])


@pytest.mark.parametrize('name', ['pd', 'pid', 'computed_torque', 'feedback_linearization'])
def test_the_sampled_loop_is_stable_or_refused_on_every_robot(model, name):
    try:
        controller = make_controller(name, model)
    except ControlError as error:
        assert str(error).startswith(name) and len(str(error)) > 40
        return
    if 'pinned basis' in controller.warning():
        return
    controller.set_drives(*controller.drive_gains())
    loop = sampled_loop(controller, poses(model)[1], PERIOD)
    assert loop.stable, (loop.rate, loop.frequency)


@pytest.mark.parametrize('robot', CONSTRAINED)
def test_robots_with_constraints_are_accepted_or_refused_with_the_reason(robot):
    model = Model(load_robot(robot))
    for name in available_controllers():
        try:
            controller = make_controller(name, model)
        except ControlError as error:
            assert len(str(error)) > 40
        else:
            assert np.isfinite(np.concatenate(controller.drive_gains())).all()


def test_gains_are_in_proportion_to_the_mass_and_of_their_own_units():
    light, heavy = arm(10.0, **SLIDES), arm(30.0, **SLIDES)
    assert np.allclose(make_controller('pid', heavy).kp[1:],
                       3.0 * make_controller('pid', light).kp[1:])
    controller = make_controller('pid', light)
    total = 10.0 + 10.0 + 0.01
    assert controller.kp[0] == pytest.approx(total * FASTEST**2)       # kg: no rotation in it
    assert controller.kp[0] / controller.kd[0] == pytest.approx(FASTEST / 2.0)


def test_a_wrist_shares_the_inertia_of_the_arm_and_a_floating_base_has_no_gains():
    model = arm(10.0, **FLOATS)
    shared = shared_inertia(model)
    assert (shared[:6] == 0.0).all() and (shared[6:] > 0.0).all()
    controller = make_controller(DEFAULT_CONTROLLER, model)
    assert (controller.kp[:6] == 0.0).all() and np.isfinite(controller.ki).all()
    with pytest.raises(ControlError, match='floating base root: use pid'):
        make_controller('lqr', model)


def test_lqr_refuses_motors_that_are_too_slow_for_it_and_too_many_coordinates():
    robot = load_robot('lab_link')
    slow = dataclasses.replace(robot, joints=tuple(
        dataclasses.replace(joint, limits=dataclasses.replace(joint.limits, velocity=1e-3))
        for joint in robot.joints))
    make_controller('lqr', Model(robot))
    with pytest.raises(ControlError, match=r'^lqr: joint1 is limited to 0.001 .* use pid'):
        make_controller('lqr', Model(slow))
    make_controller(DEFAULT_CONTROLLER, Model(slow))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lqr_design, 'MOST_COORDINATES', 2)
        with pytest.raises(ControlError, match='^lqg: expected at most 2 coordinates'):
            make_controller('lqg', Model(robot))


def test_the_first_frequency_is_the_lowest_of_many_poses():
    model = Model(load_robot('cibicik_arm'))
    q = np.zeros(model.n)
    locked = model.frequencies(q, joints='locked')[0][0]
    assert first_frequency(model) <= locked
    assert first_frequency(arm(**SLIDES)) == np.inf


def test_files_leave_gains_to_the_controllers():
    given = yaml.safe_load((BRINGUP / 'config' / 'default.yaml').read_text())
    names = {key.split('.')[0] for key in given['/**/control']['ros__parameters']}
    assert not names & {*available_controllers(), 'controller'}
    launch = (BRINGUP / 'launch' / 'sim.launch.py').read_text()
    assert f"'controller', default_value='{DEFAULT_CONTROLLER}'" in launch


def test_feedback_linearization_warns_of_a_vibration_that_it_leaves():
    arm_of_steel = Model(load_robot('cibicik_arm'))
    warning = make_controller('feedback_linearization', arm_of_steel).warning()
    assert 'or more to decay to 1 %' in warning and 'shaper: zvd' in warning
    damped = make_controller('feedback_linearization', Model(load_robot('flexible_tree')))
    assert damped.warning() == ''
    assert make_controller('pid', arm_of_steel).warning() == ''


def test_lqg_refuses_links_that_bend_far_and_says_what_to_use():
    """Its filter is linear about the wanted pose."""
    with pytest.raises(ControlError, match='0.47 Hz.* use pid or pd, or lqr'):
        make_controller('lqg', Model(load_robot('lin_lewis_rfr')))


def test_lqr_softens_for_an_arm_that_bends_slower_than_its_motors_move_it():
    """The Canadarm, 0.15 Hz: with 17 mm as tip_error, in proportion to its reach, the deflection
    of its own motions saturates the motors, and a move of 9 mrad threw a joint 6 rad off."""
    canadarm = Model(load_robot('canadarm'))
    for name in ('lqr', 'lqg'):
        with pytest.raises(ControlError, match=rf'^{name}: .* 0.15 Hz .* speeds up by 1.5 rad/s2, '
                                               r'they would ask for 7\d\d of the 500 N m of '
                                               'joint3 .* use pid, or a larger tip_error'):
            make_controller(name, canadarm, {'tip_error': 16.7})
    # The trapezoid of the benchmark, where this was seen.
    ends = np.full((4, 3), 0.5) + 0.009 * np.array([0.0, 0.25, 0.75, 1.0])[:, None]
    speed = np.full(3, 0.009 / 0.8)
    move = Splines([0.2, 0.6, 1.0, 1.4], ends, [0.0 * speed, speed, speed, 0.0 * speed])
    result = run_trial(make_controller('lqr', canadarm), move, 12.0, period=PERIOD, step=1e-3,
                       tip=canadarm.robot.links[-1].name)
    assert np.abs(result.joint_error()).max() < 0.05
    assert result.settling_time(1.4, 0.015) < 9.0


GRIPPER = """ <link name="left"/><link name="right"/>
 <joint name="opening" type="prismatic"><parent link="hand"/><child link="left"/>
  <origin xyz="0.2 0 0"/><axis xyz="0 1 0"/>
  <limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint>
 <joint name="follower" type="prismatic"><parent link="hand"/><child link="right"/>
  <origin xyz="0.2 0 0"/><axis xyz="0 -1 0"/><mimic joint="opening"/>
  <limit lower="0" upper="0.04" effort="20" velocity="0.2"/></joint></robot>"""


def test_lqr_moves_the_hand_and_not_the_fingers_that_slide_on_it():
    text = ARM.format(m=10.0, i=0.1, h=0.01, root='fixed', axis='').replace('</robot>', GRIPPER)
    model = Model(load_robot(text))
    assert lqr_design.tip_frames(model) == ['hand']
    longer = Model(load_robot(text.replace('"0.04"', '"0.5"')))
    assert lqr_design.tip_frames(longer) == ['left', 'right']
    # 1.2 m of arm, and what the fingers slide
    assert lqr_design.longest_reach(model).max() <= 1.0 + 1e-9
    assert lqr_design.longest_reach(longer).max() <= np.hypot(1.2, 0.5)


def test_feedback_linearization_settles_with_an_unknown_payload():
    model = Model(load_robot('lab_link'))
    tip = model.robot.links[-1].name
    result = run_trial(make_controller('feedback_linearization', model),
                       MinimumJerk([0.5], [1.0], 1.2), 9.0, period=PERIOD, tip=tip,
                       plant=model.with_payload('unknown', tip, 0.05), start=[0.5])
    assert result.settling_time(1.2, 1e-3) < 6.0


def test_feedback_linearization_carries_dry_friction():
    """Feedback alone would leave friction / (effective inertia w^2), many radians on this link."""
    robot = load_robot('lab_link')
    joints = tuple(dataclasses.replace(joint, friction=0.2) if joint.name == 'joint1' else joint
                   for joint in robot.joints)
    model = Model(dataclasses.replace(robot, joints=joints))
    result = run_trial(make_controller('feedback_linearization', model),
                       MinimumJerk([0.5], [1.0], 1.2), 2.0, period=PERIOD,
                       tip=robot.links[-1].name)
    assert np.abs(result.joint_error()).max() < 0.1
