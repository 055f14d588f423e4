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
"""RobotError, the one exception of this package, and helpers for its messages."""
from __future__ import annotations

from typing import Any

LONGEST_WORD, LONGEST_MESSAGE = 200, 1000   # characters


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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the finished text, so that errors can cross processes."""
        return _copied, (str(self), self.source, self.line)


def _copied(text: str, source: str, line: int | None) -> RobotError:
    error = RobotError(text)
    error.source, error.line = source, line
    return error


def one_line(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Printable characters only, long words and long texts truncated.

    Names come from files: an escape sequence in one must not reach the terminal that shows it.
    """
    # Truncated first: str.split() would copy all of a value of megabytes.
    words = text[:20 * longest].split()
    shown = ' '.join(word if len(word) <= LONGEST_WORD or longest > LONGEST_MESSAGE else
                     f'{word[:LONGEST_WORD]}...' for word in words)
    if not shown.isprintable():
        shown = ''.join(letter if letter.isprintable() else
                        letter.encode('unicode_escape').decode() for letter in shown)
    return shown if len(shown) <= longest else f'{shown[:longest]}...'


def quoted(text: object) -> str:
    """The text in double quotes, truncated to 80 characters."""
    shown = str(text)
    return f'"{shown}"' if len(shown) <= 80 else f'"{shown[:77]}..."'


def cut(text: str) -> str:
    """A name without quotes, truncated to 80 characters."""
    return text if len(text) <= 80 else f'{text[:77]}...'
