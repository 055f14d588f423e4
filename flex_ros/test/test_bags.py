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
"""Recordings of the simulator: files of rosbag2, whole or cut off."""
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing

import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader

from flex_msgs.msg import FlexState
from flex_ros.bag.writer import Bag, BagError


def messages_in_sqlite3(path):
    with closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as file:
        return file.execute('SELECT count(*) FROM messages').fetchone()[0]


def messages_in_mcap(path):
    """Of a file without an end: the records 0x05 in its whole chunks, 0x06."""
    def records(data):
        at = 0
        while at + 9 <= len(data):
            kind, size = struct.unpack_from('<BQ', data, at)
            yield kind, data[at + 9:at + 9 + size]
            at += 9 + size
    return sum(kind == 0x05 for chunk, data in records(path.read_bytes()[8:]) if chunk == 0x06
               for kind, _ in records(data[40:]))      # after times, sizes, no compression


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_gives_back_what_was_written(storage, tmp_path):
    bag = Bag(str(tmp_path / 'bag'), storage)
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
    bag.add_topic('/wrench', 'geometry_msgs/msg/WrenchStamped', latched)
    state = FlexState(name=['a'], joint_count=1, position=[0.25], velocity=[-1.0])
    push = WrenchStamped()
    push.wrench.torque.z = 3.5
    for when in (1000, 2000, 3000):
        bag.write('/flex_state', serialize_message(state), when)
    bag.write('/wrench', serialize_message(push), 1500)      # taken late, it lies where it came
    bag.close()
    with AnyReader([tmp_path / 'bag']) as found:
        messages = [(c.topic, found.deserialize(data, c.msgtype))
                    for c, _, data in found.messages()]
        assert [when for _, when, _ in found.messages()] == [1000, 1500, 2000, 3000]
        offered = {c.topic: c.ext.offered_qos_profiles[0] for c in found.connections}
    assert [topic for topic, _ in messages].count('/flex_state') == 3
    topics = dict(messages)
    assert topics['/flex_state'].position.tolist() == [0.25]
    assert topics['/flex_state'].name == ['a']
    assert topics['/wrench'].wrench.torque.z == 3.5
    assert offered['/wrench'].durability.name == 'TRANSIENT_LOCAL'
    assert offered['/flex_state'].reliability.name == 'RELIABLE'
    with pytest.raises(BagError, match='exists already'):
        Bag(str(tmp_path / 'bag'), storage)


KILLED = """import os, signal
from rclpy.qos import QoSProfile
from flex_ros.bag.writer import Bag
bag = Bag({path!r}, {storage!r})
bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
for when in range(150):
    bag.write('/flex_state', bytes(1000), when)
    if when == 99:
        bag.keep()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize('storage, count', [('mcap', messages_in_mcap),
                                            ('sqlite3', messages_in_sqlite3)])
def test_what_was_kept_outlives_who_is_killed(storage, count, tmp_path):
    program = KILLED.format(path=str(tmp_path / 'bag'), storage=storage)
    assert subprocess.run([sys.executable, '-c', program]).returncode == -signal.SIGKILL
    # `ros2 bag reindex` looks for a file of this name.
    assert count(tmp_path / 'bag' / f'bag_0.{"db3" if storage == "sqlite3" else storage}') == 100


def test_a_finished_sqlite3_file_has_nothing_beside_it(tmp_path):
    bag = Bag(str(tmp_path / 'bag'), 'sqlite3')
    bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
    bag.write('/flex_state', bytes(10), 0)
    bag.keep()
    bag.close()
    assert sorted(path.name for path in (tmp_path / 'bag').iterdir()) == [
        'bag_0.db3', 'metadata.yaml']


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_file_that_may_not_grow_ends_a_bag_with_the_reason(storage, tmp_path):
    bag = Bag(str(tmp_path / 'bag'), storage)
    bag.add_topic('/flex_state', 'flex_msgs/msg/FlexState', QoSProfile(depth=10))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, most))
    try:
        with pytest.raises(BagError, match='ended after .* messages'):
            for _ in range(1000):
                bag.write('/flex_state', bytes(10_000), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        bag.abort()


def test_a_type_that_is_not_installed_is_named(tmp_path):
    bag = Bag(str(tmp_path / 'bag'), 'mcap')
    with pytest.raises(BagError, match='no_such_msgs/msg/Thing: its definition is not installed'):
        bag.add_topic('/thing', 'no_such_msgs/msg/Thing', QoSProfile(depth=1))
    bag.abort()
