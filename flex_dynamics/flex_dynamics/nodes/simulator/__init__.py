"""The simulator node."""
from flex_dynamics.nodes.simulator.node import Simulator, main

__all__ = ['Simulator', 'main']
