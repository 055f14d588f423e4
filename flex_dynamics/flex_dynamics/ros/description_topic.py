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
"""The description of a robot that another node publishes, once and for all."""
from __future__ import annotations

import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from std_msgs.msg import String

from flex_ros.message_guard import DecodeError, decode, decode_errors
from flex_ros.parameters import NodeError
from flex_ros.polled_subscription import Polled, newest_of
from flex_ros.qos import LATCHED

LONGEST = 16 * 2**20       # bytes, as load_robot has it
LOOK = 0.05      # s of wall time between two looks
TELL = 5.0       # s of wall time between two log lines


def wait_for_description(node: Node, topic: str, timeout: float) -> str:
    """The text on a topic (std_msgs/String, transient local), for a node that is not spinning yet.

    timeout: s of wall time; after it NodeError says what was found.
    """
    subscription = node.create_subscription(String, topic, lambda _: None, LATCHED, raw=True,
                                            callback_group=Polled())
    name, begin = subscription.topic_name, time.monotonic()
    told = begin
    errors = decode_errors(node)
    try:
        while (now := time.monotonic()) < begin + timeout and node.context.ok():
            data = newest_of(subscription)
            if data is not None:
                try:
                    text = str(decode(data, String, LONGEST).data)
                except DecodeError as error:
                    errors.count(name, error)
                else:
                    return text
            if now >= told:
                told = now + TELL
                # The first look: the middleware has hardly begun to find others.
                found = f': {_found(node, name)}' if now > begin + 1.0 else ''
                node.get_logger().info(f'waiting for a robot description on {name}{found}')
            time.sleep(LOOK)
    finally:
        node.destroy_subscription(subscription)
    raise NodeError(f'{name}: expected a robot description (std_msgs/msg/String, transient '
                    f'local) within {timeout:g} s, found {_found(node, name)}')


def _found(node: Node, topic: str) -> str:
    """What keeps the text from coming."""
    publishers = node.get_publishers_info_by_topic(topic)
    if not publishers:
        return 'no publisher'
    kinds = {one.topic_type for one in publishers}
    if 'std_msgs/msg/String' not in kinds:
        return f'a publisher of {", ".join(sorted(kinds))}'
    if all(one.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL for one in publishers):
        return 'a publisher that is not transient local'
    return 'a publisher that has sent none'
