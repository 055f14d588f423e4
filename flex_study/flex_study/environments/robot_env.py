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
"""One robot, or many at once, as gymnasium has them."""
from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from flex_dynamics import Model
from flex_study.environments.fleet import REACHED, Fleet, checked_fleet
from flex_study.environments.tasks import Array, Task
from flex_study.errors import StudyError

Info = dict[str, Any]
Results = tuple[Array, Array, Array, Array, Info]


def _spaces(fleet: Fleet) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    joints = fleet.model.n_joints
    return (gymnasium.spaces.Box(-np.inf, np.inf, (len(fleet.names),), np.float64),
            gymnasium.spaces.Box(-1.0, 1.0, (joints,), np.float32))


class RobotEnv(gymnasium.Env[Array, Array]):
    """One flexible robot with a task: see `Fleet` for actions, observations and rewards.

    Parameters are those of Fleet but `count`. An episode ends (truncated) after the task's time,
    or (terminated) when the simulation diverges. info: tip_error (m), is_success (within 10 mm).
    """

    metadata: Info = {'render_modes': []}      # noqa: RUF012  (as gymnasium declares it)

    def __init__(self, robot: str | Model = 'cibicik_arm', task: Task | str = 'reach',
                 render_mode: str | None = None, **given: Any) -> None:
        if render_mode is not None:
            raise StudyError(f'render_mode: expected none, found {render_mode!r}; flex_viz draws '
                             'states')
        self.fleet = checked_fleet(robot, task, 1, **given)
        self.observation_space, self.action_space = _spaces(self.fleet)
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Begin an episode."""
        super().reset(seed=seed)
        return self.fleet.reset([0], [self.np_random])[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, Info]:
        """One period under an action (n_joints,)."""
        done = self.fleet.step(np.asarray(action)[None])
        error = float(done.errors[0])
        return (done.observations[0], float(done.rewards[0]), bool(done.failed[0]),
                bool(done.over[0]), {'tip_error': error, 'is_success': error < REACHED})


class RobotVectorEnv(VectorEnv[Array, Array, Array]):
    """Many robots that move on in the threads of `simulate_many`.

    Robot k with seed s is, bit for bit, RobotEnv with the seed s + k. A robot whose episode has
    ended is reset by the next step, which ignores its action (AutoresetMode.NEXT_STEP).
    """

    metadata: Info = {'render_modes': [],     # noqa: RUF012  (as gymnasium declares it)
                      'autoreset_mode': AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int = 1, robot: str | Model = 'cibicik_arm',
                 task: Task | str = 'reach', render_mode: str | None = None,
                 **given: Any) -> None:
        if render_mode is not None:
            raise StudyError(f'render_mode: expected none, found {render_mode!r}; flex_viz draws '
                             'states')
        if not num_envs >= 1:
            raise StudyError(f'num_envs: expected one at least, found {num_envs}')
        self.fleet, self.num_envs = checked_fleet(robot, task, num_envs, **given), num_envs
        self.single_observation_space, self.single_action_space = _spaces(self.fleet)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = render_mode
        self._generators = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._ended = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: Info | None = None) -> tuple[Array, Info]:
        """Begin episodes of all robots, or of those in options['reset_mask']; one seed for all
        means seed + k for robot k."""
        given = ([None if seed is None else seed + k for k in range(self.num_envs)]
                 if seed is None or isinstance(seed, int) else list(seed))
        if len(given) != self.num_envs:
            raise StudyError(f'seed: expected {self.num_envs} seeds, found {len(given)}')
        mask = np.ones(self.num_envs, dtype=bool)
        if options is not None and 'reset_mask' in options:
            mask = np.asarray(options['reset_mask'], dtype=bool)
        for k, one in enumerate(given):
            if one is not None and mask[k]:
                self._generators[k] = seeding.np_random(one)[0]
        rows = np.flatnonzero(mask).tolist()
        begun = self.fleet.reset(rows, [self._generators[k] for k in rows])
        self._ended[mask] = False
        if len(rows) == self.num_envs:
            return begun, {}
        observations = np.array([self.fleet.observe(k) for k in range(self.num_envs)])
        observations[rows] = begun
        return observations, {}

    def step(self, actions: Array) -> Results:
        """One period of all robots under actions (num_envs, n_joints)."""
        begin = np.flatnonzero(self._ended).tolist()
        given = np.array(actions, dtype=float)
        if given.shape == self.action_space.shape:
            given[begin] = 0.0
        done = self.fleet.step(given, begin)
        observations, rewards = done.observations, done.rewards
        failed, over, errors = done.failed, done.over, done.errors
        if begin:
            observations[begin] = self.fleet.reset(begin, [self._generators[k] for k in begin])
            rewards[begin], failed[begin], over[begin] = 0.0, False, False
        self._ended = failed | over
        return observations, rewards, failed, over, {
            'tip_error': errors, '_tip_error': np.ones(self.num_envs, dtype=bool),
            'is_success': errors < REACHED, '_is_success': np.ones(self.num_envs, dtype=bool)}
