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
"""A model in one argument: an array of addresses, so that a call from Python unpacks little.

Numba unpacks every array argument of a call, for some tenths of a microsecond each. The model's
own arrays never move, so the kernels that are called often find them through a handle.
"""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types

from flex_dynamics.kernels.base.layout import BODY_WIDTH, OPTIONS, TABLE_WIDTH
from flex_dynamics.kernels.base.machine_code import address_of
from flex_dynamics.kernels.base.workspace import array_at, integers_at

Opened = namedtuple('Opened', ('table', 'body', 'coef', 'size', 'work', 'more_work', 'gravity',
                               'n_joints'))
HANDLE = types.Array(types.int64, 1, 'C')
NUMBERS = types.Array(types.float64, 1, 'C')
MATRIX = types.Array(types.float64, 2, 'C')


def make_handle(table, body, coef, size, work, more_work, gravity, n_joints: int) -> np.ndarray:
    """Addresses and lengths as open_handle reads them; the arrays must outlive the handle."""
    arrays = table, body, coef, size, work, more_work, gravity
    assert all(array.flags.c_contiguous for array in arrays)
    return np.array([value for array in arrays for value in (array.ctypes.data, len(array))]
                    + [n_joints], dtype=np.int64)


@njit(**OPTIONS)
def open_handle(h):
    """The arrays behind a handle."""
    return Opened(integers_at(h[0], (h[1], TABLE_WIDTH)), array_at(h[2], (h[3], BODY_WIDTH)),
                  array_at(h[4], (h[5],)), integers_at(h[6], (h[7],)), array_at(h[8], (h[9],)),
                  array_at(h[10], (h[11],)), array_at(h[12], (h[13],)), h[14])


def prepare(kernel, *arguments) -> None:
    """Load or compile a kernel for one kind of arguments; others are a TypeError from then on."""
    if not kernel.signatures:
        kernel.compile(arguments)
        kernel.disable_compile()


class AtFirstCall:
    """A kernel that is prepared when it is first called as `kernel.call(...)`, not before.

    So nobody waits for the compilation of what he does not use. From the second call on `call` is
    the kernel itself.
    """

    def __init__(self, kernel: Callable[..., Any], *arguments: types.Type) -> None:
        self._kernel, self._arguments = kernel, arguments
        self.call: Callable[..., Any] = self._first_call
        self._address = 0

    def prepare(self) -> None:
        """Load or compile it now, in time for a loop that must not wait."""
        prepare(self._kernel, *self._arguments)
        self.call = self._kernel

    @property
    def address(self) -> int:
        """Of its machine code, for kernels that jump there (machine_code.py)."""
        if not self._address:
            self.prepare()
            self._address = address_of(self._kernel, self._arguments)
        return self._address

    def _first_call(self, *values: Any) -> Any:
        self.prepare()
        return self.call(*values)
