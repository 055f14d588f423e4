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
"""Reactions of loops, wheels and supports, as topics."""
from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_dynamics import Model
from flex_dynamics.model.constraints.reactions import Reaction
from flex_dynamics.ros.simulator.sensors import Readings, vector
from flex_dynamics.simulation.plant import Plant
from flex_dynamics.simulation.sensor_noise import Delay
from flex_ros.bag.recorded_publisher import RecordedPublisher
from flex_ros.message_fields import stamp
from flex_ros.message_guard import shortened
from flex_ros.qos import DEPTH


def topic_tokens(names: Sequence[str]) -> list[str]:
    """A part of a topic's name for each of these names, no two alike: letters, digits and
    underscores, no digit first. A name that is one already keeps it; of others that would be alike
    the later ones are numbered."""
    plain = re.compile('[A-Za-z_][A-Za-z0-9_]*')
    taken = {name for name in names if plain.fullmatch(name)}
    found = []
    for name in names:
        token = name
        if not plain.fullmatch(name):
            token = first = re.sub('^(?=[0-9])', '_', re.sub('[^A-Za-z0-9_]', '_', name)) or '_'
            number = 2
            while token in taken:
                token, number = f'{first}_{number}', number + 1
            taken.add(token)
        found.append(token)
    return found


def reaction_topics(node: Node, model: Model, prefix: str) -> list[str]:
    """A topic below `prefix` for each constraint; those that are not called as it are logged."""
    names = [record.name for record in model.robot.constraints]
    topics = [f'{prefix}/{token}' for token in topic_tokens(names)]
    for name, topic in zip(names, topics, strict=True):
        if topic != f'{prefix}/{name}':
            node.get_logger().info(f'reactions of {shortened(name)!r} are on {topic}')
    return topics


def link_wrench(model: Model, q: np.ndarray, reaction: Reaction) -> WrenchStamped:
    """A reaction on its second frame, at the origin and in the axes of the link that
    header.frame_id names, as RViz draws it; without a stamp."""
    message = WrenchStamped()
    frame = message.header.frame_id = reaction.frames[1]
    pose = model.pose(q, frame)
    arm = reaction.second_point - pose[:3, 3]
    force, moment = reaction.second[:3], reaction.second[3:]
    message.wrench.force = vector(pose[:3, :3].T @ force)
    message.wrench.torque = vector(pose[:3, :3].T @ (moment + np.cross(arm, force)))
    return message


class Reactions(Readings):
    """`reactions/<constraint>`: the wrench on the second frame of a loop, or on the link of a
    wheel or support; at the origin and in the axes of the link that header.frame_id names."""

    def __init__(self, node: Node, plant: Plant) -> None:
        self._plant, self._delay = plant, Delay(0)
        self._names = [record.name for record in plant.model.robot.constraints]
        self._messages: list[WrenchStamped] = []
        topics = reaction_topics(node, plant.model, 'reactions')
        self.publishers = [RecordedPublisher(node, WrenchStamped, topic, QoSProfile(depth=DEPTH))
                           for topic in topics]

    def _take(self, tick: int) -> None:
        plant, found = self._plant, self._plant.reactions()
        self._messages = [link_wrench(plant.model, plant.q, found[name]) for name in self._names]

    def _send(self, time: int) -> None:
        at = stamp(time)
        for publisher, message in zip(self.publishers, self._messages, strict=True):
            message.header.stamp = at
            publisher.publish(message)
