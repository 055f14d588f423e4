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
"""Files that are none, too large, bombs, or in another encoding: one line, soon."""
import io
import os
import resource
import zipfile

import numpy as np
import pytest
from bad_robots import GOOD

from flex_description import RobotError, load_robot

MODES = '<modes basis="craig-bampton" bending_y="2" bending_z="2" twist="1"/>'
TABLED = GOOD.replace(MODES, '<modes basis="file" file="{}" bending_y="1"/>')
ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'


def refusal(*arguments):
    with pytest.raises(RobotError) as caught:
        load_robot(*arguments)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 1500
    return message


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / 'pipe.csv'
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(('path', 'words'), [
    ('/dev/zero', 'found a device'), ('/dev/null', 'found a device'), ('/', 'found a directory'),
    ('/proc/self/mem', 'found'), ('/no/such.urdf', 'found no such file'), ('a\0b/c', 'found')])
def test_description_that_is_no_file(path, words):
    assert words in refusal(path)
    assert words in refusal(GOOD, path)     # as an overlay
    assert words in refusal(TABLED.format(path).replace('\0', ''))   # as a table of mode shapes


def test_pipe(fifo):
    for arguments in ((fifo,), (GOOD, fifo), (TABLED.format(fifo),)):
        assert 'found a pipe (FIFO)' in refusal(*arguments)


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-32-be'])
@pytest.mark.parametrize('declared', [True, False])
def test_other_encodings_do_not_pass_the_entity_filter(tmp_path, encoding, declared):
    text = f'<?xml version="1.0" encoding="{encoding[:6]}"?>' if declared else ''
    text += ENTITIES + GOOD.split('?>\n')[1].replace('name="arm"', 'name="&b;"')
    path = tmp_path / 'arm.urdf'
    path.write_bytes(text.encode(encoding))
    message = refusal(path)
    assert 'save it as UTF-8' in message and 'UTF-' in message
    include = ('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
               '<xacro:include filename="arm.urdf"/></robot>')
    main = tmp_path / 'main.xacro'
    main.write_text(include)
    assert 'save it as UTF-8' in refusal(main)
    main.write_bytes(include.replace('<robot', ENTITIES + '<robot').encode(encoding))
    assert 'save it as UTF-8' in refusal(main)


def test_declared_encoding_of_a_text_does_not_count():
    text = '<?xml version="1.0" encoding="utf-7"?>' + ENTITIES + '<robot name="&b;"/>'
    assert 'document type definition' in refusal(text)


def test_huge_description(tmp_path):
    path = tmp_path / 'arm.urdf'
    with path.open('wb') as file:
        file.truncate(20 * 2**30)   # sparse: no disk is filled
    assert 'found more than 16 MB' in refusal(path)
    assert 'found more than 0.25 MB' in refusal(GOOD, path)
    assert 'found more than 64 MB' in refusal(TABLED.format(path))
    assert 'at most 16 MB' in refusal('<robot>' + ' ' * 17 * 2**20 + '</robot>')
    assert 'at most 50000 elements' in refusal('<robot>' + '<a/>' * 60_000 + '</robot>')


@pytest.mark.parametrize(('text', 'words'), [
    ('<a>' * 20_000, '100 deep'), ('<robot name="r">' + '<a>' * 20_000, '100 deep')])
def test_nested_elements(text, words):
    assert words in refusal(text)


@pytest.mark.parametrize('text', ['[' * 20_000, '{a: ' * 20_000, '- ' * 20_000, '? ' * 20_000])
def test_nested_overlay(tmp_path, text):
    path = tmp_path / 'overlay.yaml'
    path.write_text(text)
    assert 'at most 100 levels' in refusal(GOOD, path)


def test_nested_mapping():
    mapping = inner = {}
    for _ in range(20_000):
        inner['a'] = inner = {}
    assert 'overlay: expected' in refusal(GOOD, mapping)
    mapping['a'] = mapping
    assert 'overlay: expected' in refusal(GOOD, mapping)


@pytest.mark.parametrize(('formula', 'words'), [
    ('(' * 20_000 + 'x', 'at most 500 characters'), ('(' * 400 + 'x', 'nested deeper'),
    ('x^2;' * 5_000, '0 to 20'), ('-' * 499 + 'x', 'nested deeper')])
def test_nested_formula(formula, words):
    assert words in refusal(GOOD.replace(
        MODES, f'<modes basis="expression" expression_y="{formula}"/>'))


def npz(path, **members):
    """An archive of members that are bytes."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f'{name}.npy', data)
    return path


def header(shape, kind='<f8'):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {'descr': kind, 'fortran_order': False,
                                               'shape': shape})
    return out.getvalue()


def test_archive_that_unpacks_to_gigabytes(tmp_path):
    path = tmp_path / 'modes.npz'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name in 'abcdefgh':
            with archive.open(f'{name}.npy', 'w', force_zip64=True) as member:
                for _ in range(32):
                    member.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert 'at most 64 MB unpacked, found 256 MB' in refusal(TABLED.format(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    # sizes that are lies do not help either
    data = bytearray(path.read_bytes())
    for place in range(len(data) - 46):
        if data[place:place + 4] == b'PK\x01\x02':
            data[place + 24:place + 28] = (8).to_bytes(4, 'little')
    path.write_bytes(data)
    assert 'modes.npz: expected' in refusal(TABLED.format(path))


@pytest.mark.parametrize('shape', [(10**12,), (10**9,), (2**62, 4), (-5,), (3, 0), (2**70,)])
def test_array_that_claims_another_size(tmp_path, shape):
    path = npz(tmp_path / 'modes.npz', x=header(shape) + bytes(80))
    assert 'modes.npz' in refusal(TABLED.format(path))


@pytest.mark.parametrize('kind', ['?', 'c16', 'S8', 'U8', 'M8[s]'])
def test_array_of_other_than_real_numbers(tmp_path, kind):
    x = np.linspace(0.0, 1.5, 31)
    path = tmp_path / 'modes.npz'
    np.savez(path, x=x, v=(x**2).astype(kind))
    assert 'expected real numbers, found' in refusal(TABLED.format(path))


@pytest.mark.parametrize(('text', 'words'), [
    ('x,v', 'found 0'), ('x,v\n', 'too coarse: expected at least 12 stations, found 0'),
    ('x\n', 'too coarse'), ('x,v\n0,0\n', 'found 1'), ('x,x\n', 'two columns have the same name'),
    ('x,v\n0,' + '1' * 200_000, 'field larger than field limit'),
    ('x,v\n' + '0,true\n' * 20, 'row 1: expected a number, found "true"'),
    ('x,v\n' + '0,0\n' * 11_000, 'at most 10000 lines'), ('x' + ',a' * 300, 'at most 200 columns'),
    ('x,v\n' + '\n'.join(f'{k},1e31' for k in range(20)), 'above 1e+30')])
def test_table(tmp_path, text, words):
    path = tmp_path / 'modes.csv'
    path.write_text(text)
    message = refusal(TABLED.format(path))
    assert words in message and '<modes>' in message and 'modes.csv' in message
    assert message.startswith('<string>:')


def test_yes_is_no_number():
    for value in (True, np.True_, [True], {'xyz': [True, False, True]}, [True, 0, 0], [[0], 0, 0]):
        assert 'gravity' in refusal(GOOD, {'gravity': value})
