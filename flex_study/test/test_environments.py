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
"""Environments of gymnasium: what its checker asks, and that many robots are as one alone."""
import sys
import warnings

import numpy as np
import pytest

from flex_study import StudyError
from flex_study.environments import Fleet, Hold, Reach, Track, create

gymnasium = pytest.importorskip('gymnasium')
ID = 'flex_study.environments:flex/{}-v0'


@pytest.mark.parametrize('task', ['Reach', 'Hold', 'Track'])
def test_gymnasium_accepts_it(task):
    from gymnasium.utils.env_checker import check_env
    env = gymnasium.make(ID.format(task), robot='lab_link', period=0.01)
    with warnings.catch_warnings():
        warnings.filterwarnings('error')
        warnings.filterwarnings('ignore', message='.*infinity.*')    # readings have no bounds
        check_env(env.unwrapped)


def test_robots_of_a_vector_are_bit_for_bit_those_alone():
    given = {'robot': 'lab_link', 'task': Hold(0.06), 'step': 2e-3}
    many = gymnasium.make_vec(ID.format('Hold'), num_envs=3, threads=2, **given)
    alone = [gymnasium.make(ID.format('Hold'), **given) for _ in range(3)]
    seen = many.reset(seed=5)[0]
    assert np.array_equal(seen, [env.reset(seed=5 + k)[0] for k, env in enumerate(alone)])
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (9, 3, 1)).astype(np.float32)
    ended, episodes = [False] * 3, 0
    for action in actions:
        seen, rewards, _, over, info = many.step(action)
        assert info['tip_error'].shape == (3,)
        for k, env in enumerate(alone):
            if ended[k]:
                one, reward, ended[k] = env.reset()[0], 0.0, False
            else:
                one, reward, _, ended[k], _ = env.step(action[k])
            assert np.array_equal(one, seen[k]) and reward == rewards[k] and over[k] == ended[k]
            episodes += ended[k]
    assert episodes == 6


def test_observations_are_readings_of_sensors():
    fleet = Fleet('cibicik_arm', 'reach', 1, start=[0.0, 0.5, 1.0, 0.5])
    seen = fleet.reset([0], [np.random.default_rng(3)])[0]
    assert len(seen) == len(fleet.names)
    # at rest accelerometers read gravity, and gauges what the weight bends
    gravity = [value for name, value in zip(fleet.names, seen) if 'acceleration' in name]
    assert np.linalg.norm(gravity) == pytest.approx(9.81, abs=0.5)
    assert max(abs(value) for name, value in zip(fleet.names, seen) if 'strain' in name) > 0.01
    still = fleet.step(np.zeros((1, 4)))
    tip = fleet.model.pose(fleet.q[0], fleet.tip)[:3, 3]
    assert not still.failed[0]
    assert still.errors[0] == pytest.approx(np.linalg.norm(tip - seen[-6:-3]), abs=1e-12)


def test_goals_move_along_a_line():
    fleet = Fleet('lab_link', Track(0.4, time=0.3), 1)
    episode = fleet.task.episode(fleet, np.random.default_rng(1))
    half, speed = episode.goal(0.15)
    assert half == pytest.approx((episode.start + episode.end) / 2)
    assert speed == pytest.approx(1.875 / 0.3 * (episode.end - episode.start))
    assert np.array_equal(episode.goal(0.3)[0], episode.end)


def test_bad_input_is_refused():
    fleet = Fleet('lab_link', 'reach', 2)
    for call, message in (
            (lambda: Fleet('lab_link', 'jump', 1), 'reach, hold, track'),
            (lambda: Fleet('lab_link', 'reach', 1, period=0.0015), 'multiple of the step'),
            (lambda: Reach(-1.0), 'seconds'),
            (lambda: fleet.step([[0.0]]), r'shape \(1, 1\)'),
            (lambda: fleet.step([[0.0], [np.nan]]), 'NaN'),
            (lambda: gymnasium.make_vec(ID.format('Reach'), num_envs=2,
                                        robot='lab_link').reset(seed=[1]), '2 seeds'),
            (lambda: create(robot='lab_link', render_mode='human'), 'render_mode')):
        with pytest.raises(StudyError, match=message):
            call()


def test_without_gymnasium_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, 'gymnasium', None)
    with pytest.raises(StudyError, match=r'bare/setup.py study'):
        create(robot='lab_link')
