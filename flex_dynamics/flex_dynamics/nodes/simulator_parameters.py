"""Parameters of the simulator node, declared, checked, and the plant that they describe."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rclpy.node import Node

from flex_dynamics import Model
from flex_dynamics.joint_inertia import largest_joint_inertia
from flex_dynamics.nodes.common import NodeError, declare
from flex_dynamics.nodes.plant import Drives, Plant


@dataclass(frozen=True)
class Timing:
    """How simulated time passes; all in s, and the factor in simulated s a wall s."""

    step: float
    steps: int                  # inner steps a period
    lockstep: bool
    real_time_factor: float
    command_timeout: float
    lockstep_timeout: float
    hold_on_silence: bool       # keep the last command; else no effort
    wait_for_command: bool
    start_paused: bool
    clock_every: int            # periods from one clock message to the next

    @property
    def period(self) -> float:
        """From one state to the next."""
        return self.steps * self.step


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
    clock_rate = number('clock_rate', 100.0, 'clock messages a simulated s', 1.0, 1e5)
    return Timing(
        step=step, steps=steps, lockstep=sync == 'lockstep',
        real_time_factor=number('real_time_factor', 1.0, 'free: simulated s a wall s', 1e-3, 1e3),
        command_timeout=number('command_timeout', 0.1, 'free: simulated s without a good command '
                               'until the fail-safe acts', 1e-3, 1e3),
        lockstep_timeout=number('lockstep_timeout', 5.0, 'lockstep: wall s without a command '
                                'until the simulator says who is silent', 0.1, 1e4),
        hold_on_silence=fail_safe == 'hold',
        wait_for_command=declare(node, 'wait_for_command', True, 'free: hold simulated time at '
                                 'its start until the first good command', fixed=True),
        start_paused=declare(node, 'start_paused', False, 'wait for ~/set_simulation_state before '
                             'anything moves', fixed=True),
        clock_every=max(1, round(1.0 / (clock_rate * steps * step))))


def declare_plant(node: Node, model: Model, timing: Timing) -> Plant:
    """The parameters about the start pose and the drives, and the plant."""
    def per_joint(name: str, description: str, lower: float | None) -> np.ndarray:
        given = declare(node, name, [], f'{description}; one a joint, one for all, '
                        'or empty for zero', lower=lower, fixed=True)
        if given.size in (0, 1):
            return np.full(model.n_joints, given[0] if given.size else 0.0)
        if given.size != model.n_joints:
            raise NodeError(f'parameter {name}: expected none, 1 or {model.n_joints} numbers (one '
                            f'a joint), found {given.size}')
        return given

    start = per_joint('start.positions', 'joint positions at the start, rad or m', None)
    deflected = declare(node, 'start.deflected', True, 'start at rest with the links bent by '
                        'gravity; false: straight', fixed=True)
    stiffness = per_joint('drive.stiffness', "of the drives' own fast loops, N m/rad or N/m, for "
                          'joints whose command has a position', 0.0)
    damping = per_joint('drive.damping', "of the drives' own fast loops, N m s/rad or N s/m", 0.0)
    bandwidth = declare(node, 'drive.bandwidth', 0.0, "rad/s; where drive.damping is zero: this "
                        "times the joint's largest inertia", lower=0.0, upper=1e4,
                        fixed=True)
    if not damping.any():
        damping = bandwidth * largest_joint_inertia(model)
    return Plant(model, timing.step, timing.steps, Drives(stiffness, damping), start, deflected)
