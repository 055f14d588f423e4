"""Tubes: closed surfaces around the beam's axis, of the right size."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.tubes import CORNERS, STATIONS, Tube


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def test_the_surface_is_closed_and_its_volume_that_of_the_link(arm):
    tube = Tube(arm, 'link2')
    edges = [tuple(sorted(pair)) for a, b, c in tube.faces for pair in ((a, b), (b, c), (c, a))]
    assert all(edges.count(edge) == 2 for edge in set(edges))
    points = tube.vertices(np.zeros(arm.n))
    corners = points[tube.faces]
    volume = np.einsum('fi,fi->f', corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    length = np.ptp(points @ arm.pose(np.zeros(arm.n), 'link2')[:3, 0])
    assert length == pytest.approx(2.0)
    assert volume > 0.0      # faces look outwards


def test_the_tube_follows_the_bent_axis(arm):
    q = arm.statics([0.3, 0.8, 1.0, 0.5])[0]
    rings = Tube(arm, 'link3').vertices(q).reshape(STATIONS, CORNERS, 3)
    for at, x in ((0, 0.0), (STATIONS // 2, 0.9), (STATIONS - 1, 1.8)):
        assert np.allclose(rings[at].mean(axis=0), arm.pose(q, 'link3', x)[:3, 3], atol=1e-9)
