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
"""Frames at the pace of the browsers: the next one is sent when the last one has been drawn.

Without a graphics card a browser may draw a few frames a second. Frames that are sent faster wait
in its queue, and so do clicks, for seconds. Therefore every frame is followed by a question to the
browser, which it answers after it has taken what was sent before; until then no frame is sent, and
the next one shows the newest state. Nothing is queued, here or there.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import viser

LOST = 3.0           # s without an answer after which the others do not wait for a browser
LONGEST = 10.0       # s without an answer from any browser after which a frame is sent anyway
GIVEN_UP = 30.0      # s that an answer is waited for before the question is asked again
WINDOW = 1.0 / 60.0  # s in which viser collects messages before it sends them
SLOW = 0.12          # s from a frame to its answer that is too long: the picture is simplified
SMOOTHING = 0.15     # weight of the last answer
MOST = 16            # browsers that are waited for; further ones get the same frames
KEY = 'flex'         # that is asked for; the value, if there is one, does not matter


class Pacing:
    """Asks every browser of `server` for an answer after each frame.

    ask: how; waits until the browser has answered, or raises an exception.
    """

    def __init__(self, server: viser.ViserServer,
                 ask: Callable[[viser.ClientHandle], Any] | None = None) -> None:
        self._ask = ask or (lambda client: client.local_storage.get_item(KEY, timeout=GIVEN_UP))
        self._browsers: dict[int, _Browser] = {}
        self._lock = threading.Lock()
        self._ended = False
        self.frames = self.answers = 0
        server.on_client_connect(self._join)
        server.on_client_disconnect(self._leave)

    def _join(self, client: viser.ClientHandle) -> None:
        with self._lock:
            if self._ended or len(self._browsers) >= MOST:
                return
            browser = _Browser(client, self._ask, self._count)
            self._browsers[client.client_id] = browser
        browser.start()

    def _leave(self, client: viser.ClientHandle) -> None:
        with self._lock:
            browser = self._browsers.pop(client.client_id, None)
        if browser is not None:
            browser.end()

    def _count(self) -> None:
        self.answers += 1

    def ready(self) -> bool:
        """Whether all browsers have drawn the last frame."""
        now = time.monotonic()
        with self._lock:
            waits = [browser.waits(now) for browser in self._browsers.values()]
        longest = max(waits, default=0.0)
        others = any(wait == 0.0 for wait in waits)
        return all(wait == 0.0 or (wait > LOST and others) for wait in waits) or longest > LONGEST

    def sent(self) -> None:
        """A frame has been sent."""
        self.frames += 1
        with self._lock:
            for browser in self._browsers.values():
                browser.sent()

    @property
    def delay(self) -> float:
        """s from a frame to its answer, of the slowest browser, smoothed; 0 without browsers."""
        with self._lock:
            return max((browser.delay for browser in self._browsers.values()), default=0.0)

    def close(self) -> None:
        with self._lock:
            self._ended = True
            browsers, self._browsers = list(self._browsers.values()), {}
        for browser in browsers:
            browser.end()


class _Browser:
    """One browser, and the thread that waits for its answers."""

    def __init__(self, client: viser.ClientHandle, ask: Callable[[viser.ClientHandle], Any],
                 answered: Callable[[], None]) -> None:
        self._client, self._ask, self._answered = client, ask, answered
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._wanted = threading.Event()
        self._ended = False
        self._since: float | None = None      # when the first frame without an answer was sent
        self._last = 0.0                      # when the last frame was sent
        self.delay = 0.0

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended = True
        self._wanted.set()

    def sent(self) -> None:
        self._last = time.monotonic()
        if self._since is None:
            self._since = self._last
            self._wanted.set()

    def waits(self, now: float) -> float:
        """s since the last frame, if a frame is not answered, else 0."""
        return 0.0 if self._since is None else max(now - self._last, 1e-9)

    def _run(self) -> None:
        while not self._ended:
            self._wanted.wait()
            self._wanted.clear()
            since = self._since
            if self._ended or since is None:
                continue
            time.sleep(WINDOW)      # the question must not overtake the frame
            try:
                self._ask(self._client)
            except TimeoutError:
                self._wanted.set()
                continue
            except RuntimeError:    # gone, or it stores nothing, which is an answer, too
                pass
            delay = time.monotonic() - since
            self.delay += SMOOTHING * (delay - self.delay) if self.delay else delay
            self._since = None
            self._answered()
