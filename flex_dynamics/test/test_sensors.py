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
"""Strain gauges and inertial sensors against closed forms and differences of the kinematics."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_robots import EIY, EIZ, LENGTH, beam_robot

from flex_description import load_robot
from flex_description.math import quaternion_from_rotation
from flex_dynamics import DynamicsError, Model, Sensors, Wrench

GAUGES = ('<gauge name="top" x="0.3" y="0.02"/><gauge name="side" x="0.3" z="0.01"/>'
          '<gauge name="edge" x="1.1" y="-0.02" z="0.01"/>')


def test_gauges_of_a_cantilever_with_an_end_force_read_the_textbook_strain():
    model = Model(beam_robot(joint='revolute', inside=GAUGES))
    sensors = Sensors(model)
    assert sensors.gauge_names == ['beam/top', 'beam/side', 'beam/edge'] and not sensors.imu_names
    force = np.array([0.0, 2e-3, 3e-3])
    q, _ = model.statics([0.0], [Wrench('tip', force)])
    arm = LENGTH - np.array([0.3, 0.3, 1.1])
    y, z = np.array([0.02, 0.0, -0.02]), np.array([0.0, 0.01, 0.01])
    expected = -arm * (force[1] * y / EIZ + force[2] * z / EIY)      # the loaded side is pressed
    assert np.allclose(sensors.strain(q), expected, rtol=1e-6)
    assert (sensors.strain(q) == sensors.strain_matrix(q) @ q).all()


def test_strain_matrix_is_the_derivative_of_the_strain():
    model = Model(load_robot('flexible_tree'))
    sensors, rng = Sensors(model), np.random.default_rng(1)
    q, direction = rng.normal(0.0, 0.02, (2, model.n))
    change = (sensors.strain(q + direction) - sensors.strain(q - direction)) / 2.0
    assert len(change) == len(sensors.gauge_names) == 2
    assert np.allclose(change, sensors.strain_matrix(q) @ direction, rtol=1e-12)
    with pytest.raises(ValueError, match='read-only'):
        sensors.strain_matrix(q)[0, 0] = 1.0


@pytest.mark.parametrize('robot', ['cibicik_arm', 'flexible_tree'])
def test_an_imu_feels_the_motion_of_its_deflected_section(robot):
    model = Model(load_robot(robot))
    sensors, rng = Sensors(model), np.random.default_rng(2)
    q = rng.normal(0.0, 0.02, model.n)
    q[:model.n_joints] = rng.normal(0.0, 1.0, model.n_joints)
    v, a = rng.normal(0.0, 0.5, (2, model.n))
    h = 1e-4

    def path(t):
        return q + t * v + 0.5 * t * t * a

    for imu, reading in zip(model.robot.imus, sensors.imu(q, v, a), strict=True):
        before, here, after = (model.pose(path(t), imu.frame) for t in (-h, 0.0, h))
        linear = (after[:3, 3] - 2.0 * here[:3, 3] + before[:3, 3]) / h**2
        turn = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec() / (2.0 * h)
        axes = here[:3, :3]
        scale = np.abs(linear).max() + 10.0
        assert np.allclose(reading.acceleration, axes.T @ (linear - model.gravity),
                           atol=1e-5 * scale)
        assert np.allclose(reading.gyro, turn, atol=1e-6 * scale)
        assert np.allclose(Rotation.from_quat(reading.orientation).as_matrix(), axes)


def test_an_imu_at_rest_feels_the_earth_alone():
    model = Model(load_robot('cibicik_arm'))
    q, _ = model.statics([0.3, 0.5, 1.0, 0.5])
    reading, = Sensors(model).imu(q, np.zeros(model.n), np.zeros(model.n))
    assert not reading.gyro.any()
    world = model.pose(q, 'tool')[:3, :3] @ reading.acceleration
    assert np.allclose(world, [0.0, 0.0, 9.81])
    bent = model.pose(q, 'tool')[:3, :3]
    straight = model.pose(np.r_[q[:4], np.zeros(model.n - 4)], 'tool')[:3, :3]
    assert np.abs(bent - straight).max() > 1e-3      # the section, not the rigid arm, carries it


def test_states_of_the_wrong_length_are_refused():
    model = Model(load_robot('lab_link'))
    sensors, good = Sensors(model), np.zeros(model.n)
    for call in (lambda: sensors.strain(good[1:]), lambda: sensors.imu(good, good[1:], good),
                 lambda: sensors.imu(good, good, np.full(model.n, np.nan))):
        with pytest.raises(DynamicsError, match='expected'):
            call()


def test_quaternions_are_those_of_scipy_at_every_angle():
    rng = np.random.default_rng(3)
    turns = [*rng.normal(0.0, 2.0, (200, 3)), np.zeros(3), *(np.pi * np.eye(3))]
    for turn in turns:
        rotation = Rotation.from_rotvec(turn)
        found = np.array(quaternion_from_rotation(rotation.as_matrix()))
        assert abs(np.linalg.norm(found) - 1.0) < 1e-14 and found[3] >= 0.0
        assert abs(abs(found @ rotation.as_quat()) - 1.0) < 1e-12
