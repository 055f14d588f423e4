"""Errors that end a command, and the names that help to put them right."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_NAMES = 10      # of a list in an error


class CommandError(Exception):
    """Ends the command: the text goes to stderr, `code` is the exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


def suggestion(name: str, known: Iterable[str], what: str) -> str:
    """The end of an error about an unknown name: the nearest known name, or what there is."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean '{near[0]}'?"
    if not names:
        return f'; there are no {what}'
    more = f' and {len(names) - MOST_NAMES} more' if len(names) > MOST_NAMES else ''
    return f'; {what}: {", ".join(names[:MOST_NAMES])}{more}'
