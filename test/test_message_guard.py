"""Bytes and numbers that are no messages: counted, warned of once a second, and refused."""
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from flex_control.loop.stamped_input import StampedInput
from flex_control.nodes.terms_input import FIELDS, TermsInput
from flex_description import load_robot
from flex_description.math import within
from flex_dynamics import Model
from flex_dynamics.ros.simulator.payloads import total_mass
from flex_dynamics.ros.state_subscription import StateSubscription
from flex_dynamics.simulation.command_limits import CommandError, CommandLimits
from flex_msgs.msg import DynamicsTerms, FlexState
from flex_ros import message_guard
from flex_ros.executor import make_executor
from flex_ros.message_guard import (
    DecodeError,
    decode,
    decode_errors,
    is_stamp,
    shortened,
    subscribe,
)
from flex_ros.parameters import NodeError, numbers
from flex_ros.rclpy_guard import MOST, guard
from flex_ros.transport import CHOICE, choose_transport, deleted_ports

GARBAGE = b'\0\1\0\0' + b'\xff' * 4
MODEL = Model(load_robot('lab_link'))


@pytest.fixture
def node():
    rclpy.init()
    node = rclpy.create_node('guarded')
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


class Log:
    def __init__(self):
        self.lines = []

    def warning(self, text, **_):
        self.lines.append(text)


def state(**fields):
    message = FlexState(name=list(MODEL.names), joint_count=1, position=[0.1] * MODEL.n,
                        velocity=[0.0] * MODEL.n)
    for name, value in fields.items():
        setattr(message, name, value)
    return serialize_message(message)


@pytest.mark.parametrize('data', [b'', b'\0', b'\0\1\0\0', GARBAGE, b'\0\1\0\0' + b'\xff' * 100,
                                  state()[:40], b'\0\x07\0\0' + state()[4:]])
def test_bytes_that_are_no_message_are_refused_with_one_error(data):
    with pytest.raises(DecodeError, match='expected a serialised FlexState'):
        decode(data, FlexState)


def test_messages_that_rclpy_cannot_decode_leave_no_error_behind(node, capfd):
    """rcutils writes ten lines for each error that is set upon another that nobody has read."""
    came = []
    publisher = node.create_publisher(Clock, 'time', 10)
    node.create_subscription(Clock, 'time', came.append, 10)
    executor = make_executor()
    executor.add_node(node)
    while not publisher.get_subscription_count():
        executor.turn()
    publisher.publish(GARBAGE[:6])
    publisher.publish(Clock())
    while not came:
        executor.turn()
    with pytest.raises(DecodeError):
        decode(GARBAGE, FlexState)
    executor.shutdown()
    assert 'overwritten' not in capfd.readouterr().err


def test_messages_that_are_too_long_are_not_decoded():
    with pytest.raises(DecodeError, match='expected at most 100 bytes, found'):
        decode(state(), FlexState, longest=100)


def test_a_topic_is_warned_of_once_a_second_and_counted_always(node, monkeypatch):
    errors, now = decode_errors(node), [100.0]
    errors._logger = log = Log()
    monkeypatch.setattr(message_guard.time, 'monotonic', lambda: now[0])
    taken = []
    wrenches = subscribe(node, WrenchStamped, 'push', taken.append, 10)
    for _ in range(10):
        wrenches.callback(GARBAGE)
        now[0] += 0.3
    wrenches.callback(serialize_message(WrenchStamped()))
    assert errors.total == 10 and len(taken) == 1
    assert [line.split(' so far')[0] for line in log.lines] == [
        f'push: message ignored, {count}' for count in (1, 5, 9)]
    assert errors.last.startswith('push: expected a serialised WrenchStamped, found 8 bytes')
    assert decode_errors(node) is errors


def test_states_that_cannot_be_are_counted_and_go_no_further(node):
    taken = []
    states = StateSubscription(node, MODEL, taken.append)
    n = MODEL.n
    for bad in ({'position': [1e308] * n}, {'velocity': [-1.1e9] + [0.0] * (n - 1)},
                {'position': [float('nan')] * n}, {'name': list(MODEL.names[:-1]) + ['x' * 10**5]},
                {'position': [0.0] * (n - 1)}):
        states._receive(state(**bad))
    late = FlexState(name=list(MODEL.names), joint_count=1, position=[0.0] * n,
                     velocity=[0.0] * n)
    late.header.stamp.sec, late.header.stamp.nanosec = 2**31 - 1, 2**32 - 1
    states._receive(serialize_message(late))
    late.header.stamp.sec = -5
    states._receive(serialize_message(late))
    assert (states.received, states.rejected, taken) == (0, 7, [])
    states._receive(GARBAGE)
    assert decode_errors(node).total == 1 and states.rejected == 7
    states._receive(state())
    states._receive(state(position=[1e9] * n))
    assert states.received == len(taken) == 2


def test_terms_that_no_robot_has_are_counted_and_go_no_further(node):
    terms = TermsInput(node, MODEL, StampedInput(True, 0, 10**9), lambda: None)
    good = {name: np.ravel(value) for name, value in zip(FIELDS, MODEL.terms(
        np.zeros(MODEL.n), np.zeros(MODEL.n)))}

    def send(**changes):
        terms._receive(serialize_message(DynamicsTerms(
            name=list(MODEL.names), joint_count=1, position=np.zeros(MODEL.n),
            velocity=np.zeros(MODEL.n), **{**good, **changes})))
    for bad in ({'gravity': np.full(MODEL.n, 1e308)}, {'mass': np.zeros(MODEL.n**2)},
                {'mass': -good['mass']}, {'mass': np.full(MODEL.n**2, 1e300)}):
        send(**bad)
        assert terms.values.at(0) is None
    assert terms.rejected == 4
    terms._receive(GARBAGE)
    assert terms.rejected == 4 and decode_errors(node).total == 1
    send()
    assert terms.values.at(0) is not None


def test_commands_beyond_all_bounds_are_refused():
    gate = CommandLimits(MODEL)
    with pytest.raises(CommandError, match=r'effort: expected at most 1e\+09, found 1e\+308'):
        gate.accept(['joint1'], [1e308])
    with pytest.raises(CommandError, match='position: expected at most'):
        gate.accept(['joint1'], [1.0], [-1e10])
    gate.accept(['joint1'], [1e8])
    assert gate.effort.tolist() == [10.0]                 # the robot's own limit


def test_clocks_before_zero_are_ignored_and_counted(node):
    guard(node)
    node.set_parameters([rclpy.parameter.Parameter('use_sim_time', value=True)])
    clock, = (one for one in node.subscriptions if one.topic_name == '/clock')
    for seconds in (-1, -2**31, 2**31 - 1):
        message = Clock()
        message.clock.sec, message.clock.nanosec = seconds, 2**32 - 1
        clock.callback(message)
    assert decode_errors(node).total == 2
    assert node.get_clock().now().nanoseconds > 2e18


def test_parameters_that_rclpy_cannot_read_are_refused(node):
    guard(node)
    node.declare_parameter('gain', 1.0)
    services = {one.srv_type: one.callback for one in node.services}
    strange = Parameter(name='gain', value=ParameterValue(type=99))
    fine = Parameter(name='gain', value=ParameterValue(type=3, double_value=2.0))
    answer = services[SetParameters](SetParameters.Request(parameters=[strange, fine]),
                                     SetParameters.Response())
    assert [one.successful for one in answer.results] == [False, True]
    assert '99' in answer.results[0].reason and node.get_parameter('gain').value == 2.0
    together = services[SetParametersAtomically]
    answer = together(SetParametersAtomically.Request(parameters=[strange]),
                      SetParametersAtomically.Response())
    assert not answer.result.successful and '99' in answer.result.reason
    answer = together(SetParametersAtomically.Request(parameters=[fine] * (MOST + 1)),
                      SetParametersAtomically.Response())
    assert not answer.result.successful and 'at most 200 parameters' in answer.result.reason
    many = SetParameters.Request(parameters=[fine] * 5000)
    answer = services[SetParameters](many, SetParameters.Response())
    assert len(answer.results) == 5000 and not any(one.successful for one in answer.results)
    assert 'at most 200 parameters' in answer.results[0].reason
    assert len(serialize_message(answer)) < len(serialize_message(many))      # no amplifier


@pytest.mark.parametrize('value', [True, [True], [1.0, False], '12', b'12', ['1'], [None]])
def test_what_only_looks_like_numbers_is_refused(value):
    with pytest.raises(NodeError, match='expected numbers, found'):
        numbers('gain', value)


def test_small_helpers():
    assert within(np.array([1e9, -1e9])) and not within(np.array([1.0, np.nan]))
    assert not within(np.array([0.0, -1.001e9])) and within(np.zeros(0))
    assert is_stamp(0) and not is_stamp(-1) and not is_stamp(2**31 * 10**9)
    assert shortened('abc') == 'abc' and len(shortened('x' * 10**6)) < 350
    beam = 1.0 * 0.002 * 0.04 * 7850.0
    assert total_mass(MODEL.robot) == pytest.approx(beam + 0.5 + 0.1, rel=1e-3)


def test_the_transport_is_udp_unless_the_user_chooses(monkeypatch):
    monkeypatch.delenv(CHOICE, raising=False)
    monkeypatch.setenv('FASTRTPS_DEFAULT_PROFILES_FILE', 'mine.xml')
    choose_transport()
    assert CHOICE not in os.environ
    monkeypatch.delenv('FASTRTPS_DEFAULT_PROFILES_FILE')
    choose_transport()
    assert os.environ[CHOICE] == 'UDPv4'
    monkeypatch.setenv(CHOICE, 'DEFAULT')
    choose_transport()
    assert os.environ[CHOICE] == 'DEFAULT'


def test_deleted_ports_are_those_that_the_process_listens_to(tmp_path):
    def process(*maps):
        for at, name in enumerate(('python3', 'dds.udp.7411', 'dds.shm.7411', 'dds.shm.wdog')):
            (tmp_path / 'task' / str(at)).mkdir(parents=True, exist_ok=True)
            (tmp_path / 'task' / str(at) / 'comm').write_text(f'{name}\n')
        (tmp_path / 'maps').write_text(''.join(
            f'7f00-7f01 rw-s 00000000 00:1b 7 {path}\n' for path in maps))
        return deleted_ports(tmp_path)
    assert process('/dev/shm/fastrtps_port7411', '/dev/shm/fastrtps_port7413 (deleted)') == []
    assert process('/dev/shm/fastrtps_port7411 (deleted)', '/lib/librcl.so') == ['7411']
    assert deleted_ports(Path('/nothing/there')) == []
    assert sys.platform != 'linux' or deleted_ports() == []


def test_a_signal_waits_while_a_process_starts_again():
    """Python ends with "failed to import the site module" at a SIGINT that comes too early."""
    program = textwrap.dedent("""
        import os, signal, sys
        if 'AGAIN' not in os.environ:
            os.environ['AGAIN'] = '1'
            from flex_ros.transport import start_again
            start_again()
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        from flex_ros.shutdown import end_by_signal
        print('started', flush=True)
        end_by_signal(lambda: os._exit(0))
        signal.pause()
    """)
    end = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                         timeout=60)
    assert (end.returncode, end.stdout, end.stderr) == (0, 'started\n', '')


AGAIN = textwrap.dedent("""
    import os, signal, sys
    if 'AGAIN' not in os.environ:
        os.environ['AGAIN'] = '1'
        from flex_ros.transport import start_again
        start_again()
""")


def test_signals_are_let_through_before_the_modules_of_a_node_load(tmp_path):
    """A module that hangs as it loads must not keep the process from ending, nor its children."""
    (tmp_path / 'slow_node.py').write_text(textwrap.dedent("""
        import signal, subprocess, sys
        program = 'import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))'
        print(subprocess.run([sys.executable, '-c', program], capture_output=True,
                             text=True).stdout.strip(), flush=True)
        signal.pause()
    """))
    program = AGAIN + 'from flex_ros.start import main_of\nmain_of.slow_node()'
    for number in (signal.SIGINT, signal.SIGTERM):
        node = subprocess.Popen([sys.executable, '-c', program], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, 'PYTHONPATH': os.pathsep.join(
                                    (str(tmp_path), os.environ.get('PYTHONPATH', '')))})
        try:
            assert node.stdout.readline() == 'set()\n'
            node.send_signal(number)
            assert node.wait(timeout=30) == 0 and node.stdout.read() == ''
        finally:
            node.kill()
            node.stdout.close()


def test_a_node_whose_middleware_does_not_begin_ends_in_one_line():
    """Also if it has started itself again and a signal came meanwhile."""
    program = AGAIN + textwrap.dedent("""
        from flex_ros.entry import run
        run(lambda: None)
    """)
    end = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                         timeout=60, env={**os.environ, 'ROS_DOMAIN_ID': 'none'})
    lines = end.stderr.splitlines()
    assert end.returncode == 1 and len(lines) == 1, end
    assert lines[0].startswith('error: RCLError: ') and 'ROS_DOMAIN_ID' in lines[0]
    killed = subprocess.run(
        [sys.executable, '-c', program.replace('from flex_ros.entry', textwrap.dedent("""
            os.kill(os.getpid(), signal.SIGTERM)
            from flex_ros.entry"""), 1)],
        capture_output=True, text=True, timeout=60, env={**os.environ, 'ROS_DOMAIN_ID': 'none'})
    assert (killed.returncode, killed.stderr) == (0, '')


def test_a_process_that_was_told_to_end_does_not_start_again():
    program = textwrap.dedent("""
        import os, signal, sys
        from flex_ros.shutdown import end_by_signal
        from flex_ros.transport import start_again
        end_by_signal(lambda: None)
        os.kill(os.getpid(), signal.SIGTERM)
        start_again()
        print('ending', signal.pthread_sigmask(signal.SIG_BLOCK, ()), flush=True)
        signal.pause()
    """)
    end = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                         timeout=60)
    assert (end.returncode, end.stdout) == (0, 'ending set()\n'), end


def test_a_joint_state_of_another_version_is_counted():
    """Fields added at the end are ignored by the middleware, fields in between are not."""
    data = serialize_message(JointState(name=['a'], effort=[1.0]))
    assert decode(data + bytes(16), JointState).effort[0] == 1.0
    with pytest.raises(DecodeError):
        decode(data[:12] + b'\xff\xff\xff\x7f' + data[12:], JointState)
