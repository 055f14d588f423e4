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
"""XML text to elements that know their line; document type definitions are refused.

A DTD is where entity bombs and reads of foreign files live, and no URDF needs one.
"""
from __future__ import annotations

from typing import NoReturn
from xml.parsers import expat

from flex_description.errors import RobotError
from flex_description.reading.element import Element
from flex_description.reading.limits import DEEPEST, MOST_ELEMENTS


def refuse_dtd(parser: expat.XMLParserType, source: str) -> None:
    """Make the parser raise at a document type definition, before any entity is read."""
    def refuse(*_: object) -> NoReturn:
        raise RobotError('expected plain XML, found a document type definition (<!DOCTYPE>), '
                         'which is refused because entities can exhaust memory or read files; '
                         'remove it', source, parser.CurrentLineNumber)
    parser.StartDoctypeDeclHandler = refuse


def read_xml(text: str, source: str) -> Element:
    """The root element of an XML text."""
    parser = expat.ParserCreate()
    refuse_dtd(parser, source)
    top = Element('', {}, source, 0)
    stack = [top]
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > DEEPEST:
            raise RobotError(f'expected elements nested at most {DEEPEST} deep, found deeper ones',
                             source, parser.CurrentLineNumber)
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            raise RobotError(f'expected at most {MOST_ELEMENTS} elements, found more', source,
                             parser.CurrentLineNumber)
        element = Element(tag, attributes, source, parser.CurrentLineNumber, [], stack[-1])
        stack[-1].children.append(element)
        stack.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise RobotError(f'expected well-formed XML, found: {expat.ErrorString(error.code)} '
                         f'(column {error.offset + 1})', source, error.lineno) from None
    except UnicodeError as error:
        raise RobotError(f'expected Unicode text, found: {error}', source) from None
    return top.children[0]
