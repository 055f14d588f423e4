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
"""A viser server that checks every request with `Access` before viser handles it.

viser has no hook for such a check. It starts its server with `websockets.asyncio.server.serve` and
its own `process_request`. While it starts, `serve` is replaced by a function that puts our check
first. If the replacement was not called, nothing is served.
"""
from __future__ import annotations

import contextlib
import http
import io
import logging
import re
import socket
import threading
from collections.abc import Callable
from typing import Any

import viser
import websockets.asyncio.server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from flex_viz.browser.web_access import Access, RequestHeaders, answer_headers
from flex_viz.shown_text import plain

KNOWN = re.compile(r'1\.1(\.|$)')      # reviewed and tested versions of viser
STARTING = threading.Lock()            # one server at a time replaces `serve`


class WebServerError(RuntimeError):
    """A server that cannot be started or guarded; the text gives the reason."""


class GuardedServer(viser.ViserServer):
    """The server of viser behind `access`.

    log: called with one line for each refused request, in a thread of the server. `refused`
    counts them.
    """

    def __init__(self, access: Access, port: int, label: str,
                 log: Callable[[str], None] = lambda line: None) -> None:
        if not KNOWN.match(viser.__version__):
            raise WebServerError(f'expected viser 1.1, whose server can be guarded, found '
                                 f"{viser.__version__}: pip install 'viser~=1.1.1'")
        self.access, self.refused, self._log = access, 0, log
        self._guarded = False
        _try_address(access.host)
        with STARTING:
            real = websockets.asyncio.server.serve
            websockets.asyncio.server.serve = self._serve_with(real)      # type: ignore
            try:
                # It prints an address without the token.
                with contextlib.redirect_stdout(io.StringIO()):
                    super().__init__(host=access.host, port=port, verbose=False, label=label)
            finally:
                websockets.asyncio.server.serve = real      # type: ignore
        if not self._guarded:
            self.stop()
            raise WebServerError(f'viser {viser.__version__} started a server that cannot be '
                                 "guarded: pip install 'viser==1.1.1'")

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Disabled: any page could request a public tunnel through an external server."""
        return None

    def _serve_with(self, real: Any) -> Any:
        def serve(*given: Any, process_request: Any = None, **options: Any) -> Any:
            if getattr(process_request, '__module__', '') != 'viser.infra._infra':
                return real(*given, process_request=process_request, **options)
            self._guarded = True
            return real(*given, process_request=self._checked_first(process_request),
                        logger=_quiet(self._log), **options)
        return serve

    def _checked_first(self, inner: Callable[..., Response | None]) -> Any:
        def process_request(connection: Any, request: Request) -> Response | None:
            headers = RequestHeaders(
                request.path, request.headers.get_all('Host'), request.headers.get_all('Origin'),
                bool(request.headers.get_all('Upgrade')), connection.local_address[:2])
            why = self.access.refusal(headers)
            if why:
                return self._refuse(why)
            request.path = self.access.inner_path(request.path)
            answer = inner(connection, request)
            if answer is None:
                return None if headers.websocket else self._refuse('expected a websocket')
            for name, value in answer_headers(headers.host[0]).items():
                answer.headers[name] = value
            return answer
        return process_request

    def _refuse(self, why: str) -> Response:
        self.refused += 1
        self._log(f'request refused: {why}')
        body = f'Refused: {why}.\n'.encode()
        return Response(http.HTTPStatus.FORBIDDEN, 'Forbidden', Headers({
            'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': str(len(body)),
            'Connection': 'close', 'X-Content-Type-Options': 'nosniff'}), body)


def _try_address(host: str) -> None:
    """Check the address: viser would wait forever if this machine does not have it."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM,
                                                       flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind) as trial:
            trial.bind(place)
    except (OSError, UnicodeError) as error:
        raise WebServerError(f'expected an address of this machine, found {plain(host)!r}: '
                             f'{error}') from None


class _Lines(logging.Handler):
    """Logs errors of connections in one line, such as invalid messages: they come from outside and
    do not need a traceback. Connections that end before a request, and bytes that are not HTTP,
    are not logged: browsers open spare connections."""

    def __init__(self, log: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if record.getMessage() != 'opening handshake failed':
            self._log(f'{record.getMessage()}: {type(error).__name__}')


def _quiet(log: Callable[[str], None]) -> logging.Logger:
    logger = logging.Logger('flex_viz.browser.web_server', logging.ERROR)
    logger.addHandler(_Lines(log))
    return logger
