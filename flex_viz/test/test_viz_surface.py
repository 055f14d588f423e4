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
"""What `from flex_viz import ...` offers: documented, typed, without ROS and viser."""
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import flex_viz
from flex_viz.geometry import bent_robot, outline

HEAVY = ('matplotlib', 'rosbags', 'PIL')
NEVER = ('rclpy', 'viser', 'launch')
CODE = """
import sys
import flex_viz
print(*(name for name in {heavy} + {never} if name in sys.modules))
for name in flex_viz.__all__:
    getattr(flex_viz, name)
print(*(name for name in {never} if name in sys.modules))
"""


def test_the_import_is_light_and_free_of_ros_and_viser():
    done = subprocess.run([sys.executable, '-c', CODE.format(heavy=HEAVY, never=NEVER)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == '\n\n'


@pytest.mark.parametrize('name', flex_viz.__all__)
def test_every_public_name_is_documented_and_typed(name):
    thing = getattr(flex_viz, name)
    assert thing.__name__ == name and inspect.getdoc(thing)
    calls = [thing] if inspect.isfunction(thing) else [
        member for key, member in vars(thing).items()
        if inspect.isfunction(member) and not key.startswith('_')]
    for call in calls:
        signature = inspect.signature(call)
        assert inspect.getdoc(call), call
        assert signature.return_annotation is not inspect.Signature.empty, call
        assert all(parameter.annotation is not inspect.Parameter.empty
                   for key, parameter in signature.parameters.items() if key != 'self'), call


def test_the_surface_is_what_dir_shows():
    assert dir(flex_viz) == sorted(flex_viz.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = flex_viz.nothing
    assert (Path(flex_viz.__file__).parent / 'py.typed').is_file()


@pytest.mark.parametrize('module', [bent_robot, outline], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_run(module):
    result = doctest.testmod(module)
    assert result.failed == 0 and result.attempted > 3
