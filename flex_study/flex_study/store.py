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
"""Results of a study on disk: one labelled data set (xarray, zarr), written batch by batch."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from flex_study.errors import StudyError
from flex_study.measures import MEASURES
from flex_study.runs import Rows
from flex_study.study import Study

INSTALL = 'python3 bare/setup.py study, or pip install flex_study[cluster], installs it'
PENDING, DONE, FAILED = 0, 1, 2       # values of `status`
FILE = 'results.zarr'


def needed(name: str) -> Any:
    """A module that only studies need; StudyError that says how to get it."""
    from importlib import import_module
    try:
        return import_module(name)
    except ImportError as error:
        raise StudyError(f'a study needs the Python module {name}: {error}; {INSTALL}') from None


class Store:
    """The data set of one study in a folder: variables by output, `status` and `reason`, along
    `run`; what varied are coordinates.

    Only one process writes. A batch is one chunk of every variable, and its `status` is written
    last: a batch that was cut off is run again.
    """

    def __init__(self, folder: Path, study: Study) -> None:
        self.path, self.study = folder / FILE, study
        self.runs = len(next(iter(study.table().values())))
        xarray, self._zarr = needed('xarray'), needed('zarr')
        if not self.path.exists():
            self._create(xarray)
        try:
            self._group = self._zarr.open_group(str(self.path), mode='r+')
            key = self._group.attrs['key']
        except (KeyError, ValueError, OSError) as error:
            raise StudyError(f'{self.path}: expected results of a study, found something else '
                             f'({type(error).__name__}); name another folder by --output'
                             ) from None
        if key != study.key:
            raise StudyError(f'{self.path}: expected results of this study, found those of '
                             'another, or of this one before it was changed; name another folder '
                             'by --output')

    def _create(self, xarray: Any) -> None:
        study, runs = self.study, self.runs
        outputs = {name: ('run', np.full(runs, np.nan), {'units': MEASURES[name]})
                   for name in study.outputs}
        table = study.table()
        data = xarray.Dataset(
            {**outputs, 'status': ('run', np.zeros(runs, dtype=np.int8),
                                   {'meaning': '0 pending, 1 done, 2 failed'}),
             'reason': ('run', np.full(runs, '', dtype=object))},
            {'run': np.arange(runs),
             **{path: ('run', values.astype(object) if values.dtype.kind == 'U' else values)
                for path, values in table.items()}},
            {'key': study.key, 'study': study.text, 'name': study.name})
        chunks = {'chunks': (min(study.batch, runs),)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix('.part')
        data.to_zarr(str(part), mode='w', consolidated=False,
                     encoding={name: chunks for name in data.data_vars})
        part.rename(self.path)       # all of it, or nothing

    def pending(self) -> list[list[int]]:
        """Runs that are still to be done, batch by batch."""
        status = np.asarray(self._group['status'][:])
        size = self.study.batch
        return [list(range(start, min(start + size, self.runs)))
                for start in range(0, self.runs, size)
                if (status[start:start + size] == PENDING).any()]

    def write(self, runs: Sequence[int], rows: Rows) -> None:
        """Keep the outputs of a batch."""
        place = slice(runs[0], runs[-1] + 1)
        for name in self.study.outputs:
            self._group[name][place] = np.array(rows[name], dtype=float)
        self._group['reason'][place] = np.array(rows['reason'], dtype=object)
        self._group['status'][place] = np.array(
            [FAILED if reason else DONE for reason in rows['reason']], dtype=np.int8)

    def dataset(self) -> Any:
        """All of it, in memory, as an xarray.Dataset."""
        with needed('xarray').open_zarr(str(self.path), consolidated=False) as data:
            return data.load()
