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
"""The command `identify`: its files, its refusals, and that a robot is found again."""
import json

import numpy as np
import pytest
import yaml

from flex_description import load_robot
from flex_dynamics import Model, Sensors, model_parameters
from flex_identification import IdentificationError, Inputs, Recording, identify, simulated
from flex_identification.commands.identify import main
from flex_identification.fit.settings import read_settings

STEP = 0.005
TIME = 0.01 * np.arange(250)
PATHS = ['link1.bending_stiffness_z', 'joint1.damping']
WRONG = {'identified': {'link1': {'bending_stiffness_z': 7.5}, 'joint1': {'damping': 0.05}}}


@pytest.fixture(scope='module')
def columns():
    """What is measured on lab_link: efforts known, an encoder and a gauge."""
    model, rng = Model(load_robot('lab_link')), np.random.default_rng(3)
    effort = (0.4 * np.sin(3.0 * TIME) + 0.4 * np.sin(14.0 * TIME))[:, None]
    rest = model.statics(np.zeros(1))[0]
    states = simulated(model, Inputs(TIME, effort), rest, 0.0 * rest, STEP)
    row = Sensors(model).strain_matrix()[0]
    return {'time': TIME, 'command/joint1': effort[:, 0],
            'position/joint1': 1e-4 * np.round(states[:, 0] / 1e-4),
            'strain/link1/gauge1': states[:, :model.n] @ row + 2e-6 * rng.normal(size=len(TIME))}


@pytest.fixture(scope='module')
def files(tmp_path_factory, columns):
    """The folder of a fit by the command, with a run whose name is not a nice one."""
    folder = tmp_path_factory.mktemp('fit')
    np.savez(folder / '<b>run&.npz', **columns)
    (folder / 'wrong.yaml').write_text(yaml.safe_dump(WRONG))
    (folder / 'settings.yaml').write_text(f'step: {STEP}\nwithhold: 0\n')
    assert main([str(folder / '<b>run&.npz'), 'lab_link', '--overlay', str(folder / 'wrong.yaml'),
                 '--settings', str(folder / 'settings.yaml'), '--parameters', *PATHS,
                 '-o', str(folder / 'out'), '--quiet']) == 0
    return folder


def test_the_robot_is_found_again(files):
    found = json.loads((files / 'out.json').read_text())
    truth = model_parameters(Model(load_robot('lab_link')))
    assert found['converged'] and found['warnings'] == []
    for path in PATHS:
        one = found['parameters'][path]
        assert abs(one['value'] - truth[path].value) < 4.0 * one['standard_error']
        assert one['standard_error'] < 0.05 * truth[path].value
        assert one['interval_95'][0] < one['value'] < one['interval_95'][1]


def test_the_overlay_is_what_load_robot_takes(files):
    found = json.loads((files / 'out.json').read_text())['parameters']
    known = model_parameters(Model(load_robot('lab_link', files / 'out.yaml')))
    for path in PATHS:
        assert known[path].value == pytest.approx(found[path]['value'], rel=1e-9)


def test_strings_from_files_are_escaped(files):
    page = (files / 'out.html').read_text()
    assert '<b>run' not in page and '&lt;b&gt;run&amp;' in page
    assert page.count('data:image/png') == 2


def test_files_are_not_overwritten(files, capsys):
    run = str(files / '<b>run&.npz')
    assert main([run, 'lab_link', '-o', str(files / 'out')]) == 1
    assert '--force' in capsys.readouterr().err


def run_of(columns, **changed):
    channels = {name: values for name, values in columns.items() if name != 'time'}
    channels.update({name.replace('__', '/'): values for name, values in changed.items()})
    return Recording('run', TIME, channels)


def test_what_does_not_show_is_refused(columns):
    model = Model(load_robot('lab_link'))
    with pytest.raises(IdentificationError, match='tell none'):
        identify(model, [run_of(columns)], ['link1.twist_stiffness'], step=STEP)


@pytest.mark.parametrize(('content', 'message'), [
    ({'parametrs': []}, 'did you mean'), ({'parameters': 'a'}, 'expected a list of paths'),
    ({'priors': {'a': 3}}, 'expected names with a value'),
    ({'priors': {'a': {'mean': 1}}}, 'expected mean and deviation'),
    ({'priors': {'a': {'mean': 1, 'deviation': -1}}}, 'expected a deviation above 0'),
    ({'bounds': {'a': 3}}, 'expected .least, most.'), ({'bounds': {'a': [3, 1]}}, 'the least'),
    ({'step': 'x'}, 'expected a number'), ({'step': 3}, 'expected 1e-6 to 0.1'),
    ({'effort': 'first'}, 'expected linear, next, previous'), ([], 'expected names'),
])
def test_bad_settings_are_refused(content, message):
    with pytest.raises(IdentificationError, match=message):
        read_settings(content)


@pytest.mark.parametrize(('arguments', 'message'), [
    (['none.npz', 'lab_link'], 'nothing there'),
    (['run.npz', 'no_such_robot'], 'no_such_robot'),
    (['run.npz', 'cylinder_crane'], 'expected one'),
    (['run.npz', 'lab_link', '--parameters', 'link1.stifness'], 'expected a path'),
    (['run.npz', 'lab_link', '-o', 'no/such/folder/out'], 'expected a folder'),
    (['still.npz', 'lab_link'], 'expected a robot that moves'),
    (['degrees.npz', 'lab_link'], 'degrees'),
    (['other.npz', 'lab_link'], 'position/joint7'),
    (['no_effort.npz', 'lab_link'], 'effort or command'),
])
def test_bad_input_gives_one_error(tmp_path, monkeypatch, capsys, columns, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name, changed in {
            'run': {}, 'still': {name: 0.0 * TIME for name in columns if name != 'time'},
            'degrees': {'position/joint1': 200.0 * np.sin(TIME)},
            'other': {'position/joint7': TIME}}.items():
        np.savez(tmp_path / f'{name}.npz', **{**columns, **changed})
    np.savez(tmp_path / 'no_effort.npz', **{name: values for name, values in columns.items()
                                            if name != 'command/joint1'})
    assert main([*arguments, '--quiet']) == 1
    printed = capsys.readouterr().err.strip()
    assert message in printed and printed.startswith('identify: ') and '\n' not in printed
    assert not list(tmp_path.glob('identified.*'))
