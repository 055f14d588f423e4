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
"""The public surface of the package, documented, and the old names of it."""
import doctest
import inspect
import warnings

import pytest

import flex_control

PUBLIC = [getattr(flex_control, name) for name in flex_control.__all__]


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
