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
"""Studies without a cluster: what they say, what they refuse, tables, reports, the command."""
import re

import numpy as np
import pytest
import yaml

from flex_dynamics import model_parameters
from flex_study import StudyError, bundled_studies, estimate, read_study, run_batch, run_study
from flex_study.commands.run import main
from flex_study.report import rank_correlation
from flex_study.sampling import read_varied, table_of

GIVEN = {
    'name': 'tiny', 'robot': 'lab_link',
    'vary': {'controller': ['pd', 'pid'],
             'link1.bending_stiffness_z': {'low': 0.8, 'high': 1.2, 'relative': True}},
    'sampling': {'method': 'sobol', 'runs': 3, 'seed': 3},
    'manoeuvre': {'from': [0.0], 'to': [0.5], 'time': 0.2, 'duration': 0.4, 'step': 1e-3,
                  'every': 10, 'tip': 'payload'},
    'outputs': ['vibration', 'first_frequency'], 'batch': 2}
CHEAP = {'name': 'cheap', 'robot': 'lab_link', 'outputs': ['first_frequency'],
         'vary': {'link1.bending_stiffness_z': {'low': 1.0, 'high': 2.0, 'count': 3,
                                                'relative': True}}}


def changed(base=GIVEN, **more):
    return {**base, **more}


def test_included_studies_are_good():
    assert bundled_studies() == ['robustness', 'vibration', 'workspace']
    runs = {name: len(next(iter(read_study(name).table().values())))
            for name in bundled_studies()}
    assert runs == {'robustness': 96, 'vibration': 1000, 'workspace': 625}


@pytest.mark.parametrize('method', ['sobol', 'latin_hypercube', 'random'])
def test_tables_have_their_distributions(method):
    vary = {'link1.bending_stiffness_z': {'low': 1.0, 'high': 3.0},
            'link1.twist_stiffness': {'distribution': 'log_uniform', 'low': 0.1, 'high': 10.0},
            'joint1.damping': {'mean': 5.0, 'deviation': 0.5},
            'link1.damping': {'distribution': 'truncated_normal', 'mean': 0.1, 'deviation': 0.1,
                              'low': 0.0, 'high': 0.15}}
    varied = [read_varied(path, one, method) for path, one in vary.items()]
    table = table_of(varied, method, 512, 1)
    uniform, log, normal, cut = table.values()
    assert uniform.min() >= 1.0 and uniform.max() <= 3.0
    assert uniform.mean() == pytest.approx(2.0, abs=0.05)
    assert np.median(log) == pytest.approx(1.0, rel=0.3)
    assert (normal.mean(), normal.std()) == (pytest.approx(5.0, abs=0.06),
                                             pytest.approx(0.5, abs=0.05))
    assert cut.min() >= 0.0 and cut.max() <= 0.15
    again, other = table_of(varied, method, 512, 1), table_of(varied, method, 512, 2)
    for path in vary:
        assert np.array_equal(again[path], table[path])
        assert not np.array_equal(other[path], table[path])


def test_controllers_meet_the_same_robots_and_a_grid_has_all_corners():
    table = read_study(GIVEN).table()
    assert table['controller'].tolist() == ['pd'] * 3 + ['pid'] * 3
    stiffness = table['link1.bending_stiffness_z']
    assert np.array_equal(stiffness[:3], stiffness[3:])
    grid = read_study(changed(CHEAP, vary={'joint1.friction': [0.0, 1.0, 2.0],
                                           'joint1.damping': {'low': 0.0, 'high': 1.0,
                                                              'count': 2}})).table()
    assert [*zip(*(column.tolist() for column in grid.values()))] == [
        (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]


def test_a_run_is_the_same_in_any_batch():
    study = read_study(GIVEN)
    together = run_batch(study.text, list(range(6)))
    for run in (1, 4):
        alone = run_batch(study.text, [run])
        for name in (*study.outputs, 'reason'):
            assert repr(alone[name][0]) == repr(together[name][run]), name
    # stiffer links vibrate faster
    table = study.table()
    assert rank_correlation(table['link1.bending_stiffness_z'],
                            np.array(together['first_frequency'])) == pytest.approx(1.0)


def test_a_failed_run_is_a_row_with_its_reason(tmp_path):
    given = changed(vary={'link1.mass_per_length': [1e-3, 1e14]}, sampling=None,
                    controller='pd', outputs=['vibration'])
    data = run_study(read_study(given), tmp_path, in_process=True).dataset()
    failed = data['status'].values == 2
    assert failed.any()
    assert all(reason for reason in data['reason'].values[failed])
    assert np.isnan(data['vibration'].values[failed]).all()


@pytest.mark.parametrize('given, message', [
    (changed(robt='x'), "found 'robt'"), (changed(robot='no_robot'), 'robot: '),
    (changed(outputs=['vibrations']), 'outputs: expected names of'),
    (changed(vary={}), 'vary: expected'), (changed(vary=[1]), 'vary: expected'),
    (changed(vary={'link1.bending_stiffness': [1.0]}), 'did you mean'),
    (changed(vary={'link1.damping': [-1.0]}), 'zero or a positive'),
    (changed(vary={'link1.damping': ['a']}), 'expected numbers'),
    (changed(vary={'link1.damping': [float('nan')]}), 'finite'),
    (changed(vary={'link1.damping': {'low': 1.0, 'high': 0.5}}), 'low below high'),
    (changed(vary={'link1.damping': {'lo': 1.0}}), "found 'lo'"),
    (changed(vary={'controller': ['pdd']}), 'controller: expected one of'),
    (changed(vary={'pose.joint9': [0.0]}), 'expected a joint of joint1'),
    (changed(sampling={'method': 'sobols', 'runs': 3}), 'method'),
    (changed(sampling={'method': 'sobol', 'runs': 0}), 'runs'),
    (changed(sampling={'method': 'sobol', 'runs': 10**9}), 'at most'),
    (changed(manoeuvre={'from': [0.0, 1.0], 'to': [0.5]}), 'manoeuvre: from: expected 1 joint'),
    (changed(manoeuvre={**GIVEN['manoeuvre'], 'every': 7}), 'multiple'),
    (changed(manoeuvre={**GIVEN['manoeuvre'], 'tip': 'nose'}), 'tip'),
    (changed(gains={'kp': -1.0}), 'controller: '), (changed(batch=0), 'batch')])
def test_a_bad_study_is_refused(given, message):
    with pytest.raises(StudyError, match=message):
        read_study(given)


def test_the_command_runs_resumes_and_repeats(tmp_path, capsys):
    path = tmp_path / 'a study.yaml'
    path.write_text(yaml.safe_dump(CHEAP))
    output = ['--output', str(tmp_path / 'out')]
    assert main([str(path), '--dry-run']) == 0
    assert '3 runs in 1 batches' in capsys.readouterr().out
    assert main([str(path), '--in-process', *output]) == 0
    assert '3 runs, 0 failed' in capsys.readouterr().out
    page = (tmp_path / 'out' / 'study.html').read_text()
    command = re.search(r'<code>ros2 run flex_study run (.*?) --only 0</code>', page)
    assert command and 'a study.yaml' in command[1]
    assert 'Sensitivities' in page and page.count('data:image/png') >= 1
    assert main([str(path), '--only', '0', *output]) == 0
    assert 'bit for bit' in capsys.readouterr().out
    assert main([str(path), '--in-process', *output]) == 0
    assert '3 of 3 runs are there already' in capsys.readouterr().out
    assert main([str(path), '--only', '3']) == 1
    # another study does not write into these results
    path.write_text(yaml.safe_dump(changed(CHEAP, batch=1)))
    assert main([str(path), '--in-process', *output]) == 1
    assert 'another folder' in capsys.readouterr().err
    assert main([str(tmp_path / 'none.yaml')]) == 1
    assert 'included studies' in capsys.readouterr().err


def test_estimates_follow_the_study():
    small, large = (estimate(read_study(changed(CHEAP, vary={
        'link1.bending_stiffness_z': {'low': 1.0, 'high': 2.0, 'count': count}})))
        for count in (4, 400))
    assert (small.runs, large.runs, large.batches) == (4, 400, 25)
    assert large.seconds > 5.0 * small.seconds and large.size > small.size
    assert large.on(2) == pytest.approx(large.seconds / 2)


def test_relative_values_are_factors_of_what_the_robot_has():
    study = read_study(CHEAP)
    value = model_parameters(study.model())['link1.bending_stiffness_z'].value
    rows = run_batch(study.text, [0, 2])
    plain = read_study(changed(CHEAP, vary={'link1.bending_stiffness_z': [2.0 * value]}))
    assert run_batch(plain.text, [0])['first_frequency'][0] == rows['first_frequency'][1]


def test_the_page_tells_controllers_apart(tmp_path):
    path = tmp_path / 'study.yaml'
    path.write_text(yaml.safe_dump(changed(
        sampling={'method': 'sobol', 'runs': 3, 'seed': 3}, outputs=['vibration'],
        manoeuvre={**GIVEN['manoeuvre'], 'time': 0.05, 'duration': 0.1})))
    assert main([str(path), '--in-process', '--output', str(tmp_path / 'out')]) == 0
    page = (tmp_path / 'out' / 'study.html').read_text()
    for name in ('pd', 'pid'):
        assert re.search(rf'<td>vibration, m</td><td>{name}</td><td>3</td>', page)
