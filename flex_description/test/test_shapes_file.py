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
"""Tabulated shapes: what goes in comes out smooth; what cannot be trusted is refused."""
import numpy as np
import pytest
from shape_beams import UniformBeam

from flex_description.shapes import ShapeError, build_shapes

BEAM = UniformBeam()
MODES = build_shapes('clamped-free', (4, 3, 2), BEAM)


def table(stations=101, noise=0.0, grid=None):
    x = np.linspace(0.0, BEAM.length, stations) if grid is None else grid
    random = np.random.default_rng(1)
    columns = {'x': x}
    for kind, shapes in zip(('v', 'w', 'twist'), MODES, strict=True):
        for mode, values in enumerate(shapes(x), 1):
            columns[f'{kind}{mode}'] = values + noise * random.standard_normal(x.size)
    return columns


def write_csv(path, columns):
    rows = np.array(list(columns.values())).T
    np.savetxt(path, rows, delimiter=',', header=','.join(columns), comments='', fmt='%.17g')
    return str(path)


def load(path, counts=(4, 3, 2)):
    return build_shapes('file', counts, BEAM, options={'file': str(path)})


@pytest.mark.parametrize('suffix', ['csv', 'npz'])
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f'modes.{suffix}'
    if suffix == 'csv':
        write_csv(path, table())
    else:
        np.savez(path, **table())
    x = np.linspace(0.0, BEAM.length, 777)
    for found, expected in zip(load(path), MODES, strict=True):
        assert found.count == expected.count
        for derivative, tolerance in [(0, 1e-5), (1, 1e-4), (2, 3e-3)]:
            exact = expected(x, derivative)
            error = np.max(np.abs(found(x, derivative) - exact))
            assert error < tolerance * np.max(np.abs(exact))
    bend = load(path)[0]
    assert np.all(bend(np.zeros(1)) == 0.0) and np.all(bend(np.zeros(1), 1) == 0.0)


def test_noise_is_smoothed(tmp_path):
    """0.01 % of noise on 401 rows: a difference quotient's curvature is useless, the fit's not."""
    noisy = table(401, noise=2e-4)
    x = noisy['x']
    exact = MODES[0](x, 2)[0]
    fit = load(write_csv(tmp_path / 'm.csv', noisy), (1, 0, 0))[0](x, 2)[0]
    quotient = np.gradient(np.gradient(noisy['v1'], x), x)
    error, naive = (np.sqrt(np.mean((guess - exact)**2)) for guess in (fit, quotient))
    assert error < 0.1 * naive and error < 0.02 * np.max(np.abs(exact))


def test_one_column_and_comments(tmp_path):
    x = np.linspace(0.0, 2.0, 30)
    path = tmp_path / 'one.csv'
    path.write_text('# from a finite-element program\nx, v, w\n'
                    + '\n'.join(f'{a},{a**2},{a**3}' for a in x) + '\n\n')
    bend_y, bend_z, twist = load(path, (1, 1, 0))
    assert bend_y(x, 2)[0] == pytest.approx(np.full(30, 2.0), abs=1e-9)
    assert bend_z(x)[0] == pytest.approx(x**3, abs=1e-9)
    assert twist.count == 0


def without(columns, *names):
    return {name: values for name, values in columns.items() if name not in names}


@pytest.mark.parametrize(('columns', 'words'), [
    (table(8), 'too coarse: expected at least 12'),
    (table(14), 'too coarse'),
    (table(101, noise=0.05), 'too noisy'),
    (without(table(), 'x'), "expected a column 'x'"),
    (without(table(), 'v3', 'v4'), 'expected 4 columns v1, v2'),
    ({**table(), 'v2': table()['v2'] + 0.3}, "column 'v2': expected 0 at x = 0"),
    ({**table(), 'v2': table()['v2'] + table()['x']}, "column 'v2': expected slope 0"),
    ({**table(), 'w1': np.zeros(101)}, "column 'w1': all zeros"),
    ({**table(), 'w1': np.full(101, np.nan)}, "column 'w1' has a value that is not finite"),
    ({**table(), 'x': 0.5 * table()['x']}, 'expected x from 0 to the length 2 m'),
    ({**table(), 'x': table()['x'][::-1]}, 'x must increase')])
def test_refusals(tmp_path, columns, words):
    path = write_csv(tmp_path / 'bad.csv', columns)
    with pytest.raises(ShapeError) as error:
        load(path)
    assert words in str(error.value) and 'bad.csv' in str(error.value)
    assert '\n' not in str(error.value)


@pytest.mark.parametrize(('name', 'content', 'words'), [
    ('gone.csv', None, 'cannot be read'), ('empty.csv', b'', 'no rows'),
    ('text.csv', b'x,v\n0,zero\n', 'expected numbers'), ('short.csv', b'x,v\n0\n', 'row 1 has 1'),
    ('binary.csv', b'\xff\xfe\x00', 'expected numbers'), ('broken.npz', b'PK\x03\x04', 'NPZ'),
    ('text.npz', b'x,v', 'expected')])
def test_unreadable_files(tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ShapeError) as error:
        load(tmp_path / name)
    assert words in str(error.value) and '\n' not in str(error.value)
    assert name in str(error.value)


def test_pickled_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / 'o.npz', x=np.array([{}, {}], dtype=object))
    with pytest.raises(ShapeError, match=r'o\.npz'):
        load(tmp_path / 'o.npz')
