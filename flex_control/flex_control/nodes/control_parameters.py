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
"""Parameters of the control node besides those of its controllers, declared and checked."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rclpy.node import Node

from flex_control import (
    ControlError,
    MotionLimits,
    QuinticSpline,
    SetPoints,
    Splines,
    Trajectory,
)
from flex_control.commanded_joints import commanded_places
from flex_control.loop.goal_tolerances import Tolerances
from flex_control.loop.trajectory_reader import SLACK, TrajectoryReader
from flex_control.shaping import SHAPERS
from flex_control.shaping.shaper import MOST_MODES
from flex_dynamics import Model
from flex_ros.parameters import LiveParameters, NodeError, declare

SHAPES = ('none', *SHAPERS)


@dataclass(frozen=True)
class Settings:
    """How the node runs; times in s of the states' clock, wall times where noted."""

    lockstep: bool
    own_terms: bool             # terms from the node's own model, not from the topic
    terms_period: float         # of the terms on the topic; 0: with every state
    input_timeout: float        # without terms or measurements until the fail-safe
    input_patience: float       # wall, that a simulated robot waits for them before that
    state_timeout: float        # wall, without a state until the fail-safe
    recovery_time: float        # with all inputs until the fail-safe ends
    fail_safe: str              # hold, zero or none
    switch_time: float          # of the bumpless transfer
    stop_time: float
    report_period: float
    feedback_period: float


def declare_settings(node: Node) -> Settings:
    """The parameters about time and trouble."""
    def number(name: str, default: float, description: str, lower: float, upper: float) -> float:
        return declare(node, name, default, description, lower=lower, upper=upper, fixed=True)

    sync = declare(node, 'sync', 'free', 'as the simulator: free, or lockstep, where terms and '
                   'measurements must carry the stamp of the state, and are waited for',
                   choices=('free', 'lockstep'), fixed=True)
    source = declare(node, 'terms_source', 'topic', 'where controllers get M, C, K, D, g and B '
                     "from: the topic dynamics_terms, or this node's own model",
                     choices=('topic', 'model'), fixed=True)
    simulated = bool(node.get_parameter('use_sim_time').value)
    patience = number('input_patience', 1.0, 'free, with use_sim_time: wall s that a state waits '
                      'for terms or measurements that are older than input_timeout, and simulated '
                      'time for its command, before the fail-safe acts', 0.0, 1e3)
    rate = number('terms_rate', 50.0, 'lockstep: rate of the dynamics node, terms a second; 0: '
                  'with every state', 0.0, 1e5)
    return Settings(
        lockstep=sync == 'lockstep', own_terms=source == 'model',
        terms_period=1.0 / rate if rate else 0.0,
        input_timeout=number('input_timeout', 0.2, 'free: simulated s without terms or '
                             'measurements that the controller needs until the fail-safe acts',
                             1e-3, 1e3),
        input_patience=patience if simulated else 0.0,
        state_timeout=number('state_timeout', 2.0, 'free: wall s without a state until the '
                             'fail-safe acts', 1e-2, 1e3),
        recovery_time=number('recovery_time', 0.2, 'free: simulated s in which no state, terms or '
                             'measurements are missing until the fail-safe that acts for the loss '
                             'of them ends', 0.0, 1e3),
        fail_safe=declare(node, 'fail_safe', 'hold', 'what acts when states, terms or '
                          'measurements are lost or the controller fails: hold (come to rest and '
                          'stay, by pd), zero (no effort, the drives still damp), none (no '
                          "command: the robot's own fail-safe)", choices=('hold', 'zero', 'none'),
                          fixed=True),
        switch_time=number('switch_time', 0.2, 's of the bumpless transfer to another controller '
                           'or other gains', 0.0, 10.0),
        stop_time=number('stop_time', 0.5, 's in which a motion that is cancelled or fails '
                         'comes to rest', 1e-3, 100.0),
        report_period=1.0 / number('controller_state_rate', 20.0, 'messages a second on '
                                   '~/controller_state', 0.1, 1e5),
        feedback_period=1.0 / number('action_monitor_rate', 20.0, 'feedback messages of an action '
                                     'a second', 0.1, 1e5))


def declare_reader(node: Node, model: Model) -> TrajectoryReader:
    """The parameters about trajectories that others ask for."""
    names = model.joint_names
    interpolation = declare(
        node, 'interpolation', 'splines', 'between the points of a trajectory: splines of the '
        'degree that the points give, minimum_jerk through the positions alone, or none: each '
        'point is a set-point from its time on', choices=('splines', 'minimum_jerk', 'none'),
        fixed=True)
    rates = [declare(node, f'limits.{what}', [], f'largest {what} of a trajectory, {unit}; one a '
                     f'joint, one for all, or empty for {none}', lower=0.0, fixed=True)
             for what, unit, none in (('velocity', 'rad/s or m/s', 'those of the robot'),
                                      ('acceleration', 'rad/s2 or m/s2', 'those of the robot'),
                                      ('jerk', 'rad/s3 or m/s3', 'those of the robot'))]
    exceeded = declare(node, 'limits.exceeded', 'refuse', 'a trajectory beyond these rates is '
                       'refused, or stretched in time', choices=('refuse', 'stretch'), fixed=True)
    slack = declare(node, 'limits.slack', SLACK, 'share of a limit by which the interpolation '
                    'between the points of a trajectory may exceed it', lower=0.0, upper=1.0,
                    fixed=True)
    partial = declare(node, 'allow_partial_joints_goal', False, 'trajectories may name some '
                      'joints; the others stay', fixed=True)
    try:
        limits = MotionLimits.of(model.robot, names, *rates)
    except ControlError as error:
        raise NodeError(f'parameter limits: {error}') from None
    commanded: tuple[str, ...] = ()
    if model.robot.constraints:
        try:
            places = commanded_places(model)
        except ControlError as error:
            raise NodeError(f'parameter robot: {error}') from None
        commanded = tuple(names[place] for place in places)
        limits = limits.of_some(places)
    return TrajectoryReader(names, limits, interpolation, partial, exceeded == 'stretch', slack,
                            model.followers.leader_of, commanded)


def declare_tolerances(node: Node, model: Model) -> Tolerances:
    """The defaults of an action's tolerances, by joint_trajectory_controller's names."""
    def number(name: str, default: float, description: str) -> float:
        return declare(node, f'constraints.{name}', default, description, lower=0.0, upper=1e9,
                       fixed=True)

    names = model.joint_names
    path, goal = ([number(f'{name}.{kind}', 0.0, f'largest error of {name} {where}, rad or m; 0: '
                          'no limit') for name in names]
                  for kind, where in (('trajectory', 'on the way'), ('goal', 'at the end')))
    still = number('stopped_velocity_tolerance', 0.01, 'largest speed at the end, rad/s or m/s; '
                   '0: no limit')
    late = number('goal_time', 0.0, 's after the end of a trajectory until the goal fails; 0: '
                  'never')
    none = np.full(len(names), np.inf)
    return Tolerances(
        path_position=np.where(np.array(path) > 0.0, path, none), path_velocity=none,
        goal_position=np.where(np.array(goal) > 0.0, goal, none),
        goal_velocity=np.full(len(names), still or np.inf), goal_time=late)


def declare_trajectory(node: Node, reader: TrajectoryReader) -> Trajectory | None:
    """What to do from time zero on; in lockstep the same to the last bit in every run."""
    times = declare(node, 'trajectory.times', [], 'times of the points of a '
                    'trajectory to run from time zero on, s; empty: hold the first position',
                    lower=0.0, fixed=True)
    flat = declare(node, 'trajectory.positions', [], 'positions at those times, '
                   'rad or m, point by point, one a joint', fixed=True)
    if not times.size and not flat.size:
        return None
    joints = len(reader.names)
    if flat.size != times.size * joints:
        raise NodeError(f'parameter trajectory.positions: expected {times.size} points '
                        f'times {joints} joints, found {flat.size} numbers')
    kinds = {'none': SetPoints, 'splines': Splines, 'minimum_jerk': QuinticSpline}
    try:
        return kinds[reader.interpolation](times, flat.reshape(times.size, joints))
    except ControlError as error:
        raise NodeError(f'parameter trajectory: {error}') from None


def declare_shaper(live: LiveParameters, set_name: Callable[[str], None],
                   set_modes: Callable[[int], None]) -> None:
    """The shaper of trajectories and how many modes it shapes; both can be set later."""
    live.choice('shaper', f'input shaping of new trajectories: {", ".join(SHAPES)}', set_name,
                SHAPES, 'none')
    live.integer('shaper_modes', 'how many modes the shaper leaves without vibration, the lowest '
                 'first', set_modes, 1, MOST_MODES, 2)
