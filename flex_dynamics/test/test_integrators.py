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
"""The real-time integrator against the adaptive one, and where it must not break."""
from __future__ import annotations

import time

import numpy as np
import pytest
from small_robots import beam_robot, body_robot

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Servo, Simulation, Wrench, simulate

ARM_GAINS = np.array([4000.0, 12000.0, 6000.0, 400.0]), np.array([800.0, 2400.0, 900.0, 40.0])


START = np.array([0.0, np.pi / 6, 2.0 * np.pi / 3, np.pi / 6])


def set_points(t: float) -> np.ndarray:
    if t < 0.5:
        return START
    return np.array([np.pi / 4 if t > 3.0 else 0.0, *3 * [np.pi / 3]])


def ramps(t: float) -> tuple[np.ndarray, np.ndarray]:
    rate = 2.0 * np.pi * np.array([1.0, 0.7])
    return 0.3 * np.sin(rate * t), 0.3 * rate * np.cos(rate * t)


@pytest.mark.parametrize('load', [False, True], ids=['servo', 'wrench'])
def test_halving_the_step_quarters_the_error(load):
    model = Model(load_robot('de_luca_siciliano'))
    servo = Servo(np.array([20.0, 8.0]), np.array([2.0, 0.5]), ramps)
    wrenches = [Wrench('link2', np.array([0.2, 0.5, 0.0]), x=0.3)] if load else None
    v = np.zeros(model.n)
    v[:2] = 1.0, -2.0
    exact = simulate(model, 0.4, v=v, servo=servo, wrenches=wrenches, method='adaptive',
                     step=0.4, tolerance=1e-11)
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        run = simulate(model, 0.4, v=v, servo=servo, wrenches=wrenches, step=step)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
    assert errors[0] < 1e-3
    ratios = np.array(errors[:-1]) / errors[1:]
    assert ratios == pytest.approx([4.0, 4.0], rel=0.1)


def test_steps_of_stiff_servos_at_1_ms_with_modes_above_1_khz():
    """The 4-joint arm's manoeuvre: set-points that jump, twist modes of many kHz."""
    model = Model(load_robot('cibicik_arm'))
    highest = model.frequencies(np.zeros(model.n), 'locked')[0][-1] / (2.0 * np.pi)
    assert highest > 1000.0
    q = np.zeros(model.n)
    q[:4] = START
    servo = Servo(*ARM_GAINS, set_points)
    run = simulate(model, 6.0, q, servo=servo, step=1e-3)
    assert run.q[-1, :4] == pytest.approx([0.78542, 1.08531, 1.06795, 1.04639], abs=2e-3)
    finer = simulate(model, 6.0, q, servo=servo, step=5e-4, output_step=1e-3)
    assert np.abs(run.q[:, :4] - finer.q[:, :4]).max() < 2e-2


@pytest.mark.parametrize('square', [1e6, 1e7, 1e9], ids=['160 Hz', '500 Hz', '5 kHz'])
def test_a_stiff_servo_on_a_light_beam_end(square):
    """A loop of this frequency jumps by 0.5 rad: explicit rules would need 10 us and less."""
    model = Model(load_robot('lab_link'))
    inertia = model.mass_matrix(np.zeros(model.n))[0, 0]
    simulation = Simulation(model, 1e-3)
    simulation.set_servo([square * inertia], [2.0 * np.sqrt(square) * inertia], [0.5])
    simulation.advance(3000)
    assert simulation.q[0] == pytest.approx(0.5, abs=1e-3)
    assert np.abs(simulation.q[1:]).max() < 1.0


def test_a_servo_on_a_pinned_root_turns_the_root_section():
    """15 modes: the root has next to no inertia, its loop is far faster than the step."""
    model = Model(load_robot('lin_lewis_one_link'))
    turn = model.input_matrix(np.zeros(model.n))[:, 0]
    inertia = model.mass_matrix(np.zeros(model.n))[0, 0]
    simulation = Simulation(model, 1e-3)
    simulation.set_servo([100.0 * inertia], [20.0 * inertia], [0.02])
    simulation.advance(4000)
    assert turn @ simulation.q == pytest.approx(0.02, abs=2e-4)


def test_one_call_of_many_steps_is_many_calls():
    model = Model(load_robot('lab_link'))
    v = np.full(model.n, 0.1)
    one, other = Simulation(model, v=v), Simulation(model, v=v)
    one.advance(50, [0.2])
    for _ in range(50):
        other.advance(1, [0.2])
    assert (one.q == other.q).all() and (one.v == other.v).all()
    assert one.time == pytest.approx(other.time) == pytest.approx(0.05)


def test_loads_in_the_step_are_those_of_forward_dynamics():
    model = Model(beam_robot(joint='continuous', rotary=1e-4))
    load = [Wrench('beam', np.array([0.1, 0.4, -0.3]), np.array([0.05, 0.0, 0.1]), x=1.3)]
    simulation = Simulation(model, 1e-5)
    simulation.set_loads(load)
    simulation.advance(1)
    a = model.forward_dynamics(np.zeros(model.n), np.zeros(model.n), np.zeros(1), load)
    assert simulation.v[0] / 1e-5 == pytest.approx(a[0], rel=1e-3)
    simulation = Simulation(model, 2.5e-4)
    simulation.set_loads(load)
    simulation.advance(200)
    exact = simulate(model, 0.05, wrenches=load, method='adaptive', step=0.05)
    assert simulation.q == pytest.approx(exact.q[-1], abs=1e-5)


def test_an_event_ends_the_run_where_it_crosses_zero():
    model = Model(body_robot('prismatic', gravity='0 0 -10'))
    run = simulate(model, 5.0, v=[4.0], event=lambda t, q, v: -v[0])
    assert run.event_time == pytest.approx(0.4, abs=1e-9)
    assert run.time[-1] == pytest.approx(0.4, abs=2e-3)
    assert len(run.time) == len(run.q) == len(run.v) == len(run.tau)
    assert run.of('joint1').max() == pytest.approx(0.8, abs=1e-5)


def test_effort_functions_are_held_over_an_output_step():
    model = Model(body_robot())
    run = simulate(model, 1.0, tau=lambda t, q, v: np.array([t]), step=1e-3, output_step=0.1)
    assert run.tau[:, 0] == pytest.approx(run.time)
    assert run.v[-1, 0] == pytest.approx(np.sum(run.time[:-1]) * 0.1 / 0.1, rel=1e-9)


def test_a_long_run_reports_its_progress(capsys, monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr(time, 'monotonic', lambda: float(next(ticks)))
    simulate(Model(body_robot()), 0.02, progress=True)
    shown = capsys.readouterr().err
    assert 'simulating:' in shown and '100.0 %' in shown


def test_divergence_is_said_and_the_last_good_state_kept():
    model = Model(load_robot('lab_link'))
    simulation = Simulation(model)
    simulation.set_servo([0.0], [-1e4], [0.0])
    simulation.set_state(np.zeros(model.n), np.full(model.n, 1e-3))
    with pytest.raises(DynamicsError, match='after .* s: largest speed in|moves no mass'):
        simulation.advance(100000)
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.v).all()


def jumping(model: Model, stiffness: float, place: float) -> Servo:
    """Servos whose target jumps at 0.05 s from 0 to a place."""
    ones = np.ones(model.n_joints)
    return Servo(stiffness * ones, 0.02 * stiffness * ones,
                 lambda t: ones * (place if t >= 0.05 else 0.0))


def test_adaptive_shortens_a_step_whose_trial_leaves_the_model():
    """At rest its steps have grown to 50 ms; stages of one over the jump reach 1e100."""
    model = Model(load_robot('lab_link'))
    servo = jumping(model, 1e4, 0.3)
    run = simulate(model, 0.06, servo=servo, step=0.06, method='adaptive', tolerance=1e-8)
    expected = simulate(model, 0.06, servo=servo, step=1e-5)
    assert run.q[-1] == pytest.approx(expected.q[-1], abs=1e-5)
    assert abs(run.q[-1, 0]) > 0.05


@pytest.mark.parametrize('order, place, words', [
    ('linear', 0.3, r'stopped at 0\.05.* s: shorter .*largest deflection'),
    ('second', np.nan, r'target at 0\.05.* s: expected finite numbers, found nan for joint1')])
def test_adaptive_says_when_and_why_the_model_ends(order, place, words):
    model = Model(load_robot('cibicik_arm_paper'), order)
    with pytest.raises(DynamicsError, match=words):
        simulate(model, 0.1, servo=jumping(model, 1e4, place), step=0.1, method='adaptive',
                 tolerance=1e-6)


def test_adaptive_refuses_a_start_that_is_none():
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    with pytest.raises(DynamicsError, match="^order 'linear'.*not positive definite"):
        simulate(model, 0.1, q=np.full(model.n, 0.5), step=0.1, method='adaptive')
