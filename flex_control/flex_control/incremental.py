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
