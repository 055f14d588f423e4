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
"""The extension elements of a robot as XML, with nothing left that other files would have to say.
"""
from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flex_description.reading.element import Element
from flex_description.shapes.tabulated import read_table, table_text
from flex_description.writing.xml_tree import Node, text_of


def extension_text(elements: Iterable[tuple[Element, str, Path]]) -> str:
    """XML of the elements that a robot was built from.

    elements: each with its attribute `mass`, whose default depends on whether the URDF or the
    overlay has the element ('': it has no such attribute), and the folder in which the files that
    it names are. A table of mode shapes is written into <modes> instead of its file's name.
    """
    return ''.join(text_of(_node(element, mass, folder)) for element, mass, folder in elements)


def _node(element: Element, mass: str, folder: Path) -> Node:
    attributes = dict(element.attributes)
    if mass:
        attributes['mass'] = mass
    if element.tag == 'modes' and 'file' in attributes:
        attributes['table'] = table_text(read_table(folder / attributes.pop('file').strip()))
    return Node(element.tag, attributes, [_node(child, '', folder) for child in element.children])
