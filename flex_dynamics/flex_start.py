"""Where the nodes begin: a signal while they load, which takes seconds, ends them without a word.

A module beside the packages: any module inside one would load the package, numba and all, first.
"""
import os
import signal
from importlib import import_module


def start(module: str) -> None:
    """Call `main` of a module that takes long to import."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    import_module(module).main()


def simulator() -> None:
    start('flex_dynamics.nodes.simulator')


def dynamics() -> None:
    start('flex_dynamics.nodes.dynamics')
