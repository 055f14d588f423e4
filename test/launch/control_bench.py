"""A control node alone, in the process of the test, which is the rest of its graph."""
from __future__ import annotations

import time

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_control.nodes.control import Control
from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.msg import DynamicsTerms, FlexState

MODEL = Model(load_robot('lab_link'))
PATIENCE = 60.0      # s of wall time for what is to come
A_WHILE = 0.3        # s, in which what must not come would have


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
        self.until(self._states.get_subscription_count)
        self.until(lambda: self.node.count_publishers('joint_commands'))
        self.q = MODEL.statics([0.4])[0]
        terms = self.control._inputs._terms
        arrived, self._terms_taken = terms._arrived, False

        def taken():
            self._terms_taken = True
            arrived()
        terms._arrived = taken

    def close(self):
        self.executor.shutdown()
        self.control.destroy_node()
        self.node.destroy_node()
        rclpy.try_shutdown()

    def until(self, done, patience=PATIENCE):
        """Whether it came to be so."""
        end, turns = time.monotonic() + patience, 20      # some of them also after a long stall
        while time.monotonic() < end or turns > 0:
            if done():
                return True
            self.executor.spin_once(timeout_sec=0.01)
            turns -= 1
        return False

    def state(self, at, expected=True):
        """Send a state; whether its command came."""
        message = FlexState(name=list(MODEL.names), joint_count=1, position=list(self.q),
                            velocity=[0.0] * MODEL.n)
        message.header.stamp = stamp(at)
        received = self.control._state_input.received
        self._states.publish(message)
        assert self.until(lambda: self.control._state_input.received > received)
        return self.until(lambda: any(m.header.stamp == stamp(at) for m in self.commands),
                          PATIENCE if expected else A_WHILE)

    def terms(self, at, factor=1.0, **changes):
        """Send terms; they are there, or refused, when this returns."""
        n = MODEL.n
        terms = MODEL.terms(self.q, np.zeros(n))
        message = DynamicsTerms(
            name=list(MODEL.names), joint_count=1, position=list(self.q), velocity=[0.0] * n,
            mass=terms.M.ravel().tolist(), coriolis=terms.C.ravel().tolist(),
            stiffness=terms.K.ravel().tolist(), damping=terms.D.ravel().tolist(),
            gravity=(factor * terms.g).tolist(), input=terms.B.ravel().tolist())
        for name, value in changes.items():
            setattr(message, name, value)
        message.header.stamp = stamp(at)
        inputs = self.control._inputs
        before, self._terms_taken = inputs.rejected, False
        assert self.until(self._terms.get_subscription_count)
        self._terms.publish(message)
        assert self.until(lambda: self._terms_taken or inputs.rejected > before)

    def status(self):
        return self.control._status()[1]

    @property
    def effort(self):
        return self.commands[-1].effort[0]


def stamp(seconds):
    return Time(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))
