"""Every example runs as its module and prints what it promises."""
import pkgutil
import runpy

import pytest

from flex_control import examples

WORDS = {'lqg_push': 'estimated push at the end', 'lqr_push': 'for good: largest error',
         'shaped_move': 'shaped: arrives after'}


def test_every_example_is_known():
    assert sorted(WORDS) == sorted(m.name for m in pkgutil.iter_modules(examples.__path__))


@pytest.mark.parametrize('name', WORDS)
def test_example(name, capsys):
    runpy.run_module(f'flex_control.examples.{name}', run_name='__main__')
    assert WORDS[name] in capsys.readouterr().out
