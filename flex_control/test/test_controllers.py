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
"""Controllers: found by name, parameters checked, and the law is the law."""
import numpy as np
import pytest

from flex_control import (
    PD,
    ControlError,
    Controller,
    MinimumJerk,
    Reference,
    available_controllers,
    controller_class,
    make_controller,
)
from flex_control.controllers import GROUP
from flex_control.reference.static_load import StaticLoad
from flex_control.trial import run_trial
from flex_description import load_robot
from flex_dynamics import Model, Simulation


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def test_pd_is_installed_under_its_name():
    assert 'pd' in available_controllers()
    assert controller_class('pd') is PD


def test_an_unknown_controller_is_named_with_a_hint(arm):
    with pytest.raises(ControlError, match="unknown controller 'pdd'.*did you mean 'pd'"):
        make_controller('pdd', arm)


def test_another_package_can_add_a_controller(monkeypatch, arm):
    class Push(Controller):
        def update(self, time, period):
            return np.full(self.model.n_joints, time)

    class Point:
        name, value = 'push', 'elsewhere:Push'
        load = staticmethod(lambda: Push)

    monkeypatch.setattr('flex_control.controllers.entry_points',
                        lambda group: [Point] if group == GROUP else [])
    assert make_controller('push', arm).update(3.0, 0.1).tolist() == [3.0] * 4
    Point.load = staticmethod(lambda: int)
    with pytest.raises(ControlError, match='expected a subclass of flex_control.Controller'):
        make_controller('push', arm)


@pytest.mark.parametrize('given, words', [
    ({'kp': -1.0}, 'kp: expected 0 to'),
    ({'kp': [1.0, 2.0]}, 'kp: expected 1 or 4 numbers'),
    ({'kd': float('nan')}, 'kd: expected 0 to'),
    ({'kd': 'much'}, 'kd: expected numbers'),
    ({'static_compensation': 1.0}, 'static_compensation: expected true or false'),
    ({'ki': 1.0}, "unknown parameter 'ki'"),
])
def test_bad_parameters_are_refused_and_change_nothing(arm, given, words):
    controller = PD(arm, {'kp': 5.0, 'kd': 1.0})
    with pytest.raises(ControlError, match=words):
        controller.set_parameters(given)
    assert controller.parameters['kp'].tolist() == [5.0] * 4
    assert controller.kp.tolist() == [5.0] * 4


def test_pd_law(arm):
    kp, kd = np.array([4000.0, 12000, 6000, 400]), np.array([800.0, 2400, 900, 40])
    controller = PD(arm, {'kp': kp, 'kd': kd, 'static_compensation': False})
    rng = np.random.default_rng(1)
    controller.q, controller.v = rng.normal(size=arm.n), rng.normal(size=arm.n)
    controller.reference = Reference(*rng.normal(size=(3, 4)))
    wanted = controller.reference
    assert np.allclose(controller.update(0.0, 0.002),
                       kp * (wanted.position - controller.q[:4])
                       + kd * (wanted.velocity - controller.v[:4]))


@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree', 'mladenova_arm'])
def test_static_load_is_the_equilibrium_of_the_model(name):
    model = Model(load_robot(name))
    load = StaticLoad(model)
    for angle in (0.3, 0.4):
        joints = np.full(model.n_joints, angle)
        wanted = model.statics(joints)[1]
        close = 1e-6 * max(1.0, np.abs(wanted).max())
        assert np.allclose(load.efforts(joints), wanted, atol=close)


def test_compensated_pd_holds_the_sagging_arm_still(arm):
    """Started in static equilibrium, the compensated controller has nothing to correct."""
    joints = np.array([0.0, 0.5, 1.0, 0.5])
    q, _ = arm.statics(joints)
    controller = PD(arm)
    controller.q, controller.reference = q, Reference.at_rest(joints)
    simulation = Simulation(arm, 1e-3, q=q)
    simulation.advance(200, controller.update(0.0, 0.002))
    assert np.abs(simulation.q - q).max() < 1e-5


def test_default_gains_bring_a_small_arm_to_its_goal():
    model = Model(load_robot('lab_link'))
    controller = make_controller('pd', model)
    simulation = Simulation(model, 1e-3, q=model.statics([0.0])[0])
    motion = MinimumJerk([0.0], [0.5], 2.0)
    for tick in range(4000):      # the gentle default bandwidth takes its time
        controller.q, controller.v = simulation.q, simulation.v
        controller.reference = motion.sample(tick * 0.002)
        # the drive's loop: speed gains act inside the step
        simulation.set_servo([0.0], controller.kd, [0.0], controller.reference.velocity)
        error = controller.reference.velocity - simulation.v[:1]
        simulation.advance(2, controller.update(tick * 0.002, 0.002) - controller.kd * error)
    assert abs(simulation.q[0] - 0.5) < 2e-3


def test_default_gains_let_a_light_wrist_hold_against_the_arm(arm):
    """With gains from its own inertia alone it would swing 0.6 rad off."""
    motion = MinimumJerk([0.0, 0.52, 2.09, 0.52], [0.5, 0.9, 1.4, 0.9], 1.0, start=0.1)
    result = run_trial(PD(arm), motion, 2.0, period=2e-3, step=1e-3)
    assert np.abs(result.joint_error()).max() < 0.05
