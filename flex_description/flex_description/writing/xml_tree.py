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
"""XML text to a tree that keeps text and prefixes as they are, and back.

ElementTree refuses prefixes that are not declared and renames those that are; URDFs of other tools
have both.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

SPACES = {'\n': '&#10;', '\t': '&#9;', '\r': '&#13;'}   # else an attribute would lose them


@dataclass
class Node:
    """An element: its tag, attributes, and children, which are elements or text."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str) -> list[Node]:
        return [child for child in self.children if isinstance(child, Node) and child.tag == tag]


def parse(text: str) -> Node:
    """The tree of an XML text that has been read before; comments are left out."""
    top = Node('')
    stack = [top]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = Node(tag, attributes)
        stack[-1].children.append(node)
        stack.append(node)

    def characters(data: str) -> None:
        if data.strip():
            stack[-1].children.append(data)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = characters
    parser.Parse(text, True)
    root = top.children[0]
    assert isinstance(root, Node)
    return root


def text_of(node: Node, indent: str = '') -> str:
    """A node as XML, each element on a line of its own unless it holds text."""
    attributes = ''.join(f' {name}={quoteattr(value, SPACES)}'
                         for name, value in node.attributes.items())
    head = f'{indent}<{node.tag}{attributes}'
    if not node.children:
        return f'{head}/>\n'
    if any(isinstance(child, str) for child in node.children):
        inner = ''.join(escape(child) if isinstance(child, str) else text_of(child).strip()
                        for child in node.children)
        return f'{head}>{inner}</{node.tag}>\n'
    inner = ''.join(text_of(child, indent + '  ') for child in node.children
                    if isinstance(child, Node))
    return f'{head}>\n{inner}{indent}</{node.tag}>\n'
