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
"""Attitude of a free-flying base by reaction wheels: slews, the control law, the loop closed."""
import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, SetPoints, make_controller, run_trial
from flex_control.controllers.attitude.slew import Slews
from flex_description import load_robot
from flex_description.math import exponential, logarithm, rotation_from_rpy, unskew
from flex_dynamics import Model, Wrench

PERIOD, STEP = 1e-2, 5e-3
WHEEL = """<link name="{0}"><inertial><origin xyz="{2} 0 0.1"/><mass value="2"/><inertia
 ixx="0.01" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{0}"
 type="continuous"><parent link="bus"/><child link="{0}"/><origin xyz="0.1 0.2 0" rpy="{1}"/>
 <axis xyz="0 0 1"/><limit effort="1" velocity="500"/></joint>"""
BUS = """<robot name="box"><link name="world"/><link name="bus"><inertial><origin xyz="0.1 0 0"/>
 <mass value="50"/><inertia ixx="3" iyy="4" izz="5" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
 <joint name="free" type="floating"><parent link="world"/><child link="bus"/></joint>
 <gravity xyz="0 0 0"/>{}</robot>"""
TURNS = ('0 1.57 0', '1.57 0 0', '0 0 0', '0.8 0.6 0')
START = np.r_[np.zeros(9), 0.3, 0.5, -1.0]


@pytest.fixture(scope='module')
def flyer():
    return Model(load_robot('free_flyer'))


def box(wheels, off=0.0):
    return Model(load_robot(BUS.format(''.join(
        WHEEL.format(f'wheel{k}', TURNS[k], off) for k in range(wheels)))))


def momentum(model, q, v):
    """Linear and angular momentum (6,) about the world's origin."""
    p = (model.mass_matrix(q) @ v)[:6]
    turns = model.jacobian(q, 'bus')[3:, 3:6]
    return np.r_[p[:3], np.linalg.solve(turns.T, p[3:]) + np.cross(q[:3], p[:3])]


def attitude_errors(model, result, target):
    """Angles (k,), rad, between the base and a rotation (3, 3)."""
    return np.array([np.linalg.norm(logarithm(model.pose(q, 'bus')[:3, :3] @ target.T))
                     for q in result.q])


def test_slews_are_smooth_also_when_one_begins_in_another_and_for_half_turns():
    slews = Slews(np.eye(3))
    half = rotation_from_rpy(np.array([0.0, 0.0, np.pi]))
    assert slews.turn_to(half, 0.0, 1.0, 1.0, 1.0) == pytest.approx(1.875 * np.pi)
    last, h = None, 1e-3
    target = rotation_from_rpy(np.array([1.0, -0.4, 2.0]))
    for k in range(12000):
        if k == 2000:
            slews.turn_to(target, k * h, 1.0, 1.0, 1.0)
        now = slews.at(k * h)
        if last is not None:
            step = unskew(now.rotation @ last.rotation.T - last.rotation @ now.rotation.T) / 2.0
            assert np.allclose(step / h, 0.5 * (now.rate + last.rate), atol=2e-6)
            assert np.allclose((now.rate - last.rate) / h,
                               0.5 * (now.acceleration + last.acceleration), atol=5e-3)
        last = now
    assert np.allclose(last.rotation, target, atol=1e-12) and not slews.moving


@pytest.mark.parametrize('wheels', [3, 4])
def test_the_wheels_give_the_base_the_angular_acceleration_that_is_wanted(wheels):
    """d = c / sqrt(1 + c2) is the error; forward dynamics is the judge."""
    model = box(wheels)
    controller = make_controller('attitude', model, {'roll': 0.2, 'bandwidth': 0.01})
    random = np.random.default_rng(3)
    q, v = 0.4 * random.standard_normal((2, model.n))
    v[3:6] *= 0.01
    v[6:] *= 50.0
    controller.q, controller.v = q, v
    motion = model.frame_motion(q, v, 'bus')
    efforts = controller.update(0.0, PERIOD)
    assert np.abs(efforts).max() < 1.0 and not efforts[:6].any()
    a = model.forward_dynamics(q, v, efforts)
    found = motion.jacobian[3:] @ a + motion.jacobian_rate[3:] @ v
    rate = motion.jacobian[3:] @ v
    # at rest in its own attitude at the start of a slew: only its rate is an error
    assert np.allclose(found, -2.0 * 0.01 * rate, atol=1e-9)


def test_the_base_holds_while_the_flexible_arm_moves_and_momentum_stays_zero(flyer):
    end = START.copy()
    end[9:] = -0.2, 0.9, -0.6
    move = MinimumJerk(START, end, 16.0, start=0.5)
    result = run_trial(make_controller('attitude', flyer), move, 19.0, period=PERIOD, step=STEP,
                       tip='payload')
    assert attitude_errors(flyer, result, np.eye(3)).max() < 2e-4
    assert np.abs(result.joint_error()[:, 9:]).max() < 1e-3
    assert max(np.abs(momentum(flyer, q, v)).max()
               for q, v in zip(result.q[::40], result.v[::40])) < 1e-11
    assert np.abs(result.v[:, 6:9]).max() > 10.0
    free = run_trial(make_controller('pid', flyer), move, 19.0, period=PERIOD, step=STEP,
                     tip='payload')
    assert attitude_errors(flyer, free, np.eye(3))[-1] > 0.05


def test_a_slew_by_more_than_a_quarter_through_a_half_turn(flyer):
    target = {'yaw': np.pi, 'pitch': 0.3}
    controller = make_controller('attitude', flyer, target)
    result = run_trial(controller, SetPoints([0.0], [START]), 66.0, period=2e-2, step=1e-2,
                       tip='payload')
    wanted = rotation_from_rpy(np.array([0.0, 0.3, np.pi]))
    errors = attitude_errors(flyer, result, wanted)
    assert errors[0] == pytest.approx(np.pi, abs=1e-6) and errors[-100:].max() < 1e-3
    assert (np.diff(errors[errors > 1e-2]) < 1e-4).all()          # straight there
    assert max(np.abs(momentum(flyer, q, v)).max()
               for q, v in zip(result.q[::80], result.v[::80])) < 1e-11


def test_a_blow_is_absorbed_by_the_wheels():
    model = box(4)
    blow = [Wrench('bus', np.zeros(3), np.array([1.0, -0.5, 0.8]))]
    result = run_trial(make_controller('attitude', model), SetPoints([0.0], [np.zeros(model.n)]),
                       20.0, period=PERIOD, step=STEP, tip='bus',
                       loads=lambda t: blow if 1.0 <= t < 2.0 else None)
    errors = attitude_errors(model, result, np.eye(3))
    assert 0.01 < errors.max() < 0.5 and errors[-100:].max() < 1e-4
    # the momentum of the blow is in the wheels now
    assert np.allclose(momentum(model, result.q[-1], result.v[-1])[3:], [1.0, -0.5, 0.8],
                       atol=1e-6)


def test_thrusters_turn_and_hold_a_base_without_wheels():
    """The arm moves, the base slews, a blow comes: the thrusters take the momentum off again."""
    arm = """<link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="5"/><inertia ixx="0.1"
     iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hinge"
     type="revolute"><parent link="bus"/><child link="arm"/><origin xyz="0.4 0 0"/>
     <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="50" velocity="2"/></joint>"""
    model = Model(load_robot(BUS.format(arm)))
    start, end = np.zeros(7), np.r_[np.zeros(6), 1.0]
    target = {'roll': 0.6, 'yaw': -2.0, 'thruster_moment': 3.0}
    blow = [Wrench('bus', np.zeros(3), np.array([0.3, 0.0, -0.3]))]
    controller = make_controller('attitude', model, target)
    result = run_trial(controller, MinimumJerk(start, end, 6.0, start=1.0), 30.0, period=PERIOD,
                       step=STEP, tip='arm', loads=lambda t: blow if 2.0 <= t < 3.0 else None)
    wanted = rotation_from_rpy(np.array([0.6, 0.0, -2.0]))
    assert attitude_errors(model, result, wanted)[-100:].max() < 1e-3
    assert abs(result.q[-1, 6] - 1.0) < 1e-3
    assert np.abs(momentum(model, result.q[-1], result.v[-1])[3:]).max() < 1e-3
    assert not result.effort[:, :6].any()        # it is a wrench, no effort of a joint
    link, thrust = controller.thrust
    assert link == 'bus' and np.abs(thrust).max() <= 3.0
    with pytest.raises(ControlError, match='for a base with thrusters give thruster_moment'):
        make_controller('attitude', model)


def test_a_base_that_is_a_half_turn_off_turns_back_one_way():
    model = box(3)
    controller = make_controller('attitude', model, {'bandwidth': 0.3})
    controller.update(0.0, PERIOD)               # wants the attitude of the start
    q, signs = np.zeros(model.n), set()
    for off in (np.pi - 1e-3, np.pi + 1e-3, np.pi - 1e-4):
        q[3:6] = logarithm(exponential(np.array([0.0, 0.0, off])))
        controller.q = q
        signs.add(np.sign(controller.update(0.0, PERIOD)[8]))
    assert len(signs) == 1 and 0.0 not in signs


@pytest.mark.parametrize('robot, parameters, why', [
    (lambda: Model(load_robot('cibicik_arm')), {}, 'expected a base that floats, found none'),
    (lambda: box(2), {}, 'wheels about three axes on bus, found wheel0, wheel1'),
    (lambda: box(3, off=0.05), {}, 'found none: a reaction wheel is a continuous joint'),
    (lambda: box(3, off=0.05), {'wheels': 'wheel1'}, 'its centre of mass is off its axis'),
    (lambda: box(3), {'wheels': 'gyro'}, "found 'gyro'"),
    (lambda: Model(load_robot('free_flyer')), {'wheels': 'wheel_x wheel_y fore_joint'},
     'no continuous joint'),
    (lambda: Model(load_robot('free_flyer')), {'arm': 'lqg'}, 'arm: expected a controller of the'),
    (lambda: Model(load_robot('free_flyer')), {'arm': 'elastic_joint'}, 'expected a spring'),
    (lambda: Model(load_robot(BUS.replace('0 0 0"/>{}', '0 0 -9.81"/>{}').format(''))), {},
     'expected no gravity'),
])
def test_robots_and_parameters_that_it_is_not_for(robot, parameters, why):
    with pytest.raises(ControlError, match=why):
        make_controller('attitude', robot(), parameters)


def test_other_controllers_may_drive_the_arm(flyer):
    for name in ('computed_torque', 'pd'):
        controller = make_controller('attitude', flyer, {'arm': name})
        end = START.copy()
        end[9:] += 0.05
        result = run_trial(controller, MinimumJerk(START, end, 6.0), 7.0, period=PERIOD, step=STEP,
                           tip='payload')
        assert np.abs(result.joint_error()[:, 9:]).max() < 1e-2
        assert attitude_errors(flyer, result, np.eye(3)).max() < 1e-3
