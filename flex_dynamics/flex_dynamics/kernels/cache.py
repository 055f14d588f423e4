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
"""One stamp for all compiled kernels.

Numba keeps a compiled function until its own file changes; a kernel has its callees of other files
compiled into it, and would go on using their old code. Here every kernel's stamp is a hash of all
kernel files, so that a change in any of them compiles anew whatever may contain it.
"""
from __future__ import annotations

import hashlib
from pathlib import Path

from numba.core import caching

FOLDER = Path(__file__).resolve().parent
STAMP = hashlib.sha256(b''.join(
    path.read_bytes() for path in sorted(FOLDER.rglob('*.py')))).hexdigest()


def _with_common_stamp(locator: type) -> type:
    """A cache locator that serves files below this folder only, with the common stamp."""

    class KernelCacheLocator(locator):            # type: ignore[misc, valid-type]
        def get_source_stamp(self):
            return STAMP

        @classmethod
        def from_function(cls, py_func, py_file):
            if FOLDER not in Path(py_file).resolve().parents:
                return None
            return super().from_function(py_func, py_file)

    return KernelCacheLocator


def install() -> None:
    """Put our locators before numba's own; their names lost an underscore in numba 0.61."""
    names = ('UserProvidedCacheLocator', 'InTreeCacheLocator', 'UserWideCacheLocator')
    own = [_with_common_stamp(locator) for name in names
           if (locator := getattr(caching, name, getattr(caching, '_' + name, None)))]
    for implementation in (caching.CompileResultCacheImpl, caching.CodeLibraryCacheImpl):
        implementation._locator_classes = [*own, *implementation._locator_classes]


install()
