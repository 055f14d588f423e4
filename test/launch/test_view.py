"""view.launch.py in a browser: the page, its buttons through the whole graph, a clean console."""
import re
import socket
import tempfile
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from chromium import Page
from graph import SIM, Listener, seconds
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node
from raw_request import request
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import GetSimulationState

from flex_msgs.msg import FlexState

VIEW = SIM.with_name('view.launch.py')
PATIENCE = 120.0      # s; Chromium draws without a graphics card


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        IncludeLaunchDescription(PythonLaunchDescriptionSource(str(VIEW)), launch_arguments=[
            ('use_rviz', 'false'), ('port', '8191')]),
        Node(package='flex_viz', executable='viewer', name='open_viewer', namespace='wide',
             output='screen', parameters=[{'host': '0.0.0.0', 'port': 8291}]),
        launch_testing.actions.ReadyToTest(),
    ])


class TestPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(FlexState, 'flex_state')
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()
        cls.folder.cleanup()

    def state(self):
        return self.graph.next('flex_state')[0]

    def playing(self):
        answer = self.graph.call(GetSimulationState, 'simulator/get_simulation_state',
                                 GetSimulationState.Request())
        return answer.state.state == SimulationState.STATE_PLAYING

    def now(self):
        return seconds(self.state().header.stamp)

    def test_buttons_reach_the_robot(self, proc_output):
        # By default on loopback; the other viewer, which listens wider, may be the first to speak.
        address = self.graph.until(lambda: self.said(proc_output, '127.0.0.1'), 'the page',
                                   PATIENCE)
        page = Page(Path(self.folder.name), 640, 480)
        try:
            self.use(page, address)
            assert page.errors == []
        finally:
            page.close()

    def test_other_pages_and_those_without_the_token_are_refused(self, proc_output):
        name = socket.gethostname()
        near = self.graph.until(lambda: self.said(proc_output, '127.0.0.1'), 'the page', PATIENCE)
        wide = self.graph.until(lambda: self.said(proc_output, name), 'the open page', PATIENCE)
        found = re.fullmatch(rf'http://{re.escape(name)}:(\d+)/([\w-]{{32}})/', wide)
        port, token = int(found[1]), found[2]

        def status(path, origin, port):
            return request(port, path, Host=f'127.0.0.1:{port}', Origin=origin)[0]
        own = f'http://127.0.0.1:{port}'
        assert status(f'/{token}/', own, port) == 101
        assert status('/', own, port) == status(f'/{token}/', 'http://evil.example', port) == 403
        for origin in ('http://evil.example', 'null'):
            assert status('/', origin, int(near.rpartition(':')[2])) == 403

    @staticmethod
    def said(proc_output, host):
        """The address on this host that a viewer told."""
        text = b''.join(io.text for io in proc_output
                        if io.process_name.startswith('viewer')).decode()
        found = re.search(rf'look at (http://{re.escape(host)}:\S+)', text)
        return found and found.group(1)

    def use(self, page, address):
        page.open(address)
        page.until(lambda: 'simulated time' in page.text(), 'the robot on the page', PATIENCE)

        def press(label, answer):
            page.press(label)
            page.until(lambda: answer in page.text(), f'the answer {answer!r}', PATIENCE)

        press('Pause', 'paused')
        assert not self.playing()
        stood = seconds(self.graph.still('flex_state').header.stamp)
        press('Step', 'stepped 10 periods')
        self.graph.until(lambda: abs(self.now() - stood - 0.02) < 1e-9, 'ten periods')
        press('Play', 'playing')
        assert self.playing()
        press('Push', 'pushed tool with 50 N for 0.1 s')

        def folded():     # once more if a machine that stalls made the control node give it up
            press('Go', 'on the way to folded')
            end = self.now() + 15.0
            return self.graph.until(lambda: there() or self.now() > end, 'time') and there()

        def there():
            return abs(self.state().position[2] - 2.0944) < 0.1
        self.graph.until(folded, 'the folded pose')
        before = self.now()
        press('Reset', 'reset')
        self.graph.until(lambda: self.now() < before, 'time set back')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_ended_well_and_the_wide_one_said_so(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        texts = {}
        for io in proc_output:
            name = re.sub(r'-\d+$', '', io.process_name)
            texts[name] = texts.get(name, '') + io.text.decode()
        everything = ''.join(texts.values())
        assert 'Traceback' not in everything
        warned = re.findall(r'\[wide\.open_viewer\]: listening on 0\.0\.0\.0: anyone', everything)
        refused = re.findall(r'\[wide\.open_viewer\]: request refused: expected', everything)
        assert refused, everything
        assert len(warned) == 1 and '[viewer]: listening on' not in everything
