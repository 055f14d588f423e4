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
"""Parameters of the observer node."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rclpy.node import Node

from flex_control import FilterNoise
from flex_dynamics import Model
from flex_ros.parameters import NodeError, declare

OFF = 'standard deviation; 0: not used'
SOURCES = ('auto', 'joint_states', 'joint_commands', 'none')


@dataclass(frozen=True)
class Settings:
    """What is fixed at the start; times in s."""

    rate: float               # estimates a second
    covariance_rate: float    # covariances a second; 0: one for every estimate
    effort_source: str        # one of SOURCES
    coast_time: float
    sensor_delay: float


def declare_settings(node: Node) -> Settings:
    return Settings(
        declare(node, 'rate', 500.0, 'estimates a second, by the stamps of joint_states',
                lower=10.0, upper=2e3, fixed=True),
        declare(node, 'covariance_rate', 50.0, 'covariances a second; 0: one for every estimate',
                lower=0.0, upper=2e3, fixed=True),
        declare(node, 'effort_source', 'auto', 'where joint efforts come from; auto: joint_states '
                'where it has any that are not zero, else joint_commands, else none',
                choices=SOURCES, fixed=True),
        declare(node, 'coast_time', 0.2, 's without joint_states for which the estimate goes on '
                'by the model alone', lower=0.0, upper=60.0, fixed=True),
        declare(node, 'sensor_delay', 0.02, 's that a reading may be older than the joint state '
                'with which it is used', lower=1e-4, upper=10.0, fixed=True))


def declare_noise(node: Node, model: Model) -> FilterNoise:
    """The noise of sensors and disturbances, with the names that lqg has for them."""
    def number(name: str, default: float, description: str, upper: float) -> float:
        return float(declare(node, name, default, description, lower=0.0, upper=upper,
                             fixed=True))

    effort = declare(node, 'effort_noise', [], 'N m/sqrt(Hz) or N/sqrt(Hz), density of errors of '
                     'reported efforts, one a joint or one for all; empty: in proportion to the '
                     'longest reach and the softness of the arm', lower=0.0, upper=1e6, fixed=True)
    if effort.size not in (0, 1, model.n_joints):
        raise NodeError(f'parameter effort_noise: expected none, 1 or {model.n_joints} numbers '
                        f'(one a joint), found {effort.size}')
    push = number('push', 0.0, 'N, size of unknown forces on the tip; 0: what moves the tip by '
                  '0.3 % of the reach', 1e6)
    trusted = number('trusted_mode', 0.0, 'Hz; modes above count as noise of unknown phase; 0: '
                     '0.1 times the rate', 1e6)
    return FilterNoise(
        number('encoder', 1e-5, f'rad or m, noise of joint positions, {OFF}', 1e3),
        number('encoder_speed', 1e-2, f'rad/s or m/s, noise of joint velocities, {OFF}', 1e3),
        number('strain', 1e-6, f'm/m, noise of strain gauges, {OFF}', 1.0),
        number('gyro', 2e-3, f'rad/s, noise of IMUs, {OFF}', 1e3),
        number('accelerometer', 5e-2, f'm/s2, noise of IMUs, {OFF}', 1e3),
        effort if effort.size else None,
        number('shaking', 1e-5, 'W, power that unknown shaking puts into every mode', 1e3),
        push or None,
        float(declare(node, 'push_time', 2.0, 's, for how long unknown forces last', lower=1e-3,
                      upper=1e4, fixed=True)),
        2.0 * np.pi * trusted if trusted else np.inf)
