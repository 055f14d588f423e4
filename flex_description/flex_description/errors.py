"""The one exception a bad robot raises, and the words that it is made of."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_WORD, LONGEST_MESSAGE = 200, 1000   # characters of a message that somebody would read
LISTED = 20                                 # known names that are listed before "and more"


class RobotError(ValueError):
    """A robot that cannot be loaded: one line, `file:line: what was expected and found`.

    source and line say where; line is None where there is none (a missing file, say). The line is
    at most about 1000 characters long and has no control characters, whatever the file has.
    """

    def __init__(self, message: str, source: str = '', line: int | None = None) -> None:
        where = ':'.join(part for part in (one_line(source, 4096), str(line or '')) if part)
        text = one_line(message, LONGEST_MESSAGE)
        super().__init__(f'{where}: {text}' if where else text)
        self.source = source
        self.line = line

    def __reduce__(self) -> tuple:
        """Copies, from another process say, are made of the finished text."""
        return _copied, (str(self), self.source, self.line)


def _copied(text: str, source: str, line: int | None) -> RobotError:
    error = RobotError(text)
    error.source, error.line = source, line
    return error


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Readable characters only, long words and a long text cut.

    Names come from files: an escape sequence in one must not reach the terminal that shows it.
    """
    # str.split() would copy all of a value of megabytes, most of which is cut anyway.
    words = text[:20 * longest].split()
    shown = ' '.join(word if len(word) <= LONGEST_WORD or longest > LONGEST_MESSAGE else
                     f'{word[:LONGEST_WORD]}...' for word in words)
    if not shown.isprintable():
        shown = ''.join(letter if letter.isprintable() else
                        letter.encode('unicode_escape').decode() for letter in shown)
    return shown if len(shown) <= longest else f'{shown[:longest]}...'


def quoted(text: object) -> str:
    """The text in quotes, cut where nobody would read on."""
    shown = str(text)
    return f'"{shown}"' if len(shown) <= 80 else f'"{shown[:77]}..."'


def cut(text: str) -> str:
    """A name without quotes, cut where nobody would read on."""
    return text if len(text) <= 80 else f'{text[:77]}...'


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean "..."?` for a misspelt word, or the list of known ones."""
    names = sorted(known)
    # The comparison takes the product of the lengths: no name that long is a misprint.
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6) if len(word) <= 100 else []
    if close:
        return f'did you mean {quoted(close[0])}?'
    if not names:
        return 'none is known'
    more = f' and {len(names) - LISTED} more' if len(names) > LISTED else ''
    return f'known: {", ".join(cut(name) for name in names[:LISTED])}{more}'


def misspelt(word: str, known: Iterable[str]) -> str | None:
    """The known name of which `word` is a misprint: one slip in four letters, or None."""
    slips = max(1, min(len(word), 12) // 4)
    best = None
    for name in sorted(known):
        if abs(len(name) - len(word)) <= slips and (found := _slips(word, name)) <= slips:
            best, slips = name, found - 1
    return best


def _slips(a: str, b: str) -> int:
    """Letters to insert, delete, replace or swap with the next one to make a into b."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
