"""The report of a run: figures that can be told by hand."""
import numpy as np
import pytest

from flex_bringup.report import Run, pictures, table
from flex_description import load_robot
from flex_dynamics import Model


@pytest.fixture(scope='module')
def run():
    model = Model(load_robot('cibicik_arm'))
    time = np.linspace(0.0, 2.0, 21)
    q = np.zeros((21, model.n))
    q[:, 1] = np.linspace(0.0, 0.5, 21)
    q[10, list(model.names).index('link3/bend_y/1')] = 0.02
    efforts = np.zeros((21, 4))
    efforts[3, 2] = -123.4
    return Run(model, 'tool', time, q, np.zeros_like(q), efforts, 2.0 * efforts,
               np.full((21, 4), 0.5), wall_time=4.0)


def test_deflection_is_that_of_the_bent_link(run):
    deflection = run.deflection()
    assert np.flatnonzero(deflection).tolist() == [10]
    # unit end displacement of the first craig-bampton shape, and link 4 goes along
    assert 0.019 < deflection[10] < 0.03


def test_the_table_says_what_happened(run):
    text = table(run, run.deflection())
    row = next(line for line in text.splitlines() if line.startswith('joint2'))
    assert row.split() == ['joint2', '0.000', '28.648', '28.648', '0.000', '0.0']
    assert '246.8' in next(line for line in text.splitlines() if line.startswith('joint3'))
    assert '0.50 times real time' in text and 'at 1.000 s' in text


def test_pictures_are_written(run, tmp_path):
    files = pictures(run, run.deflection(), tmp_path, 4.0, (0.0, 1.0, 9.0))
    assert all(path.stat().st_size > 5000 for path in files)
