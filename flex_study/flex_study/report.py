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
"""The HTML page of a study: distributions, sensitivities, maps, the worst runs."""
from __future__ import annotations

import base64
import io
from html import escape
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402  (the backend first: there may be no display)
import numpy as np  # noqa: E402
from scipy.stats import rankdata  # noqa: E402

from flex_study.measures import MEASURES  # noqa: E402
from flex_study.store import FAILED, PENDING  # noqa: E402
from flex_study.study import Study  # noqa: E402

STYLE = """body { font: 15px/1.45 sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
.wide { overflow-x: auto } img { max-width: 100% } code { white-space: nowrap }"""
WORST = 5          # runs of each output
BINS = 40


def write_report(study: Study, data: Any, folder: Path, command: str) -> Path:
    """Write study.html into a folder.

    data: the xarray.Dataset of the study. command: what runs it, to which `--only RUN` is added.
    """
    status = data['status'].values
    failed, left = int((status == FAILED).sum()), int((status == PENDING).sum())
    parts = [f'<h1>{escape(study.name)}</h1>',
             f'<p>{escape(str(study.given.get("description", "")))}</p>',
             f'<p>{len(status)} runs, {failed} failed, {left} not done. Robot '
             f'<code>{escape(str(study.given["robot"]))}</code>; sampling {study.method}.</p>']
    good = status == 1
    if good.any():
        parts += ['<h2>Distributions</h2>', _summary(study, data, good),
                  _histograms(study, data, good)]
        numeric = [one.path for one in study.varied if not one.named]
        if numeric and int(good.sum()) > 2:
            parts += ['<h2>Sensitivities</h2>', '<p>Rank correlation of each output with what '
                      'varies: 1 rises always, -1 falls always, 0 no monotonic effect.</p>',
                      _sensitivities(study, data, good, numeric)]
        if len(numeric) >= 2:
            parts += ['<h2>Maps</h2>', _maps(study, data, good, numeric)]
        parts += ['<h2>Worst runs</h2>', '<p>Each command repeats its run alone, bit for bit.</p>',
                  _worst(study, data, good, command)]
    if failed:
        parts += ['<h2>Failed runs</h2>', _failed(study, data, command)]
    page = folder / 'study.html'
    page.write_text('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>'
                    f'{escape(study.name)}: a study</title><style>{STYLE}</style></head>\n<body>\n'
                    + '\n'.join(parts) + '\n</body></html>\n', encoding='utf-8')
    return page


def _table(head: list[str], rows: list[list[str]]) -> str:
    def row(cells: list[str], tag: str) -> str:
        return '<tr>' + ''.join(f'<{tag}>{cell}</{tag}>' for cell in cells) + '</tr>'
    return ('<div class="wide"><table>' + row(head, 'th') + ''.join(row(one, 'td') for one in rows)
            + '</table></div>')


def _groups(data: Any, good: np.ndarray) -> dict[str, np.ndarray]:
    """Runs that went well, by controller if it varies."""
    if 'controller' not in data.coords:
        return {'': good}
    # Text that comes back from disk may be numpy's StringDType, which is not cast to str.
    names = np.array([str(one) for one in data['controller'].values])
    return {name: good & (names == name) for name in dict.fromkeys(names.tolist())}


def _summary(study: Study, data: Any, good: np.ndarray) -> str:
    rows = []
    for name in study.outputs:
        for group, at in _groups(data, good).items():
            values = data[name].values[at]
            values = values[~np.isnan(values)]
            if len(values):
                shares = np.quantile(values, (0.0, 0.05, 0.5, 0.95, 1.0), method='nearest')
                rows.append([escape(f'{name}, {MEASURES[name]}'), escape(group), str(len(values)),
                             *(f'{one:.4g}' for one in shares)])
    return _table(['output', 'controller', 'runs', 'least', '5 %', 'median', '95 %', 'most'], rows)


def _image(figure: Any, what: str) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format='png', dpi=100)
    plt.close(figure)
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<p><img alt="{escape(what)}" src="data:image/png;base64,{data}"></p>'


def _histograms(study: Study, data: Any, good: np.ndarray) -> str:
    count = len(study.outputs)
    figure, axes = plt.subplots(1, count, figsize=(4.0 * count, 3.0), squeeze=False,
                                layout='constrained')
    for axis, name in zip(axes[0], study.outputs):
        for group, at in _groups(data, good).items():
            values = data[name].values[at]
            axis.hist(values[np.isfinite(values)], BINS, histtype='step', label=group or None)
        axis.set(xlabel=f'{name}, {MEASURES[name]}', ylabel='runs')
        if not np.isfinite(data[name].values[good]).any():
            axis.text(0.5, 0.5, 'no finite value', transform=axis.transAxes, ha='center')
        elif 'controller' in data.coords:
            axis.legend(fontsize=7)
    return _image(figure, 'distributions of the outputs')


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's, of numbers that may be infinite; NaN if one of them does not vary."""
    a, b = rankdata(x) - (len(x) + 1) / 2.0, rankdata(y) - (len(y) + 1) / 2.0
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else float('nan')


def _sensitivities(study: Study, data: Any, good: np.ndarray, numeric: list[str]) -> str:
    rows = []
    for name in study.outputs:
        for group, at in _groups(data, good).items():
            there = at & ~np.isnan(data[name].values)
            if there.sum() > 2:
                rows.append([escape(name), escape(group), *(
                    _shown(rank_correlation(data[path].values[there], data[name].values[there]))
                    for path in numeric)])
    return _table(['output', 'controller', *map(escape, numeric)], rows)


def _shown(correlation: float) -> str:
    return 'all equal' if np.isnan(correlation) else f'{correlation:.2f}'


def _maps(study: Study, data: Any, good: np.ndarray, numeric: list[str]) -> str:
    """Each output over the first two things that vary."""
    x, y = numeric[:2]
    count = len(study.outputs)
    figure, axes = plt.subplots(1, count, figsize=(4.6 * count, 3.6), squeeze=False,
                                layout='constrained')
    for axis, name in zip(axes[0], study.outputs):
        values = data[name].values
        at = good & np.isfinite(values)
        dots = axis.scatter(data[x].values[at], data[y].values[at], c=values[at], s=14,
                            marker='s' if study.method == 'grid' else 'o')
        axis.set(xlabel=x, ylabel=y)
        figure.colorbar(dots, ax=axis, label=f'{name}, {MEASURES[name]}')
    return _image(figure, 'maps of the outputs')


def _values(study: Study, data: Any, run: int) -> str:
    shown = []
    for one in study.varied:
        value = data[one.path].values[run]
        shown.append(f'{one.path} = {value if one.named else format(float(value), ".4g")}')
    return escape(', '.join(shown))


def _worst(study: Study, data: Any, good: np.ndarray, command: str) -> str:
    rows = []
    for name in study.outputs:
        values = np.where(good, data[name].values, -np.inf)
        values = np.where(np.isnan(values), -np.inf, values)
        # the lowest frequency is the worst one
        order = np.argsort(-values if name != 'first_frequency' else np.where(
            good, data[name].values, np.inf), kind='stable')
        for run in order[:min(WORST, int(good.sum()))]:
            rows.append([escape(name), f'{data[name].values[run]:.6g}', str(run),
                         _values(study, data, int(run)),
                         f'<code>{escape(command)} --only {run}</code>'])
    return _table(['output', 'value', 'run', 'with', 'command'], rows)


def _failed(study: Study, data: Any, command: str) -> str:
    runs = np.flatnonzero(data['status'].values == FAILED)[:50]
    return _table(['run', 'with', 'reason', 'command'], [
        [str(run), _values(study, data, int(run)), escape(str(data['reason'].values[run])),
         f'<code>{escape(command)} --only {run}</code>'] for run in runs])
