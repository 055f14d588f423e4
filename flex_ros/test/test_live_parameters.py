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
"""Live parameters: every kind is checked at the start and at each change, all or nothing."""
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from flex_ros.parameters import LiveParameters, NodeError, declare, declare_strings


@pytest.fixture
def context():
    rclpy.init()
    yield
    rclpy.try_shutdown()


def declared(**given):
    """A node with a parameter of every kind, and the values that were applied."""
    node = Node('tested', parameter_overrides=[
        Parameter(name, value=value) for name, value in given.items()])
    live, applied = LiveParameters(node), {}

    def keep(name):
        return lambda value: applied.update({name: value})

    live.number('size', 'a number', keep('size'), 10.0, lower=1.0, default=2.0)
    live.integer('count', 'a whole number', keep('count'), 1, 5, default=3)
    live.flag('shown', 'a flag', keep('shown'), default=True)
    live.choice('colour', 'a choice', keep('colour'), ('red', 'blue'), default='red')
    return node, applied


def test_defaults_and_given_values_are_applied(context):
    assert declared()[1] == {'size': 2.0, 'count': 3, 'shown': True, 'colour': 'red'}
    given = {'size': 7, 'count': 5, 'shown': False, 'colour': 'blue'}
    assert declared(**given)[1] == given


@pytest.mark.parametrize('name, value, reason', [
    ('size', 0.5, 'size: expected 1 to 10, found 0.5'),
    ('size', float('nan'), 'found nan'),
    ('size', 'large', "size: expected numbers, found 'large'"),
    ('count', 6, 'count: expected a whole number from 1 to 5, found 6'),
    ('colour', 'green', "colour: expected one of red, blue, found 'green'")])
def test_a_bad_value_is_refused_with_the_reason(context, name, value, reason):
    with pytest.raises(NodeError, match=reason):
        declared(**{name: value})
    node, applied = declared()
    before = dict(applied)
    result = node.set_parameters_atomically([Parameter('shown', value=False),
                                             Parameter(name, value=value)])
    assert not result.successful and reason in result.reason
    assert applied == before and node.get_parameter('shown').value is True


@pytest.mark.parametrize('name, value', [('count', 2.5), ('count', True), ('shown', 1),
                                         ('colour', 1)])
def test_a_value_of_another_type_is_refused(context, name, value):
    node, applied = declared()
    before = dict(applied)
    result = node.set_parameters([Parameter(name, value=value)])[0]
    assert not result.successful and result.reason
    assert applied == before


def test_a_good_set_is_applied(context):
    node, applied = declared()
    assert node.set_parameters_atomically([
        Parameter('count', value=1), Parameter('colour', value='blue')]).successful
    assert applied == {'size': 2.0, 'count': 1, 'shown': True, 'colour': 'blue'}


def test_an_empty_list_stays_one(context):
    """rcl reads the empty list of a parameter file as no value, which a dump writes as null."""
    names = ('gains', 'start', 'goals')
    node = Node('dumped', parameter_overrides=[Parameter(name) for name in names])
    applied = []
    LiveParameters(node).vector('gains', 'numbers', applied.append, 2, 'a joint', 0.0, 1.0)
    assert declare(node, 'start', [], 'numbers that stay', fixed=True).size == 0
    assert declare_strings(node, 'goals', 'texts') == []
    assert applied[0].tolist() == [0.0, 0.0]
    assert [list(node.get_parameter(name).value) for name in names] == [[], [], ['']]
    results = node.set_parameters([Parameter('gains', value=[0.5, 0.25]),
                                   Parameter('start', value=[1.0])])
    assert [result.successful for result in results] == [True, False]
    assert 'read-only' in results[1].reason and applied[1].tolist() == [0.5, 0.25]
