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
"""Records a run on request: every topic of the robot, to a rosbag2 folder.

What the simulator says itself is written as it goes out, and nothing of it is ever lost; the
topics of other nodes are subscribed to as they appear.
"""
from __future__ import annotations

import importlib
import time
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from flex_ros.bag.recorded_publisher import RecordedPublisher
from flex_ros.bag.writer import STORAGES, Bag, BagError
from flex_ros.clock import steady_clock
from flex_ros.parameters import LiveParameters, NodeError, declare
from flex_ros.polled_subscription import Polled, waiting
from flex_ros.shutdown import WRITING

DEPTH = 1000             # of subscriptions
TAKE = 0.02              # s of wall time between two looks for messages; they wake nobody
LOOK = 0.5               # s of wall time between two looks for new topics
KEEP = 1.0               # s of wall time of a recording that a crash may cost
SHARED = ('/diagnostics', '/tf', '/tf_static', '/rosout')     # outside a namespace


class Recording:
    """The bag that is being written, if any; the parameter `record` opens and closes it."""

    def __init__(self, node: Node, publishers: Iterable[RecordedPublisher],
                 live: LiveParameters) -> None:
        self._node = node
        self._publishers = {publisher.publisher.topic_name: publisher for publisher in publishers}
        self._bag: Bag | None = None
        self._subscriptions: dict[str, Any] = {}
        self._timers: list[Any] = []
        self.problem = ''
        self._storage = declare(node, 'record_storage', 'mcap', 'file format of recordings',
                                choices=tuple(STORAGES), fixed=True)
        live.text('record', 'folder to record all topics of the robot to, as a rosbag2; it must '
                  'not exist yet; empty ends the recording', self._check, self._set, _discard)

    @property
    def text(self) -> str:
        """What diagnostics say."""
        if self._bag is not None:
            return f'{self._bag.count} messages to {self._bag.path}'
        return self.problem or 'off'

    def _check(self, path: Any) -> Bag | None:
        """Open a bag: only that shows whether it can be written."""
        if not isinstance(path, str):
            raise NodeError(f'parameter record: expected a folder, found {path!r}')
        try:
            return Bag(path, self._storage) if path else None
        except BagError as error:
            raise NodeError(f'parameter record: {error}') from None

    def _set(self, bag: Bag | None) -> None:
        """End what is being recorded and begin anew, if there is a bag."""
        self.close()
        self.problem = ''
        self._bag = bag
        if bag is None:
            return
        WRITING.add(bag)
        for name, publisher in self._publishers.items():
            bag.add_topic(name, _kind(publisher.publisher.msg_type), publisher.quality)
            publisher.record(self._write_own)
        self._timers = [self._node.create_timer(period, action, clock=steady_clock())
                        for period, action in ((TAKE, self._drain), (LOOK, self._look),
                                               (KEEP, self._keep))]
        self._look()
        self._node.get_logger().info(f'recording to {bag.path}')

    def close(self) -> None:
        """End the recording; all that has come is in it."""
        if self._bag is None:
            return
        self._drain()
        bag = self._bag
        if bag is None:          # the disk was full just now
            return
        self._leave()
        try:
            bag.close()
            self._node.get_logger().info(f'{bag.count} messages recorded to {bag.path}')
        except BagError as error:
            self._fail(error)
        finally:
            WRITING.discard(bag)

    def _leave(self) -> None:
        for publisher in self._publishers.values():
            publisher.record(None)
        for subscription in filter(None, self._subscriptions.values()):
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()
        for timer in self._timers:
            self._node.destroy_timer(timer)
        self._timers.clear()
        self._bag = None

    def _fail(self, error: BagError) -> None:
        """Recording ends; the simulation goes on."""
        self.problem = str(error)
        self._node.get_logger().error(str(error))
        if self._bag is not None:
            self._bag.abort()
            WRITING.discard(self._bag)
            self._leave()

    def _write_own(self, publisher: RecordedPublisher, data: bytes) -> None:
        self._write(publisher.publisher.topic_name, data, time.time_ns())

    def _write(self, topic: str, data: bytes, when: int) -> None:
        if self._bag is None:
            return
        try:
            self._bag.write(topic, data, when)
        except BagError as error:
            self._fail(error)

    def _keep(self) -> None:
        if self._bag is None:
            return
        try:
            self._bag.keep()
        except BagError as error:
            self._fail(error)

    def _look(self) -> None:
        """Subscribe to the topics of the robot that were not there before."""
        space = self._node.get_namespace().rstrip('/') + '/'
        for topic, kinds in self._node.get_topic_names_and_types():
            if topic in self._publishers or topic in self._subscriptions or self._bag is None:
                continue
            if not topic.startswith(space) and topic not in SHARED:
                continue
            publishers = self._node.get_publishers_info_by_topic(topic)
            if not publishers or '/_' in topic:
                continue
            try:
                self._subscribe(topic, kinds[0], [one.qos_profile for one in publishers])
            except (BagError, ImportError, AttributeError, ValueError) as error:
                self._subscriptions[topic] = None
                self._node.get_logger().warning(f'{topic} is not recorded: {error}')

    def _subscribe(self, topic: str, kind: str, offered: list[QoSProfile]) -> None:
        """With the best quality that every publisher has."""
        package, _, name = kind.split('/')
        message = getattr(importlib.import_module(f'{package}.msg'), name)
        reliable = all(one.reliability == ReliabilityPolicy.RELIABLE for one in offered)
        latched = all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in offered)
        quality = QoSProfile(
            depth=DEPTH,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=(DurabilityPolicy.TRANSIENT_LOCAL if latched
                        else DurabilityPolicy.VOLATILE))
        assert self._bag is not None
        self._bag.add_topic(topic, kind, quality)
        self._subscriptions[topic] = self._node.create_subscription(
            message, topic, lambda _: None, quality, raw=True, callback_group=Polled())

    def _drain(self) -> None:
        """Write what has arrived and was not looked at yet, with the time of its arrival."""
        for topic, subscription in list(self._subscriptions.items()):
            if subscription is not None and self._bag is not None:
                for data, info in waiting(subscription):
                    self._write(topic, data, info['received_timestamp'])


def _discard(bag: Bag | None) -> None:
    if bag is not None:
        bag.remove()


def _kind(message: Any) -> str:
    return f'{message.__module__.split(".")[0]}/msg/{message.__name__}'
