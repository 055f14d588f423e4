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
"""Access rules of the viewer's page and its websocket.

A browser lets any web page open a websocket to any address, also of this machine, and sends the
origin of that page in `Origin`. The owner of a host name can change the address behind it (DNS
rebinding); the browser sends the name in `Host`. Therefore both are checked in every request. If
the server is reachable from other machines, the first part of the path must be the token that is
in the log; the websocket of the page has the path of the page, and with it the token.
"""
from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from flex_viz.shown_text import plain

NO_ORIGIN = 'none'      # in `allowed_origins`: programs other than browsers, which send no origin
HOST = re.compile(r'(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?', re.ASCII)
ORIGIN = re.compile(r'https?://(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?', re.ASCII)
# Options in the address of the page that load nothing from other servers.
OPTIONS = ('darkMode', 'initialCameraPosition', 'initialCameraLookAt', 'initialCameraUp',
           'initialCameraFov', 'initialCameraNear', 'initialCameraFar')
# The page is one file with its scripts. It may connect only to this server, and no other page may
# embed it in a frame, where a user could be made to press buttons (clickjacking).
POLICY = ("default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
          "connect-src 'self' ws://{host} wss://{host} data: blob:; frame-src 'none'; "
          "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


class AccessError(ValueError):
    """Invalid access rules; the text gives the reason."""


@dataclass(frozen=True)
class RequestHeaders:
    """The checked part of a request; all values of a header, because duplicates are an attack."""

    path: str
    host: Sequence[str]
    origin: Sequence[str] = ()
    websocket: bool = False
    reached: tuple[str, int] = ('127.0.0.1', 80)      # local address and port of the connection


class Access:
    """The rules of one server.

    host: the address that it listens on. allowed_hosts: further names by which browsers may reach
    it, NAME or NAME:PORT. allowed_origins: further pages that may use its websocket, as
    http://NAME:PORT, and `none` for programs that send no origin.
    """

    def __init__(self, host: str, allowed_hosts: Sequence[str] = (),
                 allowed_origins: Sequence[str] = ()) -> None:
        self.host = host
        self.loopback = is_loopback(host)
        self.token = '' if self.loopback else secrets.token_urlsafe(24)
        self._hosts = {_checked_host(name) for name in allowed_hosts}
        self._origins = {_checked_origin(name) for name in allowed_origins}
        self._names = set() if self.loopback else {name.lower() for name in own_names(host)}

    def address(self, port: int) -> str:
        """Address of the page, with the token; the host name if it listens on all addresses."""
        name = self.host if not _is_any(self.host) else socket.gethostname()
        name = f'[{name}]' if ':' in name else name
        return f'http://{name}:{port}' + (f'/{self.token}/' if self.token else '')

    def refusal(self, request: RequestHeaders) -> str:
        """Why a request is refused; empty if it is accepted."""
        if len(request.host) != 1:
            return f'expected one Host header, found {len(request.host)}'
        host = request.host[0].lower()
        if not self._is_own(host, request.reached):
            return (f'expected the name or address of this viewer in Host, found '
                    f'{plain(host)!r}. If it is one, list it in the parameter allowed_hosts')
        if not request.path.startswith('/'):
            return 'expected a path'
        path, _, query = request.path.partition('?')
        if self.token and not hmac.compare_digest(path.split('/')[1].encode(),
                                                  self.token.encode()):
            return ('expected the token in the address. The viewer logs the whole address when it '
                    'starts')
        if request.websocket:
            return self._wrong_origin(host, request.origin)
        return self._wrong_query(host, query)

    def inner_path(self, path: str) -> str:
        """The path without the token."""
        return path.removeprefix(f'/{self.token}') or '/' if self.token else path

    def _is_own(self, host: str, reached: tuple[str, int]) -> bool:
        found = HOST.fullmatch(host)
        if found is None:
            return False
        name, port = found[1], int(found[2] or 80)
        if host in self._hosts or f'{name}:{port}' in self._hosts:
            return True
        if port != reached[1]:
            return False
        here = _ip(reached[0])
        return (name in self._hosts or name in self._names or _ip(name.strip('[]')) == here
                or (name == 'localhost' and here is not None and here.is_loopback))

    def _wrong_origin(self, host: str, origins: Sequence[str]) -> str:
        if not origins:
            return '' if NO_ORIGIN in self._origins else (
                f'expected an Origin. A program that sends none can be let in by {NO_ORIGIN!r} in '
                'the parameter allowed_origins')
        origin = origins[0].lower()
        if len(origins) == 1 and (origin == f'http://{host}' or origin in self._origins):
            return ''
        return (f'expected a page of this viewer as Origin, found {plain(origin)!r}. If it is to '
                'be let in, list it in the parameter allowed_origins')

    def _wrong_query(self, host: str, query: str) -> str:
        """The page would load a scene, and with it HTML, from a server named in its address."""
        own = {f'{kind}://{host}/{self.token}' for kind in ('ws', 'wss')}
        for name, value in parse_qsl(query, keep_blank_values=True):
            # With a token in its path the page adds its own websocket to its address.
            if name not in OPTIONS and not (self.token and name == 'websocket' and value in own):
                return f'unexpected option {plain(name)!r} in the address'
        return ''


def answer_headers(host: str) -> dict[str, str]:
    """Headers of every response to a request for `host`, which has been checked."""
    return {'Content-Security-Policy': POLICY.format(host=host), 'X-Frame-Options': 'DENY',
            'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff',
            'Cross-Origin-Opener-Policy': 'same-origin',
            'Cross-Origin-Resource-Policy': 'same-origin'}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`; AccessError if it is unknown."""
    if _is_any(host):
        return False
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError) as error:
        raise AccessError(f'expected an address of this machine, found {plain(host)!r}: '
                          f'{error}') from None
    return all(address is not None and address.is_loopback for address in map(_ip, found))


def own_names(host: str) -> set[str]:
    """Names of this machine that browsers on other machines may use."""
    name = socket.gethostname()
    return {host, name, f'{name}.local'} - {''}      # getfqdn() may block on a name server


def _is_any(host: str) -> bool:
    address = _ip(host)
    return not host or (address is not None and address.is_unspecified)


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition('%')[0])
    except ValueError:
        return None
    return getattr(address, 'ipv4_mapped', None) or address


def _checked_host(text: str) -> str:
    host = text.strip().lower()
    if not HOST.fullmatch(host):
        raise AccessError(f'allowed_hosts: expected NAME or NAME:PORT, found {plain(text)!r}')
    return host


def _checked_origin(text: str) -> str:
    origin = text.strip().lower()
    if origin == 'null':
        raise AccessError("allowed_origins: 'null' is what any web page can send, by a frame with "
                          'the attribute sandbox')
    if origin != NO_ORIGIN and not ORIGIN.fullmatch(origin):
        raise AccessError(f'allowed_origins: expected http://NAME:PORT, https://NAME:PORT or '
                          f'{NO_ORIGIN}, found {plain(text)!r}')
    return origin
