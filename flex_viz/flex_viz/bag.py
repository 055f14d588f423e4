"""A run out of a recorded bag (rosbag2: MCAP or SQLite), without ROS."""
from __future__ import annotations

import logging
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_viz.elastic import tip_frame
from flex_viz.run import Run, RunError
from flex_viz.shown_text import plain

LOGGER = logging.getLogger(__name__)
# Last names of the topics; a namespace may stand before them.
STATE, JOINTS, COMMANDS = 'flex_state', 'joint_states', 'joint_commands'
CONTROL, DESCRIPTION = 'controller_state', 'robot_description'
LARGEST = 1e9      # rad, m and per s: a state beyond is as wrong as NaN, and its sums overflow
# Types of a bag without definitions that no typestore of rosbags has.
OURS = ('flex_msgs/msg/FlexState', 'control_msgs/msg/JointTrajectoryControllerState')


def read_run(path: Path, robot: str = '', overlay: str = '', order: str = 'second',
             tool: str = '') -> Run:
    """The run in a bag; RunError, in a sentence, if there is none.

    robot: URDF, xacro or bundled name; empty: the robot_description of the bag. tool: the frame
    whose deflection is told; empty: the end of the longest chain.
    """
    topics = _read(path)
    if not topics.get(STATE):
        found = ', '.join(sorted(name for name, some in topics.items() if some)) or 'none'
        raise RunError(f'{path}: expected a topic {STATE}, found of those that matter: {found}')
    if not robot and not topics.get(DESCRIPTION):
        raise RunError(f'{path}: there is no robot_description in it: give --robot')
    if not robot and not topics[DESCRIPTION][-1].data.lstrip().startswith('<'):
        # It could be the name of any file of this machine.
        raise RunError(f'{path}: expected XML in its robot_description: give --robot')
    try:
        model = Model(load_robot(robot or topics[DESCRIPTION][-1].data, overlay or None), order)
        tool = tool or tip_frame(model)
        model.pose(np.zeros(model.n), tool)
    except (RobotError, DynamicsError) as error:
        raise RunError(str(error)) from None
    time, q, v = _states(path, topics[STATE], model)
    joints = list(model.names[:model.n_joints])
    return Run(model, tool, 1e-9 * time, q, v,
               efforts=_held(topics.get(JOINTS, []), time, joints, lambda m: (m.name, m.effort)),
               commands=_held(topics.get(COMMANDS, []), time, joints,
                              lambda m: (m.name, m.effort)),
               set_points=_held(topics.get(CONTROL, []), time, joints,
                                lambda m: (m.joint_names, m.reference.positions)))


def _read(path: Path) -> dict[str, list[Any]]:
    """The messages that matter, by the last name of their topic."""
    found: dict[str, list[Any]] = {name: [] for name in (STATE, JOINTS, COMMANDS, CONTROL,
                                                         DESCRIPTION)}
    bad: Counter[str] = Counter()
    try:
        with AnyReader([path], default_typestore=_typestore()) as reader:
            wanted = [one for one in reader.connections
                      if one.topic.rpartition('/')[2] in found]
            spaces = {one.topic.rpartition('/')[0] for one in wanted
                      if one.topic.endswith(f'/{STATE}')}
            if len(spaces) > 1:
                raise RunError(f'{path}: expected one robot, found {STATE} below '
                               f'{plain(", ".join(sorted(space or "/" for space in spaces)))}')
            for connection, _, data in reader.messages(wanted):
                try:
                    message = reader.deserialize(data, connection.msgtype)
                except Exception:        # which one depends on the bytes, which are anyone's
                    bad[connection.topic] += 1
                    continue
                found[connection.topic.rpartition('/')[2]].append(message)
    except FileNotFoundError:
        there = 'a folder without metadata.yaml' if path.is_dir() else 'nothing there'
        raise RunError(f'{path}: expected a rosbag2 folder or file, found {there}') from None
    except RunError:
        raise
    except Exception as error:
        # The readers of rosbags, SQLite and the compressions raise all kinds of errors at files
        # that were cut off or written by something else.
        what = plain(error, 200) or type(error).__name__
        raise RunError(f'{path}: expected a rosbag2 folder or file, found: {what}') from None
    for topic, count in bad.items():
        LOGGER.warning(f'{path}: {count} messages on {plain(topic)} cannot be decoded and are '
                       'left out')
    return found


def _typestore() -> Any:
    """The types of Jazzy, and ours where they are installed."""
    store = get_typestore(Stores.ROS2_JAZZY)
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for kind in OURS:
        package, _, name = kind.split('/')
        places = [Path(prefix, 'share', package, 'msg', f'{name}.msg') for prefix in prefixes]
        text = next((place.read_text() for place in places if place.is_file()), '')
        if text and kind not in store.fielddefs:
            store.register(get_types_from_msg(text, kind))
    return store


def _ns(message: Any) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def _states(path: Path, messages: list[Any],
            model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stamps (k,) ns, rising, and q, v (k, n): from the last reset of the clock on."""
    orders: dict[tuple[str, ...], list[int]] = {}      # of the names, as they came
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
        except RunError as error:        # one bad message among good ones is left out
            problem = problem or error
            continue
        at = _ns(message)
        if at < latest:
            kept.clear()      # a reset: the run begins anew
        latest = at
        kept[at] = message    # a state that was sent twice counts once
    if not kept:
        raise problem or RunError(f'{path}: expected states with a number a name, found none')
    if problem is not None:
        LOGGER.warning(f'some states are left out: {problem}')
    stamps = np.array(sorted(kept))
    q, v = (np.array([getattr(kept[at], part)[orders[tuple(kept[at].name)]] for at in stamps])
            for part in ('position', 'velocity'))
    good = (np.abs(q) <= LARGEST).all(axis=1) & (np.abs(v) <= LARGEST).all(axis=1)
    if good.sum() < 2:
        raise RunError(f'{path}: expected at least two good states, found {good.sum()}')
    return stamps[good], q[good], v[good]


def _order(path: Path, names: tuple[str, ...], model: Model) -> list[int]:
    """Where in `names` the coordinates of the model are."""
    missing = [name for name in model.names if name not in names]
    if missing or len(names) != model.n:
        raise RunError(f'{path}: expected the {model.n} coordinates of '
                       f'{plain(model.robot.name)}, found '
                       f'{len(names)}'
                       + (f' without {plain(missing[0])!r}' if missing else '')
                       + ': give the --robot and the --overlay that were simulated')
    return [names.index(name) for name in model.names]


def _held(messages: list[Any], times: np.ndarray, joints: list[str], values: Any,
          ) -> np.ndarray | None:
    """Values (k, n_joints) at `times` (k,) ns, each held until the next message; None: no one
    told them for every joint."""
    known = {}
    for message in messages:
        names, numbers = values(message)
        if len(numbers) == len(names) and set(joints) <= set(names):
            known[_ns(message)] = np.array(numbers)[[list(names).index(name) for name in joints]]
    if not known:
        return None
    stamps = sorted(known)
    at = np.maximum(np.searchsorted(stamps, times, side='right') - 1, 0)
    return np.array([known[stamps[k]] for k in at])
