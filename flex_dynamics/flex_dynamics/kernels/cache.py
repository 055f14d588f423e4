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
"""Stamps of compiled kernels that know what is compiled into them.

Numba keeps a compiled function until its own file changes; a kernel has its callees of other files
compiled into it, and would go on using their old code. Here a kernel's stamp is a hash of its file
and of all kernel files that it imports, directly or not: a change compiles anew what contains it,
and nothing else.
"""
from __future__ import annotations

import functools
import hashlib
import importlib.util
import re
from pathlib import Path

from numba.core import caching

KERNEL_MODULE = re.compile(r'flex_\w+\.kernels(\.|$)')
IMPORTED = re.compile(r'^\s*(?:from|import)\s+(flex_\w+\.kernels[\w.]*)'
                      r'(?:\s+import\s+(\([^)]*\)|[^\n]*))?', re.MULTILINE)


@functools.cache
def _file_of(module: str) -> Path | None:
    """Source of a kernel module; None for other modules and for names that are none."""
    if not KERNEL_MODULE.match(module):
        return None
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:      # a parent that is no package: what was imported is no module
        return None
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Kernel files that `path` imports directly, also within its functions."""
    names: set[str] = set()
    for module, things in IMPORTED.findall(path.read_text(encoding='utf-8')):
        names.add(module)
        names.update(f'{module}.{thing}' for thing in re.findall(r'\w+', things))
    return frozenset(found for name in names if (found := _file_of(name)) is not None)


def compiled_files(path: Path) -> set[Path]:
    """The file and all kernel files that it imports, directly or not."""
    files, new = set(), {path.resolve()}
    while new:
        files |= new
        new = set().union(*map(_imported, new)) - files
    return files


@functools.cache
def stamp(path: Path) -> str:
    """Hash of all that is compiled into the kernels of a file."""
    total = hashlib.sha256()
    for part in sorted(compiled_files(path)):
        total.update(part.name.encode() + b'\0' + part.read_bytes() + b'\0')
    return total.hexdigest()


def _with_stamp(locator: type) -> type:
    """A cache locator that serves kernel files only, with the stamp above."""

    class KernelCacheLocator(locator):            # type: ignore[misc, valid-type]
        def get_source_stamp(self):
            return self.kernel_stamp

        @classmethod
        def from_function(cls, py_func, py_file):
            if not KERNEL_MODULE.match(py_func.__module__):
                return None
            found = super().from_function(py_func, py_file)
            if found is not None:
                found.kernel_stamp = stamp(Path(py_file).resolve())
            return found

    return KernelCacheLocator


def install() -> None:
    """Put our locators before numba's own; their names lost an underscore in numba 0.61."""
    names = ('UserProvidedCacheLocator', 'InTreeCacheLocator', 'UserWideCacheLocator')
    own = [_with_stamp(locator) for name in names
           if (locator := getattr(caching, name, getattr(caching, '_' + name, None)))]
    for implementation in (caching.CompileResultCacheImpl, caching.CodeLibraryCacheImpl):
        implementation._locator_classes = [*own, *implementation._locator_classes]


install()
