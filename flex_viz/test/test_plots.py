"""Pictures: drawn, and different where the robot is."""
import numpy as np
import pytest
from matplotlib.image import imread

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.plots import plot_poses, plot_time


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('lab_link'))


def test_a_bent_robot_looks_bent(arm, tmp_path):
    q = np.zeros(arm.n)
    q[arm.n_joints:] = 0.05
    plot_poses(tmp_path / 'bent.png', arm, [0.0, 1.0], [q, q], 2.0)
    plot_poses(tmp_path / 'straight.png', arm, [0.0, 1.0], [0.0 * q, 0.0 * q], 2.0)
    bent, straight = imread(tmp_path / 'bent.png'), imread(tmp_path / 'straight.png')
    blue = (bent[..., 2] > bent[..., 0] + 0.3).sum()
    assert blue > 200
    assert bent.shape == straight.shape and np.abs(bent - straight).sum() > 500


def test_time_plots_are_drawn(tmp_path):
    time = np.linspace(0.0, 1.0, 50)
    wave = np.sin(time)[:, None] * [1.0, 2.0]
    plot_time(tmp_path / 'deep' / 'run.png', time, wave, wave, time, wave, ['a', 'b'])
    picture = imread(tmp_path / 'deep' / 'run.png')
    assert picture.shape[0] > 500 and picture[..., :3].std() > 0.05
