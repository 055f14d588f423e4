"""The libraries work without ROS: no module outside `nodes/` and `ros/` imports any of it."""
import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ['flex_description', 'flex_dynamics', 'flex_control', 'flex_viz',
             'flex_identification', 'flex_study']
ROS = ('rclpy', 'rosidl', 'ament', 'launch', 'rcl_interfaces', 'builtin_interfaces', 'tf2',
       'std_srvs', 'simulation_interfaces')


def is_ros(module):
    return module.startswith(ROS) or module.split('.')[0].endswith('_msgs')


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


@pytest.mark.parametrize('name', LIBRARIES)
def test_sources(name):
    sources = [path for path in (ROOT / name / name).rglob('*.py')
               if not {'nodes', 'ros'} & set(path.parts)]
    assert sources
    found = [f'{path.relative_to(ROOT)}: {module}' for path in sources for module in imports(path)
             if is_ros(module)]
    assert found == []


@pytest.mark.parametrize('name', LIBRARIES)
def test_import_where_ros_cannot_be_imported(name):
    """Nothing comes in by way of another module either."""
    code = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('rclpy', 'launch') or name.split('.')[0].endswith('_msgs'):
            raise ImportError('ROS is not here: ' + name)
sys.meta_path.insert(0, Refuse())
import {name}
"""
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
