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
"""The bundled robots with loops, wheels and supports are what their sources say."""
from functools import cache

import numpy as np
import pytest

from flex_description import default_pose, load_robot
from flex_dynamics import DynamicsError, Model, largest_joint_inertia
from flex_dynamics.ros.simulator.payloads import total_mass
from flex_dynamics.ros.simulator.reactions import topic_tokens
from flex_dynamics.simulation.plant import Drives, Plant

G = 9.81
# name: coordinates, independent rows, freedoms with rigid links, joints that have a motor
ROBOTS = {
    'flexible_four_bar': (9, 2, 1, ('crank_joint',)),
    'slider_crank': (7, 2, 1, ('crank_joint',)),
    'cylinder_crane': (23, 6, 3, ('slew', 'jib_cylinder', 'lift_cylinder')),
    'mobile_arm': (21, 6, 5, ('left_wheel_joint', 'right_wheel_joint', 'waist', 'shoulder',
                              'elbow')),
    'planar_biped': (7, 4, 3, ('left_thigh_joint', 'left_shank_joint', 'right_thigh_joint',
                               'right_shank_joint'))}


@cache
def model(name, **arguments):
    return Model(load_robot(name, arguments=arguments or None))


def mass(model):
    return total_mass(model.robot)


@pytest.mark.parametrize('name', ROBOTS)
def test_the_start_pose_closes_and_freedoms_are_those_of_its_motors(name):
    robot, (n, rank, freedom, motors) = model(name), ROBOTS[name]
    start = np.array(list(default_pose(robot.robot).values()))
    assert np.all(start == 0.0)
    found = robot.constraint_independence(np.zeros(robot.n))
    assert np.abs(robot.constraint_error(np.zeros(robot.n))).max() < 1e-12
    elastic = robot.n - robot.n_joints
    assert (robot.n, found.rank, found.freedom - elastic) == (n, rank, freedom)
    assert found.margin > 0.1
    free = {joint.name for joint in robot.robot.joints if joint.passive}
    driven = tuple(name for name in robot.joint_names if '/' not in name and name not in free)
    assert driven == motors
    # The motors move it in every direction: as many of them are independent as it has freedoms.
    chosen = robot.independent_joints(np.zeros(robot.n))
    assert len(chosen) == freedom and set(chosen) <= set(motors)


def test_four_bar_has_the_published_sizes():
    robot = model('flexible_four_bar')
    q = np.zeros(robot.n)
    pin = robot.pose(q, 'coupler/tip')[:3, 3]
    assert robot.pose(q, 'coupler')[:3, 3] == pytest.approx([0.108, 0, 0])
    assert np.linalg.norm(pin - [0.108, 0, 0]) == pytest.approx(0.2794)
    assert np.linalg.norm(pin - [0.254, 0, 0]) == pytest.approx(0.2705)
    assert robot.pose(q, 'rocker/tip')[:3, 3] == pytest.approx(pin)
    strip = 2710 * 0.0254 * 0.0016 * (0.2794 + 0.2705)
    assert mass(robot) == pytest.approx(strip + 2710 * 0.0254 * 0.00424 * 0.108 + 2 * 0.042)
    # A crank-rocker: the crank goes round.
    for angle in np.linspace(0.0, 2.0 * np.pi, 13)[1:]:
        q[0] = angle
        q = robot.close(q, reach=2.0, held=['crank_joint']).q
        assert q[0] == angle
    # Between its pins a strip is a beam on two supports: (pi / l)^2 sqrt(E I / rho A). The pins of
    # coupler and rocker move when the other one bends, so that both frequencies are only near it.
    single = [np.pi / 2 / length**2 * np.sqrt(71e9 * 0.0016**2 / 12 / 2710)
              for length in (0.2794, 0.2705)]
    hertz = robot.frequencies(np.zeros(robot.n), joints='locked')[0] / (2.0 * np.pi)
    assert hertz[:2] == pytest.approx(single, rel=0.01)


def test_slider_crank_is_the_benchmark():
    robot = model('slider_crank', damping='0')
    rod = 7870 * np.pi * 0.003**2 * 0.3
    assert robot.robot.links[-1].inertia.mass == pytest.approx(0.5 * rod)
    assert not robot.damping_matrix().any()
    # In line the rod is a beam on two supports; the benchmark's ratio of speeds is 0.18.
    first = (np.pi / 0.3)**2 * np.sqrt(200e9 * 0.003**2 / 4 / 7870)
    found = robot.frequencies(np.zeros(robot.n), joints='locked')[0]
    assert found[:2] == pytest.approx([first, 4.0 * first], rel=2e-3)
    assert 150.0 / found[0] == pytest.approx(0.181, abs=1e-3)
    # The slider at its ends, and in between by the cosine law.
    q = np.zeros(robot.n)
    for angle in np.linspace(0.0, np.pi, 9)[1:]:
        q[0] = angle
        q = robot.close(q, reach=2.0, held=['crank_joint']).q
        far = 0.15 * np.cos(angle) + np.sqrt(0.3**2 - (0.15 * np.sin(angle))**2)
        assert 0.45 + q[robot.names.index('slider_joint')] == pytest.approx(far, abs=1e-9)


@pytest.mark.parametrize('lateral', ['true', 'false'])
def test_crane_is_held_by_its_cylinders(lateral):
    robot = model('cylinder_crane', lateral=lateral)
    assert robot.n == (23 if lateral == 'true' else 15)
    tubes = 7850 * (2.2 * (0.12 * 0.14 - 0.11 * 0.13) + 2.0 * (0.1 * 0.12 - 0.092 * 0.112))
    cylinders = [7850 * np.pi / 4 * (shortest - 0.08) * (0.44 * bore**2 + rod**2)
                 for shortest, bore, rod in ((0.92, 0.08, 0.045), (1.04, 0.07, 0.04))]
    trunnions = 2.0 if lateral == 'true' else 0.0
    assert mass(robot) == pytest.approx(420 + tubes + sum(cylinders) + trunnions)
    q, tau = robot.statics(np.zeros(robot.n_joints))
    force = dict(zip(robot.joint_names, tau))
    assert all(abs(force[joint.name]) < 1e-6 * force['lift_cylinder']
               for joint in robot.robot.joints if joint.passive)
    # Virtual work: the weight of what is lifted against the strokes, with rigid links.
    for cylinder in ('lift_cylinder', 'jib_cylinder'):
        other = {'lift_cylinder', 'jib_cylinder', 'slew'} - {cylinder}
        height, step = [], 1e-4
        for stroke in (-step, step):
            guess = np.zeros(robot.n)
            guess[robot.names.index(cylinder)] = stroke
            closed = robot.close(guess, held=[cylinder, *other]).q
            height.append(robot.energy(closed, np.zeros(robot.n))[2])
        assert force[cylinder] == pytest.approx((height[1] - height[0]) / (2 * step), rel=0.02)
        limits = robot.joint_limits
        assert force[cylinder] < limits.effort[robot.joint_names.index(cylinder)]
    assert robot.reactions(q, 0 * q, tau)['lift_eye'].second[:3] @ robot.reactions(
        q, 0 * q, tau)['lift_eye'].second[:3] == pytest.approx(force['lift_cylinder']**2, rel=0.02)


def test_crane_sags_as_its_booms_bend():
    """The deflection by 299 kg at the end, by Castigliano: integral of m^2 / E I over both booms
    with the bending moment m of a unit load, from the balance of the parts beyond each section."""
    def turned(angle, point):
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ point

    def moment(force, at, about):
        arm = at - about
        return arm[0] * force[1] - arm[1] * force[0]

    pivot, up, down = np.array([0.0, 1.3]), np.pi / 6, -np.pi / 6
    knuckle = pivot + turned(up, [2.2, 0])
    end, weight = knuckle + turned(down, [2.0, 0]), np.array([0.0, -1.0])
    eyes = {'jib': knuckle + turned(down, [0.35, -0.15]),
            'lift': pivot + turned(up, [0.75, -0.12])}
    feet = {'jib': pivot + turned(up, [0.95, -0.14]), 'lift': np.array([0.1, 0.35])}
    push = {}
    for name, about in (('jib', knuckle), ('lift', pivot)):
        along = (eyes[name] - feet[name]) / np.linalg.norm(eyes[name] - feet[name])
        push[name] = -moment(weight, end, about) / moment(along, eyes[name], about) * along
    compliance = 0.0
    for start, angle, length, width, height, wall in (
            (pivot, up, 2.2, 0.12, 0.14, 0.005), (knuckle, down, 2.0, 0.1, 0.12, 0.004)):
        inertia = (width * height**3 - (width - 2 * wall) * (height - 2 * wall)**3) / 12
        for x in (np.arange(2000) + 0.5) / 2000 * length:
            here, is_jib = start + turned(angle, [x, 0]), start is knuckle
            m = moment(weight, end, here)
            if not is_jib or x < 0.35:
                m += moment(push['jib'], eyes['jib'], here)
            if not is_jib and x < 0.95:
                m -= moment(push['jib'], feet['jib'], here)
            if not is_jib and x < 0.75:
                m += moment(push['lift'], eyes['lift'], here)
            compliance += m**2 / (210e9 * inertia) * length / 2000

    poses = []
    for payload in ('1', '300'):
        robot = model('cylinder_crane', lateral='false', payload=payload)
        q, _ = robot.statics(np.zeros(robot.n_joints))
        poses.append(robot.pose(q, 'load')[:3, 3])
    # Four shapes only approach the kinks of the moment where cylinders push: stiffer by 3 %.
    assert 0.96 < (poses[0][2] - poses[1][2]) / (299 * G * compliance) < 1.0
    hertz = robot.frequencies(q, joints='locked')[0] / (2 * np.pi)
    assert hertz[0] == pytest.approx(3.98, rel=0.015)       # with 8 shapes by finite elements


def test_platform_stands_on_its_wheels():
    robot = model('mobile_arm')
    weight = mass(robot) * G
    q, tau = robot.statics(np.zeros(robot.n_joints))
    reactions = robot.reactions(q, 0 * q, tau)
    assert sum(one.second[2] for one in reactions.values()) == pytest.approx(weight)
    assert all(one.second[2] > 0.1 * weight for one in reactions.values())
    # The centre of mass is ahead of the axle: moments about it.
    front, rear = (reactions[f'{name}_castor'].second[2] for name in ('front', 'rear'))
    carried = (1.0 * 0.7 + 0.8 * 0.1 + 0.8 * 0.1 + 3 * 0.1
               + 2700 * np.pi * ((0.013**2 - 0.012**2) * 0.6 * 0.1
                                 + (0.01**2 - 0.009**2) * 0.6 * 0.4)) * G
    assert (front - rear) * 0.24 == pytest.approx(carried, rel=0.01)
    hertz = robot.frequencies(q, joints='locked')[0] / (2 * np.pi)
    assert 3.0 < hertz[0] < 6.0


def test_platform_turns_as_its_wheels_say():
    """v = r (left + right) / 2 and turn rate r (right - left) / separation."""
    for base in ('floating', 'planar'):
        robot = model('mobile_arm', base=base)
        q, v = np.zeros(robot.n), np.zeros(robot.n)
        left, right = (robot.names.index(f'{side}_wheel_joint') for side in ('left', 'right'))
        A = robot.constraint_jacobian(q)
        v[[left, right]] = 3.0, 5.0
        free = [robot.names.index(name) for name in robot.names if name.startswith('base/')]
        v[free] = np.linalg.lstsq(A[:, free], -A @ v, rcond=None)[0]
        assert np.abs(A @ v).max() < 1e-12
        twist = robot.jacobian(q, 'base_link') @ v
        assert twist == pytest.approx([0.4, 0, 0, 0, 0, 0.1 * 2.0 / 0.5], abs=1e-12)


def test_biped_is_mladenovas():
    """Kinetic energy and weight of the equations before (399), with the coordinates of section 10:
    hip x, z, trunk theta, thighs alpha, shanks beta."""
    robot = model('planar_biped')
    a = b = 0.215
    trunk, thigh, shank, rho = 37.4, 7.0, 4.3, 0.33
    moment, moment_a, moment_b = 2.2 + trunk * rho**2, 0.11 + thigh * a**2, 0.066 + shank * b**2
    k_a, k_b, k_rho, M = (
        a * (thigh + 2 * shank), b * shank, trunk * rho, trunk + 10.0 + 2 * (thigh + shank))
    assert mass(robot) == pytest.approx(M)
    rng = np.random.default_rng(3)
    joints = ['base/x', 'base/y', 'base/angle', 'left_thigh_joint', 'left_shank_joint',
              'right_thigh_joint', 'right_shank_joint']
    order = [robot.names.index(name) for name in joints]
    start = np.array([0, 0, 0, -0.5, 0.4, 0.1, 0.4])
    # Rows: x, z, theta, alpha_1, beta_1, alpha_2, beta_2 of the joint coordinates in that order.
    absolute = np.array([[1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0],
                         [0, 0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0],
                         [0, 0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1, 1]], float)
    axes = _axes(robot)
    for _ in range(5):
        q, v = rng.uniform(-1, 1, (2, 7))
        angle, speed = absolute @ (start + q), absolute @ v
        angle[:2], speed[:2] = axes @ q[:2], axes @ v[:2]
        full, rates = np.zeros((2, robot.n))
        full[order], rates[order] = q, v
        (xd, zd, w), (t,) = speed[:3], angle[2:3]
        energy = 0.5 * M * (xd**2 + zd**2) + 0.5 * moment * w**2 + k_rho * w * (
            xd * np.cos(t) - zd * np.sin(t))
        height = k_rho * np.cos(t)
        for al, be, ald, bed in ((angle[3], angle[4], speed[3], speed[4]),
                                 (angle[5], angle[6], speed[5], speed[6])):
            energy += (0.5 * (moment_a + 4 * shank * a**2) * ald**2 + 0.5 * moment_b * bed**2
                       + 2 * shank * a * b * ald * bed * np.cos(al - be)
                       - k_a * ald * (xd * np.cos(al) - zd * np.sin(al))
                       - k_b * bed * (xd * np.cos(be) - zd * np.sin(be)))
            height -= k_a * np.cos(al) + k_b * np.cos(be)
        kinetic, _, potential = robot.energy(full, rates)
        assert kinetic == pytest.approx(energy, rel=1e-12)
        hip = 0.43 * (np.cos(0.5) + np.cos(0.1))
        assert potential == pytest.approx(G * (height + M * (hip + angle[1])), rel=1e-12)


def _axes(robot):
    """(x, z) of the hip by base/x and base/y."""
    home = robot.pose(np.zeros(robot.n), 'trunk')[:3, 3]
    columns = []
    for name in ('base/x', 'base/y'):
        q = np.zeros(robot.n)
        q[robot.names.index(name)] = 1.0
        columns.append((robot.pose(q, 'trunk')[:3, 3] - home)[[0, 2]])
    return np.array(columns).T


def test_biped_stands_on_one_foot_and_on_two():
    robot = model('planar_biped')
    q = np.zeros(robot.n)
    feet = [robot.pose(q, f'{side}_foot')[:3, 3] for side in ('left', 'right')]
    assert [foot[2] for foot in feet] == pytest.approx([0, 0], abs=1e-12)
    assert feet[0][0] - feet[1][0] == pytest.approx(2 * 0.43 * (np.sin(0.5) + np.sin(0.1)))
    _, tau = robot.statics(np.zeros(robot.n_joints))
    both = robot.reactions(q, 0 * q, tau)
    assert sum(one.second[2] for one in both.values()) == pytest.approx(70 * G)
    assert sum(one.second[0] for one in both.values()) == pytest.approx(0.0, abs=1e-9)
    single = robot.with_supports(q, ['left_foot'])
    assert single.constraint_independence(q).freedom == 5
    swing = robot.with_supports(q, [])
    assert swing.constraint_independence(q).freedom == 7


@pytest.mark.parametrize('name', ['cylinder_crane', 'planar_biped'])
def test_drives_hold_the_start_and_move_from_there(name):
    """Their stiffness is by what a motor moves through the constraints, and they carry its weight:
    a cylinder alone weighs 10 kg, its boom and load some hundred."""
    robot = model(name)
    zero = np.zeros(robot.n_joints)
    plant = Plant(robot, 0.001, 2, Drives(zero, zero), zero, True, holds_start=True)
    start = plant.q.copy()
    for _ in range(200):
        plant.advance()
    assert np.abs(plant.q - start).max() < 1e-4
    if name == 'cylinder_crane':
        plant.commands.accept(['lift_cylinder'], (), [0.05])
        for _ in range(400):
            plant.advance()
        at = robot.names.index('lift_cylinder')
        assert plant.q[at] == pytest.approx(0.05, abs=2e-3)
        assert plant.q[robot.names.index('luff')] > 0.05


def test_inertia_of_a_motor_is_what_it_moves():
    """One wheel of the platform, the other one standing: it turns about that one's contact."""
    robot = model('mobile_arm', base='planar')
    found = dict(zip(robot.joint_names, largest_joint_inertia(robot)))
    q = np.zeros(robot.n)
    v = dict.fromkeys(robot.names, 0.0)
    v.update({'left_wheel_joint': 1.0, 'base/x': 0.05, 'base/angle': -0.2})
    speeds = np.array(list(v.values()))
    assert np.abs(robot.constraint_jacobian(q) @ speeds).max() < 1e-12
    assert found['left_wheel_joint'] == pytest.approx(2 * robot.energy(q, speeds)[0])


def test_feet_are_lifted_and_put_down():
    robot = model('planar_biped')
    zero = np.zeros(robot.n_joints)
    plant = Plant(robot, 0.001, 2, Drives(zero, zero), zero, True, holds_start=True)
    plant.set_support('right_foot', False)
    plant.commands.accept(['right_shank_joint'], (), [0.5])
    for _ in range(150):
        plant.advance()
    lifted = plant.model.pose(plant.q, 'right_foot')[:3, 3]
    assert lifted[2] > 0.05
    left = plant.model.pose(plant.q, 'left_foot')[:3, 3]
    assert left == pytest.approx(robot.pose(np.zeros(7), 'left_foot')[:3, 3], abs=1e-9)
    assert np.linalg.norm(plant.reactions()['right_foot'].second) == 0.0
    assert np.abs(plant.v).max() > 0.01
    # Down where it is now: the speeds are those after an inelastic impact, the energy falls.
    before = plant.model.energy(plant.q, plant.v)[0]
    plant.set_support('right_foot', True)
    assert plant.model.jacobian(plant.q, 'right_foot')[[0, 2]] @ plant.v == pytest.approx(
        [0.0, 0.0], abs=1e-12)
    assert plant.model.energy(plant.q, plant.v)[0] < before
    for _ in range(20):
        plant.advance()
    assert plant.model.pose(plant.q, 'right_foot')[:3, 3] == pytest.approx(lifted, abs=1e-9)
    with pytest.raises(DynamicsError, match="one of left_foot, right_foot, found 'tail'"):
        plant.set_support('tail', True)
    plant.reset()
    assert plant.model.pose(plant.q, 'right_foot')[2, 3] == pytest.approx(0.0, abs=1e-9)
    assert all(support.active for support in plant.model.robot.supports)


def test_topics_of_reactions_differ():
    assert topic_tokens(['a b', 'a_b', 'a-b', '2nd', 'é', 'ok/left']) == [
        'a_b_2', 'a_b', 'a_b_3', '_2nd', '_', 'ok_left']
