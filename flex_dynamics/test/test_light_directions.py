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
"""Damped joints whose axes meet in a mass that is nearly a point, as necks and shoulders of
published robots have them: one turn of the three joints moves nothing, and no joint shows it."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

BODY = ('<link name="{}"><inertial><origin xyz="0 0 {}"/><mass value="{}"/><inertia ixx="1e-9" '
        'iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>')
JOINT = ('<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="{}"/>'
         '<origin xyz="0 0 {}"/>{}</joint>')
START = np.array([0.3, 0.4, 0.5])
TURN = np.array([0.2, -0.2, 0.2])
STIFFNESS, DAMPING, STEP, MOTION = 20.0, 1.0, 1e-3, 0.5
GRIPPER = (BODY.format('finger', 0.02, 0.01) + BODY.format('other', 0.02, 0.01)
           + JOINT.format('grip', 'continuous', 'head', 'finger', '1 0 0', 0.1, '')
           + JOINT.format('follow', 'continuous', 'head', 'other', '1 0 0', 0.1,
                          '<mimic joint="grip" multiplier="-1"/>'))


def head(root='', more=''):
    """A head of 1 kg, 0.1 m above three axes that meet."""
    return Model(load_robot(
        '<robot name="neck"><link name="base">' + (BODY.format('', 0, 5)[14:-7] if root else '')
        + '</link>' + root + BODY.format('first', 0, 1e-3) + BODY.format('second', 0, 1e-3)
        + BODY.format('head', 0.1, 1.0)
        + JOINT.format('yaw', 'continuous', 'base', 'first', '0 0 1', 0.5, '')
        + JOINT.format('roll', 'continuous', 'first', 'second', '1 0 0', 0, '')
        + JOINT.format('pitch', 'continuous', 'second', 'head', '0 1 0', 0, '')
        + more + '</robot>', log_warnings=False))


def move(model, step=STEP, rest=0.5):
    """The simulation after a motion of the neck by its servos; speeds (k, n) of the last steps."""
    at = [model.joint_names.index(name) for name in ('yaw', 'roll', 'pitch')]
    q = np.zeros(model.n)
    q[at] = START
    simulation = Simulation(model, step, q)
    gains = np.zeros(model.n_joints)
    gains[at] = 1.0
    if 'grip' in model.joint_names:
        gains[model.joint_names.index('grip')] = 0.01
    target, rate = q[:model.n_joints].copy(), np.zeros(model.n_joints)
    speeds = []
    for k in range(round((MOTION + rest) / step)):
        share = min((k + 0.5) * step / MOTION, 1.0)      # of the middle of the step
        target[at] = START + TURN * share
        rate[at] = TURN / MOTION if share < 1.0 else 0.0
        simulation.set_servo(STIFFNESS * gains, DAMPING * gains, target, rate)
        simulation.advance(1)
        speeds.append(simulation.v.copy())
    return simulation, np.array(speeds[-20:])


@pytest.mark.parametrize('more', ['', GRIPPER], ids=['tree', 'with a follower'])
def test_speeds_do_not_ring(more):
    model = head(more=more)
    light = np.linalg.eigvalsh(model.mass_matrix(np.array([*START, 0.0][:model.n])))[0]
    assert light < 1e-3 * 0.5 * STEP * DAMPING       # k > 1000
    _, speeds = move(model)
    assert np.abs(np.diff(speeds, axis=0)).max() < 1e-5


def test_positions_are_those_of_small_steps():
    """While it moves; of second order in the step, though speeds ring at every size."""
    model = head()
    coarse, half, fine = (move(model, step, -0.25)[0].q for step in (2e-3, 1e-3, 1.25e-4))
    error = np.abs(half - fine).max()
    assert error < 5e-5
    assert error < 0.4 * np.abs(coarse - fine).max()


def test_momentum_of_a_moving_base_is_kept():
    root = ('<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
            '<child link="base"/></joint>')
    model = head(root).with_gravity((0.0, 0.0, 0.0))
    simulation, speeds = move(model)
    assert np.abs(np.diff(speeds, axis=0)).max() < 1e-5
    base = model.mass_matrix(simulation.q)[:3] @ simulation.v      # linear momentum
    assert np.abs(base).max() < 1e-9
