"""The control node and a node that has the drives, whose answers are late or never come."""
from __future__ import annotations

import numpy as np
import pytest
from control_bench import A_WHILE, Bench
from foreign_package import ForeignPackage
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.parameter import Parameter
from rclpy.task import Future

PUSH = """
import numpy as np
from flex_control import Controller, Parameter


class Push(Controller):
    '''A given effort; the drives damp.'''
    PARAMETERS = (Parameter('effort', 1.0, 'on every joint', 'N m', 0.0, 100.0),)

    def drive_gains(self):
        return np.zeros(1), np.array([0.5])

    def update(self, time, period):
        return np.array([self.parameters['effort']])
"""


class DriveNode:
    """What a control node sees of the node `drives`: a service that answers unless it is held."""

    def __init__(self, bench):
        self._bench = bench
        self.damping: list[float] = []       # that was asked for, in turn
        self._gate: Future | None = None
        self.start()

    def start(self):
        self._service = self._bench.node.create_service(
            SetParametersAtomically, '/drives/set_parameters_atomically', self._set,
            callback_group=ReentrantCallbackGroup())

    def die(self):
        """What it was asked for is never answered."""
        self._bench.node.destroy_service(self._service)
        self._gate = None

    def hold(self):
        self._gate = Future()

    def go_on(self):
        gate, self._gate = self._gate, None
        gate.set_result(None)

    async def _set(self, request, response):
        given = {one.name: one.value for one in request.parameters}
        self.damping.append(given['drive.damping'].double_array_value[0])
        if self._gate is not None:
            await self._gate
        response.result.successful = True
        return response


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr('flex_control.nodes.drive_client.PATIENCE', 0.5)
    package = ForeignPackage('push_control', PUSH, {'push': 'Push'})
    made = Bench(controller='push', drive_node='drives', sync='lockstep', switch_time=0.1)
    made.time, made.drives = 1.0, DriveNode(made)
    yield made
    made.close()
    package.remove()


def states(bench, count):
    """Efforts that answer the next states, 10 ms apart."""
    efforts = []
    for _ in range(count):
        bench.time = round(bench.time + 0.01, 2)
        assert bench.state(bench.time)
        efforts.append(bench.effort)
    return efforts


def put(bench, name, value):
    assert bench.control.set_parameters([Parameter(name, value=value)])[0].successful


def controller(bench):
    return type(bench.control.loop.controller).__name__


def ready(bench):
    """Whether the drives do what the wanted controller asks."""
    return not bench.control._drives.missing(bench.control._wanted)


def test_gains_of_a_law_that_is_about_to_go_do_not_jump(bench):
    """The old law has the robot until the drives are ready for the new one."""
    assert states(bench, 2) == [1.0, 1.0]
    bench.drives.hold()
    put(bench, 'controller', 'pd')
    assert states(bench, 3) == [1.0, 1.0, 1.0] and controller(bench) == 'Push'
    put(bench, 'push.effort', 90.0)
    efforts = [1.0, *states(bench, 5)]
    assert controller(bench) == 'Push'
    bench.drives.go_on()
    assert bench.until(lambda: ready(bench))
    efforts += states(bench, 15)
    assert controller(bench) == 'PD'
    # The steepest of a fade over ten states takes 15 % of the way.
    assert efforts[1] == 1.0 and np.abs(np.diff(efforts)).max() < 0.151 * 90.0, efforts
    assert abs(efforts[-1]) < 10.0


def test_who_died_before_it_answered_is_asked_again_when_it_is_back(bench):
    states(bench, 2)
    bench.drives.hold()
    put(bench, 'controller', 'pd')
    asked = bench.drives.damping
    assert bench.until(lambda: len(asked) == 2)
    bench.drives.die()
    assert not bench.until(lambda: ready(bench), A_WHILE)
    bench.drives.start()
    assert bench.until(lambda: ready(bench)) and asked[1] == asked[2] > 0.5
    states(bench, 1)
    assert controller(bench) == 'PD'


def test_nobody_waits_for_an_answer_from_before_a_reset(bench):
    """The simulator was killed between request and answer, and a new one begins at time zero."""
    states(bench, 2)
    bench.drives.hold()
    put(bench, 'controller', 'pd')
    assert bench.until(lambda: len(bench.drives.damping) == 2)
    bench.drives.die()
    bench.drives.start()
    bench.time = 0.0
    states(bench, 1)
    assert controller(bench) == 'PD' and len(bench.drives.damping) > 2


def test_another_node_in_its_place_gets_the_gains_too(bench):
    """A simulator that ended and was started again, before time had gone on."""
    states(bench, 1)
    asked = bench.drives.damping
    assert asked == [0.5]
    bench.drives.die()
    assert bench.until(lambda: bench.control._drives._doubt)
    bench.drives.start()
    assert bench.until(lambda: len(asked) == 2) and asked[1] == 0.5
