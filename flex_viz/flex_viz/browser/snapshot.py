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
"""Pictures and short films of the scene, sent to the browser that asks for them.

The browser draws and keeps them; this machine writes no file. Each states by how much the
deflection is exaggerated.
"""
from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import viser
from PIL import Image, ImageDraw, ImageFont

from flex_viz.geometry.colours import rgb, value_text
from flex_viz.shown_text import plain

LONGEST_FILM = 10.0                # s
RATE = 10.0                        # pictures a second of a film
PICTURE, FILM = (1920, 1200), (800, 600)      # largest sizes, pixels
SMALLEST = (160, 120)
PATIENCE = 30.0                    # s that a browser may take for a picture
INK, PAPER = (40, 44, 52), (255, 255, 255)
BAR = (220, 12)                    # of the colour scale, in a picture 1000 pixels wide


class Camera:
    """Takes pictures; caption: lines of text, name of the colouring and end of its scale."""

    def __init__(self, caption: Callable[[], tuple[list[str], str, float]]) -> None:
        self._caption = caption
        self._busy = threading.Lock()      # one at a time, whoever asks

    def picture(self, client: viser.ClientHandle) -> str:
        """Send a PNG of what this browser shows; the text says what came of it."""
        return self._alone(lambda: self._send(client, 'flex.png', _png(self.take(client))))

    def film(self, client: viser.ClientHandle, span: float) -> str:
        """Send a GIF of the next `span` s."""
        return self._alone(lambda: self._film(client, span))

    def _alone(self, make: Callable[[], str]) -> str:
        if not self._busy.acquire(blocking=False):
            return 'wait for the picture or film that is being made'
        try:
            return make()
        except (RuntimeError, TimeoutError, ValueError, TypeError, ArithmeticError,
                OSError) as error:
            return f'the browser sent no picture: {plain(error)}'
        finally:
            self._busy.release()

    def take(self, client: viser.ClientHandle, largest: tuple[int, int] = PICTURE) -> Image.Image:
        """What a browser shows, with a caption; ValueError if it sends something else."""
        width, height = _size(client, largest)
        pixels = np.asarray(client.get_render(height, width, transport_format='jpeg',
                                              timeout=PATIENCE))
        if pixels.shape[:2] != (height, width) or pixels.ndim != 3 or pixels.shape[2] < 3:
            raise ValueError(f'expected {width} x {height} pixels')
        return captioned(Image.fromarray(np.ascontiguousarray(pixels[..., :3], dtype=np.uint8)),
                         *self._caption())

    def _film(self, client: viser.ClientHandle, span: float) -> str:
        pictures: list[Image.Image] = []
        times: list[float] = []
        begin = time.monotonic()
        while not pictures or (time.monotonic() - begin < span
                               and len(pictures) < span * RATE + 1):
            times.append(time.monotonic() - begin)
            pictures.append(self.take(client, FILM).quantize(128))
            time.sleep(max(0.0, times[-1] + 1.0 / RATE - (time.monotonic() - begin)))
        gaps = np.diff([*times, time.monotonic() - begin])
        file = io.BytesIO()
        pictures[0].save(file, 'GIF', save_all=True, append_images=pictures[1:], loop=0,
                         duration=[max(20, round(1e3 * gap)) for gap in gaps])
        return self._send(client, 'flex.gif', file.getvalue())

    def _send(self, client: viser.ClientHandle, name: str, data: bytes) -> str:
        client.send_file_download(name, data, save_immediately=True)
        return f'{name}, {len(data) / 1e3:.0f} kB, is in the downloads of this browser'


def _size(client: viser.ClientHandle, largest: tuple[int, int]) -> tuple[int, int]:
    """Width and height of a picture, of the shape of the browser's window; it is told by the
    browser, and may be anything."""
    width = min(max(int(client.camera.image_width), SMALLEST[0]), largest[0])
    height = min(max(int(client.camera.image_height), SMALLEST[1]), largest[1])
    return width, height


def _png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, 'PNG', optimize=True)
    return file.getvalue()


def captioned(picture: Image.Image, lines: list[str], by: str, top: float) -> Image.Image:
    """The picture with lines of text and the colour scale at its lower left."""
    scale = max(picture.width / 1000.0, 0.6)
    font: Any = ImageFont.load_default(16.0 * scale)
    edge, row = round(14 * scale), round(22 * scale)
    draw = ImageDraw.Draw(picture)
    y = picture.height - edge - row * len(lines) - (row + round(BAR[1] * scale) + 4
                                                    if by != 'none' else 0)
    for line in lines:
        draw.text((edge, y), plain(line, 120), INK, font)
        y += row
    if by != 'none':
        width, height = round(BAR[0] * scale), round(BAR[1] * scale)
        low = -top if by == 'strain' else 0.0
        bar = np.rint(255.0 * rgb(np.linspace(low, top, width), top, by)).astype(np.uint8)
        picture.paste(Image.fromarray(np.repeat(bar[None], height, axis=0)), (edge, y))
        draw.text((edge, y + height + 2), value_text(low, by), INK, font)
        draw.text((edge + width, y + height + 2), f'{by} {value_text(top, by)}', INK, font,
                  anchor='ra')
    return picture
