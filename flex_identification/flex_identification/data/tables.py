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
"""Columns of CSV, NPZ and MAT files."""
from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat

from flex_dynamics.arrays import Array
from flex_identification.errors import IdentificationError

LARGEST = 500_000_000       # bytes of a table, in memory
DELIMITERS = ',;\t '


def read_table(path: Path) -> dict[str, Array]:
    """Columns (N,) by name, as the file has them: an empty cell of a CSV is NaN."""
    size = path.stat().st_size
    if size == 0:
        raise IdentificationError(f'{path}: expected a table, found an empty file')
    if size > LARGEST:
        raise IdentificationError(f'{path}: expected at most {LARGEST / 1e6:.0f} MB, found '
                                  f'{size / 1e6:.0f} MB; split the run, or take fewer samples')
    kind = path.suffix.lower()
    columns = _csv(path) if kind == '.csv' else _arrays(path, kind)
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ', '.join(f'{name} {length}' for name, length in list(lengths.items())[:6])
        raise IdentificationError(f'{path}: expected columns of one length, found {shown}')
    if not columns:
        raise IdentificationError(f'{path}: expected columns of numbers, found none')
    return columns


def _csv(path: Path) -> dict[str, Array]:
    try:
        text = path.read_text(encoding='utf-8-sig')
    except UnicodeDecodeError:
        raise IdentificationError(f'{path}: expected a CSV in UTF-8, found other bytes') from None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith('#')]
    if len(lines) < 2:
        raise IdentificationError(f'{path}: expected a line of names and lines of numbers, found '
                                  f'{len(lines)} line{"" if len(lines) == 1 else "s"}')
    delimiter = max(DELIMITERS[:3], key=lines[0].count)
    delimiter = delimiter if lines[0].count(delimiter) else ' '
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise IdentificationError(f'{path}: expected a CSV, found: {error}') from None
    names = [name.strip() for name in rows[0]]
    if all(_number(name) is not None for name in names):
        raise IdentificationError(f'{path}: expected names of the columns in the first line, '
                                  f'found numbers')
    for name in names:
        if names.count(name) > 1:
            raise IdentificationError(f'{path}: expected a name for one column each, found '
                                      f'{name!r} {names.count(name)} times')
    table = np.empty((len(rows) - 1, len(names)))
    for number, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise IdentificationError(f'{path}: expected {len(names)} cells in each line, found '
                                      f'{len(row)} in line {number + 1} of the numbers')
        for column, cell in enumerate(row):
            value = _number(cell)
            if value is None:
                raise IdentificationError(f'{path}: expected numbers, found {cell[:40]!r} in '
                                          f'line {number + 1} of the numbers, column '
                                          f'{names[column]!r}')
            table[number, column] = value
    return dict(zip(names, table.T, strict=True))


def _number(cell: str) -> float | None:
    cell = cell.strip()
    if not cell:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        return None


def _arrays(path: Path, kind: str) -> dict[str, Array]:
    """Variables of an NPZ or MAT file that are columns; tables of k columns become NAME/0, ..."""
    found: dict[str, Any]
    try:
        found = _npz(path) if kind == '.npz' else loadmat(str(path))
    except IdentificationError:
        raise
    except NotImplementedError:
        raise IdentificationError(f'{path}: expected a MAT file up to version 7, found 7.3 '
                                  "(HDF5); save it with save(..., '-v7')") from None
    except Exception as error:       # of many types, depending on the bytes
        text = ' '.join(str(error).split())[:120] or type(error).__name__
        raise IdentificationError(f'{path}: expected {kind[1:].upper()}, found: {text}') from None
    columns = {}
    for name, value in found.items():
        if name.startswith('__'):
            continue
        array = np.asarray(value)
        if array.dtype.kind not in 'fiu':
            raise IdentificationError(f'{path}: {name}: expected real numbers, found '
                                      f'{array.dtype}')
        if array.ndim > 2:
            raise IdentificationError(f'{path}: {name}: expected a column or a table, found '
                                      f'shape {array.shape}')
        if array.ndim == 2 and 1 not in array.shape:
            columns.update({f'{name}/{k}': column.astype(float)
                            for k, column in enumerate(array.T)})
        elif array.size != 1:            # one number is no column: a mass, a rate
            columns[name] = array.reshape(-1).astype(float)
    return columns


def _npz(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        size = sum(one.file_size for one in archive.infolist())
    if size > LARGEST:
        raise IdentificationError(f'{path}: expected at most {LARGEST / 1e6:.0f} MB, found '
                                  f'{size / 1e6:.0f} MB when unpacked')
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except ValueError as error:
        if 'pickle' in str(error):
            raise IdentificationError(f'{path}: expected arrays of numbers, found pickled objects,'
                                      ' which can run programs: they are refused') from None
        raise
