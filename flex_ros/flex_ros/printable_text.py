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
