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
"""Calls of a kernel by the address of its machine code.

What a kernel calls by name is compiled into it. The integrator takes a third of the time of all
kernels, so that those above it jump to its machine code instead.
"""
from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def address_of(kernel: Any, arguments: tuple[types.Type, ...]) -> int:
    """Address, in this process, of the machine code that a kernel has for types of arguments."""
    compiled = kernel.overloads[arguments]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def caller(returns: types.Type, *arguments: types.Type) -> Any:
    """A function of (address, tuple of values), for kernels, that calls what is there.

    returns: what it returns; arguments: what it was compiled for.
    """
    @intrinsic
    def call(typing_context, address, values):
        def build(context, builder, signature, given):
            parts = [context.cast(builder, part, have, want) for part, have, want in zip(
                cgutils.unpack_tuple(builder, given[1]), values, arguments, strict=True)]
            convention = context.call_conv
            function = convention.get_function_type(returns, arguments)
            pointer = builder.inttoptr(given[0], function.as_pointer())
            status, result = convention.call_function(builder, pointer, returns, arguments, parts)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result
        return returns(types.int64, values), build
    return call
