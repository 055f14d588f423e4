"""What is claimed, what is expected, what we find: one record a claim, one report for all."""
from __future__ import annotations

import base64
import html
import io
import platform
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import numpy as np

RULE = ('A claim passes if the difference is within the tolerance, which is stated with it. '
        'Differences are in the unit of the values. Where a paper is misprinted or leaves a value '
        'open, the note says how it was read. Rows (C1, M4, ...) are those of doc/validation.md.')

MADE_WITH = ('numpy', 'scipy', 'numba', 'exudyn', 'mujoco', 'pin', 'example-robot-data')
STYLE = ('body{font:15px/1.4 sans-serif;margin:2em auto;max-width:1200px;padding:0 1em}'
         'table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;'
         'padding:.3em .5em;text-align:left;vertical-align:top;overflow-wrap:anywhere}'
         'th:first-child{width:14%}th:nth-child(2){width:24%}th:last-child{width:24%}'
         'td:nth-child(7){color:#176d2c}tr.bad td{background:#fde8e8}'
         'tr.bad td:nth-child(7){color:#b00020;font-weight:bold}img{max-width:100%}'
         'h2{margin-top:2em}figure{margin:1.5em 0}figcaption{color:#555}')


@dataclass(frozen=True)
class Claim:
    """One line of the report; tolerance is absolute, in the unit of the values."""

    source: str          # paper, section or row; or the peer
    what: str
    expected: str
    ours: str
    difference: float
    tolerance: float
    unit: str
    note: str = ''
    counts: bool = True  # False: it is so or not, and no number says how far off

    @property
    def holds(self) -> bool:
        return bool(self.difference <= self.tolerance)      # False for NaN


@dataclass
class Section:
    """All claims of one source, with figures as PNG; text: what one must know of it."""

    title: str
    text: str = ''
    claims: list[Claim] = field(default_factory=list)
    figures: list[tuple[str, bytes]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


class Claims:
    """Collects the claims of one test; a claim that fails makes its test fail at its end."""

    def __init__(self, section: Section) -> None:
        self._section, self.failed = section, list[str]()

    def value(self, source: str, what: str, expected, ours, tolerance: float, *,
              relative: bool = False, unit: str = '', note: str = '') -> None:
        """Claim that numbers or arrays agree: largest difference at most `tolerance`, which is
        a share of the largest expected number if relative."""
        expected, ours = np.asarray(expected, dtype=float), np.asarray(ours, dtype=float)
        difference = float(np.abs(expected - ours).max())
        limit = tolerance * float(np.abs(expected).max()) if relative else tolerance
        self._add(Claim(source, what, _text(expected), _text(ours), difference, limit, unit,
                        note))

    def bound(self, source: str, what: str, ours: float, most: float, *, unit: str = '',
              note: str = '') -> None:
        """Claim that a number that ought to be zero is at most `most`."""
        self._add(Claim(source, what, f'at most {most:.3g}', f'{ours:.3g}', float(ours), most,
                        unit, note))

    def fact(self, source: str, what: str, expected: str, ours: str, holds: bool, *,
             note: str = '') -> None:
        """Claim that something is so: stable, positive definite, minimum phase."""
        self._add(Claim(source, what, expected, ours, 0.0 if holds else 1.0, 0.5, '', note,
                        counts=False))

    def figure(self, caption: str, figure) -> None:
        """A matplotlib figure for the report."""
        file = io.BytesIO()
        figure.set_layout_engine('constrained')      # no label on the neighbour's plot
        figure.savefig(file, format='png', dpi=110, bbox_inches='tight')
        self._section.figures.append((caption, file.getvalue()))

    def _add(self, claim: Claim) -> None:
        self._section.claims.append(claim)
        if not claim.holds:
            self.failed.append(f'{claim.source}: {claim.what}: expected {claim.expected}, found '
                               f'{claim.ours} {claim.unit}, off by {claim.difference:.3g}, '
                               f'allowed {claim.tolerance:.3g}')


def _text(values: np.ndarray) -> str:
    if values.size > 8:
        return f'{values.size} numbers up to {np.abs(values).max():.6g}'
    return ', '.join(f'{value:.6g}' for value in values.reshape(-1))


def _verdict(claim: Claim) -> str:
    return 'pass' if claim.holds else 'FAIL'


def _cells(claim: Claim) -> tuple[str, ...]:
    unit = f' {claim.unit}' if claim.unit else ''
    off = (f'{claim.difference:.2g}', f'{claim.tolerance:.2g}') if claim.counts else ('', '')
    return (claim.source, claim.what, claim.expected + unit, claim.ours + unit, *off,
            _verdict(claim), claim.note)


HEADINGS = ('source', 'claim', 'expected', 'ours', 'difference', 'allowed', '', 'note')


def _counts(sections: list[Section]) -> str:
    claims = [claim for section in sections for claim in section.claims]
    good = sum(claim.holds for claim in claims)
    skipped = sum(len(section.skipped) for section in sections)
    return f'{good} of {len(claims)} claims hold' + (f'; {skipped} tests skipped' * bool(skipped))


def _about(sections: list[Section], whole: int) -> str:
    """How much of the report this is, and what it was made with."""
    part = f'Only {len(sections)} of {whole} sections ran. ' * (len(sections) < whole)
    found = []
    for name in MADE_WITH:
        try:
            found.append(f'{name} {metadata.version(name)}')
        except metadata.PackageNotFoundError:
            continue
    return f'{part}Made with Python {platform.python_version()}, {", ".join(found)}.'


def _table(claims: list[Claim]) -> tuple[list[str], list[str]]:
    """The same rows as markdown and as a page."""
    md = ['| ' + ' | '.join(HEADINGS) + ' |', '|' + '---|' * len(HEADINGS)]
    page = ['<table><tr>' + ''.join(f'<th>{name}</th>' for name in HEADINGS) + '</tr>']
    for claim in claims:
        cells = _cells(claim)
        md.append('| ' + ' | '.join(cell.replace('|', r'\|') for cell in cells) + ' |')
        page.append(f'<tr{"" if claim.holds else " class=bad"}>'
                    + ''.join(f'<td>{html.escape(cell)}</td>' for cell in cells) + '</tr>')
    return md, [*page, '</table>']


def _plain(text: str) -> str:
    return html.escape(text).replace('`', '')


def write(sections: list[Section], folder: Path, whole: int) -> None:
    """validation.md and a self-contained validation.html into a folder; whole: sections that
    there are. What fails or was skipped comes first."""
    folder.mkdir(parents=True, exist_ok=True)
    about = [f'{_counts(sections)}. {RULE}', _about(sections, whole)]
    md = ['# Validation', '', about[0], '', about[1], '']
    page = ['<!doctype html><html lang="en"><meta charset="utf-8"><title>flex: validation</title>',
            f'<style>{STYLE}</style><h1>Validation</h1>',
            *(f'<p>{_plain(text)}</p>' for text in about)]
    failed = [claim for section in sections for claim in section.claims if not claim.holds]
    if failed:
        rows = _table(failed)
        md += ['## Claims that fail', '', *rows[0], '']
        page += ['<h2>Claims that fail</h2>', *rows[1]]
    md += [f'- {section.title}: {_counts([section])}' for section in sections] + ['']
    page += ['<ul>', *(f'<li><a href="#s{k}">{_plain(section.title)}</a>: '
                       f'{_plain(_counts([section]))}</li>' for k, section in enumerate(sections)),
             '</ul>']
    pictures: Counter = Counter()
    for k, section in enumerate(sections):
        rows = _table(section.claims)
        md += [f'## {section.title}', '', section.text, '']
        page.append(f'<h2 id="s{k}">{_plain(section.title)}</h2><p>{_plain(section.text)}</p>')
        for reason in section.skipped:
            md += [f'Skipped: {reason}', '']
            page.append(f'<p>Skipped: {_plain(reason)}</p>')
        if section.claims:
            md += rows[0]
            page += rows[1]
        for caption, png in section.figures:
            word = ''.join(c for c in section.title.split()[0].lower() if c.isalnum())
            name = f'validation_{word}_{pictures[word]}.png'
            pictures[word] += 1
            (folder / name).write_bytes(png)
            md += ['', f'![{caption}]({name})']
            data = base64.b64encode(png).decode()
            page.append(f'<figure><img alt="{_plain(caption)}" src="data:image/png;base64,'
                        f'{data}"><figcaption>{_plain(caption)}</figcaption></figure>')
        md.append('')
    (folder / 'validation.md').write_text('\n'.join(md), encoding='utf-8')
    (folder / 'validation.html').write_text('\n'.join(page), encoding='utf-8')
