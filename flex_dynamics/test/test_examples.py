"""Every example runs as its module and prints what it promises."""
from __future__ import annotations

import pkgutil
import runpy

import pytest

from flex_dynamics import examples

NAMES = sorted(module.name for module in pkgutil.iter_modules(examples.__path__))
WORDS = {'free_swing': 'total', 'frequencies': 'locked', 'gravity_sag': 'sags',
         'linear_model': 'damping ratio 0.01', 'payload': 'empty again',
         'spin_up': 'second: furthest behind -0.57', 'symbolic_equations': 'non-minimum phase',
         'terms': 'left over'}


def test_every_example_is_known():
    assert list(WORDS) == NAMES


@pytest.mark.parametrize('name', NAMES)
def test_runs(name, capsys):
    runpy.run_module(f'flex_dynamics.examples.{name}', run_name='__main__')
    assert WORDS[name] in capsys.readouterr().out
