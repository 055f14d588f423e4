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
"""Kernels that are prepared at their first call, whichever thread makes it."""
from __future__ import annotations

import threading

from flex_dynamics.kernels.base import handle

_ONE_AT_A_TIME = threading.RLock()


class AtFirstCall(handle.AtFirstCall):
    """The same for many threads: one prepares the kernel, and the others wait for it."""

    def prepare(self) -> None:
        """Load or compile it now, in time for a loop that must not wait."""
        with _ONE_AT_A_TIME:
            super().prepare()
