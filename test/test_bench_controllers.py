"""The table of controllers: every installed one is in it or told why not; same arrivals."""
import sys
from pathlib import Path

import numpy as np
import pytest

from flex_control import ControlError, available_controllers, make_controller
from flex_description import load_robot
from flex_dynamics import Model

sys.path.insert(0, str(Path(__file__).resolve().parent / 'bench'))

import any_robot  # noqa: E402
import controllers as table  # noqa: E402
from report import Report  # noqa: E402


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


def test_any_robot_has_twelve_robots_with_overlays_for_those_that_are_not_ours():
    assert len(any_robot.OURS) >= 6 and len(any_robot.PUBLISHED) >= 6
    for case in any_robot.PUBLISHED:
        assert (any_robot.OVERLAYS / case.overlay).is_file()


def test_a_robot_moves_is_pushed_and_loaded_and_a_refusal_is_a_row():
    bench = any_robot.Bench(any_robot.Case('lab_link', 'lab_link', push=0.5, payload=0.05))
    figures = bench.run('pid')
    assert figures.settles and figures.frequency == pytest.approx(1.3, abs=0.1)
    assert figures.held < 0.5 * figures.pushed           # the integral brings it back
    assert '| pid | 1.3 |' in any_robot.row(bench.case, 'pid', figures)
    with pytest.raises(ControlError, match='expected a spring') as refusal:
        bench.run('elastic_joint')
    shown = any_robot.row(bench.case, 'elastic_joint', f'refused: {refusal.value}')
    assert '| refused: elastic_joint: expected a spring' in shown


def test_a_table_that_was_ended_goes_on_behind_its_last_row(tmp_path, monkeypatch, capsys):
    cases = tuple(any_robot.Case(name, name) for name in ('lab_link', 'no such robot'))
    monkeypatch.setattr(any_robot, 'CASES', cases)
    monkeypatch.setattr(any_robot, 'ours', lambda: ['pid', 'elastic_joint'])
    figures = any_robot.Figures(1.3, 0.1, 0.0, 1.0, 0.1, 0.1, 1.0, 0.0)
    ran = []

    def run(bench, name):
        ran.append(name)
        if name == 'elastic_joint' and len(ran) == 2:
            raise KeyboardInterrupt
        return figures

    monkeypatch.setattr(any_robot.Bench, 'run', run)
    with pytest.raises(KeyboardInterrupt):
        any_robot.measure(Report(), tmp_path)
    assert not (tmp_path / 'any_robot.md').exists()
    report = Report()
    any_robot.measure(report, tmp_path)
    assert ran == ['pid', 'elastic_joint', 'elastic_joint']
    rows = (tmp_path / 'any_robot.md').read_text().splitlines()[-3:]
    assert [any_robot.verdict(row) for row in rows] == ['settles', 'settles', 'failed']
    assert [row.what for row in report.missed()] == [
        'robots in the table',
        'of 3 accepted pairs of robot and controller, those that do not settle']


def test_the_trapezoid_has_a_third_of_each():
    first, last = np.zeros(2), np.array([1.0, -0.5])
    move = any_robot.trapezoid(first, last)
    third = any_robot.MOVE / 3.0
    for part, speed in ((0.5, 0.5), (1.5, 1.0), (2.5, 0.5)):
        here = move.sample(any_robot.DEPARTURE + part * third)
        assert np.allclose(here.velocity, speed * last / (2.0 * third))
    assert np.allclose(move.sample(any_robot.ARRIVAL + 1e-9).position, last)
