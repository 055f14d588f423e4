"""The state publisher and the markers node, fed by the test: what they draw, what they refuse."""
import math
import os
import signal
import subprocess
import time
import unittest
from functools import partial

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from graph import Listener, seconds
from launch import LaunchDescription
from launch_ros.actions import Node
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import FlexState

MODEL = Model(load_robot('cibicik_arm'))
BENT = MODEL.statics([0.3, 0.5, 1.0, 0.5])[0]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TF = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        Node(package='flex_viz', executable='state_publisher', name='state_publisher',
             namespace='seen', remappings=TF, output='screen',
             parameters=[{'rate': 100.0, 'frame_prefix': 'flex/',
                          'points': ['link2@0.5', 'elbow=link2@1.9']}]),
        Node(package='flex_viz', executable='markers', name='markers', namespace='seen',
             output='screen', parameters=[{'lifetime': 0.5, 'frame_prefix': 'flex/'}]),
        launch_testing.actions.ReadyToTest(),
    ])


class TestViz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(TFMessage, 'seen/tf', QoSProfile(depth=1000))
        cls.graph.listen(TFMessage, 'seen/tf_static', LATCHED)
        cls.graph.listen(String, 'seen/robot_description', LATCHED)
        cls.graph.listen(MarkerArray, 'seen/markers')
        cls.states = cls.graph.node.create_publisher(FlexState, 'seen/flex_state', 100)
        cls.pushes = cls.graph.node.create_publisher(WrenchStamped, 'seen/external_wrench', 10)
        cls.graph.until(lambda: cls.states.get_subscription_count() == 2, 'both nodes')
        cls.applied = cls.graph.node.create_publisher(WrenchStamped, 'seen/applied_wrench', 10)
        for topic in (cls.pushes, cls.applied):
            cls.graph.until(topic.get_subscription_count, 'the markers node')
        cls.now = 0

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def send(self, q=BENT, names=MODEL.names):
        """A state, 2 ms after the last one."""
        cls = type(self)
        cls.now += 2_000_000
        message = FlexState(name=list(names), joint_count=4, position=[float(x) for x in q],
                            velocity=[0.0] * len(q))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(cls.now, 10**9)
        self.states.publish(message)

    def picture(self, wanted=lambda markers: True, also=lambda: None):
        """Markers by (namespace, id) of a picture of the robot, states being sent."""
        begin = len(self.graph.heard['seen/markers'])

        def found():
            self.send()
            also()
            self.graph.spin(0.02)
            for message in self.graph.heard['seen/markers'][begin:]:
                markers = {(one.ns, one.id): one for one in message.markers}
                if ('bent', 0) in markers and wanted(markers):
                    return markers
            return None
        return self.graph.until(found, 'such a picture')

    def test_description_and_frames_where_the_links_are(self):
        self.graph.until(lambda: self.graph.heard['seen/robot_description'], 'the description')
        assert 'cibicik_arm' in self.graph.heard['seen/robot_description'][0].data
        begin = len(self.graph.heard['seen/tf'])

        def enough():
            self.send()
            self.graph.spin(0.004)
            return len(self.graph.heard['seen/tf']) > begin + 15
        self.graph.until(enough, 'transforms')
        messages = self.graph.heard['seen/tf'][begin:]
        stamps = [seconds(message.transforms[0].header.stamp) for message in messages]
        # 100 Hz of the states' clock; one that was missed is made up for by a later one
        assert len(stamps) <= 100.0 * (stamps[-1] - stamps[0]) + 2.0, stamps
        found = {one.child_frame_id: one for one in
                 messages[-1].transforms + self.graph.heard['seen/tf_static'][0].transforms}
        assert {'flex/link2/tip', 'flex/link3/tip', 'flex/link2@0.5', 'flex/elbow',
                'flex/tool'} <= set(found)
        assert all(one.header.frame_id.startswith('flex/') for one in found.values())
        place = found['flex/elbow'].transform.translation
        pose = np.linalg.inv(MODEL.pose(BENT, 'link2')) @ MODEL.pose(BENT, 'link2', 1.9)
        assert np.allclose((place.x, place.y, place.z), pose[:3, 3], atol=1e-9)

    def test_the_bent_link_is_drawn_where_the_model_has_it(self):
        markers = self.picture()
        bent = markers['bent', 1]
        assert bent.header.frame_id == 'flex/base' and bent.type == Marker.TRIANGLE_LIST
        # By the robot's clock; more only where that one is faster than the wall's.
        assert 0.5 <= seconds(bent.lifetime) < 5.0 and bent.action == Marker.ADD
        points = np.array([(point.x, point.y, point.z) for point in bent.points])
        tip = MODEL.pose(BENT, 'link3', 1.8)[:3, 3]
        assert np.linalg.norm(points - tip, axis=1).min() < 0.04
        assert len(bent.colors) == len(points) and ('legend', 0) in markers

    def silence(self):
        """Send nothing until all is removed, and nothing more has come for a second."""
        heard, last = self.graph.heard['seen/markers'], [-1, 0.0]

        def quiet():
            if len(heard) != last[0]:
                last[:] = len(heard), time.monotonic()
            return ([one.action for one in heard[-1].markers] == [Marker.DELETEALL]
                    and time.monotonic() - last[1] > 1.0)
        self.graph.until(quiet, 'the end of the markers')
        return last[0]

    def test_bad_states_are_never_drawn(self):
        self.picture()
        begin = self.silence()
        began = time.monotonic()
        while time.monotonic() < began + 1.5:
            self.send(np.where(np.arange(MODEL.n) == 7, math.nan, BENT))
            self.send(BENT[:-1], MODEL.names[:-1])
            self.send(BENT, [f'other/{name}' for name in MODEL.names])
            self.send([*BENT, 0.0], [*MODEL.names, 'link9/bend_y/1'])
            self.graph.spin(0.02)
        assert self.graph.heard['seen/markers'][begin:] == []
        TestViz.bad_for = time.monotonic() - began

    def test_a_dead_robot_vanishes_and_comes_back(self):
        assert self.picture()['bent', 0].action == Marker.ADD
        begin = self.silence()
        self.graph.spin(1.0)
        assert self.graph.heard['seen/markers'][begin:] == []      # told once is enough
        assert self.picture()['bent', 0].action == Marker.ADD

    def test_a_wrench_is_an_arrow_for_a_while(self):
        message = WrenchStamped()
        message.header.frame_id = 'nowhere'
        self.pushes.publish(message)                  # warned of, not drawn
        message.header.frame_id, message.wrench.force.z = 'tool', 20.0
        tip = MODEL.pose(BENT, 'tool')[:3, 3]
        for topic in (self.pushes, self.applied):      # asked for; told of by a simulator
            markers = self.picture(lambda markers: ('wrenches', 0) in markers and markers[
                'wrenches', 0].action == Marker.ADD, partial(topic.publish, message))
            end = markers['wrenches', 0].points[1]
            assert np.allclose((end.x, end.y, end.z), tip, atol=1e-9)
            self.picture(lambda markers: ('wrenches', 0) in markers
                         and markers['wrenches', 0].action == Marker.DELETE)

    def test_wrenches_that_cannot_be_drawn_are_ignored(self):
        """Bytes that are no message, numbers beyond every robot, frames of any length."""
        message = WrenchStamped()
        message.header.frame_id = 'tool'
        message.wrench.force.x, message.wrench.torque.z = 1.7e308, -1.7e308
        long = WrenchStamped()
        long.header.frame_id = 'x' * 100_000

        def garbage():
            for topic in (self.pushes, self.applied):
                for data in (b'\0\1\0\0' + b'\xff' * 4, b'\0\1\0\0' + bytes(range(256)), message,
                             long):
                    topic.publish(data)
        for _ in range(5):
            markers = self.picture(also=garbage)
            assert all(marker.action == Marker.DELETE for key, marker in markers.items()
                       if key[0] == 'wrenches')

    def test_a_node_that_ends_takes_its_markers_along(self):
        self.graph.listen(MarkerArray, 'gone/markers')
        states = self.graph.node.create_publisher(FlexState, 'gone/flex_state', 10)
        node = subprocess.Popen(['ros2', 'run', 'flex_viz', 'markers', '--ros-args',
                                 '-r', '__ns:=/gone'], start_new_session=True)
        try:
            heard = self.graph.heard['gone/markers']

            def drawn():
                states.publish(FlexState(name=list(MODEL.names), joint_count=4,
                                         position=BENT.tolist(), velocity=[0.0] * MODEL.n))
                self.graph.spin(0.05)
                return heard
            self.graph.until(drawn, 'a picture')
            os.killpg(node.pid, signal.SIGINT)
            self.graph.until(lambda: [one.action for one in heard[-1].markers]
                             == [Marker.DELETEALL], 'the end of the markers')
            assert node.wait(60.0) == 0
        finally:
            if node.poll() is None:
                os.killpg(node.pid, signal.SIGKILL)
                node.wait()

    def test_parameters_are_live_and_checked(self):
        def put(name, **value):
            parameter = Parameter(name=name, value=ParameterValue(**value))
            return self.graph.call(SetParameters, 'seen/markers/set_parameters',
                                   SetParameters.Request(parameters=[parameter])).results[0]

        bad = put('colour_by', type=ParameterType.PARAMETER_STRING, string_value='mood')
        assert not bad.successful and 'strain, deflection, none' in bad.reason
        assert not put('exaggeration', type=ParameterType.PARAMETER_DOUBLE,
                       double_value=math.nan).successful
        assert not put('exaggeration', type=ParameterType.PARAMETER_DOUBLE,
                       double_value=-1.0).successful
        assert put('exaggeration', type=ParameterType.PARAMETER_DOUBLE,
                   double_value=3.0).successful
        self.picture(lambda markers: 'drawn 3 times' in markers['legend', 3].text)
        assert put('exaggeration', type=ParameterType.PARAMETER_DOUBLE,
                   double_value=1.0).successful


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_one_warning_a_second_and_a_clean_end(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        for node in ('state_publisher', 'markers'):
            text = b''.join(io.text for io in proc_output
                            if io.process_name.startswith(node)).decode()
            assert 'Traceback' not in text and 'x' * 1000 not in text
            warned = [line for line in text.splitlines() if 'state ignored' in line]
            assert 1 <= len(warned) <= 3 + TestViz.bad_for, text
