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
"""Recordings: every format gives the same run, and every kind of bad data one clear error."""
from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from scipy.io import savemat

from flex_description import load_robot
from flex_dynamics import Model
from flex_identification import (
    IdentificationError,
    Recording,
    read_recording,
    refuse_implausible,
)
from flex_identification.commands.inspect import main

TIME = 0.002 * np.arange(400)
RUN = {'time': TIME, 'position/joint1': 0.3 * np.sin(5.0 * TIME),
       'velocity/joint1': 1.5 * np.cos(5.0 * TIME), 'effort/joint1': np.cos(7.0 * TIME),
       'strain/link1/gauge1': 1e-4 * np.sin(9.0 * TIME)}


@pytest.fixture(scope='module')
def lab_link():
    return Model(load_robot('lab_link'))


def write_csv(path, columns, cells=None):
    lines = [','.join(columns)]
    lines += [','.join(repr(float(value)) for value in row)
              for row in zip(*columns.values(), strict=True)]
    for line, cell in (cells or {}).items():
        lines[line] = cell
    path.write_text('\n'.join(lines))
    return path


def write_bag(path, storage, reset=False):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore
    store = get_typestore(Stores.ROS2_JAZZY)
    kind = 'sensor_msgs/msg/JointState'
    state, header, stamp = (store.types[name] for name in (
        kind, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'))
    with Writer(path, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        connection = writer.add_connection('/arm/joint_states', kind, typestore=store)
        for k, time in enumerate(TIME):
            time += 100.0 if not (reset and k > 200) else 0.0
            ns = round(time * 1e9)
            message = state(header(stamp(ns // 10**9, ns % 10**9), ''), ['joint1'],
                            *(np.array([RUN[f'{what}/joint1'][k]])
                              for what in ('position', 'velocity', 'effort')))
            writer.write(connection, 10**9 + 2_000_000 * k, store.serialize_cdr(message, kind))
    return path


@pytest.mark.parametrize('kind', ['csv', 'npz', 'mat', 'MCAP', 'SQLITE3'])
def test_every_format_gives_the_same_run(tmp_path, kind):
    mapping = None
    if kind == 'csv':
        path = write_csv(tmp_path / 'run.csv', RUN)
    elif kind == 'npz':
        path = tmp_path / 'run.npz'
        np.savez(path, **RUN)
    elif kind == 'mat':
        path = tmp_path / 'run.mat'
        savemat(path, {'stamp': 1e3 * TIME, 'q': np.degrees(RUN['position/joint1']),
                       'tau': np.stack((RUN['effort/joint1'], TIME), 1), 'rate': 500.0})
        mapping = {'time': {'column': 'stamp', 'unit': 'ms'}, 'channels': {
            'position/joint1': {'column': 'q', 'unit': 'deg'}, 'effort/joint1': 'tau/0'}}
    else:
        path = write_bag(tmp_path / 'run', kind)
    run = read_recording(path, mapping)
    assert run.warnings == ()
    np.testing.assert_allclose(run.time, TIME, atol=1e-9)
    for name, values in run.channels.items():
        np.testing.assert_allclose(values, RUN[name], atol=1e-12)
    assert {'position/joint1', 'effort/joint1'} <= set(run.channels)


def changed(**columns):
    return {**RUN, **{name.replace('__', '/'): values for name, values in columns.items()}}


def npz(path, **columns):
    np.savez(path, **columns)
    return path


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])
    return path


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def sparse(path, size):
    path.touch()
    os.truncate(path, size)
    return path


def cut_bag(path):
    write_bag(path, 'SQLITE3')
    cut(next(path.glob('*.db3')), 5000)
    return path


def folder(path):
    path.mkdir()
    return path


Q, TAU = {'position/joint1': 'q'}, {'position/joint1': 'q', 'effort/joint1': 'tau'}
# name: (how the file is written, mapping, what the error says)
BAD = {
    'no file': (lambda p: p / 'run.csv', None, 'found nothing there'),
    'other suffix': (lambda p: written(p / 'run.xlsx', 'x'), None, r'found \.xlsx'),
    'empty file': (lambda p: written(p / 'run.csv', ''), None, 'found an empty file'),
    'names only': (lambda p: written(p / 'run.csv', 'time,q\n'), None, 'found 1 line$'),
    'huge file': (lambda p: sparse(p / 'run.csv', 10**10), None, 'at most 500 MB'),
    'text cell': (lambda p: write_csv(p / 'run.csv', RUN, {7: '0.1,off,1,1,1'}), None,
                  "'off' in line 7 of the numbers, column 'position/joint1'"),
    'short line': (lambda p: write_csv(p / 'run.csv', RUN, {9: '0.1,2'}), None,
                   'expected 5 cells in each line, found 2 in line 9'),
    'no names': (lambda p: written(p / 'run.csv', '1,2\n3,4\n'), None, 'found numbers'),
    'name twice': (lambda p: written(p / 'run.csv', 't,q,q\n3,4,5\n'), None, "'q' 2 times"),
    'not UTF-8': (lambda p: written(p / 'run.csv', b'\xff\xfe\x81\n1'), None, 'found other bytes'),
    'pickled objects': (lambda p: npz(p / 'run.npz', time=np.array([{}], dtype=object)), None,
                        'pickled objects, which can run programs'),
    'pickle as NPZ': (lambda p: written(p / 'run.npz', pickle.dumps([1])), None,
                      'expected NPZ, found'),
    'truncated NPZ': (lambda p: cut(npz(p / 'run.npz', **RUN), 3000), None, 'expected NPZ, found'),
    'complex numbers': (lambda p: npz(p / 'run.npz', **changed(effort__joint1=1j * TIME)), None,
                        'expected real numbers, found complex128'),
    'three dimensions': (lambda p: npz(p / 'run.npz', **changed(effort__joint1=np.ones(
        (400, 2, 2)))), None, 'a column or a table'),
    'other lengths': (lambda p: npz(p / 'run.npz', **changed(effort__joint1=TIME[:-3])), None,
                      'columns of one length, found time 400'),
    'not MAT': (lambda p: written(p / 'run.mat', 'x' * 400), None, 'expected MAT, found'),
    'MAT 7.3': (lambda p: written(p / 'run.mat', b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM'
                                  + 400 * b'\0'), None, 'up to version 7, found 7.3'),
    'empty folder': (lambda p: folder(p / 'run'), None, 'a folder without metadata.yaml'),
    'truncated bag': (lambda p: cut_bag(p / 'run'), None, 'expected a rosbag2 folder or file'),
    'no bag': (lambda p: written(p / 'run.mcap', 'x' * 99), None,
               'expected a rosbag2 folder or file'),
    'bag with a reset': (lambda p: write_bag(p / 'run', 'MCAP', reset=True), None,
                         'go back by 100 s after sample 201'),
    'no such topic': (lambda p: write_bag(p / 'run', 'MCAP'), {'topics': {'state': '/j'}},
                      'expected the topic /j, found /arm/joint_states'),
    'no such part of topics': (lambda p: write_bag(p / 'run', 'MCAP'),
                               {'topics': {'gauge': '/arm/joint_states'}}, "found 'gauge'"),
    'no such column': (lambda p: write_csv(p / 'run.csv', RUN), {'channels': Q},
                       "position/joint1: expected a column 'q'"),
    'no stamps': (lambda p: npz(p / 'run.npz', q=TIME), {'channels': Q}, 'a column of stamps'),
    'no channels': (lambda p: npz(p / 'run.npz', t=TIME, q=TIME), None,
                    'columns named as channels'),
    'unknown kind': (lambda p: write_csv(p / 'run.csv', RUN), {'channels': {'angle/joint1': 'q'}},
                     "found the kind 'angle'"),
    'no axis': (lambda p: write_csv(p / 'run.csv', RUN), {'channels': {'gyro/imu': 'q'}},
                'expected an axis'),
    'unknown unit': (lambda p: write_csv(p / 'run.csv', RUN),
                     {'channels': {'position/joint1': {'column': 'q', 'unit': 'turns'}}},
                     "a unit of rad, deg, m, mm, found 'turns'"),
    'unknown key': (lambda p: write_csv(p / 'run.csv', RUN), {'chanels': Q},
                    "found 'chanels'; did you mean"),
    'mapping of text': (lambda p: write_csv(p / 'run.csv', RUN), {'channels': 'q'},
                        'names with a value each'),
    'factor of text': (lambda p: write_csv(p / 'run.csv', RUN),
                       {'channels': {'position/joint1': {'column': 'q', 'factor': 'big'}}},
                       "factor: expected a number, found 'big'"),
    'few samples': (lambda p: npz(p / 'run.npz', **{k: v[:9] for k, v in RUN.items()}), None,
                    'expected at least 20 samples with a stamp, found 9'),
    'clock set back': (lambda p: npz(p / 'run.npz', **changed(time=np.where(
        TIME > 0.5, TIME - 0.4, TIME))), None, 'go back by'),
    'stamps in ns': (lambda p: npz(p / 'run.npz', **changed(time=1.7e18 + 1e9 * TIME)), None,
                     'looks like ms or ns'),
    'stamps in ms': (lambda p: npz(p / 'run.npz', **changed(time=2e3 * TIME)), None,
                     'are the stamps in s'),
    'one stamp': (lambda p: npz(p / 'run.npz', **changed(time=0.0 * TIME)), None,
                  'the same in all samples'),
    'infinite': (lambda p: npz(p / 'run.npz', **changed(effort__joint1=np.where(
        np.arange(400) == 5, np.inf, TIME))), None, 'effort/joint1: .* found inf in sample 6'),
    'NaN only': (lambda p: npz(p / 'run.npz', **changed(velocity__joint1=np.nan * TIME)), None,
                 'velocity/joint1: expected readings, found none'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_file_gives_one_clear_error(tmp_path, name):
    write, mapping, says = BAD[name]
    with pytest.raises(IdentificationError, match=says) as found:
        read_recording(write(tmp_path), mapping)
    assert 'expected' in str(found.value) and '\n' not in str(found.value)


# name: (channels that differ, what the error says)
IMPLAUSIBLE = {
    'degrees': ({'position/joint1': np.degrees(RUN['position/joint1'])}, r'\(unit: deg\)'),
    'beyond the limits': ({'position/joint1': 1e4 * TIME}, 'limits of the joint'),
    'microstrain': ({'strain/link1/gauge1': 1e6 * RUN['strain/link1/gauge1']}, 'microstrain'),
    'velocity in deg/s': ({'velocity/joint1': np.degrees(RUN['velocity/joint1'])}, 'in deg/s'),
    'velocity of other sign': ({'velocity/joint1': -RUN['velocity/joint1']}, 'turned round'),
    'unknown joint': ({'position/joint11': TIME}, "found 'joint11'; did you mean"),
    'unknown gauge': ({'strain/link1/gauge9': TIME}, 'gauge1, link1/gauge2'),
    'nothing moves': ({name: 0.0 * TIME for name in RUN if name != 'time'}, 'do not change'),
    'no effort': ({'effort/joint1': None}, 'effort or command of every joint'),
    'no position': ({'position/joint1': None}, 'position of every joint'),
}


@pytest.mark.parametrize('name', IMPLAUSIBLE)
def test_recording_of_another_robot_or_unit_is_refused(lab_link, name):
    other, says = IMPLAUSIBLE[name]
    channels = {key: values for key, values in {**RUN, **other}.items()
                if key != 'time' and values is not None}
    with pytest.raises(IdentificationError, match=says):
        refuse_implausible(Recording('run', TIME, channels), lab_link)


def test_only_gaps_are_refused(lab_link):
    time = np.concatenate([1.0 * k + 0.002 * np.arange(15) for k in range(20)])
    channels = {name: np.sin(time) for name in ('position/joint1', 'effort/joint1')}
    with pytest.raises(IdentificationError, match='without a gap'):
        refuse_implausible(Recording('run', time, channels), lab_link)


# name: (columns that differ, warning, number of samples left)
MENDED = {
    'unordered': (lambda c: {k: np.concatenate((v[:50], v[[52, 51, 50]], v[53:]))
                             for k, v in c.items()}, 'out of order, sorted', 400),
    'duplicate stamps': (lambda c: {k: np.insert(v, 80, v[80]) for k, v in c.items()},
                         '1 samples with the stamp of another', 400),
    'dropped': (lambda c: {k: np.delete(v, [30, 70]) for k, v in c.items()},
                'about 2 single samples dropped', 398),
    'gap': (lambda c: {k: np.delete(v, range(100, 200)) for k, v in c.items()}, '1 gap', 300),
    'missing readings': (lambda c: {**c, 'velocity/joint1': np.where(TIME < 0.1, np.nan, TIME)},
                         'readings missing', 400),
    'no stamp': (lambda c: {**c, 'time': np.where(np.arange(400) == 9, np.nan, TIME)},
                 'without a stamp', 399),
    'saturation': (lambda c: {**c, 'strain/link1/gauge1': np.clip(
        c['strain/link1/gauge1'], -8e-5, 8e-5)}, 'saturation', 400),
    'stuck sensor': (lambda c: {**c, 'strain/link1/gauge1': 0.0 * TIME + 3e-5},
                     'all readings are 3e-05', 400),
}


@pytest.mark.parametrize('name', MENDED)
def test_what_can_be_mended_is_named(tmp_path, name):
    change, says, samples = MENDED[name]
    run = read_recording(npz(tmp_path / 'run.npz', **change(dict(RUN))))
    assert len(run.time) == samples
    assert [one for one in run.warnings if says in one]
    assert len(run.segments()) == (2 if name == 'gap' else 1)
    if name == 'saturation':
        assert np.nanmax(run.channels['strain/link1/gauge1']) < 8e-5


def test_smooth_readings_at_rest_are_not_saturated(tmp_path):
    quantised = 1e-3 * np.round(1e3 * RUN['position/joint1'])
    run = read_recording(npz(tmp_path / 'run.npz', **changed(position__joint1=quantised)))
    assert run.warnings == ()


def test_channels_of_other_rates_keep_their_stamps():
    from flex_identification.data.streams import Stream, merged
    slow = Stream('gauges', np.arange(0.0, 0.79, 0.0101), {'strain/link1/gauge1': np.arange(79.0)})
    held = Stream('commands', np.array([0.0, 0.3]), {'command/joint1': np.array([1.0, 2.0])})
    run = merged('run', [Stream('states', TIME, {'position/joint1': TIME}), slow, held], {}, [])
    strain = run.channels['strain/link1/gauge1']
    there = np.isfinite(strain)
    assert there.sum() == 79 and np.abs(run.offsets['strain/link1/gauge1']).max() <= 0.001 + 1e-12
    np.testing.assert_allclose((run.time + run.offsets['strain/link1/gauge1'])[there], slow.time)
    np.testing.assert_allclose(run.channels['command/joint1'], np.where(TIME < 0.3, 1.0, 2.0))


def test_inspect_prints_channels_and_says_what_is_wrong(tmp_path, capsys):
    path = str(write_csv(tmp_path / 'run.csv', RUN))
    assert main([path, 'lab_link']) == 0
    out = capsys.readouterr().out
    assert '400 samples, 0.798 s' in out and 'strain/link1/gauge1' in out
    assert main([path + 'x']) == 1
    assert capsys.readouterr().err.startswith('inspect: ')
    assert main([path, 'no_such_robot']) == 1
