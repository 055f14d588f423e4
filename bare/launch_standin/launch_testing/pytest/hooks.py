"""A file whose `generate_test_description` has `@pytest.mark.launch_test` is one launch test."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launch_testing.runner import run_launch_test


class LaunchTestFailure(Exception):
    """Some of a launch test's cases failed."""


class LaunchTestItem(pytest.Item):
    """All cases of one launch test."""

    def __init__(self, *, module: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.module = module

    def runtest(self) -> None:
        failures = run_launch_test(self.module)
        if failures:
            raise LaunchTestFailure('\n\n'.join(failures))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if isinstance(excinfo.value, LaunchTestFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f'launch tests: {self.name}'


class LaunchTestModule(pytest.Module):
    """A file that is a launch test."""

    def collect(self) -> Iterator[Any]:
        yield LaunchTestItem.from_parent(self, name=self.path.stem, module=self.obj)


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> Any:
    if 'def generate_test_description' not in module_path.read_text(encoding='utf-8'):
        return None
    found = LaunchTestModule.from_parent(parent, path=module_path)
    marks = getattr(getattr(found.obj, 'generate_test_description', None), 'pytestmark', [])
    return found if any(mark.name == 'launch_test' for mark in marks) else None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line('markers', 'launch_test: the function describes a launch to test')
