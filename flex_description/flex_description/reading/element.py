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
"""An element of a description, from XML or YAML, with checked access to its attributes."""
from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from flex_description.errors import RobotError, cut, quoted
from flex_description.math import Array, pose, rotation_from_quaternion, rotation_from_rpy
from flex_description.suggestion import suggestion

# The first of these attributes that an element has identifies it in messages.
IDENTITY = ('name', 'link', 'joint')
# Beyond these, powers of a number would overflow or vanish; no robot is that large or small.
SMALLEST, LARGEST = 1e-30, 1e30
ROUNDED = 0.01      # difference from 1 of the length of a unit quaternion that was written rounded


@dataclass
class Element:
    """A tag with attributes, children and the place it was read from."""

    tag: str
    attributes: dict[str, str]
    source: str
    line: int
    children: list[Element] = field(default_factory=list)
    parent: Element | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """`<flexible link="link2"> <beam>`: the element in messages, after the nearest
        enclosing one that has a name if it has none itself."""
        around: Element | None = self
        while around is not None and around.tag != 'robot':
            for key in IDENTITY:
                if key in around.attributes:
                    name = f'<{cut(around.tag)} {key}={quoted(around.attributes[key])}>'
                    return name if around is self else f'{name} <{cut(self.tag)}>'
            around = around.parent
        return f'<{cut(self.tag)}>'

    def error(self, message: str) -> RobotError:
        return RobotError(f'{self.label}: {message}', self.source, self.line)

    def fail(self, name: str, expected: str, found: object = None) -> NoReturn:
        """Raise for attribute `name`; what was found is the attribute itself unless given."""
        found = quoted(self.attributes.get(name)) if found is None else found
        raise self.error(f'{name}: expected {expected}, found {found}')

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """The only child with this tag, or None."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f'expected at most one in {self.label}, found {len(found)}')
        return found[0] if found else None

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        stack = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def has(self, tag: str, attribute: str) -> bool:
        """Whether an element of this tag, here or farther in, has the attribute."""
        return any(attribute in inner.attributes for inner in self.walk() if inner.tag == tag)

    def allow(self, attributes: Collection[str], children: Collection[str] = ()) -> None:
        """Refuse every attribute and child that is not listed."""
        for name in self.attributes:
            if name in children and name not in attributes:
                self.fail(name, 'an element (in YAML: a mapping), not a value')
            if name not in attributes:
                raise self.error(f'expected only known attributes, found {quoted(name)}; '
                                 f'{suggestion(name, {*attributes, *children})}')
        for child in self.children:
            if child.tag not in children:
                raise child.error(f'expected only known elements in {self.label}, found '
                                  f'<{cut(child.tag)}>; {suggestion(child.tag, children)}')

    def text(self, name: str, default: str | None = None) -> str:
        value = self.attributes.get(name, default)
        if value is None:
            self.fail(name, 'a value', 'no such attribute')
        if not value.strip():
            self.fail(name, 'a value that is not empty')
        return value.strip()

    def choice(self, name: str, options: Collection[str], default: str | None = None) -> str:
        value = self.text(name, default)
        if value not in options:
            self.fail(name, f'one of {", ".join(sorted(options))}',
                      f'{quoted(value)}; {suggestion(value, options)}')
        return value

    def numbers(self, name: str, count: int | None, default: str | None = None) -> Array:
        """`count` finite numbers separated by spaces (any number of them for None)."""
        what = 'numbers separated by spaces' if count is None else f'{count} numbers'
        words = self.text(name, default).split()
        if count is not None and len(words) != count:
            self.fail(name, what, f'{len(words)}: {quoted(self.attributes.get(name))}')
        return np.array([self._finite(name, word, what) for word in words])

    def number(self, name: str, default: float | None = None, *, above: float | None = None,
               least: float | None = None, most: float | None = None, unit: str = '') -> float:
        """A finite number, greater than `above`, not less than `least`, nor above `most`."""
        expected = _wanted(above, least, most, unit)
        if name not in self.attributes:
            if default is None:
                self.fail(name, expected, 'no such attribute')
            return default
        value = self._finite(name, self.text(name), expected)
        if ((above is not None and value <= above) or (least is not None and value < least)
                or (most is not None and value > most)):
            self.fail(name, expected)
        if above == 0.0 and value < SMALLEST:
            self.fail(name, f'{expected}, at least {SMALLEST:g}')
        return value

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        if name not in self.attributes:
            return default
        try:
            value = int(self.attributes[name])
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            self.fail(name, f'a whole number from {least} to {most}')
        return value

    def _finite(self, name: str, word: str, expected: str) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        # float() also reads 1_000 and digits of other scripts, which no other URDF tool does.
        if not math.isfinite(value) or '_' in word or not word.isascii():
            self.fail(name, f'{expected}, finite')
        if abs(value) > LARGEST:
            self.fail(name, f'{expected}, at most {LARGEST:g}')
        return value


def _wanted(above: float | None, least: float | None, most: float | None, unit: str) -> str:
    if above == 0.0:
        text = 'a positive number'
    elif least == 0.0 and most is None:
        text = 'a number not below 0'
    else:
        text = 'a number'
        if above is not None:
            text += f' above {above:g}'
        if least is not None:
            text += f' from {least:.6g}'
        if most is not None:
            text += f' to {most:.6g}'
    return f'{text} ({unit})' if unit else text


def read_origin(element: Element | None) -> Array:
    """Pose (4, 4) of an <origin xyz= rpy=/>, or quat_xyzw in place of rpy (URDF 1.1); identity
    where there is none."""
    if element is None:
        return np.eye(4)
    position = element.numbers('xyz', 3, '0 0 0')
    if 'quat_xyzw' not in element.attributes:
        return pose(rotation_from_rpy(element.numbers('rpy', 3, '0 0 0')), position)
    if 'rpy' in element.attributes:
        raise element.error('expected rpy or quat_xyzw, found both')
    quaternion = element.numbers('quat_xyzw', 4)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > ROUNDED:
        element.fail('quat_xyzw', 'a unit quaternion x y z w',
                     f'{quoted(element.attributes["quat_xyzw"])} of length {length:g}')
    return pose(rotation_from_quaternion(quaternion / length), position)
