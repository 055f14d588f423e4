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
"""The stamp of a compiled kernel covers all that is compiled into it, and nothing else."""
from __future__ import annotations

import importlib
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from numba.core.dispatcher import Dispatcher

from flex_dynamics.kernels import cache

FOLDER = Path(cache.__file__).resolve().parent
MODULES = ['.'.join(('flex_dynamics', 'kernels', *path.relative_to(FOLDER).with_suffix('').parts))
           for path in sorted(FOLDER.rglob('*.py')) if path.name != '__init__.py']


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(part) for part in code.co_consts
                                      if isinstance(part, CodeType)))


def _called(function: FunctionType, seen: set[FunctionType]) -> None:
    """Add to `seen` what the compiled function calls: found by its globals, not its imports."""
    if function in seen:
        return
    seen.add(function)
    for name in _names(function.__code__):
        found = function.__globals__.get(name)
        if isinstance(found, Dispatcher):
            _called(found.py_func, seen)


@pytest.mark.parametrize('name', MODULES)
def test_stamp_covers_every_function_that_is_called(name: str) -> None:
    module = importlib.import_module(name)
    seen: set[FunctionType] = set()
    for thing in vars(module).values():
        if isinstance(thing, Dispatcher):
            _called(thing.py_func, seen)
    called = {Path(function.__code__.co_filename).resolve() for function in seen}
    assert {path for path in called if FOLDER in path.parents} <= cache.compiled_files(
        Path(module.__file__))


def test_a_change_compiles_only_what_contains_it(tmp_path: Path) -> None:
    kinematics = FOLDER / 'tree' / 'kinematics.py'
    files = cache.compiled_files(kinematics)
    assert FOLDER / 'base' / 'layout.py' in files and FOLDER / 'inner.py' in files
    assert FOLDER / 'derivatives' / 'state_derivatives.py' not in files
    assert FOLDER / 'tree' / 'kinematics.py' in cache.compiled_files(
        FOLDER / 'stepping' / 'implicit_midpoint.py')

    first, second = tmp_path / 'a.py', tmp_path / 'b.py'
    first.write_text('from flex_dynamics.kernels.tree import (\n    kinematics)\n')
    second.write_text('    from flex_dynamics.kernels.tree.kinematics import kinematics\n')
    assert kinematics in cache.compiled_files(first) & cache.compiled_files(second)
