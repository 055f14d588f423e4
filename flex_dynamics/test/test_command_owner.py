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
"""One node drives at a time: the first, until it falls silent."""
import pytest

from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.command_owner import CommandOwner, SecondDriver


class Graph:
    """The nodes that publish commands, as the owner sees them."""

    def __init__(self, *names):
        self.names = list(names)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.names


def test_one_driver_is_admitted_and_the_graph_is_asked_once():
    graph = Graph('/control')
    owner = CommandOwner(graph, 0.1)
    for number in range(1, 1000):
        owner.admit(number, 0.001 * number)
    assert owner.driver(1.0) == '/control' and graph.asked == 1


def test_lost_commands_do_not_matter():
    owner = CommandOwner(Graph('/control'), 0.1)
    for number in (1, 2, 5, 6, 90):
        owner.admit(number, 0.001 * number)


def test_commands_of_a_second_driver_are_refused_and_named():
    graph = Graph('/control')
    owner = CommandOwner(graph, 0.1)
    for number in range(100, 600):
        owner.admit(number, 0.001 * number)
    graph.names = ['/control', '/other']
    for k in range(300):                       # it runs twice as fast and never catches up
        owner.admit(600 + k, 0.6 + 0.002 * k)
        for number in (2 * k + 1, 2 * k + 2):
            with pytest.raises(SecondDriver, match='/control drives the robot: commands of /other '
                                                   'are refused until it has been silent for 0.1'):
                owner.admit(number, 0.6 + 0.002 * k + 0.001)
            if number > 250:
                break


def test_a_silent_driver_is_followed_by_the_next():
    graph = Graph('/control', '/other')
    owner = CommandOwner(graph, 0.1)
    owner.admit(500, 0.0)
    with pytest.raises(SecondDriver):
        owner.admit(7, 0.05)
    owner.admit(8, 0.11)                       # 0.11 s after the owner's last command
    with pytest.raises(SecondDriver):
        owner.admit(501, 0.12)


def test_a_driver_is_named_when_no_other_is_left():
    graph = Graph('/control', '/other')
    owner = CommandOwner(graph, 0.1)
    assert owner.driver(0.0) == ''
    owner.admit(500, 0.0)
    owner.admit(501, 1.0)                      # either of the two
    assert owner.driver(1.0) == ''
    graph.names = ['/other']
    assert owner.driver(2.0) == ''             # the driver may be the one that is gone
    owner.admit(502, 3.0)
    assert owner.driver(3.0) == '/other'
    graph.names = ['/control', '/other']
    owner.admit(503, 4.0)
    graph.names = ['/other']
    owner.admit(504, 4.05)
    assert owner.driver(4.05) == ''            # not asked again so soon
    for k in range(20):
        owner.admit(505 + k, 4.1 + 0.05 * k)
    assert owner.driver(5.1) == '/other'


def test_a_driver_that_was_started_again_is_the_same_one():
    owner = CommandOwner(Graph('/control', '/control'), 5.0)
    owner.admit(500, 0.0)
    owner.admit(1, 0.4)
    owner.admit(2, 0.5)


def test_two_that_cannot_be_told_apart_are_both_refused():
    owner = CommandOwner(Graph('/a', '/b'), 0.1)
    owner.admit(1, 0.0)
    with pytest.raises(SecondDriver):
        owner.admit(1, 0.001)
    for _ in range(2):
        with pytest.raises(CommandError, match='/a and /b both command the robot') as refused:
            owner.admit(2, 0.002)
        assert not isinstance(refused.value, SecondDriver)
        owner._number = owner._other = 1


def test_released_the_next_one_drives():
    owner = CommandOwner(Graph('/a', '/b'), 10.0)
    owner.admit(50, 0.0)
    owner.release()
    owner.admit(3, 0.1)
