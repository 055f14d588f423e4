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
"""The beam that spins up (Simo and Vu-Quoc): foreshortening is what keeps it together."""
from __future__ import annotations

import numpy as np
import pytest
from spinning_elastica import PERIOD, exact_lag, hub

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Servo, simulate


def spin_up(order: str, seconds: float, share: float = 1.0):
    """Time, the tip's deflection from its hub's axis (m), the model.

    A stiff servo drives the hub by a share of the published angle."""
    model = Model(load_robot('spin_up_beam'), order)
    servo = Servo(np.array([1e9]), np.array([1e6]),
                  lambda t: tuple(np.array([part]) for part in hub(t, share)[:2]))
    run = simulate(model, seconds, servo=servo, step=4e-3)
    beam = model.beam('beam').flexible
    error = run.q[:, 0] - [hub(t, share)[0] for t in run.time]
    assert np.abs(error).max() < 1e-5
    return run.time, run.q[:, 1:] @ beam.bend_y(np.array([beam.length]))[:, 0], model


def test_second_order_bends_back_and_returns():
    """Bends by 0.5758 m; with exact bending of the same shapes it is the published 0.5738 m."""
    time, tip, model = spin_up('second', 20.0)
    exact = exact_lag(model, time)
    assert exact.min() == pytest.approx(-0.5738, abs=1e-4)
    assert time[np.argmin(exact)] == pytest.approx(6.76, abs=5e-3)
    assert np.abs(exact[time > PERIOD]).max() == pytest.approx(3.6e-3, abs=5e-5)
    assert time[np.argmin(tip)] == pytest.approx(6.76, abs=0.01)
    assert np.abs(tip[time > PERIOD]).max() < 4e-3
    # What order `second` leaves out is of third order: half of the motion has an eighth of it.
    early, half, _ = spin_up('second', 8.0, 0.5)
    eighth = np.abs(half - exact_lag(model, early, 0.5)).max()
    assert np.abs(tip - exact).max() / eighth == pytest.approx(8.0, abs=0.4)
    assert tip.min() == pytest.approx(-0.5738, abs=8.0 * eighth)


def test_first_order_diverges():
    """Its first frequency, 3.798 rad/s, is below the 6 rad/s of the hub."""
    try:
        _, tip, _ = spin_up('first', 20.0)
    except DynamicsError as error:
        assert 'diverged' in str(error) or 'did not converge' in str(error)
    else:
        assert np.abs(tip).max() > 10.0                    # the beam's own length
