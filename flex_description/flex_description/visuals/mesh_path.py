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
"""The file that the address of a mesh in a URDF stands for."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from flex_description.errors import one_line
from flex_description.robot import Robot
from flex_description.visuals.mesh_limits import MeshError

LISTED = 3                   # places that a message names before it counts the others
LARGEST_MANIFEST = 2**16     # bytes of a package.xml that are looked at


def mesh_path(uri: str, robot: Robot) -> Path:
    """The file of a mesh: file://, package://, or relative to the URDF.

    A package is looked for in AMENT_PREFIX_PATH, in ROS_PACKAGE_PATH, and around the URDF: a
    folder above it that has the name of the package, or a package.xml with that name. MeshError
    says where a package was looked for, or which scheme is unknown.
    """
    scheme, found, rest = uri.partition('://')
    scheme = scheme.lower()
    # Not urlparse, which takes brackets in a name for an IPv6 address.
    host, _, inside = unquote(rest).partition('/')
    if found and scheme == 'package':
        # Published URDFs have package:///name, which Pinocchio reads, too.
        package, _, inside = unquote(rest).lstrip('/').partition('/')
        return _in_package(package, inside.lstrip('/'), robot)
    if found and scheme == 'file':
        return Path('/') / inside      # after the host name, which is ignored
    if found:
        raise MeshError(f'{one_line(uri, 300)}: expected package://, file:// or a path')
    return Path(robot.source).resolve().parent / uri


def mesh_uri(mesh: str, robot: Robot) -> str:
    """The address of a mesh for RViz, which finds packages in AMENT_PREFIX_PATH only; that of the
    URDF if it cannot be found at all."""
    if not mesh or '://' in mesh and not mesh.lower().startswith('package://'):
        return mesh
    try:
        path = mesh_path(mesh, robot)
        if '://' in mesh and any(path.is_relative_to(place) for place in _listed(
                'AMENT_PREFIX_PATH')):
            return mesh
        return path.as_uri()
    except (MeshError, ValueError):
        return mesh


def _listed(variable: str) -> list[Path]:
    return [Path(place) for place in os.environ.get(variable, '').split(os.pathsep) if place]


def _in_package(package: str, inside: str, robot: Robot) -> Path:
    prefixes, old = _listed('AMENT_PREFIX_PATH'), _listed('ROS_PACKAGE_PATH')
    folders = [*(prefix / 'share' / package for prefix in prefixes),
               *(place / package for place in old), *_around(package, robot)]
    there = [folder for folder in folders if package and _exists(folder)]
    for folder in there:
        if _exists(folder / inside, file=True):
            return folder / inside
    name = one_line(f'package://{package}/{inside}', 300)
    if there:
        raise MeshError(f'{name}: expected this file in {_some(there)}, found none')
    raise MeshError(
        f'{name}: expected the package, found none in AMENT_PREFIX_PATH ({_some(prefixes)}), in '
        f'ROS_PACKAGE_PATH ({_some(old)}) or around the URDF; source the setup file of its '
        'workspace, or set ROS_PACKAGE_PATH to the folder that holds the package')


def _around(package: str, robot: Robot) -> Iterator[Path]:
    """Folders above the URDF that are the package, by their name or their package.xml."""
    for folder in Path(robot.source).resolve().parents:
        if folder.name == package or _manifest_name(folder) == package:
            yield folder


def _manifest_name(folder: Path) -> str:
    try:
        with (folder / 'package.xml').open('rb') as file:
            text = file.read(LARGEST_MANIFEST).decode('utf-8', 'replace')
    except OSError:
        return ''
    found = re.search(r'<name>\s*([^<>]*?)\s*</name>', text)
    return found[1] if found else ''


def _some(places: list[Path]) -> str:
    if not places:
        return 'empty'
    more = f' and {len(places) - LISTED} more' if len(places) > LISTED else ''
    return ', '.join(one_line(str(place), 100) for place in places[:LISTED]) + more


def _exists(path: Path, file: bool = False) -> bool:
    try:
        return path.is_file() if file else path.is_dir()
    except (OSError, ValueError):      # name too long, folder not readable, null character
        return False
