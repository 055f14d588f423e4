"""The observer node: `flex_state` of a robot that runs already, estimated from its sensors."""
from flex_control.nodes.observer.node import Observer, main

__all__ = ['Observer', 'main']
