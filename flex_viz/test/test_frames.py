"""Frames and outlines: where the model says, deflection included."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.frames import Frames
from flex_viz.outline import outline


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def bent(arm):
    return arm.statics([0.3, 0.5, 1.0, 0.5])[0]


def test_the_transforms_lead_to_every_link_and_tip(arm, bent):
    frames = Frames(arm)
    edges = {t.child: t for t in (*frames.fixed(), *frames.moving(bent))}
    names = {link.name for link in arm.robot.links} | {'link2/tip', 'link3/tip'}
    assert set(edges) == names - {'base'}
    for name in edges:
        pose, at = np.eye(4), name
        while at != 'base':
            pose, at = edges[at].pose @ pose, edges[at].parent
        assert np.allclose(pose, arm.pose(bent, name), atol=1e-12), name


def test_only_what_never_moves_is_static(arm):
    assert [(t.parent, t.child) for t in Frames(arm).fixed()] == [('link4', 'tool')]


def test_a_tip_frame_sags_in_its_link(arm, bent):
    tip = next(t for t in Frames(arm).moving(bent) if t.child == 'link2/tip')
    assert 1e-3 < np.linalg.norm(tip.pose[1:3, 3]) < 0.1


def test_outlines_meet_at_the_joints_and_grow_with_exaggeration(arm, bent):
    lines = outline(arm, bent)
    assert np.allclose(lines['link2'][0], arm.pose(bent, 'link2')[:3, 3])
    assert np.allclose(lines['link2'][-1], lines['link3'][0])
    straight = outline(arm, bent, 0.0)['link2']
    chord = straight[-1] - straight[0]
    assert np.allclose(np.cross(straight - straight[0], chord), 0.0, atol=1e-12)
    sag = [np.linalg.norm(outline(arm, bent, factor)['link2'][-1] - straight[-1])
           for factor in (1.0, 2.0)]
    assert sag[0] > 1e-3 and sag[1] == pytest.approx(2.0 * sag[0], rel=0.02)
