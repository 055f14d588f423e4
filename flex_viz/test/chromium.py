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
"""A headless Chromium, driven by its own debugging protocol over a websocket."""
from __future__ import annotations

import base64
import contextlib
import io
import json
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import numpy as np
from PIL import Image
from websockets.sync.client import connect

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
MISSING = ('no Chromium on this machine, which these tests look at the page with: '
           'apt install chromium (make test does that where it may)')
OPTIONS = ('--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
           '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run', '--hide-scrollbars',
           '--disable-background-networking', '--disable-component-update', '--disable-sync',
           '--disable-dev-shm-usage', '--remote-debugging-port=0')


def executable() -> str:
    """Path of a Chromium; AssertionError that says what to install if there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, MISSING
    return found


class Page:
    """One page of `width` times `height` pixels; console errors are kept in `errors`."""

    def __init__(self, folder: Path, width: int = 1000, height: int = 700) -> None:
        self._stack = contextlib.ExitStack()
        self._process = subprocess.Popen(
            [executable(), *OPTIONS, f'--user-data-dir={folder}',
             f'--window-size={width},{height}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._stack.callback(self._end)
        self.errors: list[str] = []
        self._count = 0
        try:
            self._connect(folder / 'DevToolsActivePort')
            self.call('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=False)
        except BaseException:
            self.close()
            raise

    def _connect(self, port_file: Path) -> None:
        port = self.until(lambda: port_file.is_file() and port_file.read_text().split(),
                          'Chromium', 120.0)[0]
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/json/list', timeout=30) as answer:
            target = next(one for one in json.load(answer) if one['type'] == 'page')
        self._socket = self._stack.enter_context(
            connect(target['webSocketDebuggerUrl'], max_size=None))
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        self._stack.close()

    def until(self, done, what: str, patience: float = 180.0):
        """What `done` returns once that is something; AssertionError after `patience` s."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if found := done():
                return found
            time.sleep(0.1)
        raise AssertionError(f'{what} did not come within {patience:g} s; console: {self.errors}')

    def call(self, method: str, **parameters):
        """A command of the protocol; what the console says meanwhile is kept."""
        self._count += 1
        self._socket.send(json.dumps({'id': self._count, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get('id') == self._count:
                assert 'error' not in message, message['error']
                return message['result']
            self._keep(message)

    def _keep(self, message) -> None:
        given = message.get('params', {})
        if message['method'] == 'Runtime.exceptionThrown':
            self.errors.append(str(given['exceptionDetails'].get('exception', given)))
        elif message['method'] == 'Runtime.consoleAPICalled' and given['type'] == 'error':
            self.errors.append(' '.join(str(one.get('value', one.get('description')))
                                        for one in given['args']))
        elif message['method'] == 'Log.entryAdded' and given['entry']['level'] == 'error':
            self.errors.append(f'{given["entry"]["text"]} {given["entry"].get("url", "")}')

    def open(self, address: str) -> None:
        self.call('Page.navigate', url=address)

    def evaluate(self, script: str):
        """The value of a JavaScript expression."""
        return self.call('Runtime.evaluate', expression=script, returnByValue=True,
                         awaitPromise=True)['result'].get('value')

    def text(self) -> str:
        return self.evaluate('document.body ? document.body.innerText : ""') or ''

    def press(self, label: str) -> None:
        """Click the button, or the tab, of that label, as a mouse does."""
        x, y = self.until(lambda: self.evaluate(f"""(() => {{
            const found = [...document.querySelectorAll('button, [role=tab]')].find(
                one => one.innerText.trim() === {json.dumps(label)});
            if (!found) return null;
            found.scrollIntoView({{block: 'center', behavior: 'instant'}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""), f'a button {label}')
        for kind in ('mouseMoved', 'mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def dismiss_notices(self) -> None:
        """Close what lies over the scene, such as the notice that it is drawn in software."""
        self.until(lambda: self.evaluate("""(() => {
            const found = [...document.querySelectorAll('.mantine-Notification-closeButton')];
            found.forEach(one => one.click());
            return found.length > 0;
        })()"""), 'a notice', 120.0)
        self.until(lambda: not self.evaluate(
            'document.querySelectorAll(".mantine-Notification-root").length'), 'its end')

    def picture(self) -> np.ndarray:
        """A screenshot (height, width, 3), 0 to 255."""
        data = self.call('Page.captureScreenshot', format='png')['data']
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert('RGB'))
