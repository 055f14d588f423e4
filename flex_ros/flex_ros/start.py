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
"""Starts a node: a signal while its modules load, which takes seconds, ends the process quietly.

An entry point of a package names the module of a node:

    simulator = flex_ros.start:main_of.flex_dynamics.nodes.simulator
"""
import os
import signal
from importlib import import_module


class _MainOf:
    """The `main` of the module whose path the attributes spell; called, it imports the module."""

    def __init__(self, module: str = '') -> None:
        self._module = module

    def __getattr__(self, name: str) -> '_MainOf':
        if name.startswith('__'):
            raise AttributeError(name)
        return _MainOf(f'{self._module}.{name}'.lstrip('.'))

    def __call__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(0))
        # A process that started itself again (transport.py) has held them back until now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
        import_module(self._module).main()


main_of = _MainOf()
