"""The benchmark's own parts, where no other program is needed: they must follow the kernels."""
import sys
from pathlib import Path

import numpy as np
import pytest

from flex_dynamics import Model

sys.path.insert(0, str(Path(__file__).resolve().parent / 'bench'))

from growth import chain  # noqa: E402
from manoeuvre import SAMPLE, TIMES, phases, sampled, tip_error  # noqa: E402
from report import Report, Row  # noqa: E402
from stages import FORWARD, TERMS, forward_stages, terms_stages  # noqa: E402
from timing import interleaved, shortest  # noqa: E402


def test_chain_has_a_joint_and_five_shapes_a_link():
    model = Model(chain(3))
    assert model.n == 3 * (1 + 5)
    assert model.n_joints == 3


def test_profiles_name_every_stage():
    model = Model(chain(2))
    still = np.zeros(model.n)
    text = forward_stages(model, still, still, np.zeros(2))
    assert all(stage in text for stage in FORWARD)
    text = terms_stages(model, still, still)
    assert all(stage in text for stage in TERMS)


def test_longer_calls_take_longer():
    calls = {'short': lambda: sum(range(100)), 'long': lambda: sum(range(10_000))}
    for times in (interleaved(calls, rounds=5), shortest(calls, rounds=5)):
        assert times['long'] > 5 * times['short']


def test_tip_error_of_a_shifted_path():
    times = np.linspace(0.0, 6.0, 5000)
    path = np.stack([np.sin(times), np.cos(times), times], axis=1)
    largest, rms = tip_error(sampled(times, path) + [0.0, 3e-3, 4e-3], sampled(times, path))
    assert largest == pytest.approx(5e-3)
    assert rms == pytest.approx(5e-3)


def test_phases_fill_the_six_seconds_in_whole_samples():
    durations = [duration for duration, _ in phases()]
    assert sum(durations) == pytest.approx(TIMES[-1]) == 6.0
    assert all(duration / SAMPLE == pytest.approx(round(duration / SAMPLE))
               for duration in durations)


def test_report_shows_what_was_missed(capsys):
    report = Report()
    report.add('speed', Row('a ratio', '12', 'at most 10', False))
    report.add('speed', Row('a time', '3 us'))
    report.note('first\nsecond')
    assert '| a ratio | 12 | at most 10 | **no** |' in report.markdown()
    assert [row.what for row in report.missed()] == ['a ratio']
    assert 'target at most 10' in capsys.readouterr().out
