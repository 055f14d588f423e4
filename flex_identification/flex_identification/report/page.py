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
"""The HTML page of a fit: measured and model in time and frequency, parameters with intervals."""
from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402  (the backend first: there may be no display)
import numpy as np  # noqa: E402
from scipy.signal import welch  # noqa: E402

from flex_identification.data.channels import KINDS, split  # noqa: E402
from flex_identification.fit.identify import Identification  # noqa: E402

STYLE = """body { font: 15px/1.45 sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left }
.wide { overflow-x: auto } img { max-width: 100% } .warning { color: #a40000 }"""
MOST_CHANNELS = 12
SHOWN = 5.0          # s of the picture in time


def write_page(found: Identification, robot: str, recordings: Sequence[str], path: Path) -> None:
    """Write the page; all strings from files are escaped."""
    parts = [f'<h1>Identification of {escape(str(robot))}</h1>',
             f'<p>From {escape(", ".join(map(str, recordings)))}; {found.estimate.rounds} rounds'
             f'{"" if found.estimate.converged else ", not converged"}.</p>']
    notes = [*found.warnings, *(f'cannot be told: {one.text}' for one in found.directions)]
    if notes:
        parts.append('<h2>Warnings</h2><ul class="warning">' + ''.join(
            f'<li>{escape(note)}</li>' for note in notes) + '</ul>')
    parts += ['<h2>Parameters</h2>', _parameters(found), '<h2>Correlations of the estimates</h2>',
              _correlations(found), '<h2>Readings</h2>',
              '<p>Residuals are what the Kalman filter does not predict one sample ahead, by the '
              'deviation that it expects: rms 1 and no autocorrelation if model and noise are '
              'right. Withheld: the part of each run that was not fitted.</p>', _readings(found),
              *_pictures(found)]
    title = escape(f'Identification of {robot}')
    path.write_text('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
                    f'<title>{title}</title><style>{STYLE}</style></head><body>\n'
                    + '\n'.join(parts) + '\n</body></html>\n', encoding='utf-8')


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = ''.join(f'<th>{escape(one)}</th>' for one in head)
    body = ''.join('<tr>' + ''.join(f'<td>{escape(one)}</td>' for one in row) + '</tr>'
                   for row in rows)
    return f'<div class="wide"><table><tr>{cells}</tr>{body}</table></div>'


def _parameters(found: Identification) -> str:
    rows = []
    for one in found.parameters:
        told = one.status != 'not told'
        rows.append((one.path, f'{one.given:.5g}', f'{one.value:.6g}' if told else '',
                     f'{one.standard_error:.2g}' if told else '',
                     f'{one.low:.6g} to {one.high:.6g}' if told else '', one.unit, one.status))
    return _table(('parameter', 'given', 'found', 'standard error', '95 % interval', 'unit',
                   'status'), rows)


def _correlations(found: Identification) -> str:
    return _table(('', *found.fitted), [
        (path, *(f'{value:.2f}' for value in row))
        for path, row in zip(found.fitted, found.correlations, strict=True)])


def _readings(found: Identification) -> str:
    rows = []
    for name, (rms, worst) in found.white.items():
        held = found.withheld.get(name)
        rows.append((name, f'{found.noise[name]:.3g}', KINDS[split(name)[0]].unit, f'{rms:.2f}',
                     f'{worst:+.2f}', '' if held is None else f'{held[0]:.2f}',
                     '' if held is None else f'{held[1]:.4%}'))
    return _table(('channel', 'noise', 'unit', 'residual rms', 'autocorrelation', 'withheld rms',
                   'withheld explained'), rows)


def _pictures(found: Identification) -> list[str]:
    """Of the first run, measured and predicted, in time and in frequency."""
    run, line, one = (found.estimate.runs[0], found.estimate.lines[0],
                      found.estimate.filtered[0])
    time = run.inputs.time
    keep = time <= SHOWN
    parts = ['<h2>Measured and model</h2>',
             f'<p>{escape(run.name)}; the model is the prediction of the filter one sample '
             'ahead.</p>']
    for i, channel in enumerate(run.channels[:MOST_CHANNELS]):
        measured = np.take(run.readings[:, i], np.maximum(line.source[:, i], 0))
        model = measured - one.errors[:, i]
        unit = KINDS[split(channel)[0]].unit
        figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 2.6), layout='constrained')
        left.plot(time[keep], measured[keep], lw=1.0, label='measured')
        left.plot(time[keep], model[keep], '--', lw=1.0, label='model')
        left.set(xlabel='time, s', ylabel=unit)
        left.legend(loc='upper right')
        good = np.isfinite(measured) & np.isfinite(one.errors[:, i])
        if good.sum() > 64:
            rate = 1.0 / float(np.median(np.diff(time)))
            for values, label in ((measured[good], 'measured'), (model[good], 'model'),
                                  (one.errors[good, i], 'residual')):
                frequency, power = welch(values - values.mean(), rate,
                                         nperseg=min(1024, int(good.sum())))
                right.loglog(frequency[1:], np.sqrt(power[1:]) + 1e-300, lw=1.0, label=label)
            right.legend(loc='lower left')
        right.set(xlabel='frequency, Hz', ylabel=f'({unit})/sqrt(Hz)')
        data = io.BytesIO()
        figure.savefig(data, format='png', dpi=80)
        plt.close(figure)
        parts.append(f'<h3>{escape(channel)}</h3><img alt="{escape(channel, quote=True)}" '
                     'src="data:image/png;base64,'
                     f'{base64.b64encode(data.getvalue()).decode()}">')
    return parts
