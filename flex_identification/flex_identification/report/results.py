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
"""The results of a fit as an overlay YAML and as JSON."""
from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from flex_identification.fit.identify import Identification

WIDE = 95       # columns of comments


def overlay_text(found: Identification, robot: str, recordings: Sequence[str]) -> str:
    """The overlay, with comments that say where it comes from and what is not in it."""
    lines = [f'Identified from {", ".join(map(str, recordings))}', f'for {robot}.']
    for one in found.parameters:
        if one.status == 'fitted':
            lines.append(f'{one.path}: {one.value:.6g} {one.unit}, 95 % interval {one.low:.6g} '
                         f'to {one.high:.6g}')
        else:
            lines.append(f'{one.path}: {one.status}')
    lines += [f'cannot be told: {direction.text}' for direction in found.directions]
    lines += [f'warning: {warning}' for warning in found.warnings]
    comments = ''.join(f'# {_one_line(line)}\n' for line in lines)
    return comments + yaml.safe_dump(found.overlay(), sort_keys=False)


def result_dictionary(found: Identification, robot: str,
                      recordings: Sequence[str]) -> dict[str, Any]:
    """All that was found, in plain numbers and strings; null for what is not finite."""
    return _plain({
        'robot': str(robot), 'recordings': [str(one) for one in recordings],
        'parameters': {one.path: {
            'value': one.value, 'unit': one.unit, 'given': one.given, 'status': one.status,
            'standard_error': one.standard_error, 'interval_95': [one.low, one.high]}
            for one in found.parameters},
        'fitted': list(found.fitted), 'correlations': found.correlations.tolist(),
        'cannot_be_told': [{'paths': list(one.paths), 'components': list(one.components),
                            'left_out': one.left_out, 'text': one.text}
                           for one in found.directions],
        'missing': [{'path': one.path, 'score': one.score, 'value': one.value,
                     'given': one.given, 'unit': one.unit} for one in found.missing],
        'whiteness': {name: {'rms': rms, 'autocorrelation': worst}
                      for name, (rms, worst) in found.white.items()},
        'withheld': {name: {'rms': rms, 'explained': share}
                     for name, (rms, share) in found.withheld.items()},
        'noise': dict(found.noise), 'effort_noise': dict(found.effort_noise),
        'rounds': found.estimate.rounds, 'converged': found.estimate.converged,
        'warnings': list(found.warnings)})


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write it, indented."""
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + '\n', encoding='utf-8')


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    return value


def _one_line(text: str) -> str:
    # A line break of a file name would end the comment.
    return ' '.join(''.join(one if one.isprintable() else ' ' for one in text).split())
