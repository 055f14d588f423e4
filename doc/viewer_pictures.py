"""The pictures of the viewer, of its page in headless Chromium; called by make_pictures.py."""
from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'flex_viz' / 'test'))

from chromium import Page  # noqa: E402

from flex_control import ComputedTorque, MinimumJerk, run_trial  # noqa: E402
from flex_description import load_robot  # noqa: E402
from flex_dynamics import Model  # noqa: E402
from flex_viz.browser.moment import Actions, ControlSettings, Gain, Moment  # noqa: E402
from flex_viz.browser.panel import Panel  # noqa: E402
from flex_viz.browser.scene import Scene  # noqa: E402
from flex_viz.browser.web_access import Access  # noqa: E402
from flex_viz.browser.web_server import GuardedServer  # noqa: E402

LARGEST = 300_000      # bytes
PATIENCE = 600.0       # s, that a busy machine may take
SIZE = (1400, 900)


def viewer() -> list[Path]:
    """The page of the viewer: a motion of the Cibicik arm, its modes, and the controls."""
    model = Model(load_robot('cibicik_arm'))
    motion = MinimumJerk([0.0, 0.4, 0.8, 0.4], [0.9, 0.9, 1.1, 0.7], 1.0)
    run = run_trial(ComputedTorque(model), motion, 2.0, step=1e-3)
    server = GuardedServer(Access('127.0.0.1'), 8191, 'flex: cibicik_arm')
    made = []
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder), *SIZE)
        try:
            idle = Actions(*[lambda *given: None] * 9)      # nothing to press here
            panel = Panel(server, Scene(server, model), idle, {'folded': np.zeros(4)}, mass=40.0,
                          slow=np.inf)
            panel.show_settings(ControlSettings(
                'computed_torque', ('computed_torque', 'lqr', 'pd', 'pid'), 'none',
                ('none', 'zv', 'zvd'), 2, (Gain('kp', ''), Gain('kd', ''))))
            walls = iter(range(10**6))

            def show(at: int) -> None:
                page.until(panel.pacing.ready, 'the answer of the browser', PATIENCE)
                panel.show(float(next(walls)), Moment(
                    float(run.time[at]), run.q[at], run.effort[at], run.wanted[at]))

            def save(name: str) -> None:
                page.call('Input.dispatchMouseEvent', type='mouseMoved', x=700, y=850)
                show(last)
                page.until(panel.pacing.ready, 'the answer of the browser', PATIENCE)
                time.sleep(3.0)
                made.append(_save(page.picture(), ROOT / 'flex_viz' / 'doc' / name))

            show(0)
            page.open(f'http://127.0.0.1:{server.get_port()}')
            page.until(lambda: server.get_clients(), 'the browser', PATIENCE)
            page.until(lambda: page.evaluate('document.querySelector("canvas") !== null'),
                       'the scene', PATIENCE)
            page.dismiss_notices()
            # Until the tip swings most: the exaggeration is chosen for that.
            last = int(np.argmax([panel.deflection(q) for q in run.q[::10]])) * 10
            for at in range(0, last, 40):
                show(at)
            save('viewer.png')
            page.press('Control')
            save('viewer_control.png')
            page.press('Modes')
            page.press('Modes of this pose')
            page.until(lambda: panel.modes.name, 'the modes', PATIENCE)
            next(walls)
            page.until(panel.pacing.ready, 'the answer of the browser', PATIENCE)
            page.call('Input.dispatchMouseEvent', type='mouseMoved', x=700, y=850)
            panel.show(next(walls) + 0.5, Moment(float(run.time[last]), run.q[last],
                                                 run.effort[last], run.wanted[last]))
            page.until(lambda: 'mode 1:' in page.text(), 'a mode', PATIENCE)
            time.sleep(3.0)
            made.append(_save(page.picture(), ROOT / 'flex_viz' / 'doc' / 'viewer_modes.png'))
            panel.pacing.close()
        finally:
            page.close()
            server.stop()
    return made


def _save(pixels: np.ndarray, path: Path) -> Path:
    """Write a PNG with as many colours as its largest size allows."""
    picture = Image.fromarray(pixels)
    for colours in (0, 256, 128, 64):
        file = io.BytesIO()
        (picture.quantize(colours, dither=Image.Dither.NONE) if colours else picture).save(
            file, 'PNG', optimize=True)
        if file.tell() <= LARGEST:
            break
    path.write_bytes(file.getvalue())
    return path
