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
"""The parameters of a xacro:macro."""
from __future__ import annotations

from flex_description.reading.limits import LimitError

LONGEST_PARAMETERS = 10_000     # characters


def parse_macro_arg(text: str) -> tuple[str, tuple[str | None, str | None] | None, str]:
    """The first parameter of `a b:=1 c:=^|${2 * x} *block`: name, (forward, default) or None, and
    the rest. In one pass: the pattern of xacro takes exponential time for some texts."""
    if len(text) > LONGEST_PARAMETERS:
        raise LimitError(f'expected at most {LONGEST_PARAMETERS} characters of parameters of a '
                         f'macro, found {len(text)}')
    text = text.lstrip()
    end = next((k for k, letter in enumerate(text) if letter.isspace() or letter in ':='),
               len(text))
    after = text[end:].lstrip()
    mark = 2 if after.startswith(':=') else 1 if after.startswith('=') else 0
    if not mark or not end:
        name, rest = (*text.split(None, 1), '', '')[:2]
        return name, None, rest
    name, value = text[:end], after[mark:].lstrip()
    forward = value.startswith('^')
    if forward:
        value = value[2:] if value.startswith('^|') else value[1:]
    stop = _end_of_default(value)
    return name, (name if forward else None, value[:stop] or None), value[stop:].lstrip()


def _end_of_default(value: str) -> int:
    """Where a default ends: at a space outside of ${...}, $(...) and quotes."""
    for opening, closing in (('${', '}'), ('$(', ')')):
        place = value.find(closing) + 1 if value.startswith(opening) else 0
        if place and (place == len(value) or value[place].isspace()):
            return place
    place = 0
    while place < len(value) and not value[place].isspace():
        quote = value.find(value[place], place + 1) if value[place] in '\'"' else -1
        place = max(quote, place) + 1
    return place
