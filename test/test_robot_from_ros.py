"""The robot of a node from the parameter or the topic robot_description."""
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from flex_description import bundled_robots, load_robot, published_description
from flex_dynamics import Model
from flex_dynamics.ros.model_parameters import declare_model
from flex_ros.parameters import NodeError
from flex_ros.qos import LATCHED
from flex_viz.nodes.state_publisher import StatePublisher

URDF = bundled_robots()['ur5'].read_text()


@pytest.fixture
def context():
    rclpy.init()
    yield
    rclpy.try_shutdown()


def model_of(**given):
    node = Node('tested', parameter_overrides=[
        Parameter(name, value=value) for name, value in given.items()])
    try:
        return declare_model(node)
    finally:
        node.destroy_node()


@pytest.fixture
def driver(context):
    """A node that publishes texts on topics, as robot_state_publisher does."""
    node = Node('driver')

    def publish(text, quality=LATCHED, topic='robot_description'):
        node.create_publisher(String, topic, quality).publish(String(data=text))
    node.publish = publish
    yield node
    node.destroy_node()


def same_terms(one, two):
    rng = np.random.default_rng(3)
    assert one.names == two.names
    for _ in range(3):
        q, v = 0.1 * rng.standard_normal((2, one.n))
        for name in ('M', 'C', 'K', 'D', 'g', 'B'):
            a, b = (getattr(model.terms(q, v), name) for model in (one, two))
            assert np.allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max()), name


@pytest.mark.parametrize('name, overlay', [
    *((name, '') for name in sorted(bundled_robots())), ('ur5', 'ur5_flexible')])
def test_the_published_robot_has_the_terms_of_the_original(name, overlay):
    robot = load_robot(name, overlay or None, log_warnings=False)
    same_terms(Model(load_robot(published_description(robot), log_warnings=False)), Model(robot))


def test_a_text_as_parameter_with_an_overlay(context):
    found = model_of(robot_description=URDF, overlay='ur5_flexible')
    same_terms(found, Model(load_robot('ur5', 'ur5_flexible')))


def test_a_text_on_a_topic_with_an_overlay(driver):
    driver.publish(URDF)
    found = model_of(robot_description_topic='robot_description', overlay='ur5_flexible')
    assert found.names == Model(load_robot('ur5', 'ur5_flexible')).names


@pytest.mark.parametrize('given, reason', [
    ({'robot_description': URDF, 'robot': 'ur5'}, 'expected one of robot, robot_description, f'),
    ({'robot_description': URDF, 'robot_description_topic': 'a'}, 'expected one of robot_desc'),
    ({'robot_description': '/etc/passwd'}, 'parameter robot_description: expected the XML text'),
    ({'robot_description_topic': 'none', 'robot_description_timeout': 0.2},
     r'/none: expected a robot description \(std_msgs/msg/String, transient local\) within 0.2 s, '
     'found no publisher')])
def test_what_cannot_be_is_told_in_one_line(context, given, reason):
    with pytest.raises(NodeError, match=reason) as error:
        model_of(**given)
    assert '\n' not in str(error.value)


def test_what_a_topic_has_instead_is_told(driver):
    def reason(topic, timeout=2.0):
        with pytest.raises(NodeError) as error:
            model_of(robot_description_topic=topic, robot_description_timeout=timeout)
        return str(error.value)

    driver.publish(URDF, QoSProfile(depth=1), 'volatile')
    assert reason('volatile').endswith('a publisher that is not transient local')
    driver.create_publisher(String, 'silent', LATCHED)
    assert reason('silent').endswith('a publisher that has sent none')
    driver.publish('/etc/passwd', topic='path')
    assert reason('path', 30.0) == ("path: expected the XML text of a URDF, found '/etc/passwd'")


def test_the_state_publisher_sends_the_merged_description_elsewhere():
    rclpy.init(args=['--ros-args', '-p', 'robot_description_topic:=robot_description', '-p',
                     'robot_description_timeout:=1.0'])
    node = Node('driver')
    publisher = node.create_publisher(String, 'robot_description', LATCHED)
    publisher.publish(String(data=URDF))
    with pytest.raises(NodeError, match='expected another topic than robot_description'):
        StatePublisher()
    node.destroy_node()
    rclpy.shutdown()
