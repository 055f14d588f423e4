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
"""What the panel does with what pages send: bounds, order, recordings, joints, pictures."""
import time
from types import SimpleNamespace

import numpy as np
import pytest
import viser
from PIL import Image

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.browser.handle import Handle, Pull
from flex_viz.browser.inputs import WAITING, Requests, factor_text, lines_html, scale_html, within
from flex_viz.browser.moment import ControlSettings, Gain
from flex_viz.browser.snapshot import PICTURE, Camera, captioned
from flex_viz.browser.tabs.control_tab import ControlTab
from flex_viz.browser.tabs.joints_tab import JointsTab
from flex_viz.browser.tabs.recording_tab import RecordingTab
from flex_viz.report.run import Run

USER = object()      # a browser


@pytest.fixture(scope='module')
def server():
    server = viser.ViserServer(host='127.0.0.1', port=8791, verbose=False)
    yield server
    server.stop()


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def by(user, **more):
    return SimpleNamespace(client=user, **more)


@pytest.mark.parametrize(('value', 'kept'), [
    (3.0, 3.0), (9.0, 5.0), (-9.0, 1.0), (float('nan'), 1.0), (float('inf'), 5.0), ('x', 1.0),
    (None, 1.0), ([2.0], 1.0), ({}, 1.0), (10**400, 1.0)])
def test_numbers_are_limited(value, kept):
    assert within(1.0, 5.0, value) == kept


def test_requests_are_few_and_the_newest_of_a_kind_counts():
    requests, done = Requests(), []
    for at in range(1000):
        requests.put(lambda at=at: done.append(at), 'slider')
    requests.put(lambda: done.append('button'))
    for action in requests.take():
        action()
    assert done == [999, 'button'] and not requests.take()
    for _ in range(3 * WAITING):
        requests.put(lambda: None)
    assert len(requests.take()) == WAITING and requests.dropped == 2 * WAITING


def test_texts_become_html_and_factors_words():
    assert '<b>' not in lines_html('<b>x', colour='#f00') and '&lt;b&gt;x' in lines_html('<b>x')
    assert factor_text(1.0) == 'drawn as it is' and '20 times' in factor_text(20.0)
    assert ' 1000 times' in factor_text(1e3)
    assert '-200 µm/m compressed' in scale_html('strain', 2e-4)


def test_the_ball_pulls_like_a_spring_and_lets_go(server):
    pulls, led_back = [], []
    handle = Handle(server.scene, 2.0, pulls.append, SimpleNamespace(force=100.0),
                    lambda: led_back.append(1))
    handle.place(np.ones(3), True)

    def drag(phase, start, end):
        handle._dragged(by(USER, phase=phase, start_position=start, end_position=end))

    drag('start', (0.0, 0.0, 0.0), (0.25, 0.0, 0.0))      # half of a quarter of the reach
    drag('update', (0.0, 0.0, 0.0), (0.0, 30.0, 40.0))
    assert np.allclose(pulls, [(50.0, 0.0, 0.0), (0.0, 60.0, 80.0)]) and led_back == [1]
    for wrong in ((np.nan, 0.0, 0.0), (1e308, 0.0, 0.0), 'xyz', None, (1.0, 2.0)):
        drag('update', (0.0, 0.0, 0.0), wrong)
    assert len(pulls) == 2
    drag('end', (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert not pulls[-1].any()


def test_a_pull_ends_with_the_drag_or_with_the_browser(monkeypatch):
    pull, now = Pull(), [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: now[0])
    assert pull.current() is None
    pull.set(np.array([1.0, 0.0, 0.0]))
    assert pull.current()[0] == 1.0
    now[0] += 2.0                          # nothing was heard of the browser since
    assert pull.current() is None
    pull.set(np.ones(3))
    pull.set(np.zeros(3))
    assert pull.current() is None


def test_joint_sliders_follow_the_robot_and_move_it_within_its_speed(server, arm):
    moves = []
    with server.gui.add_folder('joints'):
        tab = JointsTab(server.gui, arm, lambda pose, span: moves.append((pose, span)))
    q = np.zeros(arm.n)
    tab._changed(by(USER), 0)
    assert not moves                       # no state yet
    q[:4] = 0.3, 0.2, 0.1, 0.4
    tab.follow(1e9, q)
    assert [slider.value for slider in tab._sliders] == pytest.approx([0.3, 0.2, 0.1, 0.4])
    tab._sliders[1].value = 0.7
    tab._changed(by(USER), 1)
    tab._sliders[2].value = 0.0
    tab._changed(by(USER), 2)
    (first, span), (second, _) = moves
    assert first is second or np.allclose(second, (0.3, 0.7, 0.0, 0.4))
    assert len(second) == arm.n_joints and span >= 0.8
    tab._changed(by(None), 2)              # the robot itself moved the slider
    assert len(moves) == 2


def test_a_recording_plays_pauses_and_goes_where_the_slider_is(server, arm):
    times = 5.0 + np.linspace(0.0, 2.0, 201)
    q = np.zeros((201, arm.n))
    q[:, 0] = times
    with server.gui.add_folder('recording'):
        tab = RecordingTab(server.gui, Run(arm, 'tool', times, q, q, q[:, :4]), 'bag<b>', True)
    assert tab.at(10.0).time == 5.0 and tab.at(10.5).q[0] == pytest.approx(5.5)
    tab._pause()
    assert tab.at(20.0).time == pytest.approx(5.5)
    for value, expected in ((1.5, 6.5), (1e9, 7.0), (float('nan'), 5.0), ('x', 5.0)):
        tab.slider._impl.value = value     # as a page sends it
        tab._moved(by(USER))
        assert tab.at(21.0).time == pytest.approx(expected)
        tab._told = -np.inf
    tab._play()
    tab._speed._impl.value = '10'
    tab.at(30.0)
    assert tab.at(40.0).time == 7.0 and tab.at(41.0).time == 7.0      # the end
    tab.end()
    assert tab.at(42.0) is None


def test_the_control_tab_shows_settings_and_asks_for_others(server):
    asked = []
    with server.gui.add_folder('control'):
        tab = ControlTab(server.gui, lambda *given: asked.append(given))
    tab.show(ControlSettings('pd', ('lqr', 'pd'), 'none', ('none', 'zv'), 2,
                             (Gain('kp', '1, 2', 'stiffness'), Gain('kd', ''))))
    assert tab._controller.value == 'pd' and [one.value for one in tab._fields] == ['1, 2', '']
    assert not asked                       # what the node tells is no request
    tab._gain(by(USER), 'pd.kp', SimpleNamespace(value='3' * 9999))
    tab._controller._impl.value = 'made up'
    tab._chosen(by(USER), 'controller', tab._controller, lambda known: known.controllers)
    tab._modes._impl.value = float('nan')
    tab._modes_changed(by(USER))
    assert asked == [('pd.kp', '3' * 500), ('controller', 'lqr'), ('shaper_modes', '1')]
    tab.show(ControlSettings('lqr', ('lqr', 'pd'), 'zv', ('none', 'zv'), 1))
    assert tab._controller.value == 'lqr' and not tab._fields


class Browser:
    """A browser whose window is of any size, and which sends any picture."""

    def __init__(self, width, height, picture=None):
        self.camera = SimpleNamespace(image_width=width, image_height=height)
        self.picture, self.files = picture, []

    def get_render(self, height, width, **given):
        return np.full((height, width, 3), 255, np.uint8) if self.picture is None else self.picture

    def send_file_download(self, name, data, **given):
        self.files.append((name, data))


def caption():
    return ['robot <b>', 'deflection drawn 20 times as large'], 'strain', 2e-4


def test_pictures_and_films_go_to_the_browser_with_a_caption():
    browser, camera = Browser(320, 200), Camera(caption)
    assert 'flex.png' in camera.picture(browser)
    assert 'flex.gif' in camera.film(browser, 0.25)
    (name, png), (other, gif) = browser.files
    assert (name, other) == ('flex.png', 'flex.gif')
    assert png[:8] == b'\x89PNG\r\n\x1a\n' and gif[:6] == b'GIF89a'
    drawn = captioned(Image.new('RGB', (320, 200), 'white'), *caption())
    rows = np.asarray(drawn).astype(int)
    assert (rows[:100] == 255).all() and (rows[150:].min(axis=(1, 2)) < 100).any()
    assert (rows[..., 0] - rows[..., 2] > 80).any() and (rows[..., 2] - rows[..., 0] > 80).any()


@pytest.mark.parametrize(('width', 'height', 'picture'), [
    (320, 200, np.zeros((3, 3, 3), np.uint8)), (320, 200, np.zeros(7)), ('x', 200, None),
    (float('nan'), 200, None), (float('inf'), 1, None)])
def test_a_browser_that_sends_nonsense_gets_a_sentence(width, height, picture):
    browser = Browser(width, height, picture)
    assert 'the browser sent no picture' in Camera(caption).picture(browser)
    assert browser.files == []


def test_pictures_have_a_largest_size():
    browser = Browser(10**9, 10**9)
    assert Camera(caption).take(browser).size == PICTURE
