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
"""Libraries of kernels in which each function is optimised once, and made to machine code once.

Numba links the optimised code of a callee into each caller, optimises all of it there again, and
makes machine code of that. A function deep in the call graph is so optimised once for each kernel
above it, which took most of the time. Here a callee that is too large to be inlined stays a
declaration in its callers; a kernel that Python calls links it as it is, after it has been
optimised itself.

The machine code of an inner kernel, which only kernels call, and its wrappers for Python and C
would never run. So it has none, and no place in the cache on disk: it is in its callers there.
"""
from __future__ import annotations

import ctypes
from typing import Any

from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler

# A function of CPython with the arguments of a wrapper: called from Python, an inner kernel is a
# TypeError (a closure of numba that is not callable) and no jump to an address that is not there.
REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
# Instructions: LLVM inlines what has some 60 of them, or 180 with a hundred arguments.
LARGE = 400


class _Nowhere:
    """In place of the engine: code that is not in memory has no environment to be told."""

    def set_env(self, name: str, environment: object) -> None:
        pass


def _is_large(library: CodeLibrary) -> bool:
    """Whether a library has more than LARGE instructions."""
    left = LARGE
    for function in library._get_module_for_linking().functions:
        for block in function.blocks:
            left -= sum(1 for _ in block.instructions)
            if left < 0:
                return True
    return False


class KernelLibrary(JITCodeLibrary):            # type: ignore[misc]
    """Code of a kernel with that of its small callees; of large ones it knows the libraries."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.left_out: dict[CodeLibrary, None] = {}

    def add_linking_library(self, library: CodeLibrary) -> None:
        library._ensure_finalized()
        if library in self.left_out:
            return
        self.left_out.update(getattr(library, 'left_out', {}))
        if _is_large(library):
            self.left_out[library] = None
        else:
            super().add_linking_library(library)


class InnerLibrary(KernelLibrary):
    """Code that is optimised and linked into callers, but never made to machine code."""

    codegen = _Nowhere()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int | None:
        self._ensure_finalized()
        return REFUSE


class EntryLibrary(KernelLibrary):
    """Code that Python calls, with that of all its callees."""

    def _finalize_final_module(self) -> None:
        modules = [library._get_module_for_linking() for library in self.left_out]
        places = {function.name: module for module in modules for function in module.functions
                  if not function.is_declaration}
        # What is linked calls others: again until nothing is only declared.
        while missing := [places[function.name] for function in self._final_module.functions
                          if function.is_declaration and function.name in places]:
            for module in dict.fromkeys(missing):
                self._final_module.link_in(module, preserve=True)
        super()._finalize_final_module()


class InnerCompiler(Compiler):                  # type: ignore[misc]
    """Numba's compiler for inner kernels."""

    def __init__(self, typing, target, library, args, return_type, flags, locals_) -> None:
        super().__init__(typing, target, library, args, return_type, flags, locals_)
        if library is None:
            self.state.library = InnerLibrary(target.codegen(), 'inner kernel')


class EntryCompiler(Compiler):                  # type: ignore[misc]
    """Numba's compiler for kernels that Python calls."""

    def __init__(self, typing, target, library, args, return_type, flags, locals_) -> None:
        super().__init__(typing, target, library, args, return_type, flags, locals_)
        if library is None:
            self.state.library = EntryLibrary(target.codegen(), 'kernel')
            self.state.library.enable_object_caching()
