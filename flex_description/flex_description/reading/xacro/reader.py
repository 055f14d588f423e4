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
"""xacro to elements that know the line of the xacro file, also through macros and includes.

xacro reads files with minidom, which forgets lines and follows entities, evaluates expressions as
Python code, and opens every file that it is told to. While it runs, those parts of it are replaced
by a reader that notes file and line on each element, by an evaluator with limits, and by includes
from the folders of the description only. The notes survive expansion and are taken off after it.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.dom import expatbuilder
from xml.parsers import expat

from flex_description.errors import RobotError
from flex_description.reading.element import Element
from flex_description.reading.limits import DEEPEST, MOST_ELEMENTS, LimitError
from flex_description.reading.xacro.engine import Engine
from flex_description.reading.xml_reader import refuse_dtd

NOTE = 'flex_note'
MOST_WARNINGS = 100
_lock = threading.Lock()  # xacro keeps its state in globals


class _Builder(expatbuilder.ExpatBuilderNS):
    """Builds a DOM whose elements carry `file number:line`."""

    def __init__(self, source: str, number: int) -> None:
        super().__init__()
        self.source = source
        self.number = number
        self.depth = self.count = 0

    def install(self, parser: Any) -> None:
        super().install(parser)
        # Comments are not used; xacro removes those before a macro in quadratic time.
        parser.CommentHandler = parser.ProcessingInstructionHandler = None
        refuse_dtd(parser, self.source)

    def start_element_handler(self, name: str, attributes: list[str]) -> None:
        super().start_element_handler(name, attributes)
        line = self.getParser().CurrentLineNumber
        self.depth += 1
        self.count += 1
        if self.depth > DEEPEST:
            raise RobotError(f'expected elements nested at most {DEEPEST} deep, found deeper ones',
                             self.source, line)
        if self.count > MOST_ELEMENTS:
            raise RobotError(f'expected at most {MOST_ELEMENTS} elements, found more',
                             self.source, line)
        node: Any = self.curNode
        node.flex_place = f'{self.number}:{line}'
        if not node.tagName.startswith('xacro:'):
            node.setAttribute(NOTE, node.flex_place)

    def end_element_handler(self, name: str) -> None:
        super().end_element_handler(name)
        self.depth -= 1


class _Reading:
    """The files of one xacro and the place of the current element."""

    def __init__(self, source: str) -> None:
        self.files: list[str] = [source]
        self.place = (0, 0)
        self.warnings: list[str] = []

    def parse(self, text: str, name: str) -> Any:
        """The document of a file's text."""
        number = 0
        if name != self.files[0]:
            number = len(self.files)
            self.files.append(name)
        try:
            return _Builder(name, number).parseString(text)
        except expat.ExpatError as error:
            raise RobotError(f'expected well-formed XML, found: {expat.ErrorString(error.code)} '
                             f'(column {error.offset + 1})', name, error.lineno) from None
        except UnicodeError as error:
            raise RobotError(f'expected Unicode text, found: {error}', name) from None

    def visit(self, node: Any) -> None:
        """Remember the place of the element that is being expanded."""
        place = getattr(node, 'flex_place', None) or node.getAttribute(NOTE)
        if place:
            self.place = _parsed(place, self.files)

    def warn(self, message: str) -> None:
        number, line = self.place
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(f'{self.files[number]}:{line}: xacro: {message}')

    def error(self, message: str) -> RobotError:
        number, line = self.place
        return RobotError(message, self.files[number], line or None)


def expand_xacro(text: str, source: str, directory: Path,
                 arguments: Mapping[str, str]) -> tuple[Element, str, list[str]]:
    """Expanded root element, its text, and warnings.

    directory: where relative includes are looked for.
    """
    reading = _Reading(source)
    with _lock:
        try:
            # xacro looks for includes beside the file on top of its stack.
            main = str(directory / (os.path.basename(source) or 'robot.xacro'))
            engine = Engine(main, directory, reading.parse, reading.visit, reading.warn)
            document = reading.parse(text, source)
            engine.process(document, dict(arguments))
            root = _element(document.documentElement, reading.files, None)
            expanded = document.toprettyxml(indent='  ')
            _check_well_formed(expanded, source)
            return root, expanded, reading.warnings
        except RobotError:
            raise
        except RecursionError:
            raise reading.error('expected a xacro that ends, found endless recursion') from None
        except LimitError as error:
            raise reading.error(f'xacro: {error}') from None
        except Exception as error:  # xacro evaluates expressions: any exception can come out
            raise reading.error(f'xacro: {_reason(error)}') from None


def _reason(error: Exception) -> str:
    """The message of the innermost exception, and the expression that it came from."""
    reasons: list[Any] = []
    inner: Any = error
    while inner is not None and len(reasons) < 10:
        reasons.append(inner)
        inner = getattr(inner, 'exc', None)
    if isinstance(reasons[-1], RecursionError):
        return 'expected a xacro that ends, found endless recursion'
    if len(reasons) > 1:
        suffix = str(reasons[-2].suffix or '').strip()
        return f'{reasons[-1] or repr(reasons[-1])} {suffix}'
    return str(error) or repr(error)


def _check_well_formed(text: str, source: str) -> None:
    """Names and values that expressions make can have characters that XML does not allow."""
    try:
        expat.ParserCreate().Parse(text, True)
    except (expat.ExpatError, UnicodeError) as error:
        raise RobotError('expected a xacro whose names and values XML can hold, found one that '
                         f'expands to: {error}', source) from None


def _element(node: Any, files: list[str], parent: Element | None, depth: int = 1) -> Element:
    """DOM to Element; takes the notes off the DOM."""
    if depth > DEEPEST:
        raise RobotError(f'expected elements nested at most {DEEPEST} deep, found deeper ones',
                         files[0])
    number, line = _parsed(node.getAttribute(NOTE), files)
    if node.hasAttribute(NOTE):
        node.removeAttribute(NOTE)
    element = Element(node.tagName, dict(node.attributes.items()), files[number], line, [], parent)
    element.children = [_element(child, files, element, depth + 1) for child in node.childNodes
                        if child.nodeType == child.ELEMENT_NODE]
    return element


def _parsed(note: str, files: list[str]) -> tuple[int, int]:
    """File number and line of a note; a xacro can write such an attribute too."""
    number, _, line = note.partition(':')
    if number.isdecimal() and line.isdecimal() and len(note) < 20 and int(number) < len(files):
        return int(number), int(line)
    return 0, 1
