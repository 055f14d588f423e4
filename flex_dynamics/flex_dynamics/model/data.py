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
"""Scratch memory of a model's algorithms: one Data a thread, so that threads run in parallel."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from flex_dynamics.build.assemble import Assembly
from flex_dynamics.kernels.base import layout
from flex_dynamics.kernels.base.handle import make_handle
from flex_dynamics.kernels.base.workspace import workspace_length
from flex_dynamics.kernels.tree.body_blocks import blocks_length
from flex_dynamics.model.derivatives.scratch import DerivativeWork

if TYPE_CHECKING:
    from flex_dynamics.model.backends.base import Backend


class Data:
    """Scratch memory of one Model for one thread at a time; `Model.create_data` gives one.

    Methods of a Model take it as `data`; without it each thread has one of its own, made at its
    first call. It holds no results: those are new arrays. A copied or unpickled Data has fresh
    memory.
    """

    def __init__(self, assembly: Assembly, backend: Backend) -> None:
        packed, n = assembly.packed, len(assembly.names)
        self.assembly = assembly
        self._backend = backend
        # The forces of one call and n zeros follow what workspace.carve lays out.
        self.work = np.zeros(workspace_length(packed.size) + 2 * n)
        self._more_work = np.zeros(blocks_length(packed.size))
        self.handle = make_handle(*assembly.arrays, self.work, self._more_work, assembly.gravity,
                                  packed.n_joints)
        most, nodes = int(packed.size[2]), len(assembly.tree.nodes)
        self.frame_work = (np.zeros((most, layout.ROW)), np.zeros((most, layout.ROW)),
                           np.zeros((nodes + 2, 3, 3)), np.zeros((nodes + 2, 3)))
        self.backend_scratch: Any = backend.create_scratch()
        self.sections: dict[tuple[int, float], np.ndarray] = {}     # packed, by node and station
        self._derivatives: DerivativeWork | None = None

    @property
    def derivatives(self) -> DerivativeWork:
        """Scratch memory of derivatives, which most never need."""
        if self._derivatives is None:
            self._derivatives = DerivativeWork(self.assembly)
        return self._derivatives

    def __reduce__(self) -> tuple[Any, ...]:
        return Data, (self.assembly, self._backend)


class ThreadData(threading.local):
    """`data`: the Data of the thread that reads it."""

    def __init__(self, assembly: Assembly, backend: Backend) -> None:
        self.data = Data(assembly, backend)
