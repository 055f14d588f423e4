"""A fixed sample of the message fuzzer, and that the fuzzer finds what it is made to find."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

FUZZ = Path(__file__).parent / 'fuzz'
sys.path.insert(0, str(FUZZ))
import message_inputs  # noqa: E402
import messages  # noqa: E402
import soak  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from message_cdr import serialize  # noqa: E402
from message_mutations import Mutator, longest  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402
from valid_messages import ValidMessages  # noqa: E402

from flex_description import load_robot  # noqa: E402
from flex_dynamics import Model  # noqa: E402
from flex_msgs.msg import FlexState  # noqa: E402


def test_a_fixed_sample_finds_nothing():
    """Of every topic, service and action of every node; in a process of its own, as a finding may
    end it."""
    done = subprocess.run([sys.executable, str(FUZZ / 'messages.py'), '--count', '20', '--seed',
                           '7'], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    last = done.stdout.splitlines()[-1]
    assert ' 0 findings' in last and int(last.split()[0]) > 3000, last


def fake_target(handle):
    """A node that handles messages of one topic."""
    one = message_inputs.Input('topic fake', lambda rng: JointState(name=['a'], effort=[1.0]),
                                handle)
    target = message_inputs.Target('fake', [], None, lambda count: None)
    target.inputs.append(one)
    return target, one


def test_callbacks_that_raise_and_that_hang_are_found(monkeypatch):
    def raises(data):
        if data[:4] != b'\0\1\0\0':
            raise ZeroDivisionError('planted')
        return True
    target, one = fake_target(raises)
    found = messages.fuzz(target, one, 'fake: topic fake', 300, 1)
    assert found.sent == 300 and 5 < len(found.findings) < 100
    assert all('planted' in text and 'seed 1, message' in text for text in found.findings)
    again = messages.fuzz(target, one, 'fake: topic fake', 300, 1)
    assert [text.split('\n')[0] for text in again.findings] == [
        text.split('\n')[0] for text in found.findings]

    def hangs(data):
        while True:
            pass
    monkeypatch.setattr(messages, 'HANG', 0.05)
    before = messages.signal.signal(messages.signal.SIGPROF, messages.interrupt)
    try:
        found = messages.fuzz(*fake_target(hangs), 'fake: topic fake', 2, 1)
    finally:
        messages.signal.signal(messages.signal.SIGPROF, before)
    assert len(found.findings) == 2 and 'did not return' in found.findings[0]


def test_a_signal_ends_the_fuzzer_after_the_message_that_is_handled(monkeypatch):
    handled = []

    def told_to_end(data):
        handled.append(data)
        if len(handled) == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return True
    monkeypatch.setattr(messages, 'came', [])
    before = signal.signal(signal.SIGTERM, messages.end)
    try:
        found = messages.fuzz(*fake_target(told_to_end), 'fake: topic fake', 100, 1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert found.sent == len(handled) == 5 and found.findings == []
    assert messages.came == [signal.SIGTERM]


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_not_a_finding(number):
    """rclpy's own handlers would invalidate the context, and each later message would fail."""
    fuzzer = subprocess.Popen(
        [sys.executable, '-u', str(FUZZ / 'messages.py'), '--count', '10000000', '--only',
         'simulator: topic joint_commands'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True)
    try:
        assert fuzzer.stdout.readline().startswith('seed 0')
        time.sleep(4.0)          # it sends messages by now, unless the machine is very busy
        fuzzer.send_signal(number)
        text = fuzzer.communicate(timeout=60.0)[0]
    finally:
        fuzzer.kill()
        fuzzer.wait()
    assert fuzzer.returncode == 128 + number, text
    assert ' messages, 0 findings' in text and text.endswith(f'ended by {number.name}\n')


def test_numbers_that_are_not_finite_are_findings():
    message_inputs.finite('state', [1.0], np.zeros(3))
    with pytest.raises(message_inputs.NotFinite, match='state: expected finite numbers'):
        message_inputs.finite('state', [1.0, np.nan])


def test_mutations_are_the_same_for_a_seed_and_of_every_kind():
    valid = JointState(name=['joint1', 'joint2'], position=[0.1, 0.2], effort=[1.0, 2.0])
    one, two = ([Mutator([3, number]).message(valid) for number in range(500)] for _ in range(2))
    assert one == two and len(set(one)) > 300
    assert b'' in one and any(len(data) > 2000 for data in one)
    assert any(np.float64('nan').tobytes() in data for data in one)
    assert any(b'\xff\xff\xff\xff' in data for data in one)
    assert {data[:4] for data in one if len(data) >= 4} >= {b'\0\0\0\0', b'\0\1\0\0'}


@pytest.mark.parametrize('kind', [
    *soak.TOPICS.values(), *(one.Request for one in soak.SERVICES.values()),
    *(one.Impl.SendGoalService.Request for one in soak.GOALS.values()),
    FollowJointTrajectory.Goal], ids=lambda kind: kind.__name__)
def test_messages_are_serialised_as_rclpy_does(kind):
    """Whether or not the fields have their defaults; rclpy may add bytes that nobody reads."""
    for number in range(30):
        message = kind()
        mutator = Mutator([5, number])
        for _ in range(number):
            mutator.field(message)
        try:
            expected = serialize_message(message)
        except (UnicodeEncodeError, RuntimeError):
            continue
        assert deserialize_message(serialize(message), kind) == deserialize_message(
            expected, kind) or 'nan' in str(message)


def test_the_longest_message_is_longer_than_mutations_make_them():
    """All but next to none: see longest()."""
    messages = ValidMessages(Model(load_robot('lab_link')))
    mutator = Mutator(3)
    for kind in (FlexState, JointTrajectory):
        bound = max(len(longest(messages.make(kind, 0, mutator.rng))) for _ in range(20))
        sizes = [len(mutator.message(messages.make(kind, 0, mutator.rng))) for _ in range(300)]
        assert max(sizes) > 1000 and np.mean(np.array(sizes) <= bound) > 0.99
