"""The bundled `ros2` on a running graph: one node in a process of its own, all commands here."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
import yaml
from rclpy.signals import SignalHandlerOptions

ROOT = Path(__file__).resolve().parent.parent
STAND_IN = ROOT / 'bare' / 'launch_standin'
sys.path.insert(0, str(STAND_IN))

from ros2cli_standin import graph as graph_module  # noqa: E402
from ros2cli_standin.cli import main  # noqa: E402

WRENCH = ('/wrench', 'geometry_msgs/msg/WrenchStamped')
STEPS = ('/steps', 'simulation_interfaces/action/SimulateSteps')
PARAMETERS = ['count', 'fixed', 'flag', 'flags', 'gains', 'heard', 'kept.name', 'kept.names',
              'kept.on', 'kept.sizes', 'kept.weight', 'label', 'names', 'noise', 'pd.kd', 'pd.kp',
              'sizes', 'start_type_description_service', 'use_sim_time']


@pytest.fixture(scope='module', autouse=True)
def partner():
    """Also keeps a participant in this process: commands use it, and discover at once."""
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name(
        'ros2cli_partner.py'))], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'ready\n'
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    keeper = rclpy.create_node('_keeper', start_parameter_services=False)
    yield process
    keeper.destroy_node()
    rclpy.shutdown()
    process.terminate()
    try:
        process.wait(10.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture
def ros2(capfd, monkeypatch):
    monkeypatch.setattr(graph_module, 'SPIN_TIME', 0.2)

    def run(*words, code=0):
        capfd.readouterr()
        returned = main(list(words))
        out, err = capfd.readouterr()
        assert returned == code, err
        assert 'Traceback' not in err
        return out if code == 0 else out + err
    return run


def start(*words):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [str(STAND_IN), os.environ.get('PYTHONPATH', '')]))
    return subprocess.Popen([sys.executable, '-m', 'ros2cli_standin', *words], env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for_parameter(ros2, expected):
    """Until the node says that it has heard `expected`."""
    end = time.monotonic() + 30.0
    while (heard := ros2('param', 'get', '/partner', 'heard', '--hide-type').strip()) != expected:
        assert time.monotonic() < end, heard


def test_topic_list(ros2):
    assert set(ros2('topic', 'list').splitlines()) >= {
        '/chatter', '/joint_states', '/long', '/wrench', '/rosout', '/parameter_events'}
    typed = ros2('topic', 'list', '-t').splitlines()
    assert '/chatter [std_msgs/msg/String]' in typed
    assert not any('_action' in line for line in typed)
    assert '/steps/_action/status' in ros2('topic', 'list', '--include-hidden-topics')
    assert '/steps/_action/status' in ros2('topic', '--include-hidden-topics', 'list')
    assert int(ros2('topic', 'list', '-c')) == len(typed)
    detailed = ros2('topic', 'list', '-v')
    assert ' * /wrench [geometry_msgs/msg/WrenchStamped] 1 subscriber\n' in detailed
    assert detailed.startswith('Published topics:\n * /chatter [std_msgs/msg/String] 1 publisher')


def test_topic_info(ros2):
    assert ros2('topic', 'info', '/chatter') == (
        'Type: std_msgs/msg/String\nPublisher count: 1\nSubscription count: 0\n')
    detailed = ros2('topic', 'info', 'wrench', '--verbose')
    assert 'Publisher count: 0\n\nSubscription count: 1\n\nNode name: partner\n' in detailed
    assert 'Reliability: RELIABLE' in detailed


def test_echo_yaml_and_csv(ros2):
    assert ros2('topic', 'echo', '/joint_states', '--once') == (
        "header:\n  stamp:\n    sec: 7\n    nanosec: 0\n  frame_id: ''\nname:\n- j1\n- j2\n"
        'position:\n- 1.0\n- -2.5\nvelocity: []\neffort: []\n---\n')
    assert ros2('topic', 'echo', 'joint_states', '--once', '--csv') == '7,0,,j1,j2,1.0,-2.5,,\n'


def test_echo_hears_latched_messages(ros2):
    assert ros2('topic', 'echo', '/chatter', '--once') == 'data: hello\n---\n'
    assert ros2('topic', 'echo', '--once', '/chatter', 'std_msgs/String', '--field',
                'data') == 'hello\n---\n'


def test_echo_shortens_and_selects(ros2):
    assert ros2('topic', 'echo', '/long', '--once', '-l', '2', '--field', 'data').startswith(
        "array('d', [0.5, 0.5, 0.5")
    assert "data:\n- 0.5\n- 0.5\n- '...'\n" in ros2('topic', 'echo', '/long', '--once', '-l', '2')
    assert ros2('topic', 'echo', '/long', '--once').count('- 0.5') == 128
    assert ros2('topic', 'echo', '/long', '--once', '-f').count('- 0.5') == 200
    assert "data: '<sequence type: double, length: 200>'" in ros2(
        'topic', 'echo', '/long', '--once', '--no-arr')
    assert ros2('topic', 'echo', '/joint_states', '--once', '--field', 'header.stamp',
                '--flow-style') == '{sec: 7, nanosec: 0}\n---\n'
    assert ros2('topic', 'echo', '/joint_states', '--once', '--raw').startswith(r"b'\x00\x01")
    assert 'source_timestamp:' in ros2('topic', 'echo', '/joint_states', '--once', '-i')
    assert '- j1' in ros2('topic', 'echo', '/joint_states', '--once', '--filter',
                          "m.name[0] == 'j1'")


def test_echo_says_what_is_wrong(ros2, monkeypatch):
    monkeypatch.setattr('ros2cli_standin.topic_echo.LONGEST_DISCOVERY', 0.1)
    text = ros2('topic', 'echo', '/chater', code=1)
    assert "Could not determine the type for the passed topic; did you mean '/chatter'?" in text
    assert "did you mean 'stamp'" in ros2('topic', 'echo', '/joint_states', '--field',
                                          'header.stmp', code=1)
    assert 'not a Python expression' in ros2('topic', 'echo', '/joint_states', '--filter', '1 +',
                                             code=1)
    assert "has no attribute 'foo'" in ros2('topic', 'echo', '/joint_states', '--filter', 'm.foo',
                                            code=1)
    assert 'no message on /chatter within 0.5 s' in ros2(
        'topic', 'echo', '/chatter', '--filter', 'False', '--timeout', '0.5', code=1)
    assert "'a b' is not a valid name" in ros2('topic', 'echo', 'a b', code=1)


def test_unknown_topic(ros2, monkeypatch):
    monkeypatch.setattr('ros2cli_standin.topic.LONGEST_DISCOVERY', 0.1)
    assert "Unknown topic '/chater'; did you mean '/chatter'?" in ros2('topic', 'info', '/chater',
                                                                       code=1)


def test_pub_once_with_the_time_of_publishing(ros2):
    text = ros2('topic', 'pub', '-1', *WRENCH,
                '{header: {stamp: now, frame_id: tip}, wrench: {force: {x: 1e3}}}')
    assert 'publisher: beginning loop\npublishing #1: geometry_msgs.msg.WrenchStamped(' in text
    wait_for_parameter(ros2, 'tip 1000.0 True')
    ros2('topic', 'pub', '--once', *WRENCH, '{header: auto, wrench: {force: {x: 2}}}')
    wait_for_parameter(ros2, '2.0 True')


def test_pub_some_times_from_stdin(ros2, monkeypatch, tmp_path):
    path = tmp_path / 'wrench.yaml'
    path.write_text('header: {frame_id: base}\n')
    with path.open() as file:
        monkeypatch.setattr('sys.stdin', file)
        text = ros2('topic', 'pub', '-t', '4', '-r', '50', '-p', '2', '--stdin', *WRENCH)
    assert [line.split(':')[0] for line in text.splitlines() if 'publishing' in line] == [
        'publishing #2', 'publishing #4']
    wait_for_parameter(ros2, 'base 0.0 False')


def test_pub_warns_of_another_type_and_stops_waiting(ros2):
    text = ros2('topic', 'pub', '-1', '-w', '1', '--max-wait-time-secs', '4', '/wrench',
                'std_msgs/String', 'data: a', code=1)
    assert 'WARNING: /wrench also has the type geometry_msgs/msg/WrenchStamped' in text
    assert 'Waiting for at least 1 matching subscription(s)...' in text
    assert 'Timed out waiting for subscribers: Expected 1' in text


def test_hz_until_interrupted():
    process = start('topic', 'hz', '/joint_states')
    line = process.stdout.readline()
    while not line.startswith('average rate: '):
        assert line
        line = process.stdout.readline()
    assert float(line.split(': ')[1]) > 0.0
    assert process.stdout.readline().startswith('\tmin: ')
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == signal.SIGINT
    assert 'Traceback' not in rest


def test_echo_into_a_pipe_that_closes():
    process = start('topic', 'echo', '/joint_states', '--csv')
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 1


def test_node_list_and_info(ros2):
    assert '/partner' in ros2('node', 'list').splitlines()
    assert '/_ros2cli_' in ros2('node', 'list', '-a')
    text = ros2('node', 'info', '/partner')
    assert text.startswith('/partner\n  Subscribers:\n    /wrench: geometry_msgs/msg/Wr')
    assert '  Service Clients:\n\n  Action Servers:\n    /steps: ' in text
    assert '_action' not in text
    assert '/steps/_action/send_goal' in ros2('node', 'info', 'partner', '--include-hidden')


def test_a_node_that_is_not_there(ros2, monkeypatch):
    monkeypatch.setattr('ros2cli_standin.node.LONGEST_DISCOVERY', 0.1)
    assert "Unable to find node '/parner' within 0.1 s; did you mean '/partner'?" in ros2(
        'node', 'info', '/parner', code=1)
    text = ros2('param', 'get', '/nobody', 'noise', '--timeout', '0.1', code=1)
    assert "Node not found: no node '/nobody' within 0.1 s" in text


def test_param_list(ros2):
    assert ros2('param', 'list', '/partner').split() == PARAMETERS
    assert '/partner:\n  count\n' in ros2('param', 'list')
    assert ros2('param', 'list', 'partner', '--filter', 'ga', '--param-type') == (
        '  gains (type: double array)\n')
    assert ros2('param', 'list', '/partner', '--param-prefixes', 'pd').split() == [
        'pd.kd', 'pd.kp']
    assert 'not a regular expression' in ros2('param', 'list', '--filter', '(', code=1)


@pytest.mark.parametrize('name, text', [
    ('kept.on', 'Boolean value is: True'), ('kept.sizes', 'Integer values are: [1, 2]'),
    ('kept.names', "String values are: ['a', 'b']"), ('kept.weight', 'Double value is: 4.0'),
    ('flags', 'Boolean values are: [True, False]'), ('fixed', 'Integer value is: 1'),
    ('kept.name', 'String value is: arm')])
def test_param_get(ros2, name, text):
    assert ros2('param', 'get', '/partner', name) == text + '\n'


@pytest.mark.parametrize('name, value, read', [
    ('noise', '1e-6', '1e-06'), ('noise', '0.25', '0.25'), ('label', '1e-6', '1e-6'),
    ('count', '7', '7'), ('gains', '[1e-6, 2]', '[1e-06, 2.0]'), ('pd.kd', '-1e3', '-1000.0'),
    ('sizes', '[]', '[]'), ('names', '[x, y z]', "['x', 'y z']"), ('flag', 'false', 'False'),
    ('label', 'a: [', 'a: [')])
def test_param_set(ros2, name, value, read):
    assert ros2('param', 'set', '/partner', name, value) == 'Set parameter successful\n'
    assert ros2('param', 'get', '--hide-type', '/partner', name) == read + '\n'


@pytest.mark.parametrize('name, value, reason', [
    ('noise', '3.0', 'out of range'), ('noise', 'much', "expected 'Type.DOUBLE'"),
    ('count', '-1', 'negative'), ('fixed', '2', 'read-only'),
    ('count', '9' * 20, 'not an integer of 64 bits'), ('nose', '1.0', "did you mean 'noise'?")])
def test_param_set_refused(ros2, name, value, reason):
    text = ros2('param', 'set', '/partner', name, value, code=1)
    assert text.startswith('Setting parameter failed: ') and reason in text


def test_param_get_and_describe_unknown(ros2):
    for verb in ('get', 'describe'):
        assert "no parameter 'nois'; did you mean 'noise'?" in ros2('param', verb, '/partner',
                                                                    'nois', code=1)


def test_a_node_that_does_not_answer(ros2, monkeypatch):
    """Nobody spins it: its services are there, and silent. It does not hide the other node."""
    silent = rclpy.create_node('silent')
    monkeypatch.setattr('ros2cli_standin.parameter_services.LONGEST_ANSWER', 0.5)
    try:
        assert 'is there but has not answered for 0.5 s' in ros2('param', 'get', '/silent', 'a',
                                                                 code=1)
        monkeypatch.setattr('ros2cli_standin.parameter_services.LONGEST_ANSWER', 5.0)
        monkeypatch.setattr(graph_module, 'RETRY', 1.0)
        monkeypatch.setattr(graph_module, 'SERVICE_WAIT', 5.0)
        assert '/partner:\n  count\n' in ros2('param', 'list')
    finally:
        silent.destroy_node()


def test_param_describe(ros2):
    assert ros2('param', 'describe', '/partner', 'noise', 'fixed') == (
        'Parameter name: noise\n  Type: double\n  Description: Noise in m\n  Constraints:\n'
        '    Min value: 0.0\n    Max value: 1.0\n'
        'Parameter name: fixed\n  Type: integer\n  Constraints:\n    Read only: true\n')


def test_param_dump_and_load(ros2, tmp_path):
    ros2('param', 'set', '/partner', 'pd.kp', '8.0')
    text = ros2('param', 'dump', '/partner')
    section = yaml.safe_load(text)['/partner']['ros__parameters']
    assert section['pd']['kp'] == 8.0 and section['use_sim_time'] is False
    assert section['kept'] == {'name': 'arm', 'names': ['a', 'b'], 'on': True, 'sizes': [1, 2],
                               'weight': 4.0}
    path = tmp_path / 'values.yaml'
    path.write_text('/**: {ros__parameters: {noise: 1e-3, pd: {kp: 1.0, kd: 9.0}}}\n'
                    '/other: {ros__parameters: {label: other}}\n'
                    'partner: {ros__parameters: {pd: {kp: 2.5}, gains: [1, 2.5]}}\n')
    assert ros2('param', 'load', '/partner', str(path)).splitlines() == [
        f'Set parameter {name} successful' for name in ('noise', 'pd.kp', 'pd.kd', 'gains')]
    assert ros2('param', 'get', '/partner', 'noise') == 'Double value is: 0.001\n'
    assert ros2('param', 'get', '/partner', 'pd.kp') == 'Double value is: 2.5\n'
    path.write_text('/partner: {ros__parameters: {count: -5, label: loaded}}\n')
    text = ros2('param', 'load', '/partner', str(path), code=1)
    assert 'Set parameter label successful' in text
    assert 'Set parameter count failed: negative' in text


def test_service_list_and_call(ros2):
    assert '/switch' in ros2('service', 'list').splitlines()
    assert '/switch [std_srvs/srv/SetBool]' in ros2('service', 'list', '-t').splitlines()
    assert int(ros2('service', 'list', '--count-services')) >= 8
    assert '/steps/_action/send_goal' in ros2('service', 'list', '--include-hidden-services')
    text = ros2('service', 'call', '/switch', 'std_srvs/srv/SetBool', '{data: true}')
    assert text.endswith(
        'requester: making request: std_srvs.srv.SetBool_Request(data=True)\n\n'
        "response:\nstd_srvs.srv.SetBool_Response(success=True, message='switched')\n\n")


def test_service_call_says_what_is_wrong(ros2, monkeypatch):
    assert "'/switch' has the type std_srvs/srv/SetBool, not std_srvs/srv/Trigger" in ros2(
        'service', 'call', '/switch', 'std_srvs/Trigger', code=1)
    monkeypatch.setattr('ros2cli_standin.service.SERVICE_WAIT', 4.0)
    assert "no server of service '/swich' within 4 s; did you mean '/switch'?" in ros2(
        'service', 'call', '/swich', 'std_srvs/srv/SetBool', code=1)


def test_action_list(ros2):
    assert ros2('action', 'list') == '/steps\n'
    assert ros2('action', 'list', '-t') == f'{STEPS[0]} [{STEPS[1]}]\n'
    assert ros2('action', 'list', '-c') == '1\n'


def test_send_goal(ros2):
    text = ros2('action', 'send_goal', *STEPS, '{steps: 5}')
    assert text.startswith('Waiting for an action server to become available...\n'
                           'Sending goal:\n     steps: 5\n\nGoal accepted with ID: ')
    assert text.endswith("Result:\n    result:\n  result: 1\n  error_message: ''\n\n"
                         'Goal finished with status: SUCCEEDED\n')
    assert 'status: ABORTED' in ros2('action', 'send_goal', *STEPS, '{steps: 13}', code=1)
    assert 'Goal was rejected.' in ros2('action', 'send_goal', *STEPS, code=1)


def test_an_interrupt_cancels_the_goal(ros2):
    process = start('action', 'send_goal', '--feedback', *STEPS, '{steps: 5000}')
    text = ''
    while 'Feedback:\n    completed_steps: 1\nremaining_steps: 0\n' not in text:
        line = process.stdout.readline()
        assert line
        text += line
    assert text.index('Goal accepted') < text.index('Feedback')
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert 'Canceling goal...\n' in rest and rest.endswith('Goal canceled.\n')
    wait_for_parameter(ros2, 'cancelled')


def test_an_action_that_is_not_there(ros2, monkeypatch):
    monkeypatch.setattr('ros2cli_standin.action.SERVICE_WAIT', 4.0)
    assert "no server of action '/step' within 4 s; did you mean '/steps'?" in ros2(
        'action', 'send_goal', '/step', STEPS[1], code=1)


def test_the_graph_is_closed_after_an_error(ros2):
    """Also the handlers of signals are those from before."""
    before = signal.getsignal(signal.SIGINT)
    ros2('param', 'get', '/nobody', 'x', '--timeout', '0.1', code=1)
    assert signal.getsignal(signal.SIGINT) is before
    assert not graph_module.Graph().is_open
