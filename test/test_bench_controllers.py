"""The table of controllers: every installed one is in it or told why not; same arrivals."""
import sys
from pathlib import Path

import numpy as np
import pytest

from flex_control import ControlError, available_controllers, make_controller
from flex_description import load_robot
from flex_dynamics import Model

sys.path.insert(0, str(Path(__file__).resolve().parent / 'bench'))

import controllers as table  # noqa: E402


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def test_every_installed_controller_is_in_the_table_or_not_for_this_arm(arm):
    shown = {entry.controller for entry in table.MOVING}
    ours = {name for name in available_controllers()
            if type(make_controller_or_none(name, arm)).__module__.startswith('flex_control.')}
    assert ours <= shown
    with pytest.raises(ControlError, match='expected a spring'):
        make_controller('elastic_joint', arm)


def make_controller_or_none(name, model):
    try:
        return make_controller(name, model)
    except ControlError:
        return None


@pytest.mark.parametrize('shaper', ['', 'zv', 'zvd', 'zvdd', 'ei'])
def test_all_motions_arrive_at_the_same_time(arm, shaper):
    moves = table.manoeuvre(arm, table.Entry('any', 'pd', shaper=shaper), ())
    for at, departure in enumerate(table.DEPARTURES):
        assert moves.parts[at].end == pytest.approx(departure + table.MOVE, abs=1e-3)
        here = moves.sample(departure + table.MOVE + 5e-3)
        assert np.allclose(here.position, table.POSES[at + 1]) and not here.velocity.any()


def test_a_failed_trial_is_a_row_with_the_reason(capsys):
    def fails():
        raise ControlError('no spring')

    lines = []
    assert table._tried('load', table.Entry('pd', 'pd'), fails, lines) is None
    assert lines == ['| pd | failed: no spring |'] and 'no spring' in capsys.readouterr().out
