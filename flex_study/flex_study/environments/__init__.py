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
"""`gymnasium` environments of flexible robots: reach, hold against pushes, track a line.

    import gymnasium
    env = gymnasium.make('flex_study.environments:flex/Reach-v0', robot='lab_link')
    envs = gymnasium.make_vec('flex_study.environments:flex/Reach-v0', num_envs=64)

`Fleet` and the tasks need no gymnasium; the environments do, and say so where it is missing.
"""
from __future__ import annotations

from typing import Any

from flex_study.environments.fleet import Fleet, FleetStep, SensorNoise
from flex_study.environments.tasks import Hold, Reach, Task, Track
from flex_study.errors import StudyError

__all__ = ['Fleet', 'FleetStep', 'Hold', 'Reach', 'RobotEnv', 'RobotVectorEnv', 'SensorNoise',
           'Task', 'Track', 'create', 'create_vector']
INSTALL = 'python3 bare/setup.py study, or pip install flex_study[gymnasium], installs it'
TASKS = {'flex/Reach-v0': 'reach', 'flex/Hold-v0': 'hold', 'flex/Track-v0': 'track'}


def create(**given: Any) -> Any:
    """A RobotEnv: the entry point of the registered environments."""
    return _environments().RobotEnv(**given)


def create_vector(**given: Any) -> Any:
    """A RobotVectorEnv: the same for `gymnasium.make_vec`."""
    return _environments().RobotVectorEnv(**given)


def _environments() -> Any:
    """The module that needs gymnasium; StudyError that says how to get it."""
    from importlib import import_module
    try:
        import_module('gymnasium')
    except ImportError as error:
        raise StudyError(f'an environment needs the Python module gymnasium: {error}; '
                         f'{INSTALL}') from None
    return import_module('flex_study.environments.robot_env')


def __getattr__(name: str) -> Any:
    if name in ('RobotEnv', 'RobotVectorEnv'):
        return getattr(_environments(), name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def _register() -> None:
    try:
        import gymnasium
    except ImportError:      # Fleet works without it, and RobotEnv says what is missing
        return
    for name, task in TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name, entry_point='flex_study.environments:create', kwargs={'task': task},
                vector_entry_point='flex_study.environments:create_vector',
                order_enforce=True, disable_env_checker=False)


_register()
