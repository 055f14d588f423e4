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
"""Elements and numbers of the XML files."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable

from flex_description.robot import Inertia

Element = ElementTree.Element


def add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """A new child of an element."""
    child = ElementTree.SubElement(parent, tag, attributes)
    child.text = text
    return child


def numbers(values: Iterable[float]) -> str:
    """Numbers with all their digits, separated by spaces."""
    return ' '.join(number(value) for value in values)


def number(value: float) -> str:
    """The shortest decimal number that is read back as the same float; no negative zero."""
    return repr(float(value) + 0.0)


def tensor_attributes(body: Inertia) -> dict[str, str]:
    """The six numbers of an inertia tensor by their names in URDF and SDF."""
    rows = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2),
            'izz': (2, 2)}
    return {name: number(body.tensor[place]) for name, place in rows.items()}


def document(root: Element, comment: str) -> str:
    """The text of a file: declaration, a comment for whoever opens it, the elements indented."""
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0"?>\n<!-- {comment.replace("--", "- -")} -->\n{text}\n'
