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
"""The page in headless Chromium: the beam's pixels are where the model says, modes swing."""
import threading
import time

import numpy as np
import pytest
import viser
from chromium import Page

from flex_description import load_robot
from flex_description.visuals.shapes import solid
from flex_dynamics import DynamicsError, Model
from flex_viz.browser.goals import point_to_point, read_goals
from flex_viz.browser.history import History
from flex_viz.browser.moment import Moment
from flex_viz.browser.pacing import Pacing
from flex_viz.browser.panel import Panel
from flex_viz.browser.scene import Scene
from flex_viz.geometry.coordinates import scaled
from flex_viz.geometry.modes import natural_modes
from flex_viz.geometry.wrench_arrows import AppliedWrench, arrow

FACTOR = 6.0
PATIENCE = 300.0      # s; Chromium draws without a graphics card, perhaps on a busy machine
SIZE = (900, 480)
CANVAS = """(() => {
    const found = document.querySelector('canvas');
    if (!found) return null;
    const box = found.getBoundingClientRect();
    return [box.x, box.y, box.width, box.height];
})()"""
MESHED = """<robot name="meshed"><link name="base"><visual><geometry>
    <mesh filename="gone.stl"/></geometry></visual></link>
    <link name="arm"><visual><geometry><box size="1 0.1 0.1"/></geometry>
    <material name="m"><color rgba="1 0 0 1"/></material></visual><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
    </robot>"""


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


@pytest.fixture(scope='module')
def bent(arm):
    return arm.statics([0.3, 0.9, 1.2, 0.6])[0]


def project(camera, box, points):
    """Pixels (k, 2) of points (k, 3) m in the canvas `box` (x, y, width, height)."""
    position = np.asarray(camera.position)
    ahead = np.asarray(camera.look_at) - position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, np.asarray(camera.up_direction))
    right /= np.linalg.norm(right)
    seen = (points - position) @ np.column_stack((right, -np.cross(right, ahead), ahead))
    x, y, width, height = box
    scale = height / 2.0 / np.tan(camera.fov / 2.0)
    return np.column_stack((x + width / 2.0 + scale * seen[:, 0] / seen[:, 2],
                            y + height / 2.0 + scale * seen[:, 1] / seen[:, 2]))


def blue(picture, pixels, radius):
    """Whether a blue pixel is within `radius` of each of the pixels (k, 2)."""
    red, _, deep = np.moveaxis(picture.astype(int), 2, 0)
    return near(deep > red + 40, pixels, radius)


def magenta(picture):
    """Where (height, width) a picture has the colour of forces."""
    red, green, deep = np.moveaxis(picture.astype(int), 2, 0)
    return (red > green + 60) & (deep > green + 40)


def draw(page, panel, wall, q, pushes=()):
    """Show a state when the browser has drawn the one before."""
    page.until(panel.pacing.ready, 'the answer of the browser', PATIENCE)
    panel.show(wall, Moment(wall, q, np.zeros(4)), pushes)


def near(where, pixels, radius):
    found = np.argwhere(where)[:, ::-1]
    return np.array([np.linalg.norm(found - pixel, axis=1).min(initial=np.inf) <= radius
                     for pixel in pixels])


def test_the_beams_pixels_are_where_the_model_says(arm, bent, tmp_path):
    server = viser.ViserServer(host='127.0.0.1', port=8391, verbose=False)
    page = Page(tmp_path, *SIZE)
    try:
        scene = Scene(server, arm)
        panel = Panel(server, scene)
        picture = panel.picture      # options as a user sets them
        picture.colour.value, picture.factor.value = 'one colour', FACTOR
        picture.automatic.value = picture.ghost.value = picture.path.value = False
        draw(page, panel, 0.0, bent)
        page.open(f'http://127.0.0.1:{server.get_port()}')
        page.until(lambda: 'simulated time 0.00 s' in page.text(), 'the figures', PATIENCE)
        page.until(lambda: f'drawn {FACTOR:g} times as large' in page.text(), 'the factor')
        client = page.until(lambda: list(server.get_clients().values()), 'the camera', PATIENCE)[0]
        page.dismiss_notices()
        drawn, straight = (scaled(arm, bent, factor) for factor in (FACTOR, 0.0))
        places = [('link2', x) for x in (0.5, 1.0, 1.7)] + [('link3', x) for x in (0.3, 0.9, 1.5)]
        points = [np.array([arm.pose(q, *place)[:3, 3] for place in some])
                  for q, some in ((drawn, places), (straight, places[4:]))]

        def pixels():
            """Of both; where the canvas is now, which the panel takes a part of at first."""
            box = page.until(lambda: page.evaluate(CANVAS), 'the canvas')
            return [project(client.camera, box, some) for some in points]

        page.until(lambda: blue(page.picture(), pixels()[0], 3.0).all(), 'the bent beam', PATIENCE)
        expected, elsewhere = pixels()
        # Far enough from the bent beam on the screen to tell one from the other.
        assert np.linalg.norm(elsewhere - expected[4:], axis=1).min() > 8.0
        assert not blue(page.picture(), elsewhere, 3.0).any()
        # Straightened, it is where the straight one belongs.
        picture.factor.value = 0.0
        draw(page, panel, 1.0, bent)
        page.until(lambda: blue(page.picture(), elsewhere, 3.0).all(), 'the straight beam',
                   PATIENCE)
        # A push is an arrow to the tip, as long as it lasts.
        push = AppliedWrench('tool', np.array([0.0, 0.0, 80.0]), np.zeros(3))
        tip = arm.pose(straight, 'tool')
        line = arrow(tip[:3, 3], 80.0 * tip[:3, 2], scene.robot.reach())
        points = [line[:1] + share * (line[1] - line[0]) for share in (0.2, 0.5, 0.95)]
        assert not magenta(page.picture()).any()
        draw(page, panel, 1.1, bent, [push])
        page.until(lambda: near(magenta(page.picture()), np.concatenate(pixels()), 3.0).all(),
                   'the arrow', PATIENCE)
        draw(page, panel, 1.2, bent)
        page.until(lambda: not magenta(page.picture()).any(), 'the end of the arrow', PATIENCE)
        _modes_swing(page, panel, bent)
        assert panel.pacing.answers >= 5      # the browser told what it had drawn
        assert page.errors == []
    finally:
        page.close()
        server.stop()


def _modes_swing(page, panel, bent):
    """The modes' tab, by hand: the list has frequencies, and the robot swings."""
    page.press('Modes')
    page.press('Modes of this pose')
    page.until(lambda: panel.modes.name.endswith(' Hz'), 'the modes', PATIENCE)
    panel.picture.automatic.value = True
    draw(page, panel, 2.5, bent)         # a quarter of a swing after a whole one
    page.until(lambda: 'mode 1:' in page.text(), 'the name of the mode', PATIENCE)
    first = page.picture().astype(int)
    draw(page, panel, 3.5, bent)

    def moved():
        other = page.picture().astype(int)
        return (np.abs(other - first).sum(axis=2) > 60).sum() > 100
    page.until(moved, 'the swing', PATIENCE)
    panel.back_to_robot()
    draw(page, panel, 4.5, bent)
    page.until(lambda: 'simulated time' in page.text(), 'the robot again', PATIENCE)


def test_what_a_beam_carries_moves_by_its_vertices_as_the_beam_does(arm, bent):
    """A browser would show a pose one picture earlier than vertices: the tool would come off."""
    server = viser.ViserServer(host='127.0.0.1', port=8591, verbose=False)
    try:
        scene = Scene(server, arm)
        scene.show(0.0, bent)
        (visuals, pieces), = [one for one in scene._rigid if one[0][-1][0] == 'link4']
        mesh = pieces._mesh
        assert not np.any(mesh.position)
        pose = arm.pose(bent, 'link4') @ visuals[-1][1].pose
        corners = (solid('cylinder') * visuals[-1][1].size) @ pose[:3, :3].T + pose[:3, 3]
        drawn = mesh.vertices[mesh.faces].reshape(-1, 3)[-len(corners):]
        assert np.allclose(drawn, corners, atol=1e-6)
        scene.ghost = False
        scene.show(0.1, bent)
        assert not scene._straight._mesh.visible
        scene.ghost = True
        scene.show(0.2, bent)
        assert scene._straight._mesh.visible
    finally:
        server.stop()


def test_a_rigid_mesh_that_is_missing_is_told_and_the_rest_drawn(tmp_path):
    (tmp_path / 'arm.urdf').write_text(MESHED)
    model = Model(load_robot(tmp_path / 'arm.urdf'))
    server = viser.ViserServer(host='127.0.0.1', port=8691, verbose=False)
    try:
        scene = Scene(server, model)
        scene.show(0.0, np.zeros(model.n))
        assert [visuals[0][0] for visuals, _ in scene._rigid] == ['arm']
        assert 'gone.stl' in scene.robot.problems[0]
    finally:
        server.stop()


class Client:
    """A browser that only has a number."""

    def __init__(self, number):
        self.client_id = number


class Server:
    """Where browsers join and leave."""

    def on_client_connect(self, join):
        self.join = join

    def on_client_disconnect(self, leave):
        self.leave = leave


def until(done):
    end = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < end:
        time.sleep(0.005)
    assert done()


def test_a_frame_waits_until_the_browsers_have_drawn_the_last_one():
    """Two frames are never on their way at once, however long a browser takes."""
    server, answer = Server(), threading.Event()

    def ask(client):
        if client.client_id == 1:
            answer.wait()

    pacing = Pacing(server, ask)
    assert pacing.ready()                  # nobody looks
    for number in (1, 2):
        server.join(Client(number))
    assert pacing.ready()
    pacing.sent()
    until(lambda: pacing.answers == 1)     # of the quick one
    assert not pacing.ready()
    answer.set()
    until(pacing.ready)
    assert pacing.answers == 2 and pacing.delay > 0.0
    answer.clear()
    pacing.sent()
    assert not pacing.ready()
    server.leave(Client(1))                # a window that is closed stops nobody
    until(pacing.ready)
    answer.set()
    pacing.close()


def test_a_browser_that_fails_to_answer_is_asked_again_and_errors_are_answers():
    server, asked = Server(), []

    def ask(client):
        asked.append(client)
        raise TimeoutError if len(asked) == 1 else RuntimeError

    pacing = Pacing(server, ask)
    server.join(Client(1))
    pacing.sent()
    until(pacing.ready)
    assert len(asked) == 2
    pacing.close()


@pytest.mark.parametrize(('kind', 'volume'), [('box', 1.0), ('cylinder', np.pi / 4.0),
                                              ('sphere', np.pi / 6.0)])
def test_solids_are_closed_and_look_outwards(kind, volume):
    corners = solid(kind).reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
    assert np.allclose(normals.sum(axis=0), 0.0, atol=1e-12)
    assert np.einsum('ij,ij->i', normals, corners.mean(axis=1)).min() > 0.0
    assert np.linalg.det(corners).sum() / 6.0 == pytest.approx(volume, rel=0.03)
    assert np.abs(corners).max(axis=(0, 1)) == pytest.approx(0.5)


def test_modes_are_those_of_the_model_and_swing_by_a_metre(arm, bent):
    found = natural_modes(arm, bent, 'locked', count=5)
    speeds = arm.frequencies(bent, 'locked')[0]
    assert [mode.frequency for mode in found] == pytest.approx(speeds[:5] / (2.0 * np.pi))
    for mode in found:
        assert not mode.shape[:arm.n_joints].any()
        assert np.array_equal(mode.at(bent, 0.3, 0.0), bent)
    tip = [arm.pose(found[0].at(bent, swing, np.pi / 2.0), 'tool')[:3, 3] for swing in (0.0, 1e-4)]
    assert np.linalg.norm(tip[1] - tip[0]) == pytest.approx(1e-4, rel=0.2)
    assert natural_modes(arm, bent, 'free')[0].frequency > 1.0      # rigid motions are left out
    with pytest.raises(DynamicsError, match='locked, free'):
        natural_modes(arm, bent, 'loose')


def test_goals_are_read_or_refused_in_a_sentence(arm):
    goals = read_goals(arm, ['home: 0 0.5, 1 2', 'up: 0 0 0 0'])
    assert list(goals) == ['home', 'up'] and goals['home'].tolist() == [0.0, 0.5, 1.0, 2.0]
    assert list(read_goals(arm, [])) == ['all joints at zero']
    for text in ('home', 'home: 1 2', ': 0 0 0 0', 'home: 0 0 0 x', 'home: 0 0 0 nan'):
        with pytest.raises(DynamicsError, match='4 numbers, one a joint of cibicik_arm'):
            read_goals(arm, [text])


def test_the_way_to_a_goal_begins_and_ends_at_rest():
    start, goal = np.array([0.1, -0.4]), np.array([1.1, 0.2])
    times, places, speeds, accelerations = point_to_point(start, goal, 3.0)
    assert times[-1] == 3.0 and len(times) == 150 and np.all(np.diff(times) > 0.0)
    assert np.allclose(places[-1], goal) and not speeds[-1].any() and not accelerations[-1].any()
    assert np.allclose(places[0], start, atol=1e-4)
    # What is told of speed and acceleration is what the positions do.
    assert np.allclose(np.gradient(places, times, axis=0)[1:-1], speeds[1:-1], atol=2e-3)
    assert np.allclose(np.gradient(speeds, times, axis=0)[1:-1], accelerations[1:-1], atol=2e-3)
    assert len(point_to_point(start, goal, 0.01)[0]) == 2


def test_the_history_thins_forgets_and_starts_anew():
    history = History(1, span=1.0, rate=10.0)
    for time_ in np.arange(0.0, 3.0, 0.01):
        history.add(time_, np.array([time_]))
    rows = history.rows()
    assert 10 <= len(rows) <= 12 and rows[0, 0] >= 1.9 and np.allclose(rows[:, 0], rows[:, 1])
    history.add(0.5, np.array([7.0]))
    assert history.rows().tolist() == [[0.5, 7.0]]


def test_thirty_pictures_a_second_leave_time(arm, bent):
    """On one of two cores: a third of the 33 ms of a picture, by the thread's own clock."""
    server = viser.ViserServer(host='127.0.0.1', port=8491, verbose=False)
    try:
        panel = Panel(server, Scene(server, arm))
        best = np.inf
        for at in range(60):
            began = time.thread_time()
            panel.show(at / 30.0, Moment(at / 30.0, (1.0 + 0.01 * at) * bent, np.zeros(4)))
            best = min(best, time.thread_time() - began)
        assert best < 11e-3
    finally:
        server.stop()
