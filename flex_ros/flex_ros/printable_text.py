"""Text from files, topics and parameters, made safe for logs, errors and terminals."""
from __future__ import annotations

LONGEST = 80      # characters; longer text is cut, and ends with an ellipsis
UNPRINTABLE = '\ufffd'


def printable(text: object, longest: int = LONGEST) -> str:
    """`text` as one line of at most `longest` characters, without control characters.

    Escape sequences could take over a terminal, and marks of the writing direction make one name
    look like another.
    """
    short = str(text)[:longest + 1]
    if len(short) > longest:
        short = short[:longest - 3] + '...'
    return ''.join(letter if letter.isprintable() else UNPRINTABLE for letter in short)
