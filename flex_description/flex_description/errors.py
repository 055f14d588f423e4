"""The one exception a bad robot raises."""
from __future__ import annotations

import difflib
from collections.abc import Iterable


class RobotError(ValueError):
    """A robot that cannot be loaded: one line, `file:line: what was expected and found`.

    source and line say where; line is None where there is none (a missing file, say).
    """

    def __init__(self, message: str, source: str = '', line: int | None = None) -> None:
        where = ':'.join(str(part) for part in (source, line) if part not in ('', None))
        text = f'{where}: {message}' if where else message
        super().__init__(' '.join(text.split()))
        self.source = source
        self.line = line


def quoted(text: object) -> str:
    """The text in quotes, cut where nobody would read on."""
    shown = str(text)
    return f'"{shown}"' if len(shown) <= 80 else f'"{shown[:77]}..."'


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean "..."?` for a misspelt word, or the list of known ones."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    return f'known: {", ".join(names)}' if names else 'none is known'
