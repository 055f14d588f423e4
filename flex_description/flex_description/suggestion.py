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
"""Suggestions for misspelt names: one place for all packages."""
from __future__ import annotations

import difflib
from collections.abc import Iterable

from flex_description.errors import cut, quoted

LISTED = 20             # known names that are listed before "and more"
LONGEST_NAME = 100      # characters: the comparison takes the product of the lengths


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, or None if none is similar enough to be meant."""
    if len(name) > LONGEST_NAME:
        return None
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """End of an error message: `did you mean "..."?`, or the known names if none is similar."""
    names = sorted(known)
    near = nearest(name, names)
    if near is not None:
        return f'did you mean {quoted(near)}?'
    if not names:
        return 'none is known'
    more = f' and {len(names) - LISTED} more' if len(names) > LISTED else ''
    return f'known: {", ".join(cut(name) for name in names[:LISTED])}{more}'


def misspelt(word: str, known: Iterable[str]) -> str | None:
    """The known name that `word` misspells by at most one slip in four letters, or None.

    Stricter than `nearest`: for names that may also belong to other tools, such as elements of a
    URDF.
    """
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
