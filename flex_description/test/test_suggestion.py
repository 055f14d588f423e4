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
