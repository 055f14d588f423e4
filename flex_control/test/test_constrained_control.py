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
"""Controllers and shaping of a crane whose flexible boom is lifted by a cylinder, in a loop."""
import numpy as np
import pytest

from flex_control import MinimumJerk, Shaped, Shaper, make_controller
from flex_control.commanded_joints import commanded_places
from flex_control.design.rest_model import rest_model
from flex_control.incremental import finish
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories import MotionLimits, Reference
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model

ROD = '<inertial><mass value="4"/><inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>'
CRANE = f"""<robot name="crane"><link name="ground"/><link name="boom"/><link name="load">
  <inertial><mass value="20"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link><link name="barrel">{ROD}</inertial></link><link name="rod">{ROD}</inertial>
  </link>
  <joint name="lift" type="continuous"><parent link="ground"/><child link="boom"/><origin
   xyz="0 0 1"/><axis xyz="0 -1 0"/></joint>
  <joint name="hook" type="fixed"><parent link="boom"/><child link="load"/><origin xyz="2.5 0 0"/>
  </joint>
  <joint name="foot" type="continuous"><parent link="ground"/><child link="barrel"/><origin
   xyz="1 0 0" rpy="0 -1.5707963267948966 0"/><axis xyz="0 -1 0"/></joint>
  <joint name="cylinder" type="prismatic"><parent link="barrel"/><child link="rod"/><origin
   xyz="1 0 0"/><axis xyz="1 0 0"/><limit lower="-0.4" upper="0.5" effort="1e5" velocity="1"/>
  </joint>
  <passive_joint name="lift"/><passive_joint name="foot"/>
  <flexible link="boom"><beam length="2.5"><section shape="rectangle" width="0.05" height="0.04"/>
   <material name="aluminium"/></beam><modes bending_y="0" bending_z="3" twist="0"/></flexible>
  <loop name="pin" type="ball"><first frame="boom" x="1.0"/><second frame="rod"/></loop></robot>"""


@pytest.fixture(scope='module')
def crane():
    return Model(load_robot(CRANE, log_warnings=False))


def at(model, extension):
    joints = np.zeros(model.n_joints)
    joints[commanded_places(model)] = extension
    return joints


def test_the_cylinder_is_commanded(crane):
    assert [crane.names[place] for place in commanded_places(crane)] == ['cylinder']


def test_quasi_static_motion_is_the_equilibrium(crane):
    found = ConstrainedReference(crane)
    found.move_to(Reference.at_rest(at(crane, 0.2)), 0.0)
    q, tau = crane.statics(found.q[:crane.n_joints])
    assert np.abs(found.q - q).max() < 1e-9
    assert np.abs(found.effort - tau).max() < 1e-6 * np.abs(tau).max()
    assert np.abs(crane.constraint_error(found.q)).max() < 1e-9


def test_shaper_has_the_frequency_on_the_constraints(crane):
    closed = crane.close(np.zeros(crane.n), held=crane.names[crane.n_joints:]).q
    locked = crane.frequencies(closed, held=['cylinder'])[0]
    assert Shaper(crane).modes_at(at(crane, 0.0))[0][0] == pytest.approx(locked[0], rel=1e-6)


@pytest.mark.parametrize('name', ['pd', 'pid', 'computed_torque'])
def test_shaped_motion_settles_without_vibration(crane, name):
    left = []
    for shaped in (False, True):
        controller = make_controller(name, crane)
        motion = MinimumJerk(at(crane, 0.0), at(crane, 0.2), 0.6)
        if shaped:
            gains = (controller.kp, controller.kd) if name != 'computed_torque' else ()
            motion = Shaped(motion, Shaper(crane, 'zvd', 1, *gains))
        result = run_trial(controller, motion, motion.end + 0.6, tip='load', period=2e-3,
                           step=1e-3)
        assert np.abs(result.joint_error()[-1]).max() < 2e-3      # the passive ones follow
        passive = np.setdiff1d(range(crane.n_joints), commanded_places(crane))
        assert not result.effort[:, passive].any()
        left.append(result.vibration(motion.end, motion.end + 0.6))
    assert left[1] < 0.2 * left[0]


@pytest.fixture(scope='module')
def lifts(crane):
    """A fast lift under each of these controllers."""
    motion = MinimumJerk(at(crane, 0.0), at(crane, 0.2), 0.6)
    made = {name: make_controller(name, crane) for name in ('pd', 'lqr', 'lqg')}
    return made, {name: run_trial(one, motion, 2.1, tip='load', period=2e-3, step=1e-3)
                  for name, one in made.items()}


def test_lqr_damps_what_pd_leaves(crane, lifts):
    left = {name: one.vibration(1.1, 2.1) for name, one in lifts[1].items()}
    assert left['lqr'] < 0.1 * left['pd']
    passive = np.setdiff1d(range(crane.n_joints), commanded_places(crane))
    for one in lifts[1].values():
        assert not one.effort[:, passive].any()
        assert np.abs(one.joint_error()[-1]).max() < 2e-3


def test_the_estimate_stays_on_the_constraints_and_follows(crane, lifts):
    estimator, truth = lifts[0]['lqg'].estimator, lifts[1]['lqg']
    assert np.abs(crane.constraint_error(estimator.q)).max() < 1e-8
    assert np.abs(crane.constraint_jacobian(estimator.q) @ estimator.v).max() < 1e-12
    tip = crane.pose(truth.q[-1], 'load')[:3, 3]
    assert np.linalg.norm(crane.pose(estimator.q, 'load')[:3, 3] - tip) < 2e-3


def test_the_linear_model_has_the_freedoms_of_the_constraints(crane):
    q, tau = crane.statics(at(crane, 0.1))
    none = np.zeros(crane.n_joints)
    rest = finish(rest_model(crane, q, none, none))
    freedom = crane.constraint_independence(q).freedom
    assert rest.shapes.shape == (crane.n, freedom)
    assert np.abs(crane.constraint_jacobian(rest.q) @ rest.shapes).max() < 1e-9
    assert np.abs(rest.shapes.T @ rest.M @ rest.shapes - np.eye(freedom)).max() < 1e-9
    # a displacement along the softest elastic shape accelerates back as its square says
    shape, still = rest.shapes[:, 1], np.zeros(crane.n)
    there = crane.close(q + 1e-5 * shape).q
    back = crane.forward_dynamics(there, still, tau) - crane.forward_dynamics(q, still, tau)
    assert shape @ rest.M @ back == pytest.approx(-1e-5 * rest.squares[1], rel=1e-3)


def test_passive_joints_take_no_motion(crane):
    names = crane.joint_names
    reader = TrajectoryReader(names, MotionLimits.of(crane.robot, names).of_some(
        commanded_places(crane)), commanded=('cylinder',))
    still = Reference.at_rest(np.zeros(len(names)))

    def points(name):
        return TrajectoryPoints((name,), 0.0, np.array([1.0]), np.array([[0.1]]), None, None, None)

    assert reader.read(points('cylinder'), 0.0, still).sample(2.0).position[
        names.index('cylinder')] == pytest.approx(0.1)
    with pytest.raises(GoalError, match="'lift' is moved by the constraints of the robot: name "
                                        'cylinder only'):
        reader.read(points('lift'), 0.0, still)
