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
"""Every installed controller by its name, at the state rate of the launch file: the arm arrives,
or the controller says why it would not."""
import numpy as np
import pytest

from flex_control import ControlError, MinimumJerk, make_controller
from flex_control.controllers import available_controllers
from flex_control.trial import Noise, run_trial
from flex_description import load_robot
from flex_dynamics import Model

PERIOD, STEP = 2e-3, 1e-3       # s, as in flex_bringup/config/default.yaml
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2, seed=1)
OWN = {'attitude', 'composite', 'computed_torque', 'elastic_joint', 'feedback_linearization',
       'lqg', 'lqr', 'mpc', 'pd', 'pid', 'strain_feedback'}
REFUSED = {
    ('cibicik_arm', 'attitude'): 'floats',
    ('lab_link', 'attitude'): 'floats',
    ('mladenova_arm', 'attitude'): 'floats',
    ('cibicik_arm', 'elastic_joint'): 'elastic',
    ('lab_link', 'elastic_joint'): 'elastic',
    ('mladenova_arm', 'computed_torque'): 'elastic',
    ('mladenova_arm', 'feedback_linearization'): 'elastic',
    ('mladenova_arm', 'strain_feedback'): 'gauges',
}
MOVES = {
    'cibicik_arm': ([0.0, 0.52, 2.09, 0.52], [0.78, 1.04, 1.04, 1.04]),
    'lab_link': ([0.1], [0.4]),
    'mladenova_arm': ([0.1], [0.4]),
}


@pytest.fixture(scope='module', params=sorted(MOVES))
def model(request):
    return Model(load_robot(request.param))


def test_own_controllers_are_installed():
    assert set(available_controllers()) >= OWN


@pytest.mark.parametrize('name', sorted(OWN))
def test_the_arm_arrives_or_the_reason_is_told(model, name):
    robot = model.robot.name
    motion = MinimumJerk(*MOVES[robot], 1.5, start=0.1)

    def trial():
        return run_trial(make_controller(name, model), motion, 4.0, period=PERIOD, step=STEP,
                         noise=NOISE, tip=model.robot.links[-1].name)

    why = REFUSED.get((robot, name))
    if why is not None:
        with pytest.raises(ControlError, match=why):
            trial()
        return
    end = trial().joint_error()[-250:]
    assert np.abs(end).max() < 0.02, np.abs(end).max()
