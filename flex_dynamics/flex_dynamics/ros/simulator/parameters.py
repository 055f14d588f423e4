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
"""Parameters of the simulator node, declared, checked, and the plant that they describe."""
from __future__ import annotations

import math
from functools import partial

import numpy as np
from rclpy.node import Node

from flex_description import default_pose
from flex_dynamics import Model, largest_joint_inertia
from flex_dynamics.simulation.holding import weak_joints_warning
from flex_dynamics.simulation.pacing import Timing
from flex_dynamics.simulation.plant import Drives, Plant
from flex_ros.parameters import LiveParameters, NodeError, declare

STRONGEST = 1e12         # gain of a drive, N m/rad or N m s/rad


def declare_timing(node: Node) -> Timing:
    """The parameters about time."""
    def number(name: str, default: float, description: str, lower: float, upper: float) -> float:
        return declare(node, name, default, description, lower=lower, upper=upper, fixed=True)

    step = number('step', 0.001, 'inner integration step, s', 1e-6, 0.1)
    rate = number('rate', 500.0, 'states a simulated s', 1.0, 1e5)
    steps = round(1.0 / (rate * step))
    if steps < 1 or abs(steps * step * rate - 1.0) > 1e-9:
        raise NodeError(f'parameter rate: expected 1/rate to be a whole number of steps of '
                        f'{step:g} s, found {1.0 / (rate * step):g} steps')
    sync = declare(node, 'sync', 'free', 'free: paced by the wall clock; lockstep: each state '
                   'waits for its command', choices=('free', 'lockstep'), fixed=True)
    fail_safe = declare(node, 'fail_safe', 'zero', 'what acts in place of a command that is '
                        'missing or bad: no effort (the drives still damp), or the last command',
                        choices=('zero', 'hold'), fixed=True)
    driver = declare(node, 'driver', 'answering', 'answering: it answers each state by a command, '
                     "as the control node does; independent: commands come on the driver's own "
                     'schedule, as from ros2_control: time passes from the start, the drives hold '
                     'the start pose, the last command is kept, and NaN means not commanded',
                     choices=('answering', 'independent'), fixed=True)
    independent = driver == 'independent'
    if independent and sync == 'lockstep':
        raise NodeError('parameter sync: expected free with driver independent, found lockstep: '
                        'a driver on its own schedule does not answer each state')
    timeout = number('command_timeout', 0.0, 'free: simulated s without a good command until the '
                     'fail-safe acts; 0: 0.1 s, or never with driver independent', 0.0, 1e3)
    clock_rate = number('clock_rate', 100.0, 'clock messages a simulated s', 1.0, 1e5)
    return Timing(
        step=step, steps=steps, lockstep=sync == 'lockstep',
        real_time_factor=number('real_time_factor', 1.0, 'free: simulated s a wall s', 1e-3, 1e3),
        command_timeout=timeout or (math.inf if independent else 0.1),
        slip_delay=number('slip_delay', 0.004, 'free: age of the last command, simulated s and at '
                          'least two periods, at which time waits for a driver that says that it '
                          'answers every state', 0.0, 1e3),
        slip_timeout=number('slip_timeout', 2.0, 'free: wall s that time waits for it at most; 0: '
                            'time waits for no driver', 0.0, 1e3),
        lockstep_timeout=number('lockstep_timeout', 5.0, 'lockstep: wall s without a command '
                                'until the simulator logs who does not answer', 0.1, 1e4),
        hold_on_silence=fail_safe == 'hold',
        wait_for_command=declare(node, 'wait_for_command', True, 'free: hold simulated time at '
                                 'its start until the first good command', fixed=True),
        start_paused=declare(node, 'start_paused', False, 'wait for ~/set_simulation_state before '
                             'anything moves', fixed=True),
        independent=independent,
        clock_every=max(1, round(1.0 / (clock_rate * steps * step))),
        # Name and value are those of ros2_control's controller manager.
        thread_priority=declare(node, 'thread_priority', 50, 'free: real-time priority '
                                '(SCHED_FIFO) of the simulator, where the system grants it; 0: '
                                'none', lower=0, upper=99, fixed=True))


def declare_plant(node: Node, model: Model, timing: Timing, live: LiveParameters) -> Plant:
    """The parameters about the start pose, the stops and the drives, and the plant."""
    joints = model.n_joints
    given = declare(node, 'start.positions', [], 'joint positions at the start, rad or m; one a '
                    'joint, one for all, or empty: zero where the limits allow it, else the '
                    'middle of the range', fixed=True)
    if given.size not in (0, 1, joints):
        raise NodeError(f'parameter start.positions: expected none, 1 or {joints} numbers (one a '
                        f'joint), found {given.size}')
    usual = default_pose(model.robot)
    start = np.zeros(joints) + (given if given.size else list(usual.values()))
    moved = [f'{name} {position:g}' for name, position in usual.items() if position]
    if moved and not given.size:
        node.get_logger().info('no start pose is given and the limits of these joints exclude '
                               'zero; they start in the middle of their range (rad or m): '
                               + ', '.join(moved))
    limits = model.joint_limits
    for name, position, lower, upper in zip(model.joint_names, start, limits.lower, limits.upper):
        if not lower <= position <= upper:
            raise NodeError(f'parameter start.positions: expected {lower:g} to {upper:g} for '
                            f'{name} (its limits), found {position:g}')
    if weak := weak_joints_warning(model, start, 'start pose'):
        node.get_logger().warning(weak)
    deflected = declare(node, 'start.deflected', True, 'start at rest with the links bent by '
                        'gravity; false: straight', fixed=True)
    stops = declare(node, 'stops', True, 'whether joints meet a stiff stop at their limits',
                    fixed=True)
    plant = Plant(model, timing.step, timing.steps, Drives(np.zeros(joints), np.zeros(joints)),
                  start, deflected, stops, holds_start=timing.independent)
    plant.commands.partial = timing.independent
    DriveParameters(plant, live)
    return plant


class DriveParameters:
    """Keeps the drives of a plant as the parameters say."""

    def __init__(self, plant: Plant, live: LiveParameters) -> None:
        self._plant = plant
        self._inertia = largest_joint_inertia(plant.model)
        self._stiffness = self._damping = np.zeros(len(self._inertia))
        self._bandwidth = 0.0
        joints, each = len(self._inertia), 'a joint'
        live.vector('drive.stiffness', "stiffness of the drives' own loops, N m/rad or N/m, for "
                    'joints whose command has a position', partial(self._set, '_stiffness'),
                    joints, each, 0.0, STRONGEST)
        live.vector('drive.damping', "damping of the drives' own loops, N m s/rad or N s/m",
                    partial(self._set, '_damping'), joints, each, 0.0, STRONGEST)
        live.number('drive.bandwidth', "rad/s; where drive.damping is zero: this times the "
                    "joint's largest inertia", partial(self._set, '_bandwidth'), 1e4)

    def _set(self, what: str, value: object) -> None:
        setattr(self, what, value)
        damping = self._damping if self._damping.any() else self._bandwidth * self._inertia
        self._plant.drives = Drives(self._stiffness, damping)
