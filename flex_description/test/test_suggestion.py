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
"""Suggestions for misspelt names."""
import pytest

from flex_description.suggestion import misspelt, nearest, suggestion

KNOWN = ['bending_y', 'bending_z', 'twist']


@pytest.mark.parametrize('name, found', [('twits', 'twist'), ('bendingy', 'bending_y'),
                                         ('twist', 'twist'), ('mass', None), ('', None)])
def test_nearest(name, found):
    assert nearest(name, KNOWN) == found
    assert nearest(name, reversed(KNOWN)) == found


def test_nearest_takes_no_time_for_names_that_nobody_typed():
    assert nearest('twist' * 100_000, KNOWN) is None


def test_suggestion_names_one_or_all():
    assert suggestion('twits', KNOWN) == 'did you mean "twist"?'
    assert suggestion('mass', KNOWN) == 'known: bending_y, bending_z, twist'
    assert suggestion('mass', iter(KNOWN)) == 'known: bending_y, bending_z, twist'
    assert suggestion('mass', []) == 'none is known'
    assert suggestion('?', [f'link{k:02d}' for k in range(25)]).endswith('link19 and 5 more')


def test_misspelt_is_stricter_than_nearest():
    assert misspelt('bendnig_y', KNOWN) == 'bending_y'
    assert misspelt('bend_y', ['bending_y']) is None
    assert nearest('bend_y', ['bending_y']) == 'bending_y'
