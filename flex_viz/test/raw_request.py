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
"""HTTP requests as bytes: with headers that no library would send."""
from __future__ import annotations

import socket

import viser

KEY = 'dGhlIHNhbXBsZSBub25jZQ=='


def request(port, path='/', upgrade='websocket', address='127.0.0.1', **headers):
    """Status, head and body of the answer to a request with just these headers."""
    lines = [f'GET {path} HTTP/1.1']
    if upgrade:
        lines += [f'Upgrade: {upgrade}', 'Connection: Upgrade', f'Sec-WebSocket-Key: {KEY}',
                  'Sec-WebSocket-Version: 13',
                  f'Sec-WebSocket-Protocol: viser-v{viser.__version__}']
    for name, value in headers.items():
        lines += [f'{name}: {one}' for one in ([value] if isinstance(value, str) else value)]
    with socket.create_connection((address, port), timeout=30) as link:
        link.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1'))
        data = b''
        while b'\r\n\r\n' not in data and (more := link.recv(65536)):
            data += more
        head, _, body = data.partition(b'\r\n\r\n')
        status = int(head.split()[1]) if head else 0
        while status != 101 and (more := link.recv(65536)):      # a websocket stays open
            body += more
    return status, head.decode('latin-1'), body
