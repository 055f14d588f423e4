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
"""The public surface: what is promised is there, documented and typed."""
import importlib
import inspect
from importlib import resources

import pytest

MODULES = ['flex_description', 'flex_description.math', 'flex_description.shapes',
           'flex_description.commands', 'flex_description.lumping']
# Aliases of types have the docstring of the type.
ALIASES = {'Array', 'ArrayLike', 'Quaternion'}


@pytest.mark.parametrize('name', MODULES)
def test_every_public_function_and_class_is_documented(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__, key=lambda item: (
        not item.isupper(), not item[0].isupper(), item))
    for item in set(module.__all__) - ALIASES:
        value = getattr(module, item)
        if inspect.isfunction(value) or inspect.isclass(value):
            assert value.__doc__ and len(value.__doc__) > 20, f'{name}.{item}'
            assert value.__doc__ != getattr(value.__mro__[1] if inspect.isclass(value) else None,
                                            '__doc__', None)


def test_type_checkers_of_other_projects_see_the_types():
    assert (resources.files('flex_description') / 'py.typed').is_file()
