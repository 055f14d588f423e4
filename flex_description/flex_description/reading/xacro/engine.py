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
"""xacro with its evaluator, file access and recursion replaced by bounded ones."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from flex_description.errors import RobotError
from flex_description.files import (
    LARGEST_XML,
    LARGEST_YAML,
    MEGABYTE,
    FileError,
    decode,
    read_bytes,
)
from flex_description.reading import bounded_yaml
from flex_description.reading.limits import Budget, LimitError
from flex_description.reading.xacro import symbols as xacro_symbols
from flex_description.reading.xacro.expressions import Evaluator, ExpressionError
from flex_description.reading.xacro.macro_parameters import parse_macro_arg

DEEPEST_INCLUDE = 30
LONGEST_VALUE = 100_000     # characters of an attribute or text that has expressions in it
WILDCARDS = '*?['


class Engine:
    """Expands one document.

    main: path of the main file, beside which relative includes are looked for.
    directory: of the main file. parse: text and file name to a document.
    visit: called with every element that is expanded. warn: called with every warning.
    """

    def __init__(self, main: str, directory: Path, parse: Callable[[str, str], Any],
                 visit: Callable[[Any], None], warn: Callable[[str], None]) -> None:
        import xacro
        from xacro import substitution_args
        self.xacro, self.substitution = xacro, substitution_args
        self.main, self.parse, self.visit, self.warn = main, parse, visit, warn
        self.folders = _folders(directory)
        self.budget = Budget()
        self.evaluator = Evaluator(self.budget, xacro_symbols.method)
        self.original: dict[str, Any] = {name: getattr(xacro, name, None) for name in (
            'check_attrs', 'eval_all', 'eval_text', 'handle_macro_call', 'get_include_files')}
        self.find: Any = getattr(substitution_args, '_eval_find', None)

    def process(self, document: Any, arguments: dict[str, str]) -> None:
        """Expand a document in place."""
        xacro, symbols = self.xacro, self._symbols()
        names = {
            'parse': self._parse, 'safe_eval': self._safe_eval, 'eval_all': self._eval_all,
            'eval_text': self._eval_text, 'check_attrs': self._check_attrs,
            'handle_macro_call': self._handle_macro_call, 'parse_macro_arg': parse_macro_arg,
            'get_include_files': self._get_include_files, '_global_symbols': symbols,
            'replace_node': self._replace_node, 'warning': self._warning,
            'error': self._warning, 'message': _silent, 'print_location': _silent,
            'all_includes': []}
        with (_replaced(xacro, names),
              _replaced(self.substitution, {'_eval': self._eval, '_eval_find': self._find})):
            xacro.init_stacks(self.main)
            xacro.process_doc(document, mappings=arguments, verbosity=0)

    def _symbols(self) -> dict[str, Any]:
        xacro = self.xacro

        def fatal(*words: object) -> None:
            raise xacro.XacroException(' '.join(map(str, words)))

        return xacro_symbols.symbols(xacro.NameSpace, {
            'load_yaml': self._load_yaml, 'abs_filename': xacro.abs_filename_spec,
            'dotify': xacro.YamlDictWrapper, 'tokenize': _tokenize, 'fatal': fatal,
            'arg': lambda name: xacro.substitution_args_context['arg'][name],
            'message': _silent, 'warning': self._warning, 'error': self._warning,
            'print_location': _silent})

    def _warning(self, *words: object, **_: object) -> str:
        """xacro's own warnings and those that a file asks for, instead of printing them."""
        self.budget.step()
        self.warn(' '.join(str(word) for word in words))
        return ''

    def _safe_eval(self, text: str, symbols: Any, _: object = None) -> Any:
        return self.evaluator.evaluate(text, symbols)

    def _eval(self, text: str, context: dict[str, Any]) -> str:
        """$(eval ...): as ${...}, with the arguments as names."""
        arguments = {name: self.substitution.convert_value(value, 'auto')
                     for name, value in context.get('arg', {}).items()}
        names = {'true': True, 'false': False}
        return str(self.evaluator.evaluate(text, {**self._symbols(), **names, **arguments,
                                                  'arg': self._symbols()['xacro']['arg']}))

    def _eval_all(self, node: Any, macros: Any, symbols: Any) -> None:
        self.budget.element()
        self.visit(node)
        self.original['eval_all'](node, macros, symbols)

    def _handle_macro_call(self, node: Any, macros: Any, symbols: Any) -> bool:
        self.visit(node)
        handled: bool = self.original['handle_macro_call'](node, macros, symbols)
        return handled

    def _check_attrs(self, tag: Any, required: list[str], optional: list[str]) -> Any:
        self.visit(tag)
        return self.original['check_attrs'](tag, required, optional)

    def _eval_text(self, text: Any, symbols: Any) -> Any:
        if isinstance(text, str):
            self.budget.text(len(text))
            if '$' not in text:
                return text
            if len(text) > LONGEST_VALUE:
                raise LimitError(f'expected at most {LONGEST_VALUE} characters in a value with '
                                 f'expressions, found {len(text)}')
        value = self.original['eval_text'](text, symbols)
        self.budget.text(len(value) if isinstance(value, str) else 1)
        return value

    def _replace_node(self, node: Any, by: Any, content_only: bool = False) -> None:
        """Put other nodes, or their content, in the place of a node. At once: minidom searches the
        place for every node again, in quadratic time that the budget cannot interrupt."""
        documents = by if isinstance(by, list) else [] if by is None else [by]
        moved = [child for document in documents
                 for child in (list(document.childNodes) if content_only else [document])]
        self.budget.watch()
        for document in documents:
            if content_only:
                document.childNodes[:] = []
            elif document.parentNode is not None:
                document.parentNode.removeChild(document)
        parent, before, after = node.parentNode, node.previousSibling, node.nextSibling
        place = parent.childNodes.index(node)
        parent.childNodes[place:place + 1] = moved
        row = [before, *moved, after]
        for left, right in pairwise(row):
            if left is not None:
                left.nextSibling = right
            if right is not None:
                right.previousSibling = left
        for child in moved:
            child.parentNode = parent
        node.parentNode = node.previousSibling = node.nextSibling = None

    def _parse(self, text: object, filename: str | None = None) -> Any:
        """An included file."""
        name = str(filename)
        if len(self.xacro.filestack) > DEEPEST_INCLUDE:
            raise RobotError(f'expected includes nested at most {DEEPEST_INCLUDE} deep, found '
                             'deeper ones; look for a file that includes itself',
                             str(self.xacro.filestack[-2]))
        return self.parse(self._read(name, LARGEST_XML, 'include'), name)

    def _read(self, name: str, largest: int, what: str) -> str:
        """The text of a file in the folders of the description."""
        self.budget.watch()
        self._check_folder(name, what)
        try:
            return decode(read_bytes(name, largest))
        except FileError as error:
            # xacro ignores optional includes that raise this kind of exception.
            raise self.xacro.XacroException(exc=_NotReadable(
                f'{what}: expected a readable UTF-8 text file of at most '
                f'{largest / MEGABYTE:g} MB, found {error}: "{name[-150:]}"')) from None

    def _check_folder(self, name: str, what: str) -> None:
        path = os.path.abspath(name)
        if not any(path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
                   for folder in self.folders):
            raise ExpressionError(
                f'{what}: expected a file in the folder of the description, in its ROS package '
                f'or in one named by $(find ...), found "{name[-150:]}"; move it there')

    def _find(self, package: str) -> str:
        """$(find ...): the share folder of a package, from which files may be read."""
        folder: str = self.find(package)
        self.folders.extend({os.path.abspath(folder), os.path.realpath(folder)})
        return folder

    def _get_include_files(self, spec: str, symbols: Any) -> Iterator[str]:
        given = str(self._eval_text(spec, symbols))
        scheme, found, rest = given.partition('://')
        if found:
            package, _, inside = rest.partition('/')
            hint = (f'; write "$(find {package[:100]})/{inside[:150]}"' if scheme == 'package'
                    else '')
            raise LimitError(f'include: expected a path, found the address "{given[:200]}", which '
                             f'xacro does not read{hint}')
        name = self.xacro.abs_filename_spec(given)
        fixed = name[:min((name.find(mark) for mark in WILDCARDS if mark in name),
                          default=len(name))]
        if sum(any(mark in part for mark in WILDCARDS) for part in name.split(os.sep)) > 2:
            raise LimitError('include: expected at most 2 folders or files with wildcards, found '
                             'more')
        # of a pattern, the folder before the first wildcard
        self._check_folder(name if fixed == name else os.path.dirname(fixed) or os.sep, 'include')
        files: Iterator[str] = self.original['get_include_files'](spec, symbols)
        return files

    def _load_yaml(self, filename: str) -> Any:
        name = self.xacro.abs_filename_spec(str(filename))
        text = self._read(name, LARGEST_YAML, 'load_yaml')
        symbols = self.xacro._global_symbols
        values = bounded_yaml.load(text, lambda part: self.evaluator.evaluate(part, symbols))
        return self.xacro.YamlListWrapper.wrap(values)


def _silent(*_: object, **__: object) -> str:
    return ''


class _NotReadable(OSError):
    """An included file that does not exist or is not a regular file."""


def _folders(directory: Path) -> list[str]:
    """The folder of a description and its ROS package, symbolic links resolved or not."""
    found: list[str] = []
    for folder in {Path(os.path.abspath(directory)), Path(os.path.realpath(directory))}:
        if folder == folder.parent:
            continue  # the root folder, where a node may be started, would allow all files
        found.append(str(folder))
        package = next((up for up in (folder, *folder.parents)
                        if (up / 'package.xml').is_file()), None)
        if package is not None:
            found.append(str(package))
    return found


def _tokenize(text: str, sep: str = ',; ', skip_empty: bool = True) -> list[str]:
    """Parts of a text between any of the characters of sep."""
    if not isinstance(text, str) or not isinstance(sep, str):
        raise ExpressionError('tokenize: expected texts')
    for mark in sep[1:]:
        text = text.replace(mark, sep[0])
    parts = text.split(sep[0]) if sep else [text]
    return [part for part in parts if part] if skip_empty else parts


@contextlib.contextmanager
def _replaced(module: Any, names: dict[str, Any]) -> Iterator[None]:
    missing = [name for name in names if not hasattr(module, name)]
    if missing:
        raise RobotError(f'xacro: expected version 2.0.9 to 2.1, found one without {missing[0]}')
    before = {name: getattr(module, name) for name in names}
    vars(module).update(names)
    try:
        yield
    finally:
        vars(module).update(before)
