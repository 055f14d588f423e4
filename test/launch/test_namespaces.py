"""Two robots in two namespaces: everything but /diagnostics is their own."""
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
from graph import NODES, Listener, seconds, sim
from launch import LaunchDescription
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState
from tf2_msgs.msg import TFMessage

ROBOTS = {'left': 'lab_link', 'right': 'piedboeuf_arm'}
SHARED = {'/diagnostics', '/parameter_events', '/rosout'}


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        *(sim(robot=robot, namespace=side, headless='true') for side, robot in ROBOTS.items()),
        launch_testing.actions.ReadyToTest()])


class TestTwoRobots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = graph = Listener()
        for side in ROBOTS:
            graph.listen(JointState, f'{side}/joint_states')
            graph.listen(TFMessage, f'{side}/tf')
            graph.listen(Clock, f'{side}/clock')
        for side in ROBOTS:
            for topic in ('joint_states', 'tf', 'clock'):
                graph.next(f'{side}/{topic}', 2)

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def test_all_nodes_are_there_twice(self):
        wanted = {f'/{side}/{node}' for side in ROBOTS for node in NODES}
        self.graph.until(lambda: wanted <= {
            f'{space}/{name}' for name, space
            in self.graph.node.get_node_names_and_namespaces()}, 'all nodes')

    def test_no_topic_lies_outside_the_namespaces(self):
        # A process of an earlier test that ended just now is in the graph until its lease ends.
        def outside():
            topics = {name for name, _ in self.graph.node.get_topic_names_and_types()}
            return {name for name in topics if not name.startswith(('/left/', '/right/'))} - SHARED
        self.graph.until(lambda: not outside(), f'a graph without {outside()}')

    def test_one_robot_can_be_paused_without_the_other(self):
        request = SetSimulationState.Request(
            state=SimulationState(state=SimulationState.STATE_PAUSED))
        answer = self.graph.call(SetSimulationState, 'left/simulator/set_simulation_state',
                                 request)
        assert answer.result.result == Result.RESULT_OK

        def moments(side):
            return len({seconds(m.header.stamp)
                        for m in self.graph.next(f'{side}/joint_states', 3)})
        self.graph.until(lambda: moments('left') == 1, 'a left robot that stands still')
        self.graph.until(lambda: moments('right') == 3, 'a right robot that goes on')
        assert moments('left') == 1


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
