"""The simulator node: a plant behind topics, services and parameters.

`python3 -m flex_dynamics.nodes.simulator` runs it; other packages compose it with nodes of theirs.
"""
from flex_dynamics.ros.simulator.node import Simulator

__all__ = ['Simulator']
