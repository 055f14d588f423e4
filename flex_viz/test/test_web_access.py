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
"""Who may use the viewer's page and websocket: raw requests, as browsers and others send them."""
import http.server
import socket
import threading
import time

import msgspec
import numpy as np
import pytest
import viser
from chromium import Page
from raw_request import request
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.browser import web_server
from flex_viz.browser.moment import Actions, Moment
from flex_viz.browser.panel import Panel
from flex_viz.browser.scene import Scene
from flex_viz.browser.web_access import Access, AccessError, RequestHeaders, is_loopback
from flex_viz.browser.web_server import GuardedServer, WebServerError


@pytest.fixture(scope='module')
def told():
    return []


@pytest.fixture(scope='module')
def server(told):
    made = GuardedServer(Access('127.0.0.1', ['robot.example', 'localhost:9000'],
                                ['https://desk.example', 'http://10.1.2.3:99']), 8731, 'test',
                         told.append)
    yield made
    made.stop()


def own(port, name='127.0.0.1'):
    return {'Host': f'{name}:{port}', 'Origin': f'http://{name}:{port}'}


@pytest.mark.parametrize('name', ['127.0.0.1', 'localhost', 'LOCALHOST', 'robot.example'])
def test_the_pages_own_origin_is_let_in(server, name):
    assert request(server.get_port(), **own(server.get_port(), name))[0] == 101
    assert request(server.get_port(), upgrade='', Host=f'{name}:{server.get_port()}')[0] == 200


def test_origins_and_hosts_that_the_user_lists_are_let_in(server):
    port = server.get_port()
    host = f'127.0.0.1:{port}'
    assert request(port, Host=host, Origin='https://desk.example')[0] == 101
    assert request(port, Host=host, Origin='http://10.1.2.3:99')[0] == 101
    assert request(port, Host='localhost:9000', Origin='http://localhost:9000')[0] == 101


@pytest.mark.parametrize('origin', [
    'http://evil.example', 'null', 'http://localhost', 'http://127.0.0.1:1', 'http://localhost:{}',
    'https://127.0.0.1:{}', 'http://127.0.0.1:{}.evil.example', 'http://127.0.0.1:{}@evil.example',
    'http://desk.example', 'file://', '', 'chrome-extension://abc', (), ('http://127.0.0.1:{}',
                                                                        'http://evil.example')])
def test_other_origins_are_refused(server, origin):
    """`()` is a program that sends none: it has to be listed, as any other."""
    port = server.get_port()
    origins = [one.format(port) for one in ([origin] if isinstance(origin, str) else origin)]
    status, _, body = request(port, Host=f'127.0.0.1:{port}', Origin=origins)
    assert status == 403 and b'allowed_origins' in body


@pytest.mark.parametrize('host', [
    'evil.example', 'evil.example:{}', '127.0.0.1', '127.0.0.1:1', 'localhost:1', '[::1]:{}',
    '127.0.0.2:{}', '127.0.0.1:{}.evil.example', '127.0.0.1:{}@evil.example', 'evil.example/:{}',
    '', '0x7f000001:{}', 'localhost.:{}', (), ('127.0.0.1:{}', 'evil.example')])
@pytest.mark.parametrize('upgrade', ['websocket', ''])
def test_other_hosts_are_refused(server, host, upgrade):
    """A name that its owner lets point here (DNS rebinding), another port, tricks of notation."""
    port = server.get_port()
    hosts = [one.format(port) for one in ([host] if isinstance(host, str) else host)]
    origin = f'http://{hosts[0]}' if hosts else f'http://127.0.0.1:{port}'
    assert request(port, upgrade=upgrade, Host=hosts, Origin=origin)[0] == 403


@pytest.mark.parametrize('query', [
    'websocket=ws://evil.example', '%77ebsocket=ws://evil.example', 'playbackPath=//evil.example',
    'darkMode&websocket=ws://evil.example'])
def test_an_address_that_loads_a_scene_from_elsewhere_is_refused(server, query):
    """A scene brings HTML with it, and the page it comes into may use the websocket."""
    port = server.get_port()
    assert request(port, f'/?{query}', '', Host=f'localhost:{port}')[0] == 403
    assert request(port, '/?darkMode', '', Host=f'localhost:{port}')[0] == 200


def test_notations_of_upgrade_do_not_get_around(server):
    port = server.get_port()
    for upgrade in ('WebSocket', 'WEBSOCKET', 'h2c', 'websocket, h2c'):
        status, _, _ = request(port, '/', upgrade, Host=f'127.0.0.1:{port}',
                               Origin='http://evil.example')
        assert status == 403


def test_the_page_cannot_be_framed_and_connects_nowhere_else(server):
    port = server.get_port()
    _, head, _ = request(port, upgrade='', Host=f'localhost:{port}')
    assert "frame-ancestors 'none'" in head and 'X-Frame-Options: DENY' in head
    assert f"connect-src 'self' ws://localhost:{port}" in head
    assert 'Access-Control-Allow-Origin' not in head


def test_refusals_are_counted_and_told_in_a_line(server, told):
    port, before = server.get_port(), server.refused
    request(port, Host='\x9b2Jevil', Origin='x')
    assert server.refused == before + 1
    assert 'request refused' in told[-1] and told[-1].isprintable()
    assert len(told[-1]) < 300


def test_bytes_that_are_no_http_or_no_message_do_no_harm(server, told, capfd):
    port, before = server.get_port(), len(told)
    for data in (b'\xff' * 500 + b'\r\n\r\n', b'GET /\r\n\r\n', b'POST / HTTP/1.1\r\n\r\n'):
        with socket.create_connection(('127.0.0.1', port), timeout=30) as link:
            link.sendall(data)
            while link.recv(65536):
                pass
    for message in (b'\xc1', 'text', msgspec.msgpack.encode({'type': 'NoSuchMessage'})):
        with connect(f'ws://127.0.0.1:{port}', origin=f'http://127.0.0.1:{port}',
                     subprotocols=[f'viser-v{viser.__version__}'], max_size=None) as link:
            link.send(message)
            with pytest.raises(ConnectionClosed):
                while True:
                    link.recv(timeout=30)
    assert len(told) == before + 3 and all('connection handler failed' in line
                                           for line in told[before:])
    assert 'Traceback' not in ''.join(capfd.readouterr())
    assert request(port, **own(port))[0] == 101


@pytest.fixture(scope='module')
def wide():
    made = GuardedServer(Access('0.0.0.0'), 8741, 'test')
    yield made
    made.stop()


@pytest.mark.parametrize('upgrade', ['websocket', ''])
def test_beyond_loopback_a_token_is_asked_for(wide, upgrade):
    port, token = wide.get_port(), wide.access.token
    good = 101 if upgrade else 200
    assert len(token) >= 32 and token in wide.access.address(port)

    def status(path):
        return request(port, path, upgrade, **own(port))[0]
    assert status(f'/{token}') == status(f'/{token}/') == good
    for path in ('/', '/index.html', f'/{token[:-1]}', f'/{token}x', f'/{token.swapcase()}',
                 f'/x/{token}', f'//{token}', f'/?token={token}', f'/%2e/{token}', f'/../{token}',
                 f'http://127.0.0.1/{token}'):
        assert status(path) == 403, path
    assert request(port, f'/{token}/', upgrade, Host=f'evil.example:{port}',
                   Origin=f'http://evil.example:{port}')[0] == 403
    assert request(port, f'/{token}/', Host=f'127.0.0.1:{port}',
                   Origin='http://evil.example')[0] == 403


def test_the_page_with_a_token_may_name_its_own_websocket_only(wide):
    """viser's page does so itself, and asks for that address when it is loaded again."""
    port, token = wide.get_port(), wide.access.token
    for value, status in ((f'ws://127.0.0.1:{port}/{token}', 200), (f'ws://127.0.0.1:{port}', 403),
                          (f'ws://evil.example/{token}', 403)):
        assert request(port, f'/{token}/?websocket={value}', '',
                       Host=f'127.0.0.1:{port}')[0] == status


def test_the_machines_own_name_and_addresses_are_its_hosts():
    access = Access('0.0.0.0')
    path = f'/{access.token}'
    for host in (f'{socket.gethostname()}:80', '192.0.2.7', '192.0.2.7:80'):
        assert access.refusal(RequestHeaders(path, [host], reached=('192.0.2.7', 80))) == ''
    for host in ('192.0.2.8', 'localhost', '192.0.2.7:81', '[::ffff:c000:208]'):
        assert access.refusal(RequestHeaders(path, [host], reached=('192.0.2.7', 80)))
    assert Access('::').address(80).startswith(f'http://{socket.gethostname()}:80/')
    assert Access('::1').address(80) == 'http://[::1]:80'


@pytest.mark.parametrize('host, inside', [
    ('127.0.0.1', True), ('localhost', True), ('::1', True), ('127.8.9.1', True),
    ('0.0.0.0', False), ('::', False), ('', False), ('192.0.2.1', False)])
def test_what_is_loopback(host, inside):
    assert is_loopback(host) == inside
    assert bool(Access(host).token) != inside


def test_programs_without_origin_are_let_in_if_listed():
    headers = RequestHeaders('/', ['localhost'], websocket=True)
    assert 'allowed_origins' in Access('127.0.0.1').refusal(headers)
    assert Access('127.0.0.1', (), ['none']).refusal(headers) == ''


@pytest.mark.parametrize('hosts, origins, said', [
    (['*'], [], 'allowed_hosts'), (['a b'], [], 'allowed_hosts'), (['http://a'], [], 'NAME:PORT'),
    ([], ['*'], 'allowed_origins'), ([], ['null'], 'any web page'), ([], ['a'], 'http://NAME'),
    ([], ['http://a/b'], 'allowed_origins'), ([], ['x' * 10**5], r'\.\.\.')])
def test_rules_that_cannot_be_are_refused_in_a_sentence(hosts, origins, said):
    with pytest.raises(AccessError, match=said) as found:
        Access('127.0.0.1', hosts, origins)
    assert len(str(found.value)) < 300


@pytest.mark.parametrize('host', ['192.0.2.1', 'no such host', 'x' * 100, '\udcff'])
def test_an_address_that_is_not_here_is_an_error_and_no_wait(host):
    with pytest.raises((AccessError, WebServerError), match='expected an address of this machine'):
        GuardedServer(Access(host), 8751, 'test')


def test_a_server_that_cannot_be_guarded_does_not_stay(monkeypatch):
    with monkeypatch.context() as changed:
        changed.setattr(viser, '__version__', '1.2.0')
        with pytest.raises(WebServerError, match=r"found 1\.2\.0: pip install 'viser~=1\.1\.1'"):
            GuardedServer(Access('127.0.0.1'), 8761, 'test')
    real = web_server.websockets.asyncio.server.serve
    # As if another release had renamed what is looked for.
    monkeypatch.setattr(GuardedServer, '_serve_with', lambda self, real: real)
    with pytest.raises(WebServerError, match='cannot be guarded'):
        GuardedServer(Access('127.0.0.1'), 8761, 'test')
    assert web_server.websockets.asyncio.server.serve is real
    with pytest.raises(OSError):
        socket.create_connection(('127.0.0.1', 8761), timeout=5).close()


def test_no_message_opens_a_tunnel(server):
    assert server.request_share_url() is None and server._share_tunnel is None


class Pressed:
    """Buttons that only keep what they were asked."""

    def __init__(self):
        self.calls = []
        self.actions = Actions(*(self._keeper(name) for name in (
            'pause', 'play', 'step', 'reset', 'push', 'go', 'pull', 'payload', 'select')))

    def _keeper(self, name):
        return lambda *given: self.calls.append((name, *given))


def test_messages_press_buttons_and_nonsense_does_no_harm():
    """What an allowed page sends: the buttons work, and values beyond every slider are bounded."""
    model, pressed = Model(load_robot('lab_link')), Pressed()
    server = GuardedServer(Access('127.0.0.1'), 8771, 'test')
    try:
        panel = Panel(server, Scene(server, model), pressed.actions, {'up': np.zeros(1)})
        inputs = {handle._impl.props.label: handle._impl.uuid
                  for handle in server.gui._gui_input_handle_from_uuid.values()}
        port = server.get_port()

        def send(link, label, value):
            link.send(msgspec.msgpack.encode({
                'type': 'GuiUpdateMessage', 'uuid': inputs[label], 'updates': {'value': value}}))

        with connect(f'ws://127.0.0.1:{port}', origin=f'http://127.0.0.1:{port}',
                     subprotocols=[f'viser-v{viser.__version__}'], max_size=None) as link:
            camera = {'type': 'ViewerCameraMessage', 'wxyz': (1, 0, 0, 0), 'position': (0, 0, 0),
                      'fov': 1.0, 'image_height': 9, 'image_width': 9, 'near': 0.1, 'far': 9.0,
                      'look_at': (0, 0, 1), 'up_direction': (0, 0, 1)}
            link.send(msgspec.msgpack.encode(camera))
            for value in (float('nan'), 1e308, -1e308):
                for label in ('deflection drawn, times', 'stronger colours, times',
                              'amplitude (% of reach)', 'force (N)', 'duration (s)', 'mass (kg)',
                              'duration of the motion (s)', 'length of the film (s)'):
                    send(link, label, value)
                for label in ('colours show', 'direction', 'pose', 'joints', 'mode'):
                    send(link, label, f'7{value}')
                send(link, 'Push', True)
                send(link, 'Go', True)
                send(link, 'attached', True)
                send(link, 'attached', False)
            send(link, 'simulation', 'Reset')
            end = time.monotonic() + 60.0
            while len(pressed.calls) < 13 and time.monotonic() < end:
                time.sleep(0.02)
            assert not panel.show(0.0, None)
            live = Moment(0.0, np.full(model.n, 0.1), np.zeros(1))
            assert panel.show(0.1, live)
            for value in (float('nan'), 1e308, -1e308):      # a joint, now that it is known
                send(link, 'joint1 (rad)', value)
            while len(pressed.calls) < 16 and time.monotonic() < end:
                time.sleep(0.02)
        for name, *given in pressed.calls:
            if name == 'push':
                assert np.linalg.norm(given[0]) <= 500.0 and 0.01 <= given[1] <= 2.0
            if name == 'go':
                assert np.abs(given[0]).max() <= 2.0 * np.pi and 0.5 <= given[1] <= 1e3
            if name == 'payload':
                assert 0.0 <= given[0] <= 100.0
        assert sorted(name for name, *_ in pressed.calls) == sorted(
            ['go'] * 6 + ['push'] * 3 + ['payload'] * 6 + ['reset'])
    finally:
        server.stop()


EVIL = """<!DOCTYPE html><title>waiting</title><script>
const found = [];
function note(text) {{ found.push(text); document.title = found.join(' '); }}
for (const host of ['127.0.0.1', 'localhost']) {{
    const socket = new WebSocket('ws://' + host + ':{port}', ['viser-v{version}']);
    socket.onopen = () => note('open'); socket.onerror = () => note('refused');
    fetch('http://' + host + ':{port}/').then(() => note('read'), () => note('unread'));
}}
const frame = document.createElement('iframe');
frame.src = 'http://127.0.0.1:{port}/';
frame.onload = () => note('loaded');
document.documentElement.append(frame);
</script>"""


def serve(html):
    """Another web server on this machine, with one page."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *given):
            pass
    made = http.server.HTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return made


def test_another_page_in_a_browser_reaches_nothing(server, tmp_path):
    port = server.get_port()
    other = serve(EVIL.format(port=port, version=viser.__version__))
    page = Page(tmp_path, 600, 400)
    try:
        clients = len(server.get_clients())
        page.open(f'http://127.0.0.1:{other.server_port}/')
        found = page.until(lambda: (title := page.evaluate('document.title').split())
                           and len(title) == 5 and title, 'five answers', 120.0)
        assert sorted(found) == ['loaded', 'refused', 'refused', 'unread', 'unread']
        assert any('frame-ancestors' in error for error in page.errors), page.errors
        assert len(server.get_clients()) == clients
    finally:
        page.close()
        other.shutdown()


def test_the_page_with_a_token_works_in_a_browser_and_after_a_reload(wide, tmp_path):
    page, clicks = Page(tmp_path, 800, 600), []
    try:
        wide.gui.main_panel.dock_right()      # where it does not move
        wide.gui.add_button('Press me').on_click(lambda _: clicks.append(1))
        page.open(f'http://127.0.0.1:{wide.get_port()}/{wide.access.token}/')
        seen = set()
        for count in (1, 2):
            seen |= page.until(lambda seen=frozenset(seen): set(wide.get_clients()) - seen,
                               'the browser', 120.0)
            page.press('Press me')
            page.until(lambda count=count: len(clicks) == count, 'the click', 120.0)
            page.call('Page.reload')
            page.until(lambda: 'Press me' in page.text(), 'the page again', 120.0)
        assert page.errors == []
        page.open(f'http://127.0.0.1:{wide.get_port()}/')
        page.until(lambda: 'Refused: expected the token' in page.text(), 'a refusal', 120.0)
    finally:
        page.close()
