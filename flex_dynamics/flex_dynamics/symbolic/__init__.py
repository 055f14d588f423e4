"""Symbolic equations of motion: derived, read, simplified, exported, and checked for zeros."""
from flex_dynamics.symbolic.derive import METHODS, Payload, derive
from flex_dynamics.symbolic.equations import Equations
from flex_dynamics.symbolic.model import SymbolicModel
from flex_dynamics.symbolic.zero_dynamics import ZeroDynamics, zero_dynamics

__all__ = ['METHODS', 'Equations', 'Payload', 'SymbolicModel', 'ZeroDynamics', 'derive',
           'zero_dynamics']
