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
"""How a flexible robot moves: the Model, its algorithms and integrators."""
from typing import Any

from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.coordinates import Coordinates, JointLimits, LinkCoordinates
from flex_dynamics.model.data import Data
from flex_dynamics.model.derivatives.parameter_derivatives import ParameterDerivatives
from flex_dynamics.model.joint_inertia import largest_joint_inertia
from flex_dynamics.model.loads import DistributedLoad, Loads, Wrench
from flex_dynamics.model.model import FrameMotion, Model, Terms
from flex_dynamics.model.parameters import ModelParameter, model_parameters, with_parameters
from flex_dynamics.model.poses import Poses
from flex_dynamics.model.sections import BeamSections
from flex_dynamics.simulation.batch.batch_inputs import ServoTargets
from flex_dynamics.simulation.batch.batch_result import BatchResult
from flex_dynamics.simulation.batch.control_schedule import ControlSchedule
from flex_dynamics.simulation.batch.observer import ReadingNoise
from flex_dynamics.simulation.batch.simulate_many import simulate_many
from flex_dynamics.simulation.sensitivity.rollout import Rollout
from flex_dynamics.simulation.sensors import ImuReading, Sensors
from flex_dynamics.simulation.simulate import Servo, SimulationResult, simulate
from flex_dynamics.simulation.simulation import Simulation

__version__ = '0.1.0'

__all__ = ['BatchResult', 'BeamSections', 'ControlSchedule', 'Coordinates', 'Data',
           'DistributedLoad', 'DynamicsError', 'FrameMotion', 'ImuReading', 'JointLimits',
           'LinkCoordinates', 'Loads', 'Model', 'ModelParameter', 'ParameterDerivatives', 'Poses',
           'ReadingNoise', 'Rollout', 'Sensors', 'Servo', 'ServoTargets', 'Simulation',
           'SimulationResult', 'Terms', 'Wrench', 'largest_joint_inertia', 'model_parameters',
           'simulate', 'simulate_many', 'with_parameters']


def __getattr__(name: str) -> Any:
    if name == 'Trajectory':
        import warnings
        warnings.warn('flex_dynamics.Trajectory is now flex_dynamics.SimulationResult',
                      DeprecationWarning, stacklevel=2)
        return SimulationResult
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
