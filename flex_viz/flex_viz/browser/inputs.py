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
"""What a page sends and shows: values within bounds, requests in order, text as HTML.

A page is not trusted: values may be of any type and size, and come as fast as it likes.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from flex_viz.geometry.colours import rgb, value_text
from flex_viz.shown_text import html_text

WAITING = 50      # requests that may wait for the node


def within(low: float, high: float, value: Any) -> float:
    """A number sent by a page, limited to a range; `low` if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return low
    return min(max(number, low), high) if number == number else low


def one_of(options: Iterable[str], value: Any) -> str:
    """The option sent by a page, or the first one if it is unknown."""
    return value if value in (known := list(options)) else known[0]


class Requests:
    """What the page asks of the node: put by threads of the server, taken by that of the node.

    At most WAITING wait; further ones are dropped. Of those with a `kind` the newest replaces the
    one before: a slider that is dragged asks twenty times a second.
    """

    def __init__(self) -> None:
        self._waiting: dict[object, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self.dropped = 0

    def put(self, action: Callable[[], None], kind: str = '') -> None:
        with self._lock:
            if len(self._waiting) >= WAITING and kind not in self._waiting:
                self.dropped += 1
                return
            self._waiting[kind or object()] = action

    def take(self) -> list[Callable[[], None]]:
        """Those that wait, the oldest first."""
        with self._lock:
            found, self._waiting = list(self._waiting.values()), {}
        return found


def lines_html(*lines: str, colour: str = '') -> str:
    """Any text as HTML."""
    style = f'; color: {colour}; font-weight: 600' if colour else ''
    return (f'<div style="font-size: .875rem; line-height: 1.55; padding: 0 .75rem .5rem{style}">'
            f'{"<br>".join(html_text(line, 300) for line in lines)}</div>')


def scale_html(by: str, top: float) -> str:
    """The colour scale as HTML."""
    low = -top if by == 'strain' else 0.0
    stops = ', '.join('rgb({:.0f} {:.0f} {:.0f})'.format(*(255.0 * colour))
                      for colour in rgb(np.linspace(low, top, 17), top, by))
    ends = ('compressed', 'stretched') if by == 'strain' else ('', '')
    texts = (f'{value_text(low, by)} {ends[0]}', 'strain' if by == 'strain' else 'deflection',
             f'{value_text(top, by)} {ends[1]}')
    labels = ''.join(f'<span>{html_text(text)}</span>' for text in texts)
    return (f'<div style="font-size: .8em; padding: 0 1em .6em">'
            f'<div style="height: .9em; border-radius: 3px; '
            f'background: linear-gradient(90deg, {stops})"></div>'
            f'<div style="display: flex; justify-content: space-between">{labels}</div></div>')


def factor_text(factor: float) -> str:
    """How large the deflection is drawn."""
    shown = f'{factor:.3g}' if factor < 100.0 else f'{factor:.0f}'
    return 'drawn as it is' if factor == 1.0 else f'drawn {shown} times as large'
