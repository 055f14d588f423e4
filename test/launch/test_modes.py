"""modes.launch.py: the robot swings in the mode asked for; RViz and the page are told which."""
import unittest

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
import pytest
from graph import SIM, Listener
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from visualization_msgs.msg import MarkerArray

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import FlexState

MODEL = Model(load_robot('cibicik_arm'))
REST = MODEL.statics([0.0, 0.5, 1.0, 0.5])[0]
SPEEDS, SHAPES = MODEL.frequencies(REST, 'locked')


@pytest.mark.launch_test
def generate_test_description():
    return LaunchDescription([
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SIM.with_name('modes.launch.py'))),
            launch_arguments=[('use_rviz', 'false'), ('pose', '0 0.5 1 0.5'), ('mode', '2'),
                              ('port', '8591')]),
        launch_testing.actions.ReadyToTest(),
    ])


class TestModes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Listener()
        cls.graph.listen(FlexState, 'flex_state')
        cls.graph.listen(MarkerArray, 'markers')

    @classmethod
    def tearDownClass(cls):
        cls.graph.close()

    def swinging(self, number):
        """Whether the last states moved along that mode alone."""
        states = np.array([message.position for message in self.graph.next('flex_state', 12)])
        moved = states - states.mean(axis=0)
        along = SHAPES[:, number - 1] / np.linalg.norm(SHAPES[:, number - 1])
        return (np.abs(moved).max() > 1e-4
                and np.allclose(moved, np.outer(moved @ along, along), atol=1e-9))

    def words(self):
        return [one.text for message in self.graph.heard['markers'] for one in message.markers
                if one.ns == 'mode'][-1:]

    def put(self, name, value):
        parameter = Parameter(name=name, value=ParameterValue(
            type=ParameterType.PARAMETER_INTEGER, integer_value=value))
        return self.graph.call(SetParameters, 'modes/set_parameters',
                               SetParameters.Request(parameters=[parameter])).results[0]

    def test_it_swings_in_the_mode_asked_for(self):
        self.graph.until(lambda: self.graph.heard['flex_state'], 'a state')
        self.graph.until(lambda: self.swinging(2), 'the second mode')
        assert not self.swinging(1)
        told = f'mode 2: {SPEEDS[1] / (2.0 * np.pi):.4g} Hz'
        self.graph.until(lambda: self.words() == [told], told)
        self.graph.until(lambda: any(one.ns == 'bent' for message in self.graph.heard['markers']
                                     for one in message.markers), 'the bent links')
        assert not self.put('mode', 99).successful
        assert self.put('mode', 1).successful
        self.graph.until(lambda: self.swinging(1), 'the first mode')


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    def test_all_ended_well(self, proc_info, proc_output):
        launch_testing.asserts.assertExitCodes(proc_info)
        text = b''.join(io.text for io in proc_output).decode()
        assert 'Traceback' not in text and 'look at http://127.0.0.1:' in text
