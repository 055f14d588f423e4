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
"""The report of a run: an HTML page with embedded pictures, PNG files, and a table."""
from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from flex_viz.report.plots import exaggeration_to_see, plot_poses, plot_sheet, plot_time
from flex_viz.report.run import HEAD, Run, notes, rows, table
from flex_viz.shown_text import html_text

STYLE = """body { font: 15px/1.45 sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em;
  color: #222; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #ddd;
  white-space: nowrap }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 9em }
.wide { overflow-x: auto }
li { overflow-wrap: anywhere }
img { max-width: 100%; height: auto }"""


def write_report(folder: Path, run: Run, moments: Sequence[float],
                 exaggeration: float | None = None) -> list[Path]:
    """Write the report of a run: table, time plots, strips of poses.

    Parameters
    ----------
    folder : where to write; created if it does not exist.
    run : the run.
    moments : times of the poses in the strips, s.
    exaggeration : factor of the deflection in the second strip; None: such that the deflection is
        visible. It is printed above the strip. There is no second strip if it is 1.

    Returns
    -------
    The files: run.html (needs no other file), run.png (the same as one picture), time.png,
    poses.png and table.txt.

    Example
    -------
    write_report(Path('report'), read_run(Path('bag')), (0.0, 0.5, 1.0))
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, sheet, time, poses, text = (folder / name for name in (
        'run.html', 'run.png', 'time.png', 'poses.png', 'table.txt'))
    at = run.at(moments)
    if exaggeration is None:
        exaggeration = exaggeration_to_see(run, moments)
    plot_time(time, run)
    plot_poses(poses, run.model, run.time[at], run.q[at], (1.0, exaggeration))
    plot_sheet(sheet, run, moments, exaggeration)
    text.write_text(table(run) + '\n', encoding='utf-8')
    page.write_text(_page(run, time, poses, exaggeration), encoding='utf-8')
    return [page, sheet, time, poses, text]


def _page(run: Run, time: Path, poses: Path, exaggeration: float) -> str:
    def row(cells: Sequence[str], tag: str = 'td') -> str:
        return '<tr>' + ''.join(f'<{tag}>{html_text(cell)}</{tag}>' for cell in cells) + '</tr>'

    def image(path: Path, what: str) -> str:
        data = base64.b64encode(path.read_bytes()).decode()
        return f'<p><img alt="{what}" src="data:image/png;base64,{data}"></p>'

    name = html_text(run.model.robot.name)
    body = '\n'.join([
        f'<h1>{name}</h1>',
        '<div class="wide"><table>', row(HEAD, 'th'), *map(row, rows(run)), '</table></div>',
        '<ul>', *(f'<li>{html_text(note, 1000)}</li>' for note in notes(run)), '</ul>',
        '<h2>Poses</h2>', f'<p>{_caption(run, exaggeration)}</p>',
        image(poses, 'poses of the robot'),
        '<h2>Over time</h2>', image(time, 'joints, deflection and efforts over time')])
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<title>{name}: a run</title>\n<style>{STYLE}</style></head>\n<body>\n{body}\n'
            '</body></html>\n')


def _caption(run: Run, exaggeration: float) -> str:
    if not len(run.model.coordinates.links):
        return 'The robot has no flexible links.'
    second = ('' if exaggeration == 1.0 else
              f' In the second strip it is drawn {exaggeration:g} times as large.')
    return f'Straight links are grey. The deflection is the true one.{second}'
