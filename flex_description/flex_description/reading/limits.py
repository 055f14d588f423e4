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
"""Limits on the time, memory and sizes that reading a description may take."""
from __future__ import annotations

import re
import time
from typing import Any, TypeVar

from flex_description.errors import cut

DEEPEST = 100               # nested elements, lists or brackets; a URDF needs six
MOST_ELEMENTS = 50_000      # of a document, expanded; a robot of a thousand links has 15 000
MOST_STEPS = 1_000_000      # operations in the expressions of a xacro
MOST_CHARACTERS = 20_000_000    # of text that a xacro evaluates
MOST_SECONDS = 30.0         # of processor time that a xacro may take
MOST_SEGMENTS = 100         # of a beam, and lumped masses: finite elements take their third power
MOST_MODES = 10_000         # elastic coordinates of a robot; a thousand links have 5 000
MOST_SECONDS_OF_MODES = 120.0   # of processor time that the mode shapes of a robot may take


class LimitError(Exception):
    """A description that exceeds a limit; the message says what was expected and found.

    line: where, or None if that is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Budget:
    """Counts the cost of expanding one xacro; LimitError as soon as a limit is exceeded."""

    def __init__(self) -> None:
        self.elements = 0
        self.steps = 0
        self.characters = 0
        self.end = time.thread_time() + MOST_SECONDS

    def element(self) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise LimitError(f'expected at most {MOST_ELEMENTS} elements after expansion, '
                             'found more; look for macros that call themselves')
        self.watch()

    def step(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MOST_STEPS:
            raise LimitError(f'expected expressions of at most {MOST_STEPS} operations, found '
                             'more')
        if self.steps % 64 < cost:
            self.watch()

    def text(self, length: int) -> None:
        self.characters += length
        if self.characters > MOST_CHARACTERS:
            raise LimitError(f'expected at most {MOST_CHARACTERS} characters of evaluated text, '
                             'found more')

    def watch(self) -> None:
        """Check the processor time."""
        if time.thread_time() > self.end:
            raise LimitError(f'expected a xacro that is expanded within {MOST_SECONDS:g} s, found '
                             'one that takes longer')


# Sizes of values in expressions, checked before anything of such a size is made.
LARGEST_WHOLE = 4096            # bits of a whole number
LONGEST_LIST = 10_000           # items
HEAVIEST = 200_000              # items and characters of one value, all levels together
WIDEST = 200                    # columns of a formatted number
CONTAINERS = (list, tuple, set, frozenset, dict)
LETTERS = (str, bytes, bytearray)
_Value = TypeVar('_Value')


def weight(value: object, most: int = HEAVIEST) -> int:
    """Items and characters of a value, all levels together; counting ends beyond `most`."""
    total, stack = 0, [value]
    while stack and total <= most:
        item = stack.pop()
        total += 1
        if isinstance(item, LETTERS):
            total += len(item)
        elif isinstance(item, dict):
            # The methods of dict itself: those of xacro's dictionaries wrap every item again.
            stack.extend(dict.keys(item))
            stack.extend(dict.values(item))
        elif isinstance(item, list):
            stack.extend(list.__iter__(item))
        elif isinstance(item, CONTAINERS):
            stack.extend(item)
    return total


def bounded(value: _Value) -> _Value:
    """The value itself if it is of a size that a description can need; else LimitError."""
    if isinstance(value, (float, bool)) or value is None:
        return value
    if isinstance(value, int):
        if value.bit_length() > LARGEST_WHOLE:
            raise LimitError(f'expected whole numbers of at most {LARGEST_WHOLE} bits, found a '
                             'larger one')
    elif isinstance(value, (*LETTERS, *CONTAINERS)):
        if isinstance(value, CONTAINERS) and len(value) > LONGEST_LIST:
            raise LimitError(f'expected at most {LONGEST_LIST} items, found {len(value)}')
        if weight(value) > HEAVIEST:
            raise LimitError(f'expected a value of at most {HEAVIEST} items and characters, found '
                             'a larger one')
    return value


def check_product(left: Any, right: Any) -> None:
    """Refuse a repetition ('a' * 10**10) before it is made."""
    for items, times in ((left, right), (right, left)):
        if isinstance(items, (*LETTERS, list, tuple)) and isinstance(times, int):
            if len(items) * times > HEAVIEST:
                raise LimitError(f'expected at most {HEAVIEST} items or characters, found '
                                 f'{len(items)} repeated {cut(str(min(times, 10**30)))} times')


def check_power(base: Any, exponent: Any) -> None:
    """Refuse 9**9**9 before it is computed."""
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent > 0 and base.bit_length() * exponent > 2 * LARGEST_WHOLE:
            raise LimitError(f'expected whole numbers of at most {LARGEST_WHOLE} bits, found a '
                             'power that is larger; write a number with a decimal point')


def check_shift(bits: Any) -> None:
    """Refuse 1 << 10**9."""
    if isinstance(bits, int) and bits > LARGEST_WHOLE:
        raise LimitError(f'expected whole numbers of at most {LARGEST_WHOLE} bits, found a larger '
                         'shift')


def check_width(text: str) -> None:
    """Refuse a format such as `999999999d`."""
    if any(int(width) > WIDEST for width in re.findall(r'\d{1,9}', text)):
        raise LimitError(f'expected a format of at most {WIDEST} columns, found "{cut(text)}"')


def check_format(text: str, values: Any) -> None:
    """Refuse '%999999999d', a width that is given elsewhere ('%*d'), and many large values."""
    for field in re.findall(r'%(?:\([^)]*\))?([-#0 +]*[\d.*]*)', text):
        if '*' in field:
            raise LimitError(f'expected a format with its width in it, found "{cut(text)}"')
        check_width(field)
    check_product(' ', text.count('%') * weight(values))
