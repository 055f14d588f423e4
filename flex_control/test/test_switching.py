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
"""Controllers that take over in mid-motion, with the drives that they ask for: no bump."""
import numpy as np
import pytest

from flex_control import ControlLoop, Splines, make_controller
from flex_control.trial import Noise, SensorReader
from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.plant import Drives, Plant

PERIOD, STEP = 2e-3, 1e-3
FOLDED, TURNED = [0.0, 0.52, 2.09, 0.52], [0.5, 0.9, 1.4, 0.9]


class Rig:
    """The 4-joint arm under way from pose to pose, with drives as the running law asks."""

    def __init__(self, name):
        self.model = Model(load_robot('cibicik_arm'))
        still = np.zeros((2, 4))
        self._trajectory = Splines([0.0, 2.0], [FOLDED, TURNED], still, still)
        still = np.zeros(4)
        self._plant = Plant(self.model, STEP, round(PERIOD / STEP), Drives(still, still),
                            np.array(FOLDED), deflected=True, stops=False)
        self._sensors = SensorReader(self._plant, Noise())
        self._tick, self._commands = 0, []
        self.loop = ControlLoop(self.model, self._make(name), self._trajectory, switch_time=0.2)

    def _make(self, name):
        controller = make_controller(name, self.model)
        controller.set_drives(*controller.drive_gains())
        return controller

    def switch(self, name):
        self.loop.set_controller(self._make(name))

    def run(self, seconds):
        """All efforts so far (k, 4) that were commanded."""
        plant, controller = self._plant, self.loop.controller
        plant.drives = Drives(controller.drive_stiffness, controller.drive_damping)
        for _ in range(round(seconds / PERIOD)):
            effort = self.loop.step(PERIOD * self._tick, plant.q, plant.v,
                                    measurements=self._sensors.read())
            wanted = controller.reference
            plant.commands.accept_all(effort, wanted.position, wanted.velocity)
            plant.advance()
            self._commands.append(effort)
            self._tick += 1
        return np.array(self._commands)


@pytest.mark.parametrize('name', ['composite', 'computed_torque', 'feedback_linearization', 'lqr',
                                  'lqg', 'strain_feedback'])
def test_who_takes_over_at_speed_knows_the_speed(name):
    rig = Rig('pd')
    rig.run(0.7)
    assert np.abs(rig.loop.controller.v[:4]).max() > 0.3
    rig.switch(name)
    efforts = rig.run(0.3)
    steps = np.abs(np.diff(efforts, axis=0)).max(axis=1)
    assert steps[:349].max() < 5.0                     # N m, of the motion itself
    assert steps[349:].max() < 0.1 * np.abs(efforts).max()
