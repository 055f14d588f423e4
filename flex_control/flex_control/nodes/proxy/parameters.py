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
"""Parameters of the shaping proxy, declared and checked."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rclpy.node import Node

from flex_control import ControlError, MotionLimits
from flex_control.loop.motion_shaper import (
    NONE,
    WHERE,
    MotionShaper,
    ShaperSettings,
    checked_frequencies,
)
from flex_control.loop.trajectory_reader import SLACK, TrajectoryReader
from flex_control.shaping import SHAPERS
from flex_control.shaping.shaper import MOST_MODES
from flex_dynamics import Model
from flex_ros.parameters import LiveParameters, NodeError, declare


@dataclass(frozen=True)
class ProxySettings:
    """How the proxy passes goals on; s of wall time, but start_delay, by the node's clock."""

    controller: str             # action of the robot's own controller
    start_delay: float          # from sending a motion that takes over to its beginning
    server_timeout: float       # for the controller to appear, and to answer a goal
    feedback_timeout: float     # without feedback until the controller counts as dead; 0: never
    state_timeout: float        # without joint_states until goals are refused
    rest_timeout: float         # for the robot to come to rest before a motion


def declare_settings(node: Node) -> ProxySettings:
    """The parameters about the robot's own controller."""
    def number(name: str, default: float, description: str, lower: float, upper: float) -> float:
        return declare(node, name, default, description, lower=lower, upper=upper, fixed=True)

    controller = declare(
        node, 'controller_action', 'joint_trajectory_controller/follow_joint_trajectory',
        "action of the robot's own controller (FollowJointTrajectory), to which shaped motions "
        'are passed', fixed=True)
    own = node.resolve_service_name('~/follow_joint_trajectory')
    if not controller.strip():
        raise NodeError('parameter controller_action: expected the name of an action, found none')
    if node.resolve_service_name(controller) == own:
        raise NodeError(f"parameter controller_action: expected the action of the robot's own "
                        f'controller, found {own}, which is this node itself')
    return ProxySettings(
        controller=controller,
        start_delay=number('start_delay', 0.1, 's from sending a motion that takes over from '
                           'another one to its beginning, for the way to the controller; one that '
                           'arrives later begins with a jump', 0.0, 10.0),
        server_timeout=number('server_timeout', 5.0, 'wall s for the controller to appear, and to '
                              'answer a goal', 0.1, 1e3),
        feedback_timeout=number('feedback_timeout', 5.0, 's, of wall time and by the clock of '
                                'this node, without feedback of a controller that has sent some, '
                                'until it is given up; 0: never', 0.0, 1e3),
        state_timeout=number('state_timeout', 2.0, 'wall s without joint_states until goals are '
                             'refused', 0.1, 1e3),
        rest_timeout=number('rest_timeout', 5.0, 'wall s for the robot to come to rest, after a '
                            'cancellation for instance, before a motion that does not take over '
                            'from another one', 0.0, 1e3))


def declare_shaper(node: Node, model: Model) -> MotionShaper:
    """The parameters about shaping and limits."""
    rates = [declare(node, f'limits.{what}', [], f'largest {what} of a trajectory, {unit}; one a '
                     'joint, one for all, or empty for those of the robot', lower=0.0, fixed=True)
             for what, unit in (('velocity', 'rad/s or m/s'), ('acceleration', 'rad/s2 or m/s2'))]
    slack = declare(node, 'limits.slack', SLACK, 'share of a limit by which the interpolation '
                    'between the points of a trajectory may exceed it', lower=0.0, upper=1.0,
                    fixed=True)
    frequencies = declare(node, 'frequencies', [], 'measured natural frequencies, Hz, in place of '
                          'those of the model; empty: the model', lower=0.01, upper=1e3,
                          fixed=True)
    damping = declare(node, 'damping', [0.01], 'damping ratios of the measured frequencies, one '
                      'each or one for all', lower=0.0, upper=0.5, fixed=True)
    if len(frequencies) > MOST_MODES:
        raise NodeError(f'parameter frequencies: expected at most {MOST_MODES} numbers, found '
                        f'{len(frequencies)}')
    try:
        checked_frequencies(frequencies, damping)
        limits = MotionLimits.of(model.robot, model.joint_names, *rates)
    except ControlError as error:
        raise NodeError(f'parameter {error}') from None
    period = declare(node, 'point_period', 0.01, 's between the points that are passed on',
                     lower=1e-3, upper=1.0, fixed=True)
    where = declare(node, 'modes_at', 'motion', 'the modes that are shaped are those along the '
                    'motion, or those of its goal, with which speeds never exceed those of the '
                    'motion before shaping', choices=WHERE, fixed=True)
    reader = TrajectoryReader(model.joint_names, limits, partial=True, slack=slack,
                              followers=model.followers.leader_of)
    return MotionShaper(model, reader, ShaperSettings(
        where=where, period=period, frequencies=tuple(frequencies.tolist()),
        damping=tuple(damping.tolist())))


def declare_live(live: LiveParameters, shaper: MotionShaper,
                 set_mass: Callable[[float], None]) -> None:
    """The parameters that can be set later, for the next motion."""
    def change(**given: Any) -> None:
        shaper.settings = replace(shaper.settings, **given)

    names = (NONE, *SHAPERS)
    live.choice('shaper', f'input shaping of new motions: {", ".join(names)}',
                lambda name: change(shaper=name), names, 'zvd')
    live.integer('shaper_modes', 'how many modes the shaper leaves without vibration, the lowest '
                 'first', lambda count: change(modes=count), 1, MOST_MODES, 3)
    live.number('payload.mass', 'kg that the robot carries at payload.link', set_mass, 1e6)
