"""A researcher's notebook: the libraries by pip, in a venv that knows nothing of ROS."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ['flex_description', 'flex_dynamics', 'flex_control']
CODE = """
import importlib.util
import flex_description
import flex_dynamics
import flex_control

for module in (flex_description, flex_dynamics, flex_control):
    assert 'site-packages' in module.__file__, module.__file__
assert importlib.util.find_spec('rclpy') is None

robot = flex_description.load_robot('cibicik_arm')
model = flex_dynamics.Model(robot)
print(model.n)
"""


def test_libraries_install_and_import_without_ros(tmp_path):
    env = {name: value for name, value in os.environ.items()
           if name not in ('PYTHONPATH', 'VIRTUAL_ENV', 'LD_LIBRARY_PATH',
                           '_ROS_WHEELS_BOOTSTRAP_COMPLETE')}
    subprocess.run([sys.executable, '-m', 'venv', str(tmp_path / 'venv')], check=True, env=env)
    python = str(tmp_path / 'venv' / 'bin' / 'python')
    pip = [python, '-m', 'pip', 'install', '--quiet', '--no-compile',
           '--disable-pip-version-check']
    # Pip builds in the folder that it is given; the checkout is to stay clean.
    junk = shutil.ignore_patterns('*.egg-info', '__pycache__')
    for name in LIBRARIES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=junk)
    done = subprocess.run([*pip, *(f'./{name}' for name in LIBRARIES)], env=env,
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    away = tmp_path / 'away'
    away.mkdir()
    done = subprocess.run([python, '-c', CODE], env=env, cwd=away, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 4
