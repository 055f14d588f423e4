"""The table of a benchmark: what was asked, what was reached; on the terminal and as Markdown."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A measured thing. met is None where it is there for comparison and nothing was asked."""

    what: str
    reached: str
    target: str = ''
    met: bool | None = None


@dataclass
class Report:
    """Rows by section, notes (profiles, skipped peers), growing as the parts run."""

    sections: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, section: str, row: Row) -> None:
        self.sections.setdefault(section, []).append(row)
        verdict = '' if row.met is None else f'   [target {row.target}: {_word(row)}]'
        print(f'  {row.what}: {row.reached}{verdict}', flush=True)

    def note(self, text: str) -> None:
        self.notes.append(text)
        print('  ' + text.replace('\n', '\n  '), flush=True)

    def missed(self) -> list[Row]:
        return [row for rows in self.sections.values() for row in rows if row.met is False]

    def markdown(self) -> str:
        lines = ['# Benchmark', '',
                 'Processor times of one run, in turns; compare ratios, not seconds.', '']
        for section, rows in self.sections.items():
            lines += [f'## {section}', '', '| | reached | target | met |', '|---|---|---|---|']
            lines += [f'| {row.what} | {row.reached} | {row.target} | {_word(row)} |'
                      for row in rows]
            lines.append('')
        if self.notes:
            lines += ['## Notes', '']
            for note in self.notes:
                lines += ['```', note, '```', ''] if '\n' in note else [note, '']
        return '\n'.join(lines)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.markdown())


def _word(row: Row) -> str:
    return '' if row.met is None else 'yes' if row.met else '**no**'
