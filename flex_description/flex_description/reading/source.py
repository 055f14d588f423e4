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
"""Sources of robots: a path, an XML string, or the name of a bundled robot."""
from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from flex_description.errors import RobotError, quoted
from flex_description.files import LARGEST_XML, MEGABYTE, read_text
from flex_description.reading.element import Element
from flex_description.reading.xacro.reader import expand_xacro
from flex_description.reading.xml_reader import read_xml
from flex_description.suggestion import suggestion

SUFFIXES = ('.urdf', '.urdf.xacro', '.xacro')


def _robots() -> Path:
    return Path(str(resources.files('flex_description'))) / 'robots'


def bundled_robots() -> dict[str, Path]:
    """Names and files of the robots that come with the package; `load_robot` takes the names."""
    found: dict[str, Path] = {}
    folder = _robots()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        for suffix in SUFFIXES:
            if path.name.endswith(suffix):
                found.setdefault(path.name.removesuffix(suffix), path)
                break
    return found


def bundled_overlay(name: str) -> Path | None:
    """The overlay `name` or `name.yaml` that comes with the package, or None."""
    path = _robots() / (name if name.endswith('.yaml') else f'{name}.yaml')
    return path if os.path.basename(name) == name and path.is_file() else None


def read_source(source: str | os.PathLike[str],
                arguments: Mapping[str, str] | None = None,
                ) -> tuple[Element, str, Path, list[str]]:
    """Root element, expanded URDF text, the directory for relative file names, and warnings.

    arguments: values for the xacro:arg of a xacro.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise RobotError('expected a path, an XML string or the name of a bundled robot, '
                         f'found {type(source).__name__}')
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        # Leading blank lines stay, so that lines count as in the text; expat wants none only
        # before an XML declaration.
        text = source.lstrip('\ufeff')
        text = text.lstrip() if text.lstrip().startswith('<?xml') else text
        name, directory = '<string>', Path.cwd()
        if len(text) > LARGEST_XML:
            raise RobotError(f'expected a text of at most {LARGEST_XML / MEGABYTE:g} MB, found '
                             f'{len(text) / MEGABYTE:.3g} MB', name)
    else:
        path = _find(source)
        text, name, directory = read_text(path), str(path), path.resolve().parent
    if 'xmlns:xacro' in text:
        root, text, warnings = expand_xacro(text, name, directory, arguments or {})
    else:
        root, warnings = read_xml(text, name), []
    return root, text, directory, warnings


def _find(source: str | os.PathLike[str]) -> Path:
    """The file of a bundled robot or of the path given."""
    if isinstance(source, str):
        robots = bundled_robots()
        if source in robots:
            return robots[source]
        if os.path.basename(source) == source and not os.path.exists(source):
            raise RobotError('expected a file, an XML string or the name of a bundled robot, '
                             f'found {quoted(source)}; {suggestion(source, robots)}')
    return Path(source)
