"""The bundled `ros2` without a graph: refusals, values, definitions, bags."""
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
STAND_IN = ROOT / 'bare' / 'launch_standin'
sys.path.insert(0, str(STAND_IN))

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import PoseWithCovariance  # noqa: E402
from rcl_interfaces.msg import ParameterType  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from ros2cli_standin.bag import size_text, time_text  # noqa: E402
from ros2cli_standin.cli import main  # noqa: E402
from ros2cli_standin.commands import ABSENT_GROUPS, ABSENT_VERBS, GROUPS  # noqa: E402
from ros2cli_standin.errors import CommandError  # noqa: E402
from ros2cli_standin.message_text import to_yaml  # noqa: E402
from ros2cli_standin.message_values import read_yaml, set_fields  # noqa: E402
from ros2cli_standin.param_file import file_parameters  # noqa: E402
from ros2cli_standin.parameter_values import flatten, nest, parameter_value  # noqa: E402
from ros2cli_standin.participants import local_participants  # noqa: E402
from ros2cli_standin.topic_hz import RateWindow  # noqa: E402
from std_msgs.msg import Byte, Float32, Int8, String, UInt64  # noqa: E402

from flex_ros.bag.writer import Bag  # noqa: E402

VERBS = {'action': ['list', 'send_goal'], 'bag': ['info'], 'interface': ['show'],
         'node': ['info', 'list'], 'service': ['call', 'list'],
         'param': ['describe', 'dump', 'get', 'list', 'load', 'set'],
         'topic': ['echo', 'hz', 'info', 'list', 'pub']}


@pytest.fixture
def ros2(capsys):
    def run(*words, code=0):
        assert main(list(words)) == code
        out, err = capsys.readouterr()
        assert 'Traceback' not in err
        return out if code == 0 else err
    return run


def test_every_command_has_help(ros2):
    overview = ros2('--help')
    assert ros2() == overview
    for group, verbs in VERBS.items():
        assert f'\n  {group} ' in overview
        text = ros2(group, '--help')
        for verb in verbs:
            assert f'\n  {verb} ' in text
            assert ros2(group, verb, '--help').startswith(f'usage: ros2 {group} {verb} ')
    assert set(VERBS) == set(GROUPS)


@pytest.mark.parametrize('words', [
    *([group, verb] for group, verbs in ABSENT_VERBS.items() for verb in verbs),
    *([group] for group in ABSENT_GROUPS), ['bag', 'play', 'my run'],
    ['bag', 'info', '-v', 'my run']])
def test_what_it_lacks_is_said_in_one_line(ros2, words):
    text = ros2(*words, code=2)
    assert text.count('\n') == 1
    command = ' '.join(words).replace('my run', "'my run'")
    assert text.endswith(f'where ROS 2 Jazzy is installed, run: ros2 {command}\n')


@pytest.mark.parametrize('words, expected', [
    (['topik'], "unknown command 'topik'; did you mean 'topic'?"),
    (['topic', 'ech'], "unknown command 'topic ech'; did you mean 'echo'?"),
    (['topic', 'echo'], 'required: topic_name'),
    (['topic', 'pub', '/a', 'std_msgs/String', '-r', '0'], 'must be positive'),
    (['topic', 'hz', '/a', '-w', 'x'], 'a positive integer'),
    (['topic', 'list', '--spin-time', 'nan'], 'must be positive and finite'),
    (['param', 'set', '/a', 'b'], 'required: value')])
def test_wrong_command_lines(ros2, words, expected):
    assert expected in ros2(*words, code=2)


@pytest.mark.parametrize('words, expected', [
    (['topic', 'pub', '/a', 'std_msgs/msg/Strin'], "did you mean 'String'?"),
    (['topic', 'pub', '/a', 'nope/msg/A'], "package 'nope' with message types"),
    (['topic', 'pub', '/a', 'std_srvs/srv/Empty'], "expected 'package/msg/Name'"),
    (['topic', 'pub', '/a', 'String'], "expected 'package/msg/Name'"),
    (['topic', 'pub', '/a', 'std_msgs/String', '{data: ['], 'not valid YAML'),
    (['topic', 'pub', '/a', 'std_msgs/String', 'hello'], 'needs to be a dictionary'),
    (['topic', 'pub', '/a', 'std_msgs/String', 'dta: a'], "did you mean 'data'?"),
    (['topic', 'pub', '-n', 'a b', '/a', 'std_msgs/String'], "'a b' is not a valid name of a"),
    (['service', 'call', '/a', 'std_srvs/srv/SetBol'], "did you mean 'SetBool'?"),
    (['service', 'call', '/a', 'std_srvs/srv/SetBool', '{data: 2}'], 'expected boolean'),
    (['action', 'send_goal', '/a', 'flex_msgs/action/A'], 'action type is invalid'),
    (['topic', 'echo', '/a', 'std_msgs/msg/X'], 'message type is invalid'),
    (['param', 'load', '/a', '/no/such/file'], 'No such file'),
    (['bag', 'info', '/no/such/bag'], "Bag path '/no/such/bag' does not exist!")])
def test_wrong_values_are_refused_before_anything_is_sent(ros2, words, expected):
    assert expected in ros2(*words, code=1)


def test_messages_from_yaml_and_back():
    message = DiagnosticArray()
    set_fields(message, read_yaml(
        '{header: {stamp: {sec: 3}}, status: [{level: 2, name: 7, values: [{key: k}]}]}', 'x'))
    assert message.status[0].level == b'\x02' and message.status[0].name == '7'
    assert message.header.stamp.sec == 3 and message.status[0].values[0].key == 'k'
    assert to_yaml(message).startswith('header:\n  stamp:\n    sec: 3\n')
    pose = PoseWithCovariance()
    set_fields(pose, {'covariance': ['1e-3'] * 36})
    np.testing.assert_array_equal(pose.covariance, np.full(36, 1e-3))
    number = UInt64()
    set_fields(number, {'data': 2**64 - 1})
    assert number.data == 2**64 - 1


@pytest.mark.parametrize('kind, value, expected', [
    (Int8, 128, 'from -128 to 127'), (Int8, 1.5, 'whole number'), (Int8, True, 'whole number'),
    (UInt64, 2**64, 'whole number'), (Int8, float('nan'), 'whole number'),
    (Float32, 1e39, 'expected float'), (Float32, [1.0], 'expected float'),
    (Byte, 256, 'expected octet'), (String, [1], 'expected text'),
    (String, None, 'expected text')])
def test_values_that_do_not_fit(kind, value, expected):
    with pytest.raises(CommandError, match=expected):
        set_fields(kind(), {'data': value})


@pytest.mark.parametrize('values, expected', [
    ({'covariance': [0.0] * 35}, 'a list of 36 elements'),
    ({'covariance': 1.0}, 'a list of double'),
    ({'pose': {'position': 3}}, "'pose.position': expected a mapping"),
    ({'pose': {'position': {'x': 'far'}}}, "'pose.position.x': expected double")])
def test_the_path_of_a_wrong_field_is_said(values, expected):
    with pytest.raises(CommandError, match=expected):
        set_fields(PoseWithCovariance(), values)


@pytest.mark.parametrize('value, declared, kind', [
    ('1e-6', ParameterType.PARAMETER_DOUBLE, 'double'),
    ('1e-6', ParameterType.PARAMETER_STRING, 'string'),
    ('1e-6', ParameterType.PARAMETER_NOT_SET, 'double'),
    ('home', ParameterType.PARAMETER_NOT_SET, 'string'),
    (5, ParameterType.PARAMETER_DOUBLE, 'integer'), (True, ParameterType.PARAMETER_BOOL, 'bool'),
    ([1, 2], ParameterType.PARAMETER_DOUBLE_ARRAY, 'integer_array'),
    ([1, 2.5], ParameterType.PARAMETER_DOUBLE_ARRAY, 'double_array'),
    ([], ParameterType.PARAMETER_STRING_ARRAY, 'string_array'),
    ([], ParameterType.PARAMETER_NOT_SET, 'bool_array'),
    ([1, 'a'], ParameterType.PARAMETER_STRING_ARRAY, 'string')])
def test_types_of_parameters(value, declared, kind):
    expected = getattr(ParameterType, f'PARAMETER_{kind.upper()}')
    assert parameter_value(value, declared).type == expected


def test_a_parameter_without_a_value():
    with pytest.raises(ValueError, match='found nothing'):
        parameter_value(None, ParameterType.PARAMETER_DOUBLE)
    assert parameter_value({'a': 1}, ParameterType.PARAMETER_STRING, 'a: 1').string_value == 'a: 1'


@pytest.mark.parametrize('text, expected', [
    ('[1, 2]', 'expected a mapping from nodes'), ('a: [', 'not valid YAML'),
    ('/a: 3', "expected a mapping 'ros__parameters' in '/a'"),
    ('/a: {ros__parameters: [1]}', "expected a mapping 'ros__parameters' in '/a'"),
    ('{}', 'has nothing for /a')])
def test_parameter_files_that_cannot_be_loaded(ros2, tmp_path, text, expected):
    path = tmp_path / 'file.yaml'
    path.write_text(text)
    assert expected in ros2('param', 'load', '/a', str(path), code=1)


def test_a_dump_of_another_node_can_be_loaded(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_text('/left: {ros__parameters: {a: {b: 1}}}\n/**: {ros__parameters: {c: 2}}\n')
    assert file_parameters(path, '/right', wildcard=True) == {'a.b': 1, 'c': 2}
    assert file_parameters(path, '/right', wildcard=False) == {'a.b': 1}


def test_commands_of_the_documentation_are_known():
    """Each `ros2 GROUP VERB` of a page is a command of this ros2 or of the real one."""
    found = set()
    for page in ROOT.rglob('*.md'):
        if not {'.venv', 'build', 'install', '.git'} & set(page.relative_to(ROOT).parts):
            found.update(re.findall(r'\bros2 ([a-z]+) ([a-z_]+)', page.read_text()))
    assert {('topic', 'pub'), ('param', 'set'), ('bag', 'info')} <= found
    for group, verb in found:
        if group in GROUPS:
            assert verb in (*VERBS[group], *ABSENT_VERBS[group]), (group, verb)


def test_nested_names_of_parameters():
    flat = {'a': 1, 'a.b': 2, 'c.d.e': 3, 'c.f': 4}
    assert nest(flat) == {'a': 1, 'a.b': 2, 'c': {'d': {'e': 3}, 'f': 4}}
    assert flatten(nest(flat)) == flat


def test_rate_of_messages():
    window = RateWindow(5)
    reports = []
    for index in range(21):
        window.add(10_000_000_000 + index * 100_000_000 + (index % 2) * 20_000_000)
        reports.append(window.report())
    said = [(index, text) for index, text in enumerate(reports) if text]
    # the first interval starts the second of the clock after which the rate is due
    assert [index for index, _ in said] == [11]
    assert said[0][1] == ('average rate: 9.615\n\tmin: 0.080s max: 0.120s std dev: 0.01960s '
                          'window: 5')
    assert not window.add(0)      # the clock was reset
    assert window.report() is None


def test_interface_show(ros2):
    text = ros2('interface', 'show', 'geometry_msgs/msg/WrenchStamped')
    assert text.startswith('# A wrench with reference coordinate frame and timestamp\n\n'
                           'std_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n'
                           '\t\tint32 sec\n\t\tuint32 nanosec\n\tstring frame_id\n'
                           'Wrench wrench\n')
    bare = ros2('interface', 'show', '--no-comments', 'flex_msgs/srv/ApplyWrench')
    assert '#' not in bare and '\n\n' not in bare and '\n---\nbool success\n' in bare
    assert '#' in ros2('interface', 'show', '--all-comments', 'flex_msgs/srv/ApplyWrench').split(
        'Header header\n')[1].split('\n')[0]


@pytest.mark.parametrize('name, expected', [
    ('std_msgs/msg/Strin', "did you mean 'std_msgs/msg/String'?"),
    ('std_msgs/String', "did you mean 'std_msgs/msg/String'?"),
    ('nope/msg/A', "Unknown package 'nope'"), ('../../etc/passwd', 'Invalid name')])
def test_interfaces_that_are_not_there(ros2, name, expected):
    assert expected in ros2('interface', 'show', name, code=1)


@pytest.fixture(params=['mcap', 'sqlite3'])
def bag(request, tmp_path, monkeypatch):
    """A folder `run` with three messages in 2.5 s, from 1000 s on."""
    monkeypatch.setenv('TZ', 'UTC')
    time.tzset()
    monkeypatch.chdir(tmp_path)
    recording = Bag('run', request.param)
    recording.add_topic('/a', 'std_msgs/msg/String', QoSProfile(depth=1))
    recording.add_topic('/b', 'std_msgs/msg/Int8', QoSProfile(depth=1))
    for when in (1000_000_000_000, 1002_500_000_000):
        recording.write('/a', serialize_message(String(data='x')), when)
    recording.write('/b', serialize_message(Int8()), 1001_000_000_000)
    recording.close()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_bag_info(ros2, bag):
    suffix = {'mcap': 'mcap', 'sqlite3': 'db3'}[bag]
    size = size_text(Path(f'run/run_0.{suffix}').stat().st_size)
    assert ros2('bag', 'info', 'run') == f"""
Files:             run_0.{suffix}
Bag size:          {size}
Storage id:        {bag}
ROS Distro:        rosbags
Duration:          2.500000000s
Start:             Jan  1 1970 00:16:40.000000000 (1000.000000000)
End:               Jan  1 1970 00:16:42.500000000 (1002.500000000)
Messages:          3
Topic information: Topic: /a | Type: std_msgs/msg/String | Count: 2 | Serialization Format: cdr
                   Topic: /b | Type: std_msgs/msg/Int8 | Count: 1 | Serialization Format: cdr
Service:           0
Service information: \n"""
    assert ros2('bag', 'info', '-t', 'run') == '/a\n/b\n'
    assert 'Messages:          3\n' in ros2('bag', 'info', f'run/run_0.{suffix}')


def test_bags_that_cannot_be_read(ros2, bag):
    other = {'mcap': 'sqlite3', 'sqlite3': 'mcap'}[bag]
    assert f"expected storage '{other}', found '{bag}'" in ros2('bag', 'info', '-s', other, 'run',
                                                                code=1)
    Path('run/metadata.yaml').write_text('rosbag2_bagfile_information: 7\n')
    assert 'run: expected a rosbag2 folder or file, found: ' in ros2('bag', 'info', 'run', code=1)
    Path('run/metadata.yaml').unlink()
    assert 'ros2 bag reindex run' in ros2('bag', 'info', 'run', code=1)


def test_sizes_and_times_of_bags():
    assert [size_text(size) for size in (0, 1023, 1024, 1536, 5 << 20, 3 << 40, 3 << 50)] == [
        '0 B', '1023 B', '1.0 KiB', '1.5 KiB', '5.0 MiB', '3.0 TiB', '3072.0 TiB']
    assert time_text(1_500_000_001).endswith(':01.500000001 (1.500000001)')


def test_participants_are_counted_by_their_ports(tmp_path):
    table = tmp_path / 'udp'
    table.write_text('  sl  local_address rem_address\n' + ''.join(
        f'  {port}: 0100007F:{port:04X} 00000000:0000 07\n'
        for port in (7400, 7410, 7411, 7412, 7413, 7660, 53)))
    assert local_participants(0, table) == 2
    assert local_participants(1, table) == 1
    assert local_participants(2, table) == 0
    assert local_participants(0, tmp_path / 'none') == 0


def test_a_shutdown_that_blocks_is_ended_with_the_exit_code():
    """The last call holds the lock of Python, as rclpy does while a node is destroyed."""
    code = ('import ctypes; from ros2cli_standin.clean_exit import exit_after; '
            'exit_after(0.2, 7); ctypes.PyDLL(None).sleep(60)')
    began = time.monotonic()
    done = subprocess.run([sys.executable, '-c', f'import sys; sys.path.insert(0, '
                           f'{str(STAND_IN)!r}); {code}'], timeout=120)
    assert done.returncode == 7
    assert time.monotonic() - began < 50.0
