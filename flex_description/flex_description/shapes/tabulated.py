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
"""Shapes from a table, CSV or NPZ: columns x and v, w, twist (or v1, v2, ... for several modes).

x in metres from 0 to the beam's length, v and w the deflections along beam y and z, twist in rad.
Each column is fitted, in the least-squares sense, by a spline of degree 5 whose first
coefficients are zero, so that it is clamped at x = 0 exactly; the fit smooths the second
derivative, on which stiffness depends. A table too coarse or too noisy for that is refused.
"""
from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from pathlib import Path

import numpy as np
from scipy.interpolate import BSpline

from flex_description.errors import cut
from flex_description.files import LARGEST_TABLE, MEGABYTE, FileError, read_bytes
from flex_description.math import Array
from flex_description.shapes.base import ModeShapes, ShapeError

SPLINE_DEGREE = 5
MIN_STATIONS = 12
MAX_STATIONS = 5000     # the least-squares fit of a column takes less than a minute
MAX_COLUMNS = 200
LISTED = 20
COLUMN = r'x|(v|w|twist)[0-9]{0,9}'       # others are not read
LARGEST = 1e30          # powers of larger numbers overflow
INTERVALS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
CURVATURE_TOLERANCE = 0.05
RESIDUAL_TOLERANCE = 0.01
CLAMP_TOLERANCE = 0.01


def read_table(path: str | Path) -> dict[str, Array]:
    """Columns by name, each (k,), k the number of stations."""
    path = Path(path)
    try:
        data = read_bytes(path, LARGEST_TABLE)
        read = _read_npz if path.suffix.lower() == '.npz' else _read_csv
        columns = read(data)
    except FileError as error:
        raise ShapeError(f'{path}: cannot be read (expected a file of at most '
                         f'{LARGEST_TABLE / MEGABYTE:g} MB, found {error})') from None
    except ValueError as error:
        raise ShapeError(f'{path}: expected numbers in named columns ({error})') from None
    except Exception as error:   # zipfile and zlib raise their own on a damaged archive
        raise ShapeError(f'{path}: expected a readable NPZ archive, found a damaged one '
                         f'({error or repr(error)})') from None
    return _checked(columns, path)


def read_table_text(text: str) -> dict[str, Array]:
    """Columns of a table that is CSV with ';' between the rows, as `table_text` writes it."""
    try:
        columns = _read_csv(text.replace(';', '\n').encode())
    except ValueError as error:
        raise ShapeError(f'table: expected numbers in named columns ({error})') from None
    return _checked(columns, 'table')


def table_text(columns: dict[str, Array]) -> str:
    """A table in one line, its numbers to the last bit."""
    used = {name: values for name, values in columns.items() if re.fullmatch(COLUMN, name)}
    return '; '.join([','.join(used), *(','.join(repr(float(number)) for number in row)
                                        for row in zip(*used.values()))])


def _checked(columns: dict[str, Array], path: str | Path) -> dict[str, Array]:
    if 'x' not in columns:
        names = ', '.join(cut(name) for name in list(columns)[:LISTED])
        raise ShapeError(f"{path}: expected a column 'x', found {names or 'none'}")
    x = columns['x']
    for name, values in columns.items():
        if values.shape != x.shape or x.ndim != 1:
            raise ShapeError(f"{path}: column '{cut(name)}' has shape {values.shape}, x {x.shape}")
        if not np.all(np.abs(values) <= LARGEST):
            raise ShapeError(f"{path}: column '{cut(name)}' has a value that is not finite, or "
                             f'above {LARGEST:g}')
    if x.size < MIN_STATIONS:
        raise ShapeError(f'{path}: too coarse: expected at least {MIN_STATIONS} stations, '
                         f'found {x.size}')
    if x.size > MAX_STATIONS:
        raise ShapeError(f'{path}: expected at most {MAX_STATIONS} stations, found {x.size}')
    if np.any(np.diff(x) <= 0.0):
        raise ShapeError(f'{path}: x must increase from row to row')
    return columns


def _read_npz(data: bytes) -> dict[str, Array]:
    """The arrays of an archive, whose sizes are checked before anything is unpacked."""
    columns: dict[str, Array] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MAX_COLUMNS:
            raise ValueError(f'expected at most {MAX_COLUMNS} columns, found {len(members)}')
        unpacked = sum(member.file_size for member in members)
        if unpacked > LARGEST_TABLE:
            raise ValueError(f'expected at most {LARGEST_TABLE / MEGABYTE:g} MB unpacked, found '
                             f'{unpacked / MEGABYTE:.4g} MB')
        for member in members:
            # read() stops at the size that the directory of the archive says
            columns[member.filename.removesuffix('.npy')] = _array(archive.read(member))
    return columns


def _array(data: bytes) -> Array:
    """An array in the NPY format; its header may claim any size."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f'expected NPY of version 1 or 2, found {version[0]}')
    read = (np.lib.format.read_array_header_1_0 if version == (1, 0) else
            np.lib.format.read_array_header_2_0)
    shape, _, kind = read(file)
    if kind.kind not in 'iuf':
        raise ValueError(f'expected real numbers, found {kind}')
    size = kind.itemsize * math.prod(shape)
    if size != len(data) - file.tell():
        raise ValueError(f'expected {size} bytes of an array of shape {shape}, found '
                         f'{len(data) - file.tell()}')
    numbers = np.frombuffer(data, kind, offset=file.tell()).astype(float)
    return np.atleast_1d(numbers.reshape(shape))


def _read_csv(data: bytes) -> dict[str, Array]:
    lines = data.decode('utf-8-sig').splitlines()
    if len(lines) > 2 * MAX_STATIONS:
        raise ValueError(f'expected at most {2 * MAX_STATIONS} lines, found {len(lines)}')
    try:
        rows = [row for row in csv.reader(line for line in lines if not line.startswith('#'))
                if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if not rows:
        raise ValueError('no rows')
    names = [name.strip() for name in rows[0]]
    if len(names) > MAX_COLUMNS:
        raise ValueError(f'expected at most {MAX_COLUMNS} columns, found {len(names)}')
    if len(set(names)) < len(names):
        raise ValueError('two columns have the same name')
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(names):
            raise ValueError(f'row {number} has {len(row)} cells, the header {len(names)}')
    table = np.array([[_number(cell, number) for cell in row]
                      for number, row in enumerate(rows[1:], 1)], float)
    return dict(zip(names, table.reshape(-1, len(names)).T, strict=True))


def _number(cell: str, row: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f'row {row}: expected a number, found "{cut(cell)}"') from None


class TabulatedShapes(ModeShapes):
    """`count` fitted columns of a table. kind: 'v', 'w' or 'twist'."""

    def __init__(self, length: float, path: str | Path, columns: dict[str, Array],
                 kind: str, count: int) -> None:
        self.length, self.count = length, count
        x = columns['x']
        if abs(x[0]) > 1e-6 * length or abs(x[-1] - length) > 1e-3 * length:
            raise ShapeError(f'{path}: expected x from 0 to the length {length:.6g} m, '
                             f'found {x[0]:.6g} to {x[-1]:.6g}')
        modes = [name for name in columns if re.fullmatch(rf'{kind}[0-9]{{0,9}}', name)]
        modes.sort(key=lambda name: int(name[len(kind):] or 0))
        if len(modes) < count:
            raise ShapeError(f'{path}: expected {count} columns {kind}1, {kind}2, ..., '
                             f"found {', '.join(modes) or 'none'}")
        power = 1 if kind == 'twist' else 2
        s = x / length
        self.spline = _fit(s, np.array([columns[name] for name in modes[:count]]).T, power)
        half = np.unique(np.r_[0:x.size:2, x.size - 1])
        for name in modes[:count]:
            _check(s, columns[name], half, power, f"{path}: column '{name}'")
        self._breakpoints = tuple(np.unique(self.spline.t) * length)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return self._breakpoints

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        s = np.atleast_1d(np.asarray(x, float)) / self.length
        values: Array = self.spline(s, nu=derivative).T / self.length**derivative
        return values


def _fit(s: Array, values: Array, power: int) -> BSpline:
    """Least-squares spline of s on [0, 1] with its first `power` coefficients zero.

    As many intervals as generalised cross validation wants (Craven and Wahba 1979): few for noisy
    rows, many for exact ones. values (k,) or (k, n).
    """
    best, least = None, np.inf
    scale = np.maximum(np.max(np.abs(values), axis=0), 1e-300)
    for intervals in INTERVALS:
        if intervals > max(1, (s.size - SPLINE_DEGREE) // 3):
            break
        inner = np.interp(np.linspace(0.0, 1.0, intervals + 1)[1:-1],
                          np.linspace(0.0, 1.0, s.size), s)
        knots = np.r_[np.zeros(SPLINE_DEGREE + 1), inner, np.ones(SPLINE_DEGREE + 1)]
        design = BSpline.design_matrix(np.clip(s, 0.0, 1.0), knots, SPLINE_DEGREE).toarray()
        solved = np.linalg.lstsq(design[:, power:], values, rcond=None)[0]
        residual = np.mean(((design[:, power:] @ solved - values) / scale)**2)
        score = residual / (1.0 - solved.shape[0] / s.size)**2
        if score < 0.95 * least:
            least = score
            coefficients = np.concatenate([np.zeros((power, *values.shape[1:])), solved])
            best = BSpline(knots, coefficients, SPLINE_DEGREE)
    assert best is not None
    return best


def _check(s: Array, values: Array, half: Array, power: int, where: str) -> None:
    """Refuse what is not clamped, or what half of the rows would describe differently."""
    size = np.max(np.abs(values))
    if size == 0.0:
        raise ShapeError(f'{where}: all zeros')
    free = _fit(s, values, 0)
    residual = np.sqrt(np.mean((free(s) - values)**2)) / size
    if residual > RESIDUAL_TOLERANCE:
        raise ShapeError(f'{where}: too coarse or too noisy: a smooth fit misses the rows by '
                         f'{100.0 * residual:.2g} % of the largest value')
    if abs(values[0]) > CLAMP_TOLERANCE * size:
        raise ShapeError(f'{where}: expected 0 at x = 0, where the link is clamped, '
                         f'found {values[0]:.6g}')
    stations = np.linspace(0.0, 1.0, 400)
    slope = np.abs(free(stations, nu=1))
    if power == 2 and slope[0] > 5.0 * CLAMP_TOLERANCE * slope.max():
        raise ShapeError(f'{where}: expected slope 0 at x = 0, where the link is clamped, '
                         f'found {slope[0]:.3g} times 1/length')
    curve = _fit(s, values, power)(stations, nu=power)
    other = _fit(s[half], values[half], power)(stations, nu=power)
    change = np.sqrt(np.mean((curve - other)**2) / np.mean(curve**2))
    if change > CURVATURE_TOLERANCE:
        raise ShapeError(
            f"{where}: too coarse or too noisy: every second row alone changes the "
            f"{'curvature' if power == 2 else 'rate of twist'} by {100.0 * change:.2g} %, "
            f'more than {100.0 * CURVATURE_TOLERANCE:.0f} %; give more stations')
