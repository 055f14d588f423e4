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
"""What a controller believes of a payload that somebody estimates."""
import numpy as np
import pytest

from flex_control import ControlError, make_controller
from flex_control.loop.payload_gate import OfferedPayload, PayloadGate
from flex_description import load_robot
from flex_dynamics import Model


def run(gate, masses, begin=0.0, deviation=0.1, centre=(0.0, 0.0, 0.0)):
    """One estimate of these every 10 ms; the largest mass taken over meanwhile."""
    most = 0.0
    for k, mass in enumerate(masses):
        time = begin + 0.01 * k
        gate.offer(OfferedPayload(time, mass, np.array(centre), deviation))
        gate.advance(time)
        most = max(most, float(gate.payload[0]))
    return most


def test_a_lasting_estimate_is_taken_over_gently():
    gate = PayloadGate(10.0, 0.3)
    before = np.zeros(4)
    for k in range(100):
        gate.offer(OfferedPayload(0.01 * k, 2.0, np.array([0.1, 0.0, 0.0]), 0.1))
        gate.advance(0.01 * k)
        assert abs(gate.payload[0] - before[0]) < 0.4 and gate.payload[0] < 2.0 + 1e-9
        before = gate.payload.copy()
    assert gate.payload == pytest.approx([2.0, 0.2, 0.0, 0.0])


def test_short_and_wild_estimates_never_reach_the_arm():
    random = np.random.default_rng(1)
    gate = PayloadGate(10.0, 0.3)
    assert run(gate, [2.0] * 5 + [0.0] * 40) == 0.0                  # for 50 ms
    assert run(gate, random.uniform(-20.0, 20.0, 300), 1.0) == 0.0   # noise
    for bad in (np.nan, np.inf, -np.inf, 1e300, -1e300, 11.0, -5.0):
        assert run(gate, [bad] * 50, 5.0) == 0.0 and gate.reason
    assert run(gate, [2.0] * 50, 6.0, deviation=1.5) == 0.0 and 'not sure' in gate.reason
    for deviation in (np.nan, -1.0, np.inf):
        assert run(gate, [2.0] * 50, 7.0, deviation) == 0.0
    assert run(gate, [2.0] * 50, 8.0, centre=(0.5, 0.0, 0.0)) == 0.0 and 'centre' in gate.reason
    assert run(gate, [2.0] * 50, 9.0, centre=(np.nan, 0.0, 0.0)) == 0.0


def test_a_payload_is_kept_in_silence_and_under_garbage():
    gate = PayloadGate(10.0, 0.3)
    run(gate, [2.0] * 100)
    for k in range(100):
        gate.advance(1.0 + 0.1 * k)
        gate.offer(OfferedPayload(1.0 + 0.1 * k, np.nan, np.zeros(3), 0.1))
    assert gate.payload[0] == pytest.approx(2.0)
    run(gate, [0.0] * 100, 20.0)
    assert not gate.payload.any()


def test_small_changes_are_left():
    gate = PayloadGate(10.0, 0.3)
    run(gate, [2.0] * 100)
    run(gate, [2.015] * 100, 2.0)
    assert gate.payload[0] == pytest.approx(2.0)
    # Light payloads do not flicker: what came in at 0.25 kg stays until half of that.
    run(gate, [0.3] * 100, 4.0)
    assert gate.payload[0] == pytest.approx(0.3)
    run(gate, [0.2] * 100, 6.0)
    assert gate.payload[0] == pytest.approx(0.2)
    run(gate, [0.05] * 100, 8.0)
    assert gate.payload[0] == 0.0


def test_time_that_is_set_back_does_no_harm():
    gate = PayloadGate(10.0, 0.3)
    run(gate, [2.0] * 100, 1000.0)
    run(gate, [1.0] * 100, 0.0)
    assert gate.payload[0] == pytest.approx(1.0)


@pytest.mark.parametrize('name', ['pd', 'pid'])
def test_controllers_carry_what_they_are_told(name):
    model = Model(load_robot('cibicik_arm'))
    heavy = model.with_payload('box', 'tool', 2.0)
    pose = np.array([0.0, 0.5, 1.0, 0.5])
    told, knows = (make_controller(name, one, {'tip_compensation': True, 'tip_frame': 'tool'})
                   for one in (model, heavy))
    gains = told.kp.copy(), told.kd.copy()
    efforts = []
    for controller in (told, knows):
        if controller is told:
            controller.update(0.0, 0.0)
            controller.carry(heavy)
        controller.q, controller.v = np.zeros(model.n), np.zeros(model.n)
        controller.q[:4] = pose
        controller.reference = type(controller.reference).at_rest(pose)
        controller.reset()
        controller.kp, controller.kd = gains
        controller.set_drives(np.zeros(4), np.zeros(4))
        efforts.append(controller.update(0.0, 0.0))
    assert efforts[0] == pytest.approx(efforts[1], rel=1e-6, abs=1e-6)
    assert (told.kp == gains[0]).all()


def test_other_controllers_say_that_they_do_not():
    model = Model(load_robot('lab_link'))
    controller = make_controller('lqr', model)
    assert not controller.knows_payload
    with pytest.raises((TypeError, ControlError), match='payload'):
        controller.carry(model)
