"""Frames and outlines: where the model says, deflection included."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_viz.frames import Frames, Point, read_point
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


def test_asked_for_points_are_on_the_bent_beam(arm, bent):
    frames = Frames(arm, [read_point('link2@0.5'), read_point('elbow = link3@ 1.8')])
    found = {t.child: t for t in frames.moving(bent)}
    assert found['link2@0.5'].parent == 'link2' and found['elbow'].parent == 'link3'
    for name, link, x in (('link2@0.5', 'link2', 0.5), ('elbow', 'link3', 1.8)):
        assert np.allclose(arm.pose(bent, link) @ found[name].pose, arm.pose(bent, link, x),
                           atol=1e-12)


@pytest.mark.parametrize('text, said', [
    ('link2', 'LINK@X'), ('link2@', 'LINK@X'), ('a=b=link2@1', 'LINK@X'), ('link2@e', 'LINK@X'),
    ('link2@9', '0 to 2 m'), ('link9@1', 'unknown frame'), ('link1@0.1', 'not on a flexible'),
    ('tool=link2@1', 'a name of its own')])
def test_bad_points_are_refused_in_a_sentence(arm, text, said):
    with pytest.raises(DynamicsError, match=said):
        Frames(arm, [read_point(text)])


def test_points_of_one_name_are_refused(arm):
    with pytest.raises(DynamicsError, match='a name of its own'):
        Frames(arm, [Point('a', 'link2', 0.5), Point('a', 'link3', 0.5)])


@pytest.mark.parametrize('order', ['linear', 'first', 'second'])
def test_a_tree_of_flexible_links_in_every_order(order):
    model = Model(load_robot('flexible_tree'), order)
    q = 0.1 * np.random.default_rng(3).standard_normal(model.n)
    for t in Frames(model).moving(q):
        assert np.allclose(model.pose(q, t.parent) @ t.pose, model.pose(q, t.child), atol=1e-12)


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
