"""The beam that spins up (Simo and Vu-Quoc): foreshortening is what keeps it together."""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Servo, simulate

PERIOD = 15.0


def hub(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Angle and speed of the root."""
    if t >= PERIOD:
        return np.array([6.0 * t - 45.0]), np.array([6.0])
    turn = 2.0 * np.pi / PERIOD
    return (np.array([0.4 * (t**2 / 2.0 + (np.cos(turn * t) - 1.0) / turn**2)]),
            np.array([0.4 * (t - np.sin(turn * t) / turn)]))


def spin_up(order: str, seconds: float):
    """Time, the tip's deflection from its hub's axis (m), the hub's error (rad).

    A stiff servo drives the hub."""
    model = Model(load_robot('spin_up_beam'), order)
    servo = Servo(np.array([1e9]), np.array([1e6]), hub)
    run = simulate(model, seconds, servo=servo, step=4e-3)
    beam = model.beam('beam').flexible
    error = run.q[:, 0] - [hub(t)[0][0] for t in run.time]
    return run.time, run.q[:, 1:] @ beam.bend_y(np.array([beam.length]))[:, 0], error


def test_second_order_bends_back_and_returns():
    """Here 0.5758 m, whatever the step; converged nonlinear beams have 0.5738 m."""
    time, tip, error = spin_up('second', 20.0)
    assert np.abs(error).max() < 1e-5
    assert tip.min() == pytest.approx(-0.574, abs=2.5e-3)
    assert time[np.argmin(tip)] == pytest.approx(6.76, abs=0.02)
    late = np.abs(tip[time > PERIOD])
    assert late.max() == pytest.approx(3.6e-3, abs=5e-4)


def test_first_order_diverges():
    """Its first frequency, 3.798 rad/s, is below the 6 rad/s of the hub."""
    try:
        _, tip, _ = spin_up('first', 20.0)
    except DynamicsError as error:
        assert 'diverged' in str(error) or 'did not converge' in str(error)
    else:
        assert np.abs(tip).max() > 10.0                    # the beam's own length
