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
"""Long calculations in small pieces, to run beside a control loop without threads."""
from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeVar

Result = TypeVar('Result')
Pieces = Generator[None, None, Result]      # yields between pieces, returns the result


def finish(pieces: Pieces[Result]) -> Result:
    """Run all pieces of a calculation now; its result."""
    try:
        while True:
            next(pieces)
    except StopIteration as end:
        result: Result = end.value
        return result


class Job(Generic[Result]):
    """A calculation of which each call of `work` does one piece.

    result: None until the last piece is done.
    """

    def __init__(self, pieces: Pieces[Result]) -> None:
        self._pieces = pieces
        self.result: Result | None = None

    def work(self) -> bool:
        """Do one piece; True when `result` is there."""
        try:
            next(self._pieces)
        except StopIteration as end:
            self.result = end.value
        return self.result is not None
