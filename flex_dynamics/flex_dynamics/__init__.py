"""How a flexible robot moves: the Model, its algorithms and integrators."""
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.data import Data
from flex_dynamics.model.loads import DistributedLoad, Wrench
from flex_dynamics.model.model import Model
from flex_dynamics.simulation.sensors import ImuReading, Sensors
from flex_dynamics.simulation.simulate import Servo, Trajectory, simulate
from flex_dynamics.simulation.simulation import Simulation

__version__ = '0.1.0'

__all__ = ['Data', 'DistributedLoad', 'DynamicsError', 'ImuReading', 'Model', 'Sensors', 'Servo',
           'Simulation', 'Trajectory', 'Wrench', 'simulate']
