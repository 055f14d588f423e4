"""Long calculations in small pieces: one piece an update, without threads."""
from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeVar

Result = TypeVar('Result')
Pieces = Generator[None, None, Result]


def finish(pieces: Pieces[Result]) -> Result:
    """The result of a calculation, all its pieces run now."""
    try:
        while True:
            next(pieces)
    except StopIteration as end:
        return end.value


class Job(Generic[Result]):
    """A calculation that goes on by one piece at each call of `work`."""

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
