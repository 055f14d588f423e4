"""How a flexible robot moves: the Model, its algorithms and integrators."""
from flex_dynamics.errors import DynamicsError
from flex_dynamics.loads import DistributedLoad, Wrench
from flex_dynamics.model import Model
from flex_dynamics.sensors import ImuReading, Sensors
from flex_dynamics.simulate import Servo, Trajectory, simulate
from flex_dynamics.simulation import Simulation

__version__ = '0.1.0'

__all__ = ['DistributedLoad', 'DynamicsError', 'ImuReading', 'Model', 'Sensors', 'Servo',
           'Simulation', 'Trajectory', 'Wrench', 'simulate']
