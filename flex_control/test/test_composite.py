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
"""Composite control: the fast subsystem, its gains, and the loop closed with the simulator."""
import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, Reference, SetPoints, make_controller
from flex_control.controllers.vibration.composite import Composite
from flex_control.design.fast_design import fast_modes
from flex_control.design.gains import poses
from flex_control.design.rest_model import rest_model
from flex_control.design.vibration_loop import LinearLaw, VibrationLoop
from flex_control.incremental import finish
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

PERIOD = 2e-3
POSE = np.array([0.0, 0.5, 1.0, 0.5])
RIGID = """<robot name="stick"><link name="base"/><link name="stick"><inertial><mass value="1"/>
 <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="hinge" type="continuous"><parent link="base"/><child link="stick"/>
 <axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


def test_fast_modes_are_those_of_free_joints(arm):
    """z'' = -H_ee K z with H = M^-1."""
    q = arm.statics(POSE)[0]
    fast = fast_modes(arm, finish(rest_model(arm, q, np.zeros(4), np.zeros(4))))
    stiffness = np.asarray(arm.stiffness_matrix())[4:, 4:]
    squares = np.linalg.eigvals(np.linalg.inv(arm.mass_matrix(q))[4:, 4:] @ stiffness)
    assert np.allclose(np.sort(fast.squares[4:]), np.sort(squares.real), rtol=1e-8)
    assert not fast.squares[:4].any()
    # amplitudes of the elastic modes do not see the joints' positions
    assert np.abs(fast.projection[4:, :4]).max() < 1e-9 * np.abs(fast.projection[4:]).max()


def test_gains_damp_the_fast_subsystem_at_every_pose(arm):
    controller = Composite(arm, {'period': PERIOD})
    still = np.zeros(4)
    for joints in poses(arm)[:4]:
        loop = VibrationLoop(arm, arm.statics(joints)[0], controller.kd, controller.kp, PERIOD)
        gains = finish(controller._design.gains(loop.rest, controller.energy, PERIOD))
        assert not gains.state[:, :4].any()
        held = LinearLaw.of_gains(0.0 * gains.state, np.eye(4))
        law = LinearLaw.of_gains(gains.state, gains.effort)
        stiff = [one.with_joint_loops(controller.kp, still) for one in (held, law)]
        assert loop.stable(stiff[1]) and loop.stable(stiff[1], 1)
        assert loop.tip_motion(stiff[1]) < 0.8 * loop.tip_motion(stiff[0])


def test_a_push_leaves_less_vibration_than_the_slow_loop_alone(link):
    push = [Wrench('payload', force=np.array([0.0, 0.5, 0.0]))]
    left = []
    for energy in (0.0, 1e9):            # the second: the fast feedback costs all, gives nothing
        controller = Composite(link, {'energy': energy, 'bandwidth': 10.0, 'damping_ratio': 0.3})
        result = run_trial(controller, SetPoints([0.0], [[0.2]]), 2.0, period=PERIOD, step=1e-3,
                           tip='payload', loads=lambda t: push if 0.1 <= t < 0.2 else None)
        left.append(result.vibration(1.0, 2.0))
    assert left[0] < 0.5 * left[1]


def test_the_arm_arrives_and_rests(arm):
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04], 1.5, start=0.1)
    result = run_trial(Composite(arm), motion, 3.2, period=PERIOD, step=1e-3)
    assert np.abs(result.joint_error()).max() < 0.01
    assert result.vibration(2.8, 3.2) < 1e-3


def test_two_runs_are_the_same_to_the_last_bit(link):
    motion = MinimumJerk([0.1], [0.4], 0.3)
    one, other = (run_trial(Composite(link), motion, 0.4, tip='payload') for _ in range(2))
    assert np.array_equal(one.q, other.q)


def test_efforts_keep_to_the_limits_and_nothing_winds_up(link):
    controller = Composite(link, {'period': PERIOD})
    most = link.joint_limits.effort[0]
    controller.reference = Reference.at_rest([0.0])
    for far in (0.3, 0.0):
        state = link.statics(np.zeros(1))[0]
        state[1:] += far
        controller.q = state
        for _ in range(200):
            effort = controller.update(0.0, PERIOD)
            assert np.abs(effort).max() <= most
    # the same effort as of a controller that never was at its limits
    fresh = Composite(link, {'period': PERIOD})
    fresh.reference, fresh.q = controller.reference, controller.q
    for _ in range(200):
        want = fresh.update(0.0, PERIOD)
    assert np.allclose(effort, want, atol=1e-6 * most)


@pytest.mark.parametrize('text, why', [
    (RIGID, 'expected flexible links or joints, found none in robot stick'),
    (RIGID.replace('continuous', 'floating'), 'found the floating base hinge'),
])
def test_robots_that_it_is_not_for(text, why):
    with pytest.raises(ControlError, match=why):
        make_controller('composite', Model(load_robot(text)))


def test_updates_too_slow_for_the_arm_are_refused(link):
    controller = Composite(link)
    controller.reference, controller.q = Reference.at_rest([0.0]), link.statics(np.zeros(1))[0]
    controller.update(0.0, 0.0)
    with pytest.raises(ControlError, match='composite: .* every 500 ms, found none'):
        controller.update(0.5, 0.5)
