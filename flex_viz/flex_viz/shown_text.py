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
"""Text from files, topics and parameters, made safe for the place where it is shown.

Names are data: whoever wrote the description, the message or the bag chose them. Each output has
its own markup, and therefore its own function here. All of them show the text as it is written, in
one line of limited length. Use them for every string that is not a constant.
"""
from __future__ import annotations

import html
from collections.abc import Sequence

from flex_ros.printable_text import LONGEST, printable


def plain(text: object, longest: int = LONGEST) -> str:
    """For logs, errors and tables: one line, without control characters."""
    return printable(text, longest)


def html_text(text: object, longest: int = LONGEST) -> str:
    """For HTML, inside an element or a quoted attribute."""
    return html.escape(plain(text, longest), quote=True)


def no_formulas(text: str) -> str:
    """For matplotlib, which parses text between dollar signs as formulas and raises an error for
    invalid ones; line breaks are kept."""
    return text.replace('$', r'\$')


def plot_text(text: object, longest: int = LONGEST) -> str:
    """For matplotlib: one line, without formulas."""
    return no_formulas(plain(text, longest))


def shortened(text: object, longest: int) -> str:
    """For narrow places: one line, without the middle of a long text, because names often differ
    at their ends."""
    whole, end = str(text), (longest - 3) // 2
    if len(whole) > longest:
        whole = f'{whole[:longest - 3 - end]}...{whole[-end:]}'
    return plain(whole, longest)


def distinct(names: Sequence[str], longest: int) -> list[str]:
    """Names, shortened to `longest` characters (at least 15) each; with a number in front where
    several would look the same."""
    short = [shortened(name, longest) for name in names]
    if len(set(short)) == len(short):
        return short
    return [f'{k}: {shortened(name, longest - 7)}' for k, name in enumerate(names, 1)]


def legend_text(text: object) -> str:
    """For a label of matplotlib, which omits labels that begin with `_` from legends."""
    label = plot_text(text, 40)
    return f' {label}' if label.startswith('_') else label


def marker_text(text: object) -> str:
    """For RViz, which draws one letter per byte, and nothing for bytes beyond ASCII."""
    return plain(str(text).replace('\u00b5', 'u')).encode('ascii', 'replace').decode()
