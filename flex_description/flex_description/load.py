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
"""load_robot: from URDF or xacro, and an overlay, to a frozen Robot."""
from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np

from flex_description.carried_inertia import carried_inertia, with_small_masses
from flex_description.errors import one_line, quoted
from flex_description.math import Array, pose
from flex_description.reading.constraints import read_constraints
from flex_description.reading.drives import read_drives, read_passive
from flex_description.reading.element import Element
from flex_description.reading.flexible.link import FlexibleParts, read_flexible
from flex_description.reading.flexible.modes import read_modes
from flex_description.reading.flexible.stiffness import with_frequency
from flex_description.reading.identified import with_identified
from flex_description.reading.inertia import inertia_warning
from flex_description.reading.limits import MOST_MODES, MOST_SECONDS_OF_MODES
from flex_description.reading.motion_limits import add_motion_limits
from flex_description.reading.overlay import read_overlay
from flex_description.reading.source import read_source
from flex_description.reading.urdf import UrdfTree, read_tree
from flex_description.reading.urdf_warnings import warnings_about
from flex_description.rigid_inertia import link_inertia
from flex_description.robot import (
    FlexibleJoint,
    FlexibleLink,
    Frame,
    Imu,
    Inertia,
    Joint,
    Link,
    Motor,
    Robot,
)
from flex_description.suggestion import misspelt
from flex_description.writing.extension_elements import extension_text

LOGGER = logging.getLogger('flex_description')
Overlay = str | os.PathLike[str] | Mapping[str, object]
# extension tag: the attribute that identifies an element
EXTENSION = {'flexible': 'link', 'flexible_joint': 'joint', 'motor': 'joint', 'imu': 'name',
             'gravity': None, 'motion_limits': 'joint', 'loop': 'name', 'wheel': 'name',
             'support': 'name',
             'passive_joint': 'name', 'identified': 'name'}
KNOWN = {'link', 'joint', 'material', 'gazebo', 'transmission', 'ros2_control', *EXTENSION}


def load_robot(source: str | os.PathLike[str], overlay: Overlay | None = None,
               arguments: Mapping[str, str] | None = None, *,
               log_warnings: bool = True) -> Robot:
    """Load a robot from URDF or xacro, with its flexible elements.

    Parameters
    ----------
    source : str or path
        Path of a URDF or xacro file, an XML string, or the name of a bundled robot (see
        `bundled_robots`).
    overlay : str, path or mapping, optional
        YAML file, name of a bundled overlay, or mapping of the same content, that adds flexible
        elements to the robot or changes those that it has. An empty string means none.
    arguments : mapping of str to str, optional
        Values for the xacro:arg of a xacro.
    log_warnings : bool, optional
        Whether warnings go to the logger `flex_description`, for callers that report
        `Robot.warnings` in another way.

    Returns
    -------
    Robot
        Frozen, its arrays read-only. Doubtful input, such as a misspelt attribute, is reported in
        `Robot.warnings` and to the logger `flex_description`.

    Raises
    ------
    RobotError
        With one line: file, line, element, what was expected and what was found.

    Examples
    --------
    >>> robot = load_robot('cibicik_arm')
    >>> [joint.name for joint in robot.joints][:2]
    ['joint1', 'joint2']
    >>> steel = {'beam': {'to': 'elbow_joint', 'material': 'steel',
    ...                   'section': {'shape': 'circle', 'radius': 0.05}}}
    >>> arm = load_robot('ur5', {'flexible': {'upper_arm_link': steel}})
    >>> [link.name for link in arm.links if link.flexible is not None]
    ['upper_arm_link']
    """
    root, urdf, directory, of_xacro = read_source(source, arguments)
    elements = {tag: _by_identity(root.all(tag), identity) for tag, identity in EXTENSION.items()}
    directories = {root.source: directory}
    described = set(elements['flexible'])   # by the URDF itself
    if overlay is not None and overlay != '':  # a ROS parameter that is not set is empty
        added, place = read_overlay(overlay)
        directories.update({element.source: place for element in added[:1]})
        for tag, identity in EXTENSION.items():
            layer = _by_identity([element for element in added if element.tag == tag], identity)
            elements[tag] = _merged(elements[tag], layer)
    add_motion_limits(root, elements['motion_limits'])
    tree = read_tree(root, elements['passive_joint'])
    _refuse_near_misses(root)

    parts = {name: read_flexible(element, tree, keep=name not in described)
             for name, element in elements['flexible'].items()}
    _by_identity([gauge for part in parts.values() for gauge in part.element.all('gauge')], 'name')
    warnings = [*of_xacro, *warnings_about(root, tuple(EXTENSION)), *tree.warnings]
    inertias = dict(tree.links)
    for name, part in parts.items():
        inertias[name] = built = link_inertia(part.origin, part.beam, part.masses)
        warnings += part.warnings
        if part.fit.mass == 'beam':
            warnings += inertia_warning(part.element, part.beam.length, tree.links[name], built)
    inertias, of_masses = with_small_masses(tree.joints, inertias, root.source)
    warnings += of_masses
    flexible = _flexible_links(tree, parts, inertias, directories, directory)
    drives = read_drives(tree.joints, elements['flexible_joint'], elements['motor'])
    passive = read_passive(tree.joints, elements['passive_joint'], drives)
    joints = _joints(tree, parts, drives, passive)
    frames = tuple(Frame(f'{name}/tip', name, part.origin @ pose(np.eye(3), np.array(
        [part.beam.length, 0.0, 0.0])), part.beam.length) for name, part in parts.items())
    _unique_frames(tree, frames, parts)
    loops, wheels, supports = read_constraints(elements, tree, frames, {
        name: (part.origin, part.beam.length) for name, part in parts.items()})
    links, joints = with_identified(
        tuple(Link(name, None if name in parts else inertia, flexible.get(name))
              for name, inertia in inertias.items()), joints, elements['identified'])
    robot = Robot(
        name=root.text('name'),
        links=links,
        joints=joints, frames=frames,
        imus=tuple(_imu(element, tree, frames) for element in elements['imu'].values()),
        gravity=_gravity(elements['gravity']), urdf=urdf,
        extensions=_extensions(elements, parts, directories, directory), source=root.source,
        warnings=tuple(one_line(warning) for warning in warnings),
        loops=loops, wheels=wheels, supports=supports)
    _freeze(robot)
    for warning in robot.warnings if log_warnings else ():
        LOGGER.warning(warning)
    return robot


def _freeze(record: object) -> None:
    """Make the arrays of a record, and of the records in it, read-only."""
    for item in fields(record):  # type: ignore[arg-type]
        value = getattr(record, item.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, np.ndarray):
                inner.flags.writeable = False
            elif is_dataclass(inner):
                _freeze(inner)


def _refuse_near_misses(root: Element) -> None:
    """Refuse an unknown element under <robot> whose name is nearly that of an extension element.

    Other unknown elements belong to other tools.
    """
    for child in root.children:
        if child.tag not in KNOWN:
            near = misspelt(child.tag, EXTENSION)
            if near is not None:
                raise child.error(f'expected a known element, found <{child.tag}>; did you mean '
                                  f'"{near}"?')


def _by_identity(found: list[Element], identity: str | None) -> dict[str, Element]:
    result: dict[str, Element] = {}
    for element in found:
        name = element.text(identity) if identity else ''
        if name in result:
            what = f'one <{element.tag}> of this {identity}' if identity else 'only one'
            raise element.error(f'expected {what}, found another on line {result[name].line}')
        result[name] = element
    return result


def _merged(under: dict[str, Element], over: dict[str, Element]) -> dict[str, Element]:
    """Elements of the URDF, changed by the overlay child by child; the others stay."""
    result = dict(under)
    for name, element in over.items():
        base = under.get(name)
        if base is not None:
            named = {child.tag for child in element.children}
            kept = [child for child in base.children if child.tag not in named]
            element = Element(element.tag, {**base.attributes, **element.attributes},
                              element.source, element.line, [*kept, *element.children])
        result[name] = element
    return result


def _flexible_links(tree: UrdfTree, parts: dict[str, FlexibleParts],
                    inertias: dict[str, Inertia | None], directories: dict[str, Path],
                    directory: Path) -> dict[str, FlexibleLink]:
    carried = carried_inertia(tree.joints, inertias) if parts else {}
    result: dict[str, FlexibleLink] = {}
    end, count = time.thread_time() + MOST_SECONDS_OF_MODES, 0
    for name, part in parts.items():
        if count > MOST_MODES:
            raise part.element.error(f'expected at most {MOST_MODES} modes in all, found more')
        if time.thread_time() > end:
            raise part.element.error('expected mode shapes that are computed within '
                                     f'{MOST_SECONDS_OF_MODES:g} s in all, found '
                                     f'{len(result)} links that take longer')
        children = tree.children(name)
        loads = [(part.section_x(joint), body) for joint in children
                 if (body := carried[joint.name]) is not None]
        modes = part.element.one('modes')
        where = directories.get(modes.source if modes else '', directory)
        result[name] = with_frequency(read_modes(part, loads, bool(children), where), part.beam,
                                      part.stiffness, part.twist_follows, loads)
        count += result[name].n_modes
    return result


def _extensions(elements: dict[str, dict[str, Element]], parts: dict[str, FlexibleParts],
                directories: dict[str, Path], directory: Path) -> str:
    """The extension elements as XML, merged, as `Robot.extensions` has them."""
    found = []
    for tag, some in elements.items():
        for name, element in some.items():
            modes = element.one('modes') if tag == 'flexible' else None
            where = directories.get(modes.source if modes else '', directory)
            found.append((element, parts[name].fit.mass if tag == 'flexible' else '', where))
    return extension_text(found)


def _joints(tree: UrdfTree, parts: dict[str, FlexibleParts],
            drives: dict[str, FlexibleJoint | Motor], passive: set[str]) -> tuple[Joint, ...]:
    joints = []
    for joint in tree.joints:
        drive = drives.get(joint.name)
        joints.append(replace(
            joint, flexible=drive if isinstance(drive, FlexibleJoint) else None,
            motor=drive if isinstance(drive, Motor) else None, passive=joint.name in passive,
            section_x=parts[joint.parent].section_x(joint) if joint.parent in parts else None))
    return tuple(joints)


def _unique_frames(tree: UrdfTree, frames: tuple[Frame, ...],
                   parts: dict[str, FlexibleParts]) -> None:
    for frame in frames:
        if frame.name in tree.links:
            raise parts[frame.link].element.error(
                f'expected the name {quoted(frame.name)} free for the frame at the end of the '
                'beam, found a link of that name; rename the link')


def _imu(element: Element, tree: UrdfTree, frames: tuple[Frame, ...]) -> Imu:
    element.allow({'name', 'frame'})
    names = [*tree.links, *(frame.name for frame in frames)]
    return Imu(element.text('name'), element.choice('frame', names))


def _gravity(elements: dict[str, Element]) -> Array:
    for element in elements.values():
        element.allow({'xyz'})
        return element.numbers('xyz', 3)
    return np.array([0.0, 0.0, -9.81])
