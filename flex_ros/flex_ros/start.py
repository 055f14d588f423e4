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
