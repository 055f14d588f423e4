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
"""Planned motions keep to the limits and tell more; sensors are put where they tell most."""
import numpy as np
import pytest
import yaml

from flex_control import MotionLimits
from flex_description import load_robot
from flex_dynamics import Model
from flex_identification import IdentificationError, ParameterSet
from flex_identification.commands import place, plan
from flex_identification.design.excitation import plan_excitation
from flex_identification.design.fourier_motion import FourierMotion
from flex_identification.design.sensor_places import place_sensors

PATHS = ['link1.bending_stiffness_z', 'joint1.damping']


@pytest.fixture(scope='module')
def link():
    return Model(load_robot('lab_link'))


@pytest.fixture(scope='module')
def planned(link):
    return plan_excitation(link, ParameterSet.of(link, PATHS), 2.0, tries=4)


def test_motions_keep_to_the_limits_and_begin_and_end_at_rest():
    model = Model(load_robot('cibicik_arm'))
    limits = MotionLimits.of(model.robot, model.joint_names, 1.0, 3.0)
    random = np.random.default_rng(2)
    for _ in range(5):
        motion = FourierMotion(np.array([0.0, 0.5, 1.0, 0.5]), random.standard_normal((2, 4, 5)),
                               4.0).scaled_to(limits)
        time, q, v, a = motion.points()
        assert (q >= limits.lower).all() and (q <= limits.upper).all()
        assert (np.abs(v) <= limits.velocity).all() and (np.abs(a) <= limits.acceleration).all()
        assert np.abs(q[[0, -1]] - motion.start).max() < 1e-9 and not v[[0, -1]].any()
        assert np.ptp(q, axis=0).min() > 0.01
        assert np.gradient(q, time, axis=0)[5:-5] == pytest.approx(v[5:-5], abs=0.05)


def test_the_plan_is_the_best_that_was_tried_and_the_same_again(link, planned):
    determinants = [np.linalg.slogdet(one.matrix)[1] for one in (planned.told, planned.first_told)]
    assert determinants[0] >= determinants[1]
    assert 0.0 < planned.told.relative_errors()[PATHS[0]] < 0.01
    again = plan_excitation(link, ParameterSet.of(link, PATHS), 2.0, tries=4)
    assert (again.motion.coefficients == planned.motion.coefficients).all()


def test_each_sensor_tells_more_and_the_best_comes_first(link, planned):
    alone, found = place_sensors(link, PATHS, planned.motion, 2, places=3)
    told = [np.linalg.slogdet(one.matrix)[1] for one in (alone, *(one.told for one in found))]
    assert told[0] < told[1] < told[2]
    assert told[1] - told[0] >= told[2] - told[1] - 1e-6


def test_the_commands_write_files_that_are_goals(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert plan.main(['lab_link', '--parameters', *PATHS, '--duration', '1', '--tries', '2']) == 0
    shown = capsys.readouterr()
    assert PATHS[0] in shown.out and 'motion 2 of 2' in shown.err
    goal = yaml.safe_load((tmp_path / 'excitation.goal.yaml').read_text())['trajectory']
    assert goal['joint_names'] == ['joint1'] and len(goal['points']) == 51
    assert goal['points'][-1]['time_from_start'] == {'sec': 1, 'nanosec': 0}
    assert (tmp_path / 'excitation.params.yaml').is_file()
    assert place.main(['lab_link', '--parameters', PATHS[0], '--duration', '1', '--tries', '1',
                       '--count', '1', '--places', '2']) == 0
    assert 'encoders alone' in capsys.readouterr().out


@pytest.mark.parametrize('arguments, reason', [
    (['nowhere.urdf'], 'nowhere'),
    (['lab_link', '--parameters', 'link1.bending'], 'link1.bending'),
    (['lab_link', '--start', '0', '1'], 'expected 1 numbers'),
    (['lab_link', '--start', '1e3'], 'start'),
    (['lab_link', '--duration', 'nan'], 'duration'),
    (['lab_link', '--duration', '-1'], 'duration'),
    (['lab_link', '--tries', '0'], 'tries'),
])
def test_bad_arguments_end_in_a_sentence(arguments, reason, capsys):
    for command in (plan, place):
        assert command.main(arguments) == 1
        shown = capsys.readouterr().err
        assert reason in shown and 'Traceback' not in shown


def test_criteria_that_there_are_not(link):
    with pytest.raises(IdentificationError, match='criterion'):
        plan_excitation(link, ParameterSet.of(link, PATHS), criterion='E')
