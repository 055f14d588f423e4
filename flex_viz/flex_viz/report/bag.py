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
"""Reads a run from a recorded bag (rosbag2: MCAP or SQLite), without ROS."""
from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_ros.bag.reader import BagReader, BagReadError
from flex_viz.geometry.coordinates import tip_frame
from flex_viz.report.run import Run, RunError
from flex_viz.shown_text import plain

LOGGER = logging.getLogger(__name__)
# Names of the topics without their namespace.
STATE, JOINTS, COMMANDS = 'flex_state', 'joint_states', 'joint_commands'
CONTROL, DESCRIPTION = 'controller_state', 'robot_description'
LARGEST_STATE = 1e9      # rad, m and per s; larger values are as wrong as NaN, and sums overflow
# Message types that rosbags does not know, for bags without message definitions.
MESSAGE_TYPES = ('flex_msgs/msg/FlexState', 'control_msgs/msg/JointTrajectoryControllerState')


def read_run(path: Path, robot: str = '', overlay: str = '', order: str = 'second',
             tool: str = '') -> Run:
    """Read the run that was recorded in a bag.

    Parameters
    ----------
    path : rosbag2 folder, or file `.mcap` or `.db3`.
    robot : URDF or xacro file, or name of a bundled robot; empty: `robot_description` of the bag.
    overlay : YAML file that makes links of the robot flexible.
    order : how the deformation field is expanded: 'linear', 'first' or 'second'.
    tool : frame whose deflection is reported; empty: the end of the longest chain.

    Returns
    -------
    The states since the last reset of the clock. States that are not finite or incomplete are
    left out.

    Raises
    ------
    RunError : there is no run of this robot in the bag, or the bag cannot be read.

    Example
    -------
    run = read_run(Path('results/bag'))
    print(table(run))
    """
    topics = _read(path)
    if not topics.get(STATE):
        found = ', '.join(sorted(name for name, some in topics.items() if some)) or 'none'
        raise RunError(f'{path}: expected a topic {STATE}, found of those that matter: {found}')
    if not robot and not topics.get(DESCRIPTION):
        raise RunError(f'{path}: there is no robot_description in it: give --robot')
    problems: list[str] = []
    texts = [robot] if robot else _descriptions(path, topics[DESCRIPTION])
    for text in texts:
        try:
            model = Model(load_robot(text, overlay or None), order)
            tip = tool or tip_frame(model)
            model.pose(np.zeros(model.n), tip)
            stamps, q, v = _states(path, topics[STATE], model)
            break
        except (RobotError, DynamicsError, RunError) as error:
            problems.append(str(error))
    else:
        raise RunError(problems[0])
    joints = list(model.joint_names)
    return Run(model, tip, 1e-9 * stamps, q, v,
               efforts=_held(topics.get(JOINTS, []), stamps, joints, lambda m: (m.name, m.effort)),
               commands=_held(topics.get(COMMANDS, []), stamps, joints,
                              lambda m: (m.name, m.effort)),
               set_points=_held(topics.get(CONTROL, []), stamps, joints,
                                lambda m: (m.joint_names, m.reference.positions)))


def _read(path: Path) -> dict[str, list[Any]]:
    """Messages of the topics above, by the name of their topic without its namespace."""
    found: dict[str, list[Any]] = {name: [] for name in (STATE, JOINTS, COMMANDS, CONTROL,
                                                         DESCRIPTION)}
    try:
        with BagReader(path, MESSAGE_TYPES) as bag:
            wanted = [topic for topic in bag.topics if topic.rpartition('/')[2] in found]
            namespaces = {topic.rpartition('/')[0] for topic in wanted
                          if topic.endswith(f'/{STATE}')}
            if len(namespaces) > 1:
                names = ', '.join(sorted(namespace or '/' for namespace in namespaces))
                raise RunError(f'{path}: expected one robot, found {STATE} below {plain(names)}')
            for topic, message in bag.messages(wanted):
                found[topic.rpartition('/')[2]].append(message)
    except BagReadError as error:
        raise RunError(str(error)) from None
    for topic, count in bag.undecodable.items():
        LOGGER.warning(f'{path}: {count} messages on {plain(topic)} cannot be decoded and are '
                       'left out')
    return found


def _descriptions(path: Path, messages: list[Any]) -> list[str]:
    """The texts on robot_description, the latest first, those with flexible elements before the
    others: beside a real robot its driver publishes a rigid one."""
    texts = list(dict.fromkeys(message.data for message in reversed(messages)))
    good = [text for text in texts if text.lstrip().startswith('<')]
    if not good:
        # It could be the name of any file of this machine.
        raise RunError(f'{path}: expected XML in its robot_description: give --robot')
    return sorted(good, key=lambda text: '<flexible' not in text)


def _stamp_ns(message: Any) -> int:
    return int(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)


def _states(path: Path, messages: list[Any],
            model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stamps (k,) ns, increasing, and q, v (k, n), since the last reset of the clock."""
    orders: dict[tuple[str, ...], list[int]] = {}      # by the names of a message
    kept: dict[int, Any] = {}
    latest, problem = -1, None
    for message in messages:
        names = tuple(message.name)
        try:
            if names not in orders:
                orders[names] = _order(path, names, model)
            if not len(message.position) == len(message.velocity) == len(names):
                raise RunError(f'{path}: expected {len(names)} positions and velocities, found '
                               f'{len(message.position)} and {len(message.velocity)}')
        except RunError as error:        # one bad message among good ones is skipped
            problem = problem or error
            continue
        stamp_ns = _stamp_ns(message)
        if stamp_ns < latest:
            kept.clear()            # a reset: the run starts again
        latest = stamp_ns
        kept[stamp_ns] = message    # a state that was sent twice counts once
    if not kept:
        raise problem or RunError(f'{path}: expected states with a number a name, found none')
    if problem is not None:
        LOGGER.warning(f'some states are left out: {problem}')
    stamps = np.array(sorted(kept))
    q, v = (np.array([getattr(kept[at], part)[orders[tuple(kept[at].name)]] for at in stamps])
            for part in ('position', 'velocity'))
    good = (np.abs(q) <= LARGEST_STATE).all(axis=1) & (np.abs(v) <= LARGEST_STATE).all(axis=1)
    if good.sum() < 2:
        raise RunError(f'{path}: expected at least two good states, found {good.sum()}')
    return stamps[good], q[good], v[good]


def _order(path: Path, names: tuple[str, ...], model: Model) -> list[int]:
    """Index in `names` of each coordinate of the model."""
    missing = [name for name in model.names if name not in names]
    if missing or len(names) != model.n:
        raise RunError(f'{path}: expected the {model.n} coordinates of '
                       f'{plain(model.robot.name)}, found '
                       f'{len(names)}'
                       + (f' without {plain(missing[0])!r}' if missing else '')
                       + ': give the --robot and the --overlay that were simulated')
    return [names.index(name) for name in model.names]


def _held(messages: list[Any], stamps: np.ndarray, joints: list[str], values: Any,
          ) -> np.ndarray | None:
    """Values (k, n_joints) at `stamps` (k,) ns, each held until the next message; None if no
    message has a value for every joint."""
    known = {}
    for message in messages:
        names, numbers = values(message)
        if len(numbers) == len(names) and set(joints) <= set(names):
            order = [list(names).index(name) for name in joints]
            known[_stamp_ns(message)] = np.array(numbers)[order]
    if not known:
        return None
    known_stamps = sorted(known)
    at = np.maximum(np.searchsorted(known_stamps, stamps, side='right') - 1, 0)
    return np.array([known[known_stamps[k]] for k in at])
