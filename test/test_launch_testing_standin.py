"""The stand-in for launch_testing: what passes, what fails, and what it says then."""
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STAND_IN = ROOT / 'bare' / 'launch_standin'
HEAD = """
import sys
import time
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import launch_testing.markers
import pytest
from launch import LaunchDescription
from launch.actions import ExecuteProcess, TimerAction

CODE = '''
import sys, time
try:
    print('ready to serve')
    print('a warning', file=sys.stderr)
    time.sleep(LIFE)
except KeyboardInterrupt:
    print('goodbye')
sys.exit(CODE)
'''


def process(life=30, code=0):
    return ExecuteProcess(cmd=[sys.executable, '-u', '-c', CODE.replace(
        'LIFE', str(life)).replace('CODE', str(code))], name='server', output='screen')

"""


def run(folder, body):
    path = folder / 'test_sample.py'
    path.write_text(HEAD + textwrap.dedent(body))
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [str(STAND_IN), os.environ.get('PYTHONPATH', '')]))
    done = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', path.name],
                          cwd=folder, env=env, text=True, capture_output=True, timeout=60)
    return done.returncode, done.stdout


GOOD = """
@pytest.mark.launch_test
def generate_test_description():
    server = process()
    return LaunchDescription([server, launch_testing.actions.ReadyToTest()]), {'server': server}


class WhileItRuns(unittest.TestCase):
    @classmethod
    def setUpClass(cls, server):
        cls.name = 'server'

    def test_output(self, proc_output, server):
        proc_output.assertWaitFor('ready to serve', process=server, timeout=10, stream='stdout')
        proc_output.assertWaitFor('a warning', timeout=10)

    def test_startup(self, proc_info):
        proc_info.assertWaitForStartup(self.name, timeout=10)
        assert 'server-1' in proc_info.process_names()


@launch_testing.post_shutdown_test()
class Afterwards(unittest.TestCase):
    def test_exit(self, proc_info, proc_output, server):
        launch_testing.asserts.assertExitCodes(proc_info)
        launch_testing.asserts.assertInStdout(proc_output, 'goodbye', server)
        launch_testing.asserts.assertInStderr(proc_output, 'a warning', server)
"""


def test_a_good_launch_test_passes(tmp_path):
    code, output = run(tmp_path, GOOD)
    assert code == 0, output
    assert '1 passed' in output


@pytest.mark.parametrize('old, new, expected', [
    ("'ready to serve', process=server, timeout=10", "'never said', process=server, timeout=1",
     'Waiting for output timed out'),
    ('server = process()', 'server = process(code=3)', 'exited with code 3'),
    ("assert 'server-1' in", "assert 'server-2' in", 'test_startup'),
    ('launch_testing.actions.ReadyToTest()', '', 'ReadyToTest'),
    ('launch_testing.actions.ReadyToTest()',
     'TimerAction(period=60.0, actions=[launch_testing.actions.ReadyToTest()])', 'within 2 s'),
])
def test_a_bad_one_fails_and_says_why(tmp_path, old, new, expected):
    assert old in GOOD
    body = GOOD.replace(old, new)
    if 'Timer' in new:
        body = body.replace('@pytest.mark', '@launch_testing.ready_to_test_action_timeout(2)\n'
                            '@pytest.mark')
    code, output = run(tmp_path, body)
    assert code == 1, output
    assert '1 failed' in output
    assert expected in output


def test_processes_that_end_before_the_tests_fail_them(tmp_path):
    code, output = run(tmp_path, GOOD.replace('server = process()', 'server = process(life=0.1)')
                       .replace('ready to serve', 'never said', 1))
    assert code == 1, output
    assert 'ended before the tests did: server-1 0' in output


def test_a_launch_kept_alive_outlives_its_processes(tmp_path):
    body = GOOD.replace('server = process()', 'server = process(life=0.1)').replace(
        '@pytest.mark', '@launch_testing.markers.keep_alive\n@pytest.mark').replace(
        "'goodbye'", "'ready'").replace(
        'def test_startup(self, proc_info):', 'def test_startup(self, proc_info):\n'
        '        proc_info.assertWaitForShutdown("server", timeout=10)')
    code, output = run(tmp_path, body)
    assert code == 0, output


def test_an_unknown_name_is_refused(tmp_path):
    code, output = run(tmp_path, 'from launch_testing import parametrize\n')
    assert code != 0
    assert re.search('launch_testing.parametrize.*stand-in', output), output
