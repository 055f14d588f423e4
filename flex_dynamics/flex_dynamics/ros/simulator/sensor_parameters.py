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
"""Parameters of the sensors' errors."""
from __future__ import annotations

from functools import partial
from typing import Any

from rclpy.node import Node

from flex_dynamics.simulation.sensor_noise import Channel, Delay
from flex_ros.parameters import LiveParameters, declare


class SensorParameters:
    """Declares the parameters of channels as these are asked for; each has noise of its own."""

    def __init__(self, node: Node, live: LiveParameters, period: float) -> None:
        self._node, self._live, self._period = node, live, period
        self._channels = 0
        self._seed = declare(node, 'sensors.seed', 0, 'of the noise of all sensors: the same '
                             'seed, the same noise', lower=0, upper=2**31, fixed=True)

    def channel(self, sensor: str, prefix: str, what: str, size: int, each: str) -> Channel:
        """Parameters `<sensor>.<prefix>noise`, `bias` and `quantisation`; `what` has the unit."""
        channel = Channel(size, self._seed, self._channels)
        self._channels += 1
        name = f'{sensor}.{prefix}'
        self._live.number(f'{name}noise', f'standard deviation of {what}',
                          partial(setattr, channel, 'noise'), 1e6)
        self._live.number(f'{name}quantisation', f'least step of {what}; 0 for none',
                          partial(setattr, channel, 'quantisation'), 1e6)
        self._live.vector(f'{name}bias', f'constant error of {what}',
                          partial(setattr, channel, 'bias'), size, each, -1e6, 1e6)
        return channel

    def delay(self, sensor: str) -> Delay[Any]:
        """The parameter `<sensor>.delay`."""
        given = declare(self._node, f'{sensor}.delay', 0.0, 's from a reading to its message, '
                        'whose stamp is that of the sending; rounded to periods', lower=0.0,
                        upper=10.0, fixed=True)
        return Delay(round(given / self._period))

    def flag(self, name: str, description: str) -> bool:
        return declare(self._node, name, True, description, fixed=True)
