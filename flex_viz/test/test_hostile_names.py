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
"""Names that are scripts, markup, formulas or paths are shown everywhere as they are written."""
import numpy as np
import pytest
from chromium import Page
from hostile import IMAGE, LABEL, LINK, MATH, SCRIPT, SLASHES, urdf

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.browser.moment import Actions, ControlSettings, Gain, Moment
from flex_viz.browser.panel import Panel
from flex_viz.browser.scene import Scene
from flex_viz.browser.web_access import Access
from flex_viz.browser.web_server import GuardedServer
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.report.animation import animate
from flex_viz.report.page import write_report
from flex_viz.report.plots import plot_poses
from flex_viz.report.run import Run, table
from flex_viz.rviz.marker import TEXT
from flex_viz.rviz.robot_markers import RobotMarkers
from flex_viz.shown_text import html_text, legend_text, marker_text, plain, plot_text

PATIENCE = 120.0      # s; Chromium draws without a graphics card, perhaps on a busy machine
# Elements that only a name could have brought, and what a script of one would leave.
FOREIGN = """(() => [
    typeof window.hacked, document.querySelectorAll('iframe, [onerror], b, a[href="x"]').length,
    [...document.querySelectorAll('a')].filter(one => one.href.startsWith('javascript')).length
])()"""
NOTHING = ['undefined', 0, 0]


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp('hostile') / 'robot.urdf'
    path.write_text(urdf())
    return Model(load_robot(path))


def idle(*given):
    pass


def moment(model, time):
    return Moment(time, np.full(model.n, 0.01 + 0.01 * time), np.zeros(2), np.zeros(2),
                  (f'control: fail-safe {SCRIPT}',))


def test_the_viewer_shows_them_and_runs_nothing(model, tmp_path):
    server = GuardedServer(Access('127.0.0.1'), 8781, f'flex: {plain(model.robot.name)}')
    page = Page(tmp_path, 900, 700)
    try:
        goals = {name: np.zeros(2) for name in (SCRIPT, MATH)}
        panel = Panel(server, Scene(server, model), Actions(*[idle] * 9), goals)
        pushes = [AppliedWrench(frame, np.array([0.0, 0.0, 9.0]), np.array([1.0, 0.0, 0.0]))
                  for frame in (SLASHES, LINK, f'{LINK}/tip', SCRIPT)]
        for time in (0.0, 1.0):
            panel.show(time, moment(model, time), pushes)
        panel.show_settings(ControlSettings(SCRIPT, (LABEL, SCRIPT), MATH, ('none', MATH), 2,
                                            (Gain(IMAGE, LINK, SCRIPT),)))
        panel.answer(f'error: {SCRIPT}{LABEL}')      # as a simulator may have told it
        page.open(f'http://127.0.0.1:{server.get_port()}')
        page.until(lambda: f'deflection of {SCRIPT} ' in page.text(), 'the name of the tip',
                   PATIENCE)
        page.until(lambda: f'error: {SCRIPT}{LABEL}' in page.text(), 'the answer', PATIENCE)
        for text in (f'deflection of {SCRIPT}, mm', IMAGE, LABEL):      # title and legends
            page.until(lambda text=text: text in page.evaluate(
                'document.body.textContent'), text, PATIENCE)
        values = page.evaluate('[...document.querySelectorAll("input")].map(one => one.value)')
        assert SCRIPT in values      # the goal that is chosen
        page.until(lambda: page.evaluate('document.querySelector("canvas") !== null'), 'the scene',
                   PATIENCE)
        page.press('Modes')
        page.press('Modes of this pose')
        page.until(lambda: panel.modes.name, 'the modes', PATIENCE)
        page.until(panel.pacing.ready, 'the answer of the browser', PATIENCE)
        panel.show(2.0, moment(model, 2.0), pushes)
        page.until(lambda: 'mode 1:' in page.text(), 'a mode', PATIENCE)
        page.until(lambda: f'control: fail-safe {SCRIPT}' in page.text(), 'the alarm', PATIENCE)
        page.press('Control')
        page.until(lambda: IMAGE in page.text(), 'a gain', PATIENCE)
        assert page.evaluate(FOREIGN) == NOTHING
        assert page.errors == []
    finally:
        page.close()
        server.stop()


@pytest.fixture(scope='module')
def run(model):
    time = np.linspace(0.0, 1.0, 6)
    q = np.zeros((6, model.n))
    q[:, 0] = time
    return Run(model, SCRIPT, time, q, 0.0 * q, np.zeros((6, 2)))


def test_the_report_of_a_run_shows_them_and_runs_nothing(run, tmp_path):
    files = write_report(tmp_path / 'report', run, (0.0, 1.0), 2.0)
    page = Page(tmp_path / 'browser', 900, 700)
    try:
        page.open(files[0].as_uri())
        page.until(lambda: f'deflection of {SCRIPT}: largest' in page.text(), 'the report',
                   PATIENCE)
        assert IMAGE in page.text() and LABEL in page.text()
        assert page.evaluate('document.title') == f'{IMAGE}: a run'
        assert page.evaluate(FOREIGN) == NOTHING
        assert page.errors == []
    finally:
        page.close()


@pytest.mark.parametrize('name', [MATH, LABEL, r'\$x$', '$', '$$', '_', 'x' * 100_000,
                                  '\x85\u202e\n'])
def test_pictures_are_drawn_whatever_the_names(name, tmp_path):
    """A formula that is none raised an error, a label with `_` was left out, a long one was an
    error too."""
    (tmp_path / 'robot.urdf').write_text(urdf(robot=name, tip=name, turn=name,
                                                 swing='swing'))
    model = Model(load_robot(tmp_path / 'robot.urdf'))
    q = np.zeros((3, model.n))
    run = Run(model, model.robot.links[-1].name, np.arange(3.0), q, q, np.zeros((3, 2)))
    write_report(tmp_path / 'report', run, (0.0, 1.0), 2.0)
    plot_poses(tmp_path / 'poses.png', model, [0.0], q[:1])
    animate(tmp_path / 'run.gif', run, rate=1.0, size=100)
    assert all(len(line) < 300 for line in table(run).splitlines())


def test_markers_carry_plain_text(model):
    markers = RobotMarkers(model)
    drawn = markers.at(0.0, np.zeros(model.n), [AppliedWrench(SLASHES, np.ones(3), np.ones(3))])
    texts = [marker.text for marker in drawn if marker.type == TEXT]
    assert any(text.startswith(MATH) for text in texts)
    assert all(text.isascii() and text.isprintable() and len(text) <= 80 for text in texts)
    assert {marker.ns for marker in drawn} <= {'bent', 'straight', 'rigid', 'tip', 'gauges',
                                               'wrenches', 'legend'}


def test_each_output_has_its_own_escape():
    assert html_text('<a href="x">\'&') == '&lt;a href=&quot;x&quot;&gt;&#x27;&amp;'
    assert plot_text('a$b$') == r'a\$b\$' and legend_text('_a$') == r' _a\$'
    assert marker_text('5 µm\n\u00e9') == '5 um??'
    assert plain('\x1b[31m\u202eab') == '\ufffd[31m\ufffdab'
    assert plain('x' * 10**6) == 'x' * 77 + '...' and plain('x' * 80) == 'x' * 80
