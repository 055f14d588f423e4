"""Places in installed packages."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix, get_package_share_directory
from launch.core import LaunchContext, Substitution, describe, perform, refuser

__getattr__ = refuser(__name__)


class FindPackageShare(Substitution):
    """The share directory of a package."""

    def __init__(self, package: Any) -> None:
        self.package = package

    def perform(self, context: LaunchContext) -> str:
        return get_package_share_directory(perform(context, self.package))

    def describe(self) -> str:
        return f'FindPackageShare(pkg={describe(self.package)})'


class ExecutableInPackage(Substitution):
    """The path of a program that a package installs to its lib directory."""

    def __init__(self, executable: Any, package: Any) -> None:
        self.executable, self.package = executable, package

    def perform(self, context: LaunchContext) -> str:
        package, name = perform(context, self.package), perform(context, self.executable)
        folder = Path(get_package_prefix(package), 'lib', package)
        if not os.access(folder / name, os.X_OK):
            there = sorted(path.name for path in folder.glob('*'))
            raise LookupError(f"executable '{name}' not found in package '{package}'; it has "
                              f'{there or "none"}')
        return str(folder / name)
