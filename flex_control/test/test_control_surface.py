"""The public surface of the package, its documentation and its folders."""
import ast
import doctest
import inspect
import warnings
from pathlib import Path

import pytest

import flex_control

SOURCES = Path(flex_control.__file__).parent
# A folder imports those before it in this list, never those after it.
FOLDERS = ['errors', 'incremental', 'kernels', 'trajectories', 'design', 'shaping', 'reference',
           'estimators', 'controllers', 'loop', 'trial', 'warm_up', '__init__', 'nodes',
           'examples']
PUBLIC = [getattr(flex_control, name) for name in flex_control.__all__]


def folder(path):
    return path.relative_to(SOURCES).parts[0].removesuffix('.py')


def imported(path):
    """(module of this package, name) of every import."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.split('.')[0] == 'flex_control':
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, '') for alias in node.names
                        if alias.name.split('.')[0] == 'flex_control')


@pytest.mark.parametrize('path', sorted(SOURCES.rglob('*.py')),
                         ids=lambda path: str(path.relative_to(SOURCES)))
def test_imports_point_one_way(path):
    for module, name in imported(path):
        parts = module.split('.')
        target = parts[1] if len(parts) > 1 else '__init__'
        assert FOLDERS.index(target) <= FOLDERS.index(folder(path)), f'{module} in {path.name}'
        private = [part for part in (*parts, name) if part.startswith('_')]
        assert not private, f'{module}.{name} in {path.name}'


def test_folders_are_small():
    for one in {path.parent for path in SOURCES.rglob('*.py')}:
        assert len(list(one.glob('*.py'))) <= 15, one


@pytest.mark.parametrize('one', PUBLIC, ids=flex_control.__all__)
def test_everything_public_is_documented(one):
    assert len(inspect.getdoc(one) or '') > 20
    if inspect.isclass(one):
        for name, member in vars(one).items():
            if inspect.isfunction(member) and not name.startswith('_'):
                assert inspect.getdoc(getattr(one, name)), f'{one.__name__}.{name}'


@pytest.mark.parametrize('name', ['make_controller', 'ControlLoop', 'Shaper', 'MinimumJerk',
                                  'QuinticSpline', 'Splines', 'FlexibleStateFilter'])
def test_examples_in_docstrings_run(name):
    found, = doctest.DocTestFinder(recurse=False).find(getattr(flex_control, name), name, globs={})
    result = doctest.DocTestRunner().run(found)
    assert result.attempted and not result.failed


def test_old_names_warn_and_work():
    with pytest.warns(DeprecationWarning, match='flex_control.MotionLimits'):
        assert flex_control.Limits is flex_control.MotionLimits
    with pytest.warns(DeprecationWarning, match='flex_control.CartesianLine'):
        from flex_control.trajectories import CartesianLine
    assert CartesianLine is flex_control.CartesianLine
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert not hasattr(flex_control, 'NoSuchName')
