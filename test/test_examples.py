"""Every example runs as a script, prints what it promises, and imports the public surface only."""
import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / 'examples'
WORDS = {
    '01_terms': 'left over', '02_gravity_sag': 'sags', '03_frequencies': 'locked',
    '04_linear_model': 'damping ratio 0.01', '05_free_swing': 'total', '06_payload': 'empty again',
    '07_spin_up': 'second: furthest behind -0.57', '08_symbolic_equations': 'non-minimum phase',
    '09_lqr_push': 'for good: largest error', '10_lqg_push': 'estimated push at the end',
    '11_shaped_move': 'shaped: arrives after', '12_planar_biped': 'weight 686.7 N',
    '13_train_reach': 'mm after 25 updates', '14_free_flyer': 'attitude: the base turns by 0.0',
}
PUBLIC = {'flex_description', 'flex_dynamics', 'flex_dynamics.symbolic', 'flex_control',
          'flex_dynamics.papers.biped_gait', 'flex_dynamics.papers.planar_biped',
          'flex_study.environments'}


def test_every_example_is_known_and_listed():
    names = sorted(path.stem for path in FOLDER.glob('*.py'))
    assert list(WORDS) == names
    listed = (FOLDER / 'README.md').read_text()
    assert [name for name in names if f'({name}.py)' not in listed] == []


@pytest.mark.parametrize('name', WORDS)
def test_example(name, capsys):
    runpy.run_path(str(FOLDER / f'{name}.py'), run_name='__main__')
    assert WORDS[name] in capsys.readouterr().out


@pytest.mark.parametrize('name', WORDS)
def test_example_imports_the_public_surface(name):
    tree = ast.parse((FOLDER / f'{name}.py').read_text())
    ours = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            and node.module.startswith('flex_')}
    assert ours <= PUBLIC
