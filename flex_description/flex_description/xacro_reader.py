"""xacro to elements that know the line of the xacro file, also through macros and includes.

xacro reads files with minidom, which forgets lines and follows entities. While it runs, its reader
is replaced by one that refuses them and notes file and line on each element that is not xacro's
own; the notes survive expansion and are taken off after it.
"""
from __future__ import annotations

import contextlib
import io
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.dom import expatbuilder, minidom
from xml.parsers.expat import ErrorString, ExpatError

from flex_description.element import Element
from flex_description.errors import RobotError
from flex_description.xml_reader import DEEPEST, refuse_dtd

NOTE = 'flex_note'
_lock = threading.Lock()  # xacro keeps its state in globals


class _Builder(expatbuilder.ExpatBuilderNS):
    """Builds a DOM whose elements carry `file number:line`."""

    def __init__(self, source: str, number: int) -> None:
        super().__init__()
        self.source = source
        self.number = number

    def install(self, parser: Any) -> None:
        super().install(parser)
        refuse_dtd(parser, self.source)

    def start_element_handler(self, name: str, attributes: list[str]) -> None:
        super().start_element_handler(name, attributes)
        node: Any = self.curNode
        if not node.tagName.startswith('xacro:'):
            node.setAttribute(NOTE, f'{self.number}:{self.getParser().CurrentLineNumber}')


def expand_xacro(text: str, source: str, directory: Path,
                 arguments: Mapping[str, str]) -> tuple[Element, str]:
    """Expanded root element and its text. directory: where relative includes are looked for."""
    import xacro

    files: list[str] = []

    def parse(inp: object, filename: str | None = None) -> minidom.Document:
        if inp is None:
            try:
                inp = Path(str(filename)).read_text(encoding='utf-8')
            except (OSError, UnicodeDecodeError) as error:
                raise RobotError(f'expected to read the included file, found: {error}',
                                 _current_file(source)) from None
        name = str(filename or source)
        files.append(name)
        try:
            return _Builder(name, len(files) - 1).parseString(str(inp))
        except ExpatError as error:
            raise RobotError(f'expected well-formed XML, found: {ErrorString(error.code)} '
                             f'(column {error.offset + 1})', name, error.lineno) from None

    with _lock, _replaced(xacro, parse):
        # xacro looks for includes beside the file on top of its stack.
        xacro.init_stacks(str(directory / (os.path.basename(source) or 'robot.xacro')))
        printed = io.StringIO()
        try:
            with contextlib.redirect_stderr(printed):
                document = parse(text, source)
                xacro.process_doc(document, mappings=dict(arguments), verbosity=0)
        except RobotError:
            raise
        except RecursionError:
            raise RobotError('expected a xacro that ends, found endless recursion',
                             _current_file(source)) from None
        except Exception as error:  # xacro evaluates expressions: any exception can come out
            raise RobotError(f'xacro: {error or repr(error)}', _current_file(source)) from None
    root = _element(document.documentElement, files, None)
    return root, document.toprettyxml(indent='  ')


def _current_file(source: str) -> str:
    """The file in which xacro is at work."""
    import xacro
    stack = xacro.filestack or []
    return str(stack[-1]) if len(stack) > 1 else source


@contextlib.contextmanager
def _replaced(module: Any, parse: object) -> Iterator[None]:
    original = module.parse
    module.parse = parse
    try:
        yield
    finally:
        module.parse = original


def _element(node: Any, files: list[str], parent: Element | None, depth: int = 1) -> Element:
    """DOM to Element; takes the notes off the DOM."""
    if depth > DEEPEST:
        raise RobotError(f'expected elements nested at most {DEEPEST} deep, found deeper ones',
                         files[0])
    number, line = (node.getAttribute(NOTE) or '0:1').split(':')
    if node.hasAttribute(NOTE):
        node.removeAttribute(NOTE)
    element = Element(node.tagName, dict(node.attributes.items()), files[int(number)], int(line),
                      [], parent)
    element.children = [_element(child, files, element, depth + 1) for child in node.childNodes
                        if child.nodeType == child.ELEMENT_NODE]
    return element
