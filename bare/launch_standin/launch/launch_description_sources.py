"""Where launch descriptions come from."""
from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from launch.core import LaunchContext, LaunchDescription, perform, refuser

__getattr__ = refuser(__name__)


class PythonLaunchDescriptionSource:
    """A Python file with a function `generate_launch_description`."""

    def __init__(self, launch_file_path: Any) -> None:
        self.launch_file_path = launch_file_path

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        path = Path(perform(context, self.launch_file_path))
        if not path.is_file():
            raise FileNotFoundError(f'no launch file {path}')
        spec = importlib.util.spec_from_file_location('launch_file', path)
        if spec is None or spec.loader is None:
            raise ValueError(f'{path} is not a Python file')
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if not hasattr(module, 'generate_launch_description'):
            raise ValueError(f'{path} has no function generate_launch_description')
        return module.generate_launch_description()
