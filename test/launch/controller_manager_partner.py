"""Takes the place of ros2_control_node and its controllers in a launch.

Towards the robot it does what joint_state_topic_hardware_interface does with the <ros2_control>
tag of robot_description: it sends nothing while the states are within the threshold of the
commands, lists all joints, fills the arrays of the declared command interfaces, and has NaN for
what no controller has claimed. It waits for the clock, updates at update_rate, and publishes
joint_states as the broadcaster does. A controller takes one point on its topic ~/joint_trajectory.
"""
import contextlib
import math
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

FOLDER = Path(os.environ['FLEX_PARTNER_FOLDER'])      # where the spawner's partner leaves files
INTERFACES = ('position', 'velocity', 'effort')


class Hardware:
    """JointStateTopicSystem with a node of its own."""

    def __init__(self, tag):
        self.node = Node(tag.get('name'))
        given = {param.get('name'): param.text for param in tag.findall('hardware/param')}
        self.threshold = float(given['trigger_joint_command_threshold'])
        self.joints = {joint.get('name'): [one.get('name') for one in joint.findall(
            'command_interface')] for joint in tag.findall('joint')}
        self.states = {(joint.get('name'), one.get('name')): math.nan
                       for joint in tag.findall('joint') for one in joint.findall(
                           'state_interface')}
        self.commands = {(joint, interface): math.nan for joint, interfaces in self.joints.items()
                         for interface in interfaces}
        self._latest = JointState()
        self._publisher = self.node.create_publisher(
            JointState, given['joint_commands_topic'], QoSProfile(depth=1))
        self.node.create_subscription(JointState, given['joint_states_topic'], self._keep,
                                      qos_profile_sensor_data)

    def _keep(self, message):
        self._latest = message

    def read(self):
        for at, joint in enumerate(self._latest.name):
            if joint in self.joints:
                for interface in INTERFACES:
                    values = getattr(self._latest, interface)
                    if len(values) and math.isfinite(values[at]):
                        assert (joint, interface) in self.states, 'fails on undeclared interfaces'
                        self.states[joint, interface] = values[at]

    def write(self):
        off = sum(abs(self.states[key] - command) for key, command in self.commands.items())
        if off <= self.threshold:
            return
        message = JointState(name=list(self.joints))
        message.header.stamp = self.node.get_clock().now().to_msg()
        for (_, interface), command in self.commands.items():
            getattr(message, interface).append(command)
        self._publisher.publish(message)


class Manager(Node):
    """The controller manager with its broadcaster and trajectory controllers."""

    def __init__(self):
        super().__init__('controller_manager',
                         automatically_declare_parameters_from_overrides=True)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.hardware, self._motion, self._active = None, None, None
        self.create_subscription(String, 'robot_description', self._begin, latched)
        self._joint_states = self.create_publisher(JointState, 'joint_states', 10)

    def _begin(self, message):
        if self.hardware is None:
            self.hardware = Hardware(ElementTree.fromstring(message.data).find('ros2_control'))
            self.executor.add_node(self.hardware.node)
            self.create_timer(1.0 / self.get_parameter('update_rate').value, self._update)

    def _update(self):
        hardware, now = self.hardware, self.get_clock().now()
        if now.nanoseconds == 0:
            return
        hardware.read()
        if any(map(math.isnan, hardware.states.values())):
            return
        if self._active is None and (FOLDER / 'active').is_file():
            self._activate((FOLDER / 'active').read_text())
        message = JointState(name=list(hardware.joints))
        message.header.stamp = now.to_msg()
        for (_, interface), value in hardware.states.items():
            getattr(message, interface).append(value)
        self._joint_states.publish(message)
        if self._motion is not None:
            begin, end, since, duration = self._motion
            u = min(1e-9 * (now.nanoseconds - since) / duration, 1.0)
            share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
            for joint in end:
                hardware.commands[joint, 'position'] = begin[joint] + share * (
                    end[joint] - begin[joint])
        hardware.write()

    def _activate(self, name):
        self._active = name
        self.create_subscription(JointTrajectory, f'{name}/joint_trajectory', self._follow, 1)
        for joint in self.hardware.joints:                # it begins where the robot is
            self.hardware.commands[joint, 'position'] = self.hardware.states[joint, 'position']

    def _follow(self, message):
        point, = message.points
        begin = {joint: self.hardware.commands[joint, 'position'] for joint in message.joint_names}
        self._motion = (begin, dict(zip(message.joint_names, point.positions)),
                        self.get_clock().now().nanoseconds, point.time_from_start.sec)


def main():
    rclpy.init()
    manager = Manager()
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(manager)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
