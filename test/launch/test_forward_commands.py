"""The control node drives a robot of ros2_control through a forward_command_controller.

The node here is that controller with its hardware, around the plant of the simulator: it takes
numbers alone, in the order of its parameter `joints`, ignores a message of another length, holds
the last command from update to update, and publishes joint_states.
"""
import time

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import PD
from flex_control.nodes.control import Control
from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.plant import Drives, Plant
from flex_ros.parameters import NodeError

MODEL = Model(load_robot('cibicik_arm'))
ORDER = ['joint3', 'joint1', 'joint4', 'joint2']           # of the controller's parameter joints
START, END = np.array([0.2, 0.6, 1.2, 0.4]), np.array([0.5, 0.9, 0.9, 0.6])
UPDATE = 4e-3             # s
DAMPING = PD(MODEL).drive_gains()[1]                       # of the robot's own joints
PATIENCE = 60.0           # s of wall time


class ForwardCommandController:
    """Efforts or positions to the plant, as they come."""

    def __init__(self, node, topic, interface):
        self.node, self.interface = node, interface
        self.plant = Plant(MODEL, 1e-3, round(UPDATE / 1e-3), Drives(0.0 * DAMPING, DAMPING),
                           START, True, holds_start=True)
        self.command, self.answered, self.wrong = None, False, 0
        node.create_subscription(Float64MultiArray, topic, self.receive, 1)
        self.states = node.create_publisher(JointState, 'joint_states', 10)

    def receive(self, message):
        self.answered = True
        if len(message.data) != len(ORDER):
            self.wrong += 1
            return
        self.command = np.array(message.data)

    def publish(self):
        state = JointState(name=list(MODEL.joint_names))
        nanoseconds = round(1e9 * (1.0 + self.plant.simulation.time))
        state.header.stamp = Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        position, velocity = self.plant.joints()
        state.position, state.velocity = position.tolist(), velocity.tolist()
        self.states.publish(state)

    def update(self):
        if self.command is not None:
            given = {'effort': [], 'position': [], self.interface: self.command}
            self.plant.commands.accept(ORDER, **given)
        self.plant.advance()


class Bench:
    def __init__(self, *parameters):
        rclpy.init(args=['--ros-args', *(part for one in (
            'robot:=cibicik_arm', 'state_topic:=joint_states', 'controller:=pd',
            'terms_source:=model', 'allow_partial_joints_goal:=true', *parameters)
            for part in ('-p', one))])
        self.nodes, self.executor = [], SingleThreadedExecutor()

    def start(self, topic, interface):
        self.control, self.node = Control(), Node('controller_manager')
        self.nodes = [self.control, self.node]
        for node in self.nodes:
            self.executor.add_node(node)
        self.controller = ForwardCommandController(self.node, topic, interface)
        self.motions = self.node.create_publisher(JointTrajectory, 'control/joint_trajectory', 10)
        self.until(lambda: self.controller.states.get_subscription_count()
                   and self.motions.get_subscription_count()
                   and self.node.count_publishers(topic))

    def close(self):
        self.executor.shutdown()
        for node in self.nodes:
            node.destroy_node()
        rclpy.try_shutdown()

    def until(self, done):
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, 'it did not come'
            self.executor.spin_once(timeout_sec=0.01)

    def run(self, seconds):
        for _ in range(round(seconds / UPDATE)):
            self.controller.answered = False
            self.controller.publish()
            self.until(lambda: self.controller.answered)
            self.controller.update()

    def move(self, last, duration):
        point = JointTrajectoryPoint(positions=last.tolist(), velocities=[0.0] * 4,
                                     accelerations=[0.0] * 4)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(
            round(1e9 * duration), 10**9)
        self.motions.publish(JointTrajectory(joint_names=list(MODEL.joint_names),
                                             points=[point]))
        loop = self.control.loop
        before = loop.trajectory
        while loop.trajectory is before:
            self.run(UPDATE)


@pytest.fixture
def bench(request):
    made = Bench(*request.param)
    yield made
    made.close()


@pytest.mark.parametrize('bench, topic, interface, close', [
    (('command_interface:=effort_controller', f'command_joints:={ORDER}',
      f'drive.damping:={DAMPING.tolist()}'), 'effort_controller/commands', 'effort', 0.03),
    (('command_interface:=position_controller', f'command_joints:={ORDER}',
      'command_topic:=arm/commands'), 'arm/commands', 'position', 0.03),
], indirect=['bench'], ids=['effort', 'position'])
def test_a_motion_is_followed_through_the_controller(bench, topic, interface, close):
    bench.start(topic, interface)
    plant = bench.controller.plant
    bench.run(0.1)
    np.testing.assert_allclose(plant.joints()[0], START, atol=close)
    bench.move(END, 0.6)
    bench.run(2.0 if interface == 'effort' else 1.2)     # damping without a target speed lags
    np.testing.assert_allclose(plant.joints()[0], END, atol=close)
    assert np.abs(plant.joints()[1]).max() < 0.3 and bench.controller.wrong == 0
    assert bench.control.count_publishers('joint_commands') == 0
    assert bench.control._commands.problem == ''
    if interface == 'position':      # the reference itself, in the controller's order
        wanted = dict(zip(ORDER, bench.controller.command))
        np.testing.assert_allclose([wanted[name] for name in MODEL.joint_names], END)


@pytest.mark.parametrize('bench, words', [
    (('command_interface:=effort_controller', 'sync:=lockstep'), 'expected free'),
    (('command_interface:=effort_controller', "command_joints:=['elbow']"), "found 'elbow'"),
    (('command_interface:=effort_controller', "command_joints:=['joint1', 'joint1']"), 'twice'),
    (('command_interface:=velocity_controller',), 'expected one of joint_commands'),
    (("command_joints:=['joint1']",), 'did you mean effort_controller'),
    (('command_topic:=arm/commands',), 'did you mean effort_controller'),
], indirect=['bench'])
def test_parameters_that_contradict_each_other_are_refused(bench, words):
    with pytest.raises(NodeError, match=words):
        Control()


@pytest.mark.parametrize('bench', [('command_interface:=effort_controller',)], indirect=True)
def test_a_controller_that_is_not_active_is_reported(bench):
    control = Control()
    assert 'nobody listens to effort_controller/commands' in control._commands.problem
    control.destroy_node()
