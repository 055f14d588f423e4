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
"""Four numbers in one register: the type with which the innermost loops are written.

LLVM makes vector code of plain loops only if it can prove that arrays do not overlap, and pays for
loops of few rounds; a Vector needs no proof. `load` and `store` take an address and an index in
numbers; +, - and * act lane by lane, and a float multiplies all lanes. Machines without registers
this wide get two or four narrow instructions from LLVM.
"""
from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from flex_dynamics.kernels.base.layout import FAST, LANES

DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
INT = ir.IntType(32)
FLAGS = tuple(sorted(FAST))


class VectorType(types.Type):
    """Numba's name of the type."""

    def __init__(self) -> None:
        super().__init__('Vector')


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type) -> None:
        super().__init__(manager, numba_type, DOUBLES)


vector = VectorType()
ADDRESS = types.CPointer(types.float64)


def _shuffle(builder, a, b, lanes):
    mask = ir.Constant(ir.VectorType(INT, LANES), lanes)
    return builder.shuffle_vector(a, b, mask)


def _spread(builder, number):
    first = builder.insert_element(ir.Constant(DOUBLES, ir.Undefined), number, ir.Constant(INT, 0))
    return _shuffle(builder, first, ir.Constant(DOUBLES, ir.Undefined), [0] * LANES)


def _place(builder, address, index):
    return builder.bitcast(builder.gep(address, [index]), DOUBLES.as_pointer())


@intrinsic
def address_of(typing_context, array):
    """Address of an array's first number."""
    def build(context, builder, sig, arguments):
        return context.make_array(sig.args[0])(context, builder, arguments[0]).data
    return ADDRESS(array), build


@intrinsic
def shifted(typing_context, address, index):
    """The address `index` numbers further on."""
    def build(context, builder, sig, arguments):
        return builder.gep(arguments[0], [arguments[1]])
    return ADDRESS(address, index), build


@intrinsic
def load(typing_context, address, index):
    """The four numbers from address[index] on."""
    def build(context, builder, sig, arguments):
        value = builder.load(_place(builder, arguments[0], arguments[1]))
        value.align = 8
        return value
    return vector(address, index), build


@intrinsic
def store(typing_context, address, index, value):
    """Put a vector to address[index] and the three numbers behind it."""
    def build(context, builder, sig, arguments):
        builder.store(arguments[2], _place(builder, arguments[0], arguments[1]), align=8)
        return context.get_dummy_value()
    return types.void(address, index, value), build


@intrinsic
def spread(typing_context, number):
    """One number in all lanes."""
    def build(context, builder, sig, arguments):
        return _spread(builder, arguments[0])
    return vector(types.float64), build


@intrinsic
def total(typing_context, value):
    """Sum of the four lanes."""
    def build(context, builder, sig, arguments):
        lanes = [builder.extract_element(arguments[0], ir.Constant(INT, k)) for k in range(LANES)]
        return builder.fadd(builder.fadd(lanes[0], lanes[1], flags=FLAGS),
                            builder.fadd(lanes[2], lanes[3], flags=FLAGS), flags=FLAGS)
    return types.float64(value), build


@intrinsic
def totals(typing_context, a, b, c, d):
    """The sums of the lanes of four vectors, as one vector."""
    def build(context, builder, sig, arguments):
        def halves(x, y):
            return builder.fadd(_shuffle(builder, x, y, [0, 4, 2, 6]),
                                _shuffle(builder, x, y, [1, 5, 3, 7]), flags=FLAGS)
        left, right = halves(*arguments[:2]), halves(*arguments[2:])
        return builder.fadd(_shuffle(builder, left, right, [0, 1, 4, 5]),
                            _shuffle(builder, left, right, [2, 3, 6, 7]), flags=FLAGS)
    return vector(a, b, c, d), build


class _Lanewise(AbstractTemplate):
    def generic(self, arguments, keywords):
        if len(arguments) == 2 and arguments[0] is vector and arguments[1] is vector:
            return signature(vector, vector, vector)
        return None


class _Scaled(AbstractTemplate):
    def generic(self, arguments, keywords):
        if len(arguments) == 2 and arguments[0] is vector and arguments[1] is types.float64:
            return signature(vector, vector, types.float64)
        return None


def _define(symbol, instruction: str) -> None:
    infer_global(symbol)(type(f'Vector_{instruction}', (_Lanewise,), {}))

    @lower_builtin(symbol, vector, vector)
    def lanewise(context, builder, sig, arguments):
        return getattr(builder, instruction)(*arguments, flags=FLAGS)


_define(operator.add, 'fadd')
_define(operator.sub, 'fsub')
_define(operator.mul, 'fmul')
infer_global(operator.mul)(_Scaled)


@lower_builtin(operator.mul, vector, types.float64)
def _scaled(context, builder, sig, arguments):
    return builder.fmul(arguments[0], _spread(builder, arguments[1]), flags=FLAGS)
