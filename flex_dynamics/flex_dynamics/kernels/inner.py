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
"""What only kernels call: compiled as far as its callers need it, for a quarter less time.

Numba links the optimised code of a callee into each caller and makes machine code of that. The
machine code of the callee itself, and its wrappers for Python and C, would never run. So an inner
kernel has none, and no place in the cache on disk: it is in its callers there.
"""
from __future__ import annotations

import ctypes

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

# A function of CPython with the arguments of a wrapper: called from Python, an inner kernel is a
# TypeError (a closure of numba that is not callable) and no jump to an address that is not there.
REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value


class _Nowhere:
    """In place of the engine: code that is not in memory has no environment to be told."""

    def set_env(self, name: str, environment: object) -> None:
        pass


class InnerLibrary(JITCodeLibrary):             # type: ignore[misc]
    """Code that is optimised and linked into callers, but never made to machine code."""

    codegen = _Nowhere()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int | None:
        self._ensure_finalized()
        return REFUSE


class InnerCompiler(Compiler):                  # type: ignore[misc]
    """Numba's compiler with such a library."""

    def __init__(self, typing, target, library, args, return_type, flags, locals_) -> None:
        super().__init__(typing, target, library, args, return_type, flags, locals_)
        if library is None:
            self.state.library = InnerLibrary(target.codegen(), 'inner kernel')
