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
"""Dry friction that is large beside the inertia of its joint, as in many published URDFs.

A finger of 1e-7 kg m2 with 1 N m of friction: friction alone would stop it from 1000 rad/s in
0.1 ms. The step of the integrator is ten times that.
"""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.plant import Drives, Plant

ROBOT = """<robot name="finger"><link name="base"/>
<link name="palm"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<link name="finger"><inertial><mass value="0.001"/><inertia ixx="1e-7" iyy="1e-7" izz="1e-7"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="continuous"><parent link="base"/><child link="palm"/><axis xyz="0 0 1"/>
 <dynamics damping="0.5" friction="2"/></joint>
<joint name="knuckle" type="continuous"><parent link="palm"/><child link="finger"/>
 <origin xyz="0.1 0 0"/><axis xyz="0 0 1"/><dynamics damping="0.1" friction="1"/></joint>
</robot>"""
STEP, STEPS = 1e-3, 2


@pytest.fixture(scope='module')
def model():
    return Model(load_robot(ROBOT))


def run(model, efforts, duration, gains=(0.0, 0.0), start=(0.0, 0.0), velocity=None):
    """Speeds (k, 2) under efforts(t) (2,)."""
    plant = Plant(model, STEP, STEPS, Drives(np.zeros(2), np.array(gains)), np.array(start), False)
    if velocity is not None:
        plant.simulation.set_state(np.array(start), np.array(velocity))
    speeds = []
    for k in range(round(duration / (STEP * STEPS))):
        plant.commands.accept_all(np.array(efforts(k * STEP * STEPS), dtype=float),
                                  np.zeros(2), np.zeros(2))
        plant.advance()
        speeds.append(plant.v.copy())
    return np.array(speeds)


def test_slides_at_the_speed_where_damping_takes_what_friction_leaves(model):
    speed = run(model, lambda t: (0.0, 1.0 + 0.1 * 0.5), 0.5)
    np.testing.assert_allclose(speed[-1], [0.0, 0.5], atol=2e-3)


@pytest.mark.parametrize('effort', [0.3, 0.97, 0.999])
def test_sticks_below_the_friction(model, effort):
    """It creeps, as friction is smoothed: tanh(v / 0.01) is the share of friction that holds."""
    speed = run(model, lambda t: (0.0, effort), 0.3)
    creep = 0.01 * np.arctanh(effort)
    assert 0.0 < speed[-1, 1] <= 1.0001 * creep


def test_reverses_again_and_again(model):
    """With a drive, about the motion that the drive wants: through rest at every turn."""
    speed = run(model, lambda t: (2.6 * np.sin(9 * t), 1.2 * np.sin(7 * t)), 2.0,
                gains=(0.1, 0.01))
    turns = (np.diff(np.sign(speed), axis=0) != 0).sum(axis=0)
    assert np.isfinite(speed).all() and (turns >= 4).all()
    assert np.abs(speed[:, 1]).max() < 0.2 / 0.1 and np.abs(speed[:, 0]).max() < 0.6 / 0.5


def test_stops_from_high_speed(model):
    speed = run(model, lambda t: (0.0, 0.0), 0.2, velocity=(0.0, 300.0))
    assert abs(speed[-1, 1]) < 1e-3
    # never turned back: friction does no work
    assert (speed[:, 1] > -0.05).all()
