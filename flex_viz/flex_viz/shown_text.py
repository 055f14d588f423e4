"""Text from files, topics and parameters, made safe for the place where it is shown.

A name is data: whoever wrote the description, the message or the bag chose it. Each output has its
own markup and so its own function here. All of them show the text as it is written, in one line
and not longer than a line.
"""
from __future__ import annotations

import html

LONGEST = 80      # characters; more is cut, and an ellipsis says so
UNPRINTABLE = '\ufffd'


def plain(text: object, longest: int = LONGEST) -> str:
    """For logs, errors and tables: one line, without control characters.

    Escape sequences would take over a terminal, and marks of writing direction make one name look
    like another.
    """
    short = str(text)[:longest + 1]
    if len(short) > longest:
        short = short[:longest - 3] + '...'
    return ''.join(letter if letter.isprintable() else UNPRINTABLE for letter in short)


def html_text(text: object, longest: int = LONGEST) -> str:
    """For HTML, inside an element or a quoted attribute."""
    return html.escape(plain(text, longest), quote=True)


def no_formulas(text: str) -> str:
    """For matplotlib, which takes what is between dollars for formulas and raises an error where
    they are wrong; lines stay lines."""
    return text.replace('$', r'\$')


def plot_text(text: object, longest: int = LONGEST) -> str:
    """For matplotlib: one line, without formulas."""
    return no_formulas(plain(text, longest))


def legend_text(text: object) -> str:
    """For a label of matplotlib, which leaves those out of legends that begin with `_`."""
    label = plot_text(text, 30)
    return f' {label}' if label.startswith('_') else label


def marker_text(text: object) -> str:
    """For RViz, which draws one letter a byte, and none for a byte beyond ASCII."""
    return plain(str(text).replace('\u00b5', 'u')).encode('ascii', 'replace').decode()
