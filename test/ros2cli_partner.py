"""A node for the tests of the bundled `ros2`: run as a process of its own.

It offers one of each: latched and periodic topics, a service, an action, parameters of all types.
What it receives on `wrench` is readable in its parameter `heard`.
"""
import contextlib
import time

import rclpy
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.action import SimulateSteps
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Partner(Node):
    def __init__(self):
        super().__init__('partner')
        self.declare_parameter('noise', 0.5, ParameterDescriptor(
            description='Noise in m', floating_point_range=[
                FloatingPointRange(from_value=0.0, to_value=1.0)]))
        for name, value in (('count', 3), ('label', 'arm'), ('flag', True), ('heard', ''),
                            ('gains', [1.0, 2.0]), ('sizes', [1, 2]), ('flags', [True, False]),
                            ('names', ['a', 'b']), ('pd.kp', 4.0), ('pd.kd', 0.5),
                            # no test changes these
                            ('kept.on', True), ('kept.sizes', [1, 2]), ('kept.weight', 4.0),
                            ('kept.names', ['a', 'b']), ('kept.name', 'arm')):
            self.declare_parameter(name, value)
        self.declare_parameter('fixed', 1, ParameterDescriptor(read_only=True))
        self.add_on_set_parameters_callback(self.check)
        self.chatter = self.create_publisher(String, 'chatter', LATCHED)
        self.chatter.publish(String(data='hello'))
        self.long = self.create_publisher(Float64MultiArray, 'long', LATCHED)
        self.long.publish(Float64MultiArray(data=[0.5] * 200))
        self.joints = self.create_publisher(JointState, 'joint_states', 10)
        self.create_timer(0.02, self.publish_joints)
        self.create_subscription(WrenchStamped, 'wrench', self.hear, 10)
        self.create_service(SetBool, 'switch', self.switch)
        self.action = ActionServer(
            self, SimulateSteps, 'steps', self.execute, goal_callback=self.accept,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())

    def check(self, parameters):
        bad = any(one.name == 'count' and one.value < 0 for one in parameters)
        return SetParametersResult(successful=not bad, reason='negative' if bad else '')

    def publish_joints(self):
        message = JointState(name=['j1', 'j2'], position=[1.0, -2.5])
        message.header.stamp.sec = 7
        self.joints.publish(message)

    def hear(self, message):
        force = message.wrench.force
        text = f'{message.header.frame_id} {force.x} {message.header.stamp.sec > 0}'
        self.set_parameters([Parameter('heard', value=text)])

    def switch(self, request, response):
        response.success, response.message = request.data, 'switched'
        return response

    def accept(self, goal):
        return GoalResponse.ACCEPT if goal.steps else GoalResponse.REJECT

    def execute(self, handle):
        """13 steps fail, more than 1000 go on until they are cancelled."""
        result = SimulateSteps.Result()
        while handle.request.steps > 1000 and rclpy.ok():
            if handle.is_cancel_requested:
                handle.canceled()
                self.set_parameters([Parameter('heard', value='cancelled')])
                return result
            handle.publish_feedback(SimulateSteps.Feedback(completed_steps=1))
            time.sleep(0.01)
        if handle.request.steps == 13:
            handle.abort()
        else:
            result.result.result = 1
            handle.succeed()
        return result


def main():
    rclpy.init()
    executor = MultiThreadedExecutor(num_threads=3)
    executor.add_node(Partner())
    print('ready', flush=True)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == '__main__':
    main()
