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
"""Overlay YAML to the elements that the URDF extension has, each knowing its line.

One rule: a mapping is an element, a scalar or a list of scalars an attribute, a list of mappings
several elements. A scalar where an element is expected gives that element's main attribute
(`material: steel`).
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from flex_description.errors import RobotError, cut, quoted
from flex_description.files import LARGEST_YAML, read_text
from flex_description.reading.bounded_yaml import compose
from flex_description.reading.element import Element
from flex_description.reading.limits import LimitError
from flex_description.reading.source import bundled_overlay
from flex_description.suggestion import suggestion

# top-level key: element tag and the attribute that a mapping's keys give
TOP = {'flexible': ('flexible', 'link'), 'flexible_joints': ('flexible_joint', 'joint'),
       'motors': ('motor', 'joint'), 'imus': ('imu', 'name'),
       'motion_limits': ('motion_limits', 'joint'), 'gravity': ('gravity', 'xyz'),
       'loops': ('loop', 'name'), 'wheels': ('wheel', 'name'), 'supports': ('support', 'name'),
       'passive_joints': ('passive_joint', 'name'), 'identified': ('identified', 'name')}
PLURALS = {'masses': 'mass', 'gauges': 'gauge', 'segments': 'segment', 'sections': 'section'}
MAIN = {'material': 'name', 'gravity': 'xyz', 'damping': 'ratio', 'modes': 'basis',
        'passive_joint': 'name'}

PARENTS = ('flexible', 'beam', 'segment')  # whose `damping`, say, is an element


def read_overlay(overlay: str | os.PathLike[str] | Mapping[str, object],
                 ) -> tuple[list[Element], Path]:
    """Extension elements of an overlay and the directory for relative file names.

    overlay: a path, the name of a bundled overlay, or a mapping with the same content.
    """
    if isinstance(overlay, Mapping):
        try:
            text = yaml.safe_dump(_plain(overlay), sort_keys=False)
        except (yaml.YAMLError, RecursionError) as error:
            raise RobotError(f'expected plain values in the overlay, found: {error}',
                             'overlay') from None
        return _elements(text, 'overlay'), Path.cwd()
    if not isinstance(overlay, (str, os.PathLike)):
        raise RobotError('overlay: expected a path, a bundled name or a mapping, found '
                         f'{type(overlay).__name__}')
    path = bundled_overlay(overlay) if isinstance(overlay, str) else None
    path = path or Path(overlay)
    return _elements(read_text(path, LARGEST_YAML), str(path)), path.resolve().parent


def _plain(value: object) -> object:
    """Mappings, sequences and numbers of any library as those that YAML knows."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if hasattr(value, 'tolist'):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def _elements(text: str, source: str) -> list[Element]:
    try:
        top = compose(text, aliases=False)
    except LimitError as error:
        raise RobotError(f'overlay: {error}', source, error.line) from None
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)
        raise RobotError(f'expected valid YAML, found: {getattr(error, "problem", None) or error}',
                         source, mark.line + 1 if mark else None) from None
    except RecursionError:
        raise RobotError('expected an overlay, found one nested too deep', source) from None
    if top is None:
        return []
    found = []
    for key, value in _items(top, source, 'the overlay'):
        if key.value not in TOP:
            raise RobotError(f'overlay: expected only known keys, found {quoted(key.value)}; '
                             f'{suggestion(key.value, TOP)}', source, _line(key))
        tag, identity = TOP[key.value]
        if tag == 'gravity':
            found.append(_element(tag, value, source, _line(key)))
        elif isinstance(value, yaml.SequenceNode):
            found += [_element(tag, item, source, _line(item)) for item in value.value]
        else:
            for name, body in _items(value, source, quoted(key.value)):
                element = _element(tag, body, source, _line(name))
                if identity in element.attributes:
                    element.fail(identity, 'no such key',
                                 f'it beside its name {quoted(name.value)}')
                element.attributes = {identity: name.value, **element.attributes}
                found.append(element)
    return found


def _element(tag: str, node: yaml.Node, source: str, line: int,
             parent: Element | None = None) -> Element:
    element = Element(tag, {}, source, line, [], parent)
    if tag in MAIN and not isinstance(node, yaml.MappingNode):
        element.attributes[MAIN[tag]] = _attribute(node, source, tag)
        return element
    for key, value in _items(node, source, f'<{cut(tag)}>'):
        name = PLURALS.get(str(key.value), str(key.value))
        if isinstance(value, yaml.MappingNode):
            element.children.append(_element(name, value, source, _line(key), element))
        elif (isinstance(value, yaml.SequenceNode) and value.value
              and isinstance(value.value[0], yaml.MappingNode)):
            element.children += [_element(name, item, source, _line(item), element)
                                 for item in value.value]
        elif name in MAIN and tag in PARENTS:
            element.children.append(_element(name, value, source, _line(key), element))
        elif name in element.attributes:
            raise RobotError(f'{element.label}: expected {quoted(name)} once, found it again',
                             source, _line(key))
        else:
            element.attributes[name] = _attribute(value, source, name)
    return element


def _items(node: yaml.Node, source: str, what: str) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise RobotError(f'{what}: expected a mapping (key: value), found '
                         f'{_kind(node)}', source, _line(node))
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise RobotError(f'{what}: expected a name as key, found {_kind(key)}', source,
                             _line(key))
        if key.value in seen:
            raise RobotError(f'{what}: expected each key once, found {quoted(key.value)} again',
                             source, _line(key))
        seen.add(key.value)
    items: list[tuple[yaml.ScalarNode, yaml.Node]] = node.value
    return items


def _attribute(node: yaml.Node, source: str, name: str) -> str:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if (isinstance(node, yaml.SequenceNode)
            and all(isinstance(item, yaml.ScalarNode) for item in node.value)):
        return ' '.join(str(item.value) for item in node.value)
    raise RobotError(f'{cut(name)}: expected a value or a list of values, found {_kind(node)}',
                     source, _line(node))


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return f'the value "{str(node.value)[:40]}"'
    return 'a list' if isinstance(node, yaml.SequenceNode) else 'a mapping'


def _line(part: yaml.Node | yaml.Event) -> int:
    mark = part.start_mark
    return int(mark.line) + 1 if mark is not None else 1
