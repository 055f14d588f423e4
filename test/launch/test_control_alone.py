"""The control node alone, fed by the test: each fail-safe, terms of both sources, bad input."""
from __future__ import annotations

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from foreign_package import ForeignPackage
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_control.nodes.control import Control
from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState

MODEL = Model(load_robot('lab_link'))
WEIGHT = """
from flex_control import Controller


class Weight(Controller):
    '''The joint's weight, from the terms.'''
    needs_terms = True

    def update(self, time, period):
        return self.terms.g[:1] + self.terms.M[0, :1]
"""


class Bench:
    """A control node with parameters, and the rest of its graph: states, terms, commands."""

    def __init__(self, **parameters):
        given = [part for name, value in parameters.items()
                 for part in ('-p', f'{name.replace("__", ".")}:={value}')]
        rclpy.init(args=['--ros-args', '-p', 'robot:=lab_link', *given])
        self.control, self.node = Control(), Node('bench')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.control)
        self.executor.add_node(self.node)
        self.commands = []
        self.node.create_subscription(JointState, 'joint_commands', self.commands.append, 100)
        self._states = self.node.create_publisher(FlexState, 'flex_state', 10)
        self._terms = self.node.create_publisher(DynamicsTerms, 'dynamics_terms', 10)
        self.until(lambda: self._states.get_subscription_count())
        self.q = MODEL.statics([0.4])[0]

    def close(self):
        self.executor.shutdown()
        self.control.destroy_node()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def until(self, done, patience=200):
        for _ in range(patience):
            if done():
                return True
            self.executor.spin_once(timeout_sec=0.01)
        return False

    def state(self, time, expected=True):
        """Send a state; whether its command came."""
        message = FlexState(name=list(MODEL.names), joint_count=1, position=list(self.q),
                            velocity=[0.0] * MODEL.n)
        message.header.stamp = stamp(time)
        self._states.publish(message)
        return self.until(lambda: any(m.header.stamp == stamp(time) for m in self.commands),
                          200 if expected else 20)

    def terms(self, time, factor=1.0, **changes):
        n = MODEL.n
        terms = MODEL.terms(self.q, np.zeros(n))
        message = DynamicsTerms(
            name=list(MODEL.names), joint_count=1, position=list(self.q), velocity=[0.0] * n,
            mass=terms.M.ravel().tolist(), coriolis=terms.C.ravel().tolist(),
            stiffness=terms.K.ravel().tolist(), damping=terms.D.ravel().tolist(),
            gravity=(factor * terms.g).tolist(), input=terms.B.ravel().tolist())
        for name, value in changes.items():
            setattr(message, name, value)
        message.header.stamp = stamp(time)
        self._terms.publish(message)
        for _ in range(20):
            self.executor.spin_once(timeout_sec=0.005)

    def status(self):
        return self.control._status()[1]

    @property
    def effort(self):
        return self.commands[-1].effort[0]


def stamp(time):
    return Time(sec=int(time), nanosec=round(time % 1 * 1e9))


@pytest.fixture
def bench(request):
    package = ForeignPackage('weight_control', WEIGHT, {'weight': 'Weight'})
    made = Bench(controller='weight', **request.param)
    yield made
    made.close()
    package.remove()


FREE = {'input_timeout': 0.1, 'state_timeout': 3.0}      # s, simulated and of wall time


def start(bench):
    """The first command: it waits for terms, and is the law's."""
    assert not bench.state(1.0, expected=False) and 'waiting: no dynamics_terms' in bench.status()
    bench.terms(1.0)
    assert bench.state(1.0) and bench.status() == 'running'
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [{'fail_safe': 'zero', **FREE}], indirect=True)
def test_zero_lets_go_where_the_joint_is(bench):
    start(bench)
    assert bench.state(1.09) and bench.effort != 0.0          # the newest terms are young enough
    assert bench.state(1.2) and bench.effort == 0.0
    assert bench.status().startswith('fail-safe (zero): no dynamics_terms for more than 0.1 s')
    assert bench.commands[-1].position[0] == bench.q[0]
    bench.terms(1.2)
    assert bench.state(1.21) and bench.effort != 0.0 and bench.status() == 'running'
    before = len(bench.commands)
    assert bench.until(lambda: len(bench.commands) > before + 1, 2000)      # no states any more
    assert bench.effort == 0.0 and bench.status().startswith('fail-safe (zero): no state for')


@pytest.mark.parametrize('bench', [{'fail_safe': 'none', **FREE}], indirect=True)
def test_none_is_silent(bench):
    start(bench)
    assert not bench.state(1.2, expected=False)
    assert bench.status().startswith('fail-safe (none): no dynamics_terms')
    before = len(bench.commands)
    assert not bench.until(lambda: len(bench.commands) > before, 60)
    bench.terms(1.3)
    assert bench.state(1.3) and bench.status() == 'running'


@pytest.mark.parametrize('bench', [{'fail_safe': 'hold', **FREE}], indirect=True)
def test_hold_carries_the_arm_where_it_was_seen_last(bench):
    start(bench)
    assert bench.state(1.2) and bench.status().startswith('fail-safe (hold)')
    last = bench.effort
    assert np.isclose(last, MODEL.terms(bench.q, np.zeros(MODEL.n)).M[0, 0] + MODEL.terms(
        bench.q, np.zeros(MODEL.n)).g[0])                     # no jump at first
    for tick in range(30):
        assert bench.state(1.21 + 0.01 * tick)
    assert np.isclose(bench.effort, MODEL.statics([0.4])[1][0], rtol=1e-6)
    before = len(bench.commands)
    assert bench.until(lambda: len(bench.commands) > before + 1, 2000)
    assert np.isclose(bench.effort, MODEL.statics([0.4])[1][0], rtol=1e-6)
    assert bench.commands[-1].velocity[0] == 0.0


@pytest.mark.parametrize('bench', [{'sync': 'lockstep', 'terms_rate': 0.0}], indirect=True)
def test_lockstep_waits_for_the_terms_of_the_state(bench):
    start(bench)
    assert not bench.state(1.01, expected=False)
    bench.terms(1.0, factor=5.0)                              # of another stamp
    assert not bench.state(1.01, expected=False)
    assert 'no dynamics_terms for the state at 1.0100 s' in bench.status()
    bench.terms(1.01, factor=2.0)
    assert bench.until(lambda: bench.commands[-1].header.stamp == stamp(1.01))
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, 2.0 * terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [{'sync': 'lockstep', 'terms_source': 'model',
                                    'state_timeout': 0.2}], indirect=True)
def test_lockstep_waits_for_states_as_long_as_it_takes(bench):
    """A simulator that is held up loses nothing: no fail-safe, no other motion after it."""
    assert bench.state(1.0)
    before = len(bench.commands)
    assert bench.until(lambda: bench.status().startswith('no state for 0.'), 100)
    assert not bench.until(lambda: len(bench.commands) > before, 50)
    assert 'time stands still' in bench.status()
    assert bench.state(1.01) and bench.status() == 'running'
    assert bench.control.loop.controller is bench.control._wanted


@pytest.mark.parametrize('bench', [{'terms_source': 'model'}], indirect=True)
def test_the_own_model_needs_no_topic(bench):
    assert bench.state(1.0)
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [FREE], indirect=True)
def test_bad_terms_go_no_further(bench):
    for changes in ({'gravity': [float('nan')] * MODEL.n}, {'mass': [1.0]},
                    {'name': ['elbow'] * MODEL.n}, {'joint_count': 2}):
        bench.terms(1.0, **changes)
        assert not bench.state(1.0, expected=False)
    assert bench.control._inputs.rejected == 4
    start(bench)
