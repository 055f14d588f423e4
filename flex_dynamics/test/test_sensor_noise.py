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
"""Noise, bias, quantisation and delay of readings: as stated, and the same in every run."""
import numpy as np
import pytest

from flex_dynamics.simulation.sensor_noise import BLOCK, Channel, Delay


def channel(seed=0, number=0, **errors):
    one = Channel(3, seed, number)
    for name, value in errors.items():
        setattr(one, name, value)
    return one


def test_without_errors_a_reading_is_the_truth():
    truth = np.array([1.0, -2.0, 1e-9])
    assert (channel().read(7, truth) == truth).all() and channel().variance == 0.0


def test_noise_has_the_stated_deviation_and_no_memory():
    one, truth = channel(noise=0.2), np.array([5.0, 0.0, -5.0])
    errors = np.array([one.read(tick, truth) - truth for tick in range(20000)])
    count = errors.size
    assert abs(errors.mean()) < 4.0 * 0.2 / np.sqrt(count)
    assert abs(errors.std() / 0.2 - 1.0) < 4.0 / np.sqrt(2.0 * count)
    neighbours = (errors[1:] * errors[:-1]).mean() / 0.04
    assert abs(neighbours) < 4.0 / np.sqrt(count)
    between = np.corrcoef(errors.T) - np.eye(3)
    assert np.abs(between).max() < 4.0 / np.sqrt(len(errors))


def test_noise_depends_on_seed_channel_and_tick_alone():
    truth = np.zeros(3)
    ticks = [0, 1, BLOCK - 1, BLOCK, 5 * BLOCK + 3]
    first = [channel(3, 1, noise=1.0).read(tick, truth) for tick in ticks]
    skipping = channel(3, 1, noise=1.0)
    again = [skipping.read(tick, truth) for tick in reversed(ticks)][::-1]
    assert np.array_equal(first, again)
    for other in (channel(4, 1, noise=1.0), channel(3, 2, noise=1.0)):
        assert not np.array_equal(first[0], other.read(0, truth))


@pytest.mark.parametrize('quantum', [5e-324, 1e-300, 1e-30, 1e-17])
def test_quanta_below_the_rounding_of_a_reading_change_nothing(quantum):
    truth = np.array([0.3, -1e9, 0.0])
    with np.errstate(all='raise'):
        np.testing.assert_array_equal(channel(quantisation=quantum).read(0, truth), truth)


def test_bias_and_quantisation():
    one = channel(bias=np.array([0.1, 0.0, -0.1]), quantisation=0.25)
    assert one.read(0, np.array([1.0, 1.3, 1.0])).tolist() == [1.0, 1.25, 1.0]
    rng = np.random.default_rng(5)
    plain = channel(quantisation=0.25)
    errors = [plain.read(0, truth) - truth for truth in rng.uniform(-9.0, 9.0, (5000, 3))]
    assert abs(np.var(errors) / plain.variance - 1.0) < 0.05     # uniform within a quantum


def test_a_delay_gives_what_was_put_in_before():
    one = Delay(2)
    assert [one.pass_on(k) for k in range(5)] == [0, 0, 0, 1, 2]
    one.clear()
    assert one.pass_on(9) == 9
    none = Delay(0)
    assert [none.pass_on(k) for k in range(3)] == [0, 1, 2]
