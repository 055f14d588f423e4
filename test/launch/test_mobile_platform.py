"""A platform through ROS: cmd_vel, odometry and tf, torque at the wheels; a biped's feet."""
import subprocess
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped, WrenchStamped
from graph import Listener, seconds
from nav_msgs.msg import Odometry
from processes import end
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.mobile_base import MobileBase
from flex_msgs.msg import FlexState
from flex_msgs.srv import SetSupport

COARSE = {'step': 0.005, 'rate': 100.0, 'driver': 'independent'}


class Robot:
    """A simulator of a robot, and what it publishes."""

    def __init__(self, robot, *executables, **parameters):
        self.graph = graph = Listener()
        graph.listen(FlexState, 'flex_state', 100)
        graph.listen(Odometry, 'odom', 100)
        graph.listen(TFMessage, '/tf', 100)
        self.processes, self.model = [], Model(load_robot(robot))
        options = [word for name, value in {**COARSE, **parameters}.items()
                   for word in ('-p', f'{name}:={value}')]
        for package, executable, more in (('flex_dynamics', 'simulator', options), *executables):
            self.processes.append(subprocess.Popen(
                ['ros2', 'run', package, executable, '--ros-args', '-p', f'robot:={robot}', *more],
                start_new_session=True))
        graph.until(lambda: graph.heard['flex_state'], 'a state', 60.0)

    def state(self):
        state = self.graph.heard['flex_state'][-1]
        return np.array(state.position), np.array(state.velocity), seconds(state.header.stamp)

    def close(self):
        for process in self.processes:
            end(process)
        self.graph.close()


@pytest.fixture
def start():
    robots = []

    def begin(*arguments, **parameters):
        robots.append(Robot(*arguments, **parameters))
        return robots[-1]

    yield begin
    for robot in robots:
        robot.close()


def pose(odometry):
    place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
    return np.array([place.x, place.y, 2.0 * np.arctan2(turn.z, turn.w)])


def drive(robot, publisher, way, duration, make):
    """Publish twists for so many simulated s."""
    _, _, begin = robot.state()

    def there():
        now = robot.state()[2] - begin
        if now < duration:
            publisher.publish(make(*way(now)))
        return now >= duration
    robot.graph.until(there, f'{duration} s of driving', 60.0)


def stamped(linear, angular):
    message = TwistStamped()
    message.twist.linear.x, message.twist.angular.z = linear, angular
    return message


def torque_drives(robot):
    """With the same torque at both wheels it goes straight ahead: F = 2 tau / r on its mass."""
    graph, model = robot.graph, robot.model
    commands = graph.node.create_publisher(JointState, 'joint_commands', 10)
    wheels = ['left_wheel_joint', 'right_wheel_joint']
    graph.until(lambda: commands.get_subscription_count(), 'the subscription')
    commands.publish(JointState(name=wheels, effort=[1.0, 1.0]))
    graph.until(lambda: robot.state()[1][0] > 0.1, 'motion')
    (_, v1, t1) = robot.state()
    graph.until(lambda: robot.state()[2] > t1 + 0.4, 'time')
    (q, v2, t2) = robot.state()
    total = 38.82 + 2 * 0.0075 / 0.01
    resistance = 2 * 0.05 * 0.5 * (v1[0] + v2[0]) / 0.1**2
    assert (v2[0] - v1[0]) / (t2 - t1) == pytest.approx((2 * 1.0 / 0.1 - resistance) / total,
                                                        rel=0.05)
    assert np.abs(model.constraint_jacobian(q) @ v2).max() < 1e-9


def test_cmd_vel_and_odometry(start):
    """Driven by torque, then by twists: a circle and an S; odometry of the wheels all the while.
    """
    robot = start('mobile_arm', real_time_factor=3.0, **{'platform.odometry_source': 'encoder'})
    graph, base = robot.graph, MobileBase(robot.model)
    twists = graph.node.create_publisher(TwistStamped, 'cmd_vel', 10)
    graph.until(lambda: twists.get_subscription_count() and graph.heard['odom'], 'odometry')
    first = graph.heard['odom'][0]
    assert (first.header.frame_id, first.child_frame_id) == ('odom', 'base_link')
    assert first.pose.covariance[0] == 0.001 and first.pose.covariance[35] == 0.01

    torque_drives(robot)

    # A circle of 0.5 m to the left, then half a circle to the right.
    drive(robot, twists, lambda now: (0.75, 1.5 if now < 4 / 3 * np.pi else -1.5), 2 * np.pi,
          stamped)
    _, velocity, _ = robot.state()
    assert np.abs(velocity).max() > 1.0
    # Twists cease: half a second later it stops, and stays. Twists that wait in queues on a busy
    # machine come later than the states that this process has seen.
    graph.until(lambda: np.abs(base.true_twist(*robot.state()[:2])).max() < 1e-3, 'the stop')
    _, _, ended = robot.state()
    graph.until(lambda: robot.state()[2] > ended + 1.0, 'a second of rest')
    q, v, now = robot.state()
    assert np.abs(base.true_twist(q, v)).max() < 0.01
    odometry = next(one for one in reversed(graph.heard['odom']))
    true = base.true_pose(q)
    assert pose(odometry)[:2] == pytest.approx(true[:2], abs=1e-3)
    assert np.angle(np.exp(1j * (pose(odometry)[2] - true[2]))) == pytest.approx(0.0, abs=1e-3)
    # All the way, the odometry of the wheels was where the platform was.
    states = {seconds(one.header.stamp): one.position for one in graph.heard['flex_state']}
    moments = [(pose(one), base.true_pose(states[at])) for one in graph.heard['odom']
               if (at := seconds(one.header.stamp)) in states]
    off = np.array([found - right for found, right in moments])
    assert len(off) > 100 and np.abs(off[:, :2]).max() < 1e-3
    assert np.abs(np.angle(np.exp(1j * off[:, 2]))).max() < 1e-3
    turns = np.array([(one.twist.twist.linear.x, one.twist.twist.angular.z)
                      for one in graph.heard['odom']])
    for turn in (1.5, -1.5):
        steady = turns[np.abs(turns - (0.75, turn)).max(axis=1) < 0.02]
        assert len(steady) > 50
    assert np.abs(robot.model.constraint_error(q)).max() < 1e-9

    # Bad twists are refused, and change nothing.
    for bad in (np.nan, np.inf):
        twists.publish(stamped(bad, 0.0))
    graph.until(lambda: robot.state()[2] > now + 0.6, 'time')
    assert base.true_pose(robot.state()[0]) == pytest.approx(true, abs=1e-3)
    graph.listen(DiagnosticArray, '/diagnostics')
    graph.until(lambda: any(
        value.key == 'last rejected twist' and 'linear.x: expected a finite number' in value.value
        for message in graph.heard['/diagnostics'] for status in message.status
        for value in status.values), 'the reason')


def test_twists_without_stamp_and_tf_without_twins(start):
    """Odometry as tf: the state publisher leaves the base to it, and each frame has one parent."""
    robot = start('mobile_arm', ('flex_viz', 'state_publisher', ['-p', 'base_tf:=false']),
                  **{'platform.use_stamped_vel': False, 'platform.enable_odom_tf': True,
                     'platform.linear.x.max_velocity': 0.2})
    graph = robot.graph
    twists = graph.node.create_publisher(Twist, 'cmd_vel', 10)
    graph.until(lambda: twists.get_subscription_count(), 'the subscription')

    def twist(linear, angular):
        message = Twist()
        message.linear.x, message.angular.z = linear, angular
        return message

    drive(robot, twists, lambda now: (1.0, 0.0), 1.0, twist)
    q, v, _ = robot.state()
    assert MobileBase(robot.model).true_twist(q, v)[0] == pytest.approx(0.2, abs=0.01)
    graph.until(lambda: {'base_link', 'forearm'} <= set(parents(graph)), 'tf')
    for child, above in parents(graph).items():
        assert len(above) == 1, child
    assert parents(graph)['base_link'] == {('odom', 'simulator')}


def parents(graph):
    """By child frame: parent, and whether the message was of the odometry (one transform)."""
    found = {}
    for message in graph.heard['/tf']:
        who = 'simulator' if len(message.transforms) == 1 else 'state_publisher'
        for one in message.transforms:
            found.setdefault(one.child_frame_id, set()).add((one.header.frame_id, who))
    return found


def test_feet_of_the_biped(start):
    robot = start('planar_biped')
    graph = robot.graph
    graph.listen(WrenchStamped, 'reactions/right_foot', 100)
    graph.until(lambda: graph.heard['reactions/right_foot'], 'a reaction')

    def up(message):
        force = message.wrench.force
        return np.linalg.norm([force.x, force.y, force.z])

    assert up(graph.heard['reactions/right_foot'][-1]) > 100.0
    refused = graph.call(SetSupport, 'simulator/set_support', SetSupport.Request(name='tail'))
    assert not refused.success and 'one of left_foot, right_foot' in refused.message
    again = graph.call(SetSupport, 'simulator/set_support',
                       SetSupport.Request(name='left_foot', active=True))
    assert not again.success and 'active already' in again.message
    assert graph.call(SetSupport, 'simulator/set_support',
                      SetSupport.Request(name='right_foot', active=False)).success
    time.sleep(0.1)
    graph.heard['reactions/right_foot'].clear()
    graph.until(lambda: graph.heard['reactions/right_foot'], 'a reaction')
    assert up(graph.heard['reactions/right_foot'][-1]) == 0.0
    assert graph.call(SetSupport, 'simulator/set_support',
                      SetSupport.Request(name='right_foot', active=True)).success
    graph.heard['reactions/right_foot'].clear()
    graph.until(lambda: any(up(one) > 10.0 for one in graph.heard['reactions/right_foot']),
                'a reaction')
